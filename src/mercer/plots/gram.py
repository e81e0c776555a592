"""The Gram matrix as a picture, and its eigenvalues."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from .. import checks
from ..checks import Array, InputError, sentence
from ..diagnostics import center
from ..kernels import Kernel, Precomputed
from ..typing import Estimator, KernelLike, LabelsLike, PointsLike
from . import style
from .base import (
    Display,
    are_numbers,
    count_of,
    innermost,
    kernel_of,
    labels_of,
    settled,
    some,
    some_rows,
    take,
    vector,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ORDERS = ("auto", "class", "value", "cluster", "eigenvector", "none")
Order = Literal["auto", "class", "value", "cluster", "eigenvector", "none"]
SORTED = {
    "value": ", sorted by y",
    "cluster": ", sorted by clusters",
    "eigenvector": ", sorted by the leading eigenvector",
}
NAMED = 20  # classes up to which their names fit along the sides
CAREFUL = 400  # points up to which neighbouring leaves of the tree are made as near as they can be


@dataclass(kw_only=True, eq=False, repr=False)
class GramDisplay(Display):
    """A Gram matrix as a heat map, with the points in an order that shows its structure.

    Points of one class stand together, and within a class in the order of their leading
    eigenvector; without classes they are ordered by a tree of clusters. A kernel that suits the
    task shows bright blocks along the diagonal.

    Parameters
    ----------
    matrix : array-like of shape (n, n)
        The matrix K with K_ij = k(x_i, x_j).
    order : array-like of int of shape (n,), default=None
        The order in which points are drawn; None is that of the matrix.
    labels : array-like of shape (n,), default=None
        The class of each point, to be written along the sides; points of a class must then stand
        together in the order.
    title : str, default=""
        A title, such as the kernel.
    caption : str, default=""
        What is said below of the order, where there are no labels.
    scale : bool, default=True
        Whether a scale says what the colours mean.

    See Also
    --------
    SpectrumDisplay : Its eigenvalues.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> from mercer.plots import GramDisplay
    >>> X, y = [[1.0], [-1.0], [2.0], [-2.0]], ["a", "b", "a", "b"]
    >>> display = GramDisplay.from_kernel(Linear(), X, y)
    >>> [y[place] for place in display.order]
    ['a', 'a', 'b', 'b']
    """

    matrix: Array
    order: Array | None = None
    labels: Array | None = None
    title: str = ""
    caption: str = ""
    scale: bool = True

    _size: ClassVar[tuple[float, float]] = (5.6, 4.6)

    def __post_init__(self) -> None:
        who = self._who()
        self.matrix = checks.square_matrix(who, self.matrix, "matrix")
        n = len(self.matrix)
        some(who, "matrix", self.matrix)
        if self.order is None:
            self.order = np.arange(n)
        self.order = np.asarray(self.order)
        if self.order.shape != (n,) or not np.array_equal(np.sort(self.order), np.arange(n)):
            must = f"order must have each of the numbers 0 to {n - 1} once"
            raise InputError(sentence(who, must, checks.show(self.order.tolist())))
        if self.labels is not None:
            self.labels = labels_of(who, "labels", self.labels, n)
            runs = _runs(self.labels[self.order])
            if len(runs) > len({label for label, _ in runs}):
                must = "points of a class must stand together in the order"
                raise InputError(sentence(who, must, "a class in several places"))

    @classmethod
    def from_kernel(
        cls,
        kernel: KernelLike,
        X: PointsLike,
        y: LabelsLike | None = None,
        *,
        order: Order = "auto",
        max_points: int = 1000,
        title: str | None = None,
        scale: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the Gram matrix of points, and draw it.

        Parameters
        ----------
        kernel : Kernel, str or callable
            A kernel, a scikit-learn name such as "rbf", "precomputed" if X is the matrix, or a
            function of two sets of points.
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of a kind that the kernel takes.
        y : array-like of shape (n,), default=None
            Their classes, or numbers.
        order : {"auto", "class", "value", "cluster", "eigenvector", "none"}, default="auto"
            "class" puts points of a class together, "value" sorts by the numbers y, "cluster" by a
            tree of clusters, "eigenvector" by the leading eigenvector of the centred matrix.
            "auto" is "class" for classes, "value" for numbers, and "cluster" without y.
        max_points : int, default=1000
            Of more points so many are drawn at random, with a fixed seed.
        title : str, default=None
            A title; None is the kernel.
        scale : bool, default=True
            Whether a scale says what the colours mean.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        GramDisplay
            What was drawn.

        Raises
        ------
        InputError
            If the order needs classes or numbers and there are none.
        """
        who = cls.__name__
        known, rows = settled(who, kernel, X), some_rows(count_of(X), _most(who, max_points))
        labels = None if y is None else labels_of(who, "y", y, count_of(X))[rows]
        K = _gram(known, X, rows)
        way = _way(who, order, labels)
        display = cls(
            matrix=K,
            order=ordered(K, way, labels),
            labels=labels if way == "class" else None,
            title=style.kernel_text(known) if title is None else title,
            caption=f"{len(rows)} points{SORTED.get(way, '')}",
            scale=scale,
        )
        display.plot(ax)
        return display

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike,
        y: LabelsLike | None = None,
        *,
        order: Order = "auto",
        max_points: int = 1000,
        title: str | None = None,
        scale: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the Gram matrix of points with the kernel of a fitted model, and draw it.

        Parameters
        ----------
        model : estimator
            A fitted model with a kernel; of an ensemble it is that of its heaviest member.
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.
        y : array-like of shape (n,), default=None
            Their classes, or numbers.
        order : {"auto", "class", "value", "cluster", "eigenvector", "none"}, default="auto"
            "class" puts points of a class together, "value" sorts by the numbers y, "cluster" by a
            tree of clusters, "eigenvector" by the leading eigenvector of the centred matrix.
            "auto" is "class" for classes, "value" for numbers, and "cluster" without y.
        max_points : int, default=1000
            Of more points so many are drawn at random, with a fixed seed.
        title : str, default=None
            A title; None is the kernel.
        scale : bool, default=True
            Whether a scale says what the colours mean.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        GramDisplay
            What was drawn.
        """
        kernel, points = kernel_of(cls.__name__, model, X)
        options: dict[str, Any] = {"order": order, "max_points": max_points, "title": title}
        options["scale"] = scale
        return cls.from_kernel(kernel, points, y, **options, ax=ax)

    def _draw(self, ax: Axes) -> None:
        shown = self.matrix[np.ix_(self.order, self.order)]  # type: ignore[arg-type]
        low, high = float(shown.min()), float(shown.max())
        colours, ends = style.SEQUENTIAL, (min(low, 0.0), high)
        if low < -1e-6 * max(high, 0.0):  # both signs: 0 is the middle
            size = max(-low, high)
            colours, ends = style.DIVERGING, (-size, size)
        image = ax.imshow(
            shown,
            cmap=colours,
            vmin=ends[0],
            vmax=ends[1],
            rasterized=True,
            interpolation="nearest",
        )
        style.undress(ax)
        if self.scale:
            style.add_scale(ax, image, "k(x, y)")
        ax.set_title(self.title)
        if self.labels is None:
            ax.set(xticks=[], yticks=[], xlabel=self.caption)
        else:
            self._draw_classes(ax, self.labels[self.order])

    def _draw_classes(self, ax: Axes, labels: Array) -> None:
        runs = _runs(labels)
        ends = np.cumsum([count for _, count in runs])
        for border in ends[:-1] - 0.5:
            ax.axhline(border, color="#FFFFFF", linewidth=0.8)
            ax.axvline(border, color="#FFFFFF", linewidth=0.8)
        middles = ends - np.array([count for _, count in runs]) / 2 - 0.5
        names = [str(label) for label, _ in runs] if len(runs) <= NAMED else []
        ax.set_yticks(middles[: len(names)], names)
        wide = sum(map(len, names)) > 40
        ax.set_xticks(middles[: len(names)], names, rotation=90 if wide else 0)


def _runs(labels: Array) -> list[tuple[Any, int]]:
    """Return the labels that stand together, each with how many there are."""
    starts = [0, *(np.flatnonzero(labels[1:] != labels[:-1]) + 1), len(labels)]
    return [(labels[a], int(b - a)) for a, b in pairwise(starts)]


def _most(who: str, max_points: int) -> int:
    return checks.whole(who, "max_points", max_points, least=1, most=20_000)


def _gram(kernel: Kernel, X: Any, rows: Array) -> Array:
    """Return the Gram matrix of some points; of a precomputed one its part."""
    if isinstance(kernel, Precomputed):
        return np.array(np.asarray(X, dtype=np.float64)[np.ix_(rows, rows)])
    points = take(X, rows) if len(rows) < count_of(X) else X
    return np.asarray(kernel(points), dtype=np.float64)


def _way(who: str, order: str, labels: Array | None) -> str:
    """Return how points are ordered, where it is left open."""
    checks.one_of(who, "order", order, ORDERS)
    if order in ("class", "value") and labels is None:
        raise InputError(sentence(who, f"order={order!r} needs y", "y=None"))
    if order != "auto":
        return order
    if labels is None:
        return "cluster"
    return "value" if are_numbers(labels) else "class"


def ordered(K: Array, way: str, labels: Array | None) -> Array:
    """Return the order of points in which a Gram matrix shows its structure."""
    if way == "none":
        return np.arange(len(K))
    if way == "value" and labels is not None:
        return np.argsort(labels, kind="stable")
    if way == "cluster":
        return by_clusters(K)
    if way == "class" and labels is not None:
        parts = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        return np.concatenate([part[_leading(K[np.ix_(part, part)])] for part in parts])
    return _leading(K)


def _leading(K: Array) -> Array:
    """Return the order of the leading eigenvector of the centred matrix, its sign fixed."""
    if len(K) < 3:
        return np.arange(len(K))
    first = np.linalg.eigh(center(K))[1][:, -1]
    largest = first[np.abs(first).argmax()]
    return np.argsort(-first if largest < 0 else first, kind="stable")


def by_clusters(K: Array) -> Array:
    """Return the order of the leaves of a tree of clusters, by mean distance in feature space."""
    if len(K) < 3:
        return np.arange(len(K))
    size = np.diag(K)
    squares = np.maximum(size[:, None] - K - K.T + size[None], 0.0)
    distances = np.sqrt(squares)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(
        squareform((distances + distances.T) / 2, checks=False),
        "average",
        optimal_ordering=len(K) <= CAREFUL,
    )
    return np.asarray(leaves_list(tree), dtype=np.int64)


@dataclass(kw_only=True, eq=False, repr=False)
class SpectrumDisplay(Display):
    """The eigenvalues of a Gram matrix on a logarithmic scale, with the effective dimension.

    The effective dimension d(alpha) = sum_j lambda_j / (lambda_j + alpha) says how many directions
    of feature space ridge regression with the penalty alpha makes use of. It is drawn on the same
    axes, as the curve of the points (d(alpha), alpha): a dimension along, a size upwards, as the
    eigenvalues are.

    Parameters
    ----------
    eigenvalues : array-like of shape (m,)
        The eigenvalues; they are put in falling order.
    alpha : float, default=None
        A penalty to be marked.
    title : str, default=""
        A title, such as the kernel.

    See Also
    --------
    GramDisplay : The matrix itself.

    Examples
    --------
    >>> from mercer.plots import SpectrumDisplay
    >>> SpectrumDisplay(eigenvalues=[1.0, 3.0, 0.0]).effective_dimension(1.0)
    1.25
    """

    eigenvalues: Array
    alpha: float | None = None
    title: str = ""

    def __post_init__(self) -> None:
        who = self._who()
        found = vector(who, "eigenvalues", self.eigenvalues)
        some(who, "eigenvalues", found)
        self.eigenvalues = np.sort(found)[::-1].copy()
        if self.eigenvalues[0] <= 0:
            must = "an eigenvalue must be above 0"
            raise InputError(sentence(who, must, f"at most {self.eigenvalues[0]:g}"))
        if self.alpha is not None:
            self.alpha = checks.number(who, "alpha", self.alpha, least=0)

    @classmethod
    def from_kernel(
        cls,
        kernel: KernelLike,
        X: PointsLike,
        *,
        alpha: float | None = None,
        centered: bool = False,
        max_points: int = 1500,
        title: str | None = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Compute the eigenvalues of the Gram matrix of points, and draw them.

        Parameters
        ----------
        kernel : Kernel, str or callable
            A kernel, a scikit-learn name such as "rbf", "precomputed" if X is the matrix, or a
            function of two sets of points.
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of a kind that the kernel takes.
        alpha : float, default=None
            A penalty to be marked.
        centered : bool, default=False
            Whether the matrix is centred first, as in principal component analysis.
        max_points : int, default=1500
            Of more points so many are drawn at random, with a fixed seed; the eigenvalues are then
            scaled to the number of all.
        title : str, default=None
            A title; None is the kernel.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        SpectrumDisplay
            What was drawn.
        """
        who = cls.__name__
        known, n = settled(who, kernel, X), count_of(X)
        rows = some_rows(n, _most(who, max_points))
        K = _gram(known, X, rows)
        values = np.linalg.eigvalsh(center(K) if centered else (K + K.T) / 2) * (n / len(rows))
        text = style.kernel_text(known) if title is None else title
        display = cls(eigenvalues=values, alpha=alpha, title=text)
        display.plot(ax, legend=legend)
        return display

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        X: PointsLike | None = None,
        *,
        alpha: float | None = None,
        max_points: int = 1500,
        title: str | None = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Compute the eigenvalues that belong to a fitted model, and draw them.

        Parameters
        ----------
        model : estimator
            A fitted model with a kernel; of an ensemble it is that of its heaviest member.
        X : array-like, sparse matrix, data frame or sequence of objects, default=None
            The n points, of the kind that was fitted. Principal components have their eigenvalues
            without it, those of the centred matrix.
        alpha : float, default=None
            A penalty to be marked; None is that of the model, where it has one.
        max_points : int, default=1500
            Of more points so many are drawn at random, with a fixed seed; the eigenvalues are then
            scaled to the number of all.
        title : str, default=None
            A title; None is the kernel.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        SpectrumDisplay
            What was drawn.

        Raises
        ------
        InputError
            If there are no points and the model has no eigenvalues of its own.
        """
        who = cls.__name__
        kernel, points = kernel_of(who, model, X)
        inner = innermost(model, None)[0]
        if alpha is None:
            alpha = _penalty(inner)
        if points is None:
            own = getattr(inner, "eigenvalues_", None)
            if own is None:
                must = "X must be given for a model without eigenvalues_"
                raise InputError(sentence(who, must, "None"))
            display = cls(
                eigenvalues=own, title=style.kernel_text(kernel) if title is None else title
            )
            display.plot(ax, legend=legend)
            return display
        options: dict[str, Any] = {"alpha": alpha, "max_points": max_points, "title": title}
        return cls.from_kernel(kernel, points, **options, ax=ax, legend=legend)

    def effective_dimension(self, alpha: float) -> float:
        """Compute d(alpha) = sum_j lambda_j / (lambda_j + alpha), over positive eigenvalues.

        Parameters
        ----------
        alpha : float
            The penalty, at least 0.

        Returns
        -------
        float
            The effective dimension.
        """
        penalty = checks.number(self._who(), "alpha", alpha, least=0)
        positive = self.eigenvalues[self.eigenvalues > 0]
        return float((positive / (positive + penalty)).sum())

    def _draw(self, ax: Axes) -> None:
        values, n = self.eigenvalues, len(self.eigenvalues)
        floor = values[0] * n * float(np.finfo(np.float64).eps)
        places = np.arange(1, n + 1)
        marks: dict[str, Any] = {"linestyle": "none", "marker": ".", "markersize": 5}
        marks |= {"rasterized": n > style.MANY}
        for chosen, colour, label in (
            (values > floor, style.BLUE, "eigenvalues λ"),
            (values < -floor, style.ORANGE, "|λ| of negative eigenvalues"),
        ):
            if chosen.any():
                ax.plot(places[chosen], np.abs(values[chosen]), color=colour, label=label, **marks)
        sizes = np.abs(values[np.abs(values) > floor])
        alphas = np.geomspace(sizes.min(), sizes.max(), 200)
        curve = [self.effective_dimension(alpha) for alpha in alphas]
        ax.plot(curve, alphas, color=style.INK, linewidth=1.2, label="effective dimension d(α)")
        if self.alpha:
            self._mark(ax, self.alpha)
        ax.set(yscale="log", xlabel="number of directions", ylabel="λ, or α", title=self.title)

    def _mark(self, ax: Axes, alpha: float) -> None:
        dimension = self.effective_dimension(alpha)
        ax.plot(
            [dimension],
            [alpha],
            marker="o",
            markersize=8,
            color=style.ORANGE,
            linestyle="none",
            label=f"d({alpha:.3g}) = {dimension:.3g}",
        )


def _penalty(model: Any) -> float | None:
    """Return the penalty alpha of ridge regression, where a model has one."""
    for name in ("alpha_", "alpha"):
        found = getattr(model, name, None)
        if isinstance(found, int | float | np.number) and not hasattr(model, "eigenvalues_"):
            return float(found)
    return None
