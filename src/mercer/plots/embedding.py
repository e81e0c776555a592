"""Points by their first components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence
from ..typing import Estimator, LabelsLike, PointsLike
from . import style
from .base import Display, are_numbers, count_of, innermost, labels_of, matrix, require, vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENDS = (0.02, 0.98)  # quantiles of a component between which pre-images are taken
GAP, HEIGHT = 0.55, 0.75  # inches from the axes to the pre-images below, and of these


@dataclass(kw_only=True, eq=False, repr=False)
class EmbeddingDisplay(Display):
    """Points drawn by two components, such as those of kernel principal component analysis.

    A second row may show pre-images: rows of numbers whose image in feature space moves along the
    first of both components, drawn as small pictures or as curves over the columns.

    Parameters
    ----------
    Z : array-like of shape (n, 2)
        The two components of every point.
    labels : array-like of shape (n,), default=None
        Their classes, drawn in colours and marks, or numbers, drawn in shades.
    names : tuple of str, default=("component 1", "component 2")
        Names of both axes.
    preimages : array-like of shape (m, d), default=None
        Rows of numbers to be shown below.
    places : array-like of shape (m,), default=None
        The component of each of these rows; needed with them.
    image_shape : tuple of int, default=None
        Height and width of a row of numbers that is a picture.

    See Also
    --------
    mercer.KernelPCA : Components of a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.plots import EmbeddingDisplay
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> model = KernelPCA(2, kernel="linear").fit(X)
    >>> display = EmbeddingDisplay.from_estimator(model, X, n_preimages=3)
    >>> display.Z.shape, display.preimages.shape
    ((30, 2), (3, 4))
    """

    Z: Array
    labels: Array | None = None
    names: tuple[str, str] = ("component 1", "component 2")
    preimages: Array | None = None
    places: Array | None = None
    image_shape: tuple[int, int] | None = None

    _legend: ClassVar[str] = "right"

    def __post_init__(self) -> None:
        who = self._who()
        self.Z = matrix(who, "Z", self.Z, (None, 2))
        if self.labels is not None:
            self.labels = labels_of(who, "labels", self.labels, len(self.Z))
        if self.preimages is None:
            return
        self.preimages = matrix(who, "preimages", self.preimages, (None, None))
        if self.places is None:
            raise InputError(sentence(who, "places must be given with preimages", "None"))
        self.places = vector(who, "places", self.places, len(self.preimages))
        if self.image_shape is not None:
            height, width = self.image_shape
            if height * width != self.preimages.shape[1]:
                must = f"image_shape must have {self.preimages.shape[1]} places in all"
                raise InputError(sentence(who, must, f"{height} x {width}"))

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike,
        y: LabelsLike | None = None,
        *,
        components: tuple[int, int] = (0, 1),
        n_preimages: int = 0,
        image_shape: tuple[int, int] | None = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Compute components of points, and draw them.

        Parameters
        ----------
        model : estimator
            A fitted model with `transform`, such as `mercer.KernelPCA`.
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.
        y : array-like of shape (n,), default=None
            Their classes, or numbers.
        components : tuple of int, default=(0, 1)
            The two components that are drawn.
        n_preimages : int, default=0
            How many pre-images are shown, along the first of both components with all others at
            their means; they need a model with `inverse_transform`.
        image_shape : tuple of int, default=None
            Height and width of a row of numbers that is a picture.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether marks are explained.

        Returns
        -------
        EmbeddingDisplay
            What was drawn.

        Raises
        ------
        InputError
            If the model has no such components, or no pre-images.
        """
        who = cls.__name__
        fitted: Any = model
        require(who, fitted, "transform")
        scores = np.asarray(fitted.transform(X), dtype=np.float64)
        if scores.ndim != 2 or scores.shape[1] < 2:
            must = "the model must have at least two components"
            raise InputError(sentence(who, must, f"components of shape {scores.shape}"))
        first, second = (
            checks.whole(who, "components", place, least=0, most=scores.shape[1] - 1)
            for place in components
        )
        places = rows = None
        if checks.whole(who, "n_preimages", n_preimages, least=0, most=50):
            require(who, fitted, "inverse_transform")
            places = np.quantile(scores[:, first], np.linspace(*ENDS, n_preimages))
            moved = np.tile(scores.mean(axis=0), (n_preimages, 1))
            moved[:, first] = places
            rows = fitted.inverse_transform(moved)
        display = cls(
            Z=scores[:, [first, second]],
            labels=None if y is None else labels_of(who, "y", y, count_of(X)),
            names=_names(innermost(fitted, None)[0], first, second),
            preimages=rows,
            places=places,
            image_shape=image_shape,
        )
        display.plot(ax, legend=legend)
        return display

    def _draw(self, ax: Axes) -> None:
        many = len(self.Z) > style.MANY
        marks: dict[str, Any] = {"s": 18, "linewidth": 0, "rasterized": many}
        if self.labels is None:
            ax.scatter(self.Z[:, 0], self.Z[:, 1], color=style.BLUE, **marks)
        elif are_numbers(self.labels):
            marks |= {"c": self.labels, "cmap": style.SEQUENTIAL}
            points = ax.scatter(self.Z[:, 0], self.Z[:, 1], **marks)
            style.add_scale(ax, points, "y")
        else:
            codes, names = style.class_codes(self.labels)
            style.draw_classes(ax, self.Z, codes, names, size=22)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.locator_params(nbins=5)
        if self.preimages is not None and self.places is not None:
            self._draw_preimages(ax, self.preimages, self.places)

    def _draw_preimages(self, ax: Axes, rows: Array, places: Array) -> None:
        """Draw small pictures below, each of them joined to its place on the first component."""
        count, low, high = len(rows), float(rows.min()), float(rows.max())
        for number, (row, place) in enumerate(zip(rows, places, strict=True)):
            small = _below(ax, number / count + 0.01, 1 / count - 0.02)
            if self.image_shape is None:
                small.plot(np.arange(1, len(row) + 1), row, color=style.BLUE, linewidth=1.2)
                small.set_ylim(low, high if high > low else low + 1)
            else:
                image: dict[str, Any] = {"cmap": "gray_r", "vmin": low, "vmax": high}
                small.imshow(row.reshape(self.image_shape), rasterized=True, **image)
            small.set(xticks=[], yticks=[])
            small.set_xlabel(f"{place:.2g}".replace("-", "−"))
        row = _below(ax, 0.0, 1.0)
        along = self.names[0].partition(" (")[0]
        row.set_xlabel(f"pre-images along {along}", labelpad=20)


def _below(ax: Axes, start: float, width: float) -> Axes:
    """Return empty axes below others, at a part of their width.

    Distances are inches, so that a layout which changes the height of the axes need not be found
    again.
    """
    from matplotlib.transforms import Bbox

    def place(_: object, renderer: object) -> Any:
        whole, inch = ax.bbox, ax.figure.dpi
        box = Bbox.from_bounds(
            whole.x0 + start * whole.width,
            whole.y0 - (GAP + HEIGHT) * inch,
            width * whole.width,
            HEIGHT * inch,
        )
        return box.transformed(ax.figure.transSubfigure.inverted())

    made = ax.inset_axes((0.0, 0.0, 1.0, 1.0), facecolor="none")
    made.set_axes_locator(place)
    style.dress(made)
    made.spines[:].set_visible(False)
    made.set(xticks=[], yticks=[])
    return made


def _names(model: Any, *places: int) -> tuple[str, str]:
    """Return the names of two components, with the share of the variance where it is known."""
    ratios = getattr(model, "explained_variance_ratio_", None)
    found = [
        f"component {place + 1}"
        + (f" ({100 * ratios[place]:.0f} % of the variance)" if ratios is not None else "")
        for place in places
    ]
    return found[0], found[1]
