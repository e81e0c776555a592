"""Kernel values as operators: what a profile writes down, walked once more.

A kernel's profile is run with `Trace`, as for the native engine. The symbols that come back are
statistics and arithmetic; here each operation becomes an operator of ONNX. So every kernel of rows
that the engine has a program for converts, from the one place where its formula stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from ...checks import Array, InputError, sentence
from ...grams.trace.lower import Recorder, Trace, sharpen
from ...grams.trace.symbols import Node
from ...kernels import Kernel, Normalized
from ...kernels.pairs import DOT, SQUARED, column_weights
from .graph import WHO, Graph
from .rows import Rows
from .summands import is_shift_invariant, summand

AT_ONCE = 2**12  # numbers per row that are held at a time: centres, or centres times columns
# How far rounding may move gamma ||x - y||**2 where it is computed as x.x - 2 x.y + y.y.
TOLERANCE = {np.dtype(np.float32): 5e-6, np.dtype(np.float64): 5e-13}


class _Pairs(Protocol):
    """Where the leaves of a profile come from; factor: what a statistic is multiplied by."""

    def statistic(self, number: int, factor: float = 1.0) -> str: ...

    def left(self, number: int) -> str: ...

    def right(self, number: int) -> str: ...


class KernelValues:
    """The values of a kernel between rows that enter a graph and the points of a model."""

    def __init__(self, kernel: Kernel, rows: Rows) -> None:
        self.rows, self.graph = rows, rows.graph
        trace = Trace(rows.view, Recorder())
        self.root, self.recorder = trace.value(kernel), trace.recorder
        if self.recorder.externals:
            _refuse(self.recorder.externals[0][1])
        sharpen(self.root, self.recorder)
        count = len(self.recorder.statistics)
        self.is_product = [self._is_product(number) for number in range(count)]

    def times(self, V: Array) -> str:
        """Return K(rows, points) V.

        A linear kernel needs no K: the points are multiplied with V beforehand. Otherwise K is
        computed for some of the points at a time.
        """
        graph = self.graph
        linear = self._linear()
        if linear is not None:
            rows, weights, x, y = linear
            Z = rows.points if weights is None else rows.points * np.array(weights)
            found = graph.call("MatMul", rows.tensor, graph.floats(x * (Z.T @ V)))
            return found if y == 0.0 else graph.call("Add", found, graph.floats(y * V.sum(axis=0)))
        if not (self.recorder.statistics or self.recorder.sides):
            return graph.call("Mul", graph.ones(), graph.floats(self.root.x * V.sum(axis=0)[None]))
        parts, step = [], self._step()
        for start in range(0, len(V), step):
            part = slice(start, min(start + step, len(V)))
            values = _emitted(graph, self.root, _Cross(self, part))
            parts.append(graph.call("MatMul", values, graph.floats(V[part])))
        return graph.total(parts)

    def own(self) -> str:
        """Return k(x, x) of every row, as a column or one number for all."""
        return _emitted(self.graph, self.root, _Own(self))

    def _linear(self) -> tuple[Rows, tuple[float, ...] | None, float, float] | None:
        """Return rows, weights, x and y where the kernel is x (row . point) + y."""
        node, x, y = self.root, 1.0, 0.0
        if node.op == "affine":
            node, x, y = node.children[0], node.x, node.y
        if node.op != "statistic":
            return None
        path, what, weights = self.recorder.statistics[node.index]
        return (self.rows.follow(path), weights, x, y) if what is DOT else None

    def _step(self) -> int:
        """Return how many points are compared at a time."""
        widths = [
            1 if self.is_product[number] else self.rows.follow(path).n_columns
            for number, (path, _, _) in enumerate(self.recorder.statistics)
        ]
        return max(1, AT_ONCE // max(widths, default=1))

    def _is_product(self, number: int) -> bool:
        """Return whether a statistic is a product of matrices: dot products, and squared distances
        whose rounding is small enough then."""
        path, what, weights = self.recorder.statistics[number]
        if what is not SQUARED:
            return what is DOT
        rows, factor = self.rows.follow(path), self.recorder.factors[number]
        squares = (rows.points - rows.centre()) ** 2 @ np.abs(
            column_weights(weights, rows.n_columns)
        )
        rounding = 2.0 * float(np.finfo(self.graph.dtype).eps)
        largest = float(squares.max(initial=0.0))
        return factor > 0 and rounding * factor * largest <= TOLERANCE[self.graph.dtype]


class _Cross:
    """Pairs of all rows with some of the points."""

    def __init__(self, values: KernelValues, part: slice) -> None:
        self.values, self.part, self.graph = values, part, values.graph

    def statistic(self, number: int, factor: float = 1.0) -> str:
        path, what, weights = self.values.recorder.statistics[number]
        rows, graph = self.values.rows.follow(path), self.graph
        Z = rows.points[self.part]
        if what is DOT:
            # The factor goes into the points: runtimes take one behind a product in single
            # precision, whatever the precision of the product.
            weighted = factor * (Z if weights is None else Z * np.array(weights))
            return graph.call("MatMul", rows.tensor, graph.floats(weighted.T))
        if what is SQUARED and self.values.is_product[number]:
            return graph.affine(self._expanded(rows, Z - rows.centre(), weights), factor, 0.0)
        tensor = rows.tensor
        if is_shift_invariant(what):
            tensor, Z = rows.centred(), Z - rows.centre()
        wide = graph.call("Unsqueeze", tensor, graph.wholes([1]))
        each = summand(graph, what, wide, graph.floats(Z))
        if weights is not None:
            each = graph.call("Mul", each, graph.floats(weights))
        return graph.affine(graph.sum_over(each, 2), factor, 0.0)

    def _expanded(self, rows: Rows, Z: Array, weights: tuple[float, ...] | None) -> str:
        """Return x.x - 2 x.y + y.y of rows and points around their centre, at least 0."""
        graph, x = self.graph, rows.centred()
        w = column_weights(weights, rows.n_columns)
        squares = graph.call("Mul", x, x)
        own = graph.call("MatMul", squares, graph.floats(w[:, None]))
        cross = graph.call("MatMul", x, graph.floats(-2.0 * (Z * w).T))
        far = graph.call("Add", cross, graph.floats((Z**2 @ w)[None]))
        return graph.call("Max", graph.call("Add", far, own), graph.floats(0.0))

    def left(self, number: int) -> str:
        return _of_rows(self.values, number)

    def right(self, number: int) -> str:
        path, function = self.values.recorder.sides[number]
        found = self.values.rows.follow(path).view.side.values(function)
        return self.graph.floats(np.asarray(found)[self.part][None])


class _Own:
    """Pairs of every row with itself."""

    def __init__(self, values: KernelValues) -> None:
        self.values, self.graph = values, values.graph

    def statistic(self, number: int, factor: float = 1.0) -> str:
        path, what, weights = self.values.recorder.statistics[number]
        rows = self.values.rows.follow(path)
        each = summand(self.graph, what, rows.tensor, rows.tensor)
        if weights is not None:
            each = self.graph.call("Mul", each, self.graph.floats(weights))
        return self.graph.affine(self.graph.sum_over(each, 1, keep=True), factor, 0.0)

    def left(self, number: int) -> str:
        return _of_rows(self.values, number)

    right = left


def _of_rows(values: KernelValues, number: int) -> str:
    """Return f(x) of every row as a column, where f is the factor of a normalised kernel."""
    path, function = values.recorder.sides[number]
    kernel = getattr(function, "__self__", None)
    if not isinstance(kernel, Normalized):
        must = "kernels must be made of formulas, not of functions of the user"
        raise InputError(sentence(WHO, must, repr(kernel)))
    return scale_of(kernel, values.rows.follow(path))


def scale_of(kernel: Normalized, rows: Rows) -> str:
    """Return 1 / sqrt(k(x, x)) of every row, and 0 where k(x, x) is 0."""
    graph, own = rows.graph, KernelValues(kernel.inner, rows).own()
    empty = graph.call("Equal", own, graph.floats(0.0))
    safe = graph.call("Where", empty, graph.floats(1.0), own)
    inverse = graph.call("Div", graph.floats(1.0), graph.call("Sqrt", safe))
    return graph.call("Where", empty, graph.floats(0.0), inverse)


def _refuse(kernel: Kernel) -> None:
    must = (
        "every part of the kernel must have a formula of sums over columns: Linear, Polynomial, "
        "ExpDot, Sigmoid, Gaussian, Laplacian, Exponential, RationalQuadratic, Periodic, LpNorm, "
        "SumPower, Matern(0.5, 1.5 or 2.5), kernels of histograms and Categorical, and what is "
        "made of them"
    )
    raise InputError(sentence(WHO, must, repr(kernel)))


# --- arithmetic ---------------------------------------------------------------------------------


def _emitted(graph: Graph, node: Node, pairs: _Pairs) -> str:
    """Return the tensor of a symbol."""
    if node.op in STATISTICS:
        return pairs.statistic(node.index)
    if node.op == "left":
        return pairs.left(node.index)
    if node.op == "right":
        return pairs.right(node.index)
    first = node.children[:1]
    if node.op in SCALING and first[0].op in STATISTICS:
        inputs = [pairs.statistic(first[0].index, node.x)]
        node = replace(node, x=1.0)
    else:
        inputs = [_emitted(graph, child, pairs) for child in first]
    inputs += [_emitted(graph, child, pairs) for child in node.children[1:]]
    return RULES[node.op](graph, node, *inputs)


def _exponential(graph: Graph, node: Node, a: str) -> str:
    return graph.call("Exp", graph.affine(a, node.x, node.y))


def _accumulate(graph: Graph, node: Node, a: str, b: str) -> str:
    return graph.call("Add", b, _exponential(graph, node, a))


def _power(graph: Graph, node: Node, a: str) -> str:
    return graph.call("Pow", a, graph.floats(node.x))


STATISTICS = ("statistic", "expanded")
SCALING = ("affine", "exponential", "accumulate_exp")  # which multiply their first input by x
# One rule for each operation that a profile can write down.
RULES: dict[str, Callable[..., str]] = {
    "constant": lambda graph, node: graph.floats(node.x),
    "add": lambda graph, node, a, b: graph.call("Add", a, b),
    "multiply": lambda graph, node, a, b: graph.call("Mul", a, b),
    "divide": lambda graph, node, a, b: graph.call("Div", a, b),
    "affine": lambda graph, node, a: graph.affine(a, node.x, node.y),
    "whole_power": _power,
    "real_power": _power,
    "exponential": _exponential,
    "accumulate_exp": _accumulate,
    "tangent": lambda graph, node, a: graph.call("Tanh", a),
    "root": lambda graph, node, a: graph.call("Sqrt", a),
    "at_least": lambda graph, node, a: graph.call("Max", a, graph.floats(node.x)),
}
