"""Rows kept aside: how many rows candidates see, and fits to all of the others."""

from dataclasses import replace

import numpy as np
import pytest

from mercer import KernelRidge
from mercer.checks import InputError
from mercer.monitor import Monitor
from mercer.run import Run
from mercer.tables.race import holdout
from mercer.tables.race.contest import HoldoutRace
from mercer.tables.race.holdout import (
    FEWEST_CENTRES,
    MOMENTS_RATE,
    MOST_CENTRES,
    MOST_SIZE,
    NEARLY,
    USUAL_SIZE,
    HoldoutJudge,
    centres_for,
    size_for,
    whole_seconds,
)
from mercer.tables.race.judging import Candidate
from mercer.tables.race.pace import RATE, Limits, Pace
from mercer.tables.race.splits import Splits
from mercer.tables.race.tasks import NumberTask
from mercer.tables.race.views import TableView

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 3)).astype(np.float32)
Y = np.sin(X[:, :1].astype(float)) + 0.1 * RANDOM.normal(size=(150, 1))
SPLITS = Splits(parts=((RANDOM.permutation(120), np.arange(120, 150)),))
CANDIDATE = Candidate(learner="ridge", view="standard", family="gaussian", width=1.0, penalty=0.3)


def judge(size):
    return HoldoutJudge(
        task=NumberTask(y=Y),
        views={"standard": TableView(X)},
        splits=SPLITS,
        run=Run(who="test"),
        size=size,
    )


def test_candidates_see_the_first_rows_only():
    (found,) = judge(40).judge(CANDIDATE)
    rows = SPLITS.parts[0][0][:40]
    assert found.trained == 40
    task = NumberTask(y=Y)
    model = KernelRidge(alpha=found.candidate.penalty, kernel=found.kernel, fit_intercept=True)
    model.fit(X[rows].astype(float), task.targets("plain")[rows])
    values = task.values(model.predict(X[120:].astype(float)).reshape(-1, 1), 1.0, "plain")
    assert np.allclose(found.evidence, values, atol=1e-4)


def test_a_promoted_candidate_is_fitted_to_all_others():
    own = judge(40)
    (few,) = own.judge(CANDIDATE)
    found = own.promoted(few, np.inf)
    assert found.trained == 120
    assert found.kernel == few.kernel
    assert found.candidate == few.candidate
    assert len(found.model.support_) == 120
    assert found.loss < few.loss


def test_a_penalty_that_rounding_would_hide_is_raised():
    own = judge(40)
    few = replace(own.judge(CANDIDATE)[0], candidate=replace(CANDIDATE, penalty=1e-9))
    assert own.promoted(few, np.inf).candidate.penalty == 120 * np.finfo(np.float32).eps


def test_few_centres_where_the_time_is_short(monkeypatch):
    monkeypatch.setattr(holdout, "whole_seconds", lambda n, columns: 1e9)
    monkeypatch.setattr(holdout, "FEWEST_CENTRES", 25)
    monkeypatch.setattr(holdout, "CENTRES_SHARE", 1e-9)
    own = judge(40)
    found = own.promoted(own.judge(CANDIDATE)[0], 30.0)
    assert found.model.certificate_.solver == "nystrom"
    assert len(found.model.support_) <= 25
    assert found.trained == 120


def test_a_candidate_that_many_rows_refuse_is_skipped(monkeypatch):
    def refuse(judge, one, within):
        raise InputError("K + alpha I must be positive definite")

    monkeypatch.setattr(HoldoutJudge, "promoted", refuse)
    views = {"standard": TableView(X), "rank": TableView(X)}
    limits = Limits(monitor=Monitor(), candidates=1)
    race = HoldoutRace(judge=replace(judge(40), views=views), limits=limits)
    assert [one.trained for one in race.run().ranked()] == [40]
    assert race.skipped == {"ridge"}


def test_time_is_kept_for_fits_to_all_rows_once_there_is_a_candidate():
    own = judge(40)
    race = HoldoutRace(judge=own, limits=Limits(monitor=Monitor(time_limit=10.0), candidates=None))
    assert race.reserve() == 0
    race.results.add(own.judge(CANDIDATE))
    assert race.reserve() == 5.0


def test_sizes_grow_with_the_time():
    sizes = [size_for(10**6, seconds) for seconds in (0.1, 5.0, 20.0, 60.0, 1e4)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == MOST_SIZE
    assert size_for(10**6, None) == USUAL_SIZE
    assert size_for(int(NEARLY * USUAL_SIZE), None) == int(NEARLY * USUAL_SIZE)


def test_centres_grow_with_the_time_and_fall_with_the_rows():
    counts = [centres_for(400_000, 20, seconds) for seconds in (0.1, 10.0, 30.0, 1e5)]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (FEWEST_CENTRES, MOST_CENTRES)
    assert centres_for(800_000, 20, 30.0) <= centres_for(400_000, 20, 30.0)
    few = centres_for(400_000, 20, 10.0)  # 2 n m² operations for the moments, in half of the time
    assert 2 * 400_000 * few**2 <= 5.0 * MOMENTS_RATE
    assert whole_seconds(20_000, 20) == pytest.approx(4 * whole_seconds(10_000, 20))


def test_limits_are_those_of_the_monitor():
    limits = Limits(monitor=Monitor(100.0), candidates=3)
    assert 99.0 < limits.left <= 100.0
    assert 0.0 <= limits.share < 0.01
    assert limits.is_full(3)
    assert not limits.is_full(2)
    free = Limits(monitor=Monitor(), candidates=None)
    assert (free.left, free.share, free.seconds) == (np.inf, 0.0, None)
    assert not free.is_full(10**9)


def test_the_pace_is_that_of_the_last_work():
    pace = Pace()
    assert pace.expected("svm", RATE) == 1.0
    pace.note("ridge", 10.0, 5.0)
    assert pace.expected("svm", 4.0) == 2.0  # until it was timed itself
    pace.note("svm", 10.0, 20.0)
    assert pace.expected("svm", 4.0) == 8.0
