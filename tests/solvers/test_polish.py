"""The last digits of box problems: equations for the variables between their bounds."""

import numpy as np
import pytest
from test_box import KINDS, assert_feasible, positive, problems

from mercer import _native

EPSILON = np.finfo(np.float64).eps


def polished(K, problem, tol, most=1000, lazy=True):
    """Return what steps of two variables and then the equations found."""
    n = len(K)
    block, places = _native.BlockSolver64(), np.arange(n)
    b, g = problem.start.copy(), K @ problem.start + problem.linear
    box = (problem.lower, problem.upper, problem.kink, problem.offset, problem.split, b, g)
    block.solve(K, places, places, 0, *box, tol, 10**6, None, lazy)
    before = problem.objective(b, K @ b + problem.linear)
    found = block.polish(K, problem.linear, *box, 4 * EPSILON, most, None)
    return b, g, before, found


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("n", [30, 90])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tol", [1e-6, 1e-1, 10.0])
def test_the_optimum_is_found_to_the_last_digits_or_nothing_is_lost(kind, n, tol, lazy):
    K, problem = positive(n, seed=n), problems(n, 3)[kind]
    b, g, before, (exact, violation, rounding) = polished(K, problem, tol, lazy=lazy)
    assert_feasible(problem, b)
    assert np.allclose(g, K @ b + problem.linear, rtol=0, atol=1e-12)
    assert problem.objective(b, g) <= before + 1e-12
    assert violation == pytest.approx(problem.violation(b, g), abs=1e-15)
    assert exact or tol > 1e-6
    assert not exact or violation <= 1e-11
    assert 0 <= rounding <= violation


@pytest.mark.parametrize("kind", KINDS)
def test_points_that_depend_on_others_are_no_obstacle(kind):
    K = positive(30, rank=6)
    K = np.ascontiguousarray(np.block([[K, K], [K, K]]))  # each point twice
    problem = problems(60, 3)[kind]
    b, g, before, (exact, violation, _) = polished(K, problem, 1e-9)
    assert_feasible(problem, b)
    assert problem.objective(b, g) <= before + 1e-12
    assert not exact or violation <= 1e-11


def test_more_variables_than_allowed_are_left_alone():
    K, problem = positive(40), problems(40, 3)[KINDS[0]]
    b, g, before, (exact, _, _) = polished(K, problem, 1e-1, most=0)
    assert not exact
    assert problem.objective(b, g) == pytest.approx(before, rel=1e-14)


def test_only_the_problem_solved_last_can_be_polished():
    K, ones = positive(3), np.ones(3)
    box = (-ones, ones, 0.0, True, False, np.zeros(3), ones.copy())
    with pytest.raises(ValueError, match="must be the one solved last"):
        _native.BlockSolver64().polish(K, ones, *box, 1e-15, 10, None)
    with pytest.raises(ValueError, match="as many bounds and numbers as variables"):
        _native.BlockSolver64().polish(K, np.ones(2), *box, 1e-15, 10, None)
    block = _native.BlockSolver64()
    places = np.arange(3)
    block.solve(K, places, places, 0, *box, 1e-3, 10, None, True)
    with pytest.raises(ValueError, match="no more can be kept"):  # its rows were not all read
        block.solve(K, places[:2], places[:2], 1, *(x[:2] for x in box[:2]), *box[2:5],
                    np.zeros(2), np.ones(2), 1e-3, 10, None)  # fmt: skip
