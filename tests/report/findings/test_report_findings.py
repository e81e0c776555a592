"""Every code has a test that triggers it and one that does not."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_samples import flats, rows
from sklearn.pipeline import make_pipeline

from mercer import SVC, AutoKernelRegressor, KernelRidge, KernelRidgeClassifier, TableEncoder
from mercer.kernels import Gaussian, Linear
from mercer.monitor import Monitor
from mercer.report.clock import Clock
from mercer.report.findings.rules import CODES, findings_of
from mercer.report.kernel.certificate import certificates_of
from mercer.report.measure.edges import Edge
from mercer.report.measure.errors import calibration_of, residuals_of
from mercer.report.measure.honest import honest_predictions
from mercer.report.measure.verdict import judge_training
from mercer.report.parts import Parts
from mercer.report.subject import core_of, learner_of, make_subject, same_kind
from mercer.report.table.alone import skills_alone
from mercer.report.table.drift import drift_of
from mercer.report.table.summary import data_facts
from mercer.status import Status

MANUAL = Path(__file__).parents[3] / "docs" / "report.md"
change = dataclasses.replace


def found(facts, code):
    """The finding of a code, or None."""
    return next((one for one in findings_of(facts) if one.code == code), None)


def judged(facts, model, X, y):
    """Facts about how good another model is."""
    clock = Clock(monitor=Monitor(), parts=1)
    subject = make_subject(model, X, y)
    parts = Parts(subject=subject, test=None, clock=clock, seed=0)
    honest = honest_predictions(subject, learner_of(subject), clock, 0)
    judgement = judge_training(subject, honest, parts.has_chances, clock, 0)
    return change(facts, judgements=(judgement,), model=parts.model(), data=data_facts(subject))


def with_table(facts, frame, y):
    """Facts about another table."""
    kind = KernelRidge() if np.asarray(y).dtype.kind == "f" else KernelRidgeClassifier()
    model = make_pipeline(TableEncoder(), kind).fit(frame, y)
    subject = make_subject(model, frame, y)
    task = "regression" if subject.classes is None else "classification"
    return change(
        facts,
        data=data_facts(subject),
        alone=skills_alone(subject, Clock(monitor=Monitor(), parts=1), 0),
        model=change(facts.model, task=task),
    )


def drifted(facts, frame, y, new):
    """Facts about other test rows."""
    subject = make_subject(make_pipeline(TableEncoder(), KernelRidge()).fit(frame, y), frame, y)
    test = same_kind(subject, new, None)
    return change(
        facts, drift=drift_of(subject, test, core_of(subject), Clock(monitor=Monitor(), parts=1), 0)
    )


# --- how good it is: M001 to M009 ---------------------------------------------------------------

X, Y, LABELS = rows(160)


def test_m001_overfitting(facts):
    noisy = Y + np.random.default_rng(1).normal(size=160)
    closely = judged(facts, KernelRidge(1e-6, kernel=Gaussian(5.0)).fit(X, noisy), X, noisy)
    one = found(closely, "M001")
    assert one.numbers["training_skill"] > 0.99
    assert one.numbers["training_skill"] - one.numbers["skill"] > 0.4
    assert one.severity in ("high", "medium")
    line = X @ [1.0, 2.0, 0.0]
    fair = judged(facts, KernelRidge(0.1, kernel=Linear()).fit(X, line), X, line)
    assert found(fair, "M001") is None


def test_m002_underfitting(facts):
    stiff = judged(facts, KernelRidge(1.0, kernel=Linear()).fit(X, Y), X, Y)
    one = found(stiff, "M002")
    assert one.severity == "medium"
    assert one.numbers["baseline"] == "trees"
    fair = judged(facts, KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X, Y), X, Y)
    assert found(fair, "M002") is None


def test_m003_nothing_learnt(facts):
    noise = np.random.default_rng(2).normal(size=160)
    one = found(judged(facts, KernelRidge(kernel=Gaussian(3.0)).fit(X, noise), X, noise), "M003")
    assert one.severity == "high"
    assert "not better than a constant" in one.found
    assert found(facts, "M003") is None


def test_m004_linear(facts):
    line = 3 * X[:, 0] - X[:, 1] + 0.1 * np.random.default_rng(3).normal(size=160)
    worse = judged(facts, KernelRidge(1.0, kernel=Gaussian(3.0)).fit(X, line), X, line)
    one = found(worse, "M004")
    assert (one.severity, one.title) == ("medium", "A linear model is better")
    assert one.numbers["difference_low"] > 0
    noisy = line + 3 * np.random.default_rng(4).normal(size=160)
    same = KernelRidge(1.0, kernel=Linear(), fit_intercept=True).fit(X, noisy)
    assert found(judged(facts, same, X, noisy), "M004").severity == "low"
    assert found(facts, "M004") is None


def test_m005_trees(facts):
    worse = judged(facts, KernelRidge(1.0, kernel=Linear()).fit(X, Y), X, Y)
    assert found(worse, "M005").severity == "medium"
    assert found(facts, "M005") is None


def test_m006_slow(facts):
    judgement = facts.judgements[0]
    trees = judgement.baseline("trees")
    if trees is None:  # the race had no turn for them
        trees = change(judgement.baseline("linear"), name="trees", words="boosted trees")
    alike = change(judgement, baselines=(change(trees, outcome="alike", seconds=0.5),))
    slow = change(
        facts,
        judgements=(alike,),
        leaderboard=None,
        provenance=change(facts.provenance, fit_seconds=42.0),
    )
    one = found(slow, "M006")
    assert one.numbers["times"] == 80.0  # one digit of 84
    assert found(change(slow, provenance=change(facts.provenance, fit_seconds=4.0)), "M006") is None
    better = change(judgement, baselines=(change(trees, outcome="better", seconds=0.5),))
    assert found(change(slow, judgements=(better,)), "M006") is None


def test_m006_takes_the_time_of_the_leaderboard(facts):
    judgement = facts.judgements[0]
    trees = change(judgement.baseline("linear"), name="trees", outcome="alike", seconds=1e-9)
    lines = (change(facts.leaderboard.lines[0], name="boosted trees", seconds=20.0),)
    slow = change(
        facts,
        judgements=(change(judgement, baselines=(trees,)),),
        leaderboard=change(facts.leaderboard, lines=lines),
        provenance=change(facts.provenance, fit_seconds=42.0),
    )
    assert found(slow, "M006") is None  # twice as long is no matter


def calibrated(facts, moved):
    random = np.random.default_rng(0)
    chance = random.random(2000)
    y = np.where(random.random(2000) < chance, "yes", "no")
    points = chance[:, None]
    subject = make_subject(KernelRidgeClassifier().fit(points, y), points, y)
    said = np.clip(chance + moved, 0, 1)
    values = np.column_stack([1 - said, said])
    return change(facts, calibration=calibration_of(subject, np.arange(2000), values))


def test_m007_probabilities(facts):
    one = found(calibrated(facts, 0.2), "M007")
    assert one.severity == "medium"
    assert "too high overall" in one.found
    assert found(calibrated(facts, 0.0), "M007") is None
    assert found(facts, "M007") is None


def test_m008_few_rows(facts):
    few = judged(facts, KernelRidge(0.1).fit(X[:40], Y[:40]), X[:40], Y[:40])
    assert found(few, "M008").numbers == {"rows": 40}
    assert found(facts, "M008") is None


def test_m009_uneven(facts):
    predicted = np.linspace(1.0, 100.0, 400)
    points = predicted[:, None]
    for spread, growing in ((0.1 * predicted, True), (np.full(400, 3.0), False)):
        truth = predicted + spread * np.where(np.arange(400) % 2, 1, -1)
        subject = make_subject(KernelRidge().fit(points, truth), points, truth)
        uneven = residuals_of(subject, np.arange(400), points)
        assert (found(change(facts, residuals=uneven), "M009") is not None) == growing


# --- the data: M011 to M018 ---------------------------------------------------------------------

FRAME, RENT = flats(300)


def test_m011_leak(facts):
    leaky = with_table(facts, FRAME.assign(tax=0.2 * RENT), RENT)
    one = found(leaky, "M011")
    assert one.severity == "high"
    assert one.numbers["column"] == "tax"
    assert found(with_table(facts, FRAME, RENT), "M011") is None


def test_m011_a_code_of_the_class(facts):
    y = np.where(RENT > 1100, "dear", "cheap")
    leaky = with_table(facts, FRAME.assign(code=np.where(RENT > 1100, 1.0, 2.0)), y)
    assert "100 % fewer errors" in found(leaky, "M011").found
    assert found(with_table(facts, FRAME[["noise", "town"]], y), "M011") is None


def test_m011_a_single_column_is_no_leak(facts):
    only = with_table(facts, FRAME[["area"]], 11 * FRAME["area"] + 1)
    assert only.alone["area"] > 0.98
    assert found(only, "M011") is None


def test_m012_useless(automatic):
    facts = automatic[3].facts
    one = found(facts, "M012")
    assert "“noise”" in one.found
    assert "“area”" not in one.found
    kept = [line for line in facts.relevances.columns if line.name in ("area", "town")]
    used = change(facts, relevances=change(facts.relevances, columns=tuple(kept)))
    assert found(used, "M012") is None


def test_m013_dropped(facts):
    one = found(with_table(facts, FRAME, RENT), "M013")
    assert one.numbers == {"columns": 1, "constant": 1}
    assert "“land”" in one.found
    assert found(with_table(facts, FRAME.drop(columns="land"), RENT), "M013") is None


def test_m014_missing(facts):
    some = found(with_table(facts, FRAME, RENT), "M014")
    assert (some.severity, some.numbers["columns"]) == ("low", 1)
    gone = FRAME.assign(floor=FRAME["floor"].where(FRAME.index % 4 == 0))
    assert found(with_table(facts, gone, RENT), "M014").severity == "medium"
    whole = FRAME.assign(floor=FRAME["floor"].fillna(0))
    assert found(with_table(facts, whole, RENT), "M014") is None


def classes_of(facts, *counts):
    y = np.repeat([f"c{place}" for place in range(len(counts))], counts)
    frame = pd.DataFrame({"a": np.arange(len(y)) % 7.0, "b": np.arange(len(y)) % 3.0})
    return with_table(facts, frame, y)


def test_m015_imbalance(facts):
    assert found(classes_of(facts, 170, 30), "M015").severity == "low"
    one = found(classes_of(facts, 20, 480), "M015")
    assert (one.severity, one.numbers["class"]) == ("medium", "c1")
    assert found(classes_of(facts, 120, 80), "M015") is None
    assert found(facts, "M015") is None


def test_m016_rare_classes(facts):
    one = found(classes_of(facts, 100, 80, 4, 7), "M016")
    assert one.numbers == {"classes": 2, "fewest": 4}
    assert found(classes_of(facts, 100, 80), "M016") is None
    assert found(facts, "M016") is None


def test_m017_copies(facts):
    double = pd.concat([FRAME, FRAME[:30]], ignore_index=True)
    same = pd.concat([RENT, RENT[:30]], ignore_index=True)
    one = found(with_table(facts, double, same), "M017")
    assert (one.severity, one.numbers) == ("medium", {"copies": 30, "conflicts": 0})
    other = pd.concat([RENT, RENT[:30] + 5], ignore_index=True)
    assert found(with_table(facts, double, other), "M017").severity == "low"
    assert found(with_table(facts, FRAME, RENT), "M017") is None


def test_m018_names_of_rows(facts):
    codes = [f"k{place // 2 if place < 260 else place}" for place in range(300)]
    named = with_table(facts, FRAME.assign(code=codes), RENT)
    column = next(one for one in named.data.columns if one.name == "code")
    if column.kind == "category":
        assert found(named, "M018").numbers["levels"] == column.distinct
    else:  # the encoder has left it out, which is told by another code
        assert found(named, "M013") is not None
    assert found(with_table(facts, FRAME, RENT), "M018") is None


# --- the fit and test rows: M021 to M034 --------------------------------------------------------


def test_m021_not_converged(facts):
    model = KernelRidge(0.1).fit(X, Y)
    values = dataclasses.asdict(model.certificate_) | {"status": Status.ITERATION_LIMIT}
    model.certificate_ = type(model.certificate_)(**values)
    subject = make_subject(model, X, Y)
    one = found(change(facts, certificates=certificates_of(subject, core_of(subject))), "M021")
    assert one.severity == "high"
    assert "iteration limit" in one.found
    assert one.advice.startswith("Raise max_iter")
    assert found(facts, "M021") is None


def test_m022_edge(facts):
    edge = Edge(parameter="alpha", value=1.0, low=1.0, high=100.0)
    one = found(change(facts, edges=(edge,)), "M022")
    assert one.severity == "medium"
    assert "alpha = 1 (tried 1 to 100)" in one.found
    assert found(change(facts, edges=(change(edge, of="ridge"),)), "M022").severity == "low"
    assert found(facts, "M022") is None


def test_m023_a_search_that_the_clock_ended(facts):
    frame, rent = flats(60)
    # A callback ends the race as the clock does, at the same place each time.
    model = AutoKernelRegressor(callback=lambda record: True, time_limit=None).fit(frame, rent)
    subject = make_subject(model, frame, rent)
    cut = change(facts, certificates=certificates_of(subject, core_of(subject)))
    assert "cancelled" in found(cut, "M023").found
    assert found(cut, "M021") is None
    assert found(facts, "M023") is None or facts.certificates[0].status == "time limit"


def test_m031_drift(facts):
    old, new = FRAME[:150], FRAME[150:].assign(sold=FRAME["sold"][:150].to_numpy())
    moved = drifted(facts, old, RENT[:150], new.assign(area=new["area"] + 80))
    one = found(moved, "M031")
    assert one.severity == "high"
    assert "“area”" in one.found
    assert found(drifted(facts, old, RENT[:150], new), "M031") is None
    assert found(facts, "M031") is None


def test_m032_shared_rows(facts):
    fresh = flats(50, seed=4)[0]
    mixed = pd.concat([FRAME[:20], fresh], ignore_index=True)
    one = found(drifted(facts, FRAME, RENT, mixed), "M032")
    assert (one.severity, one.numbers) == ("high", {"shared": 20, "rows": 70})
    assert found(drifted(facts, FRAME, RENT, fresh), "M032") is None


def test_m033_fallen(facts, classes):
    held = facts.judgements[0]
    worse = change(held, on="test", skill=held.skill - 0.3)
    one = found(change(facts, judgements=(worse, held)), "M033")
    assert one.numbers == {"test_skill": held.skill - 0.3, "skill": held.skill}
    assert found(change(facts, judgements=(change(held, on="test"), held)), "M033") is None
    assert found(facts, "M033") is None


def test_m034_outside(facts):
    fresh = flats(50, seed=4)[0]
    outside = fresh.assign(town=["Paris"] * 10 + fresh["town"].tolist()[10:])
    one = found(drifted(facts, FRAME, RENT, outside), "M034")
    assert one.numbers["largest_share"] == pytest.approx(0.2)
    assert found(drifted(facts, FRAME, RENT, FRAME[:50]), "M034") is None


# --- all of them --------------------------------------------------------------------------------


def test_every_code_has_a_test_and_a_line_in_the_manual():
    assert len(set(CODES)) == len(CODES) == 24
    own = Path(__file__).read_text()
    manual = MANUAL.read_text()
    for code in CODES:
        assert f"def test_{code.lower()}_" in own
        assert re.search(rf"^\| {code} \| (high|medium|low)", manual, re.MULTILINE), code


def test_findings_have_all_that_a_reader_needs(automatic, classes):
    for report in (automatic[3], classes[3]):
        assert report.findings
        severities = [("high", "medium", "low").index(one.severity) for one in report.findings]
        assert severities == sorted(severities)
        for one in report.findings:
            assert one.found.endswith(".")
            assert one.advice.endswith((".", "mean nothing."))
            assert one.title
            assert one.numbers


def test_a_machine_without_probabilities_is_judged_by_its_classes(facts):
    fair = judged(facts, SVC(C=10.0).fit(X, LABELS), X, LABELS)
    assert fair.judgements[0].scores[0].name == "accuracy"
    assert found(fair, "M003") is None


def test_what_tests_lose_is_not_called_overfitting(facts):
    held = facts.judgements[0]
    drifted_away = change(held, on="test", skill=-3.0)
    both = change(facts, judgements=(drifted_away, held))
    assert found(both, "M001") is None
    assert "4 times the loss of a constant" in found(both, "M033").found
