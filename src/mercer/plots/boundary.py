"""What a classifier decides on a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy.ndimage import gaussian_filter

from .. import checks
from ..checks import Array, InputError, sentence
from ..models.svm.classes import SupportVectorClassifier
from ..typing import Estimator, LabelsLike, PointsLike
from . import style
from .base import (
    Display,
    classes_of,
    column_place,
    innermost,
    labels_of,
    like,
    matrix,
    names_of,
    rows_of,
    vector,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EDGE = 0.08  # of the range of the points, that the plane reaches beyond them
INLIERS = np.array([-1, 1])  # the classes of a machine that knows one class


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionBoundaryDisplay(Display):
    """The classes that a model predicts on a plane, with its support vectors and mistakes.

    Two classes are told apart by the sign of one score f(x), several by the largest of their
    scores. Lines are drawn where two classes meet and, if asked for, at f(x) = -1 and 1, which is
    the margin of a support vector machine.

    Parameters
    ----------
    x1 : array-like of shape (m,)
        Where the scores are known, along the horizontal axis.
    x2 : array-like of shape (k,)
        Where they are known along the vertical axis.
    scores : array-like of shape (k, m) or (k, m, n_classes)
        The score of the second of two classes, or one score for each class.
    classes : sequence
        Names of the classes, in the order of their scores.
    X : array-like of shape (n, 2), default=None
        Points to be drawn.
    y : array-like of shape (n,), default=None
        Their classes; needed with X.
    support : array-like of int, default=None
        The numbers of the points that carry the model, which get a ring.
    mistakes : array-like of int, default=None
        The numbers of the points that the model puts into another class, which get a cross.
    margin : bool, default=False
        Whether lines are drawn at f(x) = -1 and 1.
    names : tuple of str, default=("x₁", "x₂")
        Names of both axes.

    See Also
    --------
    mercer.SVC : Machines with a margin.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.plots import DecisionBoundaryDisplay
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 3.0]]), [0, 0, 1, 1]
    >>> display = DecisionBoundaryDisplay.from_estimator(SVC(kernel="linear").fit(X, y), X, y)
    >>> display.support.tolist(), display.mistakes.tolist()
    ([0, 2], [])
    """

    x1: Array
    x2: Array
    scores: Array
    classes: Any
    X: Array | None = None
    y: Array | None = None
    support: Array | None = None
    mistakes: Array | None = None
    margin: bool = False
    names: tuple[str, str] = ("x₁", "x₂")

    _size: ClassVar[tuple[float, float]] = (6.4, 4.4)
    _legend: ClassVar[str] = "right"

    def __post_init__(self) -> None:
        who = self._who()
        self.x1, self.x2 = vector(who, "x1", self.x1), vector(who, "x2", self.x2)
        self.classes = np.asarray(self.classes)
        self.scores = checks.floats(who, "scores", self.scores)
        plane, count = (len(self.x2), len(self.x1)), len(self.classes)
        wanted = plane if count == 2 and self.scores.ndim == 2 else (*plane, count)
        if self.scores.shape != wanted or count < 2:
            must = f"scores must have the shape {wanted}, for {count} classes, at least 2"
            raise InputError(sentence(who, must, f"shape {self.scores.shape}"))
        checks.finite(who, self.scores.reshape(plane[0], -1), what="scores")
        if self.X is not None:
            self._check_points(who)

    def _check_points(self, who: str) -> None:
        self.X = matrix(who, "X", self.X, (None, 2))
        if self.y is None:
            must = "y must be given with X"
            raise InputError(sentence(who, must, "None", "Give the class of every point."))
        self.y = labels_of(who, "y", self.y, len(self.X))
        unknown = np.flatnonzero(~np.isin(self.y, self.classes))
        if len(unknown):
            must = f"y must have classes of the model, {', '.join(map(str, self.classes[:12]))}"
            got = f"{checks.show(self.y[unknown[0]])} in row {unknown[0]}"
            raise InputError(sentence(who, must, got))
        for name in ("support", "mistakes"):
            rows = getattr(self, name)
            if rows is None:
                continue
            found = np.asarray(rows, dtype=np.int64).reshape(-1)
            if len(found) and not 0 <= found.min() <= found.max() < len(self.X):
                must = f"{name} must be numbers of points, from 0 to {len(self.X) - 1}"
                raise InputError(sentence(who, must, checks.show(found.tolist())))
            setattr(self, name, found)

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike,
        y: LabelsLike | None = None,
        *,
        columns: tuple[int | str, int | str] | None = None,
        limits: tuple[tuple[float, float], tuple[float, float]] | None = None,
        steps: int = 240,
        margin: bool | Literal["auto"] = "auto",
        support: bool | Literal["auto"] = "auto",
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Compute scores on a plane around points, and draw them.

        Parameters
        ----------
        model : estimator
            A fitted classifier, or a machine that tells inliers from outliers.
        X : array-like or data frame of shape (n, d)
            The points, rows of numbers. Support vectors are known only if these are the points of
            the fit.
        y : array-like of shape (n,), default=None
            Their classes; None takes those that the model predicts, so that nothing is a mistake.
        columns : tuple of int or str, default=None
            The two columns that are drawn, needed if there are more; the others are held at their
            means.
        limits : tuple of two pairs of float, default=None
            The ends of both axes; None reaches a little beyond the points.
        steps : int, default=240
            How many places there are along each axis.
        margin : bool or "auto", default="auto"
            Whether to draw f(x) = -1 and 1; "auto" does for support vector machines of two classes.
        support : bool or "auto", default="auto"
            Whether support vectors get a ring; "auto" gives it where some points are none.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether marks and lines are explained.

        Returns
        -------
        DecisionBoundaryDisplay
            What was drawn.

        Raises
        ------
        InputError
            If the points do not have two columns and none are chosen, or the model is no
            classifier.
        """
        who = cls.__name__
        rows, fitted = rows_of(who, X), innermost(model, None)[0]
        names = names_of(X, rows.shape[1])
        across, along = _two(who, columns, names)
        checks.whole(who, "steps", steps, least=2, most=5000)
        is_outlier = not hasattr(model, "classes_") and hasattr(model, "decision_function")
        classes = INLIERS if is_outlier else classes_of(who, model)
        x1, x2 = _spans(who, rows[:, [across, along]], limits, steps)
        grid = _plane(rows.mean(axis=0), {across: x1, along: x2})
        scores = class_scores(model, like(X, grid), classes)
        guess = np.asarray(_predict(model, X))
        truth = guess if y is None else labels_of(who, "y", y, len(rows))
        display = cls(
            x1=x1,
            x2=x2,
            scores=scores.reshape(steps, steps, *scores.shape[1:]),
            classes=classes,
            X=rows[:, [across, along]],
            y=truth,
            support=_support(fitted, rows, support),
            mistakes=np.flatnonzero(guess != truth),
            margin=_has_margin(fitted, classes) if margin == "auto" else bool(margin),
            names=(names[across], names[along]),
        )
        display.plot(ax, legend=legend)
        return display

    # --- drawing ----------------------------------------------------------------------------

    def _leads(self) -> Array:
        """Return by how much each class is ahead of all others, one matrix per class."""
        if self.scores.ndim == 2:
            return np.stack([-self.scores, self.scores])
        parts = np.moveaxis(self.scores, 2, 0)
        return np.stack([parts[c] - np.delete(parts, c, 0).max(0) for c in range(len(parts))])

    def _draw(self, ax: Axes) -> None:
        leads = self._leads()
        for code, lead in enumerate(leads):
            if lead.max() > 0:
                levels = [min(0.0, lead.min() - 1.0) if lead.min() >= 0 else 0.0, np.inf]
                area = ax.contourf(
                    self.x1,
                    self.x2,
                    lead,
                    levels=levels,
                    colors=[style.colour_of(code)],
                    alpha=style.TINT,
                    zorder=0,
                )
                area.set_rasterized(True)
        if len(np.unique(leads)) <= 3:  # predictions only: no stairs where classes meet
            leads = np.stack([gaussian_filter(lead, 1.0, mode="nearest") for lead in leads])
        for lead in leads[1:] if len(leads) == 2 else leads:
            self._line(ax, lead, [0.0], colour=style.INK, width=1.5, dashes="-")
        if self.margin and self.scores.ndim == 2:
            self._line(ax, self.scores, [-1.0, 1.0], colour=style.GREY, width=1.0, dashes="--")
        self._draw_points(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set(xlim=(self.x1[0], self.x1[-1]), ylim=(self.x2[0], self.x2[-1]))
        ax.locator_params(nbins=6)

    def _line(
        self,
        ax: Axes,
        values: Array,
        levels: list[float],
        *,
        colour: str,
        width: float,
        dashes: str,
    ) -> None:
        """Draw the levels that the values cross."""
        crossed = [level for level in levels if values.min() < level < values.max()]
        if crossed:
            look: dict[str, Any] = {"colors": colour, "linewidths": width, "linestyles": dashes}
            ax.contour(self.x1, self.x2, values, levels=crossed, **look)

    def _draw_points(self, ax: Axes) -> None:
        if self.X is None or self.y is None:
            return
        codes = np.array([int(np.flatnonzero(self.classes == one)[0]) for one in self.y])
        style.draw_classes(ax, self.X, codes, [str(name) for name in self.classes])
        many = len(self.X) > style.MANY
        if self.support is not None and len(self.support):
            x, y = self.X[self.support].T
            ring: dict[str, Any] = {"facecolor": "none", "edgecolor": style.INK, "linewidth": 1.0}
            ax.scatter(x, y, s=80, **ring, label="support vector", zorder=3, rasterized=many)
        if self.mistakes is not None and len(self.mistakes):
            x, y = self.X[self.mistakes].T
            cross: dict[str, Any] = {"marker": "x", "color": style.INK, "linewidth": 1.3}
            ax.scatter(x, y, s=60, **cross, label="mistake", zorder=4, rasterized=many)


def _plane(point: Array, axes: dict[int, Array]) -> Array:
    """Return a point again and again, with all places of two columns."""
    places = np.meshgrid(*axes.values())
    grid = np.tile(point, (places[0].size, 1))
    for column, place in zip(axes, places, strict=True):
        grid[:, column] = place.ravel()
    return grid


def _spans(
    who: str, X: Array, limits: tuple[tuple[float, float], tuple[float, float]] | None, steps: int
) -> tuple[Array, Array]:
    """Return places along both axes."""
    across, along = (None, None) if limits is None else limits
    return _span(who, X[:, 0], across, steps), _span(who, X[:, 1], along, steps)


def _span(who: str, values: Array, ends: tuple[float, float] | None, steps: int) -> Array:
    """Return places along an axis, between its ends or a little beyond the points."""
    if ends is not None:
        low, high = (checks.number(who, "limits", end) for end in ends)
        if low >= high:
            raise InputError(sentence(who, "limits must rise", f"{low:g} and {high:g}"))
        return np.linspace(low, high, steps)
    low, high = values.min(), values.max()
    edge = EDGE * (high - low) or 1.0
    return np.linspace(low - edge, high + edge, steps)


def _two(who: str, columns: tuple[int | str, int | str] | None, names: list[str]) -> list[int]:
    """Return the numbers of the two columns to be drawn."""
    if columns is None:
        if len(names) != 2:
            must = "X must have two columns, or columns must name two"
            got = f"{len(names)} column" + "s" * (len(names) != 1)
            raise InputError(sentence(who, must, got, "Say columns=(0, 1)." * (len(names) > 2)))
        return [0, 1]
    if not isinstance(columns, tuple | list) or len(columns) != 2:
        raise InputError(sentence(who, "columns must name two columns", checks.show(columns)))
    found = [column_place(who, column, names) for column in columns]
    if found[0] == found[1]:
        raise InputError(sentence(who, "columns must name two columns", f"{names[found[0]]} twice"))
    return found


def _predict(model: Any, X: Any) -> Any:
    return model.predict(X)


def class_scores(model: Any, points: Any, classes: Array) -> Array:
    """Return scores whose largest is that of the class predicted; one for two classes.

    They are those of `decision_function`, or of `predict_proba`, as long as they agree with
    `predict`. Machines for pairs of classes vote, which has no smooth score: 1 for the class
    predicted and 0 for the others.
    """
    guess = np.searchsorted(classes, np.asarray(model.predict(points)))
    by_votes = len(classes) > 2 and isinstance(innermost(model, None)[0], SupportVectorClassifier)
    for method in () if by_votes else ("decision_function", "predict_proba"):
        if not hasattr(model, method):
            continue
        found = np.asarray(getattr(model, method)(points), dtype=np.float64)
        if method == "predict_proba" and found.ndim == 2 and found.shape[1] == 2:
            found = found[:, 1] - 0.5
        if found.ndim == 1 and len(classes) == 2 and ((found > 0) == guess).mean() > 0.999:
            return found
        fits = found.ndim == 2 and found.shape[1] == len(classes) > 2
        if fits and (found.argmax(axis=1) == guess).all():
            return found
    return guess - 0.5 if len(classes) == 2 else np.eye(len(classes))[guess]


def _has_margin(model: object, classes: Array) -> bool:
    return isinstance(model, SupportVectorClassifier) and len(classes) == 2


def _support(model: Any, rows: Array, asked: bool | str) -> Array | None:
    """Return the numbers of the support vectors, where these rows are those of the fit."""
    found = getattr(model, "support_", None)
    if asked is False or found is None or len(found) == 0:
        return None
    found = np.asarray(found)
    if found.max() >= len(rows) or (asked == "auto" and len(found) == len(rows)):
        return None
    vectors = getattr(model, "support_vectors_", None)
    if vectors is not None:
        vectors = vectors.toarray() if hasattr(vectors, "toarray") else np.asarray(vectors)
        same = vectors.shape == rows[found].shape and np.allclose(vectors, rows[found], rtol=1e-5)
        return found if same else None
    return found
