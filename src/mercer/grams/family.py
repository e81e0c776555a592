"""Many kernels of the same points: one pass, every statistic computed once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..checks import Array, InputError, sentence
from ..kernels.base import Kernel
from ..monitor import Monitor
from .engine import NativeTile, program_of, tile
from .kinds.tiled import TiledGram
from .matrix import Gram
from .plan import Plan
from .sides import View
from .sinks import Sink


class GramFamily:
    """Gram matrices of several kernels of the same points, over shared statistics.

    `gram_family` makes it. It serves grids of parameters and searches over kernels.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels, resolved.
    left : View
        The points of the rows.
    right : View
        The points of the columns.
    plan : Plan
        How blocks are computed.
    dtype : dtype
        The precision.
    monitor : Monitor
        Is told of progress, and may stop the work.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        left: View,
        right: View,
        plan: Plan,
        dtype: Any,
        monitor: Monitor,
    ) -> None:
        self.kernels = tuple(kernels)
        self.left, self.right, self.plan = left, right, plan
        self.dtype, self.monitor = np.dtype(dtype), monitor
        self.shape = (len(left), len(right))

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, position: int) -> Gram:
        kernel = self.kernels[position]
        return TiledGram(kernel, self.left, self.right, self.plan, self.dtype, self.monitor)

    def bands(self) -> Iterator[tuple[slice, list[Array]]]:
        """Yield the bands of all kernels for the same rows.

        Yields
        ------
        rows : slice
            Which rows.
        bands : list of ndarray
            These rows for each kernel.
        """
        step = max(1, self.plan.band_rows // (len(self) + 1))
        for start in range(0, self.shape[0], step):
            rows = slice(start, min(start + step, self.shape[0]))
            self.monitor.report("kernels", start / self.shape[0])
            left = self.left.take(rows)
            yield rows, tile(self.kernels, left, self.right, self.dtype, self.monitor)
        self.monitor.report("kernels", 1.0)

    def reduce(self, sinks: Sequence[Sink]) -> list[Any]:
        """Return what each sink makes of the bands of its kernel, in one pass over the points.

        Parameters
        ----------
        sinks : sequence of Sink
            One sink per kernel.

        Returns
        -------
        list
            One result per kernel.
        """
        if len(sinks) != len(self):
            raise InputError(sentence("gram_family", f"it needs {len(self)} sinks", len(sinks)))
        for sink in sinks:
            sink.start(self.shape, self.dtype)
        for rows, bands in self.bands():
            for sink, band in zip(sinks, bands, strict=True):
                sink.take(rows, band)
        return [sink.result() for sink in sinks]

    def dense(self) -> Array:
        """Return all matrices, stacked.

        Returns
        -------
        ndarray of shape (kernels, rows, columns)
            One matrix per kernel.
        """
        out = np.empty((len(self), *self.shape), dtype=self.dtype)
        program = program_of(self.kernels, self.left, self.right)
        if program is not None and not program.recorder.externals:
            views = self.left, self.right
            whole = NativeTile(program, self.kernels, *views, self.dtype, self.monitor)
            whole.store(list(out), self.monitor)
            return out
        for rows, bands in self.bands():
            for position, band in enumerate(bands):
                out[position, rows] = band
        return out

    def weighted(self, weights: Any) -> Gram:
        """Return the Gram of sum_m w_m k_m.

        Parameters
        ----------
        weights : array-like of shape (kernels,)
            The numbers w_m, at least 0.

        Returns
        -------
        Gram
            The Gram of the weighted sum.
        """
        values = np.asarray(weights, dtype=np.float64)
        if values.shape != (len(self),):
            raise InputError(sentence("gram_family", f"it needs {len(self)} weights", values.shape))
        terms = [float(w) * kernel for w, kernel in zip(values, self.kernels, strict=True)]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return TiledGram(total, self.left, self.right, self.plan, self.dtype, self.monitor)
