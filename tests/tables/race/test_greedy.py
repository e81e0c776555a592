"""Ensembles by greedy selection, from hand-made predictions."""

import numpy as np

from mercer.tables.race.greedy import (
    bagged_weights,
    crossed_mean,
    crossed_weights,
    greedy_weights,
)

RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.normal(size=300)


def squared(evidence, rows=slice(None)):
    return ((evidence - TRUTH[rows]) ** 2).mean(axis=1)


def test_opposite_errors_are_mixed():
    error = RANDOM.normal(size=300)
    candidates = np.stack([TRUTH + error, TRUTH - error, TRUTH + 5 * RANDOM.normal(size=300)])
    weights = greedy_weights(candidates, squared)
    np.testing.assert_allclose(weights, [0.5, 0.5, 0.0])
    bagged = bagged_weights(candidates, squared, 0)
    assert bagged[2] < 0.4
    assert squared((bagged @ candidates)[None])[0] < squared(candidates).min()


def test_unequal_errors_are_mixed_unequally():
    """The best share of the first of two independent errors is 4/5, by the variances 1 and 4."""
    one, two = RANDOM.normal(size=(2, 300))
    two -= (two @ one) / (one @ one) * one  # uncorrelated in these rows
    scale = 2 * np.linalg.norm(one) / np.linalg.norm(two)
    weights = greedy_weights(np.stack([TRUTH + one, TRUTH + scale * two]), squared)
    assert abs(weights[0] - 0.8) < 0.03


def test_weights_have_the_sum_1_and_are_not_negative():
    candidates = TRUTH + RANDOM.normal(size=(9, 300))
    for weights in (greedy_weights(candidates, squared), bagged_weights(candidates, squared, 3)):
        assert np.isclose(weights.sum(), 1.0)
        assert (weights >= 0).all()
        assert squared((weights @ candidates)[None])[0] < squared(candidates).min()


def test_a_perfect_candidate_is_taken_alone():
    candidates = np.stack([TRUTH + 1.0, TRUTH, TRUTH + RANDOM.normal(size=300)])
    assert greedy_weights(candidates, squared).tolist() == [0.0, 1.0, 0.0]


def test_one_candidate_is_all():
    assert bagged_weights(TRUTH[None] + 1.0, squared, 0).tolist() == [1.0]


def test_a_seed_gives_the_same_weights():
    candidates = TRUTH + RANDOM.normal(size=(6, 300))
    first = bagged_weights(candidates, squared, 1)
    assert np.array_equal(first, bagged_weights(candidates, squared, 1))
    assert not np.array_equal(first, bagged_weights(candidates, squared, 2))


def test_evidence_may_have_outputs():
    truth = np.column_stack([TRUTH, -TRUTH])
    candidates = np.stack([truth + 1.0, truth - 1.0])

    def losses(evidence, rows=slice(None)):
        return ((evidence - truth[rows]) ** 2).mean(axis=(1, 2))

    np.testing.assert_allclose(greedy_weights(candidates, losses), [0.5, 0.5])


def crossed_evidence(evidence, losses):
    return crossed_mean(evidence, crossed_weights(evidence, losses, 0))


def test_the_crossed_mean_of_a_row_does_not_know_the_row():
    candidates = np.stack([TRUTH + RANDOM.normal(size=300) for _ in range(5)])
    before = crossed_evidence(candidates, squared)
    other = TRUTH.copy()
    other[7] += 1e6

    def told_otherwise(evidence, rows=slice(None)):
        return ((evidence - other[rows]) ** 2).mean(axis=1)

    after = crossed_evidence(candidates, told_otherwise)
    assert after[7] == before[7]
    assert not np.array_equal(after, before)
    assert crossed_evidence(candidates[:, :1], squared).shape == (1,)
