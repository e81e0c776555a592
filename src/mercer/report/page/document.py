"""The page as a whole."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from string import Template

from ..facts import Facts
from ..words import count, plural
from .markup import Html, element, escaped, joined, paragraph
from .sections import SECTIONS, Section


def page_of(facts: Facts) -> str:
    """Return the page of a report."""
    sections = [one for one in (make(facts) for make in SECTIONS) if one is not None]
    folder = files(__package__)
    style = folder.joinpath("style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    template = Template(folder.joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        hash=f"sha256-{digest}",
        version=escaped(facts.provenance.versions["mercer"]),
        title=escaped(facts.title),
        style=style,
        header=_header(facts),
        contents=_contents(sections),
        sections=joined([_written(one) for one in sections], "\n"),
        footer=_footer(facts),
    )


def _written(section: Section) -> Html:
    """Return a section; one that has a headline of its own needs no other."""
    kind, name = section.kind or None, f"title-{section.key}"
    if section.key == "verdict":
        body = Html(section.body.replace("<h2>", f'<h2 id="{name}">', 1))
    else:
        body = joined([element("h2", section.title, id=name), section.body])
    return element("section", body, id=section.key, class_=kind, aria_labelledby=name)


def _header(facts: Facts) -> Html:
    data = facts.data
    size = plural(data.rows, "row" if data.columns else "point")
    if data.columns:
        size += f" × {plural(len(data.columns), 'column')}"
    words = [facts.model.name, facts.model.task, size]
    if data.target.name != "the target":
        words[1] = f"{facts.model.task} of {data.target.name}"
    if facts.is_class:
        words.append(f"{count(len(data.target.levels))} classes")
    if facts.provenance.source:
        words.append(facts.provenance.source)
    return joined(
        [
            paragraph("Model report", class_="eyebrow"),
            element("h1", facts.title),
            paragraph(" · ".join(words), class_="line"),
        ]
    )


def _contents(sections: list[Section]) -> Html:
    links = [element("li", element("a", one.title, href=f"#{one.key}")) for one in sections]
    return element("ol", *links)


def _footer(facts: Facts) -> Html:
    version = facts.provenance.versions["mercer"]
    return paragraph(
        f"Made by mercer {version}. The page is one file: it loads nothing and runs no script."
    )
