"""The kernel perceptron on a stream: partial_fit goes on where the last call ended."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelPerceptron
from mercer.fitting import rows as svm_rows
from mercer.inputs import RowBlocks
from mercer.kernels import Categorical, Gaussian, Spectrum
from mercer.solvers.perceptron import passes as walks

random = np.random.default_rng(31)
N = 60
X, NEW = random.normal(size=(N, 3)), random.normal(size=(15, 3))
TARGET = np.sin(2 * X[:, 0]) + X[:, 1]
TWO = np.where(TARGET > 0, "yes", "no")
THREE = np.array(["low", "mid", "top"])[np.digitize(TARGET, np.quantile(TARGET, [0.33, 0.67]))]
WORDS = ["".join(random.choice(list("ab" if i % 2 else "bc"), 7)) for i in range(40)]
KINDS = np.arange(40) % 2
TABLE = {"size": random.normal(size=40) + KINDS, "side": ["l", "r"] * 20}
MODELS = {
    "two": (KernelPerceptron(Gaussian(2.0)), TWO),
    "three": (KernelPerceptron(Gaussian(2.0)), THREE),
    "mean": (KernelPerceptron(Gaussian(2.0), average=True), THREE),
    "budget": (KernelPerceptron(Gaussian(2.0), budget=12), TWO),
}


def fit(model, points, y):
    """Fit, whether it converges or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(points, y)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sizes", [[60], [1, 1, 58], [20, 20, 20], [35, 25]])
def test_a_stream_is_one_pass(name, sizes):
    model, y = MODELS[name]
    model = clone(model)
    whole = fit(clone(model).set_params(max_iter=1), X, y)
    parts = np.split(np.arange(N), np.cumsum(sizes)[:-1])
    for part in parts:
        model.partial_fit(X[part], y[part], classes=np.unique(y))
    assert np.array_equal(model.mistakes_, whole.mistakes_)
    assert np.array_equal(model.alpha_, whole.alpha_)
    assert np.array_equal(model.support_, whole.support_)
    assert np.allclose(model.dual_coef_, whole.dual_coef_, rtol=0, atol=1e-9)
    assert np.allclose(model.decision_function(NEW), whole.decision_function(NEW), atol=1e-9)
    assert model.certificate_.dropped == pytest.approx(whole.certificate_.dropped, abs=1e-9)
    assert model.n_samples_seen_ == N
    assert len(model._prepared) == len(model.support_) < N  # what carries nothing is gone


def test_a_stream_in_single_precision(monkeypatch):
    for name, value in {"BLOCK": 8, "BATCH": 3}.items():
        monkeypatch.setattr(walks, name, value)
    monkeypatch.setattr(svm_rows, "DENSE", 10)
    model, labels = KernelPerceptron(Gaussian(2.0)), np.unique(THREE)
    for part in (slice(0, 25), slice(25, 60)):
        model.partial_fit(X[part], THREE[part], labels)
    whole = fit(KernelPerceptron(Gaussian(2.0), max_iter=1), X, THREE)
    assert np.array_equal(model.mistakes_, whole.mistakes_)


def test_a_stream_goes_on_after_a_fit():
    model = KernelPerceptron(Gaussian(2.0)).fit(X[:40], TWO[:40])
    before = model.mistakes_
    model.partial_fit(X[40:], TWO[40:])
    assert np.array_equal(model.mistakes_[: len(before)], before)
    assert (model.mistakes_[len(before) :] >= 40).all()
    assert model.certificate_.status == "one pass"
    assert model.certificate_.mistakes == len(model.mistakes_) - len(before)
    assert not model.converged_
    model.fit(X[:40], TWO[:40])
    assert np.array_equal(model.mistakes_, before)


def test_a_stream_of_blocks_and_of_other_kinds():
    wanted = KernelPerceptron(Gaussian(2.0)).partial_fit(X, TWO, ["no", "yes"])
    blocks = KernelPerceptron(Gaussian(2.0))
    blocks.partial_fit(RowBlocks.split(X, 17), TWO, ["no", "yes"])
    assert np.array_equal(blocks.mistakes_, wanted.mistakes_)
    sparse = KernelPerceptron(Gaussian(2.0))
    for part in (slice(0, 30), slice(30, 60)):
        sparse.partial_fit(scipy.sparse.csr_matrix(X[part]), TWO[part], ["no", "yes"])
    assert np.array_equal(sparse.mistakes_, wanted.mistakes_)
    scaled = KernelPerceptron(Gaussian()).partial_fit(RowBlocks.split(X, 17), TWO, ["no", "yes"])
    assert scaled.kernel_.gamma == pytest.approx(Gaussian().resolve(X).gamma, rel=1e-12)
    words = KernelPerceptron(Spectrum(2))
    for part in (slice(0, 15), slice(15, 40)):
        words.partial_fit(WORDS[part], KINDS[part], [0, 1])
    assert (
        words.mistakes_.tolist()
        == fit(KernelPerceptron(Spectrum(2), max_iter=1), WORDS, KINDS).mistakes_.tolist()
    )
    table = KernelPerceptron(Gaussian(1.0).on("size") + Categorical().on("side"))
    for part in (slice(0, 15), slice(15, 40)):
        table.partial_fit(pd.DataFrame(TABLE)[part], KINDS[part], [0, 1])
    once = fit(clone(table).set_params(max_iter=1), pd.DataFrame(TABLE), KINDS)
    assert np.array_equal(table.mistakes_, once.mistakes_)


def test_what_a_budget_gets_from_a_fit_without_one():
    model = KernelPerceptron(Gaussian(2.0)).fit(X, TWO)
    assert len(model.support_) > 10
    before = model.decision_function(NEW)
    model.set_params(budget=10).partial_fit(X[:1], TWO[:1])
    assert len(model.support_) == 10
    assert np.abs(model.decision_function(NEW) - before).max() > 0
    assert model.certificate_.dropped > 0


def test_a_bad_stream():
    for arguments, told in (
        ((X, TWO), "classes must be passed on the first call to partial_fit; got None"),
        ((X, TWO, ["yes"]), "classes must name at least two classes; got 1"),
        ((X, TWO, ["no", "maybe"]), r"y must hold the classes \['maybe', 'no'\]; got 'yes' at"),
        ((X, TWO[:-1], ["no", "yes"]), "y must have 60 labels; got 59"),
        ((X, None, ["no", "yes"]), "requires y to be passed"),
    ):
        with pytest.raises(ValueError, match=told) as caught:
            KernelPerceptron().partial_fit(*arguments)
        assert str(caught.value).startswith("KernelPerceptron")
    model = KernelPerceptron().partial_fit(X, TWO, ["no", "yes"])
    before = model.alpha_
    for arguments, told in (
        ((X, TWO, ["no", "yes", "maybe"]), r"classes must stay \['no', 'yes'\]; got \['maybe'"),
        ((X, THREE), "y must hold the classes"),
        ((X, np.arange(N)), r"y must hold the classes \['no', 'yes'\]; got 0 at index 0"),
        ((X, [None] * N), "y must have a class for every point; got None in row 0"),
        ((X[:, :2], TWO), "X has 2 features, but KernelPerceptron is expecting 3"),
    ):
        with pytest.raises(ValueError, match=told):
            model.partial_fit(*arguments)
        assert np.array_equal(model.alpha_, before)
    with pytest.raises(ValueError, match=r'partial_fit needs the points.*got kernel="precomputed"'):
        KernelPerceptron("precomputed").partial_fit(X @ X.T, TWO, ["no", "yes"])


def test_a_call_that_fails_changes_nothing(monkeypatch):
    model = KernelPerceptron(Gaussian(2.0)).partial_fit(X[:30], TWO[:30], ["no", "yes"])
    wanted, before = model.decision_function(NEW), model.certificate_

    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.solvers.perceptron.passes.DensePass.visit_block", broken)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[30:], TWO[30:])
    monkeypatch.undo()
    assert np.array_equal(model.decision_function(NEW), wanted)
    assert model.certificate_ is before
    assert model.n_samples_seen_ == 30
    with pytest.raises(ValueError, match="budget must be"):
        model.set_params(budget=-1).partial_fit(X[30:], TWO[30:])
    assert np.array_equal(model.decision_function(NEW), wanted)
