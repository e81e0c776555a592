"""Scores against parameters and against the number of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import learning_curve, validation_curve

from .. import checks
from ..checks import Array, InputError, sentence
from ..selection.tuned import Tuned
from ..typing import Estimator, Folds, LabelsLike, PointsLike, Scoring
from . import style
from .base import Display, matrix, some, vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 20.0  # largest value by smallest, from which on an axis is logarithmic


@dataclass(kw_only=True, eq=False, repr=False)
class SearchSurfaceDisplay(Display):
    """The scores of a search over one parameter or two, such as C and gamma.

    Two parameters on a grid are drawn as coloured cells, other candidates as coloured points; one
    parameter is drawn as a line. Of candidates that differ in other parameters only, the best
    counts. The best of all has a ring.

    Parameters
    ----------
    x : sequence of float or str
        The first parameter of each candidate, m in all.
    scores : array-like of shape (m,)
        Their scores; the larger, the better.
    y : sequence of float or str, default=None
        The second parameter of each candidate.
    names : tuple of str, default=("x", "y")
        Names of both parameters.
    score : str, default="score"
        What the scores are.

    See Also
    --------
    mercer.tune : A search.

    Examples
    --------
    >>> from mercer.plots import SearchSurfaceDisplay
    >>> table = {
    ...     "param_C": [1.0, 10.0, 1.0, 10.0],
    ...     "param_kernel__gamma": [0.1, 0.1, 1.0, 1.0],
    ...     "mean_test_score": [0.7, 0.8, 0.9, 0.6],
    ... }
    >>> display = SearchSurfaceDisplay.from_search(table)
    >>> display.best
    (1.0, 1.0)
    """

    x: Any
    scores: Array
    y: Any = None
    names: tuple[str, str] = ("x", "y")
    score: str = "score"

    _size: ClassVar[tuple[float, float]] = (5.8, 4.2)

    def __post_init__(self) -> None:
        who = self._who()
        self.scores = vector(who, "scores", self.scores)
        some(who, "scores", self.scores)
        self.x = _values(who, "x", self.x, len(self.scores))
        self.y = None if self.y is None else _values(who, "y", self.y, len(self.scores))

    @property
    def best(self) -> tuple[Any, ...]:
        """The parameters of the best candidate."""
        place = int(self.scores.argmax())
        found = [self.x[place]] if self.y is None else [self.x[place], self.y[place]]
        return tuple(one.item() if isinstance(one, np.generic) else one for one in found)

    @classmethod
    def from_search(
        cls,
        search: Estimator | Tuned | Mapping[str, Any],
        x: str | None = None,
        y: str | None = None,
        *,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw what a search has tried.

        Parameters
        ----------
        search : estimator, Tuned or dict
            A fitted search with `cv_results_`, such as scikit-learn's `GridSearchCV` and
            `mercer.KernelRidgeCV`; what `mercer.tune` returns; or the table of one of these.
        x : str, default=None
            The parameter along the horizontal axis; None is the first that varies.
        y : str, default=None
            The parameter along the vertical axis; None is the next that varies, if there is one.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether marks are explained.

        Returns
        -------
        SearchSurfaceDisplay
            What was drawn.

        Raises
        ------
        InputError
            If there is no table, no such parameter, or none that varies.
        """
        who = cls.__name__
        table = _table(who, search)
        varied = [name for name in _parameters(table) if len(_distinct(table, name)) > 1]
        for name in (x, y):
            if name is not None and f"param_{name}" not in table:
                must = f"the parameter must be one of {', '.join(map(repr, _parameters(table)))}"
                advice = checks.nearest(name, _parameters(table))
                raise InputError(sentence(who, must, checks.show(name), advice))
        left = [name for name in varied if name not in (x, y)]
        if x is None and not left:
            must = "a parameter of the search must vary"
            raise InputError(sentence(who, must, "one candidate for all"))
        first = x or left.pop(0)
        second = y or (left[0] if left and x is None else None)
        columns = [_column(table, name) for name in (first, second) if name is not None]
        scores = np.asarray(table["mean_test_score"], dtype=np.float64)
        kept = [
            place
            for place in range(len(scores))
            if np.isfinite(scores[place]) and all(c[place] is not None for c in columns)
        ]
        chosen = [[column[place] for place in kept] for column in columns]
        display = cls(
            x=chosen[0],
            y=chosen[1] if second else None,
            scores=scores[kept],
            names=(first, second or ""),
            score="mean score of points left out",
        )
        display.plot(ax, legend=legend)
        return display

    from_estimator = from_search

    # --- drawing ----------------------------------------------------------------------------

    def _draw(self, ax: Axes) -> None:
        at_x = _Axis(self.x)
        if self.y is None:
            self._draw_line(ax, at_x)
            return
        at_y = _Axis(self.y)
        low = _least_shown(self.scores)
        table = np.full((len(at_y.values), len(at_x.values)), -np.inf)
        np.maximum.at(table, (at_y.codes, at_x.codes), self.scores)
        if np.isfinite(table).all():
            cells: dict[str, Any] = {"cmap": style.SEQUENTIAL, "vmin": low, "rasterized": True}
            image: Any = ax.pcolormesh(at_x.edges(), at_y.edges(), table, **cells)
        else:
            order = np.argsort(self.scores, kind="stable")  # the best on top
            marks: dict[str, Any] = {"c": self.scores[order], "cmap": style.SEQUENTIAL, "s": 36}
            marks |= {"rasterized": len(order) > style.MANY, "linewidth": 0, "vmin": low}
            image = ax.scatter(at_x.places[order], at_y.places[order], **marks)
        best = int(self.scores.argmax())
        for colour, width in (("#FFFFFF", 4.0), (style.ON_LIGHT, 1.8)):  # seen on any ground
            ring: dict[str, Any] = {"facecolor": "none", "edgecolor": colour, "linewidth": width}
            ax.scatter(at_x.places[best], at_y.places[best], s=120, zorder=3, **ring)
        style.add_scale(ax, image, self.score, below=low > self.scores.min())
        at_x.label(ax.xaxis, ax.set_xscale)
        at_y.label(ax.yaxis, ax.set_yscale)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set_title(f"best {self.scores[best]:.4g} (ring)")

    def _draw_line(self, ax: Axes, at: _Axis) -> None:
        best = np.full(len(at.values), -np.inf)
        np.maximum.at(best, at.codes, self.scores)
        places = at.edges(middle=True)
        look: dict[str, Any] = {"color": style.BLUE, "marker": "o", "markersize": 4}
        ax.plot(places, best, linewidth=1.6, **look)
        top = int(best.argmax())
        ring: dict[str, Any] = {"facecolor": "none", "edgecolor": style.INK, "linewidth": 1.5}
        label = f"best {best[top]:.4g}"
        ax.scatter(places[top], best[top], s=110, zorder=3, label=label, **ring)
        at.label(ax.xaxis, ax.set_xscale)
        ax.set(xlabel=self.names[0], ylabel=self.score)


class _Axis:
    """Values of a parameter as places along an axis: numbers as they are, others one by one."""

    def __init__(self, given: Array) -> None:
        self.is_number = given.dtype.kind in "iuf"
        self.values, codes = np.unique(given, return_inverse=True)
        self.codes = codes.reshape(-1)
        self.places: Array = given if self.is_number else self.codes
        positive = self.is_number and self.values[0] > 0
        self.log = bool(positive and self.values[-1] / self.values[0] >= WIDE)

    def edges(self, middle: bool = False) -> Array:
        """Return the middles of cells, or their borders, half way between the middles."""
        values = self.values if self.is_number else np.arange(len(self.values))
        values = np.log(values) if self.log else values.astype(np.float64)
        if not middle:
            steps = np.diff(values) if len(values) > 1 else np.ones(1)
            first, last = values[0] - steps[0] / 2, values[-1] + steps[-1] / 2
            values = np.concatenate([[first], values[:-1] + steps[: len(values) - 1] / 2, [last]])
        return np.exp(values) if self.log else values

    def label(self, axis: Any, set_scale: Any) -> None:
        """Set scale and ticks of an axis of matplotlib."""
        if self.log:
            set_scale("log")
        if not self.is_number:
            names = [str(value) for value in self.values]
            axis.set_ticks(
                np.arange(len(names)), labels=[style.kernel_text(name, 32) for name in names]
            )


def _least_shown(scores: Array) -> float:
    """Return the score of the darkest colour, so that a few bad candidates do not take them all."""
    best, usual = float(scores.max()), float(np.quantile(scores, 0.25))
    return max(float(scores.min()), best - 1.5 * max(best - usual, 1e-12))


def _values(who: str, name: str, given: Any, count: int) -> Array:
    """Return the values of a parameter: numbers as such, anything else as texts."""
    values = list(given)
    if len(values) != count:
        must = f"{name} must have {count} values, one for each score"
        raise InputError(sentence(who, must, len(values)))
    if all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values):
        return vector(who, name, values, count)
    return np.array([str(value) for value in values])


def _table(who: str, search: Any) -> Mapping[str, Any]:
    """Return the table of a search, by scikit-learn's names."""
    found = search.table if isinstance(search, Tuned) else getattr(search, "cv_results_", search)
    if not isinstance(found, Mapping) or "mean_test_score" not in found:
        must = "the search must be fitted and have a table of scores, cv_results_"
        raise InputError(sentence(who, must, type(search).__name__))
    return found


def _parameters(table: Mapping[str, Any]) -> list[str]:
    return [name.removeprefix("param_") for name in table if name.startswith("param_")]


def _column(table: Mapping[str, Any], name: str) -> list[Any]:
    """Return the values of a parameter; None where a candidate does not have it."""
    column = table[f"param_{name}"]
    hidden = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    return [
        None if hidden is not None and hidden[place] else value
        for place, value in enumerate(getattr(column, "data", column))
    ]


def _distinct(table: Mapping[str, Any], name: str) -> set[str]:
    return {repr(value) for value in _column(table, name) if value is not None}


# --- curves -------------------------------------------------------------------------------------


def score_name(model: object, scoring: object) -> str:
    """Return what scores are called."""
    if isinstance(scoring, str):
        return scoring.replace("_", " ")
    if scoring is not None:
        return "score"
    return "accuracy" if is_classifier(model) else "R²"


class _Curves(Display):
    """Scores of the points that were fitted and of others, each with its spread over folds."""

    train_scores: Array
    test_scores: Array
    score: str

    def _check(self, count: int) -> None:
        who = self._who()
        self.train_scores = matrix(who, "train_scores", self.train_scores, (count, None))
        folds = self.train_scores.shape[1]
        self.test_scores = matrix(who, "test_scores", self.test_scores, (count, folds))

    def _draw_curves(self, ax: Axes, places: Array) -> None:
        for scores, colour, label in (
            (self.train_scores, style.ORANGE, "points of the fit"),
            (self.test_scores, style.BLUE, "points left out"),
        ):
            mean, spread = scores.mean(axis=1), scores.std(axis=1)
            look: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 4}
            ax.plot(places, mean, linewidth=1.6, label=label, **look)
            area: dict[str, Any] = {"color": colour, "alpha": style.TINT, "linewidth": 0}
            ax.fill_between(places, mean - spread, mean + spread, **area)
        ax.set_ylabel(self.score)


@dataclass(kw_only=True, eq=False, repr=False)
class LearningCurveDisplay(_Curves):
    """Scores against the number of points that a model has learnt from.

    Bands are one standard deviation over folds to both sides. If both curves have met, more points
    will not help; if the curve of points left out still rises, they will.

    Parameters
    ----------
    sizes : array-like of shape (m,)
        Numbers of points that were fitted.
    train_scores : array-like of shape (m, n_folds)
        Scores of these points.
    test_scores : array-like of shape (m, n_folds)
        Scores of points left out.
    score : str, default="score"
        What the scores are.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.plots import LearningCurveDisplay
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> display = LearningCurveDisplay.from_estimator(KernelRidge(), X, np.sin(X[:, 0]))
    >>> display.sizes.tolist()
    [4.0, 15.0, 26.0, 37.0, 48.0]
    """

    sizes: Array
    train_scores: Array
    test_scores: Array
    score: str = "score"

    def __post_init__(self) -> None:
        self.sizes = vector(self._who(), "sizes", self.sizes)
        some(self._who(), "sizes", self.sizes)
        self._check(len(self.sizes))

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike,
        y: LabelsLike,
        *,
        sizes: Sequence[float] | Array | None = None,
        cv: Folds = 5,
        scoring: Scoring = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Fit a model to more and more points, and draw its scores.

        Parameters
        ----------
        model : estimator
            The model; copies of it are fitted.
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of a kind that the model takes.
        y : array-like of shape (n,)
            Their classes or numbers.
        sizes : array-like, default=None
            Numbers of points, or shares of those that a fold leaves; None is five from 10 % to
            all.
        cv : int, splitter or iterable of (train, test), default=5
            The folds.
        scoring : str or callable, default=None
            A scorer of scikit-learn; None is the model's own score.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        LearningCurveDisplay
            What was drawn.
        """
        shares = np.linspace(0.1, 1.0, 5) if sizes is None else np.asarray(sizes)
        options: dict[str, Any] = {"cv": cv, "scoring": scoring, "shuffle": True}
        found = learning_curve(model, X, y, train_sizes=shares, random_state=0, **options)
        display = cls(
            sizes=found[0],
            train_scores=found[1],
            test_scores=found[2],
            score=score_name(model, scoring),
        )
        display.plot(ax, legend=legend)
        return display

    def _draw(self, ax: Axes) -> None:
        self._draw_curves(ax, self.sizes)
        ax.set_xlabel("number of points in the fit")


@dataclass(kw_only=True, eq=False, repr=False)
class ValidationCurveDisplay(_Curves):
    """Scores against one parameter: where a model is too simple, and where it follows the noise.

    Bands are one standard deviation over folds to both sides.

    Parameters
    ----------
    values : array-like of shape (m,)
        The values of the parameter; they are put in rising order.
    train_scores : array-like of shape (m, n_folds)
        Scores of the points that were fitted.
    test_scores : array-like of shape (m, n_folds)
        Scores of points left out.
    name : str, default="parameter"
        The parameter.
    score : str, default="score"
        What the scores are.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.plots import ValidationCurveDisplay
    >>> X, gammas = np.linspace(0.0, 6.0, 60)[:, None], [0.01, 1.0, 100.0]
    >>> display = ValidationCurveDisplay.from_estimator(
    ...     KernelRidge(0.01, kernel="rbf"), X, np.sin(X[:, 0]), name="gamma", values=gammas
    ... )
    >>> display.test_scores.shape
    (3, 5)
    """

    values: Array
    train_scores: Array
    test_scores: Array
    name: str = "parameter"
    score: str = "score"

    def __post_init__(self) -> None:
        self.values = vector(self._who(), "values", self.values)
        some(self._who(), "values", self.values)
        self._check(len(self.values))
        order = np.argsort(self.values, kind="stable")
        self.values = self.values[order]
        self.train_scores, self.test_scores = self.train_scores[order], self.test_scores[order]

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike,
        y: LabelsLike,
        *,
        name: str,
        values: Sequence[float] | Array,
        cv: Folds = 5,
        scoring: Scoring = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Fit a model with every value of a parameter, and draw its scores.

        Parameters
        ----------
        model : estimator
            The model; copies of it are fitted.
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of a kind that the model takes.
        y : array-like of shape (n,)
            Their classes or numbers.
        name : str
            The parameter, such as "C" or "kernel__gamma".
        values : array-like of shape (m,)
            Its values, numbers.
        cv : int, splitter or iterable of (train, test), default=5
            The folds.
        scoring : str or callable, default=None
            A scorer of scikit-learn; None is the model's own score.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        ValidationCurveDisplay
            What was drawn.

        Raises
        ------
        InputError
            If the model has no such parameter.
        """
        who = cls.__name__
        known = sorted(model.get_params())
        if name not in known:
            must = "name must be a parameter of the model"
            raise InputError(sentence(who, must, checks.show(name), checks.nearest(name, known)))
        given = vector(who, "values", values)
        options: dict[str, Any] = {"cv": cv, "scoring": scoring}
        options |= {"param_name": name, "param_range": given.tolist()}
        train, test = validation_curve(model, X, y, **options)
        display = cls(
            values=given,
            train_scores=train,
            test_scores=test,
            name=name,
            score=score_name(model, scoring),
        )
        display.plot(ax, legend=legend)
        return display

    def _draw(self, ax: Axes) -> None:
        values = self.values
        self._draw_curves(ax, values)
        best = int(self.test_scores.mean(axis=1).argmax())
        line: dict[str, Any] = {"color": style.GREY, "linestyle": "--", "linewidth": 1}
        ax.axvline(values[best], **line, label=f"best: {values[best]:.3g}")
        if values[0] > 0 and values[-1] / values[0] >= WIDE:
            ax.set_xscale("log")
        ax.set_xlabel(self.name)
