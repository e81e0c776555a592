"""What searches call a score is what scikit-learn's `cross_val_score` says on the same folds."""

import numpy as np
import pytest
from costed import costed
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.metrics import make_scorer, r2_score, roc_auc_score
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)

from mercer import (
    SVC,
    SVR,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    tune,
)
from mercer.kernels import Gaussian, Laplacian, Linear

# A class that no one predicts has a precision of 0, with a warning, on both sides.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

random = np.random.default_rng(0)
X, TWO = make_classification(101, 5, weights=[0.8], flip_y=0.2, random_state=0)
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * random.normal(size=101), [-1, 1])]
LABELS = np.column_stack([TWO, X[:, 1] + 0.5 * random.normal(size=101) > 0]).astype(int)
NUMBERS = 30 + 10 * np.sin(X[:, 0]) + X[:, 1] + random.normal(size=101)
COUNTS = np.abs(NUMBERS)
WEIGHT = random.uniform(0.3, 3.0, 101)
KERNELS = [Gaussian(0.3), Laplacian(0.2), Linear()]
ALPHAS = [1e-3, 0.1, 3.0]
OF_TWO = (
    "accuracy balanced_accuracy roc_auc average_precision f1 f1_micro f1_macro f1_weighted "
    "precision recall jaccard matthews_corrcoef neg_log_loss neg_brier_score"
)
OF_THREE = (
    "accuracy balanced_accuracy f1_micro f1_macro f1_weighted precision_macro recall_macro "
    "jaccard_weighted matthews_corrcoef roc_auc_ovr roc_auc_ovo roc_auc_ovr_weighted neg_log_loss"
)
OF_LABELS = "accuracy f1_micro f1_macro f1_samples jaccard_samples roc_auc average_precision"
OF_NUMBERS = (
    "r2 explained_variance neg_mean_squared_error neg_root_mean_squared_error "
    "neg_mean_absolute_error neg_median_absolute_error neg_max_error "
    "neg_mean_absolute_percentage_error"
)
CASES = [
    (kind, scoring)
    for kind, names in {"two": OF_TWO, "three": OF_THREE, "labels": OF_LABELS}.items()
    for scoring in [None, *names.split()]
]
TARGETS = {"two": TWO, "three": THREE, "labels": LABELS}
CLASS_WEIGHTS = {
    "plain": lambda kind: None,
    "balanced": lambda kind: "balanced",
    "given": lambda kind: {"two": {0: 0.5, 1: 4.0}, "three": {"a": 2.0, "b": 0.7, "c": 1.0}}[kind],
}


def same_scores(search, one, y, folds, scoring, params=None):
    """Check every candidate, fold by fold, and the best of them."""
    table = search.cv_results_
    means = []
    for index, candidate in enumerate(table["params"]):
        model = one.set_params(**candidate)
        wanted = cross_val_score(model, X, y, cv=folds, scoring=scoring, params=params)
        found = [table[f"split{fold}_test_score"][index] for fold in range(len(wanted))]
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
        means.append(wanted.mean())
    assert search.best_score_ == pytest.approx(max(means), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS)
@pytest.mark.parametrize(("kind", "scoring"), CASES)
def test_classes(kind, scoring, class_weight):
    """The folds have different shares of classes, so that balanced weights differ too."""
    if (kind, class_weight) == ("labels", "given"):
        pytest.skip("weights of labels are a list of dictionaries; see below")
    y, weight = TARGETS[kind], CLASS_WEIGHTS[class_weight](kind)
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    options = {"class_weight": weight, "fit_intercept": True}
    search = KernelRidgeClassifierCV(ALPHAS, kernel=KERNELS, cv=folds, scoring=scoring, **options)
    same_scores(search.fit(X, y), KernelRidgeClassifier(**options), y, folds, scoring)


@pytest.mark.parametrize("class_weight", ["plain", "balanced"])
@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
@pytest.mark.parametrize("way", ["double", "band"])  # the rate that makes it the cheapest
def test_classes_by_fits_of_every_fold(way, scoring, class_weight):
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    options = {"class_weight": CLASS_WEIGHTS[class_weight]("three"), "fit_intercept": True}
    search = KernelRidgeClassifierCV(ALPHAS, kernel=KERNELS, cv=folds, scoring=scoring, **options)
    costed(search, refit_from=0, **{way: 1e30}).fit(X, THREE)
    same_scores(search, KernelRidgeClassifier(**options), THREE, folds, scoring)


def test_weights_of_labels():
    weight = [{0: 1.0, 1: 3.0}, {0: 2.0, 1: 0.5}]
    search = KernelRidgeClassifierCV(ALPHAS, kernel=KERNELS, cv=3, class_weight=weight)
    one = KernelRidgeClassifier(class_weight=weight)
    same_scores(search.fit(X, LABELS), one, LABELS, 3, None)


@pytest.mark.parametrize("scoring", [None, *OF_NUMBERS.split()])
def test_numbers(scoring):
    folds = ShuffleSplit(3, test_size=0.3, train_size=0.5, random_state=1)
    search = KernelRidgeCV(ALPHAS, kernel=KERNELS, cv=folds, scoring=scoring)
    same_scores(search.fit(X, NUMBERS), KernelRidge(), NUMBERS, folds, scoring)


def test_counts():
    folds = KFold(4)
    for scoring in (
        "neg_mean_poisson_deviance",
        "neg_mean_squared_log_error",
        "d2_absolute_error_score",
    ):
        search = KernelRidgeCV([0.1], kernel=Gaussian(0.3), cv=folds, scoring=scoring)
        same_scores(search.fit(X, COUNTS), KernelRidge(), COUNTS, folds, scoring)


def test_average_precision_of_a_rare_class():
    """Scores weighed by class told 0.81 where the search promised what `cross_val_score` does."""
    points, y = make_classification(400, 20, weights=[0.95], flip_y=0.05, random_state=3)
    options = {"class_weight": "balanced", "kernel": Gaussian(0.02)}
    folds = StratifiedKFold(5)
    search = KernelRidgeClassifierCV([1.0], cv=folds, scoring="average_precision", **options)
    search.fit(points, y)
    one = KernelRidgeClassifier(1.0, **options)
    wanted = cross_val_score(one, points, y, cv=folds, scoring="average_precision").mean()
    assert search.best_score_ == pytest.approx(wanted, abs=1e-9)


# --- one point at a time --------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", [None, {0: 0.5, 1: 8.0}], ids=["plain", "given"])
def test_leaving_out_one_point_leaves_out_all_of_it_however_heavy_its_class(class_weight):
    options = {"kernel": Gaussian(0.3), "class_weight": class_weight}
    search = KernelRidgeClassifierCV([0.1], scoring="roc_auc", **options).fit(X, TWO)
    one = KernelRidgeClassifier(0.1, probability=False, **options)
    scores = cross_val_predict(one, X, TWO, cv=LeaveOneOut(), method="decision_function")
    assert search.best_score_ == pytest.approx(roc_auc_score(TWO, scores), abs=1e-9)
    slopes = KernelRidgeClassifier(0.1, **options).fit(X, TWO).slopes_
    by_folds = KernelRidgeClassifierCV([0.1], cv=LeaveOneOut(), **options).fit(X, TWO)
    assert by_folds.best_score_ == pytest.approx(np.mean((scores > 0) == TWO), abs=1e-9)
    assert by_folds.slopes_ == pytest.approx(slopes)


# --- weights of samples ---------------------------------------------------------------------------


def test_weights_of_samples_train_and_do_not_score():
    folds = KFold(3)
    params = {"sample_weight": WEIGHT}
    search = KernelRidgeCV(ALPHAS, kernel=KERNELS, cv=folds, scoring="r2").fit(X, NUMBERS, WEIGHT)
    same_scores(search, KernelRidge(), NUMBERS, folds, "r2", params)
    for scoring in ("neg_log_loss", "average_precision", None):
        options = {"class_weight": "balanced"}
        search = KernelRidgeClassifierCV(
            ALPHAS, kernel=KERNELS, cv=folds, scoring=scoring, **options
        )
        search.fit(X, TWO, WEIGHT)
        same_scores(search, KernelRidgeClassifier(**options), TWO, folds, scoring, params)


def test_weights_that_are_routed_score_too():
    folds, params = KFold(3), {"sample_weight": WEIGHT}
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(r2_score).set_score_request(sample_weight=True)
        one = KernelRidge().set_fit_request(sample_weight=True)
        search = KernelRidgeCV(ALPHAS, kernel=KERNELS, cv=folds, scoring=scorer)
        same_scores(search.fit(X, NUMBERS, WEIGHT), one, NUMBERS, folds, scorer, params)

        one.set_score_request(sample_weight=True)
        search = KernelRidgeCV(ALPHAS, kernel=KERNELS, cv=folds)
        search.set_score_request(sample_weight=True).fit(X, NUMBERS, WEIGHT)
        same_scores(search, one, NUMBERS, folds, None, params)

        options = {"class_weight": "balanced"}
        one = KernelRidgeClassifier(**options).set_fit_request(sample_weight=True)
        one.set_score_request(sample_weight=True)
        search = KernelRidgeClassifierCV(ALPHAS, kernel=KERNELS, cv=folds, **options)
        search.set_score_request(sample_weight=True).fit(X, TWO, WEIGHT)
        same_scores(search, one, TWO, folds, None, params)
        plain = KernelRidgeCV(ALPHAS, kernel=KERNELS, cv=folds, scoring="r2")
        plain.fit(X, NUMBERS, WEIGHT)
    unweighted = KernelRidgeCV(ALPHAS, kernel=KERNELS, cv=folds).fit(X, NUMBERS, WEIGHT)
    np.testing.assert_array_equal(
        plain.cv_results_["mean_test_score"], unweighted.cv_results_["mean_test_score"]
    )


# --- tune -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize(
    ("kind", "scoring"),
    [("two", name) for name in OF_TWO.split()[:11]] + [("three", n) for n in OF_THREE.split()[:9]],
)
def test_tune(kind, scoring, class_weight):
    y, folds = TARGETS[kind], list(KFold(3, shuffle=True, random_state=1).split(X))
    model = SVC(kernel=Gaussian(0.3), class_weight=class_weight, tol=1e-10)
    space = {"C": [0.1, 1.0, 10.0], "kernel": KERNELS[:2]}
    found = tune(model, X, y, space, cv=folds, scoring=scoring)
    for index, candidate in enumerate(found.table["params"]):
        wanted = cross_val_score(model.set_params(**candidate), X, y, cv=folds, scoring=scoring)
        for fold, score in enumerate(wanted):
            assert found.table[f"split{fold}_test_score"][index] == pytest.approx(score, abs=1e-9)
    assert found.score == pytest.approx(max(found.table["mean_test_score"]), abs=1e-12)


@pytest.mark.parametrize("scoring", OF_NUMBERS.split())
def test_tune_numbers(scoring):
    model, folds = SVR(kernel=Gaussian(0.3), tol=1e-10), KFold(3)
    found = tune(model, X, NUMBERS, {"C": [0.1, 10.0]}, cv=folds, scoring=scoring)
    for index, C in enumerate([0.1, 10.0]):
        wanted = cross_val_score(model.set_params(C=C), X, NUMBERS, cv=folds, scoring=scoring)
        mean = found.table["mean_test_score"][index]
        assert mean == pytest.approx(wanted.mean(), rel=1e-9, abs=1e-9)


def test_tune_with_probabilities_and_without():
    for scoring in ("neg_log_loss", "neg_brier_score"):
        model = SVC(kernel=Gaussian(0.3), probability=True, tol=1e-10)
        found = tune(model, X, TWO, {"C": [0.1, 1.0]}, cv=3, scoring=scoring)
        for index, C in enumerate([0.1, 1.0]):
            wanted = cross_val_score(model.set_params(C=C), X, TWO, cv=3, scoring=scoring).mean()
            assert found.table["mean_test_score"][index] == pytest.approx(wanted, abs=1e-9)
        with pytest.raises(AttributeError, match="predict_proba"):
            tune(SVC(kernel=Gaussian(0.3)), X, TWO, {"C": [0.1, 1.0]}, cv=3, scoring=scoring)
