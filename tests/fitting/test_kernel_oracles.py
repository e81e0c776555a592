"""J on lines of weights: from sums that are kept, and from all matrices every time."""

import numpy as np
import pytest

from mercer import GramStack
from mercer.fitting.machines import MachineSpec
from mercer.fitting.mkl.oracles import MachineOracle, RidgeOracle
from mercer.grams.stacks.matrices import GivenStack
from mercer.grams.stacks.sums import RENEWAL
from mercer.kernels import Gaussian, Linear
from mercer.monitor import Monitor
from mercer.solvers import RidgeProblem
from mercer.solvers.box.machines import classification, read_classification
from mercer.solvers.mkl.problem import Search
from mercer.solvers.mkl.simple import SimpleMKL

random = np.random.default_rng(2)
N = 80
X = random.normal(size=(N, 4))
SIGNS = np.where(np.abs(X[:, 1]) + X[:, 0] + 0.3 * random.normal(size=N) > 0.7, 1.0, -1.0)
KERNELS = [Gaussian(gamma).on([column]) for column in range(4) for gamma in (0.1, 0.5, 2.0)]
KERNELS += [Linear(), Gaussian(0.3)]
FACTORS = np.where(np.arange(len(KERNELS)) == 5, 0.0, 1 + np.arange(len(KERNELS)) / 5)
COUNT = np.count_nonzero(FACTORS)


class Counted(GivenStack):
    """A stack that takes note of how many matrices each reading takes."""

    def __init__(self):
        super().__init__(GramStack([kernel(X) for kernel in KERNELS]), Monitor())
        self.sums, self.measured = [], 0

    def add(self, total, weights):
        self.sums.append(np.count_nonzero(weights))
        super().add(total, weights)

    def forms(self, B):
        self.measured += 1
        return super().forms(B)


def machines(stack):
    """Two machines that share the weights, one of them of some of the points."""
    places = [np.arange(N), np.arange(0, N, 2)]
    problems = [classification(SIGNS[rows], np.full(len(rows), 3.0), True) for rows in places]
    specs = [MachineSpec(groups=(0,), problem=p, read=read_classification) for p in problems]
    return MachineOracle(
        stack=stack, factors=FACTORS, specs=specs, points=places, tol=1e-9, monitor=Monitor()
    )


def ridge(stack):
    targets = (np.sin(2 * X[:, 2]) + X[:, 0] + 0.1 * random.normal(size=N))[:, None]
    problem = RidgeProblem(targets=targets, alpha=np.array([0.3]), intercept=True)
    return RidgeOracle(stack=stack, factors=FACTORS, problem=problem, tol=1e-12, monitor=Monitor())


class Plain:
    """The same J, without any sum that is kept."""

    def __init__(self, oracle):
        self.oracle = oracle

    def __call__(self, weights):
        return self.oracle(weights)

    def line(self, start, along):
        return PlainLine(self.oracle, start, along)


class PlainLine:
    def __init__(self, oracle, start, along):
        self.oracle, self.start, self.along = oracle, start, along

    def at(self, step, weights):
        return self.oracle(weights)

    def slope(self, found):
        return float(found.slopes @ self.along)


@pytest.mark.parametrize("make", [machines, ridge])
def test_a_line_has_the_values_and_slopes_of_its_weights(make):
    oracle, start = make(Counted()), np.full(COUNT, 1 / COUNT)
    along = random.normal(size=COUNT)
    along -= along.mean()
    line = oracle.line(start, along)
    for step in np.array([0.0, 0.4, 0.8]) / (COUNT * np.abs(along).max()):
        weights = start + step * along
        found, wanted = line.at(step, weights), oracle(weights)
        assert found.primal == pytest.approx(wanted.primal, rel=1e-7)
        assert found.dual == pytest.approx(wanted.dual, rel=1e-7)
        assert found.forms == pytest.approx(wanted.forms, rel=1e-4)
        assert line.slope(found) == pytest.approx(float(found.slopes @ along), rel=1e-9)


@pytest.mark.parametrize("make", [machines, ridge])
def test_sums_that_are_kept_lead_to_the_same_weights(make):
    stack = Counted()
    runs = []
    oracle = make(stack)
    for used in (oracle, Plain(oracle)):
        made = Search(oracle=used, count=COUNT, p=1.0, tol=1e-3, max_iter=100, monitor=Monitor())
        stack.sums.clear()
        stack.measured = 0
        assert SimpleMKL(made).run() == "converged"
        runs.append((made, list(stack.sums), stack.measured))
    (kept, few, asked), (plain, many, _) = runs
    assert kept.best.primal == pytest.approx(plain.best.primal, rel=1e-5)
    assert kept.solves == plain.solves
    for mine, other in zip(kept.history, plain.history, strict=True):
        assert mine.objective == pytest.approx(other.objective, rel=1e-5)
        assert mine.weights == pytest.approx(other.weights, abs=1e-3)
    assert asked == len(kept.history)  # forms are computed at accepted weights alone
    # The first sum, one for the direction of each step, and some that were renewed are whole.
    assert sum(count > 3 for count in few) <= len(kept.history) + kept.solves // RENEWAL
    assert len(many) == plain.solves
    assert sum(few) < sum(many)
