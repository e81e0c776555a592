"""What a kernel may ask of two collections of points.

A kernel on rows of numbers is a few *statistics* sum_c w_c s(x_c, y_c) followed by element-wise
arithmetic. It is written once, as `profile(pairs)`; what `pairs` is decides what comes out: the
definition (`Definition`), the diagonal (`Diagonal`), fast blocks, or a native program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Array, InputError, KernelError, sentence
from ..inputs import Columns, GramRows, Input, Matrix
from ..typing import PointsLike

if TYPE_CHECKING:
    from .base import Kernel

Weights = float | tuple[float, ...] | str | None  # text only until `resolve`


@dataclass(frozen=True)
class Statistic:
    """One summand s(x, y) of a statistic of two rows.

    A statistic is sum_c w_c s(x_c, y_c) over the columns c.

    Parameters
    ----------
    name : str
        What it is called in explanations.
    of : callable
        Its definition: takes two arrays and returns s element by element.
    slope : callable, default=None
        Its derivative by x, element by element, 0 at a kink; None if it has none, or jumps.
    family : str, default=""
        Of those with an exponent: which they are, by its name in native code.
    exponent : float, default=1.0
        Of those with an exponent: its value, above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import SQUARED
    >>> SQUARED.of(np.array([1.0, 2.0]), np.array([0.0, 5.0]))
    array([1., 9.])
    """

    name: str
    of: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array] | None = None
    family: str = ""
    exponent: float = 1.0


def _ratio(top: Array, bottom: Array) -> Array:
    """Return top / bottom with 0/0 = 0 (NaN stays NaN)."""
    zero = (top == 0) & (bottom == 0)
    return np.asarray(np.where(zero, 0.0, top / np.where(zero, 1.0, bottom)))


def _unequal(x: Array, y: Array) -> Array:
    # (x - x) + (y - y) is 0 for numbers and NaN for NaN: a missing value differs from nothing.
    return np.asarray((x != y) + ((x - x) + (y - y)))


DOT = Statistic("dot", lambda x, y: x * y, lambda x, y: y + 0.0 * x)
SQUARED = Statistic("squared distance", lambda x, y: (x - y) ** 2, lambda x, y: 2.0 * (x - y))
ABSOLUTE = Statistic("L1 distance", lambda x, y: np.abs(x - y), lambda x, y: np.sign(x - y))
MINIMUM = Statistic("min-sum", np.minimum)
ROOT_RATIO = Statistic(
    "sum of sqrt(min/max)", lambda x, y: np.sqrt(_ratio(np.minimum(x, y), np.maximum(x, y)))
)
CHI2 = Statistic(
    "chi2 distance",
    lambda x, y: _ratio((x - y) ** 2, x + y),
    lambda x, y: _ratio((x - y) * (x + 3.0 * y), (x + y) ** 2),
)
UNEQUAL = Statistic("mismatch count", _unequal)

# In the order of the enumeration in cpp/engine/tile.hpp, where families follow statistics.
STATISTICS = (DOT, SQUARED, ABSOLUTE, MINIMUM, ROOT_RATIO, CHI2, UNEQUAL)
FAMILIES = ("power", "decay")


@cache
def power_distance(p: float) -> Statistic:
    """Return the statistic with the summand |x - y|**p, p above 0."""
    if p in (1.0, 2.0):
        return ABSOLUTE if p == 1.0 else SQUARED

    def slope(x: Array, y: Array) -> Array:
        size = np.abs(x - y)
        return np.asarray(np.sign(x - y) * p * np.where(size == 0, 1.0, size) ** (p - 1.0))

    name = f"sum of |x - y|**{p!r}"
    return Statistic(name, lambda x, y: np.abs(x - y) ** p, slope, "power", p)


@cache
def decay_distance(q: float) -> Statistic:
    """Return the statistic with the summand 1 - exp(-|x - y|**q), q above 0."""

    def slope(x: Array, y: Array) -> Array:
        size = np.abs(x - y)
        safe = np.where(size == 0, 1.0, size)
        return np.asarray(np.sign(x - y) * q * safe ** (q - 1.0) * np.exp(-(safe**q)))

    name = f"sum of 1 - exp(-|x - y|**{q!r})"
    return Statistic(name, lambda x, y: -np.expm1(-(np.abs(x - y) ** q)), slope, "decay", q)


def native_code(statistic: Statistic) -> int:
    """Return the place of a statistic in the enumeration of native code."""
    if statistic.family:
        return len(STATISTICS) + FAMILIES.index(statistic.family)
    return STATISTICS.index(statistic)


IN_CACHE = 1 << 15  # numbers of rows that are gone through together
DIAGONAL_BLOCK = 32  # points whose pairs a user's function is asked for at once


class Pairs(ABC):
    """All pairs of two collections of points, as a kernel's `profile` sees them.

    What `pairs` is decides what the profile computes: the definition, the diagonal, a fast block,
    or a native program.

    Examples
    --------
    >>> from mercer.kernels import DOT, Linear
    >>> class Doubled(Linear, abstract=True):
    ...     def profile(self, pairs):
    ...         return 2 * pairs.sum(DOT)
    >>> Doubled()([[1.0], [3.0]])
    array([[ 2.,  6.],
           [ 6., 18.]])
    """

    def sum(self, statistic: Statistic, weights: Weights = None) -> Any:
        """Return sum_c w_c s(x_c, y_c) for every pair.

        Parameters
        ----------
        statistic : Statistic
            The summand s.
        weights : float or tuple of float, default=None
            One weight for all columns, or one per column; None is 1.

        Returns
        -------
        array-like
            One value per pair.
        """
        if isinstance(weights, str):
            raise KernelError(
                sentence("kernel", "parameters must be numbers by now", repr(weights))
            )
        if isinstance(weights, tuple):
            return self.statistic(statistic, weights)
        plain = self.statistic(statistic, None)
        return plain if weights is None else weights * plain

    def value(self, kernel: Kernel) -> Any:
        """Return k of every pair for a part of an expression.

        Parameters
        ----------
        kernel : Kernel
            The part.

        Returns
        -------
        array-like
            One value per pair.
        """
        return kernel.profile(self)

    @property
    @abstractmethod
    def seen(self) -> Input:
        """The points of the rows."""

    @property
    def is_matrix(self) -> bool:
        """Whether the points are rows of numbers."""
        return isinstance(self.seen, Matrix)

    @property
    def n_columns(self) -> int:
        """The number of columns of rows of numbers."""
        return as_matrix(self.seen).n_columns

    @abstractmethod
    def statistic(self, statistic: Statistic, weights: tuple[float, ...] | None) -> Any:
        """Return the statistic of every pair.

        Parameters
        ----------
        statistic : Statistic
            The summand s.
        weights : tuple of float or None
            One weight per column; None is 1 for all.

        Returns
        -------
        array-like
            One value per pair.
        """

    @abstractmethod
    def sides(self, function: Callable[[Input], Array]) -> tuple[Any, Any]:
        """Return f(X) as a column and f(Y) as a row, ready to broadcast.

        Parameters
        ----------
        function : callable
            Takes points and returns one number per point.

        Returns
        -------
        column : array-like
            The values of X.
        row : array-like
            The values of Y.
        """

    def apply(self, function: Callable[[Any], Any], values: Any) -> Any:
        """Return f of every value, for a function that NumPy has no ufunc for.

        Parameters
        ----------
        function : callable
            Takes an array and returns one as large, element by element. Where it has a method
            `slope`, its derivative, the kernel has derivatives too.
        values : array-like
            One value per pair.

        Returns
        -------
        array-like
            One value per pair.
        """
        return function(values)

    @abstractmethod
    def pairwise(self, kernel: Kernel) -> Any:
        """Return k(x, y) of every pair by the kernel's own `formula` or `pair`.

        Parameters
        ----------
        kernel : Kernel
            The kernel.

        Returns
        -------
        array-like
            One value per pair.
        """

    @abstractmethod
    def given(self) -> Any:
        """Return the entries of the precomputed Gram matrix.

        Returns
        -------
        array-like
            One value per pair.
        """

    @abstractmethod
    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Pairs:
        """Return the same pairs seen through a choice of columns.

        Parameters
        ----------
        columns : str, int or tuple of them
            The columns.
        domain : frozenset of str
            What the kernel of the columns takes.
        who : str
            Its name, for messages.

        Returns
        -------
        Pairs
            Pairs of the columns.
        """

    @abstractmethod
    def of(self, phi: Callable[[Input], Input]) -> Pairs:
        """Return the same pairs in a new representation.

        Parameters
        ----------
        phi : callable
            Takes points and returns as many.

        Returns
        -------
        Pairs
            Pairs of what phi returns.
        """


def matrices(*inputs: Input) -> list[Array]:
    """Return inputs as dense float64 rows of one width."""
    found = [as_matrix(item).dense().astype(np.float64, copy=False) for item in inputs]
    same_width(found[0].shape[1], found[-1].shape[1])
    return found


def as_matrix(item: Input) -> Matrix:
    """Return the input if it is a matrix; else say so."""
    if not isinstance(item, Matrix):
        raise KernelError(sentence("kernel", "this statistic takes rows of numbers", item.kind))
    return item


def same_width(left: int, right: int) -> None:
    """Refuse two collections of different width."""
    if left != right:
        raise InputError(
            sentence("kernel", "X and Y must have the same columns", f"{left} and {right} columns")
        )


def column_weights(weights: tuple[float, ...] | None, width: int) -> Array:
    """Return one weight per column; refuse a number of weights that does not fit."""
    if weights is None:
        return np.ones(width)
    if len(weights) != width:
        raise InputError(
            sentence("kernel", f"one parameter per column means {len(weights)} columns", f"{width}")
        )
    return np.array(weights)


def times_columns(rows: Matrix, factors: Array) -> Matrix:
    """Return the rows with every column times its factor; sparse rows stay sparse."""
    factors = factors.astype(rows.dtype, copy=False)
    if not rows.is_sparse:
        return Matrix(rows.values * factors)
    made = rows.values.copy()
    made.data *= factors[made.indices]  # also by 0: a missing entry stays missing
    return Matrix(made)


def items(points: Input) -> Any:
    """Return the points to be gone through one by one; a row of a sparse matrix is dense then."""
    return points.dense() if isinstance(points, Matrix) else points.raw


def loop(kernel: Kernel, left: Input, right: Input) -> Array:
    """Return k(x, y) for all pairs from the kernel's own formula, or its pair, one by one."""
    if kernel.defines("formula"):
        values = np.asarray(kernel.formula(left.raw, right.raw))
        if values.shape != (len(left), len(right)):
            raise KernelError(
                sentence(
                    kernel.name,
                    f"its formula must return a matrix of shape {(len(left), len(right))}",
                    f"shape {values.shape}",
                )
            )
        return values.astype(np.float64, copy=False)
    if not kernel.defines("pair"):
        raise KernelError(
            sentence(
                kernel.name,
                "a kernel must define profile(pairs), formula(X, Y) or pair(x, y)",
                "none of them",
            )
        )
    values = np.empty((len(left), len(right)))
    same = left is right
    points = items(right)
    for i, x in enumerate(items(left)):
        for j, y in enumerate(points):
            values[i, j] = values[j, i] if same and j < i else kernel.pair(x, y)
    return values


def matched_values(kernel: Kernel, left: Input, right: Input) -> Array:
    """Return k(x_i, y_i) from the kernel's own pair, or its formula, one by one."""
    if kernel.defines("pair"):
        both = zip(items(left), items(right), strict=True)
        return np.array([float(kernel.pair(x, y)) for x, y in both])
    # Of a function of two collections: few calls with blocks, of which the diagonal is used.
    step = 1 if getattr(kernel, "pairwise", False) else DIAGONAL_BLOCK
    parts = [np.zeros(0)]
    for start in range(0, len(left), step):
        some = slice(start, start + step)
        first = left.take(some)
        second = first if left is right else right.take(some)
        parts.append(np.diagonal(loop(kernel, first, second)))
    return np.concatenate(parts)


@dataclass(frozen=True)
class Definition(Pairs):
    """The definition: float64, differences taken directly, column by column."""

    left: Input
    right: Input

    @property
    def seen(self) -> Input:
        return self.left

    def statistic(self, statistic: Statistic, weights: tuple[float, ...] | None) -> Array:
        X, Y = matrices(self.left, self.right)
        total = np.zeros((len(X), len(Y)))
        for c, weight in enumerate(column_weights(weights, X.shape[1])):
            total += weight * statistic.of(X[:, c, None], Y[None, :, c])
        return total

    def sides(self, function: Callable[[Input], Array]) -> tuple[Array, Array]:
        return function(self.left)[:, None], function(self.right)[None, :]

    def pairwise(self, kernel: Kernel) -> Array:
        return loop(kernel, self.left, self.right)

    def given(self) -> Array:
        return given_block(self.left, self.right)

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Definition:
        left = self.left.on(columns, domain, who)
        same = self.left is self.right
        return Definition(left, left if same else self.right.on(columns, domain, who))

    def of(self, phi: Callable[[Input], Input]) -> Definition:
        left = phi(self.left)
        return Definition(left, left if self.left is self.right else phi(self.right))


@dataclass(frozen=True)
class Diagonal(Pairs):
    """Only the pairs (x, x): the same profile then yields k(x, x)."""

    points: Input

    @property
    def seen(self) -> Input:
        return self.points

    def statistic(self, statistic: Statistic, weights: tuple[float, ...] | None) -> Array:
        points = as_matrix(self.points)
        of_column = column_weights(weights, points.n_columns)
        if points.is_sparse:  # no statistic makes anything of two zeros
            own = points.values.copy()
            stored = own.data.astype(np.float64)
            own.data = statistic.of(stored, stored) * of_column[own.indices]
            return np.asarray(own.sum(axis=1)).ravel()
        step = max(1, IN_CACHE // max(1, points.n_columns))
        parts = [np.zeros(0)]
        for start in range(0, len(points), step):
            (X,) = matrices(points.take(slice(start, start + step)))
            parts.append(statistic.of(X, X) @ of_column)
        return np.concatenate(parts)

    def sides(self, function: Callable[[Input], Array]) -> tuple[Array, Array]:
        values = function(self.points)
        return values, values

    def pairwise(self, kernel: Kernel) -> Array:
        return kernel.matched(self.points, self.points)

    def given(self) -> Array:
        points = self.points
        if not isinstance(points, GramRows) or points.columns is None:
            raise InputError(
                sentence(
                    "Precomputed",
                    "k(x, x) is known for training points only",
                    "rows of new points",
                    "Normalise or take distances before precomputing.",
                )
            )
        return points.values[np.arange(len(points)), points.columns].astype(np.float64)

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Diagonal:
        return Diagonal(self.points.on(columns, domain, who))

    def of(self, phi: Callable[[Input], Input]) -> Diagonal:
        return Diagonal(phi(self.points))


def given_block(left: Input, right: Input) -> Array:
    """Return the entries of a precomputed matrix for rows `left` and training points `right`."""
    if not isinstance(left, GramRows) or not isinstance(right, GramRows):
        raise KernelError(sentence("Precomputed", "X must be rows of a Gram matrix", left.kind))
    if left.values.shape[1] != right.values.shape[1] or right.columns is None:
        wanted = right.values.shape[1]
        raise InputError(
            sentence(
                "Precomputed",
                f"X must have one column for each of the {wanted} training points",
                f"shape {left.values.shape}",
            )
        )
    return left.values[:, right.columns]


def broadcast(values: Any, shape: tuple[int, ...]) -> Array:
    """Return a profile's result as a full array (that of a constant has no shape yet)."""
    result = np.asarray(values, dtype=np.float64)
    return result if result.shape == shape else np.broadcast_to(result, shape).copy()


def evaluate_definition(kernel: Kernel, X: PointsLike, Y: PointsLike | None = None) -> Array:
    """Return the Gram block K(X, Y) straight from the definition."""
    left = kernel.admit(X)
    right = left if Y is None else kernel.admit(Y)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        values = kernel.profile(Definition(left, right))
    return broadcast(values, (len(left), len(right)))
