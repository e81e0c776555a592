"""Kernels of a distance between rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from math import gamma as gamma_function
from typing import Any

import numpy as np

from ... import checks
from ...checks import Array, InputError, sentence
from ...inputs import ROWS, Input, Matrix
from ..base import Kernel
from ..pairs import ABSOLUTE, SQUARED, Pairs, Weights, as_matrix, column_weights
from ..parameters import Bandwidth, bandwidth, data_bandwidth, each_length, lengths


@dataclass(frozen=True, repr=False)
class Gaussian(Kernel):
    """The Gaussian kernel, also called the radial basis function (RBF) kernel.

    k(x, y) = exp(-gamma ||x - y||**2), or exp(-sum_c gamma_c (x_c - y_c)**2) with one gamma per
    column. Its feature space has infinite dimension, and it is universal: it can approximate any
    continuous function on a compact set [1]_.

    Parameters
    ----------
    gamma : float, tuple of float, "scale" or "auto", default="scale"
        Inverse squared width, one for all columns or one per column. "scale" is 1 / (d var(X)) and
        "auto" is 1 / d, for d columns; both are settled on the training data.
    sigma : float or tuple of float, default=None
        Another way to give gamma: gamma = 1 / (2 sigma**2).

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, "Learning with Kernels", 2002.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> Gaussian(gamma=0.5)([[0.0], [1.0], [2.0]]).round(3)
    array([[1.   , 0.607, 0.135],
           [0.607, 1.   , 0.607],
           [0.135, 0.607, 1.   ]])
    >>> Gaussian(sigma=1.0)
    Gaussian(gamma=0.5)
    """

    domain = ROWS

    gamma: Bandwidth = "scale"
    sigma: InitVar[float | Sequence[float] | None] = None

    def __post_init__(self, sigma: float | Sequence[float] | None) -> None:
        gamma: Any = self.gamma
        if sigma is not None:
            if not isinstance(gamma, str) or gamma != "scale":
                raise InputError(
                    sentence("Gaussian", "give gamma or sigma", f"gamma={gamma!r}, sigma={sigma!r}")
                )
            gamma = each_length(lambda one: 0.5 / one / one, lengths("Gaussian", "sigma", sigma))
        self._set(gamma=bandwidth("Gaussian", "gamma", gamma))

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(-pairs.sum(SQUARED, self.gamma))


@dataclass(frozen=True, repr=False)
class Laplacian(Kernel):
    """The Laplacian kernel, whose value falls with the L1 distance of two points.

    k(x, y) = exp(-gamma ||x - y||_1), or exp(-sum_c gamma_c |x_c - y_c|) with one gamma per column.
    Its functions are less smooth than those of `Gaussian`, see [1]_.

    Parameters
    ----------
    gamma : float, tuple of float, "scale" or "auto", default="scale"
        Inverse width, one for all columns or one per column. "scale" is 1 / (d std(X)) and "auto"
        is 1 / d, for d columns; both are settled on the training data.

    References
    ----------
    .. [1] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS, 2007.

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    domain = ROWS

    gamma: Bandwidth = "scale"

    def __post_init__(self) -> None:
        self._set(gamma=bandwidth("Laplacian", "gamma", self.gamma))

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(-pairs.sum(ABSOLUTE, self.gamma))

    def from_data(self, name: str, points: Input, weight: Array | None) -> float:
        return data_bandwidth(str(self.gamma), points, weight, power=0.5)


@dataclass(frozen=True, repr=False)
class _LengthScale(Kernel):
    """A kernel of r = ||x - y|| / length_scale; "scale" is the length sqrt(d var(X))."""

    domain = ROWS

    def from_data(self, name: str, points: Input, weight: Array | None) -> float:
        return float(data_bandwidth(getattr(self, name), points, weight) ** -0.5)


@dataclass(frozen=True, repr=False)
class Exponential(_LengthScale):
    """The exponential kernel, whose value falls with the Euclidean distance of two points.

    k(x, y) = exp(-||x - y|| / length_scale). It is Matern(nu=0.5), the roughest of the Matérn
    kernels: its functions are continuous and have no derivative [1]_.

    Parameters
    ----------
    length_scale : float, tuple of float, "scale" or "auto", default=1.0
        Unit of distance, one for all columns or one per column. "scale" is sqrt(d var(X)) and
        "auto" is sqrt(d), for d columns.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006.

    Examples
    --------
    >>> from mercer.kernels import Exponential
    >>> Exponential(length_scale=5.0)([[0.0, 0.0], [3.0, 4.0]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    length_scale: Bandwidth = 1.0

    def __post_init__(self) -> None:
        found = lengths("Exponential", "length_scale", self.length_scale, words=True)
        self._set(length_scale=found)

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(-np.sqrt(pairs.sum(SQUARED, _inverse_squares(self.length_scale))))


@dataclass(frozen=True, repr=False)
class Matern(_LengthScale):
    """The Matérn kernel, whose smoothness is a parameter.

    With r = ||x - y|| / length_scale and s = sqrt(2 nu) r,

    k(x, y) = 2**(1 - nu) / Gamma(nu) s**nu K_nu(s),

    where K_nu is the modified Bessel function of the second kind [1]_. nu = 1/2 gives exp(-r), nu =
    3/2 gives (1 + s) exp(-s), nu = 5/2 gives (1 + s + s**2 / 3) exp(-s); for large nu it approaches
    Gaussian(sigma=length_scale).

    Parameters
    ----------
    nu : float, default=1.5
        Smoothness, above 0 and at most 40.
    length_scale : float, tuple of float, "scale" or "auto", default=1.0
        Unit of distance, one for all columns or one per column. "scale" is sqrt(d var(X)) and
        "auto" is sqrt(d), for d columns.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006.

    Examples
    --------
    >>> from mercer.kernels import Matern
    >>> Matern(nu=1.5, length_scale=2.0)([[0.0], [1.0], [2.0]]).round(3)
    array([[1.   , 0.785, 0.483],
           [0.785, 1.   , 0.785],
           [0.483, 0.785, 1.   ]])
    """

    nu: float = 1.5
    length_scale: Bandwidth = 1.0

    def __post_init__(self) -> None:
        self._set(
            nu=checks.number("Matern", "nu", self.nu, above=0, most=40, advice=_SMOOTH),
            length_scale=lengths("Matern", "length_scale", self.length_scale, words=True),
        )

    def profile(self, pairs: Pairs) -> Any:
        s = np.sqrt(2.0 * self.nu * pairs.sum(SQUARED, _inverse_squares(self.length_scale)))
        if self.nu == 0.5:
            return np.exp(-s)
        if self.nu == 1.5:
            return (1.0 + s) * np.exp(-s)
        if self.nu == 2.5:
            return (1.0 + s + s * s / 3.0) * np.exp(-s)
        return pairs.apply(_Bessel(self.nu), s)


_SMOOTH = "A Matern kernel as smooth as that is nearly Gaussian(sigma=length_scale)."


@dataclass(frozen=True)
class _Bessel:
    """The general form of the Matérn kernel, as a function of s, and its derivative."""

    nu: float

    def __call__(self, s: Array) -> Array:
        """Return its values; 1 to rounding where K_nu overflows, 0 far out; NaN stays."""
        from scipy.special import kv  # here, because loading it takes longer than all of mercer

        s = np.minimum(s, 1e3)
        bessel = kv(self.nu, s)
        return np.where(np.isinf(bessel), 1.0, self._factor * s**self.nu * bessel)

    def slope(self, s: Array) -> Array:
        """Return -c s**nu K_(nu - 1)(s), since (s**nu K_nu(s))' = -s**nu K_(nu - 1)(s); 0 at 0."""
        from scipy.special import kv

        s = np.minimum(s, 1e3)
        bessel = kv(self.nu - 1.0, np.where(s > 0, s, 1.0))
        return np.where((s > 0) & np.isfinite(bessel), -self._factor * s**self.nu * bessel, 0.0)

    @property
    def _factor(self) -> float:
        return float(2.0 ** (1.0 - self.nu) / gamma_function(self.nu))


@dataclass(frozen=True, repr=False)
class RationalQuadratic(_LengthScale):
    """The rational quadratic kernel, a mixture of Gaussian kernels of many widths.

    k(x, y) = (1 + r**2 / (2 alpha))**-alpha with r = ||x - y|| / length_scale. It approaches
    Gaussian(sigma=length_scale) as alpha grows, see [1]_.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of large distances: the smaller, the slower the kernel falls. Above 0.
    length_scale : float, tuple of float, "scale" or "auto", default=1.0
        Unit of distance, one for all columns or one per column. "scale" is sqrt(d var(X)) and
        "auto" is sqrt(d), for d columns.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006.

    Examples
    --------
    >>> from mercer.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=1.0)([[0.0], [1.0], [2.0]]).round(3)
    array([[1.   , 0.667, 0.333],
           [0.667, 1.   , 0.667],
           [0.333, 0.667, 1.   ]])
    """

    alpha: float = 1.0
    length_scale: Bandwidth = 1.0

    def __post_init__(self) -> None:
        self._set(
            alpha=checks.number("RationalQuadratic", "alpha", self.alpha, above=0),
            length_scale=lengths(
                "RationalQuadratic", "length_scale", self.length_scale, words=True
            ),
        )

    def profile(self, pairs: Pairs) -> Any:
        square = pairs.sum(SQUARED, _inverse_squares(self.length_scale))
        return (1.0 + square / (2.0 * self.alpha)) ** -self.alpha


@dataclass(frozen=True, repr=False)
class Periodic(Kernel):
    """The periodic kernel: the Gaussian kernel of points laid on circles.

    k(x, y) = exp(-2 sum_c sin(pi (x_c - y_c) / period_c)**2 / length_scale**2). Column c becomes
    the two columns cos and sin of 2 pi x_c / period_c, see [1]_.

    Parameters
    ----------
    period : float or tuple of float, default=1.0
        Distance after which values repeat, one for all columns or one per column.
    length_scale : float, default=1.0
        Width of the kernel within one period: the smaller, the faster it falls.

    References
    ----------
    .. [1] D. J. C. MacKay, "Introduction to Gaussian processes", in "Neural Networks and Machine
       Learning", Springer, 1998.

    Examples
    --------
    >>> from mercer.kernels import Periodic
    >>> Periodic(period=24.0)([[1.0], [13.0], [25.0]]).round(3)
    array([[1.   , 0.135, 1.   ],
           [0.135, 1.   , 0.135],
           [1.   , 0.135, 1.   ]])
    """

    domain = ROWS

    period: Bandwidth = 1.0
    length_scale: float = 1.0

    def __post_init__(self) -> None:
        self._set(
            period=lengths("Periodic", "period", self.period),
            length_scale=checks.number("Periodic", "length_scale", self.length_scale, above=0),
        )

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(pairs.of(self.circle).sum(SQUARED, -0.5 / self.length_scale**2))

    def circle(self, points: Input) -> Matrix:
        """Return the points on their circles, two columns for each column.

        Parameters
        ----------
        points : Input
            Rows of numbers.

        Returns
        -------
        Matrix
            The cosines of all columns, then their sines.
        """
        rows = as_matrix(points).dense()
        period: Any = self.period
        if isinstance(period, tuple):
            period = column_weights(period, rows.shape[1])
        circle = np.empty((len(rows), 2 * rows.shape[1]))
        cosine, angle = circle[:, : rows.shape[1]], circle[:, rows.shape[1] :]
        # The remainder first: an angle of many turns would lose digits.
        np.remainder(rows, period, out=angle)
        angle *= 2.0 * np.pi / period
        np.cos(angle, out=cosine)
        np.sin(angle, out=angle)
        return Matrix(circle)

    def pullback(self, points: Input, slopes: Array) -> Array:
        """Return derivatives by the columns of points, from those by the columns of their circles.

        Parameters
        ----------
        points : Input
            Rows of numbers.
        slopes : ndarray of shape (n, 2 d)
            Derivatives by what `circle` returns.

        Returns
        -------
        ndarray of shape (n, d)
            The same by the chain rule for the points.
        """
        cosine, sine = np.hsplit(self.circle(points).values, 2)
        by_cosine, by_sine = np.hsplit(slopes, 2)
        return np.asarray((by_sine * cosine - by_cosine * sine) * (2.0 * np.pi / self._periods()))

    def tangent(self, points: Input) -> Array:
        """Return the derivative of every column of `circle` by the period of its column.

        Parameters
        ----------
        points : Input
            Rows of numbers.

        Returns
        -------
        ndarray of shape (n, 2 d)
            The derivatives of the cosines, then those of the sines.
        """
        cosine, sine = np.hsplit(self.circle(points).values, 2)
        turning = as_matrix(points).dense() * (2.0 * np.pi / self._periods() ** 2)
        return np.hstack([sine * turning, -cosine * turning])

    def _periods(self) -> Any:
        return np.array(self.period) if isinstance(self.period, tuple) else self.period


def _inverse_squares(length: Bandwidth) -> Weights:
    weights: Weights = each_length(lambda one: 1.0 / one / one, length)
    return weights
