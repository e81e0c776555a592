"""Few centres in the place of many points: selection, projection, polish and their errors."""

import numpy as np
import pytest
from scipy.linalg import pinvh

from mercer.grams import prepare
from mercer.inputs import Matrix
from mercer.kernels import Chi2, Gaussian, Laplacian, Linear, Matern, Polynomial, Spectrum
from mercer.monitor import Monitor
from mercer.postfit.compress.condense import condense
from mercer.postfit.compress.functions import Request, compress_functions
from mercer.postfit.compress.polish import Distance, Scores, movable, polish
from mercer.postfit.compress.projection import Functions, projected
from mercer.postfit.compress.pursuit import MatchingPursuit
from mercer.run import Run

random = np.random.default_rng(5)
X = random.normal(size=(40, 3))
A = random.normal(size=(40, 2))
RUN = Run(who="test")


def request(**given):
    usual = {"tol": None, "n_centers": None, "points": None, "offset": False}
    usual |= {"equal_units": True, "polish": False, "max_iter": 20, "run": RUN}
    return Request(**(usual | given))


def dense_errors(kernel, points, a, centres, b):
    """||f - g|| of each function, from whole matrices of the definition."""
    both = np.vstack([points, centres])
    c = np.vstack([a, -b])
    return np.sqrt(np.maximum(np.einsum("ic,ij,jc->c", c, kernel.formula(both, both), c), 0))


# --- selection ------------------------------------------------------------------------------------


def greedy(K, a, count):
    """The best next point, tried one by one, with projections by a pseudo-inverse."""
    chosen, left = [], []
    for _ in range(count):
        lacks = []
        for i in range(len(K)):
            rows = [*chosen, i]
            part = K[rows] @ a
            lacks.append(np.trace(a.T @ K @ a - part.T @ pinvh(K[np.ix_(rows, rows)]) @ part))
        chosen.append(int(np.argmin(lacks)))
        left.append(min(lacks))
    return chosen, np.array(left)


def test_pursuit_takes_the_best_next_point(monkeypatch):
    monkeypatch.setattr("mercer.postfit.compress.pursuit.CLOSE", 1.0)
    prepared = prepare(Gaussian(0.3), X)
    functions = Functions.of(prepared, A, RUN)
    found = MatchingPursuit(prepared.gram(), functions.values, functions.squares).run(8)
    chosen, left = greedy(Gaussian(0.3).formula(X, X), A, 8)
    assert found.pivots.tolist() == chosen
    np.testing.assert_allclose(found.left.sum(axis=1), left, rtol=1e-8)


def test_pursuit_that_looks_less_closely_is_nearly_as_good():
    prepared = prepare(Gaussian(0.3), X)
    functions = Functions.of(prepared, A, RUN)
    found = MatchingPursuit(prepared.gram(), functions.values, functions.squares).run(12)
    best = greedy(Gaussian(0.3).formula(X, X), A, 12)[1]
    assert len(set(found.pivots.tolist())) == 12
    assert found.left[-1].sum() < 1.5 * best[-1]


def test_pursuit_ends_where_enough_or_nothing_is_left():
    prepared = prepare(Gaussian(0.3), X)
    functions = Functions.of(prepared, A, RUN)
    enough = 0.01 * functions.squares
    found = MatchingPursuit(prepared.gram(), functions.values, functions.squares).run(40, enough)
    assert (found.left[-1] <= enough).all()
    assert (found.left[-2] > enough).any()
    flat = prepare(Linear(), X)
    functions = Functions.of(flat, A, RUN)
    found = MatchingPursuit(flat.gram(), functions.values, functions.squares).run(40)
    assert len(found.pivots) <= 3


# --- projection -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(2), Laplacian(0.5)])
def test_the_error_is_that_of_the_dense_formula(kernel):
    found = compress_functions(prepare(kernel, X), A, request(n_centers=6))
    centres, b = X[found.rows], found.approximation.coefficients
    wanted = dense_errors(kernel, X, A, centres, b)
    np.testing.assert_allclose(found.record.errors, wanted, rtol=1e-7)
    norms = np.sqrt(np.einsum("ic,ij,jc->c", A, kernel.formula(X, X), A))
    np.testing.assert_allclose(found.record.relative_errors, wanted / norms, rtol=1e-7)
    solved = np.linalg.solve(kernel.formula(centres, centres), kernel.formula(centres, X) @ A)
    np.testing.assert_allclose(b, solved, rtol=1e-5, atol=1e-8)


def test_no_value_changes_by_more_than_the_bound():
    kernel = Gaussian(0.3)
    found = compress_functions(prepare(kernel, X), A, request(n_centers=6, polish=True))
    new = random.normal(size=(500, 3))
    centres = found.approximation.centres.points.values
    change = kernel(new, X) @ A - kernel(new, centres) @ found.approximation.coefficients
    assert np.abs(change).max() <= found.record.bound


def test_duplicates_cost_nothing():
    twice, a = np.vstack([X[:5], X[:5]]), A[:10]
    found = compress_functions(prepare(Gaussian(0.3), twice), a, request(n_centers=10))
    assert found.record.centers == 5
    assert max(found.record.relative_errors) < 1e-7
    np.testing.assert_allclose(
        found.approximation.coefficients, (a[:5] + a[5:])[found.rows % 5], atol=1e-7
    )


def test_a_linear_function_needs_as_many_centres_as_columns():
    found = compress_functions(prepare(Linear(), X), A, request(n_centers=20))
    assert found.record.centers == 3
    assert max(found.record.relative_errors) < 1e-7
    weights = X[found.rows].T @ found.approximation.coefficients
    np.testing.assert_allclose(weights, X.T @ A, atol=1e-10)


def test_all_points_are_the_same_model():
    found = compress_functions(prepare(Gaussian(0.3), X), A, request(n_centers=40, polish=True))
    np.testing.assert_allclose(found.approximation.coefficients, A, rtol=1e-12)
    assert found.record.errors == (0.0, 0.0)
    assert found.record.moved == 0


def test_functions_that_are_zero_keep_one_point():
    found = compress_functions(prepare(Gaussian(0.3), X), 0 * A, request(n_centers=3))
    assert found.record.centers == 1
    assert not found.approximation.coefficients.any()
    assert found.record.relative_errors == (0.0, 0.0)


def test_units_of_functions_count_only_where_they_are_equal():
    uneven = A * [1e6, 1.0]
    relative = compress_functions(
        prepare(Gaussian(0.3), X), uneven, request(n_centers=10, equal_units=False)
    )
    plain = compress_functions(prepare(Gaussian(0.3), X), A, request(n_centers=10))
    assert set(relative.rows.tolist()) != set()
    assert max(relative.record.relative_errors) < 1.3 * max(plain.record.relative_errors)


# --- polish ---------------------------------------------------------------------------------------

SMOOTH = [
    Gaussian(0.3),
    Polynomial(2, gamma=0.5),
    Matern(2.5),
    Gaussian(0.2).normalized() * Linear() + 1,
    Gaussian(0.3) + 0.5 * Gaussian(2.0).on([0, 2]),
]


def scores_of(functions, offset):
    points = Matrix(np.random.default_rng(6).normal(size=(30, 3)))
    values = functions.prepared.times(points, functions.coefficients)
    return Scores(points=points, values=values, offset=offset)


@pytest.mark.parametrize("kernel", SMOOTH, ids=str)
@pytest.mark.parametrize("way", ["space", "scores", "scores and offset"])
def test_the_gradient_is_that_of_differences(kernel, way):
    functions = Functions.of(prepare(kernel, X), A, RUN)
    scores = None if way == "space" else scores_of(functions, offset="offset" in way)
    distance = Distance(functions=functions, scores=scores, run=RUN)
    Z = np.random.default_rng(7).normal(size=(4, 3))
    slope = distance.at(Z)[1]
    steps = 1e-5 * np.eye(Z.size).reshape(-1, *Z.shape)
    wanted = [(distance.at(Z + s)[0] - distance.at(Z - s)[0]) / 2e-5 for s in steps]
    np.testing.assert_allclose(slope.ravel(), wanted, rtol=1e-5, atol=1e-6 * np.abs(slope).max())


def test_the_distance_is_that_of_the_best_coefficients():
    functions = Functions.of(prepare(Gaussian(0.3), X), A, RUN)
    distance = Distance(functions=functions, scores=None, run=RUN)
    Z = X[:4] + 0.1
    centres = distance.prepared(Z)
    best = projected(functions, centres, functions.products(centres, RUN))
    assert distance.at(Z)[0] == pytest.approx(best.squares.sum(), rel=1e-8)


@pytest.mark.parametrize("kernel", [*SMOOTH, Laplacian(0.5)], ids=str)
def test_polish_never_raises_the_error(kernel):
    prepared = prepare(kernel, X)
    before = compress_functions(prepared, A, request(n_centers=4))
    after = compress_functions(prepared, A, request(n_centers=4, polish=True))
    assert np.sum(np.square(after.record.errors)) <= np.sum(np.square(before.record.errors)) + 1e-9


def test_polish_finds_a_centre_that_is_no_point():
    kernel, apart = Gaussian(0.5), np.array([[-0.5], [0.5]])
    found = compress_functions(
        prepare(kernel, apart), np.ones((2, 1)), request(n_centers=1, polish=True)
    )
    assert abs(found.approximation.centres.points.values[0, 0]) < 1e-3
    assert found.record.moved == 1
    # g = b k(0, .) with b = f(0) / k(0, 0), and ||f||**2 = 2 + 2 exp(-1/2).
    wanted = np.sqrt(2 + 2 * np.exp(-0.5) - (2 * np.exp(-0.125)) ** 2)
    assert found.record.errors[0] == pytest.approx(wanted, rel=1e-5)


def test_centres_of_nonnegative_rows_stay_nonnegative():
    shares = np.abs(X) / np.abs(X).sum(axis=1, keepdims=True)
    prepared = prepare(Chi2(1.0), shares)
    found = compress_functions(prepared, A, request(n_centers=4, polish=True))
    assert (found.approximation.centres.points.values >= 0).all()


def test_scores_are_met_better_than_by_projection():
    prepared, points = prepare(Gaussian(0.3), X), Matrix(random.normal(size=(300, 3)))
    plain = compress_functions(prepared, A, request(n_centers=6))
    met = compress_functions(prepared, A, request(n_centers=6, points=points, offset=True))

    def size(found):
        centres = found.approximation.centres.points.values
        values = Gaussian(0.3)(points.values, centres) @ found.approximation.coefficients
        wanted = Gaussian(0.3)(points.values, X) @ A
        return np.sqrt(((wanted - values - found.shift) ** 2).mean(axis=0))

    assert (size(met) < size(plain)).all()
    np.testing.assert_allclose(met.record.score_errors, size(met), rtol=1e-6)
    wanted = dense_errors(
        Gaussian(0.3),
        X,
        A,
        met.approximation.centres.points.values,
        met.approximation.coefficients,
    )
    np.testing.assert_allclose(met.record.errors, wanted, rtol=1e-6)


def test_what_can_be_moved():
    assert movable(prepare(Gaussian(0.3), X))
    assert not movable(prepare(Spectrum(2), ["ab", "ba"]))
    assert not movable(prepare(Gaussian(0.3).of(np.sign), X))


def test_a_stopped_polish_returns_where_it_began():
    functions = Functions.of(prepare(Gaussian(0.3), X), A, RUN)
    monitor = Monitor()
    monitor.cancel()
    run = Run(who="test", monitor=monitor)
    centres = functions.prepared.take(np.arange(4))
    found, steps = polish(Distance(functions=functions, scores=None, run=run), centres, 10)
    assert steps == 0
    assert np.array_equal(found.points.values, X[:4])


# --- condensing -----------------------------------------------------------------------------------


def test_condensing_on_a_line_by_hand():
    # Classes 0 0 0 1 1 1 at 0, 1, …, 5: the two points at the border suffice for one neighbour.
    places, classes = np.arange(6.0), np.array([0, 0, 0, 1, 1, 1])

    def look(rows):
        gaps = np.abs(places[:, None] - places[rows])
        return classes[rows[gaps.argmin(axis=1)]], gaps.argmin(axis=1), gaps.min(axis=1)

    own = np.arange(6)[:, None]
    found = condense(classes, own, np.array([1, 4]), look, most=6, allowed=0)
    assert found.rows.tolist() == [1, 4]
    assert (found.changed, found.rounds) == (0, 0)
    found = condense(classes, own, np.array([0, 3]), look, most=6, allowed=0)
    assert found.changed == 0
    assert found.rows.tolist() == [0, 2, 3]
    found = condense(classes, own, np.array([0, 3]), look, most=2, allowed=0)
    assert (found.rows.tolist(), found.changed) == ([0, 3], 1)
