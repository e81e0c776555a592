"""A card from the JSON of a model file: a closed set of names, and what they must be."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...checks import FileError, InputError, sentence, show
from .record import CardColumn, CardScore, ModelCard

_RECORDS: dict[str, type[CardColumn] | type[CardScore]] = {
    "columns": CardColumn,
    "scores": CardScore,
    "baselines": CardScore,
}


def card_of_json(data: Any, who: str) -> ModelCard:
    """Return the card that JSON data stands for, or say what is wrong with it."""
    try:
        fields = _fields(data, ModelCard)
        for name, kind in _RECORDS.items():
            entries = fields[name]
            if not isinstance(entries, tuple):
                raise InputError(sentence("ModelCard", f"{name} must be a list", show(entries)))
            fields[name] = tuple(kind(**_fields(one, kind)) for one in entries)
        if isinstance(fields["target_range"], tuple):
            ends = fields["target_range"]
            fields["target_range"] = tuple(float(e) if type(e) is int else e for e in ends)
        return ModelCard(**fields)
    except (InputError, OverflowError) as error:
        must = "its card must be one that this mercer knows"
        raise FileError(sentence(who, must, str(error).removesuffix("."))) from None


def _fields(data: Any, kind: type[Any]) -> dict[str, Any]:
    """Return the fields of a record, which are all there and no others."""
    names = {one.name for one in dataclasses.fields(kind)}
    if not isinstance(data, dict) or set(data) != names:
        got = show(data)
        if isinstance(data, dict):
            odd = sorted(map(str, set(data) ^ names))[0]
            got = f"{odd!r}, which is {'missing' if odd in names else 'unknown'}"
        must = f"the fields of {kind.__name__} must be {', '.join(sorted(names))}"
        raise InputError(sentence("ModelCard", must, got))
    return {name: tuple(one) if isinstance(one, list) else one for name, one in data.items()}
