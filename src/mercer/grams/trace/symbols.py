"""Symbols for matrices of values: NumPy arithmetic on them is written down instead of done."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...checks import MercerError

# The order of the enumeration in cpp/engine/tile.hpp.
OPS = (
    "statistic",
    "expanded",
    "external",
    "left",
    "right",
    "constant",
    "add",
    "subtract",
    "multiply",
    "divide",
    "affine",
    "whole_power",
    "real_power",
    "exponential",
    "tangent",
    "root",
    "at_least",
    "accumulate_exp",
    "inverse_root",
    "logarithm",
)
LEAVES = frozenset(OPS[:6])


class Unlowerable(MercerError):
    """Part of a profile has no native form."""


@dataclass(frozen=True)
class Node:
    """A symbol for a matrix of values, one per pair; `index`, `x`, `y` belong to the operation.

    Where derivatives are taken there are three more operations, which no program has: "parameter"
    number `index` of the kernel, whose value is x; "power" of a symbol by one made of parameters;
    and "function" or "slope", which apply `function`, or its derivative, to a symbol.
    """

    op: str
    children: tuple[Node, ...] = ()
    index: int = 0
    x: float = 0.0
    y: float = 0.0
    function: Any = None

    @cached_property
    def _hash(self) -> int:
        """Kept, since a graph looks its symbols up again and again, each with all that is below."""
        return hash((self.op, self.children, self.index, self.x, self.y, self.function))

    def __hash__(self) -> int:
        return self._hash

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Node:
        if method != "__call__" or options or ufunc not in _UFUNCS:
            raise Unlowerable(f"{ufunc.__name__} has no native form")
        return _UFUNCS[ufunc](*(as_node(value) for value in inputs))

    def __array_function__(self, function: Any, *rest: Any) -> Node:
        raise Unlowerable(f"{function.__name__} has no native form")

    def __add__(self, other: Any) -> Node:
        return add(self, as_node(other))

    def __radd__(self, other: Any) -> Node:
        return add(as_node(other), self)

    def __sub__(self, other: Any) -> Node:
        return add(self, affine(as_node(other), -1.0, 0.0))

    def __rsub__(self, other: Any) -> Node:
        return as_node(other) - self

    def __mul__(self, other: Any) -> Node:
        return multiply(self, as_node(other))

    def __rmul__(self, other: Any) -> Node:
        return multiply(as_node(other), self)

    def __truediv__(self, other: Any) -> Node:
        return divide(self, as_node(other))

    def __rtruediv__(self, other: Any) -> Node:
        return divide(as_node(other), self)

    def __pow__(self, exponent: Any) -> Node:
        return power(self, as_node(exponent))

    def __neg__(self) -> Node:
        return affine(self, -1.0, 0.0)

    def __bool__(self) -> bool:
        raise Unlowerable("a comparison has no native form")

    def _compare(self, other: Any) -> Node:
        raise Unlowerable("a comparison has no native form")

    __lt__ = __le__ = __gt__ = __ge__ = _compare


def as_node(value: Any) -> Node:
    """Return a symbol for a number or itself."""
    if isinstance(value, Node):
        return value
    if isinstance(value, numbers.Real | np.number):
        return Node("constant", x=float(value))
    raise Unlowerable(f"{type(value).__name__} has no native form")


def affine(a: Node, x: float, y: float) -> Node:
    """Return x a + y, folded into what is there already."""
    if a.op == "constant":
        return Node("constant", x=x * a.x + y)
    if a.op == "affine":
        return Node("affine", a.children, x=x * a.x, y=x * a.y + y)
    if a.op == "exponential" and x > 0 and y == 0:
        return Node("exponential", a.children, x=a.x, y=a.y + math.log(x))
    return a if (x, y) == (1.0, 0.0) else Node("affine", (a,), x=x, y=y)


def add(a: Node, b: Node) -> Node:
    for constant, other in ((a, b), (b, a)):
        if constant.op == "constant":
            return affine(other, 1.0, constant.x)
    for exponent, other in ((b, a), (a, b)):
        if exponent.op == "exponential":
            children = (*exponent.children, other)
            return Node("accumulate_exp", children, x=exponent.x, y=exponent.y)
    return Node("add", (a, b))


def multiply(a: Node, b: Node) -> Node:
    for constant, other in ((a, b), (b, a)):
        if constant.op == "constant":
            return affine(other, constant.x, 0.0)
    return Node("multiply", (a, b))


def divide(a: Node, b: Node) -> Node:
    return affine(a, 1.0 / b.x, 0.0) if b.op == "constant" and b.x else Node("divide", (a, b))


def is_number(a: Node) -> bool:
    """Return whether a symbol is made of numbers and parameters alone: the same for all pairs."""
    if a.children:
        return all(is_number(child) for child in a.children)
    return a.op in ("constant", "parameter")


def power(a: Node, b: Node) -> Node:
    if b.op != "constant" and is_number(b):
        return Node("power", (a, b))
    if b.op != "constant":
        raise Unlowerable("only a constant may be an exponent")
    if b.x == 1:
        return a
    if b.x == 0:
        return Node("constant", x=1.0)
    if b.x == int(b.x) and abs(b.x) < 2**31:
        return Node("whole_power", (a,), x=b.x)
    return Node("real_power", (a,), x=b.x)


def exponential(a: Node) -> Node:
    """Return exp(x a + y) in one step."""
    if a.op == "affine":
        return Node("exponential", a.children, x=a.x, y=a.y)
    return Node("exponential", (a,), x=1.0)


def at_least(a: Node, b: Node) -> Node:
    for constant, other in ((a, b), (b, a)):
        if constant.op == "constant":
            return Node("at_least", (other,), x=constant.x)
    raise Unlowerable("a maximum needs a constant")


_UFUNCS: dict[Any, Callable[..., Node]] = {
    np.add: add,
    np.subtract: lambda a, b: a - b,
    np.multiply: multiply,
    np.divide: divide,
    np.power: power,
    np.square: lambda a: power(a, Node("constant", x=2.0)),
    np.negative: lambda a: -a,
    np.exp: exponential,
    np.tanh: lambda a: Node("tangent", (a,)),
    np.sqrt: lambda a: Node("root", (a,)),
    np.maximum: at_least,
}
