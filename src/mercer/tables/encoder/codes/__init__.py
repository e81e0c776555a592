"""How values of columns become numbers: one record per rule, which a model file can hold."""

from .calendar import CalendarCode, is_zone, varying
from .categories import CategoryCode, MissingCode
from .numbers import METHODS, Method, NumberCode, learn_numbers
from .sound import is_texts, require
from .text import TextCode, learn_text

Code = NumberCode | CategoryCode | CalendarCode | TextCode | MissingCode

__all__ = [
    "METHODS",
    "CalendarCode",
    "CategoryCode",
    "Code",
    "Method",
    "MissingCode",
    "NumberCode",
    "TextCode",
    "is_texts",
    "is_zone",
    "learn_numbers",
    "learn_text",
    "require",
    "varying",
]
