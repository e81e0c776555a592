"""Numbers for the rows of a table, without a word about kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.cross_validation import HeldOutNumbers
from ...models.contract.anywhere import anywhere
from ...models.contract.atomic import atomic
from ...models.contract.records import recorded
from ...models.contract.targets import numbers_of
from ...typing import (
    Callback,
    LabelsLike,
    MemoryLimit,
    PointsLike,
    Scoring,
    Seed,
    TargetsLike,
    Weights,
)
from ..race.tasks import NumberTask, Score, Units
from .base import AutoKernel
from .intervals import Intervals, fit_intervals
from .members import Member
from .rows import group_numbers, kept_weights, read_rows
from .scoring import loss_of


class AutoKernelRegressor(MultiOutputMixin, RegressorMixin, AutoKernel):  # type: ignore[misc]
    """Regression on the rows of a table by an ensemble of kernel models, found in a minute.

    The table is encoded by `TableEncoder`, once with standardised numbers and once with normal
    scores of ranks. Ridge models with Laplacian, exponential, Gaussian, Matérn and other kernels,
    with learned metrics, and support vector machines are then judged one after another, the most
    promising first, by their predictions of rows that they have not seen: leave-one-out in closed
    form for fixed kernels, folds for all others, and rows kept aside where there are many. Where y
    is positive and skewed its logarithm is tried as well. The ensemble averages predictions with
    weights that a greedy selection finds [1]_: f(x) = sum_m w_m f_m(x).

    Parameters
    ----------
    time_limit : float, default=60.0
        Seconds that the fit may take. None lets all candidates have their turn.
    max_candidates : int, default=None
        How many candidates are judged. If it is given there is no clock, and the fit is the same
        each time.
    scoring : str or callable, default=None
        What the ensemble is chosen by: a scorer of scikit-learn; None is the squared error.
    split : {"auto", "time"}, default="auto"
        Who is judged by whom: random folds, or, for rows in the order of time, the last fifth by
        what was before it.
    types : dict, default=None
        By the name of a column, or its position in an array, what it is: see `TableEncoder`.
    allow_trees : bool, default=False
        Whether boosted trees, which are judged in any case for comparison, may be in the ensemble.
        A model with trees of scikit-learn cannot be saved in a file of mercer.
    refit : bool, default=True
        Whether members that were judged on rows kept aside are fitted to all rows in the end, where
        there is time.
    memory_limit : int or str, default="auto"
        Bytes that the fit may allocate, as a number or a text such as "2GB"; "auto" takes a share
        of the free memory.
    callback : callable, default=None
        Called with the record of each candidate; returning True ends the race.
    n_jobs : int, default=None
        Number of threads; None uses all that are allowed, -1 one per processor.
    random_state : int, RandomState or Generator, default=None
        Seed of the folds; None is a fixed seed.
    verbose : bool or int, default=False
        Whether to show progress on stderr.

    Attributes
    ----------
    members_ : tuple of Member
        The models of the ensemble with their weights, the heaviest first.
    encoders_ : dict of TableEncoder
        The encoders, "standard" and "rank", of which each member takes one.
    leaderboard_ : Leaderboard
        All that was tried, with its loss on rows it had not seen.
    out_of_sample_ : OutOfSample
        Predictions for training rows by ensembles, and baselines, that have not seen them.
    baselines_ : dict of float
        The loss of the mean ("constant"), of a linear model ("linear") and of
        boosted trees ("trees"), where they were judged.
    intervals_ : Intervals
        The honest errors that `predict_interval` is made of.
    units_ : Units
        What turns scores of the members into the units of y.
    notes_ : tuple of str
        What was left out of the table and what else should be known, in sentences.
    kernel_ : Kernel
        The kernel of the heaviest member, of encoded rows.
    certificate_ : AutoCertificate
        What the fit came to, and what it cost.

    See Also
    --------
    AutoKernelClassifier : The same for classes.
    TableEncoder : How the table becomes numbers.

    References
    ----------
    .. [1] R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes, "Ensemble selection from libraries of
       models", International Conference on Machine Learning (2004).

    Examples
    --------
    >>> from mercer import AutoKernelRegressor
    >>> rows = [{"size": float(s), "colour": c} for s in range(20) for c in ("red", "blue")]
    >>> y = [row["size"] + 5 * (row["colour"] == "red") for row in rows]
    >>> model = AutoKernelRegressor(max_candidates=12).fit(rows, y)
    >>> model.predict([{"size": 7.0, "colour": "red"}]).round()
    array([12.])
    """

    intervals_: Intervals
    units_: Units
    _flat: bool
    _sizes: ClassVar[tuple[float, float]] = (0.0, 1e150)  # of y, whose squares are to be numbers
    _measure: ClassVar[str] = "squared error / variance"

    def __init__(
        self,
        *,
        time_limit: float | None = 60.0,
        max_candidates: int | None = None,
        scoring: Scoring = None,
        split: str = "auto",
        types: Mapping[Any, str] | None = None,
        allow_trees: bool = False,
        refit: bool = True,
        memory_limit: MemoryLimit = "auto",
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
    ) -> None:
        self.time_limit = time_limit
        self.max_candidates = max_candidates
        self.scoring = scoring
        self.split = split
        self.types = types
        self.allow_trees = allow_trees
        self.refit = refit
        self.memory_limit = memory_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @atomic
    @recorded
    def fit(
        self,
        X: PointsLike,
        y: TargetsLike,
        sample_weight: Weights = None,
        groups: LabelsLike | None = None,
    ) -> Self:
        """Find the ensemble.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The training rows.
        y : array-like of shape (n,) or (n, n_outputs)
            The numbers to predict.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each row; a row of weight 0 is left out. None is 1 for all.
        groups : array-like of shape (n,), default=None
            The group of each row: rows of one group are never judged by each other.

        Returns
        -------
        AutoKernelRegressor
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the table, the numbers, the weights or the parameters are not what they must be.
        """
        run, limits = self._begin()
        table = read_rows(X, run.who)
        targets, self._flat = numbers_of(self, y, len(table))
        weight = checks.sample_weight(run.who, sample_weight, len(table))
        kept = self._kept(len(table), weight, None, limits, run)
        targets, weight = targets[kept], kept_weights(weight, kept)
        if (targets == targets[0]).all():
            must = "y must have at least two different values"
            raise InputError(sentence(run.who, must, f"{targets[0, 0]:g} in every row"))
        members = group_numbers(run.who, groups, len(table), self.split)
        splits = self._splits(kept, None, members, run)
        task = NumberTask(y=targets, weight=weight, score=self._score())
        self._learn(table.take(kept), task, splits, kept=kept, run=run, limits=limits)
        self.units_ = task.units
        self.intervals_ = fit_intervals(targets[splits.rows], self.out_of_sample_.values)
        return self

    def _score(self) -> Score | None:
        """Return the loss that `scoring` asks for; None for the squared error."""
        if self.scoring is None:
            return None
        flat, who = self._flat, type(self).__name__

        def loss(values: Array, truth: Array, weight: Array | None) -> float:
            known = HeldOutNumbers(values[:, 0] if flat else values)
            return loss_of(who, self.scoring, known, truth[:, 0] if flat else truth, weight)

        return loss

    def _values(self, member: Member, scores: Array) -> Array:
        return self.units_.values(scores, member.link, member.target)

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the number of each row.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
            The predictions, never beyond what y has been.
        """
        check_is_fitted(self)
        found = self._average(X)
        return found[:, 0] if self._flat else found

    def predict_interval(self, X: PointsLike, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return an interval for each row that has its number with a given probability.

        Its ends are quantiles of the errors that members make on rows they have not seen, as in
        conformal prediction: of y - f(x), or of y / f(x) where that makes shorter intervals. It
        holds on average over rows like those of the fit, whatever their distribution.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The rows, with the columns of the fit.
        coverage : float, default=0.9
            The probability, above 0 and below 1.

        Returns
        -------
        low : ndarray of shape (n,) or (n, n_outputs)
            The lower ends.
        high : ndarray of shape (n,) or (n, n_outputs)
            The upper ends.
        """
        check_is_fitted(self)
        share = checks.number(
            type(self).__name__, "coverage", coverage, above=0, most=np.nextafter(1.0, 0.0)
        )
        low, high = self.intervals_.around(self._average(X), share)
        return (low[:, 0], high[:, 0]) if self._flat else (low, high)
