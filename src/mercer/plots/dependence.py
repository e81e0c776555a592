"""How predictions depend on a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import narwhals.stable.v2 as narwhals
import numpy as np
from scipy.interpolate import CubicHermiteSpline
from sklearn.base import is_classifier

from .. import checks
from ..checks import Array, InputError, MercerError, sentence
from ..typing import Estimator, PointsLike
from . import style
from .base import (
    Display,
    column_place,
    count_of,
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

METHODS = ("auto", "gradient", "prediction")
ENDS = (0.01, 0.99)  # quantiles of a column between which the curve is drawn
FEW, MANY = 15, 40  # places of a curve, with slopes and without
LEVELS = 12  # categories that are drawn, the most frequent ones


@dataclass(kw_only=True, eq=False, repr=False)
class PartialDependenceDisplay(Display):
    """The mean prediction against one column: m(v) = mean of f(x_i) with that column set to v.

    Where the model has a gradient, m is known with its slope, the mean derivative by that column,
    at few places, and drawn as the cubic curve through both; otherwise by predictions at more
    places. A column of categories is drawn as bars.

    Parameters
    ----------
    values : array-like of shape (m,)
        Values of the column in rising order: numbers, dates, or names of categories.
    mean : array-like of shape (m,)
        The mean prediction at each.
    slopes : array-like of shape (m,), default=None
        The derivative of the mean prediction at each, for numbers.
    name : str, default="x"
        The column.
    response : str, default="mean prediction"
        What is predicted.
    points : array-like of shape (n,), default=None
        Values of the column in the data, drawn as ticks along the axis.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.plots import PartialDependenceDisplay
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> model = KernelRidge(0.1).fit(X, X[:, 0] ** 2)
    >>> display = PartialDependenceDisplay.from_estimator(model, X, 0)
    >>> bool(display.slopes[0] < 0 < display.slopes[-1])
    True
    """

    values: Any
    mean: Array
    slopes: Array | None = None
    name: str = "x"
    response: str = "mean prediction"
    points: Any = None

    def __post_init__(self) -> None:
        who = self._who()
        self.values = np.asarray(self.values)
        some(who, "values", self.values)
        if self.values.dtype.kind in "biuf":
            self.values = vector(who, "values", self.values)
            if (np.diff(self.values) <= 0).any():
                raise InputError(sentence(who, "values must rise", checks.show(self.values)))
        self.mean = vector(who, "mean", self.mean, len(self.values))
        if self.slopes is not None:
            self.slopes = vector(who, "slopes", self.slopes, len(self.values))
        self.points = None if self.points is None else np.asarray(self.points)

    @property
    def is_categorical(self) -> bool:
        """Whether the column has categories."""
        return str(self.values.dtype.kind) not in "fM"

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike,
        column: int | str,
        *,
        target: object = None,
        method: Literal["auto", "gradient", "prediction"] = "auto",
        steps: int | None = None,
        max_points: int = 500,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Compute the mean prediction along a column, and draw it.

        Parameters
        ----------
        model : estimator
            A fitted regression with one output, or a classifier.
        X : array-like or data frame of shape (n, d)
            The points over which the mean is taken.
        column : int or str
            The column, by number or name.
        target : object, default=None
            The class whose probability, or else score, is drawn; None is the second of two.
        method : {"auto", "gradient", "prediction"}, default="auto"
            "gradient" takes slopes from the gradient of the model, "prediction" only predictions;
            "auto" takes slopes where the model has them.
        steps : int, default=None
            At how many values the mean is computed; None is 15 with slopes and 40 without.
        max_points : int, default=500
            Of more points so many are drawn at random, with a fixed seed.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        PartialDependenceDisplay
            What was drawn.

        Raises
        ------
        InputError
            If there is no such column, or its values cannot be put in an order or into few
            categories; if `target` is needed; if slopes are asked for and the model has none.
        """
        who = cls.__name__
        checks.one_of(who, "method", method, METHODS)
        rows = some_rows(count_of(X), checks.whole(who, "max_points", max_points, least=1))
        X = take(X, rows) if len(rows) < count_of(X) else X
        whole: Any = X if is_frame(X) else rows_of(who, X)
        names = names_of(X, whole.shape[1])
        place = column_place(who, column, names)
        known = _column(whole, place)
        ask = _Response(who, model, target)
        slopes = ask.has_slopes(whole) and known.dtype.kind == "f"
        if method == "gradient" and not slopes:
            must = "method='gradient' needs a column of numbers and the gradient of what is drawn"
            raise InputError(sentence(who, must, type(model).__name__, "Take 'prediction'."))
        use = slopes and method != "prediction"
        count = (FEW if use else MANY) if steps is None else steps
        chosen = _grid(who, known, names[place], count)
        means, tilts = ask.along(whole, place, chosen, use)
        display = cls(
            values=known[chosen],
            mean=means,
            slopes=tilts,
            name=names[place],
            response=ask.name,
            points=known if known.dtype.kind in "fM" else None,
        )
        display.plot(ax, legend=legend)
        return display

    def curve(self, steps: int = 300) -> tuple[Array, Array]:
        """Return the curve that is drawn: the cubic one where slopes are known, else the points.

        Parameters
        ----------
        steps : int, default=300
            At how many places it is computed, where slopes are known.

        Returns
        -------
        x : ndarray
            The places.
        y : ndarray
            The mean prediction there.
        """
        if self.slopes is None or len(self.values) < 2:
            return self.values, self.mean
        x = np.linspace(self.values[0], self.values[-1], steps)
        return x, CubicHermiteSpline(self.values, self.mean, self.slopes)(x)

    def _draw(self, ax: Axes) -> None:
        if self.is_categorical:
            places = np.arange(len(self.values))
            base = min(0.0, float(self.mean.min()))
            ax.barh(places, self.mean - base, left=base, color=style.BLUE, height=0.6)
            ax.set_yticks(places, [str(value) for value in self.values])
            ax.set(xlabel=self.response, ylabel=self.name, ylim=(len(places) - 0.4, -0.6))
            return
        x, y = self.curve()
        ax.plot(x, y, color=style.BLUE, linewidth=2)
        if self.slopes is not None:
            marks: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3.5}
            ax.plot(self.values, self.mean, color=style.BLUE, **marks)
        if self.points is not None:
            kept = self.points[(self.points >= x[0]) & (self.points <= x[-1])]
            ticks: dict[str, Any] = {"color": style.INK, "linewidth": 0.5, "alpha": 0.5}
            ax.vlines(kept, 0, 0.03, transform=ax.get_xaxis_transform(), **ticks, rasterized=True)
        ax.set(xlabel=self.name, ylabel=self.response)
        ax.margins(x=0.02)
        if self.values.dtype.kind == "M":
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            dates: Any = AutoDateLocator(minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
            ax.xaxis.set_major_locator(dates)
            ax.xaxis.set_major_formatter(ConciseDateFormatter(dates))  # type: ignore[no-untyped-call]


class _Response:
    """What is drawn of a model: its prediction, the probability of a class or its score."""

    def __init__(self, who: str, model: Any, target: object) -> None:
        self.model, self.method, self.column = model, "predict", None
        self.sign, self.name = 1.0, "mean prediction"
        if not is_classifier(model):
            require(who, model, "predict")
            return
        classes = np.asarray(model.classes_)
        if target is None and len(classes) != 2:
            must = f"target must be one of the classes {', '.join(map(str, classes[:12]))}"
            raise InputError(sentence(who, must, "None"))
        found = np.flatnonzero(classes == (classes[1] if target is None else target))
        if len(found) == 0:
            must = f"target must be one of the classes {', '.join(map(str, classes[:12]))}"
            raise InputError(sentence(who, must, checks.show(target)))
        place = int(found[0])
        if hasattr(model, "predict_proba"):
            self.method, self.column = "predict_proba", place
            self.name = f"mean probability of {classes[place]}"
            return
        require(who, model, "decision_function")
        self.method, self.name = "decision_function", f"mean score of {classes[place]}"
        if len(classes) == 2:
            self.sign = 1.0 if place == 1 else -1.0
        else:
            self.column = place

    def __call__(self, X: Any) -> Array:
        found = np.asarray(getattr(self.model, self.method)(X), dtype=np.float64)
        if self.column is not None:
            return found[:, self.column]
        if found.ndim != 1:
            must = "the model must predict one number per point"
            got = f"shape {found.shape}"
            raise InputError(sentence("PartialDependenceDisplay", must, got))
        return self.sign * found

    def along(
        self, X: Any, place: int, rows: Array, with_slopes: bool
    ) -> tuple[Array, Array | None]:
        """Return the means, and their slopes, with a column set to its value in each of rows."""
        n, means, tilts = count_of(X), [], []
        for row in rows:
            moved = replaced(X, place, np.full(n, row))
            means.append(float(self(moved).mean()))
            if with_slopes:
                tilts.append(float(self.slopes(moved)[:, place].mean()))
        return np.array(means), np.array(tilts) if with_slopes else None

    def has_slopes(self, X: Any) -> bool:
        """Return whether the gradient of the model is that of what is drawn."""
        if self.column is not None or not hasattr(self.model, "gradient"):
            return False
        try:
            found = self.slopes(take(X, np.arange(1)))
        except MercerError:  # a kernel without a derivative, or points that are no numbers
            return False
        return found.ndim == 2

    def slopes(self, X: Any) -> Array:
        return self.sign * np.asarray(self.model.gradient(X))


def _column(X: Any, place: int) -> Array:
    """Return the values of a column: numbers in double precision, dates, or texts."""
    if not is_frame(X):
        return np.asarray(X[:, place], dtype=np.float64)
    series = narwhals.from_native(X).get_column(names_of(X, 0)[place])
    if series.dtype.is_numeric():
        return np.asarray(series.cast(narwhals.Float64).to_numpy(), dtype=np.float64)
    if series.dtype in (narwhals.Date, narwhals.Datetime):
        return np.asarray(series.cast(narwhals.Datetime("us")).to_numpy(), dtype="datetime64[us]")
    return np.array(["" if value is None else str(value) for value in series.to_list()])


def _grid(who: str, known: Array, name: str, count: int) -> Array:
    """Return rows whose values of a column stand for all: quantiles, or each frequent level."""
    checks.whole(who, "steps", count, least=2)
    if known.dtype.kind in "fM":
        present = np.flatnonzero(~np.isnan(known))
        if len(present) == 0:
            raise InputError(sentence(who, f"column {name!r} must have values", "none"))
        order = present[np.argsort(known[present], kind="stable")]
        places = np.rint(np.linspace(*ENDS, count) * (len(order) - 1)).astype(int)
        _, first = np.unique(known[order[places]], return_index=True)
        return np.asarray(order[places][first])
    levels, rows, counts = np.unique(known, return_index=True, return_counts=True)
    if len(levels) > LEVELS and counts.max() == 1:
        must = f"column {name!r} must have numbers, dates or categories"
        raise InputError(sentence(who, must, "texts that are all different"))
    some_levels = np.argsort(-counts, kind="stable")[:LEVELS]
    return np.asarray(rows[some_levels])
