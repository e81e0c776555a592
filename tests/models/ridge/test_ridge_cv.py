"""Cross-validation in closed form against fitting every model."""

import numpy as np
import pytest
from costed import costed
from sklearn import config_context
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.kernel_ridge import KernelRidge as PeerRidge
from sklearn.metrics import accuracy_score, log_loss, make_scorer, max_error, r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from mercer import KernelRidge, KernelRidgeClassifier, KernelRidgeClassifierCV, KernelRidgeCV
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial
from mercer.monitor import Monitor
from mercer.solvers import RidgePath, RidgeProblem, RidgeRefits

N = 45
RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(N, 3))
Y = np.sin(2 * X[:, 0]) + 0.3 * RANDOM.normal(size=N)
WEIGHT = np.where(np.arange(N) % 8 == 0, 0.0, 3 * RANDOM.random(N))
GROUPS = np.arange(N) % 6
KERNELS = [Gaussian(gamma=0.5), Linear(), Polynomial(2)]
ALPHAS = [1e-3, 0.1, 2.0]
SPLITTERS = {
    "folds": KFold(5, shuffle=True, random_state=0),
    "groups": GroupKFold(3),
    "shuffled": ShuffleSplit(3, test_size=0.3, train_size=0.5, random_state=1),
    "in time": TimeSeriesSplit(3),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=3),
}


WAYS = {  # what makes each of them the cheapest
    "spectrum": {"refit_from": N + 1},
    "factors": {"refit_from": 0, "double": 1e30},
    "bands": {"refit_from": 0, "band": 1e30},
}


def refitted(kernel, alpha, train, test, weight, intercept):
    """Predictions of a model fitted without closed forms."""
    part = None if weight is None else weight[train]
    model = KernelRidge(alpha, kernel=kernel, fit_intercept=intercept)
    return model.fit(X[train], Y[train], part).predict(X[test])


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("way", WAYS)
def test_scores_equal_those_of_refitted_models(way, name, weight, intercept):
    splits = list(SPLITTERS[name].split(X, Y, GROUPS if name == "groups" else None))
    model = KernelRidgeCV(ALPHAS, kernel=KERNELS, cv=splits, fit_intercept=intercept)
    costed(model, **WAYS[way]).fit(X, Y, weight)
    table = model.cv_results_
    for index, params in enumerate(table["params"]):
        for fold, (train, test) in enumerate(splits):
            found = refitted(params["kernel"], params["alpha"], train, test, weight, intercept)
            scored = slice(None) if weight is None else weight[test] > 0
            wanted = r2_score(Y[test][scored], found[scored])
            assert table[f"split{fold}_test_score"][index] == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_leave_one_out_equals_refitting_without_each_point(kernel, intercept):
    model = KernelRidgeCV(ALPHAS, kernel=kernel, fit_intercept=intercept).fit(X, Y)
    for index, alpha in enumerate(ALPHAS):
        left = [np.delete(np.arange(N), i) for i in range(N)]
        pairs = [refitted(kernel, alpha, left[i], [i], None, intercept)[0] for i in range(N)]
        assert model.cv_results_["mean_test_score"][index] == pytest.approx(
            r2_score(Y, pairs), abs=1e-9
        )
        error = np.mean((Y - np.array(pairs)) ** 2)
        assert model.cv_results_["mean_squared_error"][index] == pytest.approx(error)


@pytest.mark.parametrize("intercept", [False, True])
def test_leave_one_out_takes_one_unit_of_a_heavy_point(intercept):
    weight = np.where(np.arange(N) % 2 == 0, 3.0, 0.5)
    model = KernelRidgeCV([0.1], kernel=KERNELS[0], fit_intercept=intercept).fit(X, Y, weight)
    found = []
    for i in range(N):
        part = weight.copy()
        part[i] -= min(weight[i], 1.0)
        one = KernelRidge(0.1, kernel=KERNELS[0], fit_intercept=intercept).fit(X, Y, part)
        found.append(one.predict(X[i : i + 1])[0])
    assert model.best_score_ == pytest.approx(r2_score(Y, found), abs=1e-9)


def test_weights_of_two_are_points_given_twice_to_a_scorer_that_asks_for_them():
    weight = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(N), weight.astype(int))
    repeated = KernelRidgeCV(ALPHAS, kernel=KERNELS).fit(X[twice], Y[twice])
    with config_context(enable_metadata_routing=True):
        weighted = KernelRidgeCV(ALPHAS, kernel=KERNELS).set_score_request(sample_weight=True)
        weighted.fit(X, Y, weight)
    for name in ("mean_test_score", "mean_squared_error"):
        np.testing.assert_allclose(weighted.cv_results_[name], repeated.cv_results_[name], 1e-8)


def test_agrees_with_grid_search():
    gammas, alphas = [0.2, 1.0], [0.01, 0.3, 3.0]
    search = GridSearchCV(PeerRidge(kernel="rbf"), {"alpha": alphas, "gamma": gammas}, cv=KFold(4))
    search.fit(X, Y)
    kernels = [Gaussian(gamma=gamma) for gamma in gammas]
    model = KernelRidgeCV(alphas, kernel=kernels, cv=KFold(4)).fit(X, Y)
    assert {"alpha": model.alpha_, "gamma": model.kernel_.gamma} == search.best_params_
    assert model.best_score_ == pytest.approx(search.best_score_, abs=1e-10)
    np.testing.assert_allclose(model.predict(X), search.predict(X), atol=1e-8)


def test_small_alphas_lose_no_digits():
    """Where H is nearly the identity, I - H must not be found by subtraction."""
    alphas = [1e-9, 1e-7]
    kernel = Laplacian(gamma=1.0)
    model = KernelRidgeCV(alphas, kernel=kernel, cv=KFold(5)).fit(X, Y)
    splits = list(KFold(5).split(X))
    for index, alpha in enumerate(alphas):
        wanted = [
            r2_score(Y[test], refitted(kernel, alpha, train, test, None, False))
            for train, test in splits
        ]
        found = model.cv_results_["mean_test_score"][index]
        assert found == pytest.approx(np.mean(wanted), abs=1e-7)


def test_alpha_zero_is_interpolation():
    model = KernelRidgeCV([0.0], kernel=Laplacian(gamma=1.0), cv=KFold(5)).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), Y, atol=1e-8)
    alone = KernelRidgeCV([0.0], kernel=Laplacian(gamma=1.0)).fit(X, Y)
    assert np.isfinite(alone.best_score_)


@pytest.mark.parametrize("cv", [None, KFold(4)], ids=["one", "folds"])
@pytest.mark.parametrize("intercept", [False, True])
def test_many_points_use_the_exact_errors_of_a_smaller_model(cv, intercept):
    """With all points as centres the smaller model is the whole one."""
    options = {"kernel": Gaussian(gamma=0.5), "cv": cv, "fit_intercept": intercept}
    exact = KernelRidgeCV(ALPHAS, **options).fit(X, Y, WEIGHT)
    found = costed(KernelRidgeCV(ALPHAS, n_centers=N, **options), search_rows=10)
    found.fit(X, Y, WEIGHT)
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"], exact.cv_results_["mean_test_score"], atol=1e-6
    )
    few = costed(KernelRidgeCV(ALPHAS, n_centers=12, **options), search_rows=10)
    few.fit(X, Y, WEIGHT)
    assert few.best_score_ != exact.best_score_


def test_few_centres_are_left_out_exactly():
    kernel = Gaussian(gamma=0.5)
    model = KernelRidgeCV([0.1], kernel=kernel, n_centers=9, solver="nystrom")
    costed(model, search_rows=10).fit(X, Y)
    Z = X[model.support_]
    K, inner = kernel.formula(X, Z), kernel.formula(Z, Z)
    found = []
    for i in range(N):
        rows = np.delete(np.arange(N), i)
        t = np.linalg.solve(K[rows].T @ K[rows] + 0.1 * inner, K[rows].T @ Y[rows])
        found.append(K[i] @ t)
    assert model.best_score_ == pytest.approx(r2_score(Y, found), abs=1e-6)


def test_an_exact_map_takes_the_place_of_centres():
    exact = KernelRidgeCV(ALPHAS, kernel=Linear()).fit(X, Y)
    mapped = costed(KernelRidgeCV(ALPHAS, kernel=Linear()), search_rows=10).fit(X, Y)
    np.testing.assert_allclose(
        mapped.cv_results_["mean_test_score"], exact.cv_results_["mean_test_score"], atol=1e-9
    )


@pytest.mark.parametrize("shared", [False, True], ids=["factors", "band"])
@pytest.mark.parametrize("intercept", [False, True])
def test_refits_are_the_path(intercept, shared):
    outputs = np.column_stack([Y, X[:, 1]])
    weight = 0.2 + RANDOM.random(N)
    copies = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
    problem = RidgeProblem(
        targets=outputs, alpha=np.zeros(2), weight=weight, intercept=intercept, copies=copies
    )
    K = Gaussian(0.5).formula(X, X)
    refits = RidgeRefits(K, problem, ALPHAS, Monitor(), shared)
    path = RidgePath.of_spectrum(K.copy(), problem, Monitor())
    rows = np.arange(0, N, 4)
    held, wanted = refits.part(rows), path.part(rows)
    for alpha in ALPHAS:
        for found, expected in [
            (refits.leave_one_out(alpha), path.leave_one_out(alpha)),
            (refits.hold_out(alpha, held), path.hold_out(alpha, wanted)),
            (
                refits.leave_one_out_of_rest(alpha, held)[1],
                path.leave_one_out_of_rest(alpha, wanted)[1],
            ),
        ]:
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    assert np.array_equal(K, Gaussian(0.5).formula(X, X))


@pytest.mark.parametrize("shared", [False, True], ids=["factors", "band"])
def test_an_alpha_without_a_solution_has_no_errors(shared):
    K = np.diag(np.append(np.ones(N - 1), -0.5))
    problem = RidgeProblem(targets=Y[:, None], alpha=np.zeros(1))
    refits = RidgeRefits(K, problem, [0.1, 1.0], Monitor(), shared)
    held = refits.part(np.arange(5))
    assert refits.hold_out(1.0, held) == pytest.approx(Y[:5, None])
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        refits.hold_out(0.1, held)
    assert np.isnan(refits.leave_one_out(0.1)).all()
    assert not RidgeRefits(K, problem, [0.1], Monitor(), shared).part(np.arange(5)).errors


def test_path_holds_out_sets_larger_than_its_space():
    """Both sides of Woodbury's identity."""
    problem = RidgeProblem(targets=Y[:, None], alpha=np.zeros(1), intercept=True)
    path = RidgePath.of_spectrum(Linear().formula(X, X), problem, Monitor())
    whole = np.arange(N)
    for size in (2, 30):
        rows = whole[:size]
        train = whole[size:]
        wanted = Y[rows] - refitted(Linear(), 0.5, train, rows, None, True)
        np.testing.assert_allclose(path.hold_out(0.5, path.part(rows))[:, 0], wanted, atol=1e-9)


def test_several_outputs_are_scored_together():
    targets = np.column_stack([Y, np.cos(X[:, 1]), Y**2])
    model = KernelRidgeCV(ALPHAS, kernel=KERNELS[0], cv=KFold(3)).fit(X, targets)
    scores = []
    for train, test in KFold(3).split(X):
        one = KernelRidge(ALPHAS[1], kernel=KERNELS[0]).fit(X[train], targets[train])
        scores.append(r2_score(targets[test], one.predict(X[test])))
    assert model.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(scores), abs=1e-9)
    assert model.predict(X).shape == targets.shape


# --- scoring -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", make_scorer(max_error), None])
def test_any_scorer_of_numbers(scoring):
    model = KernelRidgeCV(ALPHAS, kernel=KERNELS[:2], cv=KFold(3), scoring=scoring).fit(X, Y)
    grid = {"alpha": ALPHAS}
    search = GridSearchCV(KernelRidge(kernel=KERNELS[0]), grid, cv=KFold(3), scoring=scoring)
    wanted = search.fit(X, Y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(model.cv_results_["mean_test_score"][:3], wanted, atol=1e-8)


def test_a_function_of_estimator_and_data_scores():
    def score(estimator, rows, truth):
        return -float(np.abs(estimator.predict(rows) - truth).max())

    model = KernelRidgeCV(ALPHAS, kernel=KERNELS[0], scoring=score).fit(X, Y, WEIGHT)
    assert model.best_score_ < 0


CLASSES = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.4, 0.5])]


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "f1_macro"])
@pytest.mark.parametrize("labels", [CLASSES, Y > 0], ids=["three", "two"])
def test_any_scorer_of_classes(scoring, labels):
    folds = StratifiedKFold(3)
    model = KernelRidgeClassifierCV(ALPHAS, kernel=KERNELS, cv=folds, scoring=scoring)
    model.fit(X, labels)
    for index, params in enumerate(model.cv_results_["params"]):
        one = KernelRidgeClassifier(probability=False, **params)
        wanted = mercer_scores(one, labels, folds, scoring)
        assert model.cv_results_["mean_test_score"][index] == pytest.approx(wanted)


def mercer_scores(model, labels, folds, scoring):
    grid = GridSearchCV(model, {"alpha": [model.alpha]}, cv=folds, scoring=scoring, refit=False)
    return grid.fit(X, labels).cv_results_["mean_test_score"][0]


def test_scorers_may_ask_for_scores_and_probabilities():
    for scoring in ("roc_auc", "neg_log_loss", "average_precision"):
        model = KernelRidgeClassifierCV(ALPHAS, kernel=KERNELS, cv=3, scoring=scoring)
        assert np.isfinite(model.fit(X, Y > 0).cv_results_["mean_test_score"]).all()
    model = KernelRidgeClassifierCV(ALPHAS, kernel=KERNELS[0], scoring="neg_log_loss")
    model.fit(X, CLASSES)
    assert -model.best_score_ < np.log(3)
    assert log_loss(CLASSES, model.predict_proba(X)) < np.log(3)


def test_a_cv_of_a_number_is_stratified_for_classes():
    labels = np.sort(CLASSES)
    model = KernelRidgeClassifierCV(ALPHAS, kernel=KERNELS[0], cv=3).fit(X, labels)
    folds = list(StratifiedKFold(3).split(X, labels))
    same = KernelRidgeClassifierCV(ALPHAS, kernel=KERNELS[0], cv=folds).fit(X, labels)
    np.testing.assert_array_equal(
        model.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"]
    )


def test_equal_shares_of_correct_answers_are_decided_by_the_squared_error():
    points, labels = make_classification(60, 4, class_sep=4.0, random_state=0)
    model = KernelRidgeClassifierCV(kernel=Gaussian(gamma=0.1)).fit(points, labels)
    table = model.cv_results_
    equal = table["mean_test_score"] == table["mean_test_score"].max()
    assert equal.sum() > 1
    assert (
        table["mean_squared_error"][model.best_index_] == table["mean_squared_error"][equal].min()
    )


def test_several_labels():
    points, labels = make_multilabel_classification(60, 5, n_classes=3, random_state=0)
    model = KernelRidgeClassifierCV(ALPHAS, kernel=Gaussian(gamma=0.05), cv=KFold(3))
    model.fit(points, labels)
    scores = []
    for train, test in KFold(3).split(points):
        one = KernelRidgeClassifier(ALPHAS[0], kernel=Gaussian(gamma=0.05))
        one.fit(points[train], labels[train])
        scores.append(accuracy_score(labels[test], one.predict(points[test])))
    assert model.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(scores))
    assert model.predict_proba(points).shape == labels.shape
