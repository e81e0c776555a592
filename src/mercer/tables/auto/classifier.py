"""Classification of the rows of a table, without a word about kernels."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.cross_validation import HeldOutClasses
from ...models.contract.anywhere import anywhere
from ...models.contract.atomic import atomic
from ...models.contract.records import recorded
from ...models.contract.targets import as_classes, class_weighted
from ...typing import (
    Callback,
    ClassWeight,
    LabelsLike,
    MemoryLimit,
    PointsLike,
    Scoring,
    Seed,
    Weights,
)
from ..race.tasks import ClassTask, Score, class_chances
from .base import AutoKernel
from .members import Member
from .rows import group_numbers, kept_weights, read_rows
from .scoring import loss_of


class AutoKernelClassifier(ClassifierMixin, AutoKernel):  # type: ignore[misc]
    """Classification of the rows of a table by an ensemble of kernel models, found in a minute.

    The table is encoded by `TableEncoder`, once with standardised numbers and once with normal
    scores of ranks. Ridge models with Laplacian, exponential, Gaussian, Matérn and other kernels,
    with learned metrics, support vector machines and logistic models are then judged one after
    another, the most promising first, by their predictions of rows that they have not seen:
    leave-one-out in closed form for fixed kernels, folds for all others, and rows kept aside where
    there are many. Their probabilities are averaged with weights that a greedy selection finds
    [1]_: P(c | x) = sum_m w_m P_m(c | x).

    Parameters
    ----------
    time_limit : float, default=60.0
        Seconds that the fit may take. None lets all candidates have their turn.
    max_candidates : int, default=None
        How many candidates are judged. If it is given there is no clock, and the fit is the same
        each time.
    scoring : str or callable, default=None
        What the ensemble is chosen by: a scorer of scikit-learn; None is the log loss.
    split : {"auto", "time"}, default="auto"
        Who is judged by whom: folds that keep the shares of the classes, or, for rows in the order
        of time, the last fifth by what was before it.
    types : dict, default=None
        By the name of a column, or its position in an array, what it is: see `TableEncoder`.
    class_weight : {"balanced"} or dict, default=None
        Weight per class, multiplied with the sample weights.
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
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    members_ : tuple of Member
        The models of the ensemble with their weights, the heaviest first.
    encoders_ : dict of TableEncoder
        The encoders, "standard" and "rank", of which each member takes one.
    leaderboard_ : Leaderboard
        All that was tried, with its loss on rows it had not seen.
    out_of_sample_ : OutOfSample
        Predictions for training rows by ensembles, and baselines, that have not seen them.
    baselines_ : dict of float
        The loss of the shares of the classes ("constant"), of a linear model ("linear") and of
        boosted trees ("trees"), where they were judged.
    notes_ : tuple of str
        What was left out of the table and what else should be known, in sentences.
    kernel_ : Kernel
        The kernel of the heaviest member, of encoded rows.
    certificate_ : AutoCertificate
        What the fit came to, and what it cost.

    See Also
    --------
    AutoKernelRegressor : The same for numbers.
    TableEncoder : How the table becomes numbers.

    References
    ----------
    .. [1] R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes, "Ensemble selection from libraries of
       models", International Conference on Machine Learning (2004).

    Examples
    --------
    >>> from mercer import AutoKernelClassifier
    >>> rows = [{"size": s, "colour": c} for s in range(8) for c in ("red", "blue")]
    >>> labels = ["large" if row["size"] > 3 else "small" for row in rows]
    >>> model = AutoKernelClassifier(max_candidates=4).fit(rows, labels)
    >>> model.predict([{"size": 7, "colour": "red"}]).tolist()
    ['large']
    """

    classes_: Array
    _measure: ClassVar[str] = "log loss"

    def __init__(
        self,
        *,
        time_limit: float | None = 60.0,
        max_candidates: int | None = None,
        scoring: Scoring = None,
        split: str = "auto",
        types: Mapping[Any, str] | None = None,
        class_weight: ClassWeight = None,
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
        self.class_weight = class_weight
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
        y: LabelsLike,
        sample_weight: Weights = None,
        groups: LabelsLike | None = None,
    ) -> Self:
        """Find the ensemble.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The training rows.
        y : array-like of shape (n,)
            The class of each row.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each row; a row of weight 0 is left out. None is 1 for all.
        groups : array-like of shape (n,), default=None
            The group of each row: rows of one group are never judged by each other.

        Returns
        -------
        AutoKernelClassifier
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the table, the classes, the weights or the parameters are not what they must be.
        """
        run, limits = self._begin()
        table = read_rows(X, run.who)
        self.classes_, codes = as_classes(run.who, y, len(table))
        weight = checks.sample_weight(run.who, sample_weight, len(table))
        weight = class_weighted(self, self.classes_[codes], weight)
        kept = self._kept(len(table), weight, codes, limits, run)
        codes, weight = codes[kept], kept_weights(weight, kept)
        self._check_classes(codes, run.who)
        members = group_numbers(run.who, groups, len(table), self.split)
        splits = self._splits(kept, codes, members, run)
        task = ClassTask(
            codes=codes,
            count=len(self.classes_),
            weight=weight,
            score=self._score(),
        )
        self._learn(table.take(kept), task, splits, kept=kept, run=run, limits=limits)
        return self

    def _check_classes(self, codes: Array, who: str) -> None:
        """Refuse classes without a row that counts, and where each row has a class of its own."""
        counts = np.bincount(codes, minlength=len(self.classes_))
        if (counts == 0).any():
            must = "every class must have a row with a positive weight"
            got = f"class {checks.show(self.classes_[int(np.argmin(counts))])} without one"
            raise InputError(sentence(who, must, got))
        if counts.max() == 1:
            must = "at least one class must have two rows"
            raise InputError(sentence(who, must, f"{len(counts)} classes of one row each"))

    def _score(self) -> Score | None:
        """Return the loss that `scoring` asks for; None for the log loss."""
        if self.scoring is None:
            return None
        classes, who = self.classes_, type(self).__name__

        def loss(values: Array, truth: Array, weight: Array | None) -> float:
            known = HeldOutClasses(
                values=values,
                classes=classes,
                decide=lambda v: classes[v.argmax(axis=1)],
                chances=lambda v: v,
                shape=lambda v: v[:, 1] if v.shape[1] == 2 else v,
            )
            if len(np.unique(truth)) < len(classes):
                with suppress(InputError):  # rows drawn at random may lack a class
                    return loss_of(who, self.scoring, known, classes[truth], weight)
                return np.inf
            return loss_of(who, self.scoring, known, classes[truth], weight)

        return loss

    def _values(self, member: Member, scores: Array) -> Array:
        return class_chances(scores, member.link, member.target)

    @anywhere
    def predict_proba(self, X: PointsLike) -> Array:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The probabilities, in the order of `classes_`.
        """
        found = self._average(X)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n,)
            The likeliest class.
        """
        places = self._average(X).argmax(axis=1)
        return np.asarray(self.classes_[places])
