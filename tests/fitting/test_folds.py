"""Folds that are drawn at random."""

import numpy as np

from mercer.fitting.folds import random_folds


def test_random_folds_share_the_classes():
    codes = np.repeat([0, 1, 2], [40, 20, 3])
    folds = random_folds(63, 4, codes, 0)
    assert np.array_equal(np.sort(np.concatenate([held for _, held in folds])), np.arange(63))
    for train, held in folds:
        assert not set(train) & set(held)
        assert len(train) + len(held) == 63
        assert np.bincount(codes[held], minlength=3)[:2].tolist() == [10, 5]
    assert len(random_folds(3, 4, None, 0)) == 3
    assert not np.array_equal(folds[0][1], random_folds(63, 4, codes, 1)[0][1])
