"""What every estimator shares: its kernel, its input, scikit-learn's contract."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..checks import Array, InputError, sentence
from ..grams import Gram, Prepared, prepare
from ..grams.maps.products import map_times
from ..inputs import GRAM, OBJECT_DOMAINS, ROWS, Frame, GramRows, Input, Matrix, RowBlocks, as_input
from ..kernels import Kernel, to_kernel
from ..postfit.compress.record import Compression, Condensation
from ..status import Status
from ..typing import MemoryLimit
from .contract.approximation import approximated, own_kernel, reader
from .contract.columns import (
    check_columns,
    check_columns_of_blocks,
    note_columns,
    note_columns_of_blocks,
)
from .contract.gradient import HasGradient
from .contract.parameters import check_parameters, is_usual


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """How far a fit is from its optimum, what it cost and how it was computed.

    Attributes
    ----------
    status : str
        "exact" for closed forms.
    plan : str
        How the kernel matrix was held, and why.
    kernel_entries : int
        Number of kernel values that were computed.
    bytes : int
        Bytes that the plan allocates beyond the inputs.
    seconds : float
        Time that the fit took.
    """

    status: Status
    plan: str
    kernel_entries: int
    bytes: int
    seconds: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", Status(self.status))  # a file has the text


class KernelEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator with a `kernel` parameter, for any input that the kernel takes.

    It is the base of all estimators: by scikit-learn's contract they can be cloned, searched over
    and put into pipelines. `isinstance(model, KernelEstimator)` tells them from others.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.models import KernelEstimator
    >>> isinstance(SVC(), KernelEstimator)
    True
    """

    kernel: Any
    memory_limit: MemoryLimit
    kernel_: Kernel
    certificate_: Certificate
    compression_: Compression | Condensation
    n_features_in_: int
    feature_names_in_: Array
    _prepared: Prepared
    _sizes: ClassVar[tuple[float, float]] = (0.0, 1e150)  # of y, whose squares are to be numbers
    _of_names: ClassVar[dict[str, Any]] = {"gamma": None, "degree": 3, "coef0": 1}

    # --- parameters -------------------------------------------------------------------------

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters, read from the signature once for each class."""
        return list(super()._get_param_names())

    def _kernel(self) -> Kernel:
        """Return the kernel value that the parameters stand for.

        gamma, degree and coef0 belong to kernels given by name, gamma also to the default one.
        """
        who = type(self).__name__
        extra = {k: getattr(self, k) for k in ("gamma", "degree", "coef0") if hasattr(self, k)}
        if isinstance(self.kernel, str):
            return to_kernel(self.kernel, who=who, **extra)
        given = [k for k, v in extra.items() if not is_usual(v, self._of_names[k])]
        own = own_kernel(self) if self.kernel is None and not given else None
        if own is not None:
            return to_kernel(own, who=who)
        if self.kernel is None and "gamma" in given:
            return to_kernel("rbf", who=who, gamma=extra["gamma"])
        if given:
            must = f"{', '.join(given)} must be left out when kernel is not a name"
            advice = "Give them to the kernel itself, such as Gaussian(gamma=0.1)."
            raise InputError(sentence(who, must, f"kernel={checks.show(self.kernel)}", advice))
        return to_kernel(self.kernel, who=who)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator or, with names such as kernel__gamma, of its kernel.

        Kernels are values, so that a new one takes the place of the old.

        Parameters
        ----------
        **params : dict
            Parameters of the estimator, and of its kernel as in `kernel__gamma=0.1`.

        Returns
        -------
        KernelEstimator
            The estimator itself.
        """
        prefix = "kernel__"
        nested = {k.removeprefix(prefix): v for k, v in params.items() if k.startswith(prefix)}
        super().set_params(**{k: v for k, v in params.items() if not k.startswith(prefix)})
        if nested:
            self.kernel = self._kernel().replace(**nested)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kernel = self._kernel()
        except checks.MercerError:  # tags must exist even for parameters that `fit` will refuse
            return tags
        domain = kernel.domain
        tags.input_tags.pairwise = domain == GRAM
        tags.input_tags.sparse = bool(domain & (ROWS | GRAM))
        tags.input_tags.positive_only = kernel.needs_nonnegative()
        if not domain & (ROWS | GRAM):
            tags.input_tags.two_d_array = False
            tags.input_tags.one_d_array = bool(domain & OBJECT_DOMAINS)
            tags.input_tags.string = "sequences" in domain
            tags.no_validation = True
        return tags

    # --- input ------------------------------------------------------------------------------

    def _check_fit(self, X: Any) -> Input:
        """Return the training points, checked, and note their names and number of columns."""
        check_parameters(self)
        points = self._points(X, self._kernel(), reset=True)
        if len(points) == 0:
            must = "there must be at least one point"
            raise InputError(sentence(type(self).__name__, must, "0 sample(s)"))
        if isinstance(points, Frame):
            self.feature_names_in_ = np.array(points.names, dtype=object)
        return points

    def _check_predict(self, X: Any) -> Input:
        """Return new points, checked against those of the fit."""
        if self._is_like_training(X):
            return Matrix(X).check(type(self).__name__)
        self._require_fit()
        points = self._points(X, reader(self, self._prepared.kernel), reset=False)
        # Even a square matrix has rows of new points here: its diagonal means nothing.
        return GramRows(points.values) if isinstance(points, GramRows) else points

    def _require_fit(self) -> None:
        """Refuse to answer before a fit; scikit-learn's check is asked for its error only."""
        if "_prepared" not in vars(self):
            check_is_fitted(self)

    def _is_like_training(self, X: Any) -> bool:
        """Return whether X is an array of numbers with the columns of the fit, without names.

        There is nothing to say about such rows but whether they are finite.
        """
        state = vars(self)
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype.char in "fd"
            and "_prepared" in state
            and isinstance(self._prepared.points, Matrix)
            and "feature_names_in_" not in state
            and X.shape[1] == state.get("n_features_in_")
        )

    def _points(self, X: Any, kernel: Kernel, *, reset: bool) -> Input:
        """Return X as the input that the kernel takes; a table also has names and a width."""
        who = type(self).__name__
        points = as_input(X, kernel.domain, who)
        if isinstance(points, Matrix | GramRows):
            if points.values.shape[1] == 0:
                got = f"0 feature(s) (shape=({len(points)}, 0)) while a minimum of 1 is required."
                raise InputError(f"{who}: X must have a column; got {got}")
            if not isinstance(X, Input) and reset:
                note_columns(self, X)
            elif not isinstance(X, Input):
                check_columns(self, X, points.values.shape[1])
        elif isinstance(points, RowBlocks):
            (note_columns_of_blocks if reset else check_columns_of_blocks)(self, points)
        return points

    def _class_of(self, scores: Array) -> Array:
        """Return the class with the largest score; one score is positive for the second of two."""
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    # --- the Gram ---------------------------------------------------------------------------

    def _prepare(
        self, points: Input, sample_weight: Array | None = None, kernel: Kernel | None = None
    ) -> Prepared:
        """Return the kernel settled on the training points, and publish it as `kernel_`."""
        if isinstance(points, GramRows):
            _check_gram(type(self).__name__, points.values)
        kernel = approximated(self, kernel or self._kernel(), points, sample_weight)
        self._prepared = prepare(kernel, points, sample_weight).checked()
        self.kernel_ = self._prepared.kernel
        return self._prepared

    def _keep(self, rows: Array) -> None:
        """Keep copies of the points that predictions need, so that X may change afterwards.

        Where all points of files are needed, they are read again.
        """
        points, some = self._prepared.points, len(rows) < len(self._prepared)
        if some or not isinstance(points, RowBlocks) or points.is_remote:
            self._prepared = self._prepared.take(rows)

    def _cross_gram(self, X: Any) -> Gram:
        """Return K(X, kept training points), for one pass."""
        points = self._check_predict(X)
        return self._prepared.gram(points, use="once", memory_limit=self.memory_limit)

    def _cross_product(self, points: Input, V: Array) -> Array:
        """Return K(checked points, kept training points) V."""
        return self._prepared.times(points, V, self.memory_limit)

    def _in_precision(self, values: Array, points: Input) -> Array:
        """Return numbers in single precision where all points are, as scikit-learn does.

        Numbers that are too large for it stay as they are.
        """
        fitted, new = self._prepared.view.dtype, getattr(points, "dtype", np.dtype(np.float64))
        dtype = np.result_type(fitted, new)
        fits = float(np.abs(values).max(initial=0.0)) <= float(np.finfo(dtype).max)
        return np.asarray(values, dtype=dtype if fits else np.float64)


class FunctionEstimator(HasGradient, KernelEstimator):
    """An estimator of f(x) + b: sums of kernels by `dual_coef_`, or of features by `coef_`."""

    coef_: Array
    dual_coef_: Array
    intercept_: Any

    def _scores(self, X: Any) -> Array:
        """Return f(x) + b of every x, one column per output."""
        points = self._check_predict(X)
        if hasattr(self, "coef_"):
            with np.errstate(over="ignore", invalid="ignore"):  # checked below
                scores = map_times(self._prepared, points, self.coef_)
        else:
            scores = self._cross_product(points, self.dual_coef_)
        return self._finite(scores + self.intercept_)

    def _terms(self) -> tuple[Array, bool]:
        of_features = hasattr(self, "coef_")
        found = self.coef_ if of_features else self.dual_coef_
        flat = getattr(self, "_flat", found.ndim == 2 and found.shape[1] == 1)
        return (found[:, 0] if flat and found.ndim == 2 else found), of_features

    def _finite(self, scores: Array) -> Array:
        """Return the scores, or refuse those that are no numbers."""
        if not np.isfinite(scores).all() and not checks.assume_finite():
            must = "scores must be finite"
            advice = "Scale X and y, for example with sklearn.preprocessing.StandardScaler."
            got = f"overflow with {self.kernel_!r}"
            raise InputError(sentence(type(self).__name__, must, got, advice))
        return np.asarray(scores)


def _check_gram(who: str, K: Array) -> None:
    """Refuse a training Gram that is not square or not symmetric."""
    if K.shape[0] != K.shape[1]:
        raise InputError(
            sentence(
                who,
                "a precomputed Gram must be square to fit, one row and column per training point",
                f"shape {K.shape}",
            )
        )
    gap, i, j = _worst_pair(K)
    if gap > 1e-5 * max(_largest(K), float(np.finfo(K.dtype).tiny)):
        raise InputError(
            sentence(
                who,
                "a precomputed Gram must be symmetric",
                f"K[{i}, {j}] = {K[i, j]:g} but K[{j}, {i}] = {K[j, i]:g}",
                "Use (K + K.T) / 2, or mercer.repair(K).",
            )
        )


TILE = 256  # rows and columns of K that are compared at a time


def _worst_pair(K: Array) -> tuple[float, int, int]:
    """Return the largest |K_ij - K_ji| and the first pair that has it, tile by tile."""
    worst = (0.0, 0, 0)
    starts = range(0, len(K), TILE)
    for top, left in ((a, b) for a in starts for b in starts if a <= b):
        above = K[top : top + TILE, left : left + TILE]
        below = K[left : left + TILE, top : top + TILE]
        gaps = np.abs(above - below.T)
        place = int(np.argmax(gaps))
        if gaps.flat[place] > worst[0]:
            i, j = np.unravel_index(place, gaps.shape)
            worst = (float(gaps.flat[place]), top + int(i), left + int(j))
    return worst


def _largest(K: Array) -> float:
    """Return the largest |K_ij|, without a copy of K."""
    return float(max(K.max(), -K.min()))
