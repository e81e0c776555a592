"""What a finding is."""

from __future__ import annotations

from dataclasses import dataclass

HIGH, MEDIUM, LOW = "high", "medium", "low"
SEVERITIES = (HIGH, MEDIUM, LOW)

Number = float | int | str | None


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that a reader should mind.

    Attributes
    ----------
    code : str
        Its code, such as "M001"; the manual explains each.
    severity : str
        "high": do not use the model before this is settled; "medium": it costs quality or trust;
        "low": good to know.
    title : str
        What it is, in a few words.
    found : str
        What was found, in a sentence with numbers.
    advice : str
        What to do, in a sentence.
    numbers : dict
        The numbers of the sentence, by name.
    """

    code: str
    severity: str
    title: str
    found: str
    advice: str
    numbers: dict[str, Number]
