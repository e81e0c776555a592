"""What a regression predicts: a curve with a band, and what is left over."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .. import checks
from ..checks import Array, InputError, MercerError, sentence
from ..typing import Estimator, PointsLike, TargetsLike
from . import style
from .base import (
    Display,
    column_place,
    innermost,
    like,
    names_of,
    require,
    rows_of,
    some,
    vector,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EDGE = 0.05  # of the range of the points, that the curve reaches beyond them
HEADROOM = 0.15  # of the height, that is left for the legend
FEWEST = 20  # points of a part in which quantiles are taken
PARTS = 10  # at most


@dataclass(kw_only=True, eq=False, repr=False)
class RegressionBandDisplay(Display):
    """A curve of predictions along one column, with a band around it.

    The band is f(x) ± 2 s(x) for a model that knows its standard deviation s, or an interval that
    has a new y with a given probability.

    Parameters
    ----------
    x : array-like of shape (m,)
        Where the curve is known, in rising order.
    mean : array-like of shape (m,)
        The predictions f(x).
    low : array-like of shape (m,), default=None
        The lower end of the band.
    high : array-like of shape (m,), default=None
        Its upper end; needed with low.
    band : str, default="band"
        What the band is, for the legend.
    X : array-like of shape (n,), default=None
        Points to be drawn.
    y : array-like of shape (n,), default=None
        Their numbers; needed with X.
    names : tuple of str, default=("x", "y")
        Names of both axes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.plots import RegressionBandDisplay
    >>> X = np.linspace(0.0, 6.0, 20)[:, None]
    >>> model = KernelRidge(0.1).fit(X, np.sin(X[:, 0]))
    >>> display = RegressionBandDisplay.from_estimator(model, X, np.sin(X[:, 0]))
    >>> display.band
    '± 2 standard deviations of a new y'
    """

    x: Array
    mean: Array
    low: Array | None = None
    high: Array | None = None
    band: str = "band"
    X: Array | None = None
    y: Array | None = None
    names: tuple[str, str] = ("x", "y")

    _legend: ClassVar[str] = "upper left"

    def __post_init__(self) -> None:
        who = self._who()
        self.x = vector(who, "x", self.x)
        some(who, "x", self.x)
        self.mean = vector(who, "mean", self.mean, len(self.x))
        _both(who, "low", self.low, "high", self.high)
        _both(who, "X", self.X, "y", self.y)
        if self.low is not None and self.high is not None:
            self.low = vector(who, "low", self.low, len(self.x))
            self.high = vector(who, "high", self.high, len(self.x))
        if self.X is not None and self.y is not None:
            self.X = vector(who, "X", self.X)
            self.y = vector(who, "y", self.y, len(self.X))

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike,
        y: TargetsLike | None = None,
        *,
        column: int | str | None = None,
        steps: int = 300,
        deviations: float = 2.0,
        coverage: float = 0.9,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Compute predictions along a column, with a band where the model has one, and draw them.

        Parameters
        ----------
        model : estimator
            A fitted regression with one output.
        X : array-like or data frame of shape (n,) or (n, d)
            The points, rows of numbers.
        y : array-like of shape (n,), default=None
            Their numbers; None draws no points.
        column : int or str, default=None
            The column to go along, needed if there are several; the others are held at their
            means.
        steps : int, default=300
            At how many places the curve is computed.
        deviations : float, default=2.0
            How many standard deviations the band reaches to both sides, for a model whose
            `predict` takes `return_std`.
        coverage : float, default=0.9
            The probability of the band, for a model with `predict_interval`.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        RegressionBandDisplay
            What was drawn.

        Raises
        ------
        InputError
            If there are several columns and none is chosen, or several outputs.
        """
        who = cls.__name__
        require(who, model, "predict")
        rows = rows_of(who, X)
        names = names_of(X, rows.shape[1])
        checks.whole(who, "steps", steps, least=2, most=10**6)
        place = _one(who, column, names)
        low, high = rows[:, place].min(), rows[:, place].max()
        edge = EDGE * (high - low) or 1.0
        x = np.linspace(low - edge, high + edge, steps)
        grid = np.tile(rows.mean(axis=0), (steps, 1))
        grid[:, place] = x
        mean, ends, band = _with_band(who, model, like(X, grid), deviations, coverage)
        known = {} if y is None else {"X": rows[:, place], "y": vector(who, "y", y, len(rows))}
        label = "x" if len(names) == 1 and names[0] == style.column_name(0) else names[place]
        display = cls(
            x=x,
            mean=mean,
            low=None if ends is None else ends[0],
            high=None if ends is None else ends[1],
            band=band,
            names=(label, "y"),
            **known,
        )
        display.plot(ax, legend=legend)
        return display

    def _draw(self, ax: Axes) -> None:
        if self.low is not None and self.high is not None:
            area: dict[str, Any] = {"color": style.BLUE, "alpha": style.TINT, "linewidth": 0}
            ax.fill_between(self.x, self.low, self.high, **area, label=self.band, zorder=1)
        ax.plot(self.x, self.mean, color=style.BLUE, linewidth=2, label="prediction", zorder=3)
        if self.X is not None and self.y is not None:
            many = len(self.X) > style.MANY
            ax.scatter(
                self.X, self.y, s=16, color=style.INK, zorder=4, rasterized=many, linewidth=0
            )
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.margins(x=0)
        low, high = ax.dataLim.intervaly
        ax.update_datalim([(float(self.x[0]), high + HEADROOM * (high - low))])
        ax.autoscale_view()


def _both(who: str, first: str, one: object, second: str, other: object) -> None:
    """Refuse one of two parameters that belong together."""
    if (one is None) != (other is None):
        must = f"{first} and {second} must be given together"
        raise InputError(sentence(who, must, f"{first if other is None else second} only"))


def _one(who: str, column: int | str | None, names: list[str]) -> int:
    if column is not None:
        return column_place(who, column, names)
    if len(names) != 1:
        must = "X must have one column, or column must name one"
        raise InputError(sentence(who, must, f"{len(names)} columns", "Say column=0."))
    return 0


def _with_band(
    who: str, model: Any, points: Any, deviations: float, coverage: float
) -> tuple[Array, tuple[Array, Array] | None, str]:
    """Return predictions, the ends of a band where the model has one, and what the band is."""
    ends: tuple[Array, Array] | None = None
    mean, band = np.asarray(model.predict(points), dtype=np.float64), ""
    if mean.ndim != 1:
        must = "the model must predict one number per point"
        raise InputError(sentence(who, must, f"predictions of shape {mean.shape}"))
    count = checks.number(who, "deviations", deviations, above=0)
    spread = _deviation(model, points)
    if spread is not None:
        ends = mean - count * spread, mean + count * spread
        band = f"± {count:g} standard deviations of a new y"
    elif hasattr(model, "predict_interval"):
        low, high = model.predict_interval(points, coverage)
        ends = np.asarray(low), np.asarray(high)
        band = f"{100 * coverage:g} % of new y"
    return mean, ends, band


def _deviation(model: Any, points: Any) -> Array | None:
    """Return standard deviations; None for a model that does not have them, or not of this fit."""
    inner = innermost(model, None)[0]
    if "return_std" not in inspect.signature(inner.predict).parameters:
        return None
    try:
        return np.asarray(model.predict(points, return_std=True)[1])
    except MercerError:
        return None


@dataclass(kw_only=True, eq=False, repr=False)
class ResidualsDisplay(Display):
    """What predictions leave over, y - f(x), against f(x), with lines at some of its quantiles.

    Quantiles are taken in parts of equal size along the predictions, up to 10 of at least 20
    points each. Lines that fan out tell of an error that grows with the prediction, and a line in
    the middle that bends tells of a shape which the model has missed.

    Parameters
    ----------
    predicted : array-like of shape (n,)
        The predictions f(x).
    truth : array-like of shape (n,)
        The numbers y that they should be.
    levels : tuple of float, default=(0.05, 0.5, 0.95)
        The quantiles, each between 0 and 1.

    Examples
    --------
    >>> from mercer.plots import ResidualsDisplay
    >>> display = ResidualsDisplay(predicted=[1.0, 2.0, 3.0], truth=[1.5, 2.0, 2.0])
    >>> display.residuals.tolist(), display.quantiles[0].round(2).tolist()
    ([0.5, 0.0, -1.0], [-0.9, 0.0, 0.45])
    """

    predicted: Array
    truth: Array
    levels: tuple[float, ...] = (0.05, 0.5, 0.95)
    residuals: Array = field(init=False)
    centres: Array = field(init=False)
    quantiles: Array = field(init=False)

    _legend: ClassVar[str] = "right"

    def __post_init__(self) -> None:
        who = self._who()
        self.predicted = vector(who, "predicted", self.predicted)
        some(who, "predicted", self.predicted)
        self.truth = vector(who, "truth", self.truth, len(self.predicted))
        for level in self.levels:
            checks.number(who, "levels", level, least=0, most=1)
        self.residuals = self.truth - self.predicted
        order = np.argsort(self.predicted, kind="stable")
        count = min(max(len(order) // FEWEST, 1), PARTS)
        parts = np.array_split(order, count)
        self.centres = np.array([np.median(self.predicted[part]) for part in parts])
        self.quantiles = np.array(
            [np.quantile(self.residuals[part], self.levels) for part in parts]
        )

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike,
        y: TargetsLike,
        *,
        levels: tuple[float, ...] = (0.05, 0.5, 0.95),
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Predict points, and draw what is left over.

        Parameters
        ----------
        model : estimator
            A fitted regression with one output.
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points; new ones show what is to be expected of others.
        y : array-like of shape (n,)
            Their numbers.
        levels : tuple of float, default=(0.05, 0.5, 0.95)
            The quantiles, each between 0 and 1.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        ResidualsDisplay
            What was drawn.
        """
        fitted: Any = model
        require(cls.__name__, fitted, "predict")
        display = cls(predicted=fitted.predict(X), truth=np.asarray(y), levels=levels)
        display.plot(ax, legend=legend)
        return display

    def _draw(self, ax: Axes) -> None:
        many = len(self.predicted) > style.MANY
        look: dict[str, Any] = {"color": style.BLUE, "alpha": 0.6, "linewidth": 0}
        ax.scatter(self.predicted, self.residuals, s=12, **look, rasterized=many)
        ax.axhline(0.0, color=style.GREY, linewidth=1)
        middle = len(self.levels) // 2
        for place, level in enumerate(self.levels):
            values, label = self.quantiles[:, place], f"{100 * level:g} % quantile"
            dashes = "-" if place == middle else "--"
            if len(values) == 1:
                ax.axhline(values[0], color=style.INK, linestyle=dashes, linewidth=1.2, label=label)
            else:
                line: dict[str, Any] = {"color": style.INK, "linewidth": 1.5, "label": label}
                ax.plot(self.centres, values, linestyle=dashes, **line)
        ax.set(xlabel="predicted", ylabel="measured − predicted")
