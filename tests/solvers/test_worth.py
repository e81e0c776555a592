"""How large a preconditioner should be."""

import math

import pytest

from mercer.solvers.ridge.worth import Worth


def grown(worth, trace, most=5000, block=250):
    """Return the rank at which growth ends, if `trace` says what remains."""
    for rank in range(block, most + 1, block):
        if not worth(rank, trace(rank)):
            return rank
    return most


def best(points, alpha, iteration, each, digits, most=5000):
    """Return the rank with the least work, by trying all of them."""

    def work(rank):
        return iteration * digits * math.sqrt(1 + each(rank) / alpha) + points * rank**2

    return min(range(100, most + 1, 10), key=work)


@pytest.mark.parametrize("iteration", [1e9, 1e10, 1e11])
@pytest.mark.parametrize("power", [1.0, 1.5, 2.5])
def test_growth_ends_near_the_least_work(iteration, power):
    points, alpha, tol = 10_000, 1.0, 1e-4

    def each(rank):
        return 1e6 * rank**-power

    def trace(rank):
        return sum(each(r) for r in range(rank, 20_000, 10)) * 10

    worth = Worth(points=points, alpha=alpha, tol=tol, iteration=iteration)
    wanted = best(points, alpha, iteration, each, math.log(2 / tol) / 2)
    found = grown(worth, trace)
    digits = worth.digits

    def work(rank):
        return iteration * digits * math.sqrt(1 + each(rank) / alpha) + points * rank**2

    assert work(found) <= 1.25 * work(max(wanted, 1000))  # the first blocks are always made


def test_a_large_alpha_needs_few_columns():
    worth = Worth(points=1000, alpha=1e6, tol=1e-4, iteration=1e9)
    assert grown(worth, lambda rank: 1000.0 / rank) == 1000  # three differences of four blocks


def test_without_alpha_or_a_cost_of_iterations_all_columns_pay():
    assert grown(Worth(points=1000, alpha=0.0, tol=1e-4, iteration=1e9), lambda r: 1e3 / r) == 5000
    free = Worth(points=1000, alpha=1.0, tol=1e-4, iteration=math.inf)
    assert grown(free, lambda r: 1e6 / r) == 5000
