"""Kernel principal components: from components back, scikit-learn's contract, refusals, stops."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import mercer
from mercer import SVC, KernelPCA, KernelRidge
from mercer.checks import InputError
from mercer.kernels import Chi2, Gaussian, Laplacian, Polynomial

random = np.random.default_rng(32)
N = 60
X = random.normal(size=(N, 4)) * [3, 2, 1, 0.5] + 2
NEW = random.normal(size=(15, 4)) * [3, 2, 1, 0.5] + 2
WAYS = ["dense", "krylov"]


def close(found, wanted, tol=1e-8):
    return np.allclose(found, wanted, rtol=0, atol=tol * np.abs(wanted).max())


# --- and back ---------------------------------------------------------------------------------


def test_all_components_lead_back():
    model = KernelPCA(kernel=Gaussian(0.1)).fit(X)
    assert np.allclose(model.inverse_transform(model.transform(X)), X, atol=1e-5)


def test_pre_images_are_fixed_points_nearest_in_feature_space():
    model = KernelPCA(5, kernel=Gaussian(0.02)).fit(X)
    Z = model.transform(NEW)
    found = model.inverse_transform(Z)
    a = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    for z, x in zip(Z, found, strict=True):
        g = a @ z + 1 / N

        def value(x, g=g):
            return g @ Gaussian(0.02).formula(x[None], X)[0]

        shares = g * Gaussian(0.02).formula(x[None], X)[0]
        assert np.allclose(shares @ X / shares.sum(), x, atol=1e-4)
        assert value(x) >= max(value(point) for point in X)
        assert value(x) >= max(value(x + 0.05 * d) for d in random.normal(size=(40, 4)))
    alone = np.vstack([model.inverse_transform(z[None]) for z in Z])
    assert np.allclose(alone, found, atol=1e-6)


def test_noise_is_taken_off():
    # A circle with noise: components are learnt from it, pre-images lie near it.
    angles = random.uniform(0, 2 * np.pi, 200)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    noisy = circle + random.normal(0, 0.1, circle.shape)
    for options in ({}, {"fit_inverse_transform": True, "alpha": 0.1}):
        model = KernelPCA(4, kernel=Gaussian(0.5), **options).fit(noisy)
        clean = model.inverse_transform(model.transform(noisy))
        off = [np.abs(np.linalg.norm(rows, axis=1) - 1).mean() for rows in (noisy, clean)]
        assert off[1] < off[0] / 2


def test_far_away_there_is_still_an_answer():
    model = KernelPCA(2, kernel=Gaussian(50.0)).fit(X)  # hardly any point knows another
    found = model.inverse_transform([[1e6, -1e6], [0.0, 0.0]])
    assert np.isfinite(found).all()
    columns = KernelPCA(3, kernel=Gaussian([0.1, 0.2, 0.3, 0.4])).fit(X)
    assert np.isfinite(columns.inverse_transform(columns.transform(NEW))).all()


@pytest.mark.parametrize("kernel", [Gaussian(0.05), Laplacian(0.1), Polynomial(2, 0.1)], ids=repr)
def test_what_is_learnt_is_a_ridge_regression(kernel):
    model = KernelPCA(3, kernel=kernel, fit_inverse_transform=True, alpha=0.3)
    Z = model.fit_transform(X)
    found = model.inverse_transform(model.transform(NEW))
    # The same kernel with the same gamma on components, with an offset: written out.
    system = np.zeros((N + 1, N + 1))
    system[:N, :N] = kernel.formula(Z) + 0.3 * np.eye(N)
    system[N, :N] = system[:N, N] = 1
    solved = np.linalg.solve(system, np.vstack([X, np.zeros((1, 4))]))
    wanted = kernel.formula(model.transform(NEW), Z) @ solved[:N] + solved[N]
    assert close(found, wanted, 1e-5)
    assert np.allclose(model.inverse_transform(Z).mean(axis=0), X.mean(axis=0))


def test_nothing_to_learn_from():
    for count in (None, 2):
        model = KernelPCA(count, fit_inverse_transform=True)
        with pytest.warns(UserWarning, match="points must differ"):
            scores = model.fit_transform(np.full((5, 3), 7.0))
        assert not scores.any()
    assert np.allclose(model.inverse_transform(scores), 7.0)


def test_learnt_where_the_kernel_takes_no_components():
    points = np.abs(X)
    for kernel in (Chi2(0.1), Gaussian([0.1, 0.2, 0.3, 0.4])):
        model = KernelPCA(3, kernel=kernel, fit_inverse_transform=True, alpha=0.01).fit(points)
        back = model.inverse_transform(model.transform(points))
        assert np.abs(back - points).mean() < np.abs(points - points.mean(axis=0)).mean() / 2
    weight = random.uniform(0, 1, N) * (np.arange(N) % 3 > 0)
    model = KernelPCA(2, fit_inverse_transform=True).fit(X, sample_weight=weight)
    ridge = KernelRidge(1.0, kernel=model.kernel_, fit_intercept=True)
    ridge.fit(model.transform(X), X, sample_weight=weight)
    Z = model.transform(NEW)
    assert close(model.inverse_transform(Z), ridge.predict(Z), 1e-5)


# --- scikit-learn's contract, files -----------------------------------------------------------


@estimator_checks.parametrize_with_checks(
    [KernelPCA(), KernelPCA(2, eigen_solver="krylov"), KernelPCA(2, fit_inverse_transform=True)]
)
@pytest.mark.filterwarnings("ignore:KernelPCA. points must differ", "ignore:KernelPCA. n_comp")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("learn", [False, True])
def test_copies_and_files_transform_the_same(tmp_path, learn):
    model = KernelPCA(3, fit_inverse_transform=learn).fit(X, sample_weight=np.arange(N))
    mercer.save(model, tmp_path / "model")
    Z = model.transform(NEW)
    for other in (pickle.loads(pickle.dumps(model)), mercer.load(tmp_path / "model")):
        assert np.array_equal(other.transform(NEW), Z)
        assert np.array_equal(other.inverse_transform(Z), model.inverse_transform(Z))
        assert other.get_params() == model.get_params()
        assert other.certificate_ == model.certificate_
        assert np.array_equal(other.eigenvectors_, model.eigenvectors_)
    assert not hasattr(clone(model), "eigenvalues_")


def test_names_and_pipelines():
    model = KernelPCA(2).set_output(transform="pandas")
    frame = model.fit_transform(pd.DataFrame(X, columns=list("abcd")))
    assert frame.columns.tolist() == ["kernelpca0", "kernelpca1"]
    points, y = load_iris(return_X_y=True)
    chain = make_pipeline(StandardScaler(), KernelPCA(2), SVC()).fit(points, y)
    assert chain.score(points, y) > 0.8
    chain.set_params(kernelpca__kernel=Gaussian(0.5), kernelpca__kernel__gamma=0.1)
    assert chain[1].kernel == Gaussian(0.1)


# --- refused ----------------------------------------------------------------------------------

WRONG = [
    (
        KernelPCA(N + 1),
        X,
        "n_components must be .* at least 1 and at most 60; got 61. There are no",
    ),
    (KernelPCA(0), X, "n_components must be a whole number at least 1 and at most 60; got 0"),
    (KernelPCA(2.5), X, "n_components must be a whole number .* got 2.5"),
    (KernelPCA(eigen_solver="arpack"), X, "eigen_solver must be one of 'auto', 'dense', 'krylov'"),
    (KernelPCA(tol=0), X, "tol must be a finite number above 0; got 0"),
    (KernelPCA(max_iter=0), X, "max_iter must be a whole number at least 1; got 0"),
    (KernelPCA(alpha=-1), X, "alpha must be a finite number at least 0; got -1"),
    (KernelPCA(time_limit=0), X, "time_limit must be a finite number above 0; got 0"),
    (KernelPCA(kernel="rdf"), X, "got 'rdf'. Did you mean 'rbf'"),
    (KernelPCA(kernel=Gaussian(1.0), gamma=0.1), X, "gamma must be left out when kernel is not"),
    (KernelPCA(kernel="precomputed"), X, r"must be square to fit, .* got shape \(60, 4\)"),
    (KernelPCA(), X[:0], "there must be at least one point; got 0 sample"),
    (KernelPCA(n_jobs=0), X, "n_jobs must be"),
    (
        KernelPCA(fit_inverse_transform=True),
        scipy.sparse.csr_array(X),
        "inverse_transform returns dense rows of numbers, .* got sparse rows",
    ),
    (
        KernelPCA(kernel="precomputed", fit_inverse_transform=True),
        X @ X.T,
        "inverse_transform returns dense rows of numbers",
    ),
]


@pytest.mark.parametrize(("model", "points", "told"), WRONG)
def test_bad_input(model, points, told):
    with pytest.raises(ValueError, match=told) as caught:
        model.fit(points)
    assert str(caught.value).startswith("KernelPCA: ")


def test_bad_weights_and_bad_components():
    with pytest.raises(InputError, match="sample_weight must be at least 0; got -1 at index 0"):
        KernelPCA().fit(X, sample_weight=np.arange(N) - 1.0)
    with pytest.raises(InputError, match=r"n_components must be .* at most 59; got 60"):
        KernelPCA(60).fit(X, sample_weight=np.arange(N))
    model = KernelPCA(2).fit(X)
    with pytest.raises(InputError, match="inverse_transform takes 2 components a row; got 3"):
        model.inverse_transform(np.ones((4, 3)))
    with pytest.raises(InputError, match="NaN in row 0, column 1"):
        model.inverse_transform([[1.0, np.nan]])
    with pytest.raises(ValueError, match="X has 3 features, but KernelPCA is expecting 4"):
        model.transform(NEW[:, :3])
    for call in (KernelPCA().transform, KernelPCA().inverse_transform):
        with pytest.raises(ValueError, match="not fitted"):
            call(NEW)
    told = "inverse_transform is computed for the kernels Gaussian and Linear; got Laplacian"
    with pytest.raises(InputError, match=f"KernelPCA: {told}.*Use fit_inverse_transform=True"):
        KernelPCA(2, kernel=Laplacian(0.1)).fit(X).inverse_transform(np.ones((1, 2)))


# --- stopped ----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_fit_without_time_is_usable(way):
    model = KernelPCA(2, eigen_solver=way, time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"must reach tol.* \(time limit, .*Raise time_lim"):
        scores = model.fit_transform(X)
    assert model.certificate_.status == "time limit"
    assert np.isnan(model.certificate_.residual)
    assert scores.shape == model.transform(X).shape == (N, 2)
    assert not model.transform(NEW).any()


def test_a_fit_with_few_passes_is_usable():
    model = KernelPCA(3, eigen_solver="krylov", tol=1e-12, max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"\(iteration limit, 2 passes\). Raise max_iter"):
        scores = model.fit_transform(X)
    assert model.certificate_.status == "iteration limit"
    assert close(model.transform(X), scores, 1e-12)
    assert close(scores, KernelPCA(3).fit_transform(X), 1e-2)


def test_a_callback_stops_a_fit():
    told = []

    def callback(record):
        told.append(record)
        return True

    model = KernelPCA(3, eigen_solver="krylov", tol=1e-12, callback=callback)
    with pytest.warns(ConvergenceWarning, match=r"\(cancelled, 1 passes"):
        scores = model.fit_transform(X)
    assert {"stage", "fraction", "iteration", "residual"} <= set(told[0])
    assert model.certificate_.status == "cancelled"
    assert model.certificate_.residual == pytest.approx(told[0]["residual"])
    # Without another pass, scores are those of an eigenvector, which is as wrong as it is not one.
    left = np.array(model.certificate_.residuals) * model.eigenvalues_[0]
    gaps = np.linalg.norm(model.transform(X) - scores, axis=0)
    assert np.allclose(gaps, left / np.sqrt(model.eigenvalues_), rtol=1e-6)


def test_progress_goes_to_stderr(capsys):
    KernelPCA(2, eigen_solver="krylov", verbose=True).fit(X)
    printed = capsys.readouterr()
    assert "KernelPCA: eigenvectors" in printed.err
    assert printed.out == ""
