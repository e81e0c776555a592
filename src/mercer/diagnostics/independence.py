"""A test by permutation: are two variables independent?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence
from ..grams import Gram, limit_in_bytes, partial_cholesky
from ..inputs import GramRows, Input
from ..kernels import Kernel, to_kernel
from ..linalg.blas import product
from ..typing import KernelLike, MemoryLimit, PointsLike, Seed
from .permutations import PermutationTest, assess, generator, one_pass

DENSE = 1000  # points up to which Gram matrices without a small factor are permuted as they are
RANK = 128  # columns of a factor
BUFFER = 1 << 20  # numbers of permuted factors that are multiplied at once
NOTHING = 1e-12  # share of a trace that rounding explains
ROUNDING = 1e-12  # of the largest criterion there could be


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
    random = generator(who, random_state)
    limit = limit_in_bytes(who, memory_limit)
    K, L = (
        one_pass(*_points(name, kernel, points), max(limit // 3, 1), np.float64)
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
    return assess(statistic, values, ROUNDING * size, method)


def _points(name: str, kernel: Any, points: Any) -> tuple[Kernel, Input]:
    value = to_kernel(kernel, who="hsic_test")
    found = value.admit(points)
    if len(found) < 2:
        raise InputError(sentence("hsic_test", f"{name} must have at least two points", len(found)))
    if isinstance(found, GramRows) and found.columns is None:
        must = f"{name} must be square if it is precomputed, one row and column a point"
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
