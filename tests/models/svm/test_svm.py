"""Support vector machines against LIBSVM, against their optimality conditions and by identities."""

import numpy as np
import pytest
import scipy.sparse
from sklearn import svm

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.kernels import Gaussian
from mercer.monitor import Monitor
from mercer.solvers import BoxSolver, DenseRows, leave_one_out
from mercer.solvers.box.machines import classification, read_classification

random = np.random.default_rng(17)
N = 60
X = random.normal(size=(N, 3))
X[np.abs(X) < 0.3] = 0.0
NEW = random.normal(size=(25, 3))
TARGET = np.sin(X[:, 0]) + X[:, 1] / 2 + 0.3 * random.normal(size=N)
CODES = {k: np.digitize(TARGET, np.quantile(TARGET, np.arange(1, k) / k)) for k in (2, 3, 4)}
WEIGHTS = {"plain": None, "weights": random.uniform(0.3, 2.5, size=N)}


def gaussian(A, B):
    A, B = (M.toarray() if scipy.sparse.issparse(M) else M for M in (A, B))
    return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
    "precomputed": {"kernel": "precomputed"},
    "callable": {"kernel": gaussian},
}
SINGLE = {
    "C": (SVC(1.5), svm.SVC(C=1.5), CODES[2]),
    "nu": (NuSVC(0.3), svm.NuSVC(nu=0.3), CODES[2]),
    "epsilon": (SVR(1.5, epsilon=0.2), svm.SVR(C=1.5, epsilon=0.2), TARGET),
    "nu tube": (NuSVR(0.4, C=1.5), svm.NuSVR(nu=0.4, C=1.5), TARGET),
    "one class": (OneClassSVM(0.3), svm.OneClassSVM(nu=0.3), None),
}


def both(ours, theirs, y, options, points=(X, NEW), weight=None):
    """Fit both models; LIBSVM always has the dense rows."""
    settings = {"tol": 1e-8, **options}
    dense = (gaussian(X, X), gaussian(NEW, X)) if points[0] is None else (X, NEW)
    mine = dense if points[0] is None else points
    ours = type(ours)(**{**ours.get_params(), **settings}).fit(mine[0], y, sample_weight=weight)
    theirs = type(theirs)(**{**theirs.get_params(), **settings})
    theirs.fit(dense[0], y, sample_weight=weight)
    return ours, theirs, mine[1], dense[1]


def values(model, points):
    return getattr(model, "decision_function", model.predict)(points)


def assert_same(ours, theirs, new, dense):
    wanted = values(theirs, dense)
    assert np.abs(values(ours, new) - wanted).max() <= 1e-5 * max(1.0, np.abs(wanted).max())
    assert np.array_equal(ours.predict(new), theirs.predict(dense)) or isinstance(ours, SVR | NuSVR)
    assert np.array_equal(ours.support_, theirs.support_)
    assert np.array_equal(ours.n_support_, theirs.n_support_)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    largest = np.abs(theirs.dual_coef_).max()
    assert np.abs(ours.dual_coef_ - theirs.dual_coef_).max() <= 1e-4 * largest
    assert ours.intercept_.shape == theirs.intercept_.shape
    assert np.abs(ours.intercept_ - theirs.intercept_).max() <= 1e-5 * max(1.0, largest)
    assert ours.certificate_.status == "converged"
    assert ours.certificate_.violation <= 1e-8


# --- LIBSVM -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "kernel"),
    # The origin lies among the points: a linear one-class machine is 0 here.
    [(a, b) for a in SINGLE for b in KERNELS if (a, b) != ("one class", "linear")],
)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_every_machine_is_that_of_libsvm(kind, kernel, sparse, weight):
    points = (None, None) if kernel == "precomputed" else (X, NEW)
    if sparse and kernel != "precomputed":
        points = tuple(scipy.sparse.csr_matrix(M) for M in points)
    assert_same(*both(*SINGLE[kind], KERNELS[kernel], points, weight))


def test_a_region_of_a_linear_kernel_is_that_of_libsvm():
    options = {"kernel": "linear", "tol": 1e-8}
    for points in (X + 2, scipy.sparse.csr_matrix(X + 2)):
        for weight in WEIGHTS.values():
            ours = OneClassSVM(0.31, **options).fit(points, sample_weight=weight)
            theirs = svm.OneClassSVM(nu=0.31, **options).fit(X + 2, sample_weight=weight)
            assert_same(ours, theirs, NEW, NEW)


@pytest.mark.parametrize("ours", [SVC(1.5), NuSVC(0.3)], ids=["C", "nu"])
@pytest.mark.parametrize("kernel", ["rbf", "callable", "precomputed"])
@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_machines_for_every_two_classes_are_those_of_libsvm(ours, kernel, k, shape, weight):
    theirs = svm.SVC(C=1.5) if isinstance(ours, SVC) else svm.NuSVC(nu=0.3)
    options = {**KERNELS[kernel], "decision_function_shape": shape}
    points = (None, None) if kernel == "precomputed" else (X, NEW)
    ours, theirs, new, dense = both(ours, theirs, CODES[k], options, points, weight)
    assert_same(ours.set_params(break_ties=False), theirs, new, dense)
    if shape == "ovr":
        theirs.set_params(break_ties=True)
        assert np.array_equal(ours.set_params(break_ties=True).predict(new), theirs.predict(dense))


@pytest.mark.parametrize("k", [2, 3])
def test_scaled_gamma_and_class_weights_are_those_of_libsvm(k):
    for options in ({"gamma": "scale"}, {"gamma": "auto"}, {"class_weight": "balanced"}):
        assert_same(*both(SVC(2.0), svm.SVC(C=2.0, break_ties=True), CODES[k], options))
    chosen = {"class_weight": {0: 3.0, 1: 0.5}, "gamma": 0.4}
    ours, theirs, *points = both(SVC(), svm.SVC(break_ties=True), CODES[k], chosen)
    assert_same(ours, theirs, *points)
    assert np.array_equal(ours.class_weight_, theirs.class_weight_)
    assert SVC().fit(X, TARGET > 0).kernel_ == Gaussian(1 / (3 * X.var()))


def test_points_without_weight_are_not_there():
    weight = np.arange(N) % 3 * 0.8
    used = weight > 0
    for model, _, y in SINGLE.values():
        model = type(model)(**{**model.get_params(), "gamma": 0.5, "tol": 1e-9})
        found = values(model.fit(X, y, sample_weight=weight), NEW)
        assert set(model.support_) <= set(np.flatnonzero(used))
        y = None if y is None else y[used]
        wanted = values(model.fit(X[used], y, sample_weight=weight[used]), NEW)
        assert np.allclose(found, wanted, rtol=0, atol=1e-7)


def test_weights_are_repetition():
    weight = np.arange(N) % 3
    for name in ("C", "epsilon", "nu tube", "nu", "one class"):
        model, _, y = SINGLE[name]
        model = type(model)(**{**model.get_params(), "gamma": 0.5, "tol": 1e-9})
        found = values(model.fit(X, y, sample_weight=weight), NEW)
        y = None if y is None else np.repeat(y, weight)
        wanted = values(model.fit(np.repeat(X, weight, axis=0), y), NEW)
        assert np.allclose(found, wanted, rtol=0, atol=1e-7)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 10, 11])
@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9, 1.0])
def test_tubes_of_few_points_are_those_of_libsvm(n, nu):
    options = {"C": 0.1, "gamma": 0.5, "tol": 1e-9}
    wanted = svm.NuSVR(nu=nu, **options).fit(X[:n], TARGET[:n])
    found = NuSVR(nu, **options).fit(X[:n], TARGET[:n])
    b = np.zeros(n)
    b[found.support_] = found.dual_coef_[0]
    assert abs(b.sum()) <= 1e-9
    # Only f without its offset is unique where no point is on the border of the tube.
    own, other = found.predict(NEW) - found.intercept_, wanted.predict(NEW) - wanted.intercept_
    assert np.allclose(own, other, rtol=0, atol=1e-6)
    assert found.epsilon_ >= 0


# --- without an offset, one against the rest --------------------------------------------------


def descended(K, linear, lower, upper, kink=0.0):
    """min 1/2 b'Kb + linear'b + kink |b|_1 in a box, one variable at a time."""
    b = np.zeros(len(K))
    for _ in range(3000):
        before = b.copy()
        for i in range(len(K)):
            free = K[i, i] * b[i] - K[i] @ b - linear[i]
            b[i] = np.clip(np.sign(free) * max(abs(free) - kink, 0) / K[i, i], lower[i], upper[i])
        if np.abs(b - before).max() <= 1e-12:
            break
    return b


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_machines_without_an_offset(weight):
    K, cross = gaussian(X, X), gaussian(NEW, X)
    bound = 1.5 * (np.ones(N) if weight is None else weight)
    y = 2.0 * CODES[2] - 1
    options = {"kernel": gaussian, "fit_intercept": False, "tol": 1e-9}
    model = SVC(1.5, **options).fit(X, CODES[2], sample_weight=weight)
    b = descended(K, -y, np.where(y > 0, 0, -bound), np.where(y > 0, bound, 0))
    assert np.allclose(model.decision_function(NEW), cross @ b, rtol=0, atol=1e-7)
    assert model.intercept_.tolist() == [0.0]
    model = SVR(1.5, epsilon=0.2, **options).fit(X, TARGET, sample_weight=weight)
    b = descended(K, -TARGET, -bound, bound, 0.2)
    assert np.allclose(model.predict(NEW), cross @ b, rtol=0, atol=1e-7)
    assert np.array_equal(model.support_, np.flatnonzero(b))


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_one_against_the_rest_is_a_machine_each(weight):
    y = CODES[4]
    model = SVC(1.5, gamma=0.5, tol=1e-9, multiclass="ovr").fit(X, y, sample_weight=weight)
    columns = [SVC(1.5, gamma=0.5, tol=1e-9).fit(X, y == c, sample_weight=weight) for c in range(4)]
    wanted = np.column_stack([one.decision_function(NEW) for one in columns])
    assert np.allclose(model.decision_function(NEW), wanted, rtol=0, atol=1e-8)
    assert np.array_equal(model.predict(NEW), wanted.argmax(axis=1))
    assert model.intercept_.shape == (4,)
    assert model.dual_coef_.shape == (4, len(model.support_))
    assert set(model.support_) == set(np.concatenate([one.support_ for one in columns]))
    assert sorted(y[model.support_]) == y[model.support_].tolist()
    assert model.certificate_.dual == pytest.approx(sum(one.certificate_.dual for one in columns))


# --- optimality, from its definition ----------------------------------------------------------


def assert_optimal(excess, size, bound, tol):
    """A point beyond the margin carries nothing, one short of it all it may."""
    assert np.all(excess[size < bound * (1 - 1e-9)] >= -tol)
    assert np.all(excess[size > bound * 1e-9] <= tol)
    assert np.all(size <= bound * (1 + 1e-9))


@pytest.mark.parametrize("kind", SINGLE)
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_optimality_conditions_and_the_certificate(kind, kernel, weight):
    model, _, target = SINGLE[kind]
    model = type(model)(**{**model.get_params(), **KERNELS[kernel], "tol": 1e-4})
    model.fit(X, target, sample_weight=weight)
    K = gaussian(X, X) if kernel == "rbf" else (0.5 * X @ X.T + 1) ** 2
    b = np.zeros(N)
    b[model.support_] = model.dual_coef_[0]
    f, size = K @ b + model.intercept_[0], np.abs(b)
    weights = np.ones(N) if weight is None else weight
    y = None if target is None else 2.0 * target - 1
    if kind == "C":
        excess, C, total = y * f - 1, 1.5, None
    elif kind == "nu":
        excess, C = y * f - 1, float((size / weights).max())
        total = 0.3 * C * weights.sum()
    elif kind == "one class":
        excess, C, total = f, 1.0, 0.3 * weights.sum()
    else:
        width = 0.2 if kind == "epsilon" else model.epsilon_
        excess, C = width - np.abs(target - f), 1.5
        total = None if kind == "epsilon" else 0.4 * 1.5 * weights.sum()
        assert np.all(b * (target - f) >= -1e-12)
    assert_optimal(excess, size, C * weights, 1e-3)
    if kind != "one class":
        assert abs(b.sum()) <= 1e-10 * size.sum()
    if total is not None:
        assert size.sum() == pytest.approx(total, rel=1e-9)
    found = model.certificate_
    bound = size >= C * weights * (1 - 1e-12)
    assert (found.zero, found.bound) == (np.sum(b == 0), bound.sum())
    assert found.free == N - found.zero - found.bound
    assert found.norm == pytest.approx(np.sqrt(b @ K @ b))
    assert found.margin == pytest.approx(1 / found.norm)
    losses = (C * weights * np.maximum(0, -excess)).sum()
    rho = -model.intercept_[0] * total if kind == "one class" else 0.0
    assert found.primal == pytest.approx(b @ K @ b / 2 + losses - rho, rel=1e-9)
    assert -1e-9 * abs(found.primal) <= found.gap <= 1e-3 * max(1.0, abs(found.primal))
    assert found.gap == found.primal - found.dual
    assert found.status == "converged"
    assert found.violation <= found.tol == 1e-4
    assert found.iterations == model.n_iter_.sum() > 0
    assert found.seconds > 0


def test_nu_bounds_the_share_of_errors_and_of_support_vectors():
    for nu in (0.1, 0.3, 0.6):
        shares = []
        model = NuSVC(nu, gamma=0.5, tol=1e-9).fit(X, CODES[2])
        wrong = model.decision_function(X) * (2 * CODES[2] - 1) < 1 - 1e-7
        shares.append((wrong.mean(), len(model.support_) / N))
        tube = NuSVR(nu, C=1.0, gamma=0.5, tol=1e-9).fit(X, TARGET)
        outside = np.abs(tube.predict(X) - TARGET) > tube.epsilon_ + 1e-7
        shares.append((outside.mean(), len(tube.support_) / N))
        region = OneClassSVM(nu, gamma=0.5, tol=1e-9).fit(X)
        shares.append(((region.predict(X) < 0).mean(), len(region.support_) / N))
        for errors, support in shares:
            assert errors <= nu <= support
    assert np.allclose(region.score_samples(NEW) - region.offset_, region.decision_function(NEW))
    assert region.offset_ == -region.intercept_[0]


def test_machines_of_nu_are_those_of_the_c_and_the_tube_they_find():
    model = NuSVC(0.3, gamma=0.5, tol=1e-10).fit(X, CODES[2])
    C = np.abs(model.dual_coef_).max()
    same = SVC(C, gamma=0.5, tol=1e-10).fit(X, CODES[2])
    assert np.allclose(model.decision_function(NEW), same.decision_function(NEW), atol=1e-7)
    tube = NuSVR(0.4, C=1.5, gamma=0.5, tol=1e-10).fit(X, TARGET)
    same = SVR(1.5, epsilon=tube.epsilon_, gamma=0.5, tol=1e-10).fit(X, TARGET)
    assert np.allclose(tube.predict(NEW), same.predict(NEW), atol=1e-7)


def test_a_margin_without_errors_is_the_widest():
    y = X[:, 0] + X[:, 1] > 0
    apart = X + np.where(y, 1.0, -1.0)[:, None] * [1.0, 1.0, 0.0]
    hard = SVC(float("inf"), kernel="linear", tol=1e-8).fit(apart, y)
    large = svm.SVC(C=1e6, kernel="linear", tol=1e-8).fit(apart, y)
    assert np.allclose(hard.decision_function(NEW), large.decision_function(NEW), atol=1e-5)
    assert hard.certificate_.margin == pytest.approx(1 / np.linalg.norm(large.coef_), rel=1e-6)
    assert (hard.decision_function(apart) * np.where(y, 1, -1)).min() == pytest.approx(1)
    assert hard.certificate_.gap <= 1e-6


@pytest.mark.parametrize("copies", [False, True], ids=["overlap", "contradiction"])
def test_a_margin_without_errors_that_does_not_exist_is_refused(copies):
    points = np.vstack([X[:20], X[:20]]) if copies else X[:40]
    y = np.repeat([0, 1], 20)
    model = SVC(float("inf"), kernel="linear", time_limit=0.5)
    with pytest.raises(ValueError, match=r"C=inf the classes must be separable .* Use a finite C"):
        model.fit(points, y)


# --- probabilities ----------------------------------------------------------------------------

CENTRES = np.random.default_rng(2).normal(size=(10, 2)) * 3.0


def clouds(k, n, seed, spread=1.0):
    draw = np.random.default_rng(seed)
    codes = np.arange(n) % k
    return CENTRES[codes] + spread * draw.normal(size=(n, 2)), codes


@pytest.mark.parametrize("model", [SVC, NuSVC])
@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_the_likeliest_class_is_the_one_predicted(model, k, multiclass):
    points, codes = clouds(k, 120, 1, 2.0 if model is SVC else 1.0)
    points = points / 2 if model is SVC else points
    far = np.random.default_rng(3).normal(size=(4000, 2)) * 6
    names = np.array([f"class {c}" for c in "jbhdfecgai"])[codes]
    nu = {"nu": 0.4 if multiclass == "ovo" else 0.15} if model is NuSVC else {}
    fitted = model(gamma=0.5, multiclass=multiclass, probability=True, random_state=1, **nu).fit(
        points, names
    )
    chances = fitted.predict_proba(far)
    assert chances.shape == (4000, k)
    assert np.allclose(chances.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert chances.min() >= 0
    assert fitted.classes_.tolist() == sorted(set(names))
    for ties in (True, False):
        fitted.set_params(break_ties=ties)
        chosen = fitted.classes_[fitted.predict_proba(far).argmax(axis=1)]
        assert np.array_equal(chosen, fitted.predict(far))
    if k > 2:
        fitted.set_params(break_ties=True, decision_function_shape="ovr")
        chosen = fitted.classes_[fitted.decision_function(far).argmax(axis=1)]
        assert np.array_equal(chosen, fitted.predict(far))


def test_probabilities_are_asked_for():
    model = SVC().fit(X, CODES[2])
    assert not hasattr(model, "predict_proba")
    assert not hasattr(SVC(), "predict_proba")


def test_probabilities_fit_points_not_seen():
    points, codes = clouds(2, 300, 4, 2.0)
    new, truth = clouds(2, 2000, 5, 2.0)
    model = SVC(5.0, gamma=1.0, probability=True).fit(points, codes)
    chances = model.predict_proba(new)[np.arange(2000), truth]
    loss = -np.log(chances).mean()
    assert loss < np.log(2)
    # The best slope for the new points is hardly better.
    scores = model.decision_function(new) * (2 * truth - 1)
    best = min(np.logaddexp(0, -slope * scores).mean() for slope in np.linspace(0.1, 5, 99))
    assert loss - best <= 0.05


@pytest.mark.parametrize("offset", [True, False], ids=["offset", "through zero"])
@pytest.mark.parametrize(("C", "nearer"), [(0.3, 3), (1.5, 1.5), (10.0, 1.5)])
def test_scores_left_out_are_near_those_of_machines_that_have_not_seen_the_point(offset, C, nearer):
    K, y = gaussian(X, X), 2.0 * CODES[2] - 1

    def solved(keep):
        rows = DenseRows(np.ascontiguousarray(K[np.ix_(keep, keep)]))
        problem = classification(y[keep], np.full(len(keep), C), offset)
        found = BoxSolver(rows, 1e-10, 10**9, Monitor()).solve(problem)
        return rows, problem, read_classification(problem, found)

    rows, problem, machine = solved(np.arange(N))
    near = leave_one_out(rows, problem, machine, np.random.default_rng(0))
    truth, same = np.empty(N), np.empty(N, dtype=bool)
    for i in range(N):
        keep = np.delete(np.arange(N), i)
        other = solved(keep)[2]
        truth[i] = K[i, keep] @ other.b + other.offset
        full, left = (np.abs(m.b) >= C for m in (machine, other))
        same[i] = np.array_equal(machine.free[keep], other.free) and (full[keep] == left).all()
    errors, plain = np.abs(near - truth), np.abs(machine.scores - truth)
    assert same.sum() >= 5
    assert errors[same].max() <= 1e-7
    assert errors.mean() <= plain.mean() / nearer
    assert np.array_equal(near[machine.b == 0], machine.scores[machine.b == 0])
