"""Kernels of time series."""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from ... import _native
from ...checks import Array, InputError, sentence
from ...inputs import SERIES, Input, Matrix, RowBlocks
from ..base import Kernel
from ..parameters import data_bandwidth, one_bandwidth
from .paired import PairKernel


@dataclass(frozen=True, repr=False)
class GlobalAlignment(PairKernel):
    """The global alignment kernel of time series.

    k(x, y) = sum over all alignments of x and y of the product of e / (2 - e) over the aligned
    pairs (i, j), with e = exp(-gamma ||x_i - y_j||**2). An alignment leads from the first moments
    of both series to the last ones by steps that advance in x, in y, or in both. e / (2 - e) in
    place of e makes k positive definite [1]_. Two series without moments have k = 1; a series
    without moments and another one have k = 0.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="scale"
        Inverse squared width of the local kernel. "scale" is 1 / (d v T), for d values per moment,
        the variance v of all values and the mean length T; "auto" is 1 / d.
    normalize : bool, default=True
        Whether to divide by sqrt(k(x, x) k(y, y)), which stays in range for series of any length.
        The plain sum is refused where k(x, x) is more than a double holds.

    References
    ----------
    .. [1] M. Cuturi, "Fast global alignment kernels", ICML, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import GlobalAlignment
    >>> series = [np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0]), np.array([5.0, 5.0])]
    >>> GlobalAlignment(gamma=1.0)(series).round(3)
    array([[1.   , 0.654, 0.   ],
           [0.654, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    domain = SERIES

    gamma: float | str = "scale"
    normalize: bool = True

    def __post_init__(self) -> None:
        gamma = one_bandwidth("GlobalAlignment", "gamma", self.gamma)
        self._set(gamma=gamma, normalize=bool(self.normalize))

    def pair(self, x: Any, y: Any) -> float:
        self.require_resolved()
        left, right = _rows([x, y])
        with decimal.localcontext(_WIDE):
            value = self._alignments(left, right)
            if self.normalize:
                value /= (self._alignments(left, left) * self._alignments(right, right)).sqrt()
        if math.isinf(float(value)):
            raise _too_large(f"{value:.0e} for series of {len(left)} and {len(right)} moments")
        return float(value)

    def _alignments(self, x: Array, y: Array) -> Decimal:
        """Return the sum over all alignments; sums[j] is that of x up to here and y before j."""
        sums = [Decimal(1)] + [Decimal(0)] * len(y)
        for moment in x:
            row = [Decimal(0)]
            for j, other in enumerate(y):
                difference = moment - other
                e = Decimal(-float(self.gamma * (difference @ difference))).exp()
                row.append((sums[j] + sums[j + 1] + row[j]) * e / (2 - e))
            sums = row
        return sums[-1]

    def encode(self, items: Sequence[Any]) -> _native.SeriesSet:
        rows = _rows(items)
        ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        values = np.concatenate([np.zeros(0), *(item.T.ravel() for item in rows)])
        width = rows[0].shape[1] if rows else 0
        series = _native.SeriesSet(values, ends, width, float(self.gamma))
        series.measure(None)
        own = _own_values(series)
        if not self.normalize and np.isinf(own).any():
            index = int(np.argmax(np.isinf(own)))
            digits = (series.powers[index] + math.log2(series.parts[index])) * math.log10(2)
            what = f"about 1e{digits:.0f} for the series of {len(rows[index])} moments"
            raise _too_large(f"{what} at index {index}")
        return series

    def job(self, left: _native.SeriesSet, right: _native.SeriesSet) -> _native.PairJob:
        if len(left) and len(right) and left.width != right.width:
            got = f"{left.width} and {right.width}"
            raise InputError(
                sentence(
                    "GlobalAlignment", "X and Y must have the same number of values per moment", got
                )
            )
        return _native.AlignmentJob(left, right, self.normalize)

    def matched(self, left: Input, right: Input) -> Array:
        if left is not right:
            return super().matched(left, right)
        return np.ones(len(left)) if self.normalize else _own_values(self.encoded(left))

    def normalized(self) -> Kernel:
        """Return the normalised kernel, which is in range where k(x, x) is not.

        Returns
        -------
        Kernel
            The same kernel with normalize=True.
        """
        return self.replace(normalize=True)

    def from_data(self, name: str, points: Input, weight: Array | None) -> float:
        blocks = points.blocks() if isinstance(points, RowBlocks) else [points]
        rows = _rows([item for block in blocks for item in block.raw])
        if not sum(item.size for item in rows):
            return 1.0
        lengths = np.array([len(item) for item in rows])
        of_moment = None if weight is None else np.repeat(weight, lengths)
        found = data_bandwidth(str(self.gamma), Matrix(np.concatenate(rows)), of_moment)
        length = float(np.average(lengths, weights=weight))
        return found / max(length, 1.0) if self.gamma == "scale" else found


# Enough digits that the definition is right to the last one of a double, and exponents that no
# series runs out of; what is too small becomes 0.
_WIDE = decimal.Context(prec=25, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[])


def _rows(items: Sequence[Any]) -> list[Array]:
    """Return the series as float64 arrays of shape (T, d) of one d."""
    found: list[Array] = []
    for index, item in enumerate(items):
        values = np.asarray(item, dtype=np.float64)
        found.append(values[:, None] if values.ndim == 1 else values)
        if found[index].shape[1] != found[0].shape[1]:
            must = f"every series must have {found[0].shape[1]} values per moment, as the first has"
            got = f"{found[index].shape[1]} at index {index}"
            is_empty = not (len(found[0]) and len(found[index]))
            hint = "A series without moments is np.zeros((0, d))." if is_empty else ""
            raise InputError(sentence("GlobalAlignment", must, got, hint))
    return found


def _own_values(series: _native.SeriesSet) -> Array:
    """Return k(x, x) of every series, infinite where a double cannot hold it."""
    powers = np.minimum(series.powers, 2000.0).astype(np.int64)
    with np.errstate(over="ignore"):
        return np.ldexp(np.array(series.parts, dtype=np.float64), powers)


def _too_large(got: str) -> InputError:
    return InputError(
        sentence(
            "GlobalAlignment",
            "k(x, x) must be below 1.8e308 with normalize=False",
            got,
            "Leave normalize=True, or shorten the series.",
        )
    )
