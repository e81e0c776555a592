"""Features that are waves: cosines and sines of the products of points with frequencies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from ... import _native
from ...checks import Array
from ...inputs import Matrix
from ...monitor import Monitor
from ..engine import pack_rows, product, run

QUARTER_TURNS = 2.0 / np.pi  # of a radian
MOST_ANGLE = 1e4  # radians, beyond which single precision leaves an angle too few digits
TOGETHER = 1 << 24  # numbers of the points that are packed together


@dataclass(frozen=True, kw_only=True, eq=False)
class Waves(ABC):
    """phi(x) with one or two features per frequency v_j.

    With phases b_j a feature is amplitude_j cos(v_j . (x - centre) + b_j); without them, an empty
    array, the first half of the features are amplitude_j cos(v_j . (x - centre)), the second half
    the sines.
    """

    amplitudes: Array
    phases: Array
    centre: Array

    @property
    def width(self) -> int:
        """The number of features."""
        return len(self.amplitudes) if len(self.phases) else 2 * len(self.amplitudes)

    @property
    def bytes(self) -> int:
        """What the map keeps."""
        return sum(int(getattr(self, one.name).nbytes) for one in fields(self))

    @property
    @abstractmethod
    def frequencies(self) -> Array:
        """All frequencies, one per row."""

    @abstractmethod
    def _of(self, kind: Any, dtype: np.dtype[Any]) -> Any:
        """Return the native map; kind: its class."""

    @property
    @abstractmethod
    def _scale(self) -> Array | None:
        """What each column of the points is multiplied by before the frequencies."""

    @property
    @abstractmethod
    def _typical(self) -> float:
        """The length of a typical frequency, in units of the columns that have been scaled."""

    @cached_property
    def _native(self) -> dict[str, Any]:
        return {}

    def features(self, points: Matrix, out: Array, monitor: Monitor) -> None:
        """Write phi of every point into `out`, in the precision of `out` where it suffices."""
        dtype = out.dtype if self._suits(out.dtype, points) else np.dtype(np.float64)
        direct = out.dtype == dtype and out.flags.c_contiguous
        made = self._made(dtype)
        for rows, packed in _packed(self, points, dtype):
            part = out[rows] if direct else np.empty((rows.stop - rows.start, self.width), dtype)
            run(monitor, lambda stop, a=packed, b=part: made.store(a, b, stop))  # type: ignore[misc]
            if not direct:
                out[rows] = part

    def product(self, points: Matrix, V: Array, monitor: Monitor) -> Array:
        """Return phi(x) V of every point, without keeping phi."""
        dtype = points.dtype if self._suits(points.dtype, points) else np.dtype(np.float64)
        out = np.empty((len(points), *V.shape[1:]))
        for rows, packed in _packed(self, points, dtype):
            count = rows.stop - rows.start
            out[rows] = product(_Packed(self._made(dtype), packed), count, V, monitor)
        return out

    def pullback(self, points: Matrix, slopes: Array) -> Array:
        """Return derivatives by the columns of points, from those by the features."""
        angles = (points.dense().astype(np.float64) - self.centre) @ self.frequencies.T
        if len(self.phases):
            by_angle = -slopes * np.sin(angles + self.phases)
        else:
            by_cosine, by_sine = np.hsplit(slopes, 2)
            by_angle = by_sine * np.cos(angles) - by_cosine * np.sin(angles)
        return np.asarray((by_angle * self.amplitudes) @ self.frequencies)

    def _suits(self, dtype: np.dtype[Any], points: Matrix) -> bool:
        """Return whether angles keep enough digits in a precision."""
        if dtype == np.float64:
            return True
        if dtype != np.float32 or len(points) == 0:
            return False
        values = points.values.data if points.is_sparse else points.values
        scale = 1.0 if self._scale is None else float(self._scale.max())
        ends = [values.min(initial=0.0), values.max(initial=0.0)]
        largest = max(abs(float(end)) for end in ends) + float(np.abs(self.centre).max(initial=0.0))
        return bool(scale * largest * self._typical <= MOST_ANGLE)

    def _made(self, dtype: np.dtype[Any]) -> Any:
        kind = _native.Waves32 if dtype == np.float32 else _native.Waves64
        if dtype.char not in self._native:
            self._native[dtype.char] = self._of(kind, dtype)
        return self._native[dtype.char]

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


def _common(waves: Waves, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    phases = (waves.phases * QUARTER_TURNS) % 4.0
    return waves.amplitudes.astype(dtype), phases.astype(dtype)


def _packed(waves: Waves, points: Matrix, dtype: np.dtype[Any]) -> Iterator[tuple[slice, Any]]:
    """Yield points packed for the engine, some rows at a time."""
    step = max(1, TOGETHER // max(points.n_columns, 1))
    for start in range(0, len(points), step):
        rows = slice(start, min(start + step, len(points)))
        some = points if step >= len(points) else points.take(rows)
        yield rows, pack_rows(some, dtype, waves.centre, waves._scale)


class _Packed:
    """A native map of packed points, as a matrix that multiplies."""

    def __init__(self, made: Any, points: Any) -> None:
        self.made, self.points = made, points

    def multiply(self, V: Array, out: Array, stop: Any) -> bool:
        return bool(self.made.multiply(self.points, V, out, stop))


@dataclass(frozen=True, kw_only=True, eq=False)
class PlainWaves(Waves):
    """Frequencies as they are, one per row."""

    rows: Array

    @property
    def frequencies(self) -> Array:
        return self.rows

    @property
    def _scale(self) -> Array | None:
        return None

    @cached_property
    def _typical(self) -> float:
        return float(np.median(np.abs(self.rows).sum(axis=1)))

    def _of(self, kind: Any, dtype: np.dtype[Any]) -> Any:
        packed = pack_rows(Matrix(self.rows * QUARTER_TURNS), dtype, None, None)
        return kind(packed, *_common(self, dtype))


@dataclass(frozen=True, kw_only=True, eq=False)
class RotatedWaves(Waves):
    """Frequencies that are orthogonal in groups: the rows of diag(radii) Q diag(scale).

    Q = H D3 H D2 H D1 of a Hadamard matrix H, scaled so that its rows have length 1, and diagonal
    matrices of signs; it is applied in p log p steps, p being the columns of the points, rounded up
    to a power of two, at least 8.

    signs: (groups, 3, p). radii: one per frequency. scale: one per column of the points.
    """

    signs: Array
    radii: Array
    scale: Array

    @property
    def size(self) -> int:
        """The number of rows of H."""
        return int(self.signs.shape[2])

    @property
    def frequencies(self) -> Array:
        H = scipy.linalg.hadamard(self.size).astype(np.float64)
        groups = [H @ (D3[:, None] * (H @ (D2[:, None] * (H * D1)))) for D1, D2, D3 in self.signs]
        whole = np.vstack(groups)[: len(self.radii), : len(self.scale)]
        return np.asarray(whole * (self.radii[:, None] * self.size**-1.5) * self.scale)

    @property
    def _scale(self) -> Array | None:
        return self.scale

    @cached_property
    def _typical(self) -> float:
        return float(np.median(self.radii)) * float(np.sqrt(len(self.scale)))

    def _of(self, kind: Any, dtype: np.dtype[Any]) -> Any:
        radii = self.radii * (self.size**-1.5 * QUARTER_TURNS)
        return kind.rotated(
            len(self.scale),
            self.size,
            self.signs.astype(dtype).ravel(),
            radii.astype(dtype),
            *_common(self, dtype),
        )
