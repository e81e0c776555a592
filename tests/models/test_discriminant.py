"""Fisher's discriminant: against scikit-learn, explicit features and the eigen-equation itself."""

import pickle

import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse
from sklearn.datasets import load_iris, load_wine, make_circles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.utils import estimator_checks

import mercer
from mercer import KernelFisherDiscriminant, KernelRidge
from mercer.inputs import RowBlocks
from mercer.kernels import Categorical, Gaussian, Linear, Polynomial, SetIntersection, Spectrum

random = np.random.default_rng(41)
CENTRES = np.array([[0, 0, 0], [2, 0, 1], [0, 2, -1], [2, 2, 2]])
X = random.normal(size=(90, 3)) + CENTRES[np.arange(90) % 3]
LABELS = np.array(["red", "green", "blue"])[np.arange(90) % 3]
NEW = random.normal(size=(25, 3)) * 2
WEIGHT = random.integers(0, 4, size=90).astype(float)


def scatter(F, y, weight=None):
    """The scatter within and between classes of explicit features, by loops over points."""
    weight = np.ones(len(F)) if weight is None else weight
    shares, width = weight / weight.sum(), F.shape[1]
    within, between = np.zeros((width, width)), np.zeros((width, width))
    centre = sum(p * f for p, f in zip(shares, F, strict=True))
    for c in np.unique(y):
        member = y == c
        mean = sum(p * f for p, f in zip(shares[member], F[member], strict=True))
        mean /= shares[member].sum()
        between += shares[member].sum() * np.outer(mean - centre, mean - centre)
        for p, f in zip(shares[member], F[member], strict=True):
            within += p * np.outer(f - mean, f - mean)
    return within, between, centre


def directions(F, y, alpha, weight=None):
    """Eigenvalues and directions of S_b w = lambda (S_w + alpha) w, best first, and the centre."""
    within, between, centre = scatter(F, y, weight)
    values, vectors = scipy.linalg.eigh(between, within + alpha * np.eye(len(within)))
    return values[::-1], vectors[:, ::-1], centre


def same_up_to_sign(found, wanted, rtol):
    signs = np.sign((found * wanted).sum(axis=0))
    return np.allclose(found * signs, wanted, rtol=rtol, atol=rtol * np.abs(wanted).max())


# --- against others -----------------------------------------------------------------------------


@pytest.mark.parametrize("data", [load_iris, load_wine])
@pytest.mark.parametrize(
    ("solver", "alpha", "rtol"), [("auto", 1e-11, 1e-8), ("cholesky", 1e-8, 1e-5)]
)
def test_the_linear_kernel_is_linear_discriminant_analysis(data, solver, alpha, rtol):
    points, y = data(return_X_y=True)
    points = scale(points)
    wanted = LinearDiscriminantAnalysis(solver="eigen").fit(points, y)
    model = KernelFisherDiscriminant(kernel=Linear(), alpha=alpha, solver=solver).fit(points, y)
    projected = wanted.transform(points)
    projected -= projected.mean(axis=0)
    assert same_up_to_sign(model.transform(points), projected, rtol)
    ratios = wanted.explained_variance_ratio_[:2]
    assert np.allclose(model.explained_variance_ratio_, ratios, rtol=max(rtol, 1e-7))
    model = KernelFisherDiscriminant(kernel=Linear(), alpha=alpha, priors="empirical")
    assert np.array_equal(model.fit(points, y).predict(points), wanted.predict(points))


@pytest.mark.parametrize("solver", ["primal", "cholesky", "cg"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Polynomial(2, 0.3, 0.5)], ids=repr)
def test_it_is_the_discriminant_of_explicit_features(kernel, weight, solver):
    F, G = kernel.features(X), kernel.features(NEW)
    values, vectors, centre = directions(F, LABELS, 1e-2, weight)
    model = KernelFisherDiscriminant(kernel=kernel, alpha=1e-2, solver=solver, tol=1e-11)
    model.fit(X, LABELS, weight)
    assert np.allclose(model.eigenvalues_, values[:2], rtol=1e-8)
    assert np.allclose(model.explained_variance_ratio_, values[:2] / values[:2].sum(), rtol=1e-8)
    assert same_up_to_sign(model.transform(NEW), (G - centre) @ vectors[:, :2], 1e-7)
    assert same_up_to_sign(F[model.support_].T @ model.dual_coef_, vectors[:, :2], 1e-6)
    means = np.array(
        [
            np.average(
                model.transform(X)[c == LABELS], 0, None if weight is None else weight[c == LABELS]
            )
            for c in model.classes_
        ]
    )
    assert np.allclose(model.means_, means, rtol=1e-7, atol=1e-9)
    assert (model.means_[-1] > 0).all()
    gaps = np.linalg.norm(model.transform(NEW)[:, None] - means[None], axis=2)
    assert np.array_equal(model.predict(NEW), model.classes_[gaps.argmin(axis=1)])
    scores = model.transform(NEW) @ means.T - (means**2).sum(axis=1) / 2 - np.log(3)
    assert np.allclose(model.decision_function(NEW), scores, rtol=1e-6, atol=1e-8)
    assert model.certificate_.solver == solver


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(3, 0.2, 1.0)], ids=repr)
def test_the_eigen_equation_holds_as_well_as_certified(kernel, alpha):
    model = KernelFisherDiscriminant(kernel=kernel, alpha=alpha, solver="cholesky").fit(X, LABELS)
    # Coordinates: w = sum_i b_i (phi(x_i) - mu); G is the centred Gram matrix over n.
    n = len(X)
    H = np.eye(n) - 1 / n
    G = H @ kernel.formula(X, X) @ H / n
    U = np.column_stack([(c == LABELS) / np.sqrt((c == LABELS).sum()) for c in model.classes_])
    assert np.allclose(model.dual_coef_.sum(axis=0), 0, atol=1e-8 * np.abs(model.dual_coef_).max())
    b = model.dual_coef_ * np.sqrt(n)
    mu = model.eigenvalues_ / (1 + model.eigenvalues_)
    left, right = U @ (U.T @ (G @ b)), (G @ b + alpha * b) * mu
    sizes = np.linalg.norm(right, axis=0)
    assert np.all(np.linalg.norm(left - right, axis=0) <= sizes * 1e-7)
    assert model.certificate_.eigen_residual < 1e-6
    loose = KernelFisherDiscriminant(kernel=kernel, alpha=alpha, solver="cg", tol=1e-3)
    loose.fit(X, LABELS)
    b = loose.dual_coef_ * np.sqrt(n)
    mu = loose.eigenvalues_ / (1 + loose.eigenvalues_)
    left, right = U @ (U.T @ (G @ b)), (G @ b + alpha * b) * mu
    missed = np.linalg.norm(left - right, axis=0) / np.linalg.norm(right, axis=0)
    assert missed.max() <= 1.05 * loose.certificate_.eigen_residual + 1e-12
    # Scaled to variance one within classes, the ridge included; not correlated.
    b = model.dual_coef_ * np.sqrt(n)
    within = (G @ b).T @ (G @ b) - (U.T @ (G @ b)).T @ (U.T @ (G @ b)) + alpha * b.T @ G @ b
    assert np.allclose(within, np.eye(2), atol=1e-6)


def test_two_classes_by_hand():
    # Means -1 and 1, variance 1 within each: lambda = 1 / (1 + alpha), w = 1 / sqrt(1 + alpha).
    points, y = np.array([[-2.0], [0.0], [0.0], [2.0]]), np.array(["no", "no", "yes", "yes"])
    model = KernelFisherDiscriminant(kernel=Linear(), alpha=0.5).fit(points, y)
    assert model.eigenvalues_ == pytest.approx([1 / 1.5])
    assert model.explained_variance_ratio_ == pytest.approx([1.0])
    assert model.means_[:, 0] == pytest.approx(np.array([-1, 1]) / np.sqrt(1.5))
    assert model.transform([[3.0]])[0, 0] == pytest.approx(3 / np.sqrt(1.5))
    assert model.decision_function([[3.0], [-1.0]]) == pytest.approx([2 * 3 / 1.5, -2 / 1.5])
    assert model.predict([[3.0], [-1.0]]).tolist() == ["yes", "no"]
    assert model.certificate_.ridge == 2.0
    # log(0.9 / 0.1) = 2.197 moves the border to x = -2.197 * 1.5 / 2.
    shifted = KernelFisherDiscriminant(kernel=Linear(), alpha=0.5, priors=[0.1, 0.9])
    assert shifted.fit(points, y).predict([[-1.6], [-1.7]]).tolist() == ["yes", "no"]


def test_two_classes_are_ridge_regression():
    two = np.where(LABELS == "red", 1.0, -1.0)
    model = KernelFisherDiscriminant(kernel=Gaussian(0.3), alpha=0.01).fit(X, two)
    ridge = KernelRidge(90 * 0.01, kernel=Gaussian(0.3), fit_intercept=True).fit(X, two)
    assert np.corrcoef(model.transform(NEW)[:, 0], ridge.predict(NEW))[0, 1] == pytest.approx(1)


def test_it_learns():
    points, ring = make_circles(200, factor=0.4, noise=0.1, random_state=1)
    assert KernelFisherDiscriminant().fit(points, ring).score(points, ring) > 0.98
    assert KernelFisherDiscriminant(kernel=Linear()).fit(points, ring).score(points, ring) < 0.7
    points, y = load_iris(return_X_y=True)
    assert KernelFisherDiscriminant().fit(points[::2], y[::2]).score(points[1::2], y[1::2]) > 0.9


def test_fewer_directions():
    y = np.arange(90) % 4
    model = KernelFisherDiscriminant(kernel=Gaussian(0.3)).fit(X, y)
    assert model.transform(NEW).shape == (25, 3)
    assert model.get_feature_names_out().tolist() == [
        f"kernelfisherdiscriminant{i}" for i in range(3)
    ]
    less = KernelFisherDiscriminant(2, Gaussian(0.3)).fit(X, y)
    assert np.allclose(less.transform(NEW), model.transform(NEW)[:, :2])
    assert np.allclose(less.explained_variance_ratio_, model.explained_variance_ratio_[:2])
    assert np.all(np.diff(model.eigenvalues_) <= 0)
    assert less.predict(NEW).shape == (25,)


def test_a_class_of_one_member():
    y = np.where(np.arange(90) == 5, "lonely", LABELS)
    model = KernelFisherDiscriminant(kernel=Gaussian(0.3)).fit(X, y)
    assert model.predict(X[[5]]).tolist() == ["lonely"]
    values, _, _ = directions(Polynomial(2).features(X), y, 1e-3)
    model = KernelFisherDiscriminant(kernel=Polynomial(2)).fit(X, y)
    assert np.allclose(model.eigenvalues_, values[:3], rtol=1e-7)
    pair = KernelFisherDiscriminant(kernel=Gaussian(0.3)).fit(X[:2], ["a", "b"])
    assert pair.predict(X[:2]).tolist() == ["a", "b"]


def test_classes_that_do_not_differ():
    points = np.vstack([X, X])
    y = np.repeat([0, 1], 90)
    model = KernelFisherDiscriminant(kernel=Gaussian(0.3)).fit(points, y)
    assert model.eigenvalues_.tolist() == [0.0]
    assert not model.transform(NEW).any()
    assert model.predict(NEW).tolist() == [0] * 25
    assert model.certificate_.eigen_residual == 0.0


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Linear()], ids=repr)
def test_weights_are_repetition(kernel):
    weight = WEIGHT.astype(int)
    weighted = KernelFisherDiscriminant(kernel=kernel).fit(X, LABELS, sample_weight=weight)
    repeated = KernelFisherDiscriminant(kernel=kernel)
    repeated.fit(np.repeat(X, weight, axis=0), np.repeat(LABELS, weight))
    assert np.allclose(weighted.transform(NEW), repeated.transform(NEW), rtol=1e-6, atol=1e-8)
    same = KernelFisherDiscriminant(kernel=kernel).fit(X, LABELS, sample_weight=2.0)
    plain = KernelFisherDiscriminant(kernel=kernel).fit(X, LABELS)
    assert np.allclose(same.transform(NEW), plain.transform(NEW), rtol=1e-8, atol=1e-9)


# --- every input, every way -----------------------------------------------------------------------


def test_every_container_gives_the_same_model():
    wanted = KernelFisherDiscriminant(kernel=Gaussian(0.3)).fit(X, LABELS).transform(NEW)
    for points, new in (
        (X.tolist(), NEW.tolist()),
        (scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(NEW)),
        (pd.DataFrame(X, columns=list("abc")), pd.DataFrame(NEW, columns=list("abc"))),
    ):
        found = KernelFisherDiscriminant(kernel=Gaussian(0.3)).fit(points, LABELS)
        assert np.allclose(found.transform(new), wanted, rtol=1e-7, atol=1e-9)
    K, cross = Gaussian(0.3)(X), Gaussian(0.3)(NEW, X)
    given = KernelFisherDiscriminant(kernel="precomputed").fit(K, LABELS)
    assert np.allclose(given.transform(cross), wanted, rtol=1e-7, atol=1e-9)
    function = KernelFisherDiscriminant(kernel=lambda A, B: Gaussian(0.3).formula(A, B))
    assert np.allclose(function.fit(X, LABELS).transform(NEW), wanted, rtol=1e-7, atol=1e-9)


def test_functions_of_few_centres():
    whole = KernelFisherDiscriminant(kernel=Gaussian(0.02), alpha=1e-2).fit(X, LABELS)
    options = {"kernel": Gaussian(0.02), "alpha": 1e-2, "solver": "nystrom", "n_centers": 40}
    few = KernelFisherDiscriminant(**options).fit(X, LABELS)
    assert len(few.support_) <= 40
    assert few.certificate_.solver == "nystrom"
    assert np.allclose(few.transform(NEW), whole.transform(NEW), rtol=1e-2, atol=1e-2)
    assert np.allclose(few.eigenvalues_, whole.eigenvalues_, rtol=1e-3)
    blocks = KernelFisherDiscriminant(kernel=Gaussian(0.02), alpha=1e-2)
    blocks.fit(RowBlocks.split(X, 40), LABELS)
    assert np.allclose(blocks.transform(NEW), whole.transform(NEW), rtol=1e-2, atol=1e-2)


WORDS = ["".join(random.choice(list("ab" if i % 2 else "bc"), 7)) for i in range(40)]


@pytest.mark.parametrize(
    ("kernel", "points", "formula"),
    [
        (Spectrum(2), WORDS, lambda u, v: oracles.spectrum(u, v, 2)),
        (SetIntersection(), [set(w[:4]) for w in WORDS], oracles.common),
    ],
    ids=["strings", "sets"],
)
def test_objects(kernel, points, formula):
    K, y = oracles.gram(formula, points), np.arange(40) % 2
    model = KernelFisherDiscriminant(kernel=kernel).fit(points[:30], y[:30])
    wanted = KernelFisherDiscriminant(kernel="precomputed").fit(K[:30, :30], y[:30])
    assert np.allclose(model.transform(points[30:]), wanted.transform(K[30:, :30]), atol=1e-6)
    assert model.score(points[30:], y[30:]) > 0.7


def test_a_mixed_table():
    frame = pd.DataFrame({"size": random.normal(size=40), "word": WORDS, "side": ["l", "r"] * 20})
    kernel = Gaussian(0.5).on("size") + 0.1 * Spectrum(2).on("word") + Categorical().on("side")
    model = KernelFisherDiscriminant(kernel=kernel).fit(frame, np.arange(40) % 2)
    assert model.predict(frame).tolist() == [0, 1] * 20


# --- refused, stopped, files ----------------------------------------------------------------------


def spoiled(array, place, value):
    array = np.array(array)
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("model", "points", "y", "told"),
    [
        (KernelFisherDiscriminant(), X, ["one"] * 90, "y must have at least two classes; got 1"),
        (KernelFisherDiscriminant(3), X, LABELS, "n_components must be .* at most 2; got 3. There"),
        (KernelFisherDiscriminant(0), X, LABELS, "n_components must be a whole number at least 1"),
        (KernelFisherDiscriminant(alpha=0), X, LABELS, "alpha must be a finite number above 0"),
        (KernelFisherDiscriminant(alpha=-1), X, LABELS, "alpha must be a finite number above 0"),
        (KernelFisherDiscriminant(alpha="a"), X, LABELS, "alpha must be a finite number above 0"),
        (KernelFisherDiscriminant(priors="equal"), X, LABELS, "priors must be one of 'empirical'"),
        (KernelFisherDiscriminant(priors=[1, 0, 0]), X, LABELS, "priors must be positive .* sum 1"),
        (KernelFisherDiscriminant(priors=[0.5, 0.5]), X, LABELS, r"priors must have shape \(3,\)"),
        (KernelFisherDiscriminant(priors=[0.5] * 3), X, LABELS, "priors must be positive and have"),
        (KernelFisherDiscriminant(solver="qr"), X, LABELS, "solver must be one of"),
        (KernelFisherDiscriminant(), spoiled(X, (4, 2), np.nan), LABELS, "NaN in row 4, column 2"),
        (KernelFisherDiscriminant(), X[:0], LABELS[:0], "there must be at least one point"),
        (KernelFisherDiscriminant(), X, LABELS[:-1], "y must have 90 labels; got 89"),
        (KernelFisherDiscriminant(), X, None, "requires y to be passed"),
        (KernelFisherDiscriminant(kernel="precomputed"), X, LABELS, "must be square to fit"),
    ],
)
def test_bad_input(model, points, y, told):
    with pytest.raises(ValueError, match=told) as caught:
        model.fit(points, y)
    assert str(caught.value).startswith("KernelFisherDiscriminant")


def test_bad_weights():
    for weight, told in (
        (np.arange(90) - 3.0, "sample_weight must be at least 0; got -3 at index 0"),
        (np.zeros(90), "above 0 for at least one sample"),
        (LABELS != "green", "class 'green' with weights that are all zero. Drop the class"),
    ):
        with pytest.raises(ValueError, match=f"KernelFisherDiscriminant: .*{told}"):
            KernelFisherDiscriminant().fit(X, LABELS, sample_weight=weight)


def test_a_fit_without_time_is_usable():
    model = KernelFisherDiscriminant(kernel=Gaussian(0.3), time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model.fit(X, LABELS)
    assert model.certificate_.status == "time limit"
    assert set(model.predict(NEW)) <= set(LABELS)
    assert np.isfinite(model.transform(NEW)).all()


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Linear()], ids=["dual", "primal"])
def test_copies_files_and_the_same_again(kernel, tmp_path):
    points = X.copy()
    model = KernelFisherDiscriminant(kernel=kernel, priors="empirical").fit(points, LABELS)
    again = KernelFisherDiscriminant(kernel=kernel, priors="empirical").fit(points, LABELS)
    wanted = model.transform(NEW)
    points[:] = np.nan
    mercer.save(model, tmp_path / "model")
    copies = pickle.loads(pickle.dumps(model)), mercer.load(tmp_path / "model")
    for other in (model, again, *copies):
        assert np.array_equal(other.transform(NEW), wanted)
        assert np.array_equal(other.predict(NEW), model.predict(NEW))
        assert other.get_params() == model.get_params()
    for other in copies:
        assert repr(other.certificate_) == repr(model.certificate_)


@estimator_checks.parametrize_with_checks([KernelFisherDiscriminant()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
