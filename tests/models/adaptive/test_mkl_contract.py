"""scikit-learn's own checks of the estimators that learn their kernel, and model files of them."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import GramStack, MKLClassifier, MKLOneClassSVM, MKLRegressor, load, save
from mercer.kernels import Gaussian, Linear

random = np.random.default_rng(3)
X = random.normal(size=(40, 3))
KERNELS = [Gaussian(0.5), Gaussian(5.0).on([1]), Linear()]


@pytest.mark.filterwarnings("ignore:MKL.*is constant on these points")  # some checks have such data
@parametrize_with_checks(
    [MKLClassifier(), MKLRegressor(), MKLRegressor(loss="squared"), MKLOneClassSVM()]
)
def test_scikit_learn_is_content(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "model",
    [
        MKLClassifier(KERNELS, probability=True),
        MKLClassifier(KERNELS, algorithm="simple", multiclass="ovr"),
        MKLRegressor(KERNELS),
        MKLRegressor(KERNELS, loss="squared"),
        MKLOneClassSVM(KERNELS),
    ],
    ids=repr,
)
def test_files_keep_all(model, tmp_path):
    y = np.digitize(X[:, 1], [-0.5, 0.5]) if isinstance(model, MKLClassifier) else X[:, 1]
    model.fit(X, y)
    save(model, tmp_path / "model.mercer")
    found = load(tmp_path / "model.mercer")
    assert np.array_equal(found.predict(X), model.predict(X))
    assert found.kernel_ == model.kernel_
    assert np.array_equal(found.weights_, model.weights_)
    assert found.certificate_ == model.certificate_
    assert all(np.array_equal(found.history_[k], model.history_[k]) for k in model.history_)
    assert found.get_params() == model.get_params()


def test_files_keep_the_weights_of_a_stack(tmp_path):
    stack = GramStack([kernel(X) for kernel in KERNELS])
    model = MKLClassifier("precomputed").fit(stack, X[:, 1] > 0)
    save(model, tmp_path / "model.mercer")
    assert np.array_equal(load(tmp_path / "model.mercer").predict(stack), model.predict(stack))
