"""Stacks of matrices: sums, forms and lines of them, against dense matrices and a counted stack."""

import numpy as np
import pytest

from mercer import GramStack, MemoryLimitError
from mercer.grams.stacks import matrices
from mercer.grams.stacks.factors import FactorStack
from mercer.grams.stacks.matrices import ComputedStack, GivenStack, StoredStack, quadratic_form
from mercer.grams.stacks.sums import RENEWAL, WeightedSums
from mercer.inputs import as_input
from mercer.kernels import Gaussian, Linear
from mercer.monitor import Monitor

random = np.random.default_rng(11)
N = 90
X = random.normal(size=(N, 3))
KERNELS = [Gaussian(gamma).on([column]) for column in range(3) for gamma in (0.2, 1.0)]
KERNELS += [Gaussian(0.5), Linear()]
COUNT = len(KERNELS)
DENSE = np.array([kernel(X) for kernel in KERNELS])
KINDS = ["given", "given in float32", "computed", "kept", "kept in float32"]


def make(kind):
    dtype = np.float32 if "float32" in kind else np.float64
    if kind.startswith("given"):
        return GivenStack(GramStack(list(DENSE.astype(dtype))), Monitor())
    made = ComputedStack if kind == "computed" else StoredStack
    return made(KERNELS, as_input(X), dtype, Monitor())


def close(stack, found, wanted):
    eps = np.finfo(stack.dtype).eps
    assert found.dtype == stack.dtype
    assert np.allclose(found, wanted, rtol=0, atol=100 * eps * np.abs(wanted).max())


class Counted(GivenStack):
    """A stack that counts how many of its matrices are read."""

    def __init__(self, dtype=np.float64):
        super().__init__(GramStack(list(DENSE.astype(dtype))), Monitor())
        self.read = 0

    def add(self, total, weights):
        self.read += np.count_nonzero(weights)
        super().add(total, weights)

    def forms(self, B):
        self.read += self.count
        return super().forms(B)


# --- sums and forms ---------------------------------------------------------------------------


@pytest.mark.parametrize("bands", [False, True], ids=["one band", "many bands"])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_forms_are_those_of_dense_matrices(kind, bands, monkeypatch):
    if bands:
        monkeypatch.setattr(matrices, "BAND", 16)
        monkeypatch.setattr(matrices, "BAND_OF_ONE", 16)
    stack = make(kind)
    mixed = random.normal(size=COUNT)  # directions have weights of both signs
    few = np.where(np.arange(COUNT) < 2, mixed, 0.0)
    for weights in (mixed, few, np.zeros(COUNT)):
        close(stack, stack.weighted(weights), np.tensordot(weights, DENSE, 1))
    total = stack.weighted(mixed)
    stack.add(total, few)
    close(stack, total, np.tensordot(mixed + few, DENSE, 1))
    for columns in (1, 3):
        B = random.normal(size=(N, columns))
        B[random.random(N) < 0.5] = 0.0
        wanted = np.einsum("ik,mij,jk->m", B, DENSE, B)
        assert stack.forms(B) == pytest.approx(wanted, rel=2e-6 if "32" in kind else 1e-10)
        assert quadratic_form(total, B) == pytest.approx((mixed + few) @ wanted, rel=1e-4)
    assert stack.forms(np.zeros((N, 2))).tolist() == [0.0] * COUNT


def test_forms_of_computed_matrices_keep_the_limit():
    B = np.ones((N, 1))
    with pytest.raises(MemoryLimitError):
        ComputedStack(KERNELS, as_input(X), np.float32, Monitor(), limit=1000).forms(B)
    enough = ComputedStack(KERNELS, as_input(X), np.float32, Monitor(), limit=200_000)
    assert enough.forms(B) == pytest.approx(DENSE.sum(axis=(1, 2)), rel=1e-5)


def test_factors_stand_for_matrices_of_low_rank():
    kernels = [Linear(), Gaussian(0.01).on([0]), 0 * Linear() + 3]
    stack = FactorStack(kernels, as_input(X), Monitor(), limit=100_000)
    assert stack.ranks[0] == 3
    assert stack.ranks[2] == 1
    assert stack.left < 1e-5
    assert stack.kept == 4 * N * sum(stack.ranks) <= 25_000
    dense = np.array([kernel(X) for kernel in kernels])
    B, weights = random.normal(size=(N, 2)), np.array([0.5, 0.0, 2.0])
    wanted = np.einsum("ik,mij,jk->m", B, dense, B)
    assert stack.forms(B) == pytest.approx(wanted, rel=1e-4)
    assert stack.whole_forms(B) == pytest.approx(wanted, rel=1e-4)
    total, points = np.tensordot(weights, dense, 1), np.arange(5, 50)
    rows = np.empty((2, len(points)), dtype=np.float32)
    part = stack.sum(weights).among(points)
    part.rows(np.array([3, 7]), rows)
    assert np.allclose(rows, total[np.ix_(points[[3, 7]], points)], atol=1e-4)
    b = random.normal(size=len(points))
    assert np.allclose(part.product(b), total[np.ix_(points, points)] @ b, atol=1e-3)


# --- lines ------------------------------------------------------------------------------------


def directed(weights):
    along = random.normal(size=COUNT)
    along -= along.mean()
    return along, 0.9 / (-along / weights).max()


def test_trials_on_a_line_read_no_matrix():
    stack, start = Counted(), np.full(COUNT, 1 / COUNT)
    along, most = directed(start)
    sums = WeightedSums(stack)
    sums.follow(start, along)
    assert stack.read == 2 * COUNT
    for step in (0.0, most / 3, most, 0.1 * most):
        weights = start + step * along
        close(stack, sums.at(step, weights), np.tensordot(weights, DENSE, 1))
    B = random.normal(size=(N, 2))
    wanted = np.einsum("ik,ij,jk->", B, np.tensordot(along, DENSE, 1), B)
    assert sums.slope(B) == pytest.approx(wanted)
    assert stack.read == 2 * COUNT


def test_weights_that_were_made_zero_are_taken_off():
    stack, start = Counted(), np.full(COUNT, 1 / COUNT)
    along, most = directed(start)
    sums = WeightedSums(stack)
    sums.follow(start, along)
    weights = start + most * along
    weights[2] = 0.0
    close(stack, sums.at(most, weights), np.tensordot(weights, DENSE, 1))
    assert stack.read == 2 * COUNT + 1


def test_a_line_that_turns_at_its_end_reads_what_has_changed():
    stack, start = Counted(), np.full(COUNT, 1 / COUNT)
    along, most = directed(start)
    sums = WeightedSums(stack)
    sums.follow(start, along)
    for step in (most, most / 2):
        sums.at(step, start + step * along)
    start, read = start + most / 2 * along, stack.read
    along = along.copy()
    along[4] += along[1]
    along[1] = 0.0
    sums.follow(start, along)
    assert stack.read == read + 2
    close(stack, sums.at(0.1, start + 0.1 * along), np.tensordot(start + 0.1 * along, DENSE, 1))
    # a start that was not the last sum is read
    start, read = np.full(COUNT, 1 / COUNT), stack.read
    sums.follow(start, along)
    assert stack.read == read + COUNT
    close(stack, sums.at(0.1, start + 0.1 * along), np.tensordot(start + 0.1 * along, DENSE, 1))


def test_rounding_does_not_pile_up():
    stack, weights = Counted(np.float32), np.full(COUNT, 1 / COUNT)
    sums = WeightedSums(stack)
    for _ in range(5 * RENEWAL):
        along, most = directed(weights)
        sums.follow(weights, along)
        weights = np.abs(weights + 0.5 * most * along)
        close(stack, sums.at(0.5 * most, weights), np.tensordot(weights, DENSE, 1))


def test_sums_of_which_few_weights_change_are_updated():
    stack, weights = Counted(np.float32), np.full(COUNT, 1 / COUNT)
    sums = WeightedSums(stack)
    sums.of(weights)
    assert stack.read == COUNT
    for place in range(RENEWAL + 1):
        weights = weights.copy()
        weights[place % COUNT] *= 1.1
        close(stack, sums.of(weights), np.tensordot(weights, DENSE, 1))
    assert stack.read == COUNT + RENEWAL + COUNT  # the last change made it anew
    # a line from there does not read its start
    read = stack.read
    sums.follow(weights, np.eye(COUNT)[0] - np.eye(COUNT)[1])
    assert stack.read == read + 2
