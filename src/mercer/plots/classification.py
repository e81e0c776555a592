"""How well classes and their probabilities are predicted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence
from ..typing import Estimator, LabelsLike, PointsLike
from . import style
from .base import Display, classes_of, labels_of, matrix, require, some, vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WRITTEN = 16  # classes up to which counts are written into the cells
BAR = 0.16  # height of the bar of the fullest bin, of the whole


@dataclass(kw_only=True, eq=False, repr=False)
class ConfusionDisplay(Display):
    """How often points of each class are put into each class.

    Colours are shares of the true class, so that rare classes are seen as well; numbers are
    counts.

    Parameters
    ----------
    counts : array-like of shape (n_classes, n_classes)
        How many points of the class of a row were put into the class of a column.
    classes : sequence
        Names of the classes.

    Examples
    --------
    >>> from mercer.plots import ConfusionDisplay
    >>> display = ConfusionDisplay.from_predictions(["a", "a", "b"], ["a", "b", "b"])
    >>> display.counts.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """

    counts: Array
    classes: Any

    _size: ClassVar[tuple[float, float]] = (5.0, 4.4)

    def __post_init__(self) -> None:
        who = self._who()
        self.classes = [str(name) for name in self.classes]
        some(who, "classes", self.classes)
        self.counts = matrix(who, "counts", self.counts, (len(self.classes), len(self.classes)))
        if self.counts.min() < 0:
            must = "counts must be at least 0"
            raise InputError(sentence(who, must, f"{self.counts.min():g}"))

    @property
    def shares(self) -> Array:
        """The counts of each row, divided by its sum."""
        return np.asarray(self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1e-300))

    @classmethod
    def from_predictions(
        cls,
        truth: LabelsLike,
        guess: LabelsLike,
        *,
        classes: LabelsLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Count how often classes are taken for each other, and draw it.

        Parameters
        ----------
        truth : array-like of shape (n,)
            The classes of points.
        guess : array-like of shape (n,)
            The classes that were predicted.
        classes : array-like, default=None
            The classes in the order in which they are drawn; None is all there are, sorted.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConfusionDisplay
            What was drawn.

        Raises
        ------
        InputError
            If a class is not among those given.
        """
        who = cls.__name__
        real = checks.array(who, "truth", truth)
        real = labels_of(who, "truth", real, len(real))
        said = labels_of(who, "guess", guess, len(real))
        everything = np.concatenate([real, said])
        known = np.unique(everything) if classes is None else np.asarray(classes)
        places = {name: place for place, name in enumerate(known.tolist())}
        counts = np.zeros((len(known), len(known)))
        for row, (one, other) in enumerate(zip(real.tolist(), said.tolist(), strict=True)):
            for name in (one, other):
                if name not in places:
                    must = f"classes must be among {', '.join(map(str, known[:12]))}"
                    raise InputError(sentence(who, must, f"{checks.show(name)} in row {row}"))
            counts[places[one], places[other]] += 1
        display = cls(counts=counts, classes=known)
        display.plot(ax)
        return display

    @classmethod
    def from_estimator(
        cls, model: Estimator, X: PointsLike, y: LabelsLike, *, ax: Axes | None = None
    ) -> Self:
        """Predict the classes of points, and draw how often they are taken for each other.

        Parameters
        ----------
        model : estimator
            A fitted classifier.
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points; new ones show what is to be expected of others.
        y : array-like of shape (n,)
            Their classes.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConfusionDisplay
            What was drawn.
        """
        fitted: Any = model
        known = classes_of(cls.__name__, fitted)
        return cls.from_predictions(y, fitted.predict(X), classes=known, ax=ax)

    def _draw(self, ax: Axes) -> None:
        shares, count = self.shares, len(self.classes)
        image = ax.imshow(shares, cmap=style.SHARES, vmin=0, vmax=1, rasterized=True)
        if count <= WRITTEN:
            size = 10 if count <= 8 else 7
            for row, column in np.argwhere(self.counts > 0):
                share = shares[row, column]
                colour = style.ON_DARK if share > 0.55 else style.ON_LIGHT
                text = f"{self.counts[row, column]:g}"
                place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
                ax.text(column, row, text, color=colour, **place)
        style.undress(ax)
        style.add_scale(ax, image, "share of the true class")
        wide = sum(map(len, self.classes)) > 40
        ax.set_xticks(range(count), self.classes, rotation=90 if wide else 0)
        ax.set_yticks(range(count), self.classes)
        right = np.trace(self.counts) / max(self.counts.sum(), 1e-300)
        ax.set(xlabel="predicted class", ylabel="true class", title=f"{100 * right:.1f} % right")


@dataclass(kw_only=True, eq=False, repr=False)
class CalibrationDisplay(Display):
    """Whether probabilities come true: the share of events against the probability predicted.

    Probabilities are put into bins of equal width. In a bin with n points of which k came true,
    bars reach over the Wilson interval of 95 % for k / n. The bars below say how many points each
    bin has. `predicted`, `observed` and `counts` have the numbers of the bins that are not empty,
    and `error` is the expected calibration error: sum of n / N |observed - predicted|.

    Parameters
    ----------
    probabilities : array-like of shape (n,)
        The probabilities predicted, from 0 to 1.
    outcomes : array-like of bool of shape (n,)
        Whether each came true.
    bins : int, default=10
        Number of bins.
    event : str, default="event"
        What the probabilities are of.

    Examples
    --------
    >>> from mercer.plots import CalibrationDisplay
    >>> display = CalibrationDisplay(
    ...     probabilities=[0.25, 0.25, 0.75, 0.75], outcomes=[False, True, True, True], bins=2
    ... )
    >>> display.observed.tolist(), display.error
    ([0.5, 1.0], 0.25)
    """

    probabilities: Array
    outcomes: Array
    bins: int = 10
    event: str = "event"
    predicted: Array = field(init=False)
    observed: Array = field(init=False)
    counts: Array = field(init=False)
    error: float = field(init=False)

    _size: ClassVar[tuple[float, float]] = (5.4, 4.6)

    def __post_init__(self) -> None:
        who = self._who()
        self.probabilities = vector(who, "probabilities", self.probabilities)
        some(who, "probabilities", self.probabilities)
        outside = (self.probabilities < 0) | (self.probabilities > 1)
        if outside.any():
            got = f"{self.probabilities[outside][0]:g}"
            raise InputError(sentence(who, "probabilities must be from 0 to 1", got))
        found = vector(who, "outcomes", self.outcomes, len(self.probabilities))
        if not np.isin(found, (0.0, 1.0)).all():
            must = "outcomes must be True or False"
            raise InputError(sentence(who, must, f"{found[~np.isin(found, (0, 1))][0]:g}"))
        self.outcomes = found > 0
        count = checks.whole(who, "bins", self.bins, least=1, most=10_000)
        places = np.minimum((self.probabilities * count).astype(int), count - 1)
        sizes = np.bincount(places, minlength=count)
        used = sizes > 0
        self.counts = sizes[used]
        sums = (np.bincount(places, values, count) for values in (self.probabilities, found))
        self.predicted, self.observed = (total[used] / self.counts for total in sums)
        gaps = np.abs(self.observed - self.predicted)
        self.error = float(self.counts @ gaps / self.counts.sum())

    @property
    def intervals(self) -> Array:
        """Wilson's intervals of 95 % of the observed shares, a row of two ends per bin."""
        z, n, share = 1.96, self.counts, self.observed
        middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
        return np.column_stack([middle - half, middle + half])

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike,
        y: LabelsLike,
        *,
        bins: int = 10,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Predict probabilities of points, and draw how often they come true.

        Parameters
        ----------
        model : estimator
            A fitted classifier with `predict_proba`.
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points; they should be new to the model.
        y : array-like of shape (n,)
            Their classes.
        bins : int, default=10
            Number of bins.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        CalibrationDisplay
            What was drawn: for two classes the probability of the second, for more that of the
            class predicted.

        Raises
        ------
        InputError
            If the model has no probabilities.
        """
        who = cls.__name__
        fitted: Any = model
        require(who, fitted, "predict_proba", "An SVC has it with probability=True.")
        chances = np.asarray(fitted.predict_proba(X), dtype=np.float64)
        display = cls.from_probabilities(chances, y, classes_of(who, fitted), bins=bins)
        display.plot(ax, legend=legend)
        return display

    @classmethod
    def from_probabilities(
        cls, chances: Array, y: LabelsLike, classes: LabelsLike, *, bins: int = 10
    ) -> Self:
        """Make the display of probabilities that are known, without drawing it.

        Parameters
        ----------
        chances : array-like of shape (n, n_classes)
            The probabilities of all classes.
        y : array-like of shape (n,)
            The classes of the points.
        classes : array-like of shape (n_classes,)
            The classes in the order of the columns.
        bins : int, default=10
            Number of bins.

        Returns
        -------
        CalibrationDisplay
            For two classes the probability of the second, for more that of the likeliest class.
        """
        who = cls.__name__
        known = np.asarray(classes)
        table = matrix(who, "chances", chances, (None, len(known)))
        truth = labels_of(who, "y", y, len(table))
        if len(known) == 2:
            return cls(
                probabilities=table[:, 1],
                outcomes=truth == known[1],
                bins=bins,
                event=f"class {known[1]}",
            )
        first = table.argmax(axis=1)
        return cls(
            probabilities=table[np.arange(len(table)), first],
            outcomes=truth == known[first],
            bins=bins,
            event="the class predicted",
        )

    def _draw(self, ax: Axes) -> None:
        line: dict[str, Any] = {"color": style.GREY, "linestyle": "--", "linewidth": 1}
        ax.plot([0, 1], [0, 1], **line, label="comes true as often as said")
        ends = self.intervals
        reach = np.abs(ends - self.observed[:, None]).T
        look: dict[str, Any] = {"color": style.BLUE, "marker": "o", "markersize": 5}
        ax.errorbar(
            self.predicted, self.observed, reach, linewidth=1.6, capsize=2, label="observed", **look
        )
        middles = (np.minimum((self.predicted * self.bins).astype(int), self.bins - 1) + 0.5) / (
            self.bins
        )
        heights = BAR * self.counts / self.counts.max()
        area: dict[str, Any] = {"color": style.GREY, "alpha": 0.45, "linewidth": 0}
        label = f"points per bin, at most {self.counts.max()}"
        ax.bar(middles, heights, width=0.9 / self.bins, **area, label=label, zorder=0)
        ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel=f"predicted probability of {self.event}")
        ax.set_ylabel("share that came true")
        ax.set_title(f"expected calibration error {self.error:.3f}")
