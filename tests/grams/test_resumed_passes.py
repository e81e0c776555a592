"""Passes that are cut off after any block or band go on there, whatever they sum up."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.grams import gram, prepare
from mercer.grams.maps.passing import FeatureRows
from mercer.grams.sinks import JointSink, Multiply, Normal, Sums, TopK
from mercer.inputs import Matrix, RowBlocks
from mercer.kernels import FunctionKernel, Gaussian, Linear
from mercer.losses import Logistic
from mercer.monitor import Monitor
from mercer.solvers.eigen.spanned import Extremes
from mercer.solvers.kmeans_passes import Nearest
from mercer.solvers.loss.curvature import curvature_of
from mercer.solvers.loss.elements import Curved
from mercer.solvers.ridge.moments import Errors, Leverages, Moments, Transposed
from mercer.solvers.ridge.passing import FoldMoments, FoldValues, Turned
from mercer.stages import Stages

RANDOM = np.random.default_rng(0)
N, M = 50, 7
X, CENTRES = RANDOM.normal(size=(N, 3)), RANDOM.normal(size=(M, 3))
Y, WEIGHT = RANDOM.normal(size=(N, 2)), RANDOM.uniform(0.5, 2.0, size=N)
V, ROOTS = RANDOM.normal(size=(M, 2)), np.sqrt(WEIGHT)[:, None]
SHIFT, LOWER = RANDOM.normal(size=M), np.tril(RANDOM.uniform(1.0, 2.0, size=(M, M)))
FOLDS = np.arange(N)[:, None] % 3 == np.arange(2)
CURVATURE = curvature_of(Logistic(), Y, np.sign(Y), WEIGHT)
SINKS = {
    "Multiply": lambda: Multiply(V),
    "Normal": lambda: Normal(V, Y, WEIGHT),
    "Sums": lambda: Sums(np.arange(M) % 3, 3),
    "TopK": lambda: TopK(2),
    "Moments": lambda: Moments(Y, ROOTS, SHIFT, LOWER),
    "Errors": lambda: Errors(V, np.ones(2), Y, WEIGHT),
    "Transposed": lambda: Transposed(Y),
    "Leverages": lambda: Leverages((LOWER, LOWER), SHIFT, SHIFT, 3),
    "Extremes": lambda: Extremes(V),
    "Curved": lambda: Curved(V, CURVATURE),
    "Nearest": lambda: Nearest(V, np.ones(2), np.ones(N), WEIGHT),
    "FoldMoments": lambda: FoldMoments(Y, ROOTS, SHIFT, FOLDS, LOWER),
    "FoldValues": lambda: FoldValues([(V, np.ones(2)), (-V, np.zeros(2))], FOLDS),
    "Turned": lambda: Turned(
        np.eye(M)[:, :3], np.ones(3), np.ones((3, 2)), np.ones((3, 1)), FOLDS[:, 0]
    ),
}
ROWS = RANDOM.normal(size=(N, M))


def of_kernel(points, monitor):
    """K(points, centres) in bands of 8 rows, or in blocks."""
    K = prepare(Gaussian(0.3), Matrix(CENTRES)).gram(points, monitor=monitor, store=False)
    K.plan = replace(K.plan, band_rows=8)
    return K


MATRICES = {
    "bands": lambda monitor: of_kernel(Matrix(X), monitor),
    "blocks": lambda monitor: of_kernel(RowBlocks.split(X, 8), monitor),
    "chosen blocks": lambda monitor: of_kernel(
        RowBlocks.split(np.repeat(X, 2, axis=0), 16).only(np.arange(0, 2 * N, 2)), monitor
    ),
    "features": lambda monitor: FeatureRows(prepare(Linear(), ROWS), 8, monitor),
    "features of blocks": lambda monitor: FeatureRows(
        prepare(Linear(), RowBlocks.split(ROWS, 8)), 8, monitor
    ),
}
AT_ONCE = {(name, "bands") for name in ("Multiply", "Sums", "TopK")}  # the core makes these


class Cut(BaseException):
    """Where a process ends."""


def all_joint_sinks(kind=JointSink):
    """Every class that is put together of parts."""
    inner = kind.__subclasses__()
    return {one.__name__ for one in inner}.union(*(all_joint_sinks(one) for one in inner))


def test_every_sink_is_tried():
    assert set(SINKS) == all_joint_sinks()


def flat(found):
    """All numbers of a result."""
    if isinstance(found, np.ndarray | float | np.generic):
        return [np.ravel(found)]
    parts = found if isinstance(found, list | tuple) else vars(found).values()
    return [one for part in parts for one in flat(part)]


@pytest.mark.parametrize("kind", MATRICES)
@pytest.mark.parametrize("name", SINKS)
def test_a_pass_goes_on(name, kind):
    whole = flat(MATRICES[kind](Monitor()).reduce(SINKS[name]()))
    for cut in (1, 4, 7):
        written = []

        def write(states, written=written, cut=cut):
            written.append(states)
            if len(written) == cut:
                raise Cut

        first = MATRICES[kind](Monitor(stages=Stages(write, every=0)))
        if (name, kind) in AT_ONCE:
            first.reduce(SINKS[name]())
            assert written == []
            continue
        with pytest.raises(Cut):
            first.reduce(SINKS[name]())
        assert written[-1]["pass 1/"]["rows"] == min(8 * cut, N)
        again = Monitor(stages=Stages(lambda states: None, 1e9, written[-1]))
        found = flat(MATRICES[kind](again).reduce(SINKS[name]()))
        for mine, other in zip(found, whole, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)


def test_rows_that_are_known_are_not_computed_again():
    asked = []

    def kernel(x, z):
        asked.append(len(x))
        return np.exp(-((x[:, None] - z) ** 2).sum(axis=2))

    def times(stages):
        blocks = RowBlocks.split(X, 10)
        K = prepare(FunctionKernel(kernel), Matrix(CENTRES)).gram(
            blocks, monitor=Monitor(stages=stages)
        )
        asked.clear()
        return K.reduce(Transposed(Y))

    written = []
    whole = times(Stages(written.append, every=0))
    everything = sum(asked)
    np.testing.assert_array_equal(times(Stages(lambda states: None, 0, written[3])), whole)
    assert sum(asked) == everything / 5
    times(Stages(lambda states: None, 0, written[4]))
    assert asked == []


def test_pairs_of_blocks_go_on():
    def times(stages):
        blocks = RowBlocks.split(X, 20)
        return gram(Gaussian(0.3), blocks, monitor=Monitor(stages=stages)) @ Y

    written = []
    whole = times(Stages(written.append, every=0))
    assert len(written) == 3
    for states in written:
        np.testing.assert_array_equal(times(Stages(lambda states: None, 0, states)), whole)
