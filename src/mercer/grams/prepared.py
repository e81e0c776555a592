"""The one seam: from a kernel and data to a Gram matrix that solvers can use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike

from ..checks import Array, InputError, KernelError, sentence
from ..inputs import GramRows, Input, Matrix, Objects, RowBlocks, Rows
from ..kernels.base import Basis, Kernel, register_fast_path
from ..kernels.names import to_kernel
from ..monitor import Monitor
from ..typing import KernelLike, MemoryLimit, PointsLike, Weights
from .answers import Answers, answers_of
from .family import GramFamily
from .finite import LARGEST, constant_diagonal, refuse_large, roomy
from .kinds.features import FeaturesGram
from .kinds.half import PackedGram
from .kinds.stored import StoredGram
from .kinds.streamed import BlocksGram
from .kinds.tiled import TiledGram
from .matrix import Gram
from .plan import make_plan, precision
from .sides import Side, View
from .sinks import TopK


@dataclass(frozen=True)
class Prepared:
    """A kernel with its data-dependent parameters settled, and the training points it saw.

    `prepare` makes it. K(X, training points) then needs only X, and what was computed of the
    training points is computed once.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with numbers for all its parameters.
    view : View
        The training points, with what has been computed of them.

    Examples
    --------
    >>> from mercer import prepare
    >>> prepared = prepare("rbf", [[0.0], [1.0], [2.0]])
    >>> prepared.kernel
    Gaussian(gamma=1.0)
    >>> prepared.gram([[1.0]]).dense().round(3)
    array([[0.368, 1.   , 0.368]])
    """

    kernel: Kernel
    view: View

    def __len__(self) -> int:
        return len(self.view)

    @property
    def points(self) -> Input:
        """The training points."""
        return self.view.points

    def take(self, rows: Rows) -> Prepared:
        """Return the same kernel with copies of some of the points: what a fitted model keeps.

        Parameters
        ----------
        rows : slice or ndarray of int
            Which of the points.

        Returns
        -------
        Prepared
            The kernel with these points.
        """
        chosen = np.arange(len(self))[rows]  # positions, so that nothing is shared
        points = self.view.take(chosen).points
        kept = points.copied() if isinstance(points, Objects) else points
        return Prepared(self.kernel, View(Side(kept)))

    def diag(self, X: PointsLike | None = None) -> Array:
        """Return k(x, x) of the training points, or of new ones; refuse values that are too large.

        Parameters
        ----------
        X : array-like, sequence or data frame of n points, default=None
            New points; None means the training points.

        Returns
        -------
        ndarray of shape (n,)
            One value per point.
        """
        points = self.points if X is None else self.kernel.admit(X)
        found = self.kernel.diag(points)
        refuse_large(self.kernel, points, found)
        return found

    def largest(self) -> float:
        """Return the largest k(x, x) of the training points; refuse what is too large."""
        steady = constant_diagonal(self.kernel)
        if steady is not None and steady <= LARGEST:
            return steady
        return float(self.diag().max(initial=0.0))

    def checked(self) -> Self:
        """Return itself, or refuse kernel values that are too large to calculate with.

        Blocks of points are not read for it, and functions of the user are not called.

        Returns
        -------
        Prepared
            Itself.
        """
        if not isinstance(self.points, RowBlocks) and not self.kernel.is_user_defined():
            self.largest()
        return self

    def map_width(self) -> int | None:
        """Return how many features an exact dense map of the kernel has.

        Returns
        -------
        int or None
            The number of features; None if there is no such map.
        """
        if not self.kernel.has_map():
            return None
        basis = _basis(self)
        return None if basis is None or basis.is_sparse else basis.width

    def map_bands(
        self, X: PointsLike | None = None, at_once: int = 1024
    ) -> Iterator[tuple[slice, Any]]:
        """Yield phi(x) of the training points, or of new ones, in bands of rows.

        Parameters
        ----------
        X : array-like, sequence or data frame of n points, default=None
            New points; None means the training points.
        at_once : int, default=1024
            Most rows of a band.

        Yields
        ------
        rows : slice
            Which rows.
        band : ndarray or csr_array
            The features of these rows.
        """
        basis = map_basis(self)
        points = self.points if X is None else self.kernel.admit(X)
        start = 0
        for block in points.blocks() if isinstance(points, RowBlocks) else (points,):
            for first in range(0, len(block), at_once):
                some = block.take(slice(first, first + at_once))
                part = self.kernel.expand(roomy(self.kernel, some), basis)
                yield slice(start, start + part.shape[0]), part
                start += part.shape[0]

    def gram(self, X: PointsLike | None = None, **options: Any) -> Gram:
        """Return K of the training points, or K(X, training points) for new ones.

        Parameters
        ----------
        X : array-like, sequence or data frame of n points, default=None
            New points; None means the training points.
        **options : object
            As in `gram`: memory_limit, store, dtype, monitor.

        Returns
        -------
        Gram
            The matrix.
        """
        return gram(self.kernel, self if X is None else X, None if X is None else self, **options)

    def times(self, X: Input, V: Array, memory_limit: MemoryLimit = "auto") -> Array:
        """Return K(X, training points) V; of a few rows of numbers without planning anew."""
        ready = self._answers(X, memory_limit)
        found = None if ready is None else ready.multiply(cast(Matrix, X), V)
        if found is None:
            found = self.gram(X, use="once", memory_limit=memory_limit) @ V
        return found

    def times_parts(
        self,
        X: Input,
        parts: Sequence[slice],
        Vs: Sequence[Array],
        memory_limit: MemoryLimit = "auto",
    ) -> list[Array]:
        """Return K(X, a part of the training points) V for each part and its V."""
        found = [
            None if ready is None else ready.multiply(cast(Matrix, X), V)
            for ready, V in zip(
                (self._answers(X, memory_limit, part) for part in parts), Vs, strict=True
            )
        ]
        if any(one is None for one in found):
            K = self.gram(X, use="once", memory_limit=memory_limit)
            return [one @ V for one, V in zip(K.cells([slice(None)], parts)[0], Vs, strict=True)]
        return cast(list[Array], found)

    def top(
        self, X: Input | None, k: int, shift: Array | None, memory_limit: Any, dtype: Any = None
    ) -> tuple[Array, Array, np.dtype[Any]]:
        """Return what `TopK(k, shift)` makes of K, and the precision of K.

        X: None for the training points. dtype: None for that of the points.
        """
        ready = None if X is None else self._answers(X, memory_limit)
        if ready is not None and dtype in (None, ready.dtype):
            found = ready.top(cast(Matrix, X), k, shift)
            if found is not None:
                return *found, ready.dtype
        K = self.gram(X, use="rows", memory_limit=memory_limit, dtype=dtype)
        return *K.reduce(TopK(k, shift)), K.dtype

    def _answers(self, X: Input, memory_limit: Any, part: slice | None = None) -> Answers | None:
        """Return what answers for rows of numbers like X at once, if there is such a thing."""
        if not isinstance(X, Matrix) or type(X.values) is not np.ndarray:
            return None
        return answers_of(self.kernel, self.view, X.dtype, memory_limit, part)


def with_only(prepared: Prepared, rows: Array) -> Prepared:
    """Return the same kernel with some of the points, which stay where they are in blocks."""
    if not isinstance(prepared.points, RowBlocks):
        return prepared.take(rows)
    return Prepared(prepared.kernel, View(Side(prepared.points.only(rows))))


def _basis(prepared: Prepared) -> Basis | None:
    """Return what an exact map of the kernel has to know of the points."""
    points = prepared.points
    if isinstance(points, RowBlocks):  # any point shows what a dense map has to know
        return prepared.kernel.basis(points.first().take(slice(0, 1)))
    return prepared.view.side.basis(prepared.kernel)


def map_basis(prepared: Prepared) -> Basis:
    """Return what an exact map of the kernel has to know of the training points."""
    basis = _basis(prepared)
    if basis is None:
        must = "the kernel must have a finite map"
        raise KernelError(sentence("map_bands", must, prepared.kernel))
    return basis


def prepare(kernel: KernelLike, X: PointsLike, sample_weight: Weights = None) -> Prepared:
    """Return the kernel resolved on X, ready to make Gram matrices with these points.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        A kernel, a scikit-learn kernel name or a function of X and Y; None is Gaussian().
    X : array-like, sequence or data frame of n points
        The training points.
    sample_weight : array-like of shape (n,), default=None
        How much each point counts where a parameter is taken from the data.

    Returns
    -------
    Prepared
        The kernel with its training points.

    Examples
    --------
    >>> from mercer import prepare
    >>> from mercer.kernels import Gaussian
    >>> prepare(Gaussian(), [[0.0, 1.0], [2.0, 3.0]]).kernel
    Gaussian(gamma=0.4)
    """
    value = to_kernel(kernel, who="prepare")
    points = value.admit(X)
    return Prepared(value.resolve(points, sample_weight), View(Side(points)))


def gram(
    kernel: KernelLike,
    X: PointsLike,
    Y: PointsLike | None = None,
    *,
    use: str = "many",
    memory_limit: MemoryLimit = "auto",
    store: bool | str | None = None,
    dtype: DTypeLike | None = None,
    monitor: Monitor | None = None,
) -> Gram:
    """Return the Gram matrix K(X, Y), or K(X, X), as solvers use it.

    K[i, j] = k(x_i, y_j). The memory limit decides whether it is stored, computed when needed, or
    kept as a product of features; `Gram.explain` tells.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        A kernel, a scikit-learn kernel name or a function of X and Y; None is Gaussian().
    X : array-like, sequence, data frame or Prepared
        The points of the rows.
    Y : array-like, sequence, data frame or Prepared, default=None
        The points of the columns, the training side; None means X.
    use : {"once", "many", "rows"}, default="many"
        What it is for: "once" is one pass, which keeps nothing; "many" is pass after pass; "rows"
        is single rows or blocks of it.
    memory_limit : int, float or str, default="auto"
        Bytes, as a number or a text such as "2GB"; "auto" is a share of the free memory.
    store : bool or str, default=None
        True insists on keeping K, "whole" on keeping all of it, "half" on keeping half of it, "16
        bit" on keeping half of it in fixed point, for a solver that refines (`packed.error` tells
        how far off it is), "part" on keeping as much of that as fits. False insists on computing
        it anew. None lets the limit decide.
    dtype : dtype, default=None
        Either float32 or float64; None means the precision of the points.
    monitor : Monitor, default=None
        Is told of progress, and may stop the work.

    Returns
    -------
    Gram
        The matrix: it multiplies (`K @ v`), gives rows and blocks, and becomes an array by
        `dense()`.

    Examples
    --------
    >>> from mercer import gram
    >>> from mercer.kernels import Gaussian
    >>> K = gram(Gaussian(gamma=0.5), [[0.0], [1.0], [2.0]])
    >>> K.shape
    (3, 3)
    >>> (K @ [1.0, 0.0, 0.0]).round(3)
    array([1.   , 0.607, 0.135])
    >>> K.explain().kind
    'stored'
    """
    kernel, left, right = _sides(to_kernel(kernel, who="gram"), X, Y)
    wanted = _dtype(dtype, kernel, left, right)
    plan = make_plan(kernel, left, right, wanted, memory_limit, store, use)
    watch = monitor or Monitor()
    if plan.kind == "row blocks":
        return BlocksGram(kernel, left, right, plan, wanted, watch)
    kinds: dict[str, Any] = {
        "stored": StoredGram,
        "half stored": PackedGram,
        "half stored in 16 bits": PackedGram,
        "partly stored in 16 bits": PackedGram,
        "on the fly": TiledGram,
        "precomputed": TiledGram,
        "low rank": FeaturesGram,
        "sparse features": FeaturesGram,
    }
    made: Gram = kinds[plan.kind](kernel, left, right, plan, wanted, watch)
    if isinstance(made, PackedGram):
        made.keep = store is not None
    return made


def gram_family(
    kernels: Sequence[KernelLike],
    X: PointsLike,
    Y: PointsLike | None = None,
    *,
    memory_limit: MemoryLimit = "auto",
    dtype: DTypeLike | None = None,
    monitor: Monitor | None = None,
) -> GramFamily:
    """Return the Gram matrices of several kernels of the same points.

    Statistics that several kernels share, such as squared distances, are computed once.

    Parameters
    ----------
    kernels : sequence of Kernel, str or callable
        The kernels, at least one.
    X : array-like, sequence, data frame or Prepared
        The points of the rows.
    Y : array-like, sequence, data frame or Prepared, default=None
        The points of the columns; None means X.
    memory_limit : int, float or str, default="auto"
        Bytes, as a number or a text such as "2GB"; "auto" is a share of the free memory.
    dtype : dtype, default=None
        Either float32 or float64; None means the precision of the points.
    monitor : Monitor, default=None
        Is told of progress, and may stop the work.

    Returns
    -------
    GramFamily
        The matrices, by position: family[0] is the `Gram` of the first kernel.

    Examples
    --------
    >>> from mercer import gram_family
    >>> from mercer.kernels import Gaussian
    >>> family = gram_family([Gaussian(0.1), Gaussian(1.0)], [[0.0], [1.0]])
    >>> [K.dense().round(2).tolist() for K in (family[0], family[1])]
    [[[1.0, 0.9], [0.9, 1.0]], [[1.0, 0.37], [0.37, 1.0]]]
    """
    if not kernels:
        raise KernelError(sentence("gram_family", "it needs at least one kernel", "none"))
    values = [to_kernel(kernel, who="gram_family") for kernel in kernels]
    first, left, right = _sides(values[0], X, Y)
    others = None if Y is None else right.points
    rest = [_sides(kernel, left.points, others)[0] for kernel in values[1:]]
    wanted = _dtype(dtype, first, left, right)
    plan = make_plan(first, left, right, wanted, memory_limit, store=False)
    return GramFamily([first, *rest], left, right, plan, wanted, monitor or Monitor())


def _sides(kernel: Kernel, X: PointsLike, Y: PointsLike | None) -> tuple[Kernel, View, View]:
    """Return the resolved kernel and both views; Y is the reference of X."""
    for side in (X, Y):
        if isinstance(side, Prepared) and side.kernel != kernel:
            must = f"prepared points come with their kernel, {side.kernel!r}"
            raise KernelError(sentence("gram", must, repr(kernel), "Call prepared.gram(X)."))
    if Y is None:
        prepared = X if isinstance(X, Prepared) else prepare(kernel, X)
        return prepared.kernel, prepared.view, prepared.view
    right = Y.view if isinstance(Y, Prepared) else View(Side(kernel.require_resolved().admit(Y)))
    points = X.points if isinstance(X, Prepared) else kernel.admit(X)
    if isinstance(points, GramRows):
        points = GramRows(points.values)
    return kernel, View(Side(points, right.side)), right


def _dtype(wanted: Any, kernel: Kernel, left: View, right: View) -> np.dtype[Any]:
    """Return the precision of K: that of the points, unless another is asked for."""
    if wanted is None:
        return precision(kernel, left, right)
    found: np.dtype[Any] = np.dtype(wanted)
    if found not in (np.float32, np.float64):
        raise InputError(sentence("gram", "dtype must be float32 or float64", found))
    return found


def evaluate(
    kernel: Kernel, X: PointsLike, Y: PointsLike | None = None, dtype: DTypeLike | None = None
) -> Array:
    """Return K(X, Y) as an array: what `kernel(X, Y)` does."""
    made = gram(kernel, X, Y, store=False, dtype=dtype)
    made.checked = False  # a formula answers with what floating point makes of it
    return made.dense()


register_fast_path(evaluate)
