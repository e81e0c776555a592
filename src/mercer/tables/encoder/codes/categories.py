"""Categories as columns, and whether a value is missing as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....checks import Array
from .sound import is_real, is_texts, require


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
