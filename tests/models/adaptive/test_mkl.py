"""Learning the weights of kernels: the optimum, every kind of data, what bad input gets."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn import svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

import mercer
from mercer import (
    SVC,
    GramStack,
    InputError,
    KernelError,
    KernelRidge,
    MemoryLimitError,
    MKLClassifier,
    MKLOneClassSVM,
    MKLRegressor,
)
from mercer.kernels import (
    Constant,
    FunctionKernel,
    Gaussian,
    Linear,
    Polynomial,
    Sigmoid,
    Spectrum,
)

random = np.random.default_rng(5)
N = 70
X = random.normal(size=(N, 4))
NEW = random.normal(size=(20, 4))
TWO = np.where(np.abs(X[:, 1]) + 0.3 * random.normal(size=N) > 0.7, "far", "near")
THREE = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.3, 1.2])
NUMBERS = np.sin(2 * X[:, 2]) + X[:, 0] / 2 + 0.1 * random.normal(size=N)
KERNELS = [Gaussian(gamma).on([column]) for column in range(4) for gamma in (0.3, 2.0)]
KERNELS += [Linear(), Polynomial(2)]


def scaled(kernels=KERNELS, points=X):
    """The matrices with a mean diagonal of 1."""
    return [K / np.diagonal(K).mean() for K in (kernel(points) for kernel in kernels)]


def svm_objective(K, y, C):
    """The least objective of a support vector machine, by LIBSVM."""
    model = svm.SVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y)
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    b = np.zeros(len(y))
    b[model.support_] = model.dual_coef_[0]
    return float(b @ signs) - float(b @ K @ b) / 2, b


def slow_objective(matrices, y, C):
    """The least J over the simplex, by a general method on LIBSVM's values and slopes."""

    def value(d):
        K = np.tensordot(np.maximum(d, 0), matrices, 1)
        found, b = svm_objective(K, y, C)
        return found, np.array([-(b @ one @ b) / 2 for one in matrices])

    count = len(matrices)
    return min(
        minimize(
            value,
            start,
            jac=True,
            bounds=[(0, 1)] * count,
            constraints=[{"type": "eq", "fun": lambda d: d.sum() - 1}],
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 300},
        ).fun
        for start in (np.full(count, 1 / count), np.eye(count)[2] * 0.9 + 0.1 / count)
    )


# --- the optimum ------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["simple", "level"])
def test_the_objective_is_that_of_a_slow_search(algorithm):
    model = MKLClassifier(KERNELS, C=3.0, algorithm=algorithm, gap_tol=1e-6).fit(X, TWO)
    wanted = slow_objective(np.array(scaled()), TWO, 3.0)
    found = model.certificate_
    assert found.status == "converged"
    assert found.objective == pytest.approx(wanted, rel=1e-4)
    assert found.objective - found.gap <= wanted * (1 + 1e-6)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert found.active == np.count_nonzero(model.weights_) < len(KERNELS)
    K = np.tensordot(model.weights_, scaled(), 1)
    assert svm_objective(K, TWO, 3.0)[0] == pytest.approx(found.objective, rel=1e-5)


def test_the_level_method_and_the_closed_form_agree():
    level = MKLClassifier(KERNELS, C=3.0, gap_tol=1e-5).fit(X, TWO)
    close = MKLClassifier(KERNELS, C=3.0, algorithm="lp", p=1.0, gap_tol=1e-3).fit(X, TWO)
    assert level.certificate_.algorithm == "level"
    assert close.certificate_.objective == pytest.approx(level.certificate_.objective, rel=2e-3)
    even = MKLClassifier(KERNELS, C=3.0, p=8.0).fit(X, TWO)
    assert even.certificate_.algorithm == "lp"
    assert np.ptp(even.weights_) < np.ptp(close.weights_)
    assert (even.weights_**8).sum() == pytest.approx(1.0)


def test_the_history_tells_each_step():
    model = MKLClassifier(KERNELS, C=3.0, algorithm="simple", gap_tol=1e-4).fit(X, TWO)
    history, found = model.history_, model.certificate_
    assert set(history) == {"objective", "gap", "weights", "solves"}
    assert history["weights"].shape == (found.steps, len(KERNELS))
    assert np.allclose(history["weights"].sum(axis=1), 1.0)
    assert (np.diff(history["objective"]) <= 1e-9 * found.objective).all()
    assert (np.diff(history["solves"]) > 0).all()
    assert history["solves"][-1] == found.solves
    assert history["weights"][0] == pytest.approx(np.full(len(KERNELS), 1 / len(KERNELS)))


@pytest.mark.parametrize("algorithm", ["auto", "simple", "lp", "easy", "average"])
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_the_machine_is_the_one_of_its_kernel(algorithm, labels):
    model = MKLClassifier(KERNELS, C=3.0, algorithm=algorithm).fit(X, labels)
    plain = SVC(3.0, kernel=model.kernel_).fit(X, labels)
    assert np.allclose(
        model.decision_function(NEW), plain.decision_function(NEW), rtol=0, atol=1e-2
    )
    assert (model.predict(X) == plain.predict(X)).mean() > 0.97
    assert mercer.parse(repr(model.kernel_)) == model.kernel_


def test_one_against_the_rest_shares_the_weights():
    model = MKLClassifier(KERNELS, C=3.0, multiclass="ovr", probability=True).fit(X, THREE)
    assert model.dual_coef_.shape[0] == 3
    assert model.predict_proba(NEW).sum(axis=1) == pytest.approx(np.ones(20))
    # J is the sum over the machines
    K = np.tensordot(model.weights_, scaled(), 1)
    total = sum(svm_objective(K, np.equal(THREE, c), 3.0)[0] for c in range(3))
    assert model.certificate_.objective == pytest.approx(total, rel=1e-4)


# --- regression and one class -----------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_has_the_least_objective(intercept):
    model = MKLRegressor(
        KERNELS, loss="squared", alpha=0.5, gap_tol=1e-7, tol=1e-9, fit_intercept=intercept
    ).fit(X, NUMBERS)
    matrices = np.array(scaled())

    def value(d):
        K = np.tensordot(np.maximum(d, 0), matrices, 1)
        plain = KernelRidge(0.5, kernel="precomputed", fit_intercept=intercept).fit(K, NUMBERS)
        a, f = plain.dual_coef_, plain.predict(K)
        slopes = np.array([-0.25 * a @ one @ a for one in matrices])
        return ((NUMBERS - f) ** 2).sum() / 2 + 0.25 * a @ K @ a, slopes

    count = len(KERNELS)
    wanted = minimize(
        value,
        np.full(count, 1 / count),
        jac=True,
        bounds=[(0, 1)] * count,
        constraints=[{"type": "eq", "fun": lambda d: d.sum() - 1}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert model.certificate_.objective == pytest.approx(wanted.fun, rel=1e-5)
    plain = KernelRidge(0.5, kernel=model.kernel_, fit_intercept=intercept).fit(X, NUMBERS)
    assert np.allclose(model.predict(NEW), plain.predict(NEW), rtol=0, atol=1e-5)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
@pytest.mark.parametrize("algorithm", ["auto", "simple", "lp", "average"])
def test_numbers(loss, algorithm):
    model = MKLRegressor(KERNELS, loss=loss, C=10.0, alpha=0.1, algorithm=algorithm)
    model.fit(X, NUMBERS)
    assert model.score(X, NUMBERS) > 0.8
    assert model.certificate_.machine_gap <= 0.1
    if algorithm not in ("average", "lp"):
        assert model.weights_[4:6].sum() > 0.4  # the third column carries most


def test_one_class():
    points = np.column_stack([random.normal(size=90), random.normal(size=90) * 0.1])
    kernels = [Gaussian(1.0).on([0]), Gaussian(1.0).on([1])]
    model = MKLOneClassSVM(kernels, nu=0.2).fit(points)
    plain = mercer.OneClassSVM(0.2, kernel=model.kernel_).fit(points)
    assert np.allclose(model.decision_function(points), plain.decision_function(points), atol=1e-3)
    assert (model.predict(points) < 0).mean() <= 0.25
    # The least J is found: no other weights on a grid have a lower one.
    for share in np.linspace(0, 1, 11):
        other = mercer.OneClassSVM(0.2, kernel=_mixed(kernels, share), tol=1e-8).fit(points)
        assert model.certificate_.objective <= other.certificate_.primal + 1e-2 * abs(
            model.certificate_.objective
        )


def _mixed(kernels, share):
    if share in (0, 1):
        return kernels[int(share)]
    return (1 - share) * kernels[0] + share * kernels[1]


# --- data -------------------------------------------------------------------------------------


def test_a_sum_gives_its_terms():
    total = 0.2 * Gaussian(0.5) + 3 * Linear() + Polynomial(2)
    model = MKLClassifier(total, C=2.0).fit(X, TWO)
    same = MKLClassifier([Gaussian(0.5), Linear(), Polynomial(2)], C=2.0).fit(X, TWO)
    assert np.array_equal(model.weights_, same.weights_)


def test_columns_and_kinds_of_data_mix():
    words = ["".join(random.choice(list("ab"), 6)) + ("aaa" if f == "far" else "bbb") for f in TWO]
    frame = pd.DataFrame({"word": words, "a": X[:, 0], "b": X[:, 2]})
    kernels = [Spectrum(2).on("word"), Gaussian().on(["a", "b"]), Linear().on("a")]
    model = MKLClassifier(kernels, C=10.0).fit(frame, TWO)
    assert model.weights_[0] > 0.5
    assert model.score(frame, TWO) > 0.95
    assert "Spectrum(2).on('word')" in repr(model.kernel_)


def test_a_stack_of_matrices_is_the_same():
    rows = MKLClassifier(KERNELS, C=3.0, gap_tol=1e-4).fit(X, TWO)
    stack = GramStack([kernel(X) for kernel in KERNELS])
    given = MKLClassifier("precomputed", C=3.0, gap_tol=1e-4).fit(stack, TWO)
    assert np.allclose(given.weights_, rows.weights_, atol=1e-6)
    new = GramStack([kernel(NEW, X) for kernel in KERNELS])
    assert np.allclose(given.decision_function(new), rows.decision_function(NEW), atol=1e-3)
    cube = np.array([kernel(NEW, X) for kernel in KERNELS])
    assert np.array_equal(given.predict(cube), given.predict(new))
    with pytest.raises(InputError, match="must have 10 matrices, as many as in the fit; got 9"):
        given.predict(GramStack(cube[:9]))


def test_cross_validation_splits_stacks_and_rows():
    stack = GramStack([kernel(X) for kernel in KERNELS])
    given = cross_val_score(MKLClassifier("precomputed", C=3.0), stack, TWO, cv=3)
    rows = cross_val_score(MKLClassifier(KERNELS, C=3.0), X, TWO, cv=3)
    assert np.allclose(given, rows, atol=0.05)
    search = GridSearchCV(MKLClassifier(KERNELS), {"C": [0.1, 10.0], "p": [1.0, 2.0]}, cv=3)
    assert search.fit(X, TWO).best_score_ > 0.6


def test_weights_of_samples_and_classes():
    weight = random.integers(0, 3, size=N).astype(float)
    weight[:2] = 1.0
    weighted = MKLClassifier(KERNELS, C=2.0, gap_tol=1e-6, scaling=None)
    weighted.fit(X, TWO, sample_weight=weight)
    repeated = np.repeat(np.arange(N), weight.astype(int))
    again = clone(weighted).fit(X[repeated], TWO[repeated])
    assert np.allclose(weighted.decision_function(NEW), again.decision_function(NEW), atol=2e-2)
    balanced = MKLClassifier(KERNELS, C=2.0, class_weight="balanced").fit(X, TWO)
    assert balanced.class_weight_.tolist() != [1.0, 1.0]


def test_scalings():
    found = {}
    for scaling in ("diagonal", "trace", "variance", None):
        C = 3.0 * (N if scaling == "trace" else 1)
        model = MKLClassifier([Gaussian(1.0), 100 * Gaussian(1.0)], C=C, scaling=scaling)
        found[scaling] = model.fit(X, TWO)
    for scaling in ("diagonal", "trace", "variance"):
        assert found[scaling].weights_ == pytest.approx([0.5, 0.5])  # the same kernel twice
    assert found[None].weights_[1] > 0.9
    assert np.allclose(
        found["trace"].decision_function(NEW), found["diagonal"].decision_function(NEW), atol=1e-3
    )


@pytest.mark.parametrize("limit", ["20MB", "150KB"])
def test_memory_decides_what_is_kept(limit):
    wanted = MKLClassifier(KERNELS, C=3.0, gap_tol=1e-4).fit(X, TWO)
    found = MKLClassifier(KERNELS, C=3.0, gap_tol=1e-4, memory_limit=limit).fit(X, TWO)
    kept = "computed anew" if limit == "150KB" else "kept in float64"
    assert kept in found.certificate_.plan
    assert np.allclose(found.weights_, wanted.weights_, atol=1e-3)


MANY = np.random.default_rng(8).normal(size=(500, 4))
CLASSES = np.digitize(np.abs(MANY[:, 1]) + MANY[:, 0] / 2, [0.3, 0.9])
LOW = [Gaussian(gamma).on([column]) for column in range(4) for gamma in (0.1, 1.0)] + [Linear()]


@pytest.mark.parametrize("algorithm", ["auto", "simple", "lp"])
@pytest.mark.parametrize("labels", [CLASSES > 0, CLASSES], ids=["two", "three"])
def test_factors_of_low_rank_where_no_sum_fits(algorithm, labels):
    options = {"C": 3.0, "algorithm": algorithm, "gap_tol": 0.03}
    wanted = MKLClassifier(LOW, **options).fit(MANY, labels)
    found = MKLClassifier(LOW, memory_limit="4MB", **options).fit(MANY, labels)
    certificate = found.certificate_
    assert certificate.status == "converged"
    assert "9 matrices as factors of rank 4 to" in certificate.plan
    left = re.search(r"which leave out (\S+) % of a trace", certificate.plan)
    assert left is not None
    assert float(left[1]) < 0.1
    assert certificate.bytes < 2 * 10**6
    assert certificate.objective == pytest.approx(wanted.certificate_.objective, rel=0.03)
    assert (found.predict(MANY) == wanted.predict(MANY)).mean() > 0.97


def test_the_gap_is_that_of_whole_matrices():
    kernels = [Gaussian(5.0), Gaussian(0.1).on([1]), Gaussian(20.0)]  # two of them of full rank
    truth = MKLClassifier(kernels, C=3.0, gap_tol=1e-4).fit(MANY, CLASSES > 0).certificate_
    with pytest.warns(ConvergenceWarning, match=r"memory limit.*Raise memory_limit"):
        model = MKLClassifier(kernels, C=3.0, memory_limit="1500KB").fit(MANY, CLASSES > 0)
    found = model.certificate_
    assert found.status == "memory limit"
    assert found.objective >= truth.objective - truth.gap
    assert found.objective - found.gap <= truth.objective


def test_what_needs_sums_of_matrices_says_so():
    options = {"memory_limit": "4MB"}
    for model, y in (
        (MKLClassifier(LOW, algorithm="easy", **options), CLASSES > 0),
        (MKLClassifier([*LOW, FunctionKernel(lambda A, B: A @ B.T)], **options), CLASSES > 0),
        (MKLRegressor(LOW, loss="squared", **options), MANY[:, 0]),
        (MKLClassifier(LOW, memory_limit="100KB"), CLASSES > 0),
    ):
        with pytest.raises(MemoryLimitError, match="learn the weights on fewer points"):
            model.fit(MANY, y)


def test_machines_of_other_kinds_on_factors():
    options = {"memory_limit": "4MB", "gap_tol": 0.05}
    regressor = MKLRegressor(LOW, C=3.0, **options).fit(MANY, np.sin(2 * MANY[:, 2]))
    novelty = MKLOneClassSVM(LOW, nu=0.2, **options).fit(MANY)
    for model in (regressor, novelty):
        assert "factors of rank" in model.certificate_.plan
        assert model.certificate_.status in ("converged", "memory limit")
    assert regressor.weights_[4:6].sum() > 0.8


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"kernels": []}, "kernels must have a kernel or more; got an empty list"),
        ({"kernels": Gaussian()}, "kernels must be a list of kernels"),
        ({"kernels": "rbf"}, "kernels must be a list of kernels"),
        ({"kernels": 3}, "kernels must be a list of kernels"),
        ({"kernels": [Gaussian(), Spectrum(2)]}, "must take the same points"),
        ({"algorithm": "best"}, "algorithm must be one of"),
        ({"p": 0.5}, "p must be a finite number at least 1"),
        ({"algorithm": "simple", "p": 2.0}, "so p must be 1"),
        ({"C": 0.0}, "C must be a finite number above 0"),
        ({"C": np.inf}, "C must be"),
        ({"scaling": "unit"}, "scaling must be one of"),
        ({"gap_tol": 0}, "gap_tol must be a finite number above 0"),
        ({"share": 2.0}, "share must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_parameters_are_named(parameters, told):
    with pytest.raises((InputError, KernelError, TypeError), match=told):
        MKLClassifier(**({"kernels": KERNELS} | parameters)).fit(X, TWO)


def test_kernels_without_a_say_are_left_out():
    with pytest.warns(UserWarning, match=r"Constant\(c=2.0\) is constant on these points"):
        model = MKLClassifier([Gaussian(1.0), Constant(2.0), Linear()], C=2.0).fit(X, TWO)
    assert model.weights_[1] == 0
    assert "Constant" not in repr(model.kernel_)
    with pytest.raises(KernelError, match="must tell the points apart"):
        MKLClassifier([Constant(2.0)]).fit(X, TWO)


def test_indefinite_kernels_are_refused():
    squared = FunctionKernel(lambda A, B: 1.0 - np.abs(A[:, None] - B).sum(axis=2))
    with pytest.raises(KernelError, match=r"positive semi-definite.*eigenvalue -"):
        MKLClassifier([Gaussian(1.0), squared]).fit(X, TWO)
    with pytest.raises(KernelError, match="Sigmoid"):
        MKLClassifier([Gaussian(1.0), Sigmoid(1.0, -1.0)]).fit(X, TWO)
    bad = np.eye(N)
    bad[0, 1] = bad[1, 0] = 3.0
    with pytest.raises(KernelError, match="matrix 1 with the eigenvalue -2"):
        MKLClassifier("precomputed").fit(GramStack([np.eye(N), bad]), TWO)


@pytest.mark.filterwarnings("ignore:MKLClassifier. not converged")  # of the machine itself
def test_no_time_and_no_room():
    with pytest.warns(ConvergenceWarning, match="Raise time_limit"):
        model = MKLClassifier(KERNELS, time_limit=1e-9).fit(X, TWO)
    assert np.isfinite(model.decision_function(NEW)).all()
    assert model.weights_.sum() == pytest.approx(1.0)
    with pytest.raises(
        MemoryLimitError, match="weighted sums of the matrices of 70 points must fit"
    ):
        MKLClassifier(KERNELS, memory_limit=1000).fit(X, TWO)
    stack = GramStack([kernel(X) for kernel in KERNELS])
    with pytest.raises(MemoryLimitError, match="learn the weights on fewer points"):
        MKLClassifier("precomputed", memory_limit=1000).fit(stack, TWO)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or gap_tol"):
        MKLClassifier(KERNELS, max_iter=1, gap_tol=1e-9).fit(X, TWO)


def test_easy_is_about_classes():
    with pytest.raises(InputError, match="'easy' is about classes"):
        MKLRegressor(KERNELS, algorithm="easy").fit(X, NUMBERS)
    with pytest.raises(InputError, match="'easy' is about two classes"):
        MKLOneClassSVM(KERNELS, algorithm="easy").fit(X)


def test_stacks_say_what_they_must_be():
    with pytest.raises(InputError, match="a matrix or more"):
        GramStack([])
    with pytest.raises(InputError, match=r"matrices\[1\] must have the shape of the first"):
        GramStack([np.eye(2), np.eye(3)])
    with pytest.raises(InputError, match=r"matrices\[0\] must be a matrix"):
        GramStack([np.ones(3)])
    with pytest.raises(InputError, match="NaN in row 0"):
        GramStack([np.full((2, 2), np.nan)])
    with pytest.raises(InputError, match="points must be a slice"):
        GramStack([np.eye(2)])[0]
    with pytest.raises(InputError, match="X must be a GramStack"):
        MKLClassifier("precomputed").fit(np.ones(3), [0, 1, 0])
    stack = GramStack(np.ones((2, 3, 3), dtype=np.float32))
    assert stack.dtype == np.float32
    assert repr(stack) == "GramStack(2 matrices of 3 x 3)"
    assert stack.weighted([1.0, 2.0]).tolist() == [[3.0] * 3] * 3
