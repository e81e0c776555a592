"""Losses with a kink, solved through their dual: a quadratic problem in a box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence


@dataclass(frozen=True)
class Hinge:
    """The hinge loss max(0, 1 - y f) for y = -1, 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Hinge
    >>> Hinge().value(np.array([-1.0, 2.0]), np.array([1.0, 1.0]))
    array([2., 0.])
    """

    def value(self, f: Array, y: Array) -> Array:
        """Return the loss of every entry."""
        return np.asarray(np.maximum(0.0, 1 - y * f))


@dataclass(frozen=True)
class EpsilonInsensitive:
    """The loss max(0, |f - y| - epsilon), which allows errors up to epsilon.

    Parameters
    ----------
    epsilon : float, default=0.1
        Size of an error that costs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(0.5).value(np.array([0.25, 2.0]), np.array([0.0, 0.0]))
    array([0. , 1.5])
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        checks.number("EpsilonInsensitive", "epsilon", self.epsilon, least=0)

    def value(self, f: Array, y: Array) -> Array:
        """Return the loss of every entry."""
        return np.asarray(np.maximum(0.0, np.abs(f - y) - self.epsilon))


@dataclass(frozen=True)
class Quantile:
    """The pinball loss max(q e, (q - 1) e) with e = y - f, which makes f the q-quantile of y.

    Parameters
    ----------
    q : float, default=0.5
        The quantile, in (0, 1).

    References
    ----------
    .. [1] R. Koenker, G. Bassett, "Regression quantiles", Econometrica 46 (1978).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Quantile
    >>> Quantile(0.75).value(np.array([0.0, 0.0]), np.array([1.0, -1.0]))
    array([0.75, 0.25])
    """

    q: float = 0.5

    def __post_init__(self) -> None:
        q = checks.number("Quantile", "q", self.q, above=0, most=1)
        if q == 1:
            raise InputError(sentence("Quantile", "q must be below 1", "1"))

    def value(self, f: Array, y: Array) -> Array:
        """Return the loss of every entry."""
        return np.maximum(self.q * (y - f), (self.q - 1) * (y - f))
