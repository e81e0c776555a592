"""JSON without its loose ends: keys are unique, numbers finite, nesting and size bounded."""

from __future__ import annotations

import json
import math
from typing import Any

from ..checks import FileError, sentence

DEPTH_LIMIT = 64
MARK_LIMIT = 2_500_000  # brackets and commas: one value each at most, so they bound the memory


def loads(text: str | bytes, who: str) -> Any:
    """Return the value of a JSON text, or say what is wrong with it."""
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        if sum(decoded.count(mark) for mark in "[{,") > MARK_LIMIT:
            raise ValueError("too many values")
        value = json.loads(
            decoded, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite
        )
        if _depth(value) > DEPTH_LIMIT:
            raise ValueError(f"nested more than {DEPTH_LIMIT} deep")
    except RecursionError:
        problem = f"nested more than {DEPTH_LIMIT} deep"
    except ValueError as error:
        problem = str(error)
    else:
        return value
    must = f"its header must be strict JSON, nested at most {DEPTH_LIMIT} deep"
    raise FileError(sentence(who, must, problem))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key given twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"the constant {constant}")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]}")
    return value


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level and depth <= DEPTH_LIMIT:
        depth += 1
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return depth
