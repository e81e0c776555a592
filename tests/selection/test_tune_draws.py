"""Searches among candidates drawn at random, in full and by halving."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from mercer import SVC, SVR, InputError, KernelNeighborsClassifier, KernelRidge, PerColumn, tune
from mercer.kernels import Gaussian, Matern
from mercer.selection import draws

random = np.random.default_rng(9)
X = random.normal(size=(120, 3))
numbers = np.sin(2 * X[:, 0]) + X[:, 1]
labels = np.where(numbers > 0, "up", "down")


def test_candidates_lie_within_their_bounds_and_score_as_refits():
    space = {"C": (0.1, 100.0), "kernel__gamma": stats.loguniform(0.01, 1.0), "tol": [1e-6]}
    found = tune(SVC(kernel=Gaussian(1.0)), X, labels, space, n_iter=8, random_state=0)
    assert (found.method, found.status) == ("random", "complete")
    assert len(found.table["params"]) == 8
    costs = found.table["param_C"]
    assert min(costs) >= 0.1
    assert max(costs) <= 100.0
    assert len(set(costs)) == 8
    model = SVC(kernel=Gaussian(1.0)).set_params(**found.params)
    again = tune(model, X, labels, {"C": [found.params["C"]]}, random_state=0)
    assert again.score == pytest.approx(found.score, abs=1e-9)


def test_the_same_seed_draws_the_same():
    space = {"C": (0.1, 100.0)}
    one, two, other = (
        tune(SVR(), X, numbers, space, n_iter=4, random_state=seed) for seed in (1, 1, 2)
    )
    assert one.table["params"] == two.table["params"]
    assert one.table["params"] != other.table["params"]


def test_numbers_are_drawn_evenly_by_their_logarithm_above_zero():
    space = {"C": (1e-4, 1e4), "epsilon": (0.0, 1.0)}
    drawn = draws.drawn(SVR(), X, space, 400, np.random.default_rng(0))
    assert 0.4 < np.mean([one["C"] < 1.0 for one in drawn]) < 0.6
    assert 0.4 < np.mean([one["epsilon"] < 0.5 for one in drawn]) < 0.6


@pytest.mark.parametrize("method", ["random", "halving"])
def test_other_estimators(method):
    found = tune(LogisticRegression(), X, labels, {"C": (0.01, 10.0)}, method=method, n_iter=4)
    wanted = cross_val_score(LogisticRegression(**found.params), X, labels, cv=5).mean()
    assert found.score == pytest.approx(wanted)
    near = tune(
        KernelNeighborsClassifier(), X, labels, {"n_neighbors": stats.randint(1, 20)}, n_iter=4
    )
    assert 1 <= near.params["n_neighbors"] < 20


def test_one_number_per_column():
    space = {"kernel__gamma": PerColumn(0.01, 1.0), "C": (1.0, 10.0)}
    found = tune(SVC(kernel=Gaussian()), X, labels, space, n_iter=3)
    assert len(found.params["kernel__gamma"]) == 3
    with pytest.raises(InputError, match="kernel of a mercer estimator"):
        tune(LogisticRegression(), X, labels, {"C": PerColumn(0.1, 1.0)})


def test_parameters_without_a_derivative_are_drawn():
    found = tune(KernelRidge(kernel=Matern()), X, numbers, {"kernel__nu": (0.5, 3.0)}, n_iter=3)
    assert found.method == "random"
    mixed = {"alpha": (0.01, 1.0), "kernel": [Gaussian(0.5), Matern()]}
    assert tune(KernelRidge(), X, numbers, mixed, n_iter=3).method == "random"


def test_halving_keeps_a_third_with_three_times_the_points(monkeypatch):
    monkeypatch.setattr(draws, "LEAST_POINTS", 10)
    assert list(draws._rounds(9, 96)) == [(1 / 9, 3), (1 / 3, 1), (1.0, 1)]
    assert list(draws._rounds(2, 96)) == [(1.0, 1)]
    found = tune(SVC(), X, labels, {"C": (0.01, 100.0)}, method="halving", n_iter=9)
    assert found.method == "halving"
    assert len(found.table["params"]) == 1
    assert found.score > 0.8


def test_halving_keeps_rare_classes(monkeypatch):
    monkeypatch.setattr(draws, "LEAST_POINTS", 5)
    rare = np.where(np.arange(120) < 6, "rare", labels)
    found = tune(SVC(), X, rare, {"C": (0.01, 100.0)}, method="halving", n_iter=9, random_state=0)
    assert set(found.model.classes_) == {"up", "down", "rare"}


@pytest.mark.parametrize("method", ["random", "halving"])
def test_a_time_limit_leaves_what_was_found(method):
    found = tune(SVC(), X, labels, {"C": (0.1, 9.0)}, method=method, n_iter=9, time_limit=1e-9)
    assert found.status == "time limit"
    assert len(found.table["params"]) == 1
    assert set(found.model.predict(X)) <= {"up", "down"}
