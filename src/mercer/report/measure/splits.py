"""Which rows a model is fitted to and judged on, where it has not been judged itself."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from ...checks import Array
from ...fitting.folds import random_folds

Parts = list[tuple[Array, Array]]


def folds_of(n: int, count: int, codes: Array | None, groups: Array | None, seed: int) -> Parts:
    """Return pairs of rows to learn from and rows to be judged on, which are all rows in turn.

    Folds keep the shares of the classes as far as they can, and groups together.
    """
    if groups is None:
        if codes is not None:
            count = max(2, min(count, int(np.bincount(codes).max())))
        return random_folds(n, count, codes, seed)
    sizes = np.bincount(np.zeros(n, dtype=int) if codes is None else codes)
    count = max(2, min(count, len(np.unique(groups))))
    stratified = codes is not None and int(sizes[sizes > 0].min()) >= count
    kind = StratifiedGroupKFold if stratified else GroupKFold
    splitter = kind(count, shuffle=True, random_state=seed)
    return [(train, held) for train, held in splitter.split(groups, codes, groups) if len(held)]


def thinned(rows: Array, most: int, codes: Array | None, seed: int) -> Array:
    """Return at most so many of the rows, ascending, with the shares of the classes."""
    if len(rows) <= most:
        return rows
    order = np.random.default_rng(seed).permutation(len(rows))
    if codes is not None:
        order = order[np.argsort(codes[rows][order], kind="stable")]
    chosen = order[np.unique(np.linspace(0, len(rows) - 1, most).round().astype(np.intp))]
    return np.sort(rows[chosen])
