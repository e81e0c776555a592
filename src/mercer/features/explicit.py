"""The exact map of a kernel that has a finite one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import Array, KernelError, sentence
from ..grams import Prepared
from ..grams.finite import roomy
from ..inputs import GramRows, Input, RowBlocks
from ..kernels import Basis, Kernel, Polynomial
from ..models.base import Certificate
from ..run import Run
from ..status import Status
from ..typing import KernelLike, MemoryLimit
from .base import FeatureMap

BAND = 1 << 18  # numbers that are computed at a time


class ExplicitMap(FeatureMap):
    """The exact map of a kernel: phi(x).phi(y) = k(x, y) to rounding.

    Some kernels are dot products of finitely many features: `Linear`, `Polynomial` (all products of
    up to `degree` columns), those that count parts of objects such as `Spectrum` and
    `WeisfeilerLehman`, and sums, products, powers and other expressions of these [1]_. Features of
    objects are sparse, one column for each part that occurs in a training point; parts that only
    new points have are left out, since no training point shares them.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=None
        A kernel with a finite map (`kernel.has_map()`). None is `Polynomial(2)`.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, the features that are returned among them, as a number or a
        text such as "2GB"; "auto" takes a share of the free memory.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    basis_ : Basis
        Which features there are.
    certificate_ : Certificate
        What the fit cost.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.features import ExplicitMap
    >>> from mercer.kernels import Polynomial, Spectrum
    >>> ExplicitMap(Polynomial(2)).fit_transform([[1.0, 2.0]]).round(3)
    array([[1.   , 1.414, 2.828, 1.   , 2.   , 2.   , 4.   ]])
    >>> counts = ExplicitMap(Spectrum(2)).fit(["abab", "abc"])
    >>> counts.transform(["ab", "bcd"]).toarray()
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """

    basis_: Basis

    def __init__(self, kernel: KernelLike = None, *, memory_limit: MemoryLimit = "auto") -> None:
        self.kernel = kernel
        self.memory_limit = memory_limit

    def _kernel(self) -> Kernel:
        return Polynomial(2) if self.kernel is None else super()._kernel()

    def _learn(self, prepared: Prepared, run: Run) -> None:
        self.basis_ = _basis(prepared, run.who)
        self._prepared = prepared.take(np.arange(1))  # which shows the columns
        if not self.basis_.is_sparse:
            self._require_room(1, prepared.view.dtype)
        self.certificate_ = Certificate(
            status=Status.EXACT,
            plan=f"an exact map with {self.basis_.width} features",
            kernel_entries=0,
            bytes=0,
            seconds=run.seconds,
        )

    def _width(self) -> int:
        return self.basis_.width

    def _is_sparse(self, points: Input) -> bool:
        if self.basis_.is_sparse:
            return True
        first = points.first() if isinstance(points, RowBlocks) else points
        return hasattr(self._expand(first.take(slice(0, 1))), "toarray")  # as of sparse rows

    def _sparse_features(self, points: Input) -> Any:
        return self._expand(points).astype(self._dtype(points), copy=False)

    def _features(self, points: Input, out: Array) -> None:
        step = max(1, BAND // self._width())
        for start in range(0, len(points), step):
            rows = slice(start, start + step)
            out[rows] = self._expand(points.take(rows))

    def _expand(self, points: Input) -> Any:
        return self.kernel_.expand(roomy(self.kernel_, self.kernel_.admit(points)), self.basis_)


def _basis(prepared: Prepared, who: str) -> Basis:
    """Return the features of the kernel on these points, or say what to use instead."""
    kernel, points = prepared.kernel, prepared.points
    if isinstance(points, RowBlocks):
        basis = kernel.basis(points.first())
        if basis is not None and basis.is_sparse:  # which parts there are, all points tell
            basis = kernel.basis(points.take(slice(None)))
    else:
        basis = None if isinstance(points, GramRows) else kernel.basis(points)
    if basis is None:
        must = "the kernel must have a finite map"
        advice = "Use Nystrom(kernel), which has a map for every kernel."
        raise KernelError(sentence(who, must, f"{kernel!r}, whose map is infinite", advice))
    return basis
