"""Points as features: scikit-learn transformers.

`GramTransformer` is an estimator with a kernel, like those in `mercer.models`, and lives there with
what it shares with them; this room lies below that one and names it only when it is asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["GramTransformer"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("mercer.models"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
