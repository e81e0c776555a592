"""HashGraph: against an oracle that is given the grids, and what the grids are drawn from."""

import os
import subprocess
import sys

import numpy as np
import oracles_graphs as oracles
import pytest
import samples
from samples import attributed_graphs

from mercer.checks import InputError, InputTypeError
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Gaussian,
    Graph,
    Graphlet,
    HashGraph,
    Laplacian,
    ShortestPath,
    Spectrum,
    WeisfeilerLehman,
)
from mercer.kernels.graphs.hashed import _grid

pytestmark = pytest.mark.native

POINTS = attributed_graphs()
WIDTHS = [3.116007438154627, 0.9986859098041289]  # of seed 7, hash 3
SHIFTS = [0.33674929755812183, 0.704631196568255]
BASES = {
    "labels": (WeisfeilerLehman(0), lambda g: oracles.refined_labels(g, 0), oracles.product),
    "refined": (WeisfeilerLehman(2), lambda g: oracles.refined_labels(g, 2), oracles.product),
    "assigned": (
        WeisfeilerLehman(1, "assignment"),
        lambda g: oracles.refined_labels(g, 1),
        oracles.overlap,
    ),
    "paths": (ShortestPath(), oracles.paths, oracles.product),
}


@pytest.mark.parametrize(("base", "count", "meet"), BASES.values(), ids=BASES)
@pytest.mark.parametrize("gamma", [0.3, 2.0, (0.5, 4.0)], ids=repr)
def test_it_is_the_mean_of_the_base_on_graphs_in_cells(base, count, meet, gamma):
    kernel = HashGraph(base, gamma, n_hashes=6, seed=11)
    wanted = np.zeros((len(POINTS), len(POINTS)))
    for index in range(6):
        widths, shifts = _grid(11, index, 2)
        counts = [count(oracles.in_cells(x, widths / np.array(gamma), shifts)) for x in POINTS]
        wanted += [[float(meet(x, y)) / 6 for y in counts] for x in counts]
    np.testing.assert_allclose(kernel(POINTS), wanted, rtol=1e-12)
    np.testing.assert_allclose(kernel.formula(POINTS), wanted, rtol=1e-12)
    assert kernel(POINTS)[0, 8] == pytest.approx(kernel(POINTS)[0, 0], rel=1e-13)


def test_its_counts_are_its_map():
    kernel = HashGraph(gamma=1.0, n_hashes=3)
    counts = [kernel.counts(x) for x in POINTS]
    found = [[kernel.common(x, y) for y in counts] for x in counts]
    np.testing.assert_allclose(found, kernel.formula(POINTS), rtol=1e-12)
    assert kernel.has_map()
    assert not HashGraph(WeisfeilerLehman(base="assignment")).has_map()


def test_nodes_share_a_cell_with_the_probability_of_the_laplacian():
    """Five standard deviations of the mean of as many draws."""
    rows = np.array([[0.0, 0.0], [0.3, 0.0], [0.0, 1.0], [-0.5, 0.4], [2.0, 3.0]])
    single = [Graph(1, [], node_attributes=[row]) for row in rows]
    gamma, draws = (0.7, 1.3), 10_000
    K = HashGraph(WeisfeilerLehman(0), gamma, n_hashes=draws, seed=2)(single)
    wanted = Laplacian(gamma).formula(rows)
    assert (np.abs(K - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / draws) + 1e-12).all()
    whole = Graph(5, [], node_attributes=rows)
    kernel = HashGraph(WeisfeilerLehman(0), gamma, n_hashes=draws, seed=2)
    assert kernel([whole])[0, 0] == pytest.approx(K.sum(), rel=1e-10)


def test_grids_are_drawn_from_gamma_and_uniform():
    widths, shifts = (
        np.concatenate(part) for part in zip(*(_grid(5, i, 40) for i in range(500)), strict=True)
    )
    n = len(widths)  # 20,000, of which all must differ
    assert len(np.unique(widths)) == len(np.unique(shifts)) == n
    assert widths.mean() == pytest.approx(2.0, abs=5 * np.sqrt(2 / n))
    assert widths.var() == pytest.approx(2.0, abs=5 * np.sqrt(24 / n))
    for t in (0.5, 2.0, 5.0):
        share = 1 - (1 + t) * np.exp(-t)
        assert (widths < t).mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / n))
    assert shifts.min() > 0
    assert shifts.max() < 1
    assert shifts.mean() == pytest.approx(0.5, abs=5 * np.sqrt(1 / 12 / n))
    assert abs(np.corrcoef(widths, shifts)[0, 1]) < 5 / np.sqrt(n)


def test_grids_stay_what_they_are():
    """A model that was saved once must find the same cells for ever."""
    widths, shifts = _grid(7, 3, 2)
    np.testing.assert_allclose(widths, WIDTHS, rtol=1e-14)
    np.testing.assert_allclose(shifts, SHIFTS, rtol=1e-14)
    one, _ = _grid(7, 3, 1)
    assert one[0] == widths[0]  # a further column does not change the others


def test_features_are_the_same_alone_and_in_other_processes():
    kernel = HashGraph(gamma=0.5, n_hashes=4)
    together = kernel.tabulate(POINTS)
    for index, x in enumerate(POINTS):
        alone = kernel.tabulate([x])
        part = slice(together.ends[index], together.ends[index + 1])
        np.testing.assert_array_equal(alone.ids, together.ids[part])
        np.testing.assert_array_equal(alone.values, together.values[part])
    code = (
        "from samples import attributed_graphs\n"
        "from mercer.kernels import HashGraph\n"
        "table = HashGraph(gamma=0.5, n_hashes=4).tabulate(attributed_graphs())\n"
        "print(int(table.ids.sum()))"
    )
    for seed in ("1", "2"):
        names = os.environ | {
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.path.dirname(samples.__file__),
        }
        done = subprocess.run(
            [sys.executable, "-c", code], env=names, capture_output=True, text=True, check=True
        )
        assert int(done.stdout) == int(together.ids.sum())


def test_seeds_are_different_kernels():
    kernels = [HashGraph(gamma=1.0, n_hashes=2, seed=seed) for seed in range(4)]
    found = {kernel(POINTS).tobytes() for kernel in kernels}
    assert len(found) == 4
    assert kernels[1](POINTS).tobytes() in found


def test_no_attributes_are_no_cells():
    """A gamma of 0 leaves a column out; without columns there are the labels alone."""
    plain = WeisfeilerLehman(2)([x.without_attributes() for x in POINTS])
    for kernel in (
        HashGraph(WeisfeilerLehman(2), (0.0, 0.0)),
        HashGraph(WeisfeilerLehman(2), 1e-9),
    ):
        np.testing.assert_allclose(kernel(POINTS), plain, rtol=1e-12)
    bare = [
        Graph(x.n_nodes, x.edges, x.node_labels, x.edge_labels, np.zeros((x.n_nodes, 0)))
        for x in POINTS
    ]
    np.testing.assert_allclose(HashGraph(WeisfeilerLehman(2), 1.0)(bare), plain, rtol=1e-12)


def test_a_width_is_taken_from_all_nodes():
    rows = np.concatenate([x.node_attributes for x in POINTS])
    kernel = HashGraph()
    assert kernel.resolve(POINTS).gamma == Laplacian().resolve(rows).gamma
    assert HashGraph(gamma="auto").resolve(POINTS).gamma == 0.5
    weights = np.arange(len(POINTS)) * 1.0
    of_nodes = np.repeat(weights, [x.n_nodes for x in POINTS])
    assert kernel.resolve(POINTS, weights).gamma == Laplacian().resolve(rows, of_nodes).gamma
    assert kernel.resolve(RowBlocks([POINTS[:3], POINTS[3:]])) == kernel.resolve(POINTS)
    assert kernel.resolve([Graph(0, [])]).gamma == 1.0


@pytest.mark.parametrize(
    ("error", "parameters", "message"),
    [
        (InputTypeError, {"base": Graphlet()}, "base must be WeisfeilerLehman"),
        (InputTypeError, {"base": Spectrum(2)}, "base must be WeisfeilerLehman"),
        (InputTypeError, {"base": 3}, r"base must be .*; got 3"),
        (InputTypeError, {"base": ShortestPath(Gaussian(1.0))}, "base must be WeisfeilerLehman"),
        (InputError, {"gamma": 0}, "gamma must be a finite number above 0"),
        (InputError, {"gamma": (1.0, -1.0)}, r"gamma\[1\] must be"),
        (InputError, {"gamma": "wide"}, "gamma must be one of 'scale', 'auto'"),
        (InputError, {"n_hashes": 0}, "n_hashes must be a whole number at least 1"),
        (InputTypeError, {"n_hashes": 2.5}, "n_hashes must be a whole number"),
        (InputError, {"seed": -1}, "seed must be a whole number at least 0"),
        (InputTypeError, {"seed": None}, "seed must be a whole number"),
    ],
)
def test_parameters_are_checked(error, parameters, message):
    with pytest.raises(error, match=message):
        HashGraph(**parameters)


@pytest.mark.filterwarnings("error")
def test_numbers_without_a_cell_are_refused():
    points = [Graph(1, [], node_attributes=[[1e300]])] * 2
    for call in (HashGraph(gamma=1e10), HashGraph(gamma=1e10).formula):
        with pytest.raises(InputError, match=r"less than 1\.8e308 cells from 0; got 1e\+300, with"):
            call(points)
    assert HashGraph(gamma=1.0)(points).min() == pytest.approx(4.0)
    with pytest.raises(InputError, match="one parameter per column means 2 columns; got 1"):
        HashGraph(gamma=(1.0, 2.0))(points)
