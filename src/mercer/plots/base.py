"""What all displays share: drawing on given or new axes, and reading models and points."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals.stable.v2 as narwhals
import numpy as np
import scipy.sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.multiclass import type_of_target

from .. import checks
from ..checks import Array, InputError, sentence
from ..kernels import Kernel, to_kernel
from ..models import KernelEstimator
from ..typing import PointsLike
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

CLASSES = 20  # whole numbers up to which they name classes


class Display:
    """A picture as numbers, which `plot` draws.

    A display is made of plain arrays, or by a class method such as `from_estimator` that computes
    them and draws at once. Afterwards `ax_` has the axes and `figure_` their figure. A figure that
    is made here is unknown to pyplot: write it by `display.figure_.savefig("picture.png")`.

    Examples
    --------
    >>> from mercer.plots import SpectrumDisplay
    >>> display = SpectrumDisplay(eigenvalues=[2.0, 1.0])
    >>> axes = display.plot()
    >>> axes is display.ax_
    True
    """

    ax_: Axes
    figure_: Figure | SubFigure
    _size: ClassVar[tuple[float, float]] = (6.0, 4.2)
    _legend: ClassVar[str] = "best"

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Axes:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure, of which pyplot knows nothing.
        legend : bool, default=True
            Whether marks and lines are explained.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.

        Raises
        ------
        PackageError
            If matplotlib is not installed.
        """
        axes = style.new_axes(self._size) if ax is None else style.checked_axes(self._who(), ax)
        style.dress(axes)
        self._draw(axes)
        if legend:
            style.add_legend(axes, self._legend)
        self.ax_, self.figure_ = axes, axes.figure
        return axes

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError

    def _who(self) -> str:
        return type(self).__name__

    def _repr_png_(self) -> bytes:
        """Return the picture for a notebook, which does not know figures that are made here."""
        if not hasattr(self, "figure_"):
            self.plot()
        stream = io.BytesIO()
        figure = self.ax_.get_figure(root=True)
        if figure is not None:
            figure.savefig(stream, format="png", facecolor="#FFFFFF")
        return stream.getvalue()


# --- numbers ------------------------------------------------------------------------------------


def vector(who: str, name: str, values: object, length: int | None = None) -> Array:
    """Return a finite vector, of a given length if there is one."""
    found = checks.floats(who, name, values)
    return checks.vector(who, name, found, len(found) if length is None else length)


def matrix(who: str, name: str, values: object, shape: tuple[int | None, int | None]) -> Array:
    """Return a finite matrix of a given shape; None: any length."""
    found = checks.floats(who, name, values)
    wanted = tuple("any" if size is None else size for size in shape)
    if found.ndim != 2 or any(
        size is not None and size != here for size, here in zip(shape, found.shape, strict=True)
    ):
        must = f"{name} must have the shape ({wanted[0]}, {wanted[1]})"
        raise InputError(sentence(who, must, f"shape {found.shape}"))
    checks.finite(who, found, what=name)
    return found


def some(who: str, name: str, values: Sequence[object] | Array) -> None:
    """Refuse what is empty: there would be nothing to draw."""
    if len(values) == 0:
        raise InputError(sentence(who, f"{name} must have at least one entry", "none"))


def labels_of(who: str, name: str, values: object, length: int) -> Array:
    """Return one label per point, whatever a label is."""
    found = checks.array(who, name, values)
    if found.shape != (length,):
        must = f"{name} must have shape ({length},)"
        raise InputError(sentence(who, must, f"shape {found.shape}"))
    return found


def are_numbers(labels: Array) -> bool:
    """Return whether labels are measured, not names of classes: fractions, or many numbers."""
    if labels.dtype.kind not in "biuf":
        return False
    kind = str(type_of_target(labels))
    return kind.startswith("continuous") or len(np.unique(labels)) > CLASSES


# --- points -------------------------------------------------------------------------------------


def is_frame(X: object) -> bool:
    """Return whether X is a data frame."""
    return isinstance(narwhals.from_native(X, pass_through=True), narwhals.DataFrame)


def names_of(X: object, columns: int) -> list[str]:
    """Return the names of the columns of X; those without names are x₁, x₂, …"""
    if is_frame(X):
        return [str(name) for name in narwhals.from_native(X).columns]  # type: ignore[call-overload]
    return [style.column_name(place) for place in range(columns)]


def rows_of(who: str, X: Any) -> Array:
    """Return points as rows of numbers in double precision."""
    X = X.toarray() if scipy.sparse.issparse(X) else X
    found = checks.floats(who, "X", X, "have rows of numbers")
    found = found[:, None] if found.ndim == 1 else found
    if found.ndim != 2:
        must = "X must have rows of numbers"
        raise InputError(sentence(who, must, f"shape {found.shape}"))
    checks.finite(who, found)
    return found


def like(X: object, rows: Array) -> PointsLike:
    """Return rows of numbers in the form that X has: a frame of the same names, or an array."""
    if not is_frame(X):
        return rows
    given = narwhals.from_native(X)  # type: ignore[call-overload]
    columns = {name: rows[:, place] for place, name in enumerate(given.columns)}
    frame = narwhals.from_dict(columns, backend=given.implementation)
    return frame.to_native()  # type: ignore[no-any-return]


def count_of(X: object) -> int:
    """Return the number of points."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)  # type: ignore[arg-type]


def some_rows(n: int, most: int) -> Array:
    """Return at most so many row numbers in rising order, drawn at random with a fixed seed."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def take(X: Any, rows: Array) -> Any:
    """Return some of the points, in the form that X has."""
    if is_frame(X):
        return narwhals.from_native(X)[rows.tolist()].to_native()
    if hasattr(X, "shape"):
        return X[rows]
    return [X[row] for row in rows]


def replaced(X: Any, place: int, rows: Array) -> Any:
    """Return X with a column whose entries are those of other rows, in the form that X has.

    Entries are not made anew, so that numbers, dates and categories keep their types.
    """
    if is_frame(X):
        frame = narwhals.from_native(X)
        name = frame.columns[place]
        return frame.with_columns(frame[name][rows.tolist()].alias(name)).to_native()
    changed = X.toarray() if scipy.sparse.issparse(X) else np.array(X)
    changed[:, place] = changed[rows, place]
    return changed


def column_place(who: str, column: int | str, names: Sequence[str]) -> int:
    """Return the number of a column that is given by name or number."""
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
        must = f"column must be one of {', '.join(map(repr, names[:12]))}"
        raise InputError(sentence(who, must, checks.show(column), checks.nearest(column, names)))
    return checks.whole(who, "column", column, least=0, most=len(names) - 1)


# --- models -------------------------------------------------------------------------------------


def innermost(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the estimator within searches and pipelines, and the points as it gets them."""
    if hasattr(model, "best_estimator_"):
        return innermost(model.best_estimator_, X)
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            X = X if X is None or step in (None, "passthrough") else step.transform(X)
        return innermost(model.steps[-1][1], X)
    return model, X


def kernel_of(who: str, model: Any, X: Any) -> tuple[Kernel, Any]:
    """Return the kernel of a fitted model, and the points as that kernel takes them.

    Of an ensemble it is that of the heaviest member that has a kernel.
    """
    found, points = innermost(model, X)
    for member in getattr(found, "members_", ()):
        if isinstance(member.model, KernelEstimator):
            encoder = found.encoders_[member.view]
            rows = None if points is None else encoder.transform(points).astype(np.float32)
            return member.model.kernel_, rows
    kernel = getattr(found, "kernel_", None)
    if not isinstance(kernel, Kernel):
        must = "the model must be fitted and have a kernel, kernel_"
        got = type(found).__name__
        raise InputError(sentence(who, must, got, "Take from_kernel(kernel, X) instead."))
    return kernel, points


def settled(who: str, kernel: object, X: PointsLike) -> Kernel:
    """Return a kernel with all parameters settled on the points."""
    return to_kernel(kernel, who=who).resolve(X)  # type: ignore[arg-type]


def require(who: str, model: object, method: str, advice: str = "") -> None:
    """Refuse a model that cannot do what the picture needs."""
    if not hasattr(model, method):
        must = f"the model must have a method {method}"
        raise InputError(sentence(who, must, type(model).__name__, advice))


def classes_of(who: str, model: object) -> Array:
    """Return the classes of a fitted classifier."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        must = "the model must be a fitted classifier"
        raise InputError(sentence(who, must, type(model).__name__))
    return np.asarray(classes)
