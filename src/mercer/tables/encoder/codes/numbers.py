"""Numbers on one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri

from ....checks import Array
from .sound import is_floats, is_real, require

Method = Literal["standard", "rank", "robust"]
METHODS = ("standard", "rank", "robust")
KNOTS = 1001  # points of an empirical distribution that are kept
BEND = 3.0  # from where on robust numbers are drawn in


@dataclass(frozen=True, kw_only=True, eq=False)
class NumberCode:
    """Numbers on one scale: z = (x - centre) / scale, its bend, or the score of its rank.

    knots, scores: the empirical distribution, where the method is by rank. fill: what stands for a
    missing number.
    """

    method: str
    centre: float
    scale: float
    knots: Array
    scores: Array
    fill: float

    def __post_init__(self) -> None:
        require(self.method in METHODS, "method must be one of a few")
        require(is_real(self.centre) and is_real(self.scale, 0.0), "scale must be above 0")
        require(is_floats(self.knots) and is_floats(self.scores), "knots must be numbers")
        require(len(self.knots) == len(self.scores), "there must be a score per knot")
        require(self.method != "rank" or len(self.knots) > 1, "there must be two knots")
        require(bool((np.diff(self.knots) > 0).all()), "knots must be ascending")
        require(is_real(self.fill), "fill must be a number")

    @property
    def width(self) -> int:
        return 1

    def names(self, label: str) -> list[str]:
        return [label]

    def encode(self, values: Array) -> Array:
        found = np.where(np.isnan(values), self.fill, self.image(values))
        return found[:, None]

    def image(self, values: Array) -> Array:
        """Return what numbers become; NaN stays NaN."""
        if self.method == "rank":
            return np.interp(values, self.knots, self.scores)
        with np.errstate(over="ignore", invalid="ignore"):  # the encoder looks at the end
            z = (values - self.centre) / self.scale
            return z / np.sqrt(1.0 + (z / BEND) ** 2) if self.method == "robust" else z


SMALLEST = 1e-300  # below which numbers cannot be divided by
NEGLIGIBLE = 1e-12  # interquartile range, of the whole range, that is no scale


def learn_numbers(values: Array, method: Method) -> NumberCode | None:
    """Return the code of a column of numbers; None: all that are known are the same."""
    known = values[~np.isnan(values)]
    known = np.where(np.abs(known) < SMALLEST, 0.0, known)
    if len(known) == 0 or known.min() == known.max():
        return None
    knots = scores = np.empty(0)
    centre, scale = 0.0, 1.0
    if method == "rank":
        knots, scores = _distribution(known)
    elif method == "robust":
        low, centre, high = np.quantile(known, [0.25, 0.5, 0.75]).tolist()
        whole = float(known.max() - known.min())
        scale = high - low if high - low > NEGLIGIBLE * whole else whole / 2
    else:
        centre, scale = _moments(known)
    if not is_real(scale, 0.0):
        return None
    plain = NumberCode(
        method=method,
        centre=float(centre),
        scale=float(scale),
        knots=knots,
        scores=scores,
        fill=0.0,
    )
    fill = float(plain.image(np.median(known, keepdims=True))[0])
    return NumberCode(**{**vars(plain), "fill": fill})


def _moments(known: Array) -> tuple[float, float]:
    """Return mean and deviation, which of large numbers are taken on a smaller scale."""
    unit = float(np.abs(known).max())
    return float((known / unit).mean()) * unit, float((known / unit).std()) * unit


def _distribution(known: Array) -> tuple[Array, Array]:
    """Return values and their normal scores: quantiles at the middle of their ranks."""
    knots, counts = np.unique(known, return_counts=True)
    ranks = np.cumsum(counts) - counts / 2.0
    scores = ndtri(ranks / len(known))
    if len(knots) > KNOTS:  # at even steps of the score, so that tails are kept as well
        kept = np.unique(np.searchsorted(scores, np.linspace(scores[0], scores[-1], KNOTS)))
        knots, scores = knots[kept], scores[kept]
    return knots, scores
