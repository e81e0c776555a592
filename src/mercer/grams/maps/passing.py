"""Matrices whose rows pass by: Gram matrices, and the features of points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from ...checks import Array
from ...inputs import Input, RowBlocks
from ...inputs.blocks import FIRST
from ...kernels.base import Basis, Kernel
from ...monitor import Monitor
from ..finite import roomy
from ..prepared import Prepared, map_basis
from ..sinks import JointSink, Sink, joined, note_rows, rows_known


class Passing(Protocol):
    """A matrix whose rows pass by in bands; a Gram matrix is one."""

    shape: tuple[int, int]

    def bands(self) -> Iterator[tuple[slice, Any]]:
        """Yield bands of rows, in order."""

    def rows(self, rows: slice) -> Any:
        """Return some of the rows."""

    def reduce(self, sink: Sink) -> Any:
        """Return what a sink makes of all bands."""


def mean_of_first(Z: Passing) -> Array:
    """Return the mean of a few of the first rows, near which that of all is likely to be.

    Of sparse rows it is 0, so that they stay sparse.
    """
    some = Z.rows(slice(0, FIRST))
    if scipy.sparse.issparse(some):
        return np.zeros(Z.shape[1])
    return np.asarray(some.mean(axis=0, dtype=np.float64))


class KeptRows:
    """Bands that are kept."""

    def __init__(self, kept: Sequence[tuple[slice, Any]]) -> None:
        self.kept = kept
        self.shape = (kept[-1][0].stop, int(kept[0][1].shape[1]))

    def bands(self) -> Iterator[tuple[slice, Any]]:
        """Yield the bands."""
        return iter(self.kept)

    def rows(self, rows: slice) -> Any:
        """Return some rows of the first band."""
        return self.kept[0][1][rows]

    def reduce(self, sink: Sink) -> Any:
        """Return what a sink makes of all bands."""
        return _passed(sink, self.shape, lambda first: self.bands(), Monitor())


@dataclass(frozen=True, kw_only=True)
class FeatureWork:
    """What is done with a block of points where it lies: phi(x) of its points passes by a sink."""

    kernel: Kernel
    basis: Basis
    at_once: int

    def __call__(self, block: Input, sink: Sink) -> Any:
        shape = (len(block), self.basis.width)
        return _passed(sink, shape, lambda first: self.bands(block), Monitor())

    def bands(self, block: Input) -> Iterator[tuple[slice, Any]]:
        """Yield phi(x) in bands of rows."""
        for first in range(0, len(block), self.at_once):
            rows = slice(first, min(first + self.at_once, len(block)))
            yield rows, self.kernel.expand(roomy(self.kernel, block.take(rows)), self.basis)


class FeatureRows:
    """phi(x) of the training points of a kernel with a finite map, `at_once` rows at a time."""

    def __init__(self, prepared: Prepared, at_once: int, monitor: Monitor) -> None:
        self.prepared, self.at_once, self.monitor = prepared, at_once, monitor
        self.shape = (len(prepared), prepared.map_width() or 0)

    def bands(self) -> Iterator[tuple[slice, Any]]:
        """Yield the features in bands of rows."""
        return self.prepared.map_bands(at_once=self.at_once)

    def rows(self, rows: slice) -> Any:
        """Return the features of some points, not more than a band of them."""
        return next(self.prepared.map_bands(self.prepared.points.take(rows), self.at_once))[1]

    def reduce(self, sink: Sink) -> Any:
        """Return what a sink makes of all bands; of blocks that lie elsewhere, there."""
        points = self.prepared.points
        if not isinstance(points, RowBlocks) or not isinstance(sink, JointSink):
            return _passed(sink, self.shape, self._bands_from, self.monitor)
        if not points.is_remote and self.monitor.stages is None:
            return _passed(sink, self.shape, self._bands_from, self.monitor)
        basis = map_basis(self.prepared)
        work = FeatureWork(kernel=self.prepared.kernel, basis=basis, at_once=self.at_once)
        sink.start(self.shape, np.float64)
        return joined(sink, self.shape, points.each, work, self.monitor)

    def _bands_from(self, first: int) -> Iterator[tuple[slice, Any]]:
        """Yield the features from a row on."""
        if first == 0:
            yield from self.bands()
        elif first < self.shape[0]:
            rest = self.prepared.points.take(slice(first, None))
            for rows, band in self.prepared.map_bands(rest, self.at_once):
                yield slice(first + rows.start, first + rows.stop), band


def _passed(
    sink: Sink,
    shape: tuple[int, int],
    bands_from: Callable[[int], Iterator[tuple[slice, Any]]],
    monitor: Monitor,
) -> Any:
    sink.start(shape, np.float64)
    with monitor.stage("pass") as stage:
        for rows, band in bands_from(rows_known(sink, stage)):
            sink.take(rows, band)
            note_rows(sink, stage, rows)
            monitor.poll()
    return sink.result()
