"""Kernels of powers of the distances in single columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import checks
from ...checks import Array, InputError, sentence
from ...inputs import ROWS, Input, RowBlocks
from ..algebra import HIGHEST
from ..base import Kernel
from ..pairs import Pairs, as_matrix, column_weights, decay_distance, power_distance, times_columns
from ..parameters import Bandwidth, data_bandwidth, data_length, each_length, lengths


@dataclass(frozen=True, repr=False)
class LpNorm(Kernel):
    """The kernel of a power of the p-norm distance, which has Laplacian and Gaussian as ends.

    k(x, y) = exp(-(||x - y||_p / length_scale)**q) with ||z||_p = (sum_c |z_c|**p)**(1/p). It is
    positive definite if 0 < q <= p <= 2 [1]_, and other values are refused. p = q = 1 is
    `Laplacian`, p = q = 2 is `Gaussian`, p = 2 with q = 1 is `Exponential`.

    Parameters
    ----------
    p : float, default=1.0
        Exponent of the columns, above 0 and at most 2.
    q : float, default=1.0
        Exponent of the norm, above 0 and at most p.
    length_scale : float, tuple of float, "scale" or "auto", default=1.0
        Unit of distance, one for all columns or one per column. "scale" is d**(1/p) std(X) and
        "auto" is d**(1/p), for d columns.

    References
    ----------
    .. [1] I. J. Schoenberg, "Metric spaces and positive definite functions", Transactions of the
       American Mathematical Society, 1938.

    Examples
    --------
    >>> from mercer.kernels import LpNorm
    >>> LpNorm(p=1.5, q=1.0, length_scale=4.0)([[0.0, 0.0], [1.0, 4.0]]).round(3)
    array([[1.   , 0.339],
           [0.339, 1.   ]])
    """

    domain = ROWS

    p: float = 1.0
    q: float = 1.0
    length_scale: Bandwidth = 1.0

    def __post_init__(self) -> None:
        p = checks.number("LpNorm", "p", self.p, above=0, most=2, advice=_INDEFINITE)
        q = checks.number("LpNorm", "q", self.q, above=0)
        if q > p:
            raise InputError(sentence("LpNorm", "q must be at most p", f"{q:g} > {p:g}", _CONCAVE))
        found = lengths("LpNorm", "length_scale", self.length_scale, words=True)
        self._set(p=p, q=q, length_scale=found)

    def profile(self, pairs: Pairs) -> Any:
        p, share = float(self.p), float(self.q) / float(self.p)
        total = pairs.sum(power_distance(p), each_length(lambda one: one**-p, self.length_scale))
        if share == 1.0:
            return np.exp(-total)
        return np.exp(-(np.sqrt(total) if share == 0.5 else total**share))

    def from_data(self, name: str, points: Input, weight: Array | None) -> float:
        found = data_bandwidth(str(self.length_scale), points, weight, power=0.5 * self.p)
        return float(found ** (-1.0 / self.p))


_INDEFINITE = "Above 2 the kernel is not positive definite."
_CONCAVE = "Only then is exp(-d**q) positive definite for the distance d of the p-norm."


@dataclass(frozen=True, repr=False)
class SumPower(Kernel):
    """A power of the mean of kernels of single columns: columns act alone and in small groups.

    k(x, y) = ((1 - constant) mean_c exp(-(|x_c - y_c| / length_scale_c)**q) + constant)**power.
    Multiplied out it is a sum over groups of up to `power` columns, as in the analysis of variance
    [1]_; the constant gives weight to the smaller groups.

    Parameters
    ----------
    q : float, default=1.0
        Exponent of the distance in a column, above 0 and at most 2.
    power : int, default=2
        How many columns act together at most, from 1 to 1000.
    constant : float, default=0.0
        Weight of groups of fewer columns, at least 0 and below 1.
    length_scale : float, tuple of float, "scale" or "auto", default=1.0
        Unit of distance, one for all columns or one per column. "scale" is std(X) and "auto" is 1.

    References
    ----------
    .. [1] D. Duvenaud, H. Nickisch, C. E. Rasmussen, "Additive Gaussian processes", NIPS, 2011.

    Examples
    --------
    >>> from mercer.kernels import SumPower
    >>> SumPower(q=1.0, power=2)([[0.0, 0.0], [0.0, 1.0]]).round(3)
    array([[1.   , 0.468],
           [0.468, 1.   ]])
    """

    domain = ROWS

    q: float = 1.0
    power: int = 2
    constant: float = 0.0
    length_scale: Bandwidth = 1.0

    def __post_init__(self) -> None:
        constant = checks.number("SumPower", "constant", self.constant, least=0, most=1)
        if constant == 1.0:
            must = "constant must be below 1, or the kernel is 1 for all points"
            raise InputError(sentence("SumPower", must, "1"))
        self._set(
            q=checks.number("SumPower", "q", self.q, above=0, most=2, advice=_INDEFINITE),
            power=checks.whole("SumPower", "power", self.power, least=1, most=HIGHEST),
            constant=constant,
            length_scale=lengths("SumPower", "length_scale", self.length_scale, words=True),
        )

    def profile(self, pairs: Pairs) -> Any:
        scale = np.asarray(self.length_scale, dtype=np.float64)
        seen = pairs if np.all(scale == 1.0) and scale.ndim == 0 else pairs.of(self.scaled)
        gaps = seen.sum(decay_distance(float(self.q)))  # the mean is 1 - gaps / d
        return (1.0 - (1.0 - self.constant) * (gaps / max(seen.n_columns, 1))) ** self.power

    def scaled(self, points: Input) -> Input:
        """Return the points in units of the length scales.

        Parameters
        ----------
        points : Input
            Rows of numbers.

        Returns
        -------
        Input
            The rows with every column divided by its length scale.
        """
        if isinstance(points, RowBlocks):
            return points.mapped(self.scaled)
        rows = as_matrix(points)
        return times_columns(rows, self._factors(rows.n_columns))

    def pullback(self, points: Input, slopes: Array) -> Array:
        """Return derivatives by the columns of points, from those by the scaled columns.

        Parameters
        ----------
        points : Input
            Rows of numbers.
        slopes : ndarray of shape (n, d)
            Derivatives by what `scaled` returns.

        Returns
        -------
        ndarray of shape (n, d)
            The same by the chain rule for the points.
        """
        return np.asarray(slopes * self._factors(slopes.shape[1]))

    def _factors(self, columns: int) -> Array:
        if isinstance(self.length_scale, tuple):
            return 1.0 / column_weights(self.length_scale, columns)
        return np.full(columns, 1.0 / float(self.length_scale))

    def from_data(self, name: str, points: Input, weight: Array | None) -> float:
        return data_length(str(self.length_scale), points, weight)
