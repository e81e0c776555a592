"""Folds of rows, drawn at random."""

from __future__ import annotations

import numpy as np

from ..checks import Array


def random_folds(n: int, count: int, codes: Array | None, seed: int) -> list[tuple[Array, Array]]:
    """Return pairs of training and held-out rows of n; codes: classes that all folds share."""
    count = min(count, n)
    order = np.random.default_rng(seed).permutation(n)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % count
    return [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(count)]
