"""One step of the recursion against its definition, and how wide a kernel is."""

import numpy as np
import pytest
from oracles import ridge

from mercer.checks import KernelError
from mercer.fitting.rfm import recursion as recursion_module
from mercer.fitting.rfm.recursion import Recursion, Sample, ridge_fit, scale_of, weighted_median
from mercer.kernels import Exponential, Gaussian, Laplacian, Linear, Matern
from mercer.monitor import Monitor, Stopped

random = np.random.default_rng(4)
N, D = 40, 3
X = random.normal(size=(N, D))
TARGETS = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2 - 1.0])
WEIGHT = random.integers(1, 4, size=N).astype(float)
KERNELS = [Laplacian(1.0), Exponential(1.0), Gaussian(1.0), Matern(1.5, 1.0)]


def recursion(kernel=KERNELS[0], **given):
    usual = {"width": 1.0, "alpha": 0.1, "diagonal": True, "gradient_rows": 1000}
    return Recursion(kernel=kernel, **usual | given)


# --- the definition, as slowly as it is written -------------------------------------------------


def root_of(metric):
    """The symmetric square root of a metric."""
    if metric.ndim == 1:
        return np.diag(np.sqrt(metric))
    values, vectors = np.linalg.eigh(metric)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def values_at(kernel, root, Y):
    return kernel.formula(Y @ root, X @ root)


def median_of_pairs(kernel, root, weight):
    """The median of k over pairs of rows, each as often as the weights of its rows say."""
    K, found = values_at(kernel, root, X), []
    for i in range(N):
        for j in range(i):
            found += [K[i, j]] * int(weight[i] * weight[j])
    return sorted(found)[(len(found) - 1) // 2]


def next_by_definition(kernel, root, alpha, weight):
    """mean w grad f grad f', by central differences of a ridge fit, output by output."""
    a, b = ridge(values_at(kernel, root, X), TARGETS, alpha, weight, intercept=True)

    def f(Y):
        return values_at(kernel, root, Y) @ a + b

    G, step = np.zeros((D, D)), 1e-6
    for i in range(N):
        slopes = np.zeros((D, TARGETS.shape[1]))
        for c in range(D):
            move = step * np.eye(D)[c]
            slopes[c] = (f(X[i : i + 1] + move) - f(X[i : i + 1] - move))[0] / (2 * step)
        G += weight[i] * slopes @ slopes.T
    return G


@pytest.mark.parametrize("weight", [np.ones(N), WEIGHT], ids=["plain", "weights"])
@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_two_steps_are_those_of_the_definition(kernel, diagonal, weight):
    sample = Sample(X=X, targets=TARGETS, weight=None if weight is not WEIGHT else weight)
    machine = recursion(kernel, diagonal=diagonal)
    metric = machine.plain(sample).matrix.values
    for steps in (1, 2):
        G = next_by_definition(kernel, root_of(metric), 0.1, weight)
        G = np.diag(G) if diagonal else G
        found = machine.learn(sample, steps, Monitor())
        metric = found.matrix.values
        np.testing.assert_allclose(metric / metric.max(), G / np.abs(G).max(), atol=2e-4)
        assert median_of_pairs(kernel, root_of(metric), weight) == pytest.approx(np.exp(-1), 1e-4)


def test_fits_are_those_of_each_step():
    sample = Sample(X=X, targets=TARGETS)
    fits = list(recursion().fits(sample, 2, Monitor()))
    assert len(fits) == 3
    for steps, fit in enumerate(fits):
        kernel = recursion().learn(sample, steps, Monitor())
        assert fit.kernel == kernel
        a, b = ridge(kernel.formula(X), TARGETS, 0.1, intercept=True)
        np.testing.assert_allclose(fit.coefficients, a, atol=1e-9)
        np.testing.assert_allclose(fit.at(X[:5], Monitor()), kernel.formula(X[:5], X) @ a + b)


def test_many_rows_are_fitted_in_single_precision_well_enough():
    rows = np.random.default_rng(1).normal(size=(700, D))
    sample = Sample(X=rows, targets=rows[:, :1] ** 2)
    kernel = recursion().plain(sample)
    fit = ridge_fit(kernel, sample, 0.1, Monitor())
    a, b = ridge(kernel.formula(rows), sample.targets, 0.1, intercept=True)
    wanted = kernel.formula(rows) @ a + b
    assert np.abs(fit.at(rows, Monitor()) - wanted).max() < 1e-3


def test_a_penalty_below_rounding_is_raised():
    rows = np.repeat(np.random.default_rng(1).normal(size=(300, 1)), 2, axis=0)  # K is singular
    fit = ridge_fit(Gaussian(0.01), Sample(X=rows, targets=rows), 1e-14, Monitor())
    assert np.abs(fit.at(rows, Monitor()) - rows).max() < 0.1


# --- what it finds ------------------------------------------------------------------------------


def test_hidden_columns_are_found():
    rows = random.normal(size=(300, 8))
    y = np.sin(2 * rows[:, 2]) + rows[:, 5]
    metric = recursion().learn(Sample(X=rows, targets=y[:, None]), 3, Monitor()).matrix.values
    assert set(np.argsort(metric)[-2:]) == {2, 5}
    assert metric[[0, 1, 3, 4, 6, 7]].max() < 0.05 * metric[[2, 5]].min()


def test_hidden_directions_are_found():
    rows = random.normal(size=(300, 5))
    hidden = np.array([3.0, 4.0, 0.0, 0.0, 0.0]) / 5
    y = np.sin(2 * rows @ hidden)
    machine = recursion(Gaussian(1.0), diagonal=False, width=2.0)
    metric = machine.learn(Sample(X=rows, targets=y[:, None]), 3, Monitor()).matrix.values
    assert abs(np.linalg.eigh(metric)[1][:, -1] @ hidden) > 0.99


def test_a_constant_target_leaves_all_columns_alike():
    sample = Sample(X=X, targets=np.zeros((N, 1)))
    metric = recursion().learn(sample, 3, Monitor()).matrix.values
    assert np.ptp(metric) == 0


def test_gradients_are_taken_at_some_rows():
    sample = Sample(X=X, targets=TARGETS)
    few, all_rows = (
        recursion(gradient_rows=rows).learn(sample, 1, Monitor()).matrix.values for rows in (5, N)
    )
    assert not np.allclose(few, all_rows)
    assert np.array_equal(all_rows, recursion().learn(sample, 1, Monitor()).matrix.values)


def test_of_many_rows_each_step_draws_some_anew_and_later_steps_fewer(monkeypatch):
    monkeypatch.setattr(recursion_module, "FIRST_ROWS", 30)
    monkeypatch.setattr(recursion_module, "LATER_ROWS", 20)
    seen = []

    def spy(kernel, sample, alpha, monitor):
        seen.append(sample.X)
        return ridge_fit(kernel, sample, alpha, monitor)

    monkeypatch.setattr(recursion_module, "ridge_fit", spy)
    recursion().learn(Sample(X=X, targets=TARGETS, weight=WEIGHT), 5, Monitor())
    assert [len(rows) for rows in seen] == [30, 30, 30, 20, 20]
    assert not np.array_equal(seen[0], seen[1])
    places = {row.tobytes(): place for place, row in enumerate(X)}
    for rows in seen:
        order = [places[row.tobytes()] for row in rows]
        assert order == sorted(set(order))


def test_it_can_be_stopped():
    monitor = Monitor()
    monitor.cancel()
    with pytest.raises(Stopped):
        recursion().learn(Sample(X=X, targets=TARGETS), 1, monitor)


# --- how wide it is -----------------------------------------------------------------------------


@pytest.mark.parametrize("width", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("kernel", [*KERNELS, Laplacian(1e9), Gaussian(1e-9)], ids=repr)
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e20])
def test_the_median_is_as_the_width_says(kernel, width, size):
    found = recursion(kernel, width=width).scaled(np.ones(D), size * X)
    values = found.formula(size * X)[np.triu_indices(N, 1)]
    assert np.median(values) == pytest.approx(np.exp(-1 / width), 2e-2)


def test_rows_that_are_alike_do_not_count():
    column = np.zeros((50, 1))
    column[:5] = 2.0  # nearly all pairs are of equal rows
    found = recursion().scaled(np.ones(1), column)
    assert found.formula(column[:1], column[-1:])[0, 0] == pytest.approx(np.exp(-1), 1e-5)
    same = recursion().scaled(np.ones(2), np.ones((6, 2)))
    assert same.matrix.values.tolist() == [1.0, 1.0]
    alone = recursion().scaled(np.ones(2), np.ones((1, 2)))
    assert alone.matrix.values.tolist() == [1.0, 1.0]


def test_rows_without_weight_do_not_count():
    weight = np.r_[np.ones(20), np.zeros(20)]
    far = np.r_[X[:20], 100 * X[20:]]
    one, other = recursion().scaled(np.ones(D), far, weight), recursion().scaled(np.ones(D), X[:20])
    np.testing.assert_allclose(one.matrix.values, other.matrix.values, rtol=1e-5)


def test_a_width_out_of_reach_comes_as_near_as_it_can():
    Z = X[:10]
    assert 0 < scale_of(Laplacian(1.0), Z, None, 1 - 1e-40) < 1e-20
    assert scale_of(Laplacian(1.0), Z, None, 0.0) > 1e20


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0) + 1], ids=repr)
def test_a_kernel_that_does_not_fall_is_refused(kernel):
    with pytest.raises(KernelError, match="the kernel must fall from 1 to 0 with the distance"):
        recursion(kernel).plain(Sample(X=X, targets=X))


def test_medians_by_hand():
    assert weighted_median(np.array([3.0, 1.0, 2.0]), None) == 2.0
    assert weighted_median(np.array([4.0, 3.0, 1.0, 2.0]), None) == 2.0
    assert weighted_median(np.array([4.0, 3.0, 1.0, 2.0]), np.ones(4)) == 2.0
    assert weighted_median(np.array([3.0, 1.0, 2.0]), np.array([5.0, 1.0, 1.0])) == 3.0
