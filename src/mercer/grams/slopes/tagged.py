"""Kernels with symbols in the place of their parameters, so that a trace sees where these go."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from ...checks import KernelError, nearest, sentence, show
from ...inputs import Input
from ...kernels.algebra import Around, Product, Scaled, Sum
from ...kernels.base import Kernel
from ..trace.derive import number
from ..trace.symbols import Node

Symbols = Node | tuple[Node, ...]
K = TypeVar("K", bound=Kernel)


def tagged(kernel: Kernel, names: Sequence[str]) -> tuple[Kernel, dict[str, Symbols]]:
    """Return the kernel with symbols for the named parameters, and these by name.

    Names are those of `get_params`. A parameter that is one number per column has a symbol per
    column. The kernel that comes back is for tracing only.
    """
    known = kernel.get_params()
    symbols: dict[str, Symbols] = {}
    count = 0
    for name in names:
        if name not in known:
            must = f"its parameters are {', '.join(sorted(known))}"
            raise KernelError(sentence(kernel.name, must, repr(name), nearest(name, known)))
        value = known[name]
        several = value if isinstance(value, tuple) else (value,)
        if not several or not all(isinstance(one, float) for one in several):
            must = f"{name} must be a real number to be differentiated by"
            raise KernelError(sentence(kernel.name, must, show(value)))
        made = tuple(Node("parameter", index=count + i, x=x) for i, x in enumerate(several))
        symbols[name] = made if isinstance(value, tuple) else made[0]
        count += len(made)
    return _with(kernel, symbols), symbols


def _with(kernel: Kernel, changes: Mapping[str, Any]) -> Kernel:
    """Return a kernel with other parameters, unchecked; names are as in `replace`."""
    if not changes:
        return kernel
    if isinstance(kernel, Sum | Product):
        return _put(kernel, terms=_changed_terms(kernel, changes))
    own = {f.name for f in fields(kernel)}  # type: ignore[arg-type]
    mine = {name: value for name, value in changes.items() if name in own}
    rest = {name.removeprefix("inner__"): v for name, v in changes.items() if name not in own}
    if isinstance(kernel, Around) and rest:
        mine["inner"] = _with(kernel.inner, rest)
    return _put(kernel, **mine)


def _changed_terms(kernel: Sum | Product, changes: Mapping[str, Any]) -> tuple[Kernel, ...]:
    nested: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        head, _, rest = name.partition("__")
        nested.setdefault(head, {})[rest] = value
    terms: list[Kernel] = []
    for place, term in enumerate(kernel.terms, 1):
        inner = nested.get(f"k{place}", {})
        if "coef" in inner and not isinstance(term, Scaled):
            coef = inner.pop("coef")
            terms.append(_put(Scaled(_with(term, inner), 1.0), coef=coef))
        else:
            terms.append(_with(term, inner))
    return tuple(terms)


def _put(kernel: K, **values: Any) -> K:
    made = copy.copy(kernel)
    made._set(**values)
    return made


def untagged(kernel: K) -> K:
    """Return a kernel with the values of its symbols."""
    changes: dict[str, Any] = {}
    for field in fields(kernel):  # type: ignore[arg-type]
        value = getattr(kernel, field.name)
        plain = _plain(value)
        if plain is not value:
            changes[field.name] = plain
    return _put(kernel, **changes) if changes else kernel


def _plain(value: Any) -> Any:
    if isinstance(value, Node):
        return number(value)
    if isinstance(value, Kernel):
        return untagged(value)
    if isinstance(value, tuple):
        found = tuple(_plain(one) for one in value)
        return value if all(a is b for a, b in zip(found, value, strict=True)) else found
    return value


def points_of(kernel: Kernel, name: str, points: Input) -> Input:
    """Return the points that the part of an expression sees which has the named parameter."""
    if isinstance(kernel, Sum | Product):
        head, _, rest = name.partition("__")
        return points_of(kernel.terms[int(head[1:]) - 1], rest, points)
    own = {field.name for field in fields(kernel)}  # type: ignore[arg-type]
    if name in own or not isinstance(kernel, Around):
        return points
    return points_of(kernel.inner, name.removeprefix("inner__"), kernel.child_input(points))


class ColumnWeights(tuple[float, ...]):
    """Weights of columns that are made of parameters: equal only where their symbols are."""

    symbols: tuple[Node, ...]

    @staticmethod
    def of(symbols: tuple[Node, ...]) -> ColumnWeights:
        """Return the values of symbols, with these."""
        made = ColumnWeights(map(number, symbols))
        made.symbols = symbols
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnWeights) and self.symbols == other.symbols

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


def has_symbols(value: Any) -> bool:
    """Return whether a kernel, or another value with fields, has a symbol in it."""
    if isinstance(value, Node):
        return True
    if isinstance(value, tuple):
        return any(has_symbols(one) for one in value)
    if hasattr(value, "__dataclass_fields__"):
        return any(has_symbols(getattr(value, field.name)) for field in fields(value))
    return False
