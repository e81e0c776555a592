"""The JSON twin of a page: strict JSON with every number of it."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np

from .facts import Facts

FORMAT, VERSION = "mercer-report", 1


def twin_of(facts: Facts) -> str:
    """Return the facts of a report as JSON; numbers that are not finite become null."""
    head = {"format": FORMAT, "version": VERSION}
    return json.dumps(head | _plain(facts), allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def _plain(value: Any) -> Any:
    """Return a value of what JSON has."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            one.name: _plain(getattr(value, one.name))
            for one in dataclasses.fields(value)
            if one.metadata.get("twin", True)
        }
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        # A text of half a pair cannot be written as UTF-8.
        return value.encode("utf-8", "replace").decode("utf-8")
    return value
