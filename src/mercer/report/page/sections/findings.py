"""What to mind."""

from __future__ import annotations

from ...facts import Facts
from ...findings.record import SEVERITIES, Finding
from ...findings.rules import RULES
from ...words import count
from ..markup import Html, element, folded, items, paragraph
from .base import Section

WORDS = {"high": "high", "medium": "medium", "low": "low"}


def findings_section(facts: Facts) -> Section:
    """Return the findings, the gravest first."""
    found = facts.findings
    parts: list[Html] = []
    if found:
        chips = []
        for severity in SEVERITIES:
            number = sum(one.severity == severity for one in found)
            if number:
                text = f"{number} {WORDS[severity]}"
                chips.append(element("li", element("span", text, class_=f"chip {severity}")))
        parts.append(element("ul", *chips, class_="counts"))
        parts += [_card(one) for one in found]
    else:
        parts.append(paragraph(f"None of {count(len(RULES))} checks has found anything to mind."))
    parts.append(_silent(facts))
    return Section(key="findings", title="What to mind", body=Html("".join(parts)))


def _card(one: Finding) -> Html:
    head = element(
        "h3",
        element("span", WORDS[one.severity], class_="chip"),
        element("span", one.title),
        element("span", one.code, class_="tag"),
    )
    return element(
        "article",
        head,
        paragraph(one.found),
        paragraph(one.advice, class_="do"),
        class_=f"finding {one.severity}",
        id=f"finding-{one.code}",
    )


def _silent(facts: Facts) -> Html:
    """Return the checks that have found nothing, or could not be made."""
    codes = {one.code for one in facts.findings}
    texts = [(rule.__doc__ or "").strip() for rule in RULES]
    quiet = sorted(text for text in texts if text.partition(":")[0] not in codes)
    if not quiet:
        return Html("")
    return folded(f"{count(len(quiet))} checks without a finding", items(quiet))
