"""Which columns matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from .. import checks
from ..checks import Array, InputError, MercerError, sentence
from ..kernels import Kernel
from ..typing import Estimator, LabelsLike, PointsLike
from . import style
from .base import (
    Display,
    count_of,
    innermost,
    is_frame,
    names_of,
    replaced,
    require,
    rows_of,
    some,
    some_rows,
    take,
    vector,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS = ("auto", "importances", "gamma", "gradient", "permutation")
Method = Literal["auto", "importances", "gamma", "gradient", "permutation"]


@dataclass(kw_only=True, eq=False, repr=False)
class ColumnRelevanceDisplay(Display):
    """How much each column matters, the most important ones first.

    Parameters
    ----------
    values : array-like of shape (d,)
        The relevance of each column.
    names : sequence of str, default=None
        Names of the columns; None is x₁, x₂ and so on.
    measure : str, default="relevance"
        What the values are.
    spread : array-like of shape (d,), default=None
        Standard deviations of the values, drawn as lines.
    most : int, default=20
        How many columns are drawn; those after them are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.plots import ColumnRelevanceDisplay
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> model = KernelRidge(0.1).fit(X, np.sin(X[:, 1]))
    >>> display = ColumnRelevanceDisplay.from_estimator(model, X)
    >>> int(display.values.argmax())
    1
    """

    values: Array
    names: Sequence[str] | None = None
    measure: str = "relevance"
    spread: Array | None = None
    most: int = 20

    _size: ClassVar[tuple[float, float]] = (6.0, 4.2)

    def __post_init__(self) -> None:
        who = self._who()
        self.values = vector(who, "values", self.values)
        some(who, "values", self.values)
        count = len(self.values)
        if self.names is None:
            self.names = [style.column_name(place) for place in range(count)]
        self.names = tuple(str(name) for name in self.names)
        if len(self.names) != count:
            must = f"names must have one name for each of {count} columns"
            raise InputError(sentence(who, must, len(self.names)))
        if self.spread is not None:
            self.spread = vector(who, "spread", self.spread, count)
        checks.whole(who, "most", self.most, least=1)

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike | None = None,
        y: LabelsLike | None = None,
        *,
        method: Method = "auto",
        names: Sequence[str] | None = None,
        n_repeats: int = 3,
        max_points: int = 1000,
        most: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Compute how much columns matter to a fitted model, and draw it.

        Parameters
        ----------
        model : estimator
            A fitted model.
        X : array-like, sparse matrix or data frame of shape (n, d), default=None
            Points; needed for the methods "gradient" and "permutation".
        y : array-like of shape (n,), default=None
            Their classes or numbers; needed for the method "permutation".
        method : {"auto", "importances", "gamma", "gradient", "permutation"}, default="auto"
            "importances" takes `feature_importances_`; "gamma" the bandwidths of a kernel that has
            one per column; "gradient" the mean size of the derivative of the function by each
            column, times the standard deviation of that column; "permutation" what the score loses
            where the entries of a column are shuffled. "auto" is the first that the model has.
        names : sequence of str, default=None
            Names of the columns; None takes those of the frame or the model.
        n_repeats : int, default=3
            How often columns are shuffled.
        max_points : int, default=1000
            Of more points so many are drawn at random, with a fixed seed.
        most : int, default=20
            How many columns are drawn.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ColumnRelevanceDisplay
            What was drawn.

        Raises
        ------
        InputError
            If the model has nothing of the kind, or X or y is needed.
        """
        who = cls.__name__
        checks.one_of(who, "method", method, METHODS)
        if X is not None:
            rows = some_rows(count_of(X), checks.whole(who, "max_points", max_points, least=2))
            y = None if y is None else np.asarray(y)[rows]
            X = take(X, rows) if len(rows) < count_of(X) else X
        found: _Relevance | None = None
        for way in (method,) if method != "auto" else METHODS[1:]:
            found = _measure(who, way, model, X, y, repeats=n_repeats, asked=method != "auto")
            if found is not None:
                break
        if found is None:
            must = "the model must have feature_importances_, a gamma per column or a gradient"
            advice = "Hand in X, and y to shuffle columns."
            raise InputError(sentence(who, must, type(model).__name__, advice))
        values, spread, measure = found
        known = _names(model, X, len(values)) if names is None else names
        display = cls(values=values, names=known, measure=measure, spread=spread, most=most)
        display.plot(ax)
        return display

    def _draw(self, ax: Axes) -> None:
        order = np.argsort(-self.values, kind="stable")[: self.most]
        places = np.arange(len(order))
        ax.barh(places, self.values[order], color=style.BLUE, height=0.7)
        if self.spread is not None:
            reach: dict[str, Any] = {"color": style.INK, "linewidth": 1, "linestyle": "none"}
            ax.errorbar(self.values[order], places, xerr=self.spread[order], **reach)
        names = self.names or ()
        ax.set_yticks(places, [_short(names[place]) for place in order])
        ax.set(xlabel=self.measure, ylim=(len(order) - 0.4, -0.6))
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        if self.values.min() < 0:
            ax.axvline(0.0, color=style.INK, linewidth=0.8)
        left = len(self.values) - len(order)
        if left:
            ax.set_title(f"the first {len(order)} of {len(self.values)} columns")


_Relevance = tuple[Array, Array | None, str]


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27] + "…"


def _names(model: Any, X: object, count: int) -> list[str]:
    """Return names of columns: of the frame, else of the model, else x₁, x₂, …"""
    own = getattr(model, "feature_names_in_", None)
    if not is_frame(X) and own is not None and len(own) == count:
        return [str(name) for name in own]
    return names_of(X, count)


def _measure(
    who: str, way: str, model: Any, X: Any, y: Any, repeats: int, asked: bool
) -> _Relevance | None:
    """Return the relevance of columns by one method; None where the model does not have it.

    asked: whether a user wants this method, so that what is missing is an error.
    """
    inner = innermost(model, None)[0]
    if way == "importances" and hasattr(inner, "feature_importances_"):
        return np.asarray(inner.feature_importances_), None, "feature_importances_"
    if way == "gamma":
        found = _bandwidths(getattr(inner, "kernel_", None))
        if found is not None:
            return found
    if way == "gradient" and hasattr(model, "gradient") and X is not None:
        try:
            return _mean_gradient(who, model, X)
        except MercerError:  # a kernel without a derivative
            if asked:
                raise
    if way == "permutation" and X is not None and y is not None:
        count = checks.whole(who, "n_repeats", repeats, least=1, most=1000)
        return _shuffled(who, model, X, y, count)
    if asked:
        needs = {"gradient": " and X", "permutation": "; X and y"}.get(way, "")
        must = f"method={way!r} needs a model that has it{needs}"
        raise InputError(sentence(who, must, type(model).__name__))
    return None


def _bandwidths(kernel: Any) -> _Relevance | None:
    """Return one bandwidth per column, where a kernel has them, also within others."""
    while isinstance(kernel, Kernel):
        for name in ("gamma", "length_scale"):
            values = getattr(kernel, name, None)
            if isinstance(values, tuple | np.ndarray) and len(values) > 1:
                found = np.asarray(values, dtype=np.float64)
                if name == "gamma":
                    return found, None, "gamma"
                return found**-2.0, None, "1 / length_scale²"
        kernel = getattr(kernel, "inner", None)
    return None


def _mean_gradient(who: str, model: Any, X: Any) -> _Relevance:
    slopes = np.abs(model.gradient(X))
    sizes = slopes.mean(axis=tuple(axis for axis in range(slopes.ndim) if axis != 1))
    spread = rows_of(who, X).std(axis=0)
    return sizes * spread, None, "mean |∂f/∂x|, times the deviation of x"


def _shuffled(who: str, model: Any, X: Any, y: Array, repeats: int) -> _Relevance:
    """Return what the score loses where a column is shuffled: mean and deviation."""
    require(who, model, "score")
    random, n = np.random.default_rng(0), count_of(X)
    whole = model.score(X, y)
    columns = int(X.shape[1]) if hasattr(X, "shape") else len(X[0])
    losses = np.array(
        [
            [whole - model.score(replaced(X, c, random.permutation(n)), y) for _ in range(repeats)]
            for c in range(columns)
        ]
    )
    return losses.mean(axis=1), losses.std(axis=1), "loss of score where the column is shuffled"
