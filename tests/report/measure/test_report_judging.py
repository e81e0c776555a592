"""Honest predictions, baselines, judgements and the verdict."""

import numpy as np
import pytest
from report_samples import flats, rows
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline

from mercer import SVC, KernelRidge, TableEncoder
from mercer.checks import InputError
from mercer.kernels import Gaussian, Linear
from mercer.monitor import Monitor
from mercer.report.clock import Clock
from mercer.report.measure.baselines import CONSTANT, LINEAR, TREES, baseline_values
from mercer.report.measure.honest import honest_predictions
from mercer.report.measure.sentences import verdict_of
from mercer.report.measure.splits import folds_of, thinned
from mercer.report.measure.verdict import judge_test, judge_training
from mercer.report.subject import learner_of, make_subject, same_kind

X, Y, LABELS = rows(80)


def judged(model, X, y, clock, groups=None):
    subject = make_subject(model, X, y, groups)
    honest = honest_predictions(subject, learner_of(subject), clock, 0)
    chances = hasattr(model, "predict_proba")
    return subject, honest, judge_training(subject, honest, chances, clock, 0)


# --- splits -------------------------------------------------------------------------------------


def test_folds_judge_every_row_once_and_keep_groups():
    groups = np.repeat(np.arange(20), 4)
    codes = (LABELS == "low").astype(int)
    for some in (None, groups):
        parts = folds_of(80, 5, codes, some, 0)
        assert sorted(np.concatenate([held for _, held in parts]).tolist()) == list(range(80))
        assert all(not set(train) & set(held) for train, held in parts)
    assert all(not set(groups[train]) & set(groups[held]) for train, held in parts)


def test_fewer_rows_keep_the_shares_of_classes():
    codes = np.repeat([0, 1], [900, 100])
    some = thinned(np.arange(1000), 100, codes, 0)
    assert len(some) == 100
    assert (codes[some] == 1).sum() == pytest.approx(10, abs=1)
    assert thinned(np.arange(5), 9, None, 0).tolist() == [0, 1, 2, 3, 4]


# --- honest predictions -------------------------------------------------------------------------


def test_folds_predict_rows_by_models_without_them(clock):
    model = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X, Y)
    _subject, honest, _ = judged(model, X, Y, clock)
    for fold, (train, held) in enumerate(honest.parts):
        expected = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X[train], Y[train]).predict(X[held])
        np.testing.assert_allclose(honest.values[held, 0], expected)
        assert (honest.folds[held] == fold).all()
    assert honest.rows.tolist() == list(range(80))


def test_an_automatic_learner_has_predictions_of_its_own(automatic, clock):
    model, frame, rent, _ = automatic
    _subject, honest, found = judged(model, frame, rent, clock)
    assert honest.values is model.out_of_sample_.values
    truth = rent.to_numpy()[model.out_of_sample_.rows]
    error = np.sqrt(np.mean((truth - model.out_of_sample_.values[:, 0]) ** 2))
    assert found.scores[0].value == pytest.approx(error)
    assert found.baseline(CONSTANT).scores[0].value > found.scores[0].value


def test_other_rows_than_those_of_the_fit_are_refused(automatic, clock):
    model, frame, rent, _ = automatic
    with pytest.raises(InputError, match="X and y must be those of the fit"):
        judged(model, frame[:20], rent[:20], clock)


def test_with_little_time_rows_are_held_out_once():
    model = KernelRidge(0.1).fit(X, Y)
    certificate = type(model.certificate_)(**{**vars(model.certificate_), "seconds": 1e3})
    model.certificate_ = certificate  # a fit that took long
    clock = Clock(monitor=Monitor(500.0), parts=1)
    _, honest, _ = judged(model, X, Y, clock)
    assert len(honest.parts) == 1
    train, held = honest.parts[0]
    assert len(held) == 16
    assert FEWEST_TRAINED <= len(train) < 64
    assert "for lack of time" in honest.how


FEWEST_TRAINED = 20


# --- baselines ----------------------------------------------------------------------------------


def test_baselines_are_fitted_to_the_training_part(clock):
    frame, rent = flats(60)
    model = make_pipeline(TableEncoder(), KernelRidge()).fit(frame, rent)
    subject = make_subject(model, frame, rent)
    train, new = np.arange(40), frame[40:]
    constant = baseline_values(CONSTANT, subject, train, new, clock, 0)
    np.testing.assert_allclose(constant, np.full((20, 1), rent[:40].mean()))
    linear = baseline_values(LINEAR, subject, train, new, clock, 0)
    direct = make_pipeline(TableEncoder(), Ridge()).fit(frame[:40], rent[:40]).predict(new)
    np.testing.assert_allclose(linear[:, 0], direct)
    assert baseline_values(TREES, subject, train, new, clock, 0).shape == (20, 1)


def test_shares_of_classes_are_the_constant(clock):
    subject = make_subject(SVC().fit(X, LABELS), X, LABELS)
    found = baseline_values(CONSTANT, subject, np.arange(80), X[:2], clock, 0)
    shares = [np.mean(LABELS == "high"), np.mean(LABELS == "low")]
    np.testing.assert_allclose(found, [shares, shares])


def test_objects_have_a_constant_only(clock):
    texts = ["ab" * n for n in range(2, 22)]
    from mercer.kernels import Spectrum

    model = KernelRidge(kernel=Spectrum(2)).fit(texts, np.arange(20.0))
    _, _, found = judged(model, texts, np.arange(20.0), clock)
    assert [one.name for one in found.baselines] == [CONSTANT]


def test_trees_that_would_take_too_long_are_left_out():
    model = KernelRidge(0.1).fit(X, Y)
    clock = Clock(monitor=Monitor(5.0), parts=1)
    subject = make_subject(model, X, Y)
    honest = honest_predictions(subject, learner_of(subject), clock, 0)
    hurried = Clock(monitor=Monitor(0.15), parts=1)
    found = judge_training(subject, honest, False, hurried, 0)
    assert found.baseline(TREES) is None
    assert [one.part for one in hurried.left_out][-1] == "the comparison with boosted trees"


# --- judgements ---------------------------------------------------------------------------------


def test_a_judgement_has_the_scores_of_honest_predictions(clock):
    model = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X, Y)
    _subject, honest, found = judged(model, X, Y, clock)
    assert found.score("R²").value == pytest.approx(r2_score(Y, honest.values[:, 0]))
    constant = found.baseline(CONSTANT).scores[0].value
    skill = 1 - (found.scores[0].value / constant) ** 2
    assert found.skill == pytest.approx(skill)
    assert len(found.scores[0].folds) == 5
    for one in found.baselines:
        value = found.scores[0].value - one.scores[0].value
        assert one.difference.value == pytest.approx(value)


def test_outcomes_follow_the_interval_of_the_difference(clock):
    good = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X, Y)
    _, _, found = judged(good, X, Y, clock)
    assert found.baseline(LINEAR).outcome == "better"
    assert found.baseline(LINEAR).difference.high < 0
    poor = KernelRidge(1e6, kernel=Linear()).fit(X, Y)
    _, _, found = judged(poor, X, Y, clock)
    assert found.baseline(TREES).outcome == "worse"
    assert found.baseline(CONSTANT).outcome != "better"


def test_test_rows_are_judged_by_the_model_itself(clock):
    fresh, truth, _ = rows(50, seed=5)
    model = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X, Y)
    subject = make_subject(model, X, Y)
    test = same_kind(subject, fresh, truth)
    values = model.predict(fresh)[:, None]
    found = judge_test(subject, test, values, False, clock, 0)
    assert found.on == "test"
    error = np.sqrt(np.mean((truth - model.predict(fresh)) ** 2))
    assert found.scores[0].value == pytest.approx(error)


# --- words --------------------------------------------------------------------------------------


def test_the_verdict_of_a_good_model(clock):
    model = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X, Y)
    _, _, found = judged(model, X, Y, clock)
    verdict = verdict_of(found, "height", None)
    assert verdict.grade == "good"
    assert "predictions of height are off by" in verdict.sentences[0]
    assert verdict.sentences[1].startswith("It was judged on 80 rows of the data, in 5 folds")
    assert "lower than that of a linear model" in verdict.sentences[2]


def test_the_verdict_of_a_model_that_learnt_nothing(clock):
    noise = np.random.default_rng(9).normal(size=80)
    model = KernelRidge(1e-3, kernel=Gaussian(5.0)).fit(X, noise)
    _, _, found = judged(model, X, noise, clock)
    verdict = verdict_of(found, "", None)
    assert (verdict.grade, verdict.headline) == ("bad", "Not better than the mean")


def test_the_verdict_on_classes_names_the_most_frequent_one(clock):
    model = SVC(C=10.0).fit(X, LABELS)
    _, honest, found = judged(model, X, LABELS, clock)
    right = np.mean(honest.values.argmax(axis=1) == (LABELS == "low"))
    text = verdict_of(found, "", 0.625).sentences[0]
    assert f"right for {100 * right:.0f} % of the rows" in text
    assert "would be for 62 %" in text or "would be for 63 %" in text
