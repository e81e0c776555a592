"""Kernels that have kernels among their parameters."""

from __future__ import annotations

from typing import Any

from .base import Kernel


class Nested(Kernel, abstract=True):
    """A kernel with kernels among its fields; theirs are named field__gamma and so on."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        own = super().get_params()
        inner = {name: value for name, value in own.items() if deep and isinstance(value, Kernel)}
        return own | {
            f"{name}__{key}": one
            for name, kernel in inner.items()
            for key, one in kernel.get_params().items()
        }

    def replace(self, **changes: Any) -> Kernel:
        own: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        known: dict[str, Any] = super().get_params()
        for key, value in changes.items():
            head, _, rest = key.partition("__")
            if rest and isinstance(changes.get(head, known.get(head)), Kernel):
                nested.setdefault(head, {})[rest] = value
            else:
                own[key] = value
        for head, inner in nested.items():
            own[head] = own.get(head, known[head]).replace(**inner)
        return super().replace(**own)
