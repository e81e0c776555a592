"""Searches along the gradient with many points: Nyström's space, parts of the points, limits."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from mercer import KernelRidge, KernelRidgeClassifier, PerColumn, tune
from mercer.kernels import Gaussian, Spectrum
from mercer.selection import ridge

random = np.random.default_rng(4)
X = random.normal(size=(120, 4))
y = np.sin(2 * X[:, 0]) + np.cos(X[:, 2]) + 0.05 * random.normal(size=120)
SPACE = {"kernel__gamma": (1e-3, 1e2), "alpha": (1e-4, 10.0)}


@pytest.fixture
def few(monkeypatch):
    """Limits under which 120 points are many."""
    monkeypatch.setattr(ridge, "SMALL", 30)
    monkeypatch.setattr(ridge, "WHOLE", 60)
    monkeypatch.setattr(ridge, "WORK", 120 * 40**2)
    monkeypatch.setattr(ridge, "LEAST_CENTRES", 20)
    monkeypatch.setattr(ridge, "SETTLED", 80)
    return monkeypatch


def many(n):
    X = random.normal(size=(n, 5))
    return X, np.sin(2 * X[:, 1]) + X[:, 3] + 0.1 * random.normal(size=n)


def test_relevant_columns_of_seven_thousand_points(monkeypatch):
    monkeypatch.setattr(ridge, "MOST_CENTRES", 100)  # a test must be short
    monkeypatch.setattr(ridge, "LEAST_CENTRES", 50)
    monkeypatch.setattr(ridge, "SMALL", 200)
    monkeypatch.setattr(ridge, "SETTLED", 200)
    many_X, many_y = many(7000)
    space = {"kernel__gamma": PerColumn(1e-4, 1e2), "alpha": (1e-4, 10.0)}
    model = KernelRidge(kernel=Gaussian(), solver="nystrom", n_centers=100)
    found = tune(model, many_X, many_y, space, n_iter=2, random_state=0)
    assert (found.method, found.status) == ("gradient", "converged")
    assert (found.rows, found.n_centers) == (7000, 100)
    assert np.argmax(found.params["kernel__gamma"]) == 1
    assert found.score > 0.98
    gamma = np.array(found.params["kernel__gamma"])
    assert max(gamma[[0, 2, 4]]) < 0.1 * gamma[1]


def test_sizes_are_chosen_by_what_an_evaluation_costs():
    class Problem:
        objective = None

    descent = ridge.Descent(problem=Problem(), random=np.random.default_rng(0), starts=1)
    points = np.zeros((100_000, 1))

    for n, rows, centres in [
        (5000, 5000, None),
        (5001, 5001, 1500),
        (20_000, 20_000, 894),
        (64_000, 64_000, 500),
        (100_000, 64_000, 500),
    ]:
        whole = descent._whole(objective_of(points[:n]))
        assert len(whole.points) == rows
        assert (None if whole.centres is None else len(whole.centres)) == centres


def objective_of(rows):
    space, monitor = {"alpha": (0.1, 1.0)}, ridge.Monitor()
    return ridge.ridge_problem(
        KernelRidge(kernel=Gaussian(1.0)),
        rows,
        rows[:, 0],
        space=space,
        scoring=None,
        weight=None,
        monitor=monitor,
    ).objective


def test_few_centres_find_about_the_same(few):
    found = tune(KernelRidge(), X, y, SPACE, n_iter=3, random_state=0)
    assert (found.rows, found.n_centers) == (120, 40)
    assert found.params == found.table["params"][-1]
    assert found.score == found.table["mean_test_score"][-1]
    few.undo()
    wanted = tune(KernelRidge(), X, y, SPACE, n_iter=3, random_state=0)
    assert wanted.n_centers is None
    for name, value in wanted.params.items():
        assert 0.2 < found.params[name] / value < 5.0
    assert found.score > 0.9


def test_too_many_points_are_searched_in_part(few):
    few.setattr(ridge, "WORK", 50 * 20**2)
    found = tune(KernelRidge(), X, y, SPACE, n_iter=3)
    assert (found.rows, found.n_centers) == (50, 20)
    assert len(found.model.dual_coef_) == 120


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "evidence"])
def test_classes(few, scoring):
    labels = np.where(y > 0, "up", "down")
    model = KernelRidgeClassifier(class_weight="balanced", fit_intercept=True)
    found = tune(model, X, labels, SPACE, scoring=scoring, n_iter=3)
    assert (found.rows, found.n_centers) == (120, 40)
    assert found.model.score(X, labels) > 0.85


def test_a_kernel_without_alpha_to_search(few):
    found = tune(KernelRidge(0.05), X, y, {"kernel__gamma": (1e-3, 1e2)}, n_iter=3)
    assert found.n_centers == 40
    assert found.params["kernel__gamma"] > 0.05
    assert found.model.alpha == 0.05


def test_a_matrix_handed_in_is_left_as_it_is(few):
    K = Gaussian(0.3).formula(X)
    before = K.copy()
    found = tune(KernelRidge(kernel="precomputed"), K, y, {"alpha": (1e-4, 10.0)}, n_iter=3)
    assert found.n_centers == 40
    assert np.array_equal(K, before)
    wanted = tune(KernelRidge(kernel=Gaussian(0.3)), X, y, {"alpha": (1e-4, 10.0)}, n_iter=3)
    assert found.params["alpha"] == pytest.approx(wanted.params["alpha"], rel=1e-3)


def test_objects(few):
    words = ["".join(random.choice(list("abc"), 6)) for _ in range(120)]
    counts = [word.count("ab") for word in words]
    found = tune(KernelRidge(kernel=Spectrum(2)), words, counts, {"alpha": (1e-3, 10.0)}, n_iter=2)
    assert found.n_centers == 40
    assert found.score > 0.9


def test_single_precision(few):
    found = tune(KernelRidge(), X.astype(np.float32), y, SPACE, n_iter=2, random_state=0)
    wanted = tune(KernelRidge(), X, y, SPACE, n_iter=2, random_state=0)
    assert found.score == pytest.approx(wanted.score, abs=0.01)


def test_a_time_limit_leaves_what_was_found():
    many_X, many_y = many(6000)
    model = KernelRidge(kernel=Gaussian(1.0), solver="nystrom", n_centers=50)
    start = time.monotonic()
    found = tune(model, many_X, many_y, SPACE, time_limit=2.0)
    assert found.status == "time limit"
    assert time.monotonic() - start < 30  # on a busy machine too
    assert found.model.predict(many_X[:3]).shape == (3,)


INTERRUPTED = """
import signal
import numpy as np
from mercer import KernelRidge, tune
from mercer.selection import ridge
ridge.SMALL = 100
X = np.random.default_rng(0).random((8000, 5))
y = np.sin(5 * X[:, 0])
space = {"kernel__gamma": (0.1, 10.0), "alpha": (1e-4, 1.0)}
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
print("ready", flush=True)
try:
    while True:
        tune(KernelRidge(), X, y, space, n_iter=1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(tune(KernelRidge(), X[:50], y[:50], space, n_iter=1).status)
"""


def test_ctrl_c_ends_a_search_and_the_next_one_works():
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True
    ) as process:
        patience = threading.Timer(60, process.kill)
        patience.start()
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            assert process.stdout.read() == "converged\n"
        finally:
            patience.cancel()
            process.kill()
