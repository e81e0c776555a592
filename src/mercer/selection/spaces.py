"""What a search tries: lists of values, bounds, distributions, one number per column."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import numpy as np

from .. import checks
from ..checks import InputError, sentence


class Distribution(Protocol):
    """What values can be drawn from, such as the distributions of scipy.stats."""

    def rvs(self, *, random_state: np.random.RandomState) -> Any:
        """Return one value."""


@dataclass(frozen=True)
class PerColumn:
    """Bounds of a parameter of which every column has its own number.

    In the space of `tune`, {"kernel__gamma": PerColumn(1e-3, 1e3)} searches exp(-sum_c gamma_c (x_c
    - y_c)**2), a Gaussian kernel with a gamma per column: columns that say nothing about y end with
    a gamma near the lower bound. That is known as automatic relevance determination [1]_.

    Parameters
    ----------
    low : float
        Smallest number that a column may have, above 0.
    high : float
        Largest number that a column may have, above `low`.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge, PerColumn, tune
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> space = {"kernel__gamma": PerColumn(1e-4, 10.0), "alpha": (1e-4, 1.0)}
    >>> found = tune(KernelRidge(), X, np.sin(2 * X[:, 1]), space, random_state=0)
    >>> int(np.argmax(found.params["kernel__gamma"]))
    1
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        low = checks.number("PerColumn", "low", self.low, above=0)
        high = checks.number("PerColumn", "high", self.high, above=0)
        if not low < high:
            raise InputError(sentence("PerColumn", "low must be below high", f"{low} and {high}"))
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)


def is_bounds(value: object) -> TypeGuard[tuple[float, float]]:
    """Return whether a value is a pair of numbers: bounds, where a list would be two values."""
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in value)
    )


def is_distribution(value: object) -> TypeGuard[Distribution]:
    """Return whether values can be drawn from it."""
    return callable(getattr(value, "rvs", None))


def check_space(space: object) -> dict[str, Any]:
    """Return the space, or say what it must be."""
    if not isinstance(space, Mapping) or not space:
        must = "space must name the values to try of each parameter"
        advice = 'Write {"C": [1, 10, 100]} for three values, {"C": (1, 100)} for all between.'
        raise InputError(sentence("tune", must, checks.show(space), advice))
    for name, value in space.items():
        if is_bounds(value):
            low, high = (checks.number("tune", f"space[{name!r}]", one) for one in value)
            if not low < high:
                must = f"the bounds space[{name!r}] must be (low, high) with low below high"
                advice = "A list has values to try: [1, 10]."
                raise InputError(sentence("tune", must, checks.show(value), advice))
        elif not (isinstance(value, PerColumn) or is_distribution(value)):
            _check_list(name, value)
    return dict(space)


def _check_list(name: str, values: Any) -> None:
    if isinstance(values, str) or not hasattr(values, "__len__") or len(values) == 0:
        must = f"space[{name!r}] must be a list of one value or more"
        advice = "Or bounds (low, high), PerColumn(low, high), or a distribution of scipy.stats."
        raise InputError(sentence("tune", must, checks.show(values), advice))


def is_grid(space: Mapping[str, Any]) -> bool:
    """Return whether every value is a list."""
    return not any(
        is_bounds(value) or isinstance(value, PerColumn) or is_distribution(value)
        for value in space.values()
    )


def draw(value: Any, random: np.random.Generator, columns: int | None = None) -> Any:
    """Return a value at random; columns: how many numbers `PerColumn` stands for."""
    if isinstance(value, PerColumn):
        found = _between(value.low, value.high, random, columns)
        return tuple(found.tolist())
    if is_bounds(value):
        return float(_between(*value, random, None))
    if is_distribution(value):
        return value.rvs(random_state=np.random.RandomState(random.integers(2**31)))
    return value[int(random.integers(len(value)))]


def _between(low: float, high: float, random: np.random.Generator, size: int | None) -> Any:
    """Return numbers between bounds, evenly by their logarithm where both are above 0."""
    if low > 0:
        return np.exp(random.uniform(math.log(low), math.log(high), size))
    return random.uniform(low, high, size)
