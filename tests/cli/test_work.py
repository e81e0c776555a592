"""Small parts of the command line: the rule for tasks, names of files, numbers on the screen."""

import numpy as np
import pytest

from mercer.cli.errors import CommandError
from mercer.cli.learn.search import few
from mercer.cli.learn.tasks import decide_task
from mercer.cli.learn.wishes import Wish, splits_of
from mercer.cli.options import PairType, TimeType
from mercer.cli.outputs import default_name
from mercer.cli.screen import Screen, plain
from mercer.cli.show.parts import figure, rounded, seconds, with_error


def decide(y, asked="auto"):
    return decide_task(np.array(y), "y", asked, "test")


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (["a", "b"] * 5, "classification"),
        ([True, False] * 5, "classification"),
        ([0, 1] * 5, "classification"),
        ([0.0, 1.0] * 5, "classification"),
        (list(range(10)) * 5, "classification"),
        (list(range(10)) * 4, "regression"),  # fewer than five rows each
        (list(range(11)) * 9, "regression"),
        ([0.5, 1.0] * 50, "regression"),
    ],
)
def test_the_rule_for_tasks(y, kind):
    assert decide(y).kind == kind


def test_classes_are_labels_and_numbers_are_floats():
    assert decide([1.0, 2.0] * 5).y.dtype == np.int64
    assert decide(list(range(40))).y.dtype == np.float64
    assert decide([1, 2] * 5, "regression").y.dtype == np.float64
    assert decide(np.array(["a", "b"] * 5, dtype=object)).y.dtype.kind == "U"
    assert decide([0.5, 1.5] * 9, "classification").y.tolist()[:2] == [0.5, 1.5]


def test_a_target_without_a_choice_is_refused():
    with pytest.raises(CommandError, match="at least two different values; got 1 in every row"):
        decide([1, 1, 1])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("60", 60.0), ("90s", 90.0), ("1.5m", 90.0), ("2 min", 120.0), ("1h", 3600.0), (7, 7.0)],
)
def test_times(text, wanted):
    assert TimeType().convert(text, None, None) == wanted


def test_pairs_may_have_equals_in_their_names():
    assert PairType("KIND").convert("a=b=number", None, None) == ("a=b", "number")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("-", "model.mercer"),
        ("folder/sales.csv.gz", "sales.mercer"),
        ("TOY/", "TOY.mercer"),
        (".hidden", "hidden.mercer"),
    ],
)
def test_names_of_files(source, wanted):
    assert default_name(source, ".mercer") == wanted


def test_numbers_on_the_screen():
    assert [figure(value) for value in (0.0, 0.01234567, 12.3456, 98765.4, 1e9, 1e-9)] == [
        "0.000",
        "0.01235",
        "12.35",
        "98,765",
        "1.000e+09",
        "1.000e-09",
    ]
    assert figure(float("nan")) == "–"
    assert with_error(0.93123, 0.0123) == "0.931 ± 0.012"
    assert with_error(1234.5, 56.7) == "1,234 ± 57"
    assert with_error(1.0, 0.0) == "1.000 ± 0"
    assert with_error(0.5, None) == "0.5000"
    assert (seconds(7.25), seconds(125.0)) == ("7.2 s", "2 min 05 s")
    assert rounded("Gaussian(gamma=0.123456789) + 2.5e-07*Linear()") == (
        "Gaussian(gamma=0.1235) + 2.5e-07*Linear()"
    )


def test_json_has_no_numbers_that_json_lacks():
    given = {"a": np.array([1.0, np.nan]), "b": (np.int64(3), float("inf")), 3: KeyError}
    assert plain(given) == {"a": [1.0, None], "b": [3, None], "3": "<class 'KeyError'>"}


def test_who_is_judged_by_whom():
    wish = Wish(model="svc", kind="classification", points="table")
    y = np.array([0, 1] * 10)
    assert splits_of(wish, 20, y, None) is None
    groups = np.repeat(np.arange(5), 4)
    for train, test in splits_of(wish, 20, y, groups):
        assert not set(groups[train]) & set(groups[test])
    by_time = Wish(model="svc", kind="classification", points="table", by_time=True)
    [(train, test)] = splits_of(by_time, 20, y, None)
    assert (train.tolist(), test.tolist()) == (list(range(16)), list(range(16, 20)))


def test_few_candidates_arefew():
    space = {"C": [1, 2, 3, 4], "kernel": ["a", "b", "c"]}
    assert few(space, 2) == {"C": [1, 2], "kernel": ["a"]}
    assert few(space, 1) == {"C": [1], "kernel": ["a"]}
    assert few(space, None) is space


def test_a_warning_is_told_once(capsys):
    screen = Screen()
    screen.warn("mind this")
    screen.warn("mind this")
    assert capsys.readouterr().err == "warning: mind this\n"
    assert screen.warnings == ["mind this"]
