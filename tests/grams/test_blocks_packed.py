"""How often points that arrive in blocks are packed for the engine, and read."""

from collections import Counter

import numpy as np
import pytest

from mercer import gram, prepare
from mercer.grams import Normal, engine
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian
from mercer.monitor import Monitor

random = np.random.default_rng(0)
LEFT, RIGHT = random.normal(size=(60, 3)), random.normal(size=(80, 3))
KERNEL = Gaussian(0.5)
K = KERNEL(LEFT, RIGHT)
V = random.normal(size=(80, 2))


class Blocks:
    """Blocks that are made anew in every pass, of which the passes are counted."""

    def __init__(self, values):
        self.values, self.passes = values, 0

    def __call__(self):
        self.passes += 1
        return iter(np.split(self.values.copy(), 4))


@pytest.fixture
def packed(monkeypatch):
    """Count how often rows are packed, by the first of them."""
    counts, pack = Counter(), engine.pack_rows

    def counted(points, *rest):
        counts[points.values[0].tobytes()] += 1
        return pack(points, *rest)

    monkeypatch.setattr(engine, "pack_rows", counted)
    return counts


def times(packed, values):
    """Return how often each of the four blocks of points was packed."""
    return [packed[block[0].tobytes()] for block in np.split(values, 4)]


def test_few_points_are_packed_once_for_all_passes(packed):
    source = Blocks(LEFT)
    few = prepare(KERNEL, RIGHT)
    made = few.gram(RowBlocks(source, lengths=[15] * 4), memory_limit=80 * 8 * 3)
    assert made.plan.band_rows < 15  # several bands to a block
    before = source.passes
    for passes in (1, 2):
        assert np.allclose(made.reduce(Normal(V)), K.T @ (K @ V), atol=1e-12)
        assert np.allclose(made @ V, K @ V, atol=1e-12)
        assert packed[RIGHT[0].tobytes()] == 1
        assert source.passes - before == 2 * passes


@pytest.mark.parametrize("blocks", [RowBlocks, lambda source: source.values])
def test_blocks_on_the_right_are_packed_once_in_a_pass(packed, blocks):
    right = Blocks(RIGHT)
    made = gram(KERNEL, blocks(Blocks(LEFT)), RowBlocks(right, lengths=[20] * 4))
    before = right.passes
    for passes in (1, 2):
        assert np.allclose(made @ V, K @ V, atol=1e-12)
        assert times(packed, RIGHT) == [passes] * 4
        assert right.passes - before == passes


def test_all_of_k_takes_one_pass_over_the_right(packed):
    right = Blocks(RIGHT)
    lefts = RowBlocks(Blocks(LEFT), lengths=[15] * 4)
    made = gram(KERNEL, lefts, RowBlocks(right, lengths=[20] * 4), memory_limit=80 * 8 * 3)
    before = right.passes
    assert np.allclose(made.dense(), K, atol=1e-14)
    assert times(packed, RIGHT) == [1] * 4
    assert right.passes - before == 1


class Heard(Monitor):
    """Remembers what it is told."""

    def report(self, stage, fraction):
        told.append(fraction)


told = []


@pytest.mark.parametrize("use", [lambda made: made @ V, lambda made: made.dense()])
def test_progress_does_not_fall(use):
    told.clear()
    blocks = [RowBlocks(Blocks(values), lengths=[len(values) // 4] * 4) for values in (LEFT, RIGHT)]
    use(gram(KERNEL, *blocks, monitor=Heard()))
    assert told == sorted(told)
    assert told[-1] == 1.0
