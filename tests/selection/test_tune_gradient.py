"""Searches of ridge models along the gradient: found values, starts, limits, refusals."""

import matplotlib
import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import KFold

from mercer import (
    SVC,
    InputError,
    KernelRidge,
    KernelRidgeClassifier,
    PerColumn,
    tune,
)
from mercer.kernels import Gaussian, Linear, Matern, Polynomial
from mercer.selection import ridge

random = np.random.default_rng(4)
X = random.normal(size=(80, 4))
y = np.sin(2 * X[:, 0]) + np.cos(X[:, 2]) + 0.05 * random.normal(size=80)
SIGNS = np.where(y > 0, 1.0, -1.0)
SPACE = {"kernel__gamma": (1e-3, 1e2), "alpha": (1e-4, 10.0)}


def left_out_error(gamma, alpha):
    """The mean squared error of rows left out, from the inverse of K + alpha I."""
    inverse = np.linalg.inv(Gaussian(gamma)(X) + alpha * np.eye(80))
    return np.mean((inverse @ y / np.diagonal(inverse)) ** 2)


def test_the_score_is_that_of_refits_and_no_grid_is_better():
    found = tune(KernelRidge(), X, y, SPACE, random_state=0)
    assert (found.method, found.status, found.rows) == ("gradient", "converged", 80)
    again = tune(KernelRidge(), X, y, SPACE, scoring="neg_mean_squared_error", random_state=0)
    assert again.params == found.params
    gammas, alphas = np.geomspace(1e-3, 1e2, 41), np.geomspace(1e-4, 10.0, 31)
    assert again.score >= -min(left_out_error(gamma, alpha) for gamma in gammas for alpha in alphas)
    one = {name: [value] for name, value in found.params.items()}
    by_refits = tune(KernelRidge(), X, y, one, cv=80, scoring="neg_mean_squared_error")
    assert again.score == pytest.approx(by_refits.score, rel=1e-8)
    values = found.params["kernel__gamma"], found.params["alpha"]
    assert again.score == pytest.approx(-left_out_error(*values), rel=1e-8)


def test_columns_that_matter_are_found():
    space = {"kernel__gamma": PerColumn(1e-4, 1e2), "alpha": (1e-4, 10.0)}
    for scoring in (None, "evidence"):
        found = tune(KernelRidge(kernel=Gaussian()), X, y, space, scoring=scoring, random_state=1)
        gamma = np.array(found.params["kernel__gamma"])
        assert gamma.shape == (4,)
        assert min(gamma[0], gamma[2]) > 5 * max(gamma[1], gamma[3])
        assert found.model.kernel_ == Gaussian(found.params["kernel__gamma"])
    one = tune(KernelRidge(kernel=Gaussian()), X, y, SPACE, random_state=1)
    best = tune(KernelRidge(kernel=Gaussian()), X, y, space, random_state=1)
    assert best.score > one.score


def test_parts_of_an_expression_see_their_columns():
    kernel = Matern(2.5, 1.0).on([0, 1, 3]) + Linear().on([2])
    space = {
        "kernel__k1__length_scale": PerColumn(0.1, 100.0),
        "kernel__k2__coef": (1e-3, 1e3),
        "alpha": (1e-4, 1.0),
    }
    straight = np.sin(2 * X[:, 0]) + X[:, 2]
    found = tune(KernelRidge(kernel=kernel), X, straight, space, n_iter=5)
    assert len(found.params["kernel__k1__length_scale"]) == 3
    assert found.score > 0.95
    model = KernelRidge(kernel=kernel).set_params(**found.params).fit(X, straight)
    assert np.allclose(model.predict(X), found.model.predict(X))


@pytest.mark.parametrize("scoring", [None, "accuracy", "neg_log_loss", "evidence"])
def test_two_classes(scoring):
    labels = np.where(y > 0, "up", "down")
    found = tune(KernelRidgeClassifier(), X, labels, SPACE, scoring=scoring, random_state=0)
    assert found.method == "gradient"
    assert found.model.score(X, labels) > 0.85
    if scoring in (None, "accuracy"):
        one = {name: [value] for name, value in found.params.items()}
        wanted = tune(KernelRidgeClassifier(), X, labels, one, cv=KFold(80))
        assert found.score == pytest.approx(wanted.score, abs=1e-12)


def test_several_classes_and_outputs():
    three = np.digitize(y, [-0.5, 0.5])
    assert tune(KernelRidgeClassifier(), X, three, SPACE, n_iter=3).score > 0.5
    both = np.column_stack([y, 100 * X[:, 1]])
    found = tune(KernelRidge(), X, both, SPACE, n_iter=3)
    assert found.model.predict(X).shape == (80, 2)


def test_the_same_seed_finds_the_same():
    one, two = (tune(KernelRidge(), X, y, SPACE, random_state=3, n_iter=4) for _ in range(2))
    assert one.params == two.params
    assert one.table["params"] == two.table["params"]


def test_units_of_y_do_not_matter():
    one = tune(KernelRidge(), X, y, SPACE, random_state=3, n_iter=4)
    tiny = tune(KernelRidge(), X, 1e-9 * y, SPACE, random_state=3, n_iter=4)
    for name, value in one.params.items():
        assert tiny.params[name] == pytest.approx(value, rel=1e-3)
    evidence = [
        tune(KernelRidge(), X, s * y, SPACE, scoring="evidence", n_iter=2).score for s in (1, 100)
    ]
    assert evidence[0] - evidence[1] == pytest.approx(80 * np.log(100), rel=1e-6)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_search_does_not_end_early_where_the_criterion_is_small(unit):
    def bowl(inner):
        return unit * float(((inner - 3.0) ** 2).sum() + 1.0), unit * 2.0 * (inner - 3.0)

    found = ridge._minimum(bowl, np.zeros(2), [(-9.0, 9.0)] * 2)
    assert np.allclose(found.x, 3.0, atol=1e-3)
    assert found.fun == pytest.approx(unit)


def test_bounds_hold_and_distributions_count():
    narrow = {"kernel__gamma": (2.0, 3.0), "alpha": stats.loguniform(0.5, 0.6)}
    found = tune(KernelRidge(), X, y, narrow, n_iter=2)
    assert found.method == "gradient"
    assert 2.0 <= found.params["kernel__gamma"] <= 3.0
    assert 0.5 <= found.params["alpha"] <= 0.6
    zero = tune(KernelRidge(kernel=Polynomial(2)), X, y, {"kernel__coef0": (0.0, 5.0)}, n_iter=2)
    assert 0.0 <= zero.params["kernel__coef0"] <= 5.0


def test_a_time_limit_leaves_what_was_found():
    found = tune(KernelRidge(), X, y, SPACE, time_limit=1e-6)
    assert found.status == "time limit"
    assert found.model.predict(X).shape == (80,)


def test_a_kernel_that_fails_at_a_bound_is_left_alone():
    many = np.vstack([X, X])  # K is singular
    space = {"kernel__gamma": (1e-6, 1.0), "alpha": (1e-300, 1.0)}
    found = tune(KernelRidge(), many, np.append(y, y), space, n_iter=5)
    assert np.isfinite(found.score)


@pytest.mark.parametrize(
    ("estimator", "space", "options", "message"),
    [
        (SVC(), {"C": (1.0, 9.0)}, {"method": "gradient"}, "no ridge model"),
        (SVC(), {"C": (1.0, 9.0)}, {"scoring": "evidence"}, "no ridge model"),
        (KernelRidge(), {"alpha": [1.0]}, {"scoring": "evidence"}, "has no bounds"),
        (KernelRidge(), SPACE, {"method": "gradient", "scoring": "max_error"}, "no derivative"),
        (KernelRidge(), {"kernel__gama": (1.0, 2.0)}, {}, "parameters are gamma"),
        (KernelRidge(), {"alpha": PerColumn(1.0, 2.0)}, {}, "alpha is no parameter per column"),
        (
            KernelRidge(kernel=Matern()),
            {"kernel__nu": (0.5, 3.0)},
            {"method": "gradient"},
            "derivative by the parameters",
        ),
        (KernelRidge(), {"alpha": (2.0, 1.0)}, {}, "low below high"),
        (KernelRidge(), SPACE, {"n_iter": 0}, "n_iter"),
        (KernelRidge(), SPACE, {"method": "best"}, "method"),
        (KernelRidge(), SPACE, {"method": "grid"}, "lists of values"),
    ],
)
def test_refusals(estimator, space, options, message):
    with pytest.raises(InputError, match=message):
        tune(estimator, X, SIGNS, space, **options)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (2.0, 1.0), (-1.0, 1.0)])
def test_bounds_per_column_are_above_zero(low, high):
    with pytest.raises(InputError, match="PerColumn"):
        PerColumn(low, high)


def test_scores_can_be_drawn():
    matplotlib.use("Agg")
    found = tune(KernelRidge(), X, y, SPACE, n_iter=3)
    assert found.plot("alpha").get_xscale() == "log"
    assert found.plot("alpha", "kernel__gamma").get_ylabel() == "kernel__gamma"
    with pytest.raises(InputError, match="of kernel__gamma, alpha"):
        found.plot("C")
    matplotlib.pyplot.close("all")
