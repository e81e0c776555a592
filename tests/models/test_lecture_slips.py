"""The slips that docs/lectures.md lists: what is printed fails, what is said instead holds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import SVC, KernelRidge
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, SetIntersection

DEGREES = np.arange(360)
CIRCLE = np.column_stack([np.cos(np.radians(DEGREES)), np.sin(np.radians(DEGREES))])


def test_both_factors_of_equation_20_at_one_point():
    """Lecture A: φ(x)·φ(x) is 5 where the kernel, φ(x)·φ(x'), is 1."""
    kernel = Linear() + Polynomial(2)
    phi, psi = kernel.features([[1.0, 0.0]])[0], kernel.features([[0.0, 1.0]])[0]
    assert phi @ phi == pytest.approx(5, rel=1e-14)
    assert phi @ psi == pytest.approx(1, rel=1e-14)
    assert kernel([[1.0, 0.0]], [[0.0, 1.0]])[0, 0] == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize(
    ("kernel", "least"),
    [
        (Linear(), {180}),
        (Polynomial(2), {180}),
        (Polynomial(3), {180}),
        (Gaussian(1.0), {180}),
        (Linear() ** 2, {90, 270}),
        (Laplacian(1.0), {135, 225}),
    ],
    ids=repr,
)
def test_where_on_the_unit_circle_a_kernel_is_smallest(kernel, least):
    """Lecture B: at x = -y, it says; not for even powers without a constant, nor the Laplacian."""
    values = kernel([[1.0, 0.0]], CIRCLE)[0]
    found = np.isclose(values, values.min(), rtol=1e-12, atol=1e-12)
    assert set(DEGREES[found].tolist()) == least


def test_the_laplacian_at_its_smallest():
    """Lecture B: ||x - y||_1 is 1 + √2 at 135 degrees and 2 at x = -y; so for its square."""
    sums = np.abs(CIRCLE - [1.0, 0.0]).sum(axis=1)
    assert sums[135] == pytest.approx(1 + np.sqrt(2), rel=1e-14)
    assert sums[180] == pytest.approx(2, rel=1e-14)
    opposite, least = Laplacian(1.0)([[1.0, 0.0]], CIRCLE[[180, 135]])[0]
    assert (round(opposite, 3), round(least, 3)) == (0.135, 0.089)


def test_the_parabola():
    """Lecture B: the weights of (x - p)**2 + q on (1, x, x**2) are p**2 + q, -2p and 1."""
    p, q = 2.0, 1.0
    x = np.linspace(-1, 5, 9)
    phi = np.column_stack([np.ones(9), x, x**2])
    assert_allclose(phi @ [p**2 + q, -2 * p, 1], (x - p) ** 2 + q, atol=1e-13)
    assert phi[3] @ [p**2 + q, 2 * p, 1] - ((x[3] - p) ** 2 + q) == pytest.approx(4 * p * x[3])


def test_the_thin_decomposition():
    """Lecture B: V is d by n, so V'V is the identity of n, and VV', d by d, is none."""
    n, d = 3, 5
    X = np.random.default_rng(0).normal(size=(n, d))
    U, sizes, Vt = np.linalg.svd(X, full_matrices=False)
    assert Vt.T.shape == (d, n)
    assert_allclose(Vt @ Vt.T, np.eye(n), atol=1e-14)
    assert (Vt.T @ Vt).shape == (d, d)
    assert np.trace(Vt.T @ Vt) == pytest.approx(n)
    y = np.array([1.0, -1.0, 1.0])
    assert_allclose(X @ (Vt.T @ (U.T @ y / sizes)), y, atol=1e-13)


def test_the_series_of_the_gaussian_starts_at_0():
    """Lecture B: all terms from 1 on vanish at x = y = 0, where the kernel is 1."""
    x, y, gamma = 0.3, -0.7, 0.5
    bells = np.exp(-gamma * (x**2 + y**2))
    terms = np.cumprod([1.0, *(2 * gamma * x * y / np.arange(1, 25))])
    assert bells * terms.sum() == pytest.approx(Gaussian(gamma).pair([x], [y]), rel=1e-14)
    assert Gaussian(gamma).pair([0.0], [0.0]) == 1


def test_cosines_of_sets_reach_both_ends():
    """Lecture B: they lie in [0, 1], with 0 for disjoint sets and 1 for equal ones."""
    assert SetIntersection().normalized()([{1}], [{2}, {1}])[0].tolist() == [0, 1]


def test_ridge_coefficients_are_errors_over_alpha():
    """Lecture C: so no coefficient is 0 unless a point is hit exactly."""
    random = np.random.default_rng(1)
    X, y = random.normal(size=(40, 3)), random.normal(size=40)
    model = KernelRidge(0.5, kernel=Gaussian(0.3)).fit(X, y)
    assert_allclose(0.5 * model.dual_coef_, y - model.predict(X), atol=1e-13)
    assert np.abs(model.dual_coef_).min() > 1e-3


def test_the_map_of_the_quadratic_kernel():
    """Lecture D: √2 z, not √x z; 49 and 51.7 at x = 3, z = 2."""
    x, z = 3.0, 2.0
    left = np.array([1, np.sqrt(2) * x, x**2])
    assert left @ [1, np.sqrt(2) * z, z**2] == pytest.approx(
        Polynomial(2).pair([x], [z]), rel=1e-14
    )
    assert left @ [1, np.sqrt(x) * z, z**2] == pytest.approx(51.7, abs=0.01)


def test_the_cross_term_of_the_gaussian():
    """Lecture D: 2γ x·z, not 2 x·z; at γ = 1/4, x = z = 1 that is 4.48 where the kernel is 1."""
    assert np.exp(-0.25 + 2 - 0.25) == pytest.approx(4.48, abs=0.01)
    assert np.exp(-0.25 + 2 * 0.25 - 0.25) == Gaussian(0.25).pair([1.0], [1.0]) == 1


def test_gamma_is_an_inverse_squared_width():
    """Lecture D: a larger γ makes a narrower kernel, which stays positive far away."""
    assert Gaussian(0.1).pair([0.0], [1.0]) == pytest.approx(0.90, abs=0.005)
    assert Gaussian(10.0).pair([0.0], [1.0]) == pytest.approx(4.5e-5, rel=0.01)
    assert 0 < Gaussian(1.0).pair([0.0], [20.0]) < 1e-170


def test_a_wide_gaussian_is_ridge_with_an_intercept():
    """Lecture D3: with alpha = 2γλ, off by a multiple of γ; with a fixed alpha only a constant."""
    random = np.random.default_rng(2)
    X = random.normal(size=(30, 2))
    y = 3 + X @ [1.0, -2.0] + random.normal(0, 0.1, 30)
    straight, no_offset = (
        KernelRidge(0.7, kernel=Linear(), fit_intercept=offset).fit(X, y).predict(X)
        for offset in (True, False)
    )
    gammas = np.array([1e-3, 1e-4, 1e-5])
    found = [KernelRidge(1.4 * g, kernel=Gaussian(g)).fit(X, y).predict(X) for g in gammas]
    gaps = np.array([np.abs(f - straight).max() for f in found])
    assert_allclose(gaps[:-1] / gaps[1:], 10, rtol=0.05)
    assert gaps[-1] < 1e-3
    assert np.abs(found[-1] - no_offset).max() > 1
    flat = KernelRidge(0.7, kernel=Gaussian(1e-9)).fit(X, y).predict(X)
    assert_allclose(flat, y.sum() / (30 + 0.7), atol=1e-5)


def test_the_widest_margin_has_the_smallest_norm():
    """Lecture E: the points ±1; f(x) = wx has y f >= 1 for w >= 1, and the widest margin at 1."""
    found = SVC(np.inf, kernel=Linear()).fit([[-1.0], [1.0]], [-1, 1]).certificate_
    assert found.norm == pytest.approx(1)
    assert found.margin == pytest.approx(1)
