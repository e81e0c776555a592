"""Tests by permutation: are two samples alike, are two variables independent?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence
from ..grams import Gram, limit_in_bytes, partial_cholesky, prepare
from ..inputs import GRAM, Frame, GramRows, Input, Matrix, RowBlocks
from ..inputs.blocks import concatenate
from ..kernels import Kernel, to_kernel
from ..linalg.blas import product
from ..typing import KernelLike, MemoryLimit, PointsLike, Seed

DENSE = 1000  # points up to which Gram matrices without a small factor are permuted as they are
RANK = 128  # columns of a factor
BUFFER = 1 << 20  # numbers of permuted factors that are multiplied at once
NOTHING = 1e-12  # share of a trace that rounding explains
STREAM = 20050708  # tells the numbers drawn here from others of the same seed
ROUNDING = 1e-12  # of the largest criterion there could be


@dataclass(frozen=True, kw_only=True)
class PermutationTest:
    """A statistic, and how it compares with what permutations make of it; prints in words.

    Attributes
    ----------
    statistic : float
        The statistic of the data.
    p_value : float
        (1 + number of permutations with a statistic at least as large) / (1 + number of
        permutations). Where there is nothing to be found it is at most p with probability at most
        p, for every p.
    n_permutations : int
        Number of permutations.
    null_mean : float
        Mean of the statistic over permutations.
    null_deviation : float
        Standard deviation of the statistic over permutations.
    threshold : float
        What the statistic must exceed at a level of 5 %.
    method : str
        How permutations were computed.
    null : ndarray of shape (n_permutations,)
        The statistic of each permutation.
    """

    statistic: float
    p_value: float
    n_permutations: int
    null_mean: float
    null_deviation: float
    threshold: float
    method: str
    null: Array = field(repr=False, compare=False)

    def __str__(self) -> str:
        return "\n".join(
            [
                f"statistic {self.statistic:.4g}, p = {self.p_value:.4g}",
                f"  {self.n_permutations} permutations: mean {self.null_mean:.4g}, deviation "
                f"{self.null_deviation:.4g}, 95 % are at most {self.threshold:.4g}",
                f"  {self.method}",
            ]
        )


def _assess(statistic: float, values: Array, rounding: float, method: str) -> PermutationTest:
    """Return the test; values: of the data as they are, then of every permutation."""
    null = values[1:]
    # A permutation that changes nothing must count, whatever the order in which it was summed.
    as_large = int(np.count_nonzero(null >= values[0] - rounding))
    return PermutationTest(
        statistic=statistic,
        p_value=(1 + as_large) / (1 + len(null)),
        n_permutations=len(null),
        null_mean=float(null.mean()),
        null_deviation=float(null.std()),
        threshold=float(np.quantile(null, 0.95, method="higher")),
        method=method,
        null=null,
    )


def _generator(who: str, state: Any) -> np.random.Generator:
    """Return a source of permutations; None is a fixed seed.

    A seed has a stream of its own here: permutations drawn from the very numbers that the data were
    drawn from would not be independent of them.
    """
    if isinstance(state, np.random.Generator):
        return state
    if isinstance(state, np.random.RandomState):
        seed = int(state.randint(2**31 - 1))
    else:
        seed = 0 if state is None else checks.whole(who, "random_state", state, least=0)
    return np.random.default_rng((seed, STREAM))


# --- two samples ------------------------------------------------------------------------------


def mmd_test(
    X: PointsLike,
    Y: PointsLike,
    kernel: KernelLike = None,
    *,
    n_permutations: int = 999,
    unbiased: bool = True,
    random_state: Seed = None,
    memory_limit: MemoryLimit = "auto",
) -> PermutationTest:
    """Test whether two samples come from one distribution, by the maximum mean discrepancy.

    MMD**2 = ||mean phi(x) - mean phi(y)||**2 = E k(x, x') - 2 E k(x, y) + E k(y, y'), over pairs of
    different points (unbiased) or over all pairs. For the null, points change samples at random.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or sequence of objects
        The first sample, of a kind that the kernel takes. With "precomputed", its rows of the Gram
        matrix of all points, those of X first.
    Y : array-like, sparse matrix, data frame or sequence of objects
        The second sample.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    n_permutations : int, default=999
        Number of permutations; the p-value is a multiple of 1 / (n_permutations + 1).
    unbiased : bool, default=True
        Whether to leave out k(x, x) and k(y, y).
    random_state : int, RandomState or Generator, default=None
        Seed of the permutations; None is a fixed seed.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, as a number or a text such as "2GB"; "auto" takes a share of
        the free memory.

    Returns
    -------
    PermutationTest
        The statistic, the p-value and the distribution over permutations.

    Raises
    ------
    InputError
        If a sample has fewer than two points, or the samples differ in their columns.

    See Also
    --------
    hsic_test : Whether two variables are independent.

    References
    ----------
    .. [1] A. Gretton, K. Borgwardt, M. Rasch, B. Schölkopf, A. Smola, "A kernel two-sample test",
       Journal of Machine Learning Research 13 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import mmd_test
    >>> random = np.random.default_rng(0)
    >>> X, Y = random.normal(size=(50, 1)), random.normal(loc=2.0, size=(50, 1))
    >>> mmd_test(X, Y).p_value
    0.001
    """
    who = "mmd_test"
    count = checks.whole(who, "n_permutations", n_permutations, least=1)
    random = _generator(who, random_state)
    limit = limit_in_bytes(who, memory_limit)
    value = to_kernel(kernel, who=who)
    pooled, sizes = _pool(value, X, Y)
    K = _one_pass(value, pooled, max(limit // 2, 1))
    forms = _Discrepancies(K, sizes, bool(unbiased))
    at_once = max(1, limit // 2 // (24 * len(pooled)))
    for labels in _relabelled(random, sizes, count, at_once):
        forms.add(labels)
    values = np.concatenate(forms.values)
    rounding = 4 * float(np.finfo(K.dtype).eps) * forms.size
    return _assess(float(values[0]), values, rounding, f"{K.plan.kind}: {K.plan.reason}")


def _pool(kernel: Kernel, X: Any, Y: Any) -> tuple[Input, tuple[int, int]]:
    """Return the points of both samples as one collection, and how many come from each."""
    who = "mmd_test"
    parts = [kernel.admit(X), kernel.admit(Y)]
    sizes = len(parts[0]), len(parts[1])
    for name, size in zip("XY", sizes, strict=True):
        if size < 2:
            raise InputError(sentence(who, f"{name} must have at least two points", size))
    if kernel.domain == GRAM:
        return _pooled_gram(kernel, parts), sizes
    if any(isinstance(part, RowBlocks) for part in parts):
        return _chained(parts), sizes
    tables = [_table(part) for part in parts]
    if tables[0] != tables[1]:
        must = "X and Y must have the same columns"
        raise InputError(sentence(who, must, f"{tables[0]} and {tables[1]}"))
    return concatenate(parts), sizes


def _table(points: Input) -> str:
    """Return the columns that points have, in words."""
    if isinstance(points, Frame):
        return ", ".join(map(str, points.names))
    return f"{points.n_columns} columns" if isinstance(points, Matrix) else "none"


def _pooled_gram(kernel: Kernel, parts: list[Input]) -> Input:
    values = [part.values for part in parts if isinstance(part, GramRows)]
    shapes = [one.shape for one in values]
    n = sum(shape[0] for shape in shapes)
    if any(shape[1] != n for shape in shapes):
        must = f"precomputed rows must have a column for each of the {n} points of X and Y"
        raise InputError(sentence("mmd_test", must, f"shapes {shapes[0]} and {shapes[1]}"))
    return kernel.admit(np.concatenate(values))


def _chained(parts: list[Input]) -> RowBlocks:
    """Return the blocks of both, one after another."""

    def blocks() -> Iterator[Input]:
        several = (one.blocks() if isinstance(one, RowBlocks) else iter((one,)) for one in parts)
        return itertools.chain.from_iterable(several)

    return RowBlocks(blocks, convert=lambda block, who: block)


def _one_pass(kernel: Kernel, points: Input, limit: int, dtype: Any = None) -> Gram:
    """Return K to be gone through once or twice: on the fly, if no map makes it cheaper."""
    prepared = prepare(kernel, points)
    K = prepared.gram(memory_limit=limit, dtype=dtype)
    if K.plan.kind in ("stored", "half stored"):
        K = prepared.gram(memory_limit=limit, dtype=dtype, store=False)
    return K


def _relabelled(
    random: np.random.Generator, sizes: tuple[int, int], count: int, at_once: int
) -> Iterator[Array]:
    """Yield who is in the first sample, one column a permutation, the samples as they are first."""
    n, m = sizes
    labels = np.repeat(np.array([1, 0], dtype=np.int8), sizes)
    first = True
    while count > 0 or first:
        room = min(at_once - first, count)
        drawn = random.permuted(np.broadcast_to(labels, (room, n + m)), axis=1)
        rows = np.concatenate([labels[None], drawn]) if first else drawn
        yield rows.T.astype(np.float64)
        count, first = count - room, False


class _Discrepancies:
    """MMD**2 of many ways to split the points, from K u for the indicators u of first samples."""

    def __init__(self, K: Gram, sizes: tuple[int, int], unbiased: bool) -> None:
        self.K, self.sizes, self.unbiased = K, sizes, unbiased
        self.diagonal = K.diag()
        self.sums: Array | None = None  # K 1
        self.values: list[Array] = []
        self.size = 0.0  # of the numbers whose difference is the statistic

    def add(self, u: Array) -> None:
        """Take some splits, one per column."""
        if self.sums is None:
            products = self.K @ np.column_stack([np.ones(len(u)), u])
            self.sums, products = products[:, 0].astype(np.float64), products[:, 1:]
        else:
            products = self.K @ u
        n, m = self.sizes
        within = np.einsum("ij,ij->j", u, products)
        whole = self.sums @ u
        between = whole - within
        others = self.sums.sum() - whole - between
        if self.unbiased:
            own = self.diagonal @ u
            first = (within - own) / (n * (n - 1))
            second = (others - (self.diagonal.sum() - own)) / (m * (m - 1))
        else:
            first, second = within / n**2, others / m**2
        cross = between / (n * m)
        self.values.append(first + second - 2 * cross)
        self.size = self.size or float(abs(first[0]) + abs(second[0]) + 2 * abs(cross[0]))


# --- two variables ----------------------------------------------------------------------------


def hsic_test(
    X: PointsLike,
    Y: PointsLike,
    kernel_x: KernelLike = None,
    kernel_y: KernelLike = None,
    *,
    n_permutations: int = 999,
    random_state: Seed = None,
    memory_limit: MemoryLimit = "auto",
) -> PermutationTest:
    """Test whether pairs (x_i, y_i) are independent, by the Hilbert-Schmidt criterion.

    HSIC = tr(K H L H) / n**2 with K of X, L of Y and H = I - 11'/n, the squared norm of the
    covariance between phi(x) and psi(y). For the null, Y is permuted. The statistic is that of the
    whole matrices at any size. Permutations are computed from factors of K and L with at most 128
    columns where these are all of K and L, else entry by entry, up to 1,000 points. Beyond, factors
    that leave something out are compared with themselves, so that the p-value stays valid; `method`
    says how much they leave out.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or sequence of objects
        The first variable of the n pairs, of a kind that its kernel takes.
    Y : array-like, sparse matrix, data frame or sequence of objects
        The second variable of the n pairs.
    kernel_x : Kernel, str or callable, default=None
        Kernel of the first variable: a kernel, a scikit-learn name such as "rbf", "precomputed", or
        a function of two sets of points. None is `Gaussian()`.
    kernel_y : Kernel, str or callable, default=None
        Kernel of the second variable.
    n_permutations : int, default=999
        Number of permutations; the p-value is a multiple of 1 / (n_permutations + 1).
    random_state : int, RandomState or Generator, default=None
        Seed of the permutations; None is a fixed seed.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, as a number or a text such as "2GB"; "auto" takes a share of
        the free memory.

    Returns
    -------
    PermutationTest
        The statistic, the p-value and the distribution over permutations.

    Raises
    ------
    InputError
        If X and Y differ in their number of points, or there are fewer than two.

    See Also
    --------
    mmd_test : Whether two samples come from one distribution.

    References
    ----------
    .. [1] A. Gretton, K. Fukumizu, C. Teo, L. Song, B. Schölkopf, A. Smola, "A kernel statistical
       test of independence", Advances in Neural Information Processing Systems 20 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import hsic_test
    >>> x = np.random.default_rng(0).normal(size=(100, 1))
    >>> hsic_test(x, x**2).p_value
    0.001
    """
    who = "hsic_test"
    count = checks.whole(who, "n_permutations", n_permutations, least=1)
    random = _generator(who, random_state)
    limit = limit_in_bytes(who, memory_limit)
    K, L = (
        _one_pass(*_points(name, kernel, points), max(limit // 3, 1), np.float64)
        for name, kernel, points in (("X", kernel_x, X), ("Y", kernel_y, Y))
    )
    n = K.shape[0]
    if L.shape[0] != n:
        raise InputError(sentence(who, "X and Y must have as many points", f"{n} and {L.shape[0]}"))
    rank = max(1, min(n, RANK, limit // 3 // (48 * n)))
    factors = [_Factor.of(one, rank, random) for one in (K, L)]
    orders = itertools.chain([np.arange(n)], (random.permutation(n) for _ in range(count)))
    statistic = _criterion(K, L)
    if n > DENSE or 40 * n * n > limit // 3 or _is_all(factors, statistic):
        values, size = _by_factors(factors[0].columns, factors[1].columns, orders)
        method = f"K and L as products of factors: {factors[0]}; {factors[1]}"
    else:
        values, size = _entry_by_entry(K, L, orders)
        method = "every entry of K and L"
    return _assess(statistic, values, ROUNDING * size, method)


def _points(name: str, kernel: Any, points: Any) -> tuple[Kernel, Input]:
    value = to_kernel(kernel, who="hsic_test")
    found = value.admit(points)
    if len(found) < 2:
        raise InputError(sentence("hsic_test", f"{name} must have at least two points", len(found)))
    if isinstance(found, GramRows) and found.columns is None:
        must = f"{name} must be square if it is precomputed, one row and column per point"
        raise InputError(sentence("hsic_test", must, f"shape {found.values.shape}"))
    return value, found


def _entry_by_entry(K: Gram, L: Gram, orders: Iterator[Array]) -> tuple[Array, float]:
    """Return HSIC for every order of the second variable, and the largest it could be."""
    left, right = (_centred(one.dense().astype(np.float64)) for one in (K, L))
    n = len(left)
    values, places, turned = [], np.empty((n, n), dtype=np.intp), np.empty((n, n))
    for order in orders:
        np.add(order[:, None] * n, order, out=places)
        np.take(right, places, out=turned, mode="clip")  # L[order][:, order]
        values.append(np.einsum("ij,ij->", left, turned) / n**2)
    return np.array(values), float(np.linalg.norm(left) * np.linalg.norm(right)) / n**2


def _centred(K: Array) -> Array:
    means = K.mean(axis=0)
    return np.asarray(K - means - means[:, None] + means.mean())


@dataclass(frozen=True)
class _Factor:
    """H K H ~ C C' with the centred columns C; left_out: the share of tr K that K ~ C C' lacks."""

    columns: Array
    left_out: float

    @classmethod
    def of(cls, K: Gram, rank: int, random: np.random.Generator) -> _Factor:
        found = partial_cholesky(K, rank, random, dtype=np.float64)
        trace = float(np.abs(K.diag()).sum())
        left_out = float(found.remaining.sum()) / trace if trace else 0.0
        return cls(np.subtract(found.values.T, found.values.mean(axis=1), order="C"), left_out)

    def __str__(self) -> str:
        rest = "all of it" if self.left_out <= NOTHING else f"all but {self.left_out:.1g} of it"
        return f"{self.columns.shape[1]} columns, {rest}"


def _is_all(factors: list[_Factor], statistic: float) -> bool:
    """Return whether the factors are all of K and L; of a kernel that is not Mercer's none are."""
    if any(factor.left_out > NOTHING for factor in factors):
        return False
    A, B = (factor.columns for factor in factors)
    (value,), size = _by_factors(A, B, iter([np.arange(len(A))]))
    return abs(float(value) - statistic) <= 1e-9 * size


def _by_factors(A: Array, B: Array, orders: Iterator[Array]) -> tuple[Array, float]:
    """Return ||A' B||**2 / n**2 for every order of B, and the largest it could be."""
    n, width = B.shape
    at_once = max(1, BUFFER // max(B.size, 1))
    one, several, values = np.empty((n, width)), np.empty((n, at_once, width)), []
    for some in iter(lambda: list(itertools.islice(orders, at_once)), []):
        for place, order in enumerate(some):
            np.take(B, order, axis=0, out=one, mode="clip")
            several[:, place] = one
        products = product(A.T, several[:, : len(some)].reshape(n, -1))
        squares = np.square(products).reshape(-1, len(some), width)
        values.append(squares.sum(axis=(0, 2)) / n**2)
    size = np.linalg.norm(product(A.T, A)) * np.linalg.norm(product(B.T, B))
    return np.concatenate(values), float(size) / n**2


def _criterion(K: Gram, L: Gram) -> float:
    """Return tr(K H L H) / n**2 from the whole matrices, a band at a time."""
    n = K.shape[0]
    total, sums_k, sums_l = 0.0, np.zeros(n), np.zeros(n)
    for rows, band in K.bands():
        other = L.tile(rows, slice(None)).astype(np.float64)
        band = band.astype(np.float64)
        total += float(np.vdot(band, other))
        sums_k[rows], sums_l[rows] = band.sum(axis=1), other.sum(axis=1)
    whole = sums_k.sum() * sums_l.sum() / n**2
    return float(total - 2.0 * (sums_k @ sums_l) / n + whole) / n**2
