"""Which rows a candidate is judged on, and which it may see for that."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from ...checks import Array

FOLDS = 4
WHOLE = 2000  # rows up to which all are judged: beyond, a part of them is held out once
HELD_SHARE, HELD_MOST = 0.2, 3000


@dataclass(frozen=True, kw_only=True)
class Splits:
    """Pairs of rows to learn from and rows to be judged on.

    one_by_one: whether a closed form may leave out each row by itself instead, which is as honest.
    """

    parts: tuple[tuple[Array, Array], ...]
    one_by_one: bool = False

    @property
    def rows(self) -> Array:
        """The rows that are judged, ascending."""
        return np.sort(np.concatenate([held for _, held in self.parts]))

    @staticmethod
    def of_single_rows(n: int) -> Splits:
        """Return the splits of n rows that are left out by themselves; learners take two halves."""
        halves = np.arange(0, n, 2), np.arange(1, n, 2)
        return Splits(parts=(halves, halves[::-1]), one_by_one=True)


def make_splits(
    n: int, codes: Array | None, groups: Array | None, in_time: bool, seed: int
) -> Splits:
    """Return the splits of n rows.

    codes: the classes of the rows, whose shares all parts keep; None for numbers. groups: rows of
    one group stay together. in_time: whether rows are ordered by time; then the last are judged by
    those before them.
    """
    if in_time:
        first = n - max(1, int(HELD_SHARE * n))
        return Splits(parts=((np.arange(first), np.arange(first, n)),))
    count = min(FOLDS, n if codes is None else int(np.bincount(codes).min()))
    if groups is not None:
        largest = n if codes is None else int(np.bincount(codes).max())
        count = min(FOLDS, len(np.unique(groups)), largest)
        kind = GroupKFold if codes is None else StratifiedGroupKFold
        return Splits(parts=_parts(kind(count, shuffle=True, random_state=seed), codes, groups, n))
    if n > WHOLE:
        count = max(round(1 / HELD_SHARE), int(np.ceil(n / HELD_MOST)))
    stratified = codes is not None and np.bincount(codes).min() >= 2
    splitter = StratifiedKFold if stratified else KFold
    count = max(2, min(count, n))
    parts = _parts(splitter(count, shuffle=True, random_state=seed), codes, None, n)
    if n > WHOLE:
        train, held = parts[0]
        return Splits(parts=((np.random.default_rng(seed).permutation(train), held),))
    return Splits(parts=parts, one_by_one=True)


def _parts(
    splitter: BaseCrossValidator, codes: Array | None, groups: Array | None, n: int
) -> tuple[tuple[Array, Array], ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class with few rows is not in every part
        return tuple(splitter.split(np.zeros(n), codes, groups))
