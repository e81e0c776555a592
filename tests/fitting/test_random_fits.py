"""A few hundred of the random fits that `make fits` runs by the thousand, and what judges them."""

import os
import signal
import warnings

import numpy as np
import pytest
from estimators import ESTIMATORS as EVERY
from random_cases import ESTIMATORS, Case, draw
from random_fits import Worker
from random_judge import FAILURES, Verdict, compare, judge

from mercer import SVC
from mercer.checks import InputError

PATIENT = 120.0  # seconds for a fit of milliseconds: a busy machine is no failure
PART = 100  # seeds that one worker judges


def test_every_estimator_is_drawn():
    public = {kind.__name__ for kind in EVERY}
    assert set(ESTIMATORS) == public


def test_a_seed_is_a_case():
    one, other = draw(5), draw(5)
    assert repr(one.model) == repr(other.model)
    np.testing.assert_array_equal(one.X, other.X)


@pytest.mark.parametrize("first", [22_310, 22_410, 22_510])
def test_random_fits_end_in_finite_numbers_or_a_sentence(first):
    worker = Worker((), PATIENT)
    try:
        found = {seed: worker.judge(seed) for seed in range(first, first + PART)}
    finally:
        worker.stop()
    assert {seed: verdict for seed, verdict in found.items() if verdict[0] in FAILURES} == {}


class Model:
    """An estimator that does what it is told."""

    def __init__(self, act):
        self.act = act

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.act()


def _warn(category, text):
    warnings.warn(text, category, stacklevel=2)
    return 1.0


def _raise(error):
    raise error


@pytest.mark.parametrize(
    ("act", "word"),
    [
        (lambda: 1.0, "ok"),
        (lambda: np.array([1.0, np.nan]), "not finite"),
        (lambda: _raise(InputError("Model: no.")), "own error"),
        (lambda: _raise(ValueError("no")), "raw exception"),
        (lambda: _warn(UserWarning, "Model: beware."), "own warning"),
        (lambda: _warn(RuntimeWarning, "overflow encountered"), "raw warning"),
    ],
)
def test_the_judge_tells_them_apart(act, word):
    assert judge(Case(0, Model(act), np.ones((2, 1)), None, None, np.ones((1, 1)), "")).word == word


def test_the_judge_catches_a_machine_that_stopped_early():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    case = Case(0, SVC(10.0).fit(X, y), X, y, None, X, "")
    assert compare(case) == Verdict("ok")
    case.model.dual_coef_ *= 0.999
    assert compare(case).word == "worse than LIBSVM"
    case.model.dual_coef_[0, 0] += 1.0
    assert compare(case).word == "infeasible"


def test_a_worker_that_hangs_is_replaced():
    worker = Worker(("GramTransformer",), limit=0.1)
    try:
        os.kill(worker.process.pid, signal.SIGSTOP)
        assert worker.judge(1)[0] == "hang"
        worker.limit = PATIENT
        assert worker.judge(1)[0] in ("ok", "own error")
    finally:
        worker.stop()
