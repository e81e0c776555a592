"""Losses that bend smoothly, solved by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit, logsumexp, softmax

from .. import checks
from ..checks import Array, InputError, sentence


class Loss(Protocol):
    """What solvers ask of a loss: three functions of predictions f and targets y of one shape.

    Examples
    --------
    A loss of one's own, twice the squared loss:

    >>> import numpy as np
    >>> from mercer import KernelMachineRegressor
    >>> class Twice:
    ...     def value(self, f, y):
    ...         return (f - y) ** 2
    ...     def gradient(self, f, y):
    ...         return 2 * (f - y)
    ...     def curvature(self, f, y):
    ...         return np.full_like(f, 2.0)
    >>> model = KernelMachineRegressor(Twice()).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.certificate_.status
    'converged'
    """

    def value(self, f: Array, y: Array) -> Array:
        """Compute the loss of each entry.

        Parameters
        ----------
        f : ndarray
            The predictions.
        y : ndarray of the shape of f
            The targets.

        Returns
        -------
        ndarray of the shape of f
            The losses, convex in f.
        """

    def gradient(self, f: Array, y: Array) -> Array:
        """Compute the derivative of the loss in f.

        Parameters
        ----------
        f : ndarray
            The predictions.
        y : ndarray of the shape of f
            The targets.

        Returns
        -------
        ndarray of the shape of f
            The derivatives.
        """

    def curvature(self, f: Array, y: Array) -> Array:
        """Compute the second derivative of the loss in f, or an upper bound of it.

        Parameters
        ----------
        f : ndarray
            The predictions.
        y : ndarray of the shape of f
            The targets.

        Returns
        -------
        ndarray of the shape of f
            The second derivatives, at least 0.
        """


@dataclass(frozen=True)
class Squared:
    """The squared loss 1/2 (f - y)**2.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Squared
    >>> Squared().value(np.array([3.0]), np.array([1.0]))
    array([2.])
    """

    def value(self, f: Array, y: Array) -> Array:
        return (f - y) ** 2 / 2

    def gradient(self, f: Array, y: Array) -> Array:
        return f - y

    def curvature(self, f: Array, y: Array) -> Array:
        return np.ones_like(f)


@dataclass(frozen=True)
class Logistic:
    """The logistic loss log(1 + exp(-y f)) for y = -1, 1.

    It is minus the logarithm of the probability of y.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Logistic
    >>> Logistic().value(np.array([0.0]), np.array([1.0])).round(4)
    array([0.6931])
    """

    def value(self, f: Array, y: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -y * f))

    def gradient(self, f: Array, y: Array) -> Array:
        return np.asarray(-y * expit(-y * f))

    def curvature(self, f: Array, y: Array) -> Array:
        return np.asarray(expit(f) * expit(-f))


@dataclass(frozen=True)
class Softmax:
    """The loss log sum_c exp(f_c) - f_y of several classes together.

    It is minus the logarithm of the probability of the class. Targets have a column per class, 1
    for the class of the point and 0 elsewhere. The curvature couples the columns: diag(p) - p p'
    with p = `probabilities(f)`, which solvers use; `curvature` is its diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Softmax
    >>> Softmax().probabilities(np.zeros((1, 4)))
    array([[0.25, 0.25, 0.25, 0.25]])
    """

    def probabilities(self, f: Array) -> Array:
        """Compute exp(f_c) / sum exp(f).

        Parameters
        ----------
        f : ndarray of shape (n, n_classes)
            The predictions.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The probabilities.
        """
        return np.asarray(softmax(f, axis=1))

    def value(self, f: Array, y: Array) -> Array:
        return np.asarray(logsumexp(f, axis=1, keepdims=True) - (y * f).sum(axis=1, keepdims=True))

    def gradient(self, f: Array, y: Array) -> Array:
        return self.probabilities(f) - y

    def curvature(self, f: Array, y: Array) -> Array:
        p = self.probabilities(f)
        return np.asarray(p * (1 - p))


@dataclass(frozen=True)
class SquaredHinge:
    """The squared hinge loss max(0, 1 - y f)**2 for y = -1, 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import SquaredHinge
    >>> SquaredHinge().value(np.array([-1.0, 2.0]), np.array([1.0, 1.0]))
    array([4., 0.])
    """

    def value(self, f: Array, y: Array) -> Array:
        return np.asarray(np.maximum(0.0, 1 - y * f) ** 2)

    def gradient(self, f: Array, y: Array) -> Array:
        return np.asarray(-2 * y * np.maximum(0.0, 1 - y * f))

    def curvature(self, f: Array, y: Array) -> Array:
        return np.where(y * f < 1, 2.0, 0.0)


@dataclass(frozen=True)
class SmoothedHinge:
    """The hinge loss with its kink rounded to a parabola.

    With s = max(0, 1 - y f) for y = -1, 1 it is s**2 / (2 width) up to s = width, and s - width / 2
    beyond.

    Parameters
    ----------
    width : float, default=0.5
        Width of the parabola, below y f = 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import SmoothedHinge
    >>> SmoothedHinge(0.5).value(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    array([0.75, 0.  ])
    """

    width: float = 0.5

    def __post_init__(self) -> None:
        checks.number("SmoothedHinge", "width", self.width, above=0)

    def value(self, f: Array, y: Array) -> Array:
        short = np.maximum(0.0, 1 - y * f)
        return np.asarray(
            np.where(short < self.width, short**2 / (2 * self.width), short - self.width / 2)
        )

    def gradient(self, f: Array, y: Array) -> Array:
        return np.asarray(-y * np.clip((1 - y * f) / self.width, 0.0, 1.0))

    def curvature(self, f: Array, y: Array) -> Array:
        short = 1 - y * f
        return np.where((short > 0) & (short < self.width), 1 / self.width, 0.0)


@dataclass(frozen=True)
class Huber:
    """Huber's loss: 1/2 e**2 up to |e| = delta, a straight line beyond, with e = f - y.

    Parameters
    ----------
    delta : float, default=1.35
        Size of an error from which on the loss is linear.

    References
    ----------
    .. [1] P. Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics
    35
       (1964).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Huber
    >>> Huber(1.0).value(np.array([0.5, 3.0]), np.array([0.0, 0.0]))
    array([0.125, 2.5  ])
    """

    delta: float = 1.35

    def __post_init__(self) -> None:
        checks.number("Huber", "delta", self.delta, above=0)

    def value(self, f: Array, y: Array) -> Array:
        size = np.abs(f - y)
        return np.asarray(
            np.where(size <= self.delta, size**2 / 2, self.delta * (size - self.delta / 2))
        )

    def gradient(self, f: Array, y: Array) -> Array:
        return np.asarray(np.clip(f - y, -self.delta, self.delta))

    def curvature(self, f: Array, y: Array) -> Array:
        return np.where(np.abs(f - y) < self.delta, 1.0, 0.0)


@dataclass(frozen=True)
class Poisson:
    """The loss exp(f) - y f of counts y >= 0, of which exp(f) is the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Poisson
    >>> Poisson().value(np.array([0.0]), np.array([2.0]))
    array([1.])
    """

    def check(self, who: str, y: Array) -> None:
        """Refuse negative targets.

        Parameters
        ----------
        who : str
            The estimator, for the message.
        y : ndarray
            The targets.

        Raises
        ------
        InputError
            If a target is negative.
        """
        if y.size and y.min() < 0:
            must = "y must not be negative for the Poisson loss"
            raise InputError(sentence(who, must, f"{y.min():g}"))

    def mean(self, f: Array) -> Array:
        """Compute the mean exp(f).

        Parameters
        ----------
        f : ndarray
            The predictions.

        Returns
        -------
        ndarray of the shape of f
            The means.
        """
        return np.asarray(np.exp(f))

    def value(self, f: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(f) - y * f)

    def gradient(self, f: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(f) - y)

    def curvature(self, f: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(f))
