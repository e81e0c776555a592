"""From the name or the object that a user gives to a loss, and what a loss must hold."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence
from .kinked import EpsilonInsensitive, Hinge, Quantile
from .smooth import (
    Huber,
    Logistic,
    Loss,
    Poisson,
    SmoothedHinge,
    Squared,
    SquaredHinge,
)

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
