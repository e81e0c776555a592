"""The search for a penalty."""

import numpy as np
import pytest

from mercer.fitting.penalties import LEAST, MOST, STEP, downhill


@pytest.mark.parametrize("lowest", [1e-4, 0.02, 3.0, 500.0])
def test_downhill_ends_next_to_the_minimum(lowest):
    tried = {}

    def judge(alpha):
        tried[alpha] = abs(np.log(alpha / lowest))
        return tried[alpha]

    downhill(judge, 0.1)
    best = min(tried, key=tried.get)
    assert 1 / STEP < best / lowest < STEP


@pytest.mark.parametrize("sign", [1, -1])
def test_downhill_ends_at_the_limits(sign):
    tried = []

    def judge(alpha):
        tried.append(alpha)
        return sign * alpha

    downhill(judge, 1.0)
    assert min(tried) >= LEAST
    assert max(tried) <= MOST
    assert (min(tried) < STEP * LEAST) if sign > 0 else (max(tried) > MOST / STEP)


@pytest.mark.parametrize("place", [-3, -1, 0, 1, 4])
def test_the_search_goes_downhill_to_the_downhill(place):
    wanted = STEP**place
    found = downhill(lambda alpha: abs(np.log(alpha / wanted)), 1.0, 20)
    assert np.isclose(found, wanted)


def test_the_search_tries_no_more_than_it_may():
    tried = []

    def judge(alpha):
        tried.append(alpha)
        return alpha

    downhill(judge, 1.0, 4)
    assert len(tried) == 4
    tried.clear()
    assert LEAST <= downhill(judge, 1.0, 100) < STEP * LEAST
    assert max(tried) <= MOST


def test_losses_that_are_not_numbers_are_never_the_best():
    found = downhill(lambda alpha: np.inf if alpha < 1 else 1 / alpha, 1.0, 8)
    assert found > 1.0
