"""Columns of a table: their values, whatever library they came from, and what they are."""

from .kinds import BOOLEAN, CATEGORY, DATE, DROP, KINDS, NUMBER, TEXT, guess, strays
from .reading import as_dates, as_numbers, as_texts, as_truths
from .table import Table, read_table, spread_rows
from .values import FORMS, NOTHING, Values

__all__ = [
    "BOOLEAN",
    "CATEGORY",
    "DATE",
    "DROP",
    "FORMS",
    "KINDS",
    "NOTHING",
    "NUMBER",
    "TEXT",
    "Table",
    "Values",
    "as_dates",
    "as_numbers",
    "as_texts",
    "as_truths",
    "guess",
    "read_table",
    "spread_rows",
    "strays",
]
