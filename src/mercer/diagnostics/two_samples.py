"""A test by permutation: do two samples come from one distribution?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence
from ..grams import Gram, limit_in_bytes
from ..inputs import GRAM, Frame, GramRows, Input, Matrix, RowBlocks
from ..inputs.blocks import concatenate
from ..kernels import Kernel, to_kernel
from ..typing import KernelLike, MemoryLimit, PointsLike, Seed
from .permutations import PermutationTest, assess, generator, one_pass


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
    random = generator(who, random_state)
    limit = limit_in_bytes(who, memory_limit)
    value = to_kernel(kernel, who=who)
    pooled, sizes = _pool(value, X, Y)
    K = one_pass(value, pooled, max(limit // 2, 1))
    forms = _Discrepancies(K, sizes, bool(unbiased))
    at_once = max(1, limit // 2 // (24 * len(pooled)))
    for labels in _relabelled(random, sizes, count, at_once):
        forms.add(labels)
    values = np.concatenate(forms.values)
    rounding = 4 * float(np.finfo(K.dtype).eps) * forms.size
    return assess(float(values[0]), values, rounding, f"{K.plan.kind}: {K.plan.reason}")


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
        """Take some splits, one a column."""
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
