"""The page in a real browser: silent, by itself, within its width, readable in light and dark."""

import shutil
import time

import pytest

CHROMIUM = shutil.which("chromium")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# The colours of texts and of what is behind them, wherever there are words.
COLOURS = """() => {
  const found = [];
  const parsed = text => (text.match(/[\\d.]+/g) || []).map(Number);
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    const box = node.getBoundingClientRect();
    if (!own || node.closest("svg") || node.matches(".skip") || !box.width) continue;
    let behind = null;
    for (let at = node; at && !behind; at = at.parentElement) {
      const colour = parsed(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) behind = colour;
    }
    found.push([node.tagName + "." + node.className, parsed(getComputedStyle(node).color), behind]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module", params=["automatic", "classes"])
def path(request, tmp_path_factory):
    report = request.getfixturevalue(request.param)[3]
    page, _ = report.save(tmp_path_factory.mktemp("page") / "page.html")
    return page


def opened(browser, path, scheme="light", width=1280, height=900):
    """The page with all that it said and asked for."""
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(path.as_uri())
    return page


def test_the_page_says_nothing_and_asks_for_nothing(browser, path, record_property):
    start = time.monotonic()
    page = opened(browser, path)
    record_property("seconds", time.monotonic() - start)
    assert page.said == []
    assert page.asked == [path.as_uri()]
    assert page.evaluate("document.styleSheets[0].cssRules.length") > 50  # the policy allows it


@pytest.mark.parametrize("width", [320, 360, 768, 1280, 1900])
def test_the_page_does_not_scroll_sideways(browser, path, width):
    page = opened(browser, path, width=width)
    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def luminance(colour):
    parts = [part / 255 for part in colour[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(browser, path, scheme):
    page = opened(browser, path, scheme=scheme)
    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
    found = page.evaluate(COLOURS)
    assert len(found) > 100
    weak = {
        (name, tuple(text), tuple(ground))
        for name, text, ground in found
        if contrast(text, ground) < 4.5
    }
    assert weak == set()
    body = page.evaluate("getComputedStyle(document.body).backgroundColor")
    is_dark = luminance([float(part) for part in body[4:-1].split(",")]) < 0.2
    assert is_dark == (scheme == "dark")


def test_pictures_follow_the_scheme(browser, path):
    shades = []
    for scheme in ("light", "dark"):
        page = opened(browser, path, scheme=scheme)
        colour = page.evaluate("getComputedStyle(document.querySelector('.picture text')).fill")
        shades.append(luminance([float(part) for part in colour[4:-1].split(",")]))
    assert shades[0] < 0.1
    assert shades[1] > 0.6


def test_keys_reach_the_report(browser, path):
    page = opened(browser, path)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_the_page_prints_in_black_on_white(browser, path):
    page = opened(browser, path, scheme="dark")
    page.emulate_media(media="print")
    for selector in ("body", "main > section"):
        node = page.query_selector(selector)
        ground = node.evaluate("one => getComputedStyle(one).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.contents')).display") == "none"
    assert page.pdf(prefer_css_page_size=True)[:5] == b"%PDF-"
