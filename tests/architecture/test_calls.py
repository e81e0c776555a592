"""Calls say what they hand over: long lists of arguments are named."""

import ast
from pathlib import Path

import pytest

import mercer

SOURCE = Path(mercer.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
MOST_IN_A_CALL = 5
MOST_IN_A_RECORD = 3
# Native functions take their arguments by place, and records of events as many as their text asks.
BY_PLACE = ("self.block.solve", "work.block.polish", "logger.info")
# Kernels, inputs and losses are values that users write. `grams` hands arrays to the native engine.
FREE = ("kernels", "inputs", "losses.py", "monitor.py", "grams")


def long_calls(text):
    """Calls with more positional arguments than one can tell apart, by line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and len(node.args) > MOST_IN_A_CALL:
            name = ast.unparse(node.func)
            if name not in BY_PLACE and not name.startswith("_native."):
                yield node.lineno, name


def open_records(text):
    """Data classes with more fields than one can tell apart that may be made by place."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            made = [ast.unparse(one) for one in node.decorator_list]
            fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
            is_record = any(one.startswith("dataclass") for one in made)
            is_named = any("kw_only=True" in one for one in made)
            if is_record and not is_named and len(fields) > MOST_IN_A_RECORD:
                yield node.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_long_lists_of_arguments_are_named(path):
    if path.relative_to(SOURCE).parts[0] not in FREE:
        assert list(long_calls(path.read_text())) == []
        assert list(open_records(path.read_text())) == []


def test_what_is_not_named_is_caught():
    assert list(long_calls("f(1, 2, 3, 4, 5)\ng(1, 2, 3, 4, 5, 6)")) == [(2, "g")]
    fields = "\n".join(f"    {name}: int" for name in "abcd")
    assert list(open_records(f"@dataclass(frozen=True)\nclass A:\n{fields}")) == ["A"]
    assert list(open_records(f"@dataclass(kw_only=True)\nclass A:\n{fields}")) == []
