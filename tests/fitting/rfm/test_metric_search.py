"""The search for width, penalty and steps: judged by rows that no part of a setting has seen."""

import numpy as np
import pytest

from mercer.fitting.rfm.recursion import Recursion, Sample, ridge_fit
from mercer.fitting.rfm.search import MetricSearch, Tried
from mercer.kernels import Gaussian, Laplacian
from mercer.monitor import Monitor, Stopped

random = np.random.default_rng(2)
N = 60
X = random.normal(size=(N, 4))
TARGETS = (np.sin(2 * X[:, 1]) + 0.1 * random.normal(size=N))[:, None]
RECURSION = Recursion(
    kernel=Laplacian(1.0), width=1.0, alpha=1.0, diagonal=True, gradient_rows=1000
)


def thirds(n):
    """Three folds: every third row is held out."""
    fold = np.arange(n) % 3
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]


FOLDS = thirds(N)


def squared(scores, rows, targets=TARGETS):
    return float(((targets[rows] - scores) ** 2).mean())


def search(**given):
    usual = {
        "recursion": RECURSION,
        "sample": Sample(X=X, targets=TARGETS),
        "loss": squared,
        "folds": FOLDS,
        "widths": (1.0,),
        "alphas": None,
        "steps": 3,
        "fixed": False,
        "monitor": Monitor(),
    }
    return MetricSearch(**usual | given)


def by_definition(width, alpha, steps, sample=None):
    """The loss of a setting: every fold learns its metric from its own training rows."""
    sample = Sample(X=X, targets=TARGETS) if sample is None else sample
    machine = Recursion(
        kernel=Laplacian(1.0), width=width, alpha=alpha, diagonal=True, gradient_rows=1000
    )
    scores = np.zeros(TARGETS.shape)
    for train, held in FOLDS:
        inside = sample.take(train)
        kernel = machine.learn(inside, steps, Monitor())
        scores[held] = ridge_fit(kernel, inside, alpha, Monitor()).at(X[held], Monitor())
    return squared(scores, np.arange(N)), scores


def test_losses_are_those_of_machines_fitted_without_the_fold():
    found = search(alphas=[0.1], widths=[2.0])
    best = found.run()
    assert {one.steps for one in found.tried} <= {0, 1, 2, 3}
    for one in found.tried:
        wanted, scores = by_definition(2.0, 0.1, one.steps)
        assert one.loss == pytest.approx(wanted, rel=1e-9)
        np.testing.assert_allclose(one.scores, scores, atol=1e-9)
    assert best.loss == min(one.loss for one in found.tried)
    assert best is found.best


def test_a_metric_that_has_seen_the_rows_would_look_better_than_it_is():
    noise = random.normal(size=(60, 1))  # nothing can be learnt: an honest loss is at least its own
    rows = random.normal(size=(60, 30))
    sample = Sample(X=rows, targets=noise)
    given = {"sample": sample, "steps": 2, "fixed": True, "alphas": [0.3]}
    best = search(**given, loss=lambda s, r: squared(s, r, noise)).run()
    assert best.steps == 2
    assert best.loss > 0.9 * noise.var()
    machine = Recursion(
        kernel=Laplacian(1.0), width=1.0, alpha=0.3, diagonal=True, gradient_rows=1000
    )
    kernel = machine.learn(sample, 2, Monitor())
    K, H = kernel.formula(rows), np.eye(60) - 1 / 60
    smoother = np.linalg.solve(H @ K @ H + 0.3 * np.eye(60), H @ K @ H) + 1 / 60
    left_out = (noise - smoother @ noise)[:, 0] / (1 - np.diag(smoother))
    assert np.mean(left_out**2) < 0.9 * best.loss  # what leaving one out would have said


def test_steps_that_are_given_are_the_only_ones():
    found = search(steps=2, fixed=True)
    assert found.run().steps == 2
    assert {one.steps for one in found.tried} == {2}
    plain = search(steps=0, fixed=True)
    assert plain.run().steps == 0
    assert {one.steps for one in plain.tried} == {0}


def test_alphas_that_are_given_are_the_only_ones():
    found = search(alphas=[0.01, 1.0, 100.0], steps=1, fixed=True)
    found.run()
    assert {one.alpha for one in found.tried} == {0.01, 1.0, 100.0}


def test_the_two_best_widths_are_followed():
    found = search(widths=[0.01, 1.0, 2.0], steps=1)
    found.run()
    assert {one.width for one in found.tried} == {1.0, 2.0}


def test_a_metric_is_chosen_where_it_helps():
    rows = random.normal(size=(150, 10))
    sample = Sample(X=rows, targets=np.sin(2 * rows[:, :1]))

    def loss(scores, rows):
        return squared(scores, rows, sample.targets)

    found = search(sample=sample, folds=thirds(150), loss=loss)
    best = found.run()
    plain = min(one.loss for one in found.tried if one.steps == 0)
    assert best.steps > 0
    assert best.loss < 0.5 * plain
    assert np.argmax(best.kernel.matrix.values) == 0


def test_rows_that_no_fold_holds_out_are_not_judged():
    held = np.arange(40, 60)
    best = search(folds=[(np.arange(40), held)]).run()
    assert np.array_equal(best.rows, held)
    assert best.scores.shape == (20, 1)


def test_follow_leaves_out_the_plain_setting():
    found = search(steps=2)
    found.follow(Tried(width=1.0, alpha=0.1, steps=0))
    assert {one.steps for one in found.tried} == {1, 2}


def test_weights_are_taken_into_fits():
    weight = np.r_[np.full(30, 1e-3), np.ones(30)]
    one = search(sample=Sample(X=X, targets=TARGETS, weight=weight), alphas=[0.1], steps=1)
    one.run()
    sample = Sample(X=X, targets=TARGETS, weight=weight)
    for tried in one.tried:
        assert tried.loss == pytest.approx(
            by_definition(1.0, 0.1, tried.steps, sample)[0], rel=1e-9
        )


def test_scores_that_are_no_numbers_lose():
    found = search(loss=lambda scores, rows: 0.0)
    judged = found._judged(
        Tried(width=1.0, alpha=1.0, steps=0), np.full((2, 1), np.nan), np.arange(2)
    )
    assert judged.loss == np.inf


def test_a_search_can_be_stopped():
    monitor = Monitor()
    monitor.cancel()
    with pytest.raises(Stopped):
        search(monitor=monitor).run()


def test_full_metrics_are_searched_too():
    recursion = Recursion(
        kernel=Gaussian(1.0), width=1.0, alpha=1.0, diagonal=False, gradient_rows=20
    )
    best = search(recursion=recursion, steps=1).run()
    assert np.isfinite(best.loss)
