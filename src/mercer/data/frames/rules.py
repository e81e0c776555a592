"""How the texts of a column become numbers, truth values or dates: a rule, found once and kept.

The rules are those by which `TableEncoder` guesses what a column is, so that a table means the same
whether it comes from a file or as a data frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...tables.encoder.columns import BOOLEAN, CATEGORY, DATE, NUMBER, TEXT
from ...tables.encoder.columns.kinds import MOST_STRAYS, NEARLY_ALL
from ...tables.encoder.columns.reading import is_date
from ..dataset import MOST_LEVELS

if TYPE_CHECKING:
    import polars

CODE = r"^[+-]?0\d"  # such as of a post office
COMMA = r"^[+-]?\d+,\d+$"
THOUSANDS = r"^[+-]?\d{1,3},\d{3}$"
SLASHED = r"^\d{1,2}/\d{1,2}/\d{2,4}$"
TRUTHS = {"true": True, "false": False, "1": True, "0": False}
_DAY = r"^\d{4}-\d\d-\d\d$"
_DOTTED = r"^\d{1,2}\.\d{1,2}\.\d{4}$"
_MOMENT = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?$"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What the texts of a column are read as.

    form: "number", "boolean", "date", "category" or "text". has_commas: of numbers with a comma
    before their decimals. thousands: what may stand between every three digits of numbers.
    pattern: of dates, how they are written.
    """

    form: str
    has_commas: bool = False
    thousands: str = ""
    pattern: str = _DAY


def find_rule(texts: polars.Series, reads_commas: bool) -> Rule | None:
    """Return the rule for texts, none of which is empty; None: all are missing."""
    known = texts.drop_nulls()
    if len(known) == 0:
        return None
    numbers = numbers_of(known)
    if numbers.null_count() == 0:
        return Rule(form=CATEGORY if has_codes(known) else NUMBER)
    if known.str.to_lowercase().is_in(["true", "false"]).all():
        return Rule(form=BOOLEAN)
    for pattern in (_DAY, _DOTTED, _MOMENT):
        rule = Rule(form=DATE, pattern=pattern)
        if known.str.contains(pattern).all() and apply(rule, known).null_count() == 0:
            return rule
    if reads_commas and _has_decimal_commas(known, numbers):
        return Rule(form=NUMBER, has_commas=True)
    for mark in (",", "."):
        if _are_grouped(known, mark):
            return Rule(form=NUMBER, has_commas=mark == ".", thousands=mark)
    return Rule(form=NUMBER if are_strays(known, numbers) else TEXT)


def told_rule(form: str, texts: polars.Series, reads_commas: bool) -> Rule:
    """Return the rule for texts of a type that the user says."""
    found = find_rule(texts, reads_commas)
    if found is not None and found.form == form:
        return found
    known = texts.drop_nulls()
    if form == DATE and all(map(is_date, known.unique())):
        return Rule(form=TEXT)  # such as with a time zone, which the encoder itself reads
    others = known.filter(numbers_of(known).is_null())
    has_commas = reads_commas and len(others) > 0 and bool(others.str.contains(COMMA).all())
    return Rule(form=form, has_commas=form == NUMBER and has_commas)


def apply(rule: Rule, texts: polars.Series) -> polars.Series:
    """Return what texts mean by a rule, with nothing for those that mean nothing by it."""
    import polars

    if rule.form == NUMBER:
        plain = _ungrouped(texts, rule.thousands) if rule.thousands else texts
        return numbers_of(plain.str.replace(",", ".", literal=True) if rule.has_commas else plain)
    if rule.form == BOOLEAN:
        lower = texts.str.to_lowercase()
        return lower.replace_strict(TRUTHS, default=None, return_dtype=polars.Boolean)
    if rule.form == DATE:
        return _dates(rule.pattern, texts)
    return texts.cast(polars.Categorical) if rule.form == CATEGORY else texts


def numbers_of(texts: polars.Series) -> polars.Series:
    """Return texts as finite numbers, with nothing for those that are none."""
    import polars

    found = texts.cast(polars.Float64, strict=False)
    finite = found.is_finite()
    return found if finite.all() else found.set(~finite, None)


def are_strays(known: polars.Series, numbers: polars.Series) -> bool:
    """Return whether the texts that are not numbers are so few that they mean missing ones."""
    others = known.filter(numbers.is_null())
    few = len(others) <= (1.0 - NEARLY_ALL) * len(known) and others.n_unique() <= MOST_STRAYS
    return few and not has_codes(known)


def is_mixture(known: polars.Series, numbers: polars.Series) -> bool:
    """Return whether texts are neither numbers nor levels: half are numbers that hardly repeat."""
    count = len(numbers) - numbers.null_count()
    many = min(MOST_LEVELS, len(known) / 2)
    mixed = 2 * count >= len(known) and numbers.drop_nulls().n_unique() > many
    return mixed and not has_codes(known)


def has_codes(known: polars.Series) -> bool:
    """Return whether one of the texts is a number with zeros in front, which is no number."""
    return bool(known.str.contains(CODE).any())


def _has_decimal_commas(known: polars.Series, numbers: polars.Series) -> bool:
    """Return whether texts are numbers with decimal commas, and not with commas at thousands."""
    others = known.filter(numbers.is_null())
    whole = known.filter(numbers.is_not_null())
    decimal = others.str.contains(COMMA).all() and not whole.str.contains(r"\.").any()
    return bool(decimal and not others.str.contains(THOUSANDS).all())


def _are_grouped(known: polars.Series, mark: str) -> bool:
    """Return whether texts are numbers with a mark at thousands, and one of them leaves no doubt.

    1,234 may be less than 2; 1,234.5 and 1,234,567 may not.
    """
    if not known.str.contains(_grouped(mark)).all():
        return False
    return bool(known.str.contains(rf"\{mark}\d{{3}}[.,]").any())


def _grouped(mark: str) -> str:
    """Return the pattern of numbers that may have a mark at thousands."""
    point = "." if mark == "," else ","
    return rf"^[+-]?(\d+|\d{{1,3}}(\{mark}\d{{3}})+)(\{point}\d+)?$"


def _ungrouped(texts: polars.Series, mark: str) -> polars.Series:
    fitting = texts.set(~texts.str.contains(_grouped(mark)), None)
    return fitting.str.replace_all(mark, "", literal=True)


def _dates(pattern: str, texts: polars.Series) -> polars.Series:
    fitting = texts.set(~texts.str.contains(pattern), None)
    if pattern == _DAY:
        return fitting.str.to_date("%Y-%m-%d", strict=False)
    if pattern == _DOTTED:
        return fitting.str.to_date("%d.%m.%Y", strict=False)
    whole = fitting.str.replace("T", " ", literal=True)
    short = whole.str.len_bytes() == len("2024-12-31 23:59")
    padded = whole.zip_with(~short, whole + ":00")
    return padded.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
