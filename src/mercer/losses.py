"""What an error costs: losses of a prediction f for a target y, and how they bend.

A loss is any object with three functions of arrays f and y of one shape,

    value(f, y)       the loss of every entry, convex in f
    gradient(f, y)    its derivative in f
    curvature(f, y)   its second derivative in f, or an upper bound of it, not negative

and, where they are needed, `check(who, y)` to refuse targets and `mean(f)` for what to predict.
Classes come as y = -1 and 1. `mercer.testing.check_loss_conformance` tries a loss of your own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy.special import expit, logsumexp, softmax

from . import checks
from .checks import Array, InputError, sentence


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
    >>> print(model.certificate_.status)
    converged
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
       35 (1964).

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


# Losses with a kink are solved through their dual, a quadratic problem in a box.


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


KINKED = (Hinge, EpsilonInsensitive, Quantile)
# A name, a loss that bends smoothly, ours or the user's, or one of ours with a kink.
LossLike: TypeAlias = str | Loss | Hinge | EpsilonInsensitive | Quantile
OF_CLASSES: dict[str, Any] = {
    "squared": Squared(),
    "logistic": Logistic(),
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "smoothed_hinge": SmoothedHinge(),
}
OF_NUMBERS: dict[str, Any] = {
    "squared": Squared(),
    "huber": Huber(),
    "epsilon_insensitive": EpsilonInsensitive(),
    "quantile": Quantile(),
    "poisson": Poisson(),
}


def to_loss(who: str, loss: LossLike, named: dict[str, Any]) -> Any:
    """Return the loss that a parameter stands for.

    Parameters
    ----------
    who : str
        The caller, for the message.
    loss : str or loss object
        A name, or an object with the methods value, gradient and curvature.
    named : dict
        The losses that a name may stand for.

    Returns
    -------
    loss object
        The loss.

    Raises
    ------
    InputError
        If it is neither a known name nor an object with these methods.

    Examples
    --------
    >>> from mercer.losses import OF_NUMBERS, to_loss
    >>> to_loss("example", "huber", OF_NUMBERS)
    Huber(delta=1.35)
    """
    if isinstance(loss, str):
        return named[checks.one_of(who, "loss", loss, tuple(named))]
    if isinstance(loss, KINKED):
        return loss
    missing = [name for name in ("value", "gradient", "curvature") if not hasattr(loss, name)]
    if missing or isinstance(loss, type):
        must = "a loss must be one of " + ", ".join(named) + " or an object with value, gradient "
        must += "and curvature of (f, y)"
        got = f"{checks.show(loss)} without {', '.join(missing)}" if missing else checks.show(loss)
        raise InputError(sentence(who, must, got))
    return loss


STEP = 1e-5  # of the differences that gradients are compared with
ROUGH = 1e-4  # difference that is no longer rounding


def check_loss(who: str, loss: Loss, y: Array) -> None:
    """Refuse a loss whose gradient is not that of its value, or that is not convex.

    It is tried at some of the targets, for predictions between -3 and 3.

    Parameters
    ----------
    who : str
        The caller, for the message.
    loss : Loss
        The loss.
    y : ndarray of shape (n, n_outputs)
        The targets.

    Raises
    ------
    InputError
        If a check fails.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Squared, check_loss
    >>> check_loss("example", Squared(), np.zeros((3, 1)))
    """
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), 8)).astype(int))
    for shift in np.linspace(-3, 3, 12):
        some = np.asarray(y[rows], dtype=np.float64)
        f = np.full_like(some, shift) + 0.01 * np.arange(some.shape[1])
        value, slope, bend = loss.value(f, some), loss.gradient(f, some), loss.curvature(f, some)
        for name, found in (("gradient", slope), ("curvature", bend)):
            if np.shape(found) != f.shape or not np.isfinite(found).all():
                must = f"the {name} of a loss must be finite, of the shape of f"
                raise InputError(sentence(who, must, f"shape {np.shape(found)} for {f.shape}"))
        if np.shape(value) not in (f.shape, (len(f), 1)) or not np.isfinite(value).all():
            must = "the value of a loss must be finite, of the shape of f"
            raise InputError(sentence(who, must, f"shape {np.shape(value)} for {f.shape}"))
        if (bend < 0).any():
            raise InputError(
                sentence(who, "the curvature of a loss must not be negative", f"{bend.min():g}")
            )
        _compare(who, loss, f, some, slope)


def _compare(who: str, loss: Loss, f: Array, y: Array, slope: Array) -> None:
    """Compare gradients with differences of values, column by column, and with each other."""
    for column in range(f.shape[1]):
        move = np.zeros_like(f)
        move[:, column] = STEP
        above, below = loss.value(f + move, y), loss.value(f - move, y)
        wanted = (above - below).sum(axis=1) / (2 * STEP)
        rises = loss.gradient(f + move, y)[:, column] - loss.gradient(f - move, y)[:, column]
        scale = 1 + np.abs(wanted)
        # At a kink of the slope a difference lies between the slopes on both sides.
        off = np.abs(slope[:, column] - wanted) - np.abs(rises)
        if (off > ROUGH * scale).any():
            worst = int(np.argmax(off / scale))
            raise InputError(
                sentence(
                    who,
                    "the gradient of a loss must be the derivative of its value",
                    f"{slope[worst, column]:g} where values rise by {wanted[worst]:g} "
                    f"(f = {f[worst, column]:g}, y = {y[worst, column]:g})",
                    "mercer.testing.check_loss_conformance tries a loss.",
                )
            )
        if (rises < -ROUGH * scale * STEP).any():
            worst = int(np.argmin(rises))
            raise InputError(
                sentence(
                    who,
                    "a loss must be convex in f: its gradient must not fall",
                    f"a fall of {-rises[worst]:g} at f = {f[worst, column]:g}",
                )
            )
