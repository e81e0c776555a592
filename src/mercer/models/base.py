"""What every estimator shares: its kernel, its input, scikit-learn's contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence
from ..grams import Gram, Prepared, prepare
from ..inputs import (
    GRAM,
    OBJECT_DOMAINS,
    ROWS,
    Frame,
    GramRows,
    Input,
    Matrix,
    RowBlocks,
    as_input,
)
from ..kernels import Kernel, to_kernel


@dataclass(frozen=True)
class Certificate:
    """How far a fit is from its optimum, what it cost and how it was computed.

    status: "exact" for closed forms. plan: the kind of Gram that was used, and why.
    bytes: what the plan allocates beyond the inputs.
    """

    status: str
    plan: str
    kernel_entries: int
    bytes: int
    seconds: float


class KernelEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator with a `kernel` parameter, for any input that the kernel takes."""

    kernel: Any
    memory_limit: Any
    classes_: Array
    _sizes: ClassVar[tuple[float, float]] = (0.0, 1e150)  # of y, whose squares are to be numbers
    _of_names: ClassVar[dict[str, Any]] = {"gamma": None, "degree": 3, "coef0": 1}

    # --- parameters -------------------------------------------------------------------------

    def _kernel(self) -> Kernel:
        """Return the kernel value that the parameters stand for.

        gamma, degree and coef0 belong to kernels given by name, gamma also to the default one.
        """
        who = type(self).__name__
        extra = {k: getattr(self, k) for k in ("gamma", "degree", "coef0") if hasattr(self, k)}
        if isinstance(self.kernel, str):
            return to_kernel(self.kernel, who=who, **extra)
        if self.kernel is None and extra.get("gamma") != self._of_names["gamma"]:
            return to_kernel("rbf", who=who, gamma=extra.pop("gamma"))
        given = [k for k, v in extra.items() if v != self._of_names[k]]
        if given:
            must = f"{', '.join(given)} must be left out when kernel is not a name"
            advice = "Give them to the kernel itself, such as Gaussian(gamma=0.1)."
            raise InputError(sentence(who, must, f"kernel={checks.show(self.kernel)}", advice))
        return to_kernel(self.kernel, who=who)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; kernel__… names make a new kernel, since kernels are values."""
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
        points = self._points(X, self._kernel(), reset=True)
        if len(points) == 0:
            must = "there must be at least one point"
            raise InputError(sentence(type(self).__name__, must, "0 sample(s)"))
        if isinstance(points, Frame):
            self.feature_names_in_ = np.array(points.names, dtype=object)
        return points

    def _check_predict(self, X: Any) -> Input:
        """Return new points, checked against those of the fit."""
        check_is_fitted(self)
        points = self._points(X, self._prepared.kernel, reset=False)
        # Even a square matrix has rows of new points here: its diagonal means nothing.
        return GramRows(points.values) if isinstance(points, GramRows) else points

    def _points(self, X: Any, kernel: Kernel, *, reset: bool) -> Input:
        """Return X as the input that the kernel takes; a table also has names and a width."""
        who = type(self).__name__
        points = as_input(X, kernel.domain, who)
        if isinstance(points, Matrix | GramRows):
            if points.values.shape[1] == 0:
                got = f"0 feature(s) (shape=({len(points)}, 0)) while a minimum of 1 is required."
                raise InputError(f"{who}: X must have a column; got {got}")
            if not isinstance(X, Input):
                validate_data(self, X, skip_check_array=True, reset=reset)
        return points

    def _check_targets(self, y: Any, n: int) -> tuple[Array, bool]:
        """Return numbers to predict, one column an output, and whether y was 1-D."""
        who = type(self).__name__
        if y is None:
            raise InputError(f"{who} requires y to be passed, but the target y is None.")
        values = np.asarray(y)
        if values.ndim == 2 and values.shape[1] == 1 and not isinstance(self, MultiOutputMixin):
            values = column_or_1d(values, warn=True)
        if values.ndim not in (1, 2) or values.shape[:1] != (n,):
            must = f"y must have one row for each of the {n} points"
            raise InputError(sentence(who, must, f"shape {values.shape}"))
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            must = "y must hold real numbers"
            raise InputTypeError(sentence(who, must, f"dtype {values.dtype}")) from None
        checks.finite(who, values.reshape(n, -1), what="y")
        self._check_size(values)
        return values.reshape(n, -1), values.ndim == 1

    def _check_size(self, values: Array) -> None:
        """Refuse numbers to predict that cannot be squared."""
        size, (least, most) = float(np.abs(values).max(initial=0.0)), self._sizes
        if size > most or 0 < size < least:
            bounds = f"{least:g} to {most:g}" if least else f"0 to {most:g}"
            raise InputError(
                sentence(
                    type(self).__name__,
                    f"the largest y, without its sign, must be from {bounds}",
                    f"{size:.3g}",
                    "Divide y by it, and multiply the predictions.",
                )
            )

    def _seed(self) -> int:
        """Return the seed that random_state stands for; None is a fixed one."""
        state = getattr(self, "random_state", None)
        if state is None:
            return 0
        if isinstance(state, int | np.integer):
            return checks.whole(type(self).__name__, "random_state", state, least=0)
        if isinstance(state, np.random.Generator):
            return int(state.integers(2**31))
        return int(check_random_state(state).randint(2**31 - 1))

    def _check_labels(self, y: Any, n: int) -> tuple[Array, Array]:
        """Return the classes and the class number of every sample."""
        who = type(self).__name__
        if y is None:
            raise InputError(f"{who} requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        if len(labels) != n:
            raise InputError(sentence(who, f"y must have {n} labels", len(labels)))
        if labels.dtype.kind == "f":
            checks.vector(who, "y", labels, n)
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise InputError(
                sentence(
                    who, "y must have at least two classes", f"1 class, {checks.show(classes[0])}"
                )
            )
        return classes, codes

    def _class_of(self, scores: Array) -> Array:
        """Return the class with the largest score; one score is positive for the second of two."""
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def _class_totals(self, codes: Array, weight: Array | None) -> Array:
        """Return the weight of each class; refuse a class without any."""
        totals = np.bincount(codes, weight, len(self.classes_))
        if (totals == 0).any():
            empty = self.classes_[int(np.argmin(totals))]
            raise InputError(
                sentence(
                    type(self).__name__,
                    "every class must have a sample with a positive weight",
                    f"class {checks.show(empty)} with weights that are all zero",
                    "Drop the class, or give one of its samples a weight.",
                )
            )
        return totals

    # --- the Gram ---------------------------------------------------------------------------

    _prepared: Prepared

    def _prepare(
        self, points: Input, sample_weight: Array | None = None, kernel: Kernel | None = None
    ) -> Prepared:
        """Return the kernel settled on the training points, and publish it as `kernel_`."""
        if isinstance(points, GramRows):
            _check_gram(type(self).__name__, points.values)
        self._prepared = prepare(kernel or self._kernel(), points, sample_weight).checked()
        self.kernel_ = self._prepared.kernel
        return self._prepared

    def _keep(self, rows: Array) -> None:
        """Keep copies of the points that predictions need, so that X may change afterwards."""
        if not isinstance(self._prepared.points, RowBlocks) or len(rows) < len(self._prepared):
            self._prepared = self._prepared.take(rows)

    def _cross_gram(self, X: Any) -> Gram:
        """Return K(X, kept training points)."""
        points = self._check_predict(X)
        K = self._prepared.gram(points, memory_limit=self.memory_limit)
        if K.plan.kind == "stored":  # one pass is all there is: nothing needs to be kept
            K = self._prepared.gram(points, memory_limit=self.memory_limit, store=False)
        return K


class FunctionEstimator(KernelEstimator):
    """An estimator of f(x) + b: sums of kernels by `dual_coef_`, or of features by `coef_`."""

    coef_: Array
    dual_coef_: Array
    intercept_: Any

    def _scores(self, X: Any) -> Array:
        """Return f(x) + b of every x, one column an output."""
        if hasattr(self, "coef_"):
            points = self._check_predict(X)
            scores = np.empty((len(points), *self.coef_.shape[1:]))
            with np.errstate(over="ignore", invalid="ignore"):  # checked below
                for rows, features in self._prepared.map_bands(points):
                    scores[rows] = features @ self.coef_
        else:
            scores = self._cross_gram(X) @ self.dual_coef_
        return self._finite(scores + self.intercept_)

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
                "a precomputed Gram must be square to fit, one row and column a training point",
                f"shape {K.shape}",
            )
        )
    gap = np.abs(K - K.T)
    worst = np.unravel_index(int(np.argmax(gap)), gap.shape)
    if gap[worst] > 1e-5 * max(float(np.abs(K).max()), np.finfo(K.dtype).tiny):
        i, j = int(worst[0]), int(worst[1])
        raise InputError(
            sentence(
                who,
                "a precomputed Gram must be symmetric",
                f"K[{i}, {j}] = {K[i, j]:g} but K[{j}, {i}] = {K[j, i]:g}",
                "Use (K + K.T) / 2, or mercer.repair(K).",
            )
        )
