"""Which rows a candidate is judged on, and which it may see for that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from ...checks import Array
from ...fitting.folds import random_folds

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
    random = np.random.default_rng(seed)
    if in_time:
        first = n - max(1, int(HELD_SHARE * n))
        return Splits(parts=((random.permutation(first), np.arange(first, n)),))
    count = FOLDS
    if n > WHOLE:
        count = max(round(1 / HELD_SHARE), int(np.ceil(n / HELD_MOST)))
    elif codes is not None and groups is None:
        count = max(2, min(FOLDS, int(np.bincount(codes).min())))
    parts = random_folds(n, count, codes, seed)
    if groups is not None:
        parts = _group_folds(codes, groups, count, seed)
    if n > WHOLE:
        train, held = parts[0]
        return Splits(parts=((random.permutation(train), held),))
    return Splits(parts=tuple(parts), one_by_one=groups is None)


def _group_folds(
    codes: Array | None, groups: Array, count: int, seed: int
) -> list[tuple[Array, Array]]:
    """Return folds that keep groups together and, where it can be, the shares of the classes."""
    sizes = np.bincount(np.zeros(len(groups), dtype=int) if codes is None else codes)
    count = min(count, len(np.unique(groups)), int(sizes.max()))
    stratified = codes is not None and int(sizes.min()) >= count
    kind = StratifiedGroupKFold if stratified else GroupKFold
    splitter = kind(count, shuffle=True, random_state=seed)
    return list(splitter.split(groups, codes, groups))
