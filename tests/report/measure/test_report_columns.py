"""Which columns matter, and how predictions depend on them."""

import numpy as np
import pandas as pd
import pytest
from report_samples import flats, rows
from sklearn.pipeline import make_pipeline

from mercer import KernelRidge, KernelRidgeClassifier, TableEncoder
from mercer.kernels import Gaussian, Linear
from mercer.monitor import Monitor
from mercer.report.clock import Clock, NotShown
from mercer.report.measure.columns import dependences, relevances
from mercer.report.measure.honest import honest_predictions
from mercer.report.subject import learner_of, make_subject

X, Y, LABELS = rows(90)


def found_for(model, X, y, clock, alone=None):
    subject = make_subject(model, X, y)
    learner = learner_of(subject)
    honest = honest_predictions(subject, learner, clock, 0)
    return subject, relevances(subject, honest, learner, False, alone or {}, clock, 0)


def test_columns_that_matter_come_first(clock):
    model = KernelRidge(0.05, kernel=Gaussian(0.5)).fit(X, Y)
    _, found = found_for(model, X, Y, clock, {"x1": 0.5})
    assert {one.name for one in found.columns[:2]} == {"x0", "x1"}
    last = found.columns[2]
    assert (last.name, last.alone) == ("x2", None)
    assert last.rise < 0.2 * found.columns[0].rise


def test_the_rise_of_a_linear_model_is_known(clock):
    # Shuffling x0 in y = 3 x0 + x1 costs 2 * 9 var(x0), of a variance of about 10.
    random = np.random.default_rng(1)
    points = random.normal(size=(400, 2))
    y = 3 * points[:, 0] + points[:, 1]
    model = KernelRidge(1e-6, kernel=Linear()).fit(points, y)
    _, found = found_for(model, points, y, clock)
    by_name = {one.name: one.rise for one in found.columns}
    assert by_name["x0"] == pytest.approx(18 * points[:, 0].var() / y.var(), rel=0.1)
    assert by_name["x1"] == pytest.approx(2 * points[:, 1].var() / y.var(), rel=0.15)


def test_a_column_that_the_model_does_not_see_costs_nothing(clock):
    frame, rent = flats(80)
    model = make_pipeline(TableEncoder(), KernelRidge(0.1)).fit(frame, rent)
    _, found = found_for(model, frame, rent, clock)
    land = next(one for one in found.columns if one.name == "land")
    assert land.rise == land.deviation == 0.0


def test_an_ensemble_is_judged_on_rows_that_its_members_have_not_seen(automatic, clock):
    _model, _frame, _rent, report = automatic
    assert report.facts.relevances.columns[0].name == "area"
    assert "fitted again" in report.facts.relevances.how


def test_columns_that_there_was_no_time_for_are_told():
    class Hurried(Clock):
        turns = 0

        @property
        def left(self):
            self.turns += 1
            return np.inf if self.turns < 20 else -1.0

    model = KernelRidge(0.05, kernel=Gaussian(0.5)).fit(X, Y)
    hurried = Hurried(monitor=Monitor(), parts=1)
    hurried.turns = -1000
    subject = make_subject(model, X, Y)
    learner = learner_of(subject)
    honest = honest_predictions(subject, learner, hurried, 0)
    hurried.turns = 17  # it is asked twice for each column
    found = relevances(subject, honest, learner, False, {"x2": 0.9}, clock=hurried, seed=0)
    assert [one.name for one in found.columns] == ["x2"]
    assert found.how.endswith("; there was time for 1 of 3 columns")


def test_one_column_cannot_be_compared(clock):
    model = KernelRidge().fit(X[:, :1], Y)
    with pytest.raises(NotShown, match="one column only"):
        found_for(model, X[:, :1], Y, clock)


# --- dependence ---------------------------------------------------------------------------------


def test_dependence_of_a_linear_model_is_a_line(clock):
    y = 2 * X[:, 0] - X[:, 1]
    model = KernelRidge(1e-8, kernel=Linear()).fit(X, y)
    subject = make_subject(model, X, y)
    found = {one.name: one for one in dependences(subject, None, clock, 0)}
    line = found["x0"]
    slope = np.diff(line.means) / np.diff(line.values)
    np.testing.assert_allclose(slope, 2.0, rtol=1e-4)
    np.testing.assert_allclose(line.slopes, 2.0, rtol=1e-4)
    assert min(line.values) >= X[:, 0].min()


def test_dependence_is_the_mean_over_rows(clock):
    model = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X, Y)
    one = dependences(make_subject(model, X, Y), None, clock, 0)[1]
    for value, mean in zip(one.values, one.means, strict=True):
        moved = X.copy()
        moved[:, 1] = value
        assert mean == pytest.approx(model.predict(moved).mean())


def test_dependence_of_a_category_and_a_date(clock):
    frame, rent = flats(80)
    model = make_pipeline(TableEncoder(), KernelRidge(0.1)).fit(frame, rent)
    found = {one.name: one for one in dependences(make_subject(model, frame, rent), None, clock, 0)}
    assert sorted(found["town"].values) == ["Bern", "Oslo", "Rome"]
    best = found["town"].values[int(np.argmax(found["town"].means))]
    assert best == "Oslo"
    assert found["sold"].kind == "date"
    first = pd.Timestamp("2021-01-01").timestamp()
    assert found["sold"].values[0] >= first
    assert found["town"].slopes is None
    assert "land" not in found  # one value: nothing to see


def test_of_several_classes_the_one_that_changes_most_is_shown(clock):
    y = np.digitize(X[:, 0], [-0.3, 0.8]).astype(str)
    model = KernelRidgeClassifier(probability=True).fit(X, y)
    subject = make_subject(model, X, y)
    one = dependences(subject, None, clock, 0)[0]
    place = list(model.classes_).index(one.output)
    moved = np.repeat(X[None], len(one.values), axis=0)
    for copy, value in zip(moved, one.values, strict=True):
        copy[:, 0] = value
    means = np.array([model.predict_proba(copy).mean(axis=0) for copy in moved])
    assert place == np.ptp(means, axis=0).argmax()
    np.testing.assert_allclose(one.means, means[:, place])
