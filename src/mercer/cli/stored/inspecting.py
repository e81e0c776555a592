"""What a model file says, as data of JSON."""

from __future__ import annotations

from typing import Any

from ...files.cards.words import certificate_words
from ..learn.learning import members_of
from .models import Stored


def inspection(stored: Stored) -> dict[str, Any]:
    """Return what is known of a stored model."""
    last = stored.last
    certificate = getattr(last, "certificate_", None)
    return {
        "file": stored.path,
        "bytes": stored.size,
        "estimator": type(last).__name__,
        "steps": [name for name, _ in getattr(stored.model, "steps", [])]
        if stored.model is not last
        else [],
        "kernel": kernel_text(last),
        "certificate": certificate_words(certificate),
        "training_points": sum(points_of(one) for one in members_of(stored.model)),
        "members": members(last),
        "parameters": {
            name: value
            if isinstance(value, bool | int | float | str) or value is None
            else repr(value)
            for name, value in last.get_params(deep=False).items()
        },
        "card": None if stored.card is None else stored.card.as_dict(),
    }


def kernel_text(model: Any) -> str:
    """Return the kernel of a model as an expression."""
    return repr(model.kernel_) if hasattr(model, "kernel_") else ""


def members(model: Any) -> list[dict[str, Any]]:
    """Return the members of an ensemble."""
    return [
        {
            "name": one.name,
            "weight": one.weight,
            "columns_as": one.view,
            "target_as": one.target,
            "estimator": type(one.model).__name__,
            "kernel": kernel_text(one.model),
            "points": points_of(one.model),
        }
        for one in getattr(model, "members_", ())
    ]


def points_of(model: Any) -> int:
    """Return how many points carry a model."""
    prepared = getattr(model, "_prepared", None)
    return 0 if prepared is None else len(prepared.points)
