"""What programs were known to trip over: each must be as in scikit-learn."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.decomposition
import sklearn.gaussian_process
import sklearn.kernel_approximation
import sklearn.kernel_ridge
import sklearn.neighbors
import sklearn.svm
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer.sklearn as ours
from mercer.sklearn import serving
from mercer.sklearn.patching import ESTIMATORS

pytestmark = pytest.mark.usefixtures("engine")

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 5))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
NUMBERS = X[:, 0] - X[:, 2] ** 2
SMALL = {
    "KernelPCA": {"n_components": 2},
    "Nystroem": {"n_components": 30, "random_state": 0},
    "RBFSampler": {"n_components": 10, "random_state": 0},
}


def answers(model):
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_clones_pickles_and_workers(name):
    model = getattr(ours, name)(**SMALL.get(name, {}))
    expected = answers(clone(model).fit(X, Y))
    fitted = pickle.loads(pickle.dumps(model.fit(X, Y)))
    np.testing.assert_allclose(answers(fitted), expected, atol=1e-9)
    (apart,) = Parallel(n_jobs=2)([delayed(fit_apart)(clone(model))])
    np.testing.assert_allclose(apart, expected, atol=1e-9)


def fit_apart(model):
    serving.ALWAYS = True  # in this process, too, which is a worker's
    return answers(model.fit(X, Y))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_steps_of_a_searched_pipeline(name):
    model = getattr(ours, name)(**SMALL.get(name, {}))
    after = [] if hasattr(model, "predict") else [ours.KernelRidge()]
    pipeline = make_pipeline(StandardScaler(), model, *after)
    key = {"KernelPCA": "gamma", "Nystroem": "gamma", "RBFSampler": "gamma"}.get(name)
    step = pipeline.steps[1][0]
    grid = {f"{step}__{key}": [0.1, 0.2]} if key else {"standardscaler__with_mean": [True, False]}
    scoring = "accuracy" if name == "OneClassSVM" else None
    search = GridSearchCV(pipeline, grid, cv=2, scoring=scoring, error_score="raise").fit(X, Y)
    assert type(search.best_estimator_[1]) is getattr(ours, name)


def test_defaults_of_ridge_and_components_are_linear():
    points, numbers = load_diabetes(return_X_y=True)
    one, other = (
        module.KernelRidge().fit(points, numbers) for module in (sklearn.kernel_ridge, ours)
    )
    np.testing.assert_allclose(other.predict(points), one.predict(points), rtol=1e-9)
    assert ours.KernelPCA().kernel == "linear"


def test_parameters_and_attributes_of_machines():
    options = {"cache_size": 7, "shrinking": False, "degree": 2, "coef0": 2.0, "tol": 1e-6}
    one, other = (module.SVC(**options).fit(X, Y) for module in (sklearn.svm, ours))
    assert (
        (other.fit_status_, other.shape_fit_) == (one.fit_status_, one.shape_fit_) == (0, (120, 5))
    )
    for name in ("n_iter_", "n_support_", "intercept_", "dual_coef_"):
        assert np.shape(getattr(other, name)) == np.shape(getattr(one, name)), name
    one, other = (module.OneClassSVM(tol=1e-6).fit(X) for module in (sklearn.svm, ours))
    assert np.shape(other.offset_) == np.shape(one.offset_)
    np.testing.assert_allclose(other.offset_, one.offset_, rtol=1e-4)
    grid = {"degree": [2, 3], "coef0": [0.0, 2.0]}  # which the Gaussian kernel ignores
    scores = GridSearchCV(ours.SVC(), grid, cv=2).fit(X, Y).cv_results_["mean_test_score"]
    assert len(set(scores)) == 1
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        assert ours.SVC(max_iter=2).fit(X, Y).fit_status_ == 1
    with pytest.raises(ValueError, match="tol"):
        ours.SVC(tol=0).fit(X, Y)


def test_machines_with_bounds_weights_and_matrices():
    for module in (sklearn.svm, ours):
        tight = module.SVR(C=np.inf, kernel="rbf", gamma=1.0, epsilon=0.5).fit(X, NUMBERS)
        assert np.abs(tight.predict(X) - NUMBERS).max() < 0.51
        with pytest.raises(TypeError, match="Sparse precomputed"):
            module.SVC(kernel="precomputed").fit(sp.csr_array(X @ X.T), Y)
        with pytest.raises(ValueError, match=r"non-positive|zero or negative"):
            module.SVC().fit(X, Y, sample_weight=-np.ones(120))


def test_votes_of_ties_are_refused_alike():
    for module in (sklearn.svm, ours):
        model = module.SVC(break_ties=True, decision_function_shape="ovo").fit(
            X, np.arange(120) % 3
        )
        with pytest.raises(ValueError, match="break_ties"):
            model.predict(X)


def test_probability_is_deprecated_alike():
    with pytest.warns(FutureWarning, match="probability"):
        model = ours.SVC(probability=True, random_state=0).fit(X, Y)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_functions_of_pairs():
    def product(x, y, scale=1.0):
        return scale * float(x @ y)

    for name, module in (
        ("KernelRidge", sklearn.kernel_ridge),
        ("KernelPCA", sklearn.decomposition),
        ("Nystroem", sklearn.kernel_approximation),
    ):
        options = {"kernel": product, "kernel_params": {"scale": 0.5}}
        options |= {} if name == "KernelRidge" else {"n_components": 3, "random_state": 0}
        one, other = (getattr(home, name)(**options).fit(X, NUMBERS) for home in (module, ours))
        np.testing.assert_allclose(answers(other), answers(one), rtol=1e-7, atol=1e-9)


def test_components_as_asked():
    for options in (
        {"eigen_solver": "arpack", "tol": 0, "max_iter": 500},
        {"eigen_solver": "randomized", "iterated_power": 9},
        {"eigen_solver": "arpack", "tol": 1e-3},
    ):
        options |= {"n_components": 3, "kernel": "rbf", "random_state": 0, "copy_X": False}
        one, other = (
            module.KernelPCA(**options).fit(X.copy()) for module in (sklearn.decomposition, ours)
        )
        np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-6)
        assert (other.gamma_, other.X_fit_.shape) == (one.gamma_, one.X_fit_.shape)


def test_kernel_objects():
    model = ours.GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.1), random_state=0)
    assert model.fit(X, NUMBERS).kernel_.theta.shape == (2,)
    peer = sklearn.gaussian_process.GaussianProcessRegressor(model.kernel, random_state=0)
    np.testing.assert_allclose(model.kernel_.theta, peer.fit(X, NUMBERS).kernel_.theta, rtol=1e-3)


@pytest.mark.parametrize("name", ["KernelRidge", "KNeighborsClassifier", "Nystroem"])
def test_sparse_frames(name):
    frame = pd.DataFrame(
        {
            f"c{i}": pd.arrays.SparseArray(np.where(column > 0, column, 0.0), fill_value=0.0)
            for i, column in enumerate(X.T)
        }
    )
    home = {"KernelRidge": sklearn.kernel_ridge, "KNeighborsClassifier": sklearn.neighbors}
    home["Nystroem"] = sklearn.kernel_approximation
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        one, other = (
            getattr(module, name)(**SMALL.get(name, {})).fit(frame, Y)
            for module in (home[name], ours)
        )
        mine, its = (
            model.predict(frame) if hasattr(model, "predict") else model.transform(frame)
            for model in (other, one)
        )
    np.testing.assert_allclose(mine, its, atol=1e-6)
    for module in (sklearn.svm, ours):  # scikit-learn's machines do not take such frames
        with pytest.raises(AttributeError, match="var"):
            module.SVC().fit(frame, Y)
