"""Reports of all kinds of models, their files and their JSON twin."""

import json
import math
import os
import stat

import numpy as np
import pytest
from estimators import CLASSIFIERS, QUICK, REGRESSORS
from html_reading import Page
from report_samples import flats, rows
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import make_pipeline

from mercer import SVC, KernelPCA, KernelRidge, TableEncoder
from mercer.checks import FileError, InputError
from mercer.kernels import Gaussian, Graph, Linear, Spectrum, WeisfeilerLehman
from mercer.models.adaptive.base import KernelLearner
from mercer.report import make_report

X, Y, LABELS = rows(60)
KINDS = [
    kind for kind in dict.fromkeys(CLASSIFIERS + REGRESSORS)
    if is_classifier(kind()) or is_regressor(kind())
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_estimator_has_a_report(kind):
    options = QUICK.get(kind, {})
    if issubclass(kind, KernelLearner):
        options = {"kernels": [Linear(), Gaussian(1.0)]}
    y = LABELS if is_classifier(kind()) else Y
    model = kind(**options).fit(X, y)
    report = make_report(model, X, y, time_limit=None)
    assert report.verdict is not None
    assert report.facts.kernel.text
    assert json.loads(report.json())["model"]["name"] == kind.__name__


def test_strings_are_reported_without_columns():
    random = np.random.default_rng(0)
    texts = ["".join(random.choice(list("acgt"), 12)) for _ in range(40)]
    y = np.array(["yes" if "ac" in text else "no" for text in texts])
    model = SVC(kernel=Spectrum(2).normalized()).fit(texts, y)
    report = make_report(model, texts, y, X_test=texts[:10], y_test=y[:10], time_limit=None)
    left_out = {one.part for one in report.facts.left_out}
    assert "which columns matter" in left_out
    words = Page(report.html()).words
    assert "objects of type str" in words
    assert "not rows of a table" in words
    assert repr(texts[report.facts.influence.points[0].row]) in words
    assert report.facts.drift.shared == 10


def test_graphs_are_reported():
    graphs = [Graph(n_nodes=n, edges=[(i, i + 1) for i in range(n - 1)]) for n in range(3, 23)]
    y = np.arange(20.0)
    model = KernelRidge(kernel=WeisfeilerLehman(2)).fit(graphs, y)
    report = make_report(model, graphs, y, time_limit=None)
    assert report.facts.data.points == "objects of type Graph"
    Page(report.html())


def test_a_precomputed_matrix_is_reported():
    K = Gaussian(0.5)(X)
    report = make_report(SVC(kernel="precomputed").fit(K, LABELS), K, LABELS, time_limit=None)
    assert report.facts.judgement.rows == 60
    assert report.facts.data.points == "points known by their kernel values"
    Page(report.html())


def test_several_outputs_are_judged_together():
    both = np.column_stack([Y, -3 * Y])
    report = make_report(KernelRidge(0.1).fit(X, both), X, both, time_limit=None)
    assert report.facts.data.outputs == 2
    assert report.facts.judgement.score("R²").value > 0
    assert "the first of 2 outputs" in Page(report.html()).words


def test_a_pipeline_with_an_encoder_is_reported():
    frame, rent = flats(80)
    model = make_pipeline(TableEncoder(), KernelRidge(0.1)).fit(frame, rent)
    report = make_report(model, frame, rent, time_limit=None)
    assert report.title == "Pipeline for rent"
    assert report.facts.kernel.of == "the last step of the pipeline"
    assert {one.name for one in report.facts.data.columns} == set(frame.columns)
    assert report.facts.relevances.columns[0].name == "area"


def test_groups_stay_together():
    groups = np.arange(60) // 6
    report = make_report(KernelRidge(0.1).fit(X, Y), X, Y, groups=groups, time_limit=None)
    alone = make_report(KernelRidge(0.1).fit(X, Y), X, Y, time_limit=None)
    assert report.facts.judgement.scores[0].value != alone.facts.judgement.scores[0].value


# --- limits and bad input -----------------------------------------------------------------------


def test_without_time_the_page_says_what_is_left_out():
    report = make_report(KernelRidge(0.1).fit(X, Y), X, Y, time_limit=1e-6)
    parts = {one.part for one in report.facts.left_out}
    assert {"the learning curve", "the validation curve", "which columns matter"} <= parts | {
        "which columns matter"
    }
    assert report.verdict is None
    words = Page(report.html()).words
    assert "No verdict" in words
    assert "There was no time for it" in words
    json.loads(report.json())


def test_progress_goes_from_nothing_to_all():
    told = []
    make_report(
        KernelRidge(0.1).fit(X, Y), X, Y, time_limit=None, progress=lambda *one: told.append(one)
    )
    shares = [share for _, share in told]
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
    assert "the learning curve" in [what for what, _ in told]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"y_test": Y}, "y_test must come with X_test"),
        ({"time_limit": -1.0}, "time_limit must be a finite number above 0"),
        ({"random_state": -1}, "random_state must be a whole number at least 0"),
        ({"groups": [1]}, "groups must have one entry for each of the 60 points"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        make_report(KernelRidge().fit(X, Y), X, Y, **options)


def test_a_model_that_does_not_predict_is_refused():
    with pytest.raises(InputError, match="model must be a fitted classifier or regressor"):
        make_report(KernelPCA().fit(X), X, Y)


# --- the twin -----------------------------------------------------------------------------------


def numbers_of(value):
    """All numbers of a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for one in value for number in numbers_of(one)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def refuse(word):
    raise AssertionError(f"{word} is no JSON")


def test_the_twin_is_strict_and_has_the_numbers(automatic, classes):
    for report in (automatic[3], classes[3]):
        found = json.loads(report.json(), parse_constant=refuse)
        facts = report.facts
        assert (found["format"], found["version"]) == ("mercer-report", 1)
        assert found["title"] == facts.title
        assert found["verdict"]["headline"] == facts.verdict.headline
        first = facts.judgement.scores[0]
        assert found["judgements"][0]["scores"][0]["value"] == first.value
        assert [one["code"] for one in found["findings"]] == [one.code for one in facts.findings]
        assert found["gram"]["eigenvalues"] == list(facts.gram.eigenvalues)
        assert "K" not in found["gram"]
        assert found["learning_curve"]["sizes"] == list(facts.learning_curve.sizes)
        assert found["provenance"]["versions"]["mercer"]
        assert all(math.isfinite(number) for number in numbers_of(found))


def test_the_fields_of_the_twin_are_those_of_the_manual(automatic):
    from pathlib import Path

    manual = (Path(__file__).parents[2] / "docs" / "report.md").read_text()
    for name in json.loads(automatic[3].json()):
        assert f"| `{name}` |" in manual, name


# --- files --------------------------------------------------------------------------------------


def test_files_are_written_beside_each_other(ridge, tmp_path):
    report = ridge[3]
    page, twin = report.save(tmp_path / "my report.html")
    assert page.read_text(encoding="utf-8") == report.html()
    assert twin.read_text(encoding="utf-8") == report.json()
    assert twin.name == "my report.json"
    assert sorted(os.listdir(tmp_path)) == ["my report.html", "my report.json"]


@pytest.mark.parametrize("name", ["page.html", "page.json"])
def test_a_file_that_is_there_is_kept(ridge, tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(FileError, match="no file may be there yet"):
        ridge[3].save(tmp_path / "page.html")
    assert (tmp_path / name).read_text() == "mine"
    assert os.listdir(tmp_path) == [name]
    ridge[3].save(tmp_path / "page.html", force=True)
    assert (tmp_path / name).read_text() != "mine"


def test_names_that_cannot_be_written_are_refused(ridge, tmp_path):
    with pytest.raises(InputError, match="another ending than its twin"):
        ridge[3].save(tmp_path / "page.json")
    with pytest.raises(FileError, match="the folder must exist"):
        ridge[3].save(tmp_path / "nowhere" / "page.html")


def test_a_page_is_readable_by_others_as_the_umask_says(ridge, tmp_path):
    page, _ = ridge[3].save(tmp_path / "page.html")
    before = os.umask(0o022)
    os.umask(before)
    assert stat.S_IMODE(page.stat().st_mode) == 0o666 & ~before


def test_many_columns_make_no_long_page():
    random = np.random.default_rng(0)
    wide = random.normal(size=(40, 260))
    model = KernelRidge(1.0, kernel=Linear()).fit(wide, wide[:, 0])
    report = make_report(model, wide, wide[:, 0], time_limit=3.0)
    words = Page(report.html()).words
    assert "160 more columns" in words
    assert "60 further columns are in the JSON file only" in words
    assert len(json.loads(report.json())["data"]["columns"]) == 260
