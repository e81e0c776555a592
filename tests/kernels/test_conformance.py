"""The conformance suite on every kernel of mercer; a kernel that is forgotten fails here."""

import numpy as np
import pandas
import polars
import pytest
import samples
import scipy.sparse
from sklearn.preprocessing import StandardScaler

from mercer.kernels import (
    Categorical,
    Chi2,
    Constant,
    Exp,
    ExpDot,
    Exponential,
    Fisher,
    FunctionKernel,
    Gaussian,
    GlobalAlignment,
    Graphlet,
    HashGraph,
    Intersection,
    Laplacian,
    Linear,
    LpNorm,
    Matern,
    Metric,
    Mismatch,
    Normalized,
    NormalizedIntersection,
    Of,
    On,
    PartialTree,
    Periodic,
    Polynomial,
    Power,
    Precomputed,
    Product,
    PyramidMatch,
    RandomWalk,
    RationalQuadratic,
    Rescaled,
    Scaled,
    SetIntersection,
    ShortestPath,
    Sigmoid,
    SpatialPyramid,
    Spectrum,
    Subsequence,
    SubsetTree,
    Substring,
    Subtree,
    Sum,
    SumPower,
    Tanimoto,
    WeisfeilerLehman,
)
from mercer.kernels.base import registry
from mercer.testing import KERNEL_CHECKS, check_kernel_conformance

ROWS = samples.rows()
FAR = 1000.0 + samples.rows(12, 5)  # where ||x||**2 + ||y||**2 - 2 x.y would lose six digits
SPARSE = scipy.sparse.csr_array(samples.counts())
COUNTS = samples.counts()
HISTOGRAMS = samples.histograms()
LEVELS = samples.levels()
SETS = samples.sets()
STRINGS = samples.strings()
TREES = samples.trees()
GRAPHS = samples.graphs()
ATTRIBUTED = samples.attributed_graphs()
SERIES = samples.time_series()
WORD_MAPS = samples.word_maps()
VECTOR_SETS = samples.vector_sets()
GRAM = Gaussian(0.5).formula(ROWS)
PANDAS = pandas.DataFrame(samples.frame_columns())
POLARS = polars.DataFrame(samples.frame_columns())
MIXED = (
    Spectrum(3).on("dna").normalized()
    + Gaussian().on(["age", "dose"]) * Categorical(0.5).on("colour")
    + 0.5 * Spectrum(1).on("tags")
)

EXAMPLES = {
    Constant: [(Constant(2.0), ROWS), (Constant(0.0), STRINGS), (Constant(), PANDAS)],
    Linear: [(Linear(), ROWS), (Linear(), FAR), (Linear(), SPARSE)],
    Polynomial: [
        (Polynomial(2), ROWS),
        (Polynomial(3, "scale", 0.0), ROWS),
        (Polynomial(2, "auto"), SPARSE),
    ],
    ExpDot: [(ExpDot(0.5), ROWS), (ExpDot("scale"), SPARSE)],
    Sigmoid: [(Sigmoid(0.5, -0.3), ROWS), (Sigmoid("scale"), SPARSE)],
    Gaussian: [
        (Gaussian(), ROWS),
        (Gaussian(), FAR),
        (Gaussian((1.0, 0.0, 2.0)), ROWS),
        (Gaussian(sigma=2.0), SPARSE),
        (Gaussian(1e-6), ROWS),
        (Gaussian(50.0), ROWS),
    ],
    Laplacian: [
        (Laplacian(), ROWS),
        (Laplacian(), FAR),
        (Laplacian((1.0, 0.0, 2.0)), ROWS),
        (Laplacian(0.3), SPARSE),
    ],
    Matern: [
        (Matern(0.5), ROWS),
        (Matern(1.5, "scale"), FAR),
        (Matern(2.5, (1.0, 2.0, 0.5)), ROWS),
        (Matern(0.8), ROWS),
        (Matern(3.0), SPARSE),
    ],
    Exponential: [
        (Exponential(), ROWS),
        (Exponential("scale"), FAR),
        (Exponential((1.0, 2.0, 0.5)), ROWS),
        (Exponential(2.0), SPARSE),
    ],
    LpNorm: [
        (LpNorm(), ROWS),
        (LpNorm(1.5, 1.0, "scale"), ROWS),
        (LpNorm(1.3, 1.3), FAR),
        (LpNorm(2.0, 1.3, (1.0, 2.0, 0.5)), ROWS),
        (LpNorm(0.7, 0.5, (1.0, 2.0, 0.5)), ROWS),
        (LpNorm(1.5, 1.5, 2.0), SPARSE),
    ],
    SumPower: [
        (SumPower(), ROWS),
        (SumPower(1.0, 3, 0.2, "scale"), ROWS),
        (SumPower(0.7, 1), FAR),
        (SumPower(2.0, 2, 0.0, (1.0, 2.0, 0.5)), ROWS),
        (SumPower(1.5, 2, 0.5, (1.0, 2.0, 0.5, 1.0)), SPARSE),
        (SumPower(), SPARSE),
    ],
    RationalQuadratic: [
        (RationalQuadratic(), ROWS),
        (RationalQuadratic(0.3, "scale"), FAR),
        (RationalQuadratic(2.0, (1.0, 2.0, 0.5)), ROWS),
    ],
    Periodic: [(Periodic(), ROWS), (Periodic((1.0, 2.0, 0.5), 2.0), ROWS), (Periodic(3.0), SPARSE)],
    Intersection: [
        (Intersection(), COUNTS),
        (Intersection(), HISTOGRAMS),
        (Intersection(), SPARSE),
    ],
    NormalizedIntersection: [
        (NormalizedIntersection(), COUNTS),
        (NormalizedIntersection(), HISTOGRAMS),
    ],
    Chi2: [(Chi2(), COUNTS), (Chi2(0.2), HISTOGRAMS), (Chi2(), SPARSE)],
    Categorical: [
        (Categorical(), LEVELS),
        (Categorical("auto"), LEVELS),
        (Categorical((1.0, 0.0, 2.0)), LEVELS),
        (Categorical(), np.array([["a", 1], ["b", 1], ["a", 2], ["1", 1]], dtype=object)),
        (Categorical(), PANDAS[["colour", "dose"]]),
    ],
    SetIntersection: [(SetIntersection(), SETS)],
    Tanimoto: [(Tanimoto(), SETS), (Tanimoto(), COUNTS), (Tanimoto(), SPARSE)],
    Spectrum: [
        (Spectrum(2), STRINGS),
        (Spectrum(3, blended=True), STRINGS),
        (Spectrum(1), [["a", "b"], ["b"], [], ("a", 1)]),
        (Spectrum(2), [b"abab", b"ba", b"", b"aa"]),
        (Spectrum(5, blended=True), [*STRINGS, ["a", "b", "ab", "a", "b"], b"abab"]),
    ],
    Mismatch: [
        (Mismatch(2, 1, "ab"), ["abab", "baba", "", "a", "bb", "aab"]),
        (Mismatch(3, 2, "abcdefghijklmnopqrstuvwxyz"), ["statistics", "computation", "", "tat"]),
        (Mismatch(2, 1, ("a", "bc", 1)), [["a", "bc", 1], (1, 1, "a"), [], ["bc"], "aa"]),
    ],
    Substring: [
        (Substring(0.5), STRINGS),
        (Substring(1.5), [*STRINGS, ["a", "b", "ab", "a"], b"abab"]),
    ],
    Subsequence: [
        (Subsequence(2, 0.5), STRINGS),
        (Subsequence(3, 1.0), [*STRINGS, ["a", "b", "ab", "a"], b"abab"]),
        (Subsequence(3, 0.7, (1.0, 0.0, 0.5)), STRINGS),
    ],
    Fisher: [
        (Fisher(samples.mixture()), ROWS),
        (Fisher(samples.mixture(full=True), "identity"), ROWS),
        (Fisher(samples.mixture(), "empirical"), samples.vector_sets()),
        (Fisher(samples.mixture(full=True), improved=True), samples.vector_sets()),
        (Fisher(samples.chain(), symbols="abst"), ["abab", "sta", "", "tastb", "a"]),
        (Fisher(samples.chain(), "identity"), [[0, 1, 3], (2,), [], [3, 3, 0, 1]]),
    ],
    WeisfeilerLehman: [
        (WeisfeilerLehman(), GRAPHS),
        (WeisfeilerLehman(0), GRAPHS),
        (WeisfeilerLehman(2, base="assignment"), GRAPHS),
    ],
    ShortestPath: [
        (ShortestPath(), GRAPHS),
        (ShortestPath(node_kernel=Gaussian(0.5)), ATTRIBUTED),
        (ShortestPath(Gaussian() + 0.5 * Linear()), ATTRIBUTED),
        (ShortestPath(FunctionKernel(samples.row_product)), ATTRIBUTED),
    ],
    HashGraph: [
        (HashGraph(), ATTRIBUTED),
        (HashGraph(ShortestPath(), (0.5, 2.0), n_hashes=7, seed=3), ATTRIBUTED),
        (HashGraph(WeisfeilerLehman(2, base="assignment"), gamma=0.3), ATTRIBUTED),
    ],
    Graphlet: [(Graphlet(size), GRAPHS) for size in (3, 4, 5)],
    Subtree: [(Subtree(), TREES), (Subtree(1.0), TREES)],
    SubsetTree: [(SubsetTree(), TREES), (SubsetTree(1.0), TREES)],
    PartialTree: [(PartialTree(), TREES), (PartialTree(0.7, depth_decay=1.0), TREES)],
    GlobalAlignment: [
        (GlobalAlignment(), SERIES),
        (GlobalAlignment(0.3, normalize=False), SERIES),
        (GlobalAlignment(50.0), samples.time_series(1)),
        (GlobalAlignment("auto"), ROWS),
    ],
    SpatialPyramid: [(SpatialPyramid(0), WORD_MAPS), (SpatialPyramid(2), WORD_MAPS)],
    PyramidMatch: [
        (PyramidMatch(3), VECTOR_SETS),
        (PyramidMatch(0), VECTOR_SETS),
        (PyramidMatch(4, side=0.3), VECTOR_SETS),
    ],
    RandomWalk: [
        (RandomWalk(0.05), GRAPHS),
        (RandomWalk(0.3, steps=3), GRAPHS),
        (RandomWalk(0.05, node_kernel=Gaussian("auto")), ATTRIBUTED),
        (RandomWalk(0.3, 3, Linear()), ATTRIBUTED),
        (RandomWalk(0.2, 4, Gaussian((0.5, 0.0)).on([1, 0])), ATTRIBUTED),
    ],
    Precomputed: [(Precomputed(), GRAM)],
    FunctionKernel: [
        (FunctionKernel(samples.row_product), ROWS),
        (FunctionKernel(samples.row_product), SPARSE),
        (FunctionKernel(samples.shared_letters, pairwise=True), STRINGS),
    ],
    Sum: [
        (Gaussian() + Laplacian(0.5) + 1, ROWS),
        (Gaussian(0.1) + Gaussian(1.0) + Gaussian(10.0), FAR),
        (Precomputed() + 1, GRAM),
        (MIXED, PANDAS),
        (MIXED, POLARS),
    ],
    Product: [
        (Linear() * Gaussian(), ROWS),
        (Polynomial(2) * (Linear() + Laplacian(1.0)), ROWS),
        (Spectrum(1) * Spectrum(2), STRINGS),
    ],
    Scaled: [(2.5 * Linear(), ROWS), (0.0 * Gaussian(1.0), ROWS), (3.0 * Precomputed(), GRAM)],
    Power: [
        (Linear() ** 2, ROWS),
        ((Gaussian(1.0) + 0.5) ** 3, ROWS),
        (SetIntersection() ** 2, SETS),
    ],
    Exp: [(Linear().exp(), ROWS), (Spectrum(2).normalized().exp(), STRINGS)],
    Normalized: [
        (Linear().normalized(), SPARSE),
        (Polynomial(2).normalized(), ROWS),
        (Spectrum(2).normalized(), STRINGS),
        ((SetIntersection() + 1).normalized(), SETS),
    ],
    Rescaled: [
        (Gaussian(1.0).rescaled(samples.shrinking), ROWS),
        (Linear().rescaled(samples.shrinking) + Linear(), SPARSE),
    ],
    Of: [
        (Gaussian().of(samples.halved), ROWS),
        (Polynomial(2).of(StandardScaler().fit(ROWS)), ROWS),
        (Linear().of(samples.letter_counts).normalized(), STRINGS),
        ((Linear().of(samples.halved).rescaled(samples.shrinking) + 1).normalized(), ROWS),
        (Linear().of(StandardScaler().fit(PANDAS[["age", "dose"]])), PANDAS[["age", "dose"]]),
    ],
    Metric: [
        (Laplacian("scale").metric([1.0, 0.0, 0.5]), ROWS),
        (Gaussian().metric([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.1]]), ROWS),
        (Polynomial(2).metric([0.5, 1.0, 2.0, 0.0]), SPARSE),
        ((Linear() + Laplacian(1.0)).metric(np.ones((4, 4))).normalized(), SPARSE),
        (Linear().metric(np.eye(2)).on(["age", "dose"]), PANDAS),
    ],
    On: [
        (Gaussian().on([2, 0]), ROWS),
        (Linear().on(1) + Intersection().on([0, 3]), SPARSE),
        (Linear().on(["dose"]), PANDAS),
        (Tanimoto().on(["age", "dose"]), POLARS),
        (Categorical().on("colour"), POLARS),
        (Spectrum(2).on("dna"), POLARS),
        (Gaussian(1.0).on([1, 2]), PANDAS),
    ],
}
INDEFINITE = {Sigmoid}
CASES = [(kind, *example) for kind, examples in EXAMPLES.items() for example in examples]


def test_no_kernel_is_forgotten():
    ours = {kind for kind in registry.values() if kind.__module__.startswith("mercer.")}
    missing = sorted(kind.__name__ for kind in ours - set(EXAMPLES))
    assert not missing, f"add an example to EXAMPLES for {', '.join(missing)}"
    for kind, examples in EXAMPLES.items():
        for kernel, points in examples:
            assert kind in {type(node) for node, _ in kernel.walk(kernel.admit(points))}, kernel


@pytest.mark.parametrize(
    ("kind", "kernel", "points"), CASES, ids=[f"{i} {case[1]!r}" for i, case in enumerate(CASES)]
)
def test_conformance(kind, kernel, points):
    run = check_kernel_conformance(kernel, points, positive=kind not in INDEFINITE)
    assert len(run) == len(KERNEL_CHECKS) - (kind in INDEFINITE)


def test_conformance_needs_points():
    with pytest.raises(AssertionError, match="conformance needs at least 4 points, got 2"):
        check_kernel_conformance(Linear(), ROWS[:2])


@pytest.mark.parametrize("frame", [PANDAS, POLARS], ids=["pandas", "polars"])
def test_the_mixed_frame_is_the_sum_of_its_parts(frame):
    """The same numbers as from the columns taken by hand."""
    columns = samples.frame_columns()
    numbers = np.column_stack([columns["age"], columns["dose"]])
    colours = np.array(columns["colour"])
    kernel = MIXED.resolve(frame)
    gaussian = Gaussian().resolve(numbers)
    assert kernel.get_params()["k2__k1__gamma"] == pytest.approx(gaussian.gamma, rel=1e-14)
    wanted = (
        Spectrum(3).normalized().formula(columns["dna"])
        + gaussian.formula(numbers) * np.exp(-0.5 * (colours[:, None] != colours[None, :]))
        + 0.5 * Spectrum(1).formula(columns["tags"])
    )
    np.testing.assert_allclose(kernel(frame), wanted, rtol=1e-12)
