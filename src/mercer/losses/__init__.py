"""What an error costs: losses of a prediction f for a target y, and how they bend.

A loss is any object with three functions of arrays f and y of one shape,

    value(f, y)       the loss of every entry, convex in f
    gradient(f, y)    its derivative in f
    curvature(f, y)   its second derivative in f, or an upper bound of it, not negative

and, where they are needed, `check(who, y)` to refuse targets and `mean(f)` for what to predict.
Classes come as y = -1 and 1. `mercer.testing.check_loss_conformance` tries a loss of your own.
"""

from .kinked import EpsilonInsensitive, Hinge, Quantile
from .names import KINKED, OF_CLASSES, OF_NUMBERS, LossLike, check_loss, to_loss
from .smooth import (
    Huber,
    Logistic,
    Loss,
    Poisson,
    SmoothedHinge,
    Softmax,
    Squared,
    SquaredHinge,
)

__all__ = [
    "KINKED",
    "OF_CLASSES",
    "OF_NUMBERS",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "LossLike",
    "Poisson",
    "Quantile",
    "SmoothedHinge",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "check_loss",
    "to_loss",
]
