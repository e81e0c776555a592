"""Validity: the certificate of a kernel on points or of a matrix, with its witness."""

import numpy as np
import pytest

from mercer import check_kernel
from mercer.checks import InputError, InputTypeError
from mercer.diagnostics import validity
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Categorical,
    Constant,
    ExpDot,
    FunctionKernel,
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Sigmoid,
    Spectrum,
)

random = np.random.default_rng(5)
X = random.normal(size=(150, 3))
CROSS = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def l1_squared(A, B):
    """The lecture's exp(-||x - y||_1**2 / 4), which is not a kernel."""
    return np.exp(-0.25 * np.abs(A[:, None] - B[None]).sum(axis=-1) ** 2)


def with_spectrum(values, seed=0):
    """A symmetric matrix with the given eigenvalues."""
    values = np.asarray(values, dtype=float)
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    K = (Q * values) @ Q.T
    return (K + K.T) / 2


@pytest.fixture(params=["exact", "Lanczos"])
def method(request, monkeypatch):
    """All eigenvalues, or the extreme ones only, as for many points."""
    if request.param == "Lanczos":
        monkeypatch.setattr(validity, "EXACT", 10)
    return request.param


# --- verdicts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [X, X.astype(np.float32)], ids=["double", "single"])
@pytest.mark.parametrize("kernel", [Gaussian(0.4), Matern(0.5), Polynomial(2), Linear()], ids=repr)
def test_kernels_are_kernels(method, kernel, points):
    found = check_kernel(kernel, points)
    assert found.method == method
    assert found.is_psd
    assert found.is_symmetric
    assert found.witness is None
    assert found.verdict.startswith(f"{kernel!r} on these points is positive")
    wanted = np.linalg.eigvalsh(kernel.formula(points.astype(float)))
    size = wanted[-1] * (1e-9 if points.dtype == np.float64 else 1e-5)
    assert found.max_eigenvalue == pytest.approx(wanted[-1], abs=size)
    assert found.min_eigenvalue == pytest.approx(wanted[0], abs=size)


def test_positive_definite_and_singular_are_told_apart(method):
    definite = check_kernel(Matern(0.5), X)
    assert definite.verdict.endswith("is positive definite: a valid Mercer kernel.")
    assert definite.rank == 150
    assert np.isfinite(definite.condition)
    singular = check_kernel(Linear(), X)
    assert "but singular to rounding: rank about 3 of 150" in singular.verdict
    assert singular.rank == 3
    assert singular.condition == np.inf


def test_an_indefinite_kernel_has_a_witness(method):
    kernel = Sigmoid(1.0, -1.0)
    found = check_kernel(kernel, X)
    K = kernel.formula(X)
    low = np.linalg.eigvalsh(K)[0]
    assert low < -1
    assert not found.is_psd
    assert found.is_symmetric
    assert found.min_eigenvalue == pytest.approx(low, rel=1e-8)
    c = found.witness
    assert np.linalg.norm(c) == pytest.approx(1, rel=1e-12)
    assert c @ K @ c == pytest.approx(found.min_eigenvalue, rel=1e-8)
    assert c @ K @ c < 0
    assert "is not positive semi-definite: the vector c in `witness` has c'Kc = " in found.verdict
    assert f"{low:.4g}" in str(found)


def test_the_lecture_example():
    found = check_kernel(FunctionKernel(l1_squared), CROSS)
    assert not found.is_psd
    assert found.min_eigenvalue == pytest.approx(-0.1006, abs=5e-5)
    K = l1_squared(CROSS, CROSS)
    assert found.witness @ K @ found.witness == pytest.approx(found.min_eigenvalue, rel=1e-12)
    # By hand: on e = (0, 1, 1, 1, 1)/2 and the centre K is [[1, 2q], [2q, 1 + 3q**4]].
    q = np.exp(-0.25)
    small = np.array([[1.0, 2 * q], [2 * q, 1 + 3 * q**4]])
    assert found.min_eigenvalue == pytest.approx(np.linalg.eigvalsh(small)[0], rel=1e-12)
    # The kernel that was meant is one.
    good = check_kernel(FunctionKernel(lambda A, B: l1_squared(A, B) ** 0 * laplace(A, B)), CROSS)
    assert good.is_psd


def laplace(A, B):
    return np.exp(-0.25 * np.abs(A[:, None] - B[None]).sum(axis=-1))


def test_matrices(method):
    values = np.concatenate([[-0.5], np.linspace(1, 3, 29)])
    found = check_kernel(with_spectrum(values))
    assert found.method == method
    assert not found.is_psd
    assert found.min_eigenvalue == pytest.approx(-0.5, rel=1e-9)
    assert found.max_eigenvalue == pytest.approx(3.0, rel=1e-9)
    assert found.verdict.startswith("The matrix is not positive semi-definite")
    good = check_kernel(with_spectrum(np.linspace(1, 3, 30)))
    assert good.is_psd
    assert good.condition == pytest.approx(3.0, rel=1e-8)


def test_methods_agree_on_verdicts(monkeypatch):
    cases = [with_spectrum(np.r_[low, np.linspace(0.5, 2, 40)]) for low in (-1, -1e-3, 0, 1e-3)]
    exact = [check_kernel(K) for K in cases]
    monkeypatch.setattr(validity, "EXACT", 5)
    lanczos = [check_kernel(K) for K in cases]
    assert [one.is_psd for one in exact] == [False, False, True, True]
    for one, other in zip(exact, lanczos, strict=True):
        assert one.is_psd == other.is_psd
        assert other.min_eigenvalue == pytest.approx(one.min_eigenvalue, abs=1e-9)
        assert other.max_eigenvalue == pytest.approx(one.max_eigenvalue, abs=1e-9)


def test_symmetry(method):
    K = with_spectrum(np.linspace(1, 2, 30))
    K[3, 7] += 0.25
    found = check_kernel(K)
    assert not found.is_symmetric
    assert not found.is_psd
    assert found.asymmetry == pytest.approx(0.25, rel=1e-12)
    assert "is not symmetric: K and its transpose differ by up to 0.25" in found.verdict
    for kernel, points in (
        (FunctionKernel(lambda A, B: A @ B.T + A[:, :1] - B[:, :1].T), X),
        (FunctionKernel(lambda x, y: float(x @ y + x[0] - y[0]), pairwise=True), X),
        (FunctionKernel(lambda s, t: float(s <= t), pairwise=True), ["a", "b", "c", "d"] * 4),
        (Precomputed(), K),
    ):
        found = check_kernel(kernel, points)
        assert not found.is_symmetric
        assert found.asymmetry > 0.2


def test_asymmetry_of_many_points_is_found(monkeypatch):
    # Several bands of rows, of which only one half need be computed for a kernel.
    monkeypatch.setattr(validity, "EXACT", 10)
    monkeypatch.setattr(validity, "SAMPLE", 20)
    skewed = FunctionKernel(lambda A, B: A @ B.T + A[:, :1] - B[:, :1].T)
    assert not check_kernel(skewed, X).is_symmetric
    assert check_kernel(FunctionKernel(lambda A, B: A @ B.T), X).is_symmetric


def test_every_kind_of_points(method):
    words = ["".join(random.choice(list("ab"), size=6)) for _ in range(30)]
    assert check_kernel(Spectrum(2).normalized(), words).is_psd
    assert check_kernel(Gaussian(), RowBlocks.split(X, 40)).is_psd
    assert check_kernel(Precomputed(), X @ X.T).rank == 3
    assert check_kernel(Categorical(1.0), [[w] for w in words]).is_psd
    assert check_kernel(Gaussian(), X).is_psd  # gamma is taken from these points


def test_small_cases():
    one = check_kernel(np.array([[2.0]]))
    assert (one.n, one.rank, one.condition, one.min_eigenvalue) == (1, 1, 1.0, 2.0)
    negative = check_kernel(np.array([[-2.0]]))
    assert not negative.is_psd
    assert abs(negative.witness[0]) == 1.0
    nothing = check_kernel(np.zeros((3, 3)))
    assert nothing.is_psd
    assert nothing.rank == 0
    assert check_kernel(Constant(2.0), X).rank == 1
    assert check_kernel([[2, 1], [1, 2]]).min_eigenvalue == pytest.approx(1.0, rel=1e-15)


# --- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 50.0])
def test_effective_dimension(alpha):
    K = Gaussian(0.4).formula(X)
    direct = np.trace(K @ np.linalg.inv(K + alpha * np.eye(150)))
    found = check_kernel(Gaussian(0.4), X, alpha=alpha)
    assert found.effective_dimension == pytest.approx(direct, rel=1e-10)
    assert found.alpha == alpha


def test_estimates_of_many_points(monkeypatch):
    K = with_spectrum(np.r_[np.zeros(60), np.geomspace(0.1, 10, 90)])
    exact = check_kernel(K)
    assert exact.rank == np.linalg.matrix_rank(K) == 90
    monkeypatch.setattr(validity, "EXACT", 10)
    found = check_kernel(K)
    assert found.rank == pytest.approx(90, abs=15)
    assert found.effective_dimension == pytest.approx(exact.effective_dimension, rel=0.1)
    assert f"numerical rank   about {found.rank}" in str(found)
    assert "numerical rank   90" in str(exact)


def test_tolerance():
    K = with_spectrum(np.r_[-1e-6, np.linspace(0.5, 1, 20)])
    assert not check_kernel(K).is_psd
    assert check_kernel(K, tol=1e-5).is_psd
    assert check_kernel(K, tol=1e-5).tolerance == pytest.approx(1e-5, rel=1e-6)
    assert not check_kernel(K, tol=0).is_psd
    # In single precision such an eigenvalue is rounding.
    assert check_kernel(K.astype(np.float32)).is_psd


def test_certificate_prints_and_compares():
    found = check_kernel(np.eye(3))
    text = str(found)
    assert text.splitlines()[0] == "The matrix is positive definite: a valid Mercer kernel."
    for part in (
        "eigenvalues      1 to 1 (exact, n = 3)",
        "numerical rank   3",
        "condition",
        "dim.",
    ):
        assert part in text
    assert found == check_kernel(np.eye(3))
    with pytest.raises(AttributeError):
        found.is_psd = False


# --- refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((Gaussian(),), "a kernel needs points X; got no X"),
        ((np.eye(3), X), "with points X comes a kernel"),
        ((3.0, X), r"with points X comes a kernel, .* got 3\.0 and X"),
        (("rbff", X), "kernel must be one of .* Did you mean 'rbf'"),
        ((np.ones((2, 3)),), r"K must be square, .* got \(2, 3\)"),
        ((np.array([[np.nan]]),), "K must have finite numbers only; got NaN in row 0, column 0"),
        ((np.empty((0, 0)),), "at least one point"),
        ((Gaussian(1.0), np.empty((0, 2))), "at least one point"),
        ((Gaussian(1.0), [1.0, 2.0]), "X must be 2-D"),
    ],
)
def test_bad_input(arguments, told):
    with pytest.raises(InputError, match=told):
        check_kernel(*arguments)


def test_bad_types_and_parameters():
    with pytest.raises(InputTypeError, match="matrix of real numbers"):
        check_kernel(np.eye(2) * 1j)
    for options in ({"alpha": 0}, {"alpha": -1}, {"tol": -1}, {"tol": np.nan}, {"tol": "1"}):
        with pytest.raises(InputError, match=f"check_kernel: {next(iter(options))} must be"):
            check_kernel(np.eye(2), **options)


def test_a_kernel_that_overflows_is_named(method):
    with pytest.raises(InputError, match=r"check_kernel: K must|ExpDot: kernel values must be"):
        check_kernel(ExpDot(1.0), X * 100)
