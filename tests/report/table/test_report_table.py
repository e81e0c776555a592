"""Summaries of columns, what each says alone, and drift."""

import datetime

import numpy as np
import pandas as pd
import pytest
from report_samples import flats, rows
from scipy.stats import ks_2samp
from sklearn.pipeline import make_pipeline

from mercer import SVC, KernelRidge, TableEncoder
from mercer.kernels import Gaussian, Spectrum
from mercer.report.subject import core_of, make_subject, same_kind
from mercer.report.table.alone import skills_alone
from mercer.report.table.drift import drift_of
from mercer.report.table.summary import data_facts, date_text, hash_of


def subject_of(frame, y):
    return make_subject(make_pipeline(TableEncoder(), KernelRidge()).fit(frame, y), frame, y)


def test_columns_are_summarised():
    frame, rent = flats(100)
    facts = data_facts(subject_of(frame, rent))
    by_name = {one.name: one for one in facts.columns}
    area = by_name["area"]
    assert area.kind == "number"
    assert (area.low, area.high) == (frame["area"].min(), frame["area"].max())
    assert area.middle == frame["area"].median()
    assert sum(area.bars) == 100
    assert by_name["floor"].missing == pytest.approx(frame["floor"].isna().mean())
    assert by_name["floor"].distinct == frame["floor"].nunique()
    town = frame["town"].value_counts()
    assert dict(by_name["town"].levels) == town.to_dict()
    assert by_name["sold"].low == "2021-01-01"
    assert by_name["land"].kind == "drop"
    assert "all its values are the same" in by_name["land"].note
    assert facts.target.name == "rent"
    assert facts.target.high == rent.max()
    assert (facts.rows, facts.outputs, facts.duplicates) == (100, 1, 0)


def test_classes_are_counted_the_most_frequent_first():
    X, _, labels = rows(90)
    facts = data_facts(make_subject(SVC().fit(X, labels), X, labels))
    counts = pd.Series(labels).value_counts()
    assert dict(facts.target.levels) == counts.to_dict()
    assert facts.target.levels[0][1] == counts.max()


def test_copies_of_rows_are_counted():
    frame, rent = flats(50)
    double = pd.concat([frame, frame[:10]], ignore_index=True)
    y = pd.concat([rent, rent[:5], rent[:5] + 1], ignore_index=True)
    facts = data_facts(subject_of(double, y))
    assert facts.duplicates == 10
    conflicts = int((rent[:10].to_numpy() != y[50:].to_numpy()).sum())
    assert facts.conflicts == 2 * conflicts
    assert conflicts >= 5


def test_missing_values_are_equal_to_each_other():
    frame = pd.DataFrame({"a": [1.0, np.nan, np.nan, 2.0], "b": ["x", None, None, "y"]})
    facts = data_facts(subject_of(frame, [1.0, 2.0, 2.0, 3.0]))
    assert (facts.duplicates, facts.conflicts) == (1, 0)


def test_objects_have_no_columns():
    texts = ["abab", "baba", "aabb", "bbaa"] * 3
    model = SVC(kernel=Spectrum(2)).fit(texts, [0, 1, 0, 1] * 3)
    facts = data_facts(make_subject(model, texts, [0, 1, 0, 1] * 3))
    assert facts.columns == ()
    assert facts.points == "objects of type str"
    assert facts.duplicates == 8


def test_instants():
    day = datetime.datetime(2024, 2, 29, 13, 5)
    seconds = (day - datetime.datetime(1970, 1, 1)).total_seconds()
    assert date_text(seconds, 1e9) == "2024-02-29"
    assert date_text(seconds, 3600.0) == "2024-02-29 13:05"
    assert date_text(1e15) == "1e+15 s"


def test_the_hash_tells_values_apart():
    frame, rent = flats(30)
    first = hash_of(subject_of(frame, rent))
    assert first == hash_of(subject_of(frame.copy(), rent))
    assert len(first) == 64
    assert first != hash_of(subject_of(frame, rent + 1))
    assert first != hash_of(subject_of(frame.rename(columns={"area": "size"}), rent))
    assert first != hash_of(subject_of(frame.assign(area=frame["area"] + 1e-9), rent))


# --- alone --------------------------------------------------------------------------------------


def test_a_copy_of_the_target_says_all(clock):
    frame, rent = flats(300)
    frame = frame.assign(tax=0.2 * rent + 3)
    found = skills_alone(subject_of(frame, rent), clock, 0)
    assert found["tax"] > 0.98
    assert found["noise"] < 0.1
    assert 0.3 < found["area"] < 0.98
    assert "land" not in found


def test_a_code_of_the_class_says_all(clock):
    X, _, labels = rows(200)
    frame = pd.DataFrame(X, columns=list("abc")).assign(code=np.where(labels == "low", "L", "H"))
    model = make_pipeline(TableEncoder(), SVC()).fit(frame, labels)
    found = skills_alone(make_subject(model, frame, labels), clock, 0)
    assert found["code"] == 1.0
    assert found["c"] < 0.3


# --- drift --------------------------------------------------------------------------------------


def test_rows_like_those_of_the_fit_do_not_drift(clock):
    frame, rent = flats(200)
    subject = subject_of(frame[:100], rent[:100])
    some = frame[100:].assign(sold=frame["sold"][:100].to_numpy())
    found = drift_of(subject, same_kind(subject, some, None), core_of(subject), clock, 0)
    assert found.p_value > 0.05
    assert not any(one.drifts for one in found.columns)
    assert found.shared == 0
    by_name = {one.name: one for one in found.columns}
    test = ks_2samp(frame["area"][:100], frame["area"][100:])
    assert by_name["area"].shift == pytest.approx(test.statistic)


def test_rows_that_have_moved_drift(clock):
    frame, rent = flats(160)
    subject = subject_of(frame[:80], rent[:80])
    moved = frame[80:].assign(
        area=frame["area"][80:] + 60,
        town=["Paris"] * 40 + ["Bern"] * 40,
        floor=np.nan,
        sold=frame["sold"][:80].to_numpy(),
    )
    found = drift_of(subject, same_kind(subject, moved, None), core_of(subject), clock, 0)
    by_name = {one.name: one for one in found.columns}
    assert found.p_value < 0.01
    assert by_name["area"].drifts
    assert by_name["town"].drifts
    assert by_name["town"].outside == 0.5
    assert by_name["floor"].missing == pytest.approx(1 - frame["floor"][:80].isna().mean())
    assert not by_name["noise"].drifts


def test_shared_rows_are_counted(clock):
    frame, rent = flats(60)
    subject = subject_of(frame, rent)
    mixed = pd.concat([frame[:7], flats(20, seed=8)[0]], ignore_index=True)
    found = drift_of(subject, same_kind(subject, mixed, None), core_of(subject), clock, 0)
    assert (found.shared, found.rows) == (7, 27)


def test_objects_drift_by_the_kernel(clock):
    old, new = ["abab" * n for n in range(1, 31)], ["cdcd" * n for n in range(1, 31)]
    model = KernelRidge(kernel=Spectrum(2).normalized()).fit(old, np.arange(30.0))
    subject = make_subject(model, old, np.arange(30.0))
    found = drift_of(subject, same_kind(subject, new, None), core_of(subject), clock, 0)
    assert found.p_value < 0.01
    assert found.columns == ()
    assert found.shared == 0


def test_a_gram_matrix_is_not_compared(clock):
    X, y, _ = rows(30)
    K = Gaussian(0.5)(X)
    subject = make_subject(KernelRidge(kernel="precomputed").fit(K, y), K, y)
    found = drift_of(subject, same_kind(subject, K[:5], None), core_of(subject), clock, 0)
    assert (found.p_value, found.shared, found.rows) == (None, None, 5)
