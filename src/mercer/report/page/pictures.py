"""From a display to a picture that is part of the page: inline SVG with text as text."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from xml.etree import ElementTree

from ...plots import Display
from ...plots.style import INK, require_matplotlib
from .markup import Html, element, escaped, visible

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "mercer",  # names of parts are the same each time
    "font.size": 9.5,
    "axes.labelsize": 9.5,
    "axes.titlesize": 10,
    "legend.fontsize": 9,
    "savefig.facecolor": "none",
    "mathtext.fontset": "dejavusans",
}
WIDTH, HEIGHT = 4.3, 3.1  # inches
FINE = 160  # dots per inch of what is drawn as dots
_REFERENCE = re.compile(r"url\(#([^)]*)\)")


def figure(
    display: Display,
    key: str,
    caption: str,
    *,
    label: str,
    size: tuple[float, float] = (WIDTH, HEIGHT),
) -> Html:
    """Return a picture with its caption; label: what it shows, for those who do not see it.

    key: a word that no other picture of the page has.
    """
    drawn = element("div", svg_of(display, key, label, size), class_="frame")
    return element("figure", drawn, element("figcaption", caption), class_="picture")


def word(text: str, most: int = 24) -> str:
    """Return a text of the user as a label: cut, in one line, and never taken for a formula."""
    line = " ".join(visible(text).split())
    short = line if len(line) <= most else line[: most - 1] + "…"
    return short.replace("$", r"\$")


def words(texts: Sequence[str], most: int = 16) -> list[str]:
    """Return labels that stay different when they are cut."""
    found: list[str] = []
    for text in texts:
        label = word(text, most)
        again = found.count(label)
        found.append(f"{label} ({again + 1})" if again else label)
    return found


def svg_of(display: Display, key: str, label: str, size: tuple[float, float]) -> Html:
    """Return a display as an SVG element that takes the colour of the text around it."""
    root = ElementTree.fromstring(_drawn(display, size))
    for parent in list(root.iter()):
        for child in list(parent):
            if _name(child) in ("metadata", "style", "title"):
                parent.remove(child)
        _settle(parent, key)
    view = root.get("viewBox", "0 0 100 100")
    root.attrib.clear()
    return Html(
        f'<svg viewBox="{escaped(view)}" role="img" aria-label="{escaped(label)}">'
        f"{''.join(_written(child) for child in root)}</svg>"
    )


def _drawn(display: Display, size: tuple[float, float]) -> bytes:
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    with rc_context(SETTINGS), warnings.catch_warnings():  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", "Glyph")  # the reader's fonts may have what ours lack
        canvas = Figure(figsize=size, layout="constrained", facecolor="none")
        display.plot(canvas.add_subplot(facecolor="none"))
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        canvas.savefig(stream, format="svg", dpi=FINE, metadata=nothing)
    return stream.getvalue()


def _name(node: ElementTree.Element) -> str:
    return node.tag.rpartition("}")[2]


def _settle(node: ElementTree.Element, key: str) -> None:
    """Turn styles into attributes, which a strict page allows, and make names the page's own."""
    for part in node.attrib.pop("style", "").split(";"):
        name, _, value = part.partition(":")
        if value:
            _set_style(node, name.strip(), value.strip())
    for name in list(node.attrib):
        value = node.attrib[name].replace(INK, "currentColor")
        if name == "id":
            value = f"{key}-{value}"
        elif name == f"{{{LINK}}}href":
            del node.attrib[name]
            name, value = "href", f"#{key}-{value[1:]}" if value.startswith("#") else value
        node.attrib[name] = _REFERENCE.sub(lambda found: f"url(#{key}-{found[1]})", value)


def _set_style(node: ElementTree.Element, name: str, value: str) -> None:
    if name == "font":  # such as "bold 10px 'DejaVu Sans'": the family is that of the page
        size = re.search(r"[\d.]+px", value)
        if size is not None:
            node.set("font-size", size[0])
        if "italic" in value:
            node.set("font-style", "italic")
        if "bold" in value:
            node.set("font-weight", "bold")
    elif name not in ("font-family", "image-rendering", "-inkscape-font-specification"):
        node.set(name, value)


def _written(node: ElementTree.Element) -> str:
    """Return an element as text of HTML, in which SVG has no prefixes."""
    attributes = "".join(
        f' {name.rpartition("}")[2]}="{escaped(value)}"' for name, value in node.attrib.items()
    )
    inside = escaped(node.text.strip() if node.text and len(node) else node.text or "")
    children = "".join(_written(child) + escaped((child.tail or "").strip()) for child in node)
    name = _name(node)
    return f"<{name}{attributes}>{inside}{children}</{name}>"
