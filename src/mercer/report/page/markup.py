"""HTML without a way to forget escaping: texts are escaped unless they are HTML already."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

# What HTML does not allow in a text, whatever way it is written.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_UNIT = re.compile(r"(?<=\d) (?=(?:%|s\b|min\b|kB\b|MB\b|GB\b))")  # stays with its number
_EMPTY = {"br", "hr", "img", "meta", "link"}


class Html(str):
    """A text that is HTML."""

    __slots__ = ()


def visible(text: str) -> str:
    """Return a text without characters that no page may have."""
    return _FORBIDDEN.sub("\ufffd", text)


def escaped(text: str) -> Html:
    """Return a text as HTML."""
    if isinstance(text, Html):
        return text
    safe = html.escape(visible(str(text)), quote=True)
    return Html(_UNIT.sub("\u00a0", safe))


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Return parts one after another; those that are no HTML are escaped."""
    return Html(escaped(between).join(escaped(part) for part in parts))


def element(name: str, *children: str, **attributes: str | int | float | bool | None) -> Html:
    """Return an element; attributes have _ for -, and one at the end where Python has the word.

    An attribute that is None or False is left out; one that is True has no value.
    """
    texts = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.removesuffix("_").replace("_", "-")
        texts.append(f" {word}" if value is True else f' {word}="{escaped(str(value))}"')
    start = f"<{name}{''.join(texts)}>"
    if name in _EMPTY:
        return Html(start)
    return Html(f"{start}{joined(children)}</{name}>")


def paragraph(*children: str, class_: str | None = None) -> Html:
    """Return a paragraph."""
    return element("p", *children, class_=class_)


def items(texts: Sequence[str], class_: str | None = None) -> Html:
    """Return a list; nothing where it is empty."""
    if not texts:
        return Html("")
    return element("ul", *(element("li", text) for text in texts), class_=class_)


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    label: str,
    numbers: Sequence[int] = (),
    class_: str = "",
) -> Html:
    """Return a table in a box that scrolls by itself; numbers: columns that stand on the right.

    The first column names the rows.
    """

    def kind(place: int) -> str | None:
        return "number" if place in numbers else None

    top = element(
        "thead",
        element(
            "tr",
            *(
                element("th", text, scope="col", class_=kind(place))
                for place, text in enumerate(head)
            ),
        ),
    )
    lines = [
        element(
            "tr",
            *(
                element("th", text, scope="row", class_=kind(place))
                if place == 0
                else element("td", text, class_=kind(place))
                for place, text in enumerate(row)
            ),
        )
        for row in rows
    ]
    inner = element("table", top, element("tbody", *lines), class_=class_ or None)
    return element("div", inner, class_="scroll", role="region", aria_label=label, tabindex=0)


def folded(summary: str, *children: str) -> Html:
    """Return something that opens when it is asked for."""
    return element("details", element("summary", summary), *children)


def definitions(pairs: Sequence[tuple[str, str]]) -> Html:
    """Return terms with what they are; those without are left out."""
    lines = [
        element("div", element("dt", term), element("dd", text)) for term, text in pairs if text
    ]
    return element("dl", *lines)
