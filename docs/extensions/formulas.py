"""Docstrings are plain text with formulas, which must survive as they are.

reStructuredText takes |x| for a substitution, coef_ for a link, and the initial of an author for
the number of an item; all are meant as they stand.
"""

import re
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"(``.+?``|`[^`]+`(?:_|\b)?)")


def plain(line: str) -> str:
    """A line with what is meant as it stands protected, apart from what is in backticks."""
    line = re.sub(r"^(\s*\.\. \[\w+\] +\w)\. ", r"\1\\. ", line)
    parts = CODE.split(line)
    for i in range(0, len(parts), 2):
        text = re.sub(r"(?<!\\)\|", r"\\|", parts[i])
        parts[i] = re.sub(r"(?<=[A-Za-z0-9])_(?![A-Za-z0-9])", r"\\_", text)
    return "".join(parts)


def protect(lines: list[str]) -> list[str]:
    """The lines of a docstring with their formulas protected, apart from those that are code."""
    found, code, indent = [], False, 0
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if line.lstrip().startswith(">>> "):
            code, indent = True, -1
        elif code and (not line.strip() if indent < 0 else line.strip() and depth <= indent):
            code = False
        found.append(line if code else plain(line))
        if not code and line.rstrip().endswith("::"):
            code, indent = True, depth
    return found


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = protect(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", process, priority=400)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
