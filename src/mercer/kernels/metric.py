"""A kernel in a metric of its own: rows are weighted, or turned and stretched, before it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..checks import Array, InputError, KernelError, sentence
from ..inputs import ROWS, Input, Matrix, RowBlocks, domain_text
from ..linalg.blas import product
from ..linalg.eigen import eigh
from .algebra import Around
from .base import Basis
from .pairs import Pairs, as_matrix, times_columns

WHO = "metric"
BAND = 4096  # sparse rows that are made dense together
ROUNDING = 1e-6  # share of the largest entry or eigenvalue that rounding may have made of 0
WRITTEN_OUT = 2500  # numbers that are printed; a larger matrix has a name made of its content


class MetricMatrix:
    """The matrix of a metric as a value: frozen, and equal to others of the same numbers.

    A vector w stands for the matrix diag(w).

    Parameters
    ----------
    values : array-like of shape (d,) or (d, d)
        Weights at least 0 of the columns, or a symmetric positive semi-definite matrix.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models", Science, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import MetricMatrix
    >>> np.asarray(MetricMatrix([4.0, 0.25]).root)
    array([2. , 0.5])
    """

    def __init__(self, values: MetricLike) -> None:
        self.values = _checked(values)
        self.values.flags.writeable = False
        self.root = _root(self.values)
        self.root.flags.writeable = False

    @property
    def is_diagonal(self) -> bool:
        """Whether it was given as weights of the columns."""
        return self.values.ndim == 1

    @property
    def n_columns(self) -> int:
        """The number of columns of the points."""
        return len(self.values)

    @cached_property
    def _digest(self) -> bytes:
        return hashlib.sha256(self.values.tobytes()).digest()

    def applied(self, rows: Array) -> Array:
        """Return M**(1/2) times every row.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, d)
            The rows in the metric; the root is symmetric, so that derivatives turn back alike.
        """
        if self.is_diagonal:
            return np.asarray(rows * self.root.astype(rows.dtype, copy=False))
        return product(rows, self.root.astype(rows.dtype, copy=False))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetricMatrix):
            return NotImplemented
        same = self is other or self.values is other.values
        return same or np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self._digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return MetricMatrix, (np.array(self.values),)

    def __repr__(self) -> str:
        if self.values.size <= WRITTEN_OUT:
            return repr(self.values.tolist())
        size = "x".join(map(str, self.values.shape))
        return f"M{size}_{self._digest.hex()[:12]}"


MetricLike = MetricMatrix | NDArray[Any] | Sequence[float] | Sequence[Sequence[float]]


def _checked(given: Any) -> Array:
    """Return weights or a symmetric matrix as float64 of its own."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        must = "M must be a vector or a matrix of numbers"
        raise checks.InputTypeError(sentence(WHO, must, checks.show(given))) from None
    values += 0.0  # no -0.0, which is equal to 0.0 and has other bits
    if values.size == 0 or not (
        values.ndim == 1 or (values.ndim == 2 and len(values) == values.shape[1])
    ):
        must = "M must have one weight per column, shape (d,), or be a square matrix"
        raise InputError(sentence(WHO, must, f"shape {values.shape}"))
    if not np.isfinite(values).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        must = "M must have finite numbers only"
        raise InputError(sentence(WHO, must, f"{values[place]} at {place}"))
    if values.ndim == 1:
        if values.min() < 0:
            got = f"{values.min():g} at {values.argmin()}"
            raise InputError(sentence(WHO, "weights must be at least 0", got, _INDEFINITE))
        return values
    gap = float(np.abs(values - values.T).max())
    if gap > ROUNDING * float(np.abs(values).max()):
        must = "M must be symmetric"
        raise InputError(sentence(WHO, must, f"entries that differ by {gap:g}", "Hand in M + M.T."))
    return np.asarray(0.5 * values + 0.5 * values.T)


_INDEFINITE = "A metric with a negative weight would make squared distances negative."


def _root(values: Array) -> Array:
    """Return the symmetric square root; what rounding may have made of 0 counts as 0."""
    if values.ndim == 1:
        return np.sqrt(values)
    eigenvalues, vectors = eigh(values)
    largest = float(np.abs(eigenvalues).max())
    if eigenvalues.min() < -ROUNDING * largest:
        must = "M must be positive semi-definite"
        got = f"an eigenvalue of {eigenvalues.min():g}"
        raise InputError(sentence(WHO, must, got, "mercer.repair(M) takes the nearest that is."))
    half = vectors * np.sqrt(np.sqrt(np.maximum(eigenvalues, 0.0)))
    return product(half, half.T)


@dataclass(frozen=True, repr=False)
class Metric(Around):
    """A kernel in a metric of its own, written `k.metric(M)`.

    k(x, y) = inner(M**(1/2) x, M**(1/2) y). Of a kernel of the distance it is the kernel of
    sqrt((x - y)' M (x - y)), a Mahalanobis distance; of `Linear` it is x' M y. A learned M is the
    heart of recursive feature machines [1]_.

    Parameters
    ----------
    inner : Kernel
        A kernel of rows of numbers.
    M : array-like of shape (d,) or (d, d)
        Weights at least 0 of the columns, or a symmetric positive semi-definite matrix. It is
        copied and kept as a `MetricMatrix`, which NumPy takes for an array.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models", Science, 2024.

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> k = Laplacian(gamma=0.5).metric([1.0, 0.25])
    >>> k
    Laplacian(gamma=0.5).metric([1.0, 0.25])
    >>> k([[0.0, 0.0], [1.0, 2.0]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    M: MetricLike

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.inner.domain & ROWS:
            must = "the kernel must take rows of numbers"
            raise KernelError(sentence(WHO, must, domain_text(self.inner.domain)))
        self._set(domain=ROWS)
        if not isinstance(self.M, MetricMatrix):
            self._set(M=MetricMatrix(self.M))

    @property
    def matrix(self) -> MetricMatrix:
        """The matrix, with its root."""
        found: MetricMatrix = self.M  # type: ignore[assignment]
        return found

    def profile(self, pairs: Pairs) -> Any:
        return pairs.of(self.child_input).value(self.inner)

    def child_input(self, points: Input) -> Input:
        if isinstance(points, RowBlocks):
            return points.mapped(self.child_input)
        rows, matrix = as_matrix(points), self.matrix
        if rows.n_columns != matrix.n_columns:
            must = f"X must have {matrix.n_columns} columns, as many as M"
            raise InputError(sentence(WHO, must, f"{rows.n_columns}"))
        if matrix.is_diagonal:
            return times_columns(rows, matrix.root)
        if not rows.is_sparse:
            return Matrix(matrix.applied(rows.values))
        out = np.empty((len(rows), rows.n_columns), dtype=rows.dtype)
        for start in range(0, len(rows), BAND):
            some = slice(start, start + BAND)
            out[some] = matrix.applied(rows.take(some).dense())
        return Matrix(out)

    def _basis(self, points: Input) -> Basis | None:
        # Any point shows how wide the rows are, which is all that a map of rows must know.
        return super()._basis(points.take(slice(0, 1)))

    def pullback(self, points: Input, slopes: Array) -> Array:
        """Return derivatives by the columns of points, from those by what the metric makes of them.

        Parameters
        ----------
        points : Input
            The n points, rows of d numbers.
        slopes : ndarray of shape (n, d)
            Derivatives by the rows in the metric.

        Returns
        -------
        ndarray of shape (n, d)
            The same by the chain rule for the points.
        """
        return self.matrix.applied(slopes)

    def spec(self) -> dict[str, Any]:
        return super().spec() | {"M": self.matrix.values.tolist()}

    def __repr__(self) -> str:
        return f"{self.inner.text(4)}.metric({self.M!r})"
