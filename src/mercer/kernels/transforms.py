"""Kernels around a kernel that change its points or its scale: normalised, rescaled, of, on."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, InputError, KernelError, sentence
from ..inputs import FRAME, ROWS, Columns, Input, RowBlocks, as_input
from ..typing import PointsLike
from .algebra import Around
from .base import Basis, Kernel
from .pairs import Pairs
from .rows.dot import Linear

BAND = 4096  # points whose images are kept at a time


@dataclass(frozen=True, repr=False)
class Normalized(Around):
    """The cosine in feature space, written `k.normalized()`.

    k(x, y) = inner(x, y) / sqrt(inner(x, x) inner(y, y)), with 0 / 0 = 0: the kernel of points
    scaled to length 1 in feature space [1]_.

    Parameters
    ----------
    inner : Kernel
        The kernel that is normalised; inner(x, x) must not be negative.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().normalized()([[1.0, 0.0], [2.0, 2.0]]).round(3)
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """

    def profile(self, pairs: Pairs) -> Any:
        left, right = pairs.sides(self.scale)
        return pairs.value(self.inner) * (left * right)

    def scale(self, points: Input) -> Array:
        """Return the factor of every point.

        Parameters
        ----------
        points : Input
            The points.

        Returns
        -------
        ndarray of shape (n,)
            The values 1 / sqrt(inner(x, x)), and 0 where inner(x, x) is 0.
        """
        values = self.inner.diag(points)
        if np.any(values < 0):
            raise KernelError(
                sentence(
                    "Normalized",
                    "k(x, x) must not be negative",
                    f"{values.min():g} for {self.inner!r}",
                )
            )
        zero = values == 0
        return np.where(zero, 0.0, 1.0 / np.sqrt(np.where(zero, 1.0, values)))

    def expand(self, points: Input, basis: Basis) -> Any:
        return _rows_times(super().expand(points, basis), self.scale(points))

    def __repr__(self) -> str:
        return f"{self.inner.text(4)}.normalized()"


def _rows_times(rows: Any, factors: Array) -> Any:
    if scipy.sparse.issparse(rows):
        return scipy.sparse.csr_array(scipy.sparse.diags_array(factors) @ rows)
    return rows * factors[:, None]


@dataclass(frozen=True, repr=False)
class Rescaled(Around):
    """A kernel times a function of each of its two points, written `k.rescaled(f)`.

    k(x, y) = f(x) inner(x, y) f(y), positive definite for every real function f [1]_.

    Parameters
    ----------
    inner : Kernel
        The kernel that is rescaled.
    f : callable
        Takes all points at once and returns one number per point.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> def first(X):
    ...     return X[:, 0]
    >>> Linear().rescaled(first)([[1.0], [2.0]])
    array([[ 1.,  4.],
           [ 4., 16.]])
    """

    f: Callable[[Any], Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.f):
            raise checks.InputTypeError(
                sentence("rescaled", "f must be a function of X", checks.show(self.f))
            )

    def profile(self, pairs: Pairs) -> Any:
        left, right = pairs.sides(self.values)
        return pairs.value(self.inner) * (left * right)

    def values(self, points: Input) -> Array:
        """Return f(x) of every point.

        Parameters
        ----------
        points : Input
            The points.

        Returns
        -------
        ndarray of shape (n,)
            One number per point.
        """
        found = np.asarray(self.f(points.raw))
        if found.shape != (len(points),):
            raise KernelError(
                sentence(
                    "rescaled",
                    f"f(X) must return one number per point, shape ({len(points)},)",
                    f"shape {found.shape}",
                    "f takes all points at once, not one by one.",
                )
            )
        return found.astype(np.float64)

    def slopes(self, points: Input) -> Array:
        """Return the gradient of f at every point, where f has a method `gradient`.

        Parameters
        ----------
        points : Input
            The points.

        Returns
        -------
        ndarray of shape (n, d)
            One row per point.
        """
        gradient = getattr(self.f, "gradient", None)
        if gradient is None:
            must = "f must have a method gradient(X), with a row per point, to be differentiated"
            raise KernelError(sentence("rescaled", must, function_name(self.f)))
        return np.asarray(gradient(points.raw), dtype=np.float64)

    def expand(self, points: Input, basis: Basis) -> Any:
        return _rows_times(super().expand(points, basis), self.values(points))

    def spec(self) -> dict[str, Any]:
        return super().spec() | {"f": function_name(self.f)}

    def __repr__(self) -> str:
        return f"{self.inner.text(4)}.rescaled({function_name(self.f)})"


def function_name(function: Any) -> str:
    """Return the name under which a function is written; to read it back takes the function."""
    return getattr(function, "__name__", type(function).__name__).replace("<lambda>", "function")


@dataclass(frozen=True, repr=False)
class Of(Around):
    """A kernel of transformed points, written `k.of(phi)`.

    k(x, y) = inner(phi(x), phi(y)), positive definite for every function phi [1]_.

    Parameters
    ----------
    inner : Kernel
        The kernel that compares what phi returns.
    phi : callable or fitted transformer
        Takes all points at once and returns as many; of a transformer, `transform` is called.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> Linear().of(np.sqrt)([[4.0], [9.0]])
    array([[4., 6.],
           [6., 9.]])
    """

    phi: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (callable(self.phi) or hasattr(self.phi, "transform")):
            must = "phi must be a function of X or a fitted transformer"
            raise checks.InputTypeError(sentence("of", must, checks.show(self.phi)))
        self._set(domain=Kernel.domain)

    def profile(self, pairs: Pairs) -> Any:
        return pairs.of(self.child_input).value(self.inner)

    def child_input(self, points: Input) -> Input:
        if isinstance(points, RowBlocks):
            return points.mapped(self.child_input)
        change = self.phi.transform if hasattr(self.phi, "transform") else self.phi
        found = as_input(change(points.raw), self.inner.domain, f"{self.inner.name}.of")
        if len(found) != len(points):
            raise KernelError(
                sentence("of", f"phi(X) must keep the {len(points)} points", f"{len(found)}")
            )
        return found

    def is_linear_map(self) -> bool:
        """Return whether phi is a fitted transformer whose features are multiplied as they are.

        Returns
        -------
        bool
            True for `Linear().of(transformer)`.
        """
        return isinstance(self.inner, Linear) and hasattr(self.phi, "transform")

    def diag(self, X: PointsLike) -> Array:
        points = as_input(X, self.domain, self.name)
        if isinstance(points, RowBlocks) or len(points) <= BAND:
            return super().diag(points)
        starts = range(0, len(points), BAND)
        return np.concatenate([self.diag(points.take(slice(i, i + BAND))) for i in starts])

    def _basis(self, points: Input) -> Basis | None:
        # Any point shows how wide what phi returns is, which is all that a map of rows must know.
        return super()._basis(points.take(slice(0, 1)) if self.is_linear_map() else points)

    def pullback(self, points: Input, slopes: Array) -> Array:
        """Return derivatives by the columns of points, where phi has a method `pullback`.

        Parameters
        ----------
        points : Input
            The n points, rows of d numbers.
        slopes : ndarray of shape (n, width)
            Derivatives by what phi returns.

        Returns
        -------
        ndarray of shape (n, d)
            The same by the chain rule for the points.
        """
        change = getattr(self.phi, "pullback", None)
        if change is None:
            must = (
                "phi must have a method pullback(X, slopes), the chain rule, to be differentiated"
            )
            raise KernelError(sentence("of", must, function_name(self.phi)))
        return np.asarray(change(points.raw, slopes), dtype=np.float64)

    def spec(self) -> dict[str, Any]:
        return super().spec() | {"phi": function_name(self.phi)}

    def __repr__(self) -> str:
        return f"{self.inner.text(4)}.of({function_name(self.phi)})"


@dataclass(frozen=True, repr=False)
class On(Around):
    """A kernel of chosen columns, written `k.on(columns)`.

    k(x, y) = inner(x[columns], y[columns]): in a matrix columns are chosen by position, in a data
    frame by name. A single column gives its values, a list of columns a matrix; so kernels of
    strings or graphs take one column. Sums and products of kernels on different columns are the
    ANOVA and tensor product kernels of [1]_.

    Parameters
    ----------
    inner : Kernel
        The kernel that compares the columns.
    columns : str, int or sequence of them
        One column, or a list of columns.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> k = Linear().on([0]) + Gaussian(gamma=1.0).on([1, 2])
    >>> k([[1.0, 0.0, 0.0], [2.0, 0.0, 1.0]]).round(3)
    array([[2.   , 2.368],
           [2.368, 5.   ]])
    """

    columns: Columns

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen = self.columns
        if isinstance(chosen, list | tuple | np.ndarray):
            chosen = tuple(self._column(column) for column in chosen)
            if not chosen:
                raise InputError(sentence("on", "at least one column must be chosen", "none"))
        else:
            chosen = self._column(chosen)
        names = chosen if isinstance(chosen, tuple) else (chosen,)
        by_name = any(isinstance(name, str) for name in names)
        self._set(columns=chosen, domain=FRAME if by_name else FRAME | ROWS)

    @staticmethod
    def _column(column: Any) -> str | int:
        if isinstance(column, str):
            return str(column)
        if isinstance(column, numbers.Integral) and not isinstance(column, bool):
            return int(column)
        must = "columns must be names or positions"
        raise checks.InputTypeError(sentence("on", must, checks.show(column)))

    def profile(self, pairs: Pairs) -> Any:
        return pairs.on(self.columns, self.inner.domain, self.inner.name).value(self.inner)

    def child_input(self, points: Input) -> Input:
        return points.on(self.columns, self.inner.domain, self.inner.name)

    def __repr__(self) -> str:
        chosen = list(self.columns) if isinstance(self.columns, tuple) else self.columns
        return f"{self.inner.text(4)}.on({chosen!r})"
