"""Derivatives of what was written down: symbols again, by the chain rule from the result back.

What a profile writes down is a graph of few operations. The derivative of the result by any symbol
in it is such a graph as well, and so the engine runs it like a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .symbols import (
    Node,
    Unlowerable,
    add,
    affine,
    as_node,
    at_least,
    divide,
    exponential,
    multiply,
    power,
)

ZERO, ONE = Node("constant"), Node("constant", x=1.0)


def derivatives(root: Node, wanted: Sequence[Node]) -> list[Node]:
    """Return the derivative of a symbol by each of some symbols that it is made of."""
    order, leaves = _ordered(root), set(wanted)
    moving: set[Node] = set()  # what depends on any that is wanted
    for node in order:
        if node in leaves or any(child in moving for child in node.children):
            moving.add(node)
    total: dict[Node, Node] = {root: ONE}
    for node in reversed(order):
        if not node.children or node not in moving or node not in total:
            continue
        for child, slope in zip(node.children, _slopes(node, moving), strict=True):
            if slope is not None:
                step = multiply(total[node], slope)
                total[child] = add(total[child], step) if child in total else step
    return [total.get(node, ZERO) if node in moving else ZERO for node in wanted]


def _ordered(root: Node) -> list[Node]:
    """Return every symbol once, after those it is made of."""
    found: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in found:
            for child in node.children:
                visit(child)
            found[node] = None

    visit(root)
    return list(found)


def _slopes(node: Node, moving: set[Node]) -> list[Node | None]:
    """Return the derivative of an operation by each of its inputs; None for those that stay."""
    rule = _RULES.get(node.op)
    if rule is None:
        raise Unlowerable(f"{node.op.replace('_', ' ')} has no derivative")
    slopes = rule(node, *node.children)
    pairs = zip(node.children, slopes, strict=True)
    return [slope() if child in moving else None for child, slope in pairs]


Rule = Callable[..., tuple[Callable[[], Node], ...]]


def _power_of(node: Node, a: Node) -> tuple[Callable[[], Node], ...]:
    if 0 < node.x < 1:  # infinite at 0, where it counts as 0, as the derivative of a root does
        inverse = Node("inverse_root", (a,))
        return (lambda: affine(power(inverse, as_node(2.0 - 2.0 * node.x)), node.x, 0.0),)
    return (lambda: affine(power(a, as_node(node.x - 1.0)), node.x, 0.0),)


def _exp_of(node: Node, a: Node) -> Node:
    return affine(Node("exponential", (a,), x=node.x, y=node.y), node.x, 0.0)


_RULES: dict[str, Rule] = {
    "add": lambda node, a, b: (lambda: ONE, lambda: ONE),
    "subtract": lambda node, a, b: (lambda: ONE, lambda: Node("constant", x=-1.0)),
    "multiply": lambda node, a, b: (lambda: b, lambda: a),
    "divide": lambda node, a, b: (lambda: divide(ONE, b), lambda: -divide(node, b)),
    "affine": lambda node, a: (lambda: Node("constant", x=node.x),),
    "whole_power": _power_of,
    "real_power": _power_of,
    "power": lambda node, a, b: (
        lambda: multiply(b, Node("power", (a, affine(b, 1.0, -1.0)))),
        lambda: multiply(node, Node("logarithm", (a,))),
    ),
    "exponential": lambda node, a: (lambda: _exp_of(node, a),),
    "accumulate_exp": lambda node, a, b: (lambda: _exp_of(node, a), lambda: ONE),
    "tangent": lambda node, a: (lambda: affine(multiply(node, node), -1.0, 1.0),),
    "root": lambda node, a: (lambda: affine(Node("inverse_root", (a,)), 0.5, 0.0),),
    "function": lambda node, a: (lambda: Node("slope", (a,), function=node.function),),
}


def settled(node: Node, known: dict[Node, Node] | None = None) -> Node:
    """Return a symbol with the values of parameters in their place, put together anew."""
    known = {} if known is None else known
    if node not in known:
        children = [settled(child, known) for child in node.children]
        known[node] = _rebuilt(node, children)
    return known[node]


def _rebuilt(node: Node, children: list[Node]) -> Node:
    number = Node("constant", x=node.x)
    simple: dict[str, Callable[..., Node]] = {
        "parameter": lambda: number,
        "add": add,
        "multiply": multiply,
        "divide": divide,
        "affine": lambda a: affine(a, node.x, node.y),
        "whole_power": lambda a: power(a, number),
        "real_power": lambda a: power(a, number),
        "power": power,
        "exponential": lambda a: exponential(affine(a, node.x, node.y)),
        "accumulate_exp": lambda a, b: add(b, exponential(affine(a, node.x, node.y))),
        "at_least": lambda a: at_least(a, number),
    }
    if node.op in simple:
        return simple[node.op](*children)
    return Node(node.op, tuple(children), node.index, node.x, node.y, node.function)


_VALUES: dict[str, Callable[..., Any]] = {
    "constant": lambda node: node.x,
    "parameter": lambda node: node.x,
    "add": lambda node, a, b: a + b,
    "subtract": lambda node, a, b: a - b,
    "multiply": lambda node, a, b: a * b,
    "divide": lambda node, a, b: a / b,
    "affine": lambda node, a: node.x * a + node.y,
    "whole_power": lambda node, a: a**node.x,
    "real_power": lambda node, a: a**node.x,
    "power": lambda node, a, b: a**b,
    "exponential": lambda node, a: np.exp(node.x * a + node.y),
    "tangent": lambda node, a: np.tanh(a),
    "root": lambda node, a: np.sqrt(a),
    "at_least": lambda node, a: np.maximum(a, node.x),
    "accumulate_exp": lambda node, a, b: b + np.exp(node.x * a + node.y),
    "inverse_root": lambda node, a: np.where(a == 0, 0.0, 1.0 / np.sqrt(np.where(a == 0, 1.0, a))),
    "logarithm": lambda node, a: np.log(a),
    "function": lambda node, a: node.function(a),
    "slope": lambda node, a: node.function.slope(a),
}


def values(roots: Iterable[Node], leaf: Callable[[Node], Any]) -> list[Any]:
    """Return the numbers that symbols stand for, in NumPy; leaf: those of the inputs."""
    known: dict[Node, Any] = {}

    def value(node: Node) -> Any:
        if node not in known:
            inputs = [value(child) for child in node.children]
            rule = _VALUES.get(node.op)
            known[node] = leaf(node) if rule is None else rule(node, *inputs)
        return known[node]

    with np.errstate(invalid="ignore", over="ignore", under="ignore", divide="ignore"):
        return [value(root) for root in roots]


def number(node: Node) -> float:
    """Return the value of a symbol that is made of numbers and parameters alone."""
    return float(values([node], lambda leaf: np.nan)[0])
