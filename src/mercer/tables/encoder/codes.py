"""How the values of a column become numbers: one record per rule, which a model file can hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri

from ...checks import Array
from .clock import PERIODS, is_zone, phases

Method = Literal["standard", "rank", "robust"]
METHODS = ("standard", "rank", "robust")
KNOTS = 1001  # points of an empirical distribution that are kept
BEND = 3.0  # from where on robust numbers are drawn in


def require(holds: bool, what: str) -> None:
    """Refuse a field of a record that no fit would have set, as a file may have."""
    if not holds:
        raise ValueError(what)


def is_real(value: object, above: float = -math.inf) -> bool:
    """Return whether this is a finite number above a bound."""
    return isinstance(value, float | int) and math.isfinite(value) and value > above


def is_floats(value: object, dimensions: int = 1) -> bool:
    """Return whether this is an array of finite numbers in double precision."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.ndim == dimensions
        and bool(np.isfinite(value).all())
    )


def is_texts(value: object) -> bool:
    """Return whether this is a tuple of distinct texts."""
    if not isinstance(value, tuple) or not all(isinstance(text, str) for text in value):
        return False
    return len(set(value)) == len(value)


# --- numbers -----------------------------------------------------------------------------------


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


def learn_numbers(values: Array, method: Method) -> NumberCode | None:
    """Return the code of a column of numbers; None: all that are known are the same."""
    known = values[~np.isnan(values)]
    if len(known) == 0 or known.min() == known.max():
        return None
    knots = scores = np.empty(0)
    centre, scale = 0.0, 1.0
    if method == "rank":
        knots, scores = _distribution(known)
    elif method == "robust":
        low, centre, high = np.quantile(known, [0.25, 0.5, 0.75]).tolist()
        scale = high - low or (known.max() - known.min()) / 2
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


# --- what is missing ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class MissingCode:
    """Whether a value is missing: size / sqrt(2) where it is, else the negative of that."""

    size: float

    def __post_init__(self) -> None:
        require(is_real(self.size, 0.0), "size must be above 0")

    @property
    def width(self) -> int:
        return 1

    def names(self, label: str) -> list[str]:
        return [f"{label}=missing"]

    def encode(self, values: Array | Sequence[str | None]) -> Array:
        gone = (
            np.isnan(values)
            if isinstance(values, np.ndarray)
            else np.fromiter((text is None for text in values), dtype=bool, count=len(values))
        )
        return np.where(gone, self.size, -self.size)[:, None] * math.sqrt(0.5)


# --- categories --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class CategoryCode:
    """One column per level, `size` where a value has that level, else 0.

    The levels are those listed, then the rare ones as one, then missing values, where there are
    any. Two levels take one column, -size / sqrt(2) and size / sqrt(2), at the same distance.
    is_flag: the levels are False and True, and the column has the name of its input alone.
    """

    levels: tuple[str, ...]
    has_rare: bool
    has_missing: bool
    size: float
    is_flag: bool

    def __post_init__(self) -> None:
        require(is_texts(self.levels), "levels must be distinct texts")
        flags = (self.has_rare, self.has_missing, self.is_flag)
        require(all(type(flag) is bool for flag in flags), "flags must be True or False")
        require(is_real(self.size, 0.0), "size must be above 0")
        require(self.count > 1, "there must be two levels")

    @property
    def count(self) -> int:
        return len(self.levels) + self.has_rare + self.has_missing

    @property
    def width(self) -> int:
        return 1 if self.count == 2 else self.count

    def names(self, label: str) -> list[str]:
        if self.is_flag and self.count == 2:
            return [label]
        words = [*self.levels, *["rare"] * self.has_rare, *["missing"] * self.has_missing]
        return [f"{label}={word}" for word in (words if self.count > 2 else words[1:])]

    def encode(self, values: Sequence[str | None]) -> Array:
        places: dict[str | None, int] = {text: place for place, text in enumerate(self.levels)}
        other = len(self.levels) if self.has_rare else -1
        places[None] = self.count - 1 if self.has_missing else other
        codes = np.fromiter((places.get(text, other) for text in values), np.intp, len(values))
        if self.count == 2:
            sides = np.array([-self.size, self.size, 0.0]) * math.sqrt(0.5)
            return sides[codes][:, None]  # -1, a value never seen, is the last of these
        found = np.zeros((len(values), self.count))
        known = np.flatnonzero(codes >= 0)
        found[known, codes[known]] = self.size
        return found


# --- dates -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class CalendarCode:
    """Where a time stands in the year, the week and the day: points on circles of radius 1.

    zone: whose clocks tell it; None: the times are those of a clock. A missing time is the centre.
    """

    periods: tuple[str, ...]
    zone: str | None

    def __post_init__(self) -> None:
        known = is_texts(self.periods) and set(self.periods) <= set(PERIODS)
        require(known and len(self.periods) > 0, "periods must be some of a few")
        named = self.zone is None or (isinstance(self.zone, str) and is_zone(self.zone))
        require(named, "zone must be one that this system knows")

    @property
    def width(self) -> int:
        return 2 * len(self.periods)

    def names(self, label: str) -> list[str]:
        return [f"{label}={period} {wave}" for period in self.periods for wave in ("sin", "cos")]

    def encode(self, values: Array) -> Array:
        known = ~np.isnan(values)
        found = np.zeros((len(values), self.width))
        turns = phases(values[known], self.zone)
        for place, period in enumerate(self.periods):
            angle = 2.0 * math.pi * turns[period]
            found[known, 2 * place] = np.sin(angle)
            found[known, 2 * place + 1] = np.cos(angle)
        return found
