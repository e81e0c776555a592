"""The page: well-formed, labelled, escaped, strict, the same each time."""

import base64
import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from html_reading import Page

from mercer import AutoKernelClassifier
from mercer.plots import SpectrumDisplay
from mercer.report import make_report
from mercer.report.page.markup import Html, element, escaped, joined, table
from mercer.report.page.pictures import svg_of, word, words
from mercer.report.page.small import histogram, meter, whisker

EVIL = '<script>alert("x")</script>&\'"$title $\\frac$ 中文\x00\x1b'


@pytest.fixture(scope="session", params=["automatic", "classes", "ridge"])
def page(request):
    return request.getfixturevalue(request.param)[3].html()


# --- markup -------------------------------------------------------------------------------------


def test_texts_are_escaped_and_html_is_not():
    assert escaped("a < b & 'c'") == "a &lt; b &amp; &#x27;c&#x27;"
    assert escaped(Html("<b>")) == "<b>"
    assert joined(["<", Html("<br>")], " ") == "&lt; <br>"
    assert escaped("\x00\ud800") == "\ufffd\ufffd"


def test_elements():
    assert element("p", "<", class_="a", id=None, hidden=True, aria_label='"') == (
        '<p class="a" hidden aria-label="&quot;">&lt;</p>'
    )
    assert element("br") == "<br>"


def test_units_stay_with_their_numbers():
    assert escaped("95 % in 3 s, 4 MB") == "95\u00a0% in 3\u00a0s, 4\u00a0MB"


def test_tables_have_headers_with_a_scope():
    page = Page(table(["a", "b"], [["x", "1"], ["y", "2"]], label="all", numbers=(1,)))
    scopes = [one["scope"] for one in page.all("th")]
    assert scopes == ["col", "col", "row", "row"]
    assert page.all("div")[0]["tabindex"] == "0"  # a box that scrolls is reached by keys
    assert [one.get("class") for one in page.all("td")] == ["number", "number"]


def test_small_drawings():
    bars = Page(histogram([2, 0, 4], "few")).all("rect")
    assert [one["height"] for one in bars] == ["12.0", "0.0", "24.0"]
    assert histogram([], "none") == ""
    inside = Page(whisker(0.5, 0.25, 0.75, (0.0, 1.0), True))
    assert inside.all("circle")[0]["cx"] == "100.0"
    reach = inside.all("line")[1]
    assert (reach["x1"], reach["x2"]) == ("53.0", "147.0")
    assert inside.all("svg")[0]["aria-label"] == "0.5, 95\u00a0% interval 0.25 to 0.75"
    beyond = Page(whisker(9.0, None, None, (0.0, 1.0), False)).all("circle")[0]
    assert (beyond["cx"], beyond["class"]) == ("194.0", "beyond")
    assert Page(meter(0.5, "half")).all("rect")[1]["width"] == "30.0"


# --- pictures -----------------------------------------------------------------------------------


def test_pictures_take_the_colour_of_the_text_and_have_no_styles():
    display = SpectrumDisplay(eigenvalues=np.array([1.0, 0.1, 0.01]), alpha=0.1)
    drawn = svg_of(display, "key", "A <spectrum>", (4.0, 3.0))
    page = Page(drawn)
    assert page.all("svg")[0]["aria-label"] == "A <spectrum>"
    assert "#222222" not in drawn
    assert "currentColor" in drawn
    assert not any("style" in attributes for _, attributes, _ in page.elements)
    assert "metadata" not in drawn
    assert "DejaVu" not in drawn
    assert "number of directions" in page.words  # text is text
    assert all(one["id"].startswith("key-") for _, one, _ in page.elements if "id" in one)
    for reference in re.findall(r"url\(#([^)]*)\)", drawn):
        assert f'id="{reference}"' in drawn
    for _, attributes, _ in page.elements:
        if attributes.get("href", "").startswith("#"):
            assert f'id="{attributes["href"][1:]}"' in drawn
    assert drawn == svg_of(display, "key", "A <spectrum>", (4.0, 3.0))


def test_labels_are_no_formulas_and_stay_different():
    assert word("a $x^2$ b") == r"a \$x^2\$ b"
    assert word("two\nlines\x00") == "two lines\ufffd"
    assert word("x" * 30, 5) == "xxxx…"
    assert words(["abcdef", "abcdeg", "b"], 4) == ["abc…", "abc… (2)", "b"]


def test_settings_of_matplotlib_stay_as_they_are():
    import matplotlib

    before = dict(matplotlib.rcParams)
    svg_of(SpectrumDisplay(eigenvalues=np.array([1.0, 0.5])), "k", "it", (3.0, 2.0))
    assert dict(matplotlib.rcParams) == before


# --- the whole page -----------------------------------------------------------------------------


def test_the_page_is_well_formed(page):
    found = Page(page)
    ids = [one["id"] for _, one, _ in found.elements if "id" in one]
    assert len(ids) == len(set(ids))
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    steps = np.diff(found.headings)
    assert steps.max() <= 1
    links = [one["href"] for one in found.all("a")]
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)


def test_the_page_is_accessible(page):
    found = Page(page)
    assert found.all("html")[0]["lang"] == "en"
    for landmark in ("header", "nav", "main", "footer"):
        assert len(found.all(landmark)) == 1
    for one in found.all("svg"):
        assert one["role"] == "img"
        assert one["aria-label"].strip()
    figures = found.all("figure")
    assert len(figures) == len(found.all("figcaption")) >= 4
    assert all("scope" in one for one in found.all("th"))
    for one in found.all("section"):
        assert any(other.get("id") == one["aria-labelledby"] for other in found.all("h2"))
    assert found.all("nav")[0]["aria-label"] == "Contents"


def test_the_page_is_strict(page):
    found = Page(page)
    assert found.all("script", "iframe", "object", "embed", "form", "img") == []
    for tag, attributes, _ in found.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes), tag
    policy = next(one["content"] for one in found.all("meta") if "http-equiv" in one)
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)
    assert "http" not in page.replace("http-equiv", "")
    assert "@import" not in style
    assert "url(" not in style


def test_the_page_is_small(page):
    assert len(page.encode()) < 2_000_000


def test_the_order_of_the_page(automatic):
    page = Page(automatic[3].html())
    sections = [one["id"] for one in page.all("section")]
    assert sections == [
        "verdict",
        "findings",
        "data",
        "model",
        "curves",
        "errors",
        "influence",
        "gram",
        "columns",
        "origin",
    ]
    contents = [one["href"] for one in page.all("a")[1:]]
    assert contents == [f"#{key}" for key in sections]


def test_numbers_of_the_facts_are_on_the_page(automatic, classes):
    facts = automatic[3].facts
    words = " ".join(Page(automatic[3].html()).words.split()).replace("\u00a0", " ")
    assert facts.verdict.headline in words
    for text in facts.verdict.sentences:
        assert " ".join(text.split()) in words
    for one in facts.findings:
        assert one.code in words
        assert one.found in words
        assert one.advice in words
    assert facts.provenance.sha256 in words
    assert "flats.csv" in words
    assert f"mercer {facts.provenance.versions['mercer']}" in words
    for line in facts.leaderboard.lines:
        assert line.name in words
    for column in facts.data.columns:
        assert column.name in words
    assert "Test rows against training rows" in Page(classes[3].html()).words


def test_the_same_facts_make_the_same_page(ridge):
    model, X, y, report = ridge
    again = make_report(model, X, y, time_limit=None)
    assert again.json() == report.json()
    assert again.html() == report.html() == report.html()


def test_what_users_write_is_escaped():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            EVIL: random.normal(size=60),
            "<b>bold</b>": random.choice([EVIL, "<i>", "</td>"], 60),
            "plain": random.normal(size=60),
        }
    )
    y = pd.Series(np.where(frame[EVIL] > 0, EVIL, "</main>"), name="<u>target</u>")
    model = AutoKernelClassifier(max_candidates=3, random_state=0).fit(frame, y)
    report = make_report(
        model,
        frame,
        y,
        title=EVIL,
        source=EVIL,
        command=EVIL,
        sha256=EVIL,
        X_test=frame[:20],
        y_test=y[:20],
        time_limit=None,
    )
    page = report.html()
    found = Page(page)  # well-formed in spite of all
    assert found.all("script", "b", "i", "u") == []
    assert "<script>" in found.words
    assert "<b>bold</b>" in found.words
    assert "\x00" not in page
    assert "\x1b" not in page
    assert "<script>" in report.json()
