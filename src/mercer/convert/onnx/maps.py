"""Exact feature maps as operators, for models that are carried by features and not by points."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NoReturn

import numpy as np

from ...checks import Array, InputError, sentence
from ...features import ExplicitMap, Nystrom
from ...grams.trace.lower import Step
from ...kernels import (
    Constant,
    Kernel,
    Linear,
    Metric,
    Normalized,
    Of,
    On,
    Polynomial,
    Power,
    Product,
    Scaled,
    Sum,
)
from ...kernels.pairs import as_matrix
from ...linalg.blas import solve_lower
from .graph import WHO, Graph
from .kernel import KernelValues, scale_of
from .rows import Rows


def kernel_times(kernel: Kernel, rows: Rows, V: Array) -> str:
    """Return K(rows, points) V; of a kernel that is a map, by its features."""
    if isinstance(kernel, Of) and kernel.is_linear_map():
        made = kernel.child_input(rows.view.points)
        return map_times(kernel, rows, as_matrix(made).dense().astype(np.float64).T @ V)
    return KernelValues(kernel, rows).times(V)


def map_times(kernel: Kernel, rows: Rows, coefficients: Array) -> str:
    """Return phi(x) . c of every row, for each column c of the coefficients."""
    if isinstance(kernel, Of) and isinstance(kernel.inner, Linear) and type(kernel.phi) is Nystrom:
        phi = kernel.phi
        dual = solve_lower(phi._lower, coefficients, transposed=True)
        return KernelValues(phi.kernel_, _of_map(rows, phi)).times(dual)
    tensor, _ = features(kernel, rows)
    return rows.graph.call("MatMul", tensor, rows.graph.floats(coefficients))


def features_of_map(rows: Rows, phi: Nystrom | ExplicitMap) -> str:
    """Return phi(x) of every row, for a fitted map."""
    own = _of_map(rows, phi)
    if isinstance(phi, ExplicitMap):
        return features(phi.kernel_, own)[0]
    inverse = solve_lower(phi._lower, np.eye(len(phi._lower)), transposed=True)
    return KernelValues(phi.kernel_, own).times(inverse)


def _of_map(rows: Rows, phi: Any) -> Rows:
    """Return the same rows beside the points that a fitted map keeps."""
    return Rows(rows.graph, rows.tensor, phi._prepared.view)


def features(kernel: Kernel, rows: Rows) -> tuple[str, int]:
    """Return phi(x) of every row, in the order of `Kernel.expand`, and the number of features."""
    rule = _MAPS.get(type(kernel))
    if rule is None:
        _refuse(kernel)
    return rule(kernel, rows)


def _refuse(kernel: Kernel) -> NoReturn:
    must = "a model that is carried by features must have a kernel whose map is known"
    advice = 'Fit it with another solver than "primal".'
    raise InputError(sentence(WHO, must, repr(kernel), advice))


def _tensor(graph: Graph, left: tuple[str, int], right: tuple[str, int]) -> tuple[str, int]:
    """Return the products of every feature of one map with every feature of another."""
    (a, wide), (b, other) = left, right
    columns = graph.call("Unsqueeze", a, graph.wholes([2]))
    rows = graph.call("Unsqueeze", b, graph.wholes([1]))
    flat = graph.wholes([-1, wide * other])
    return graph.call("Reshape", graph.call("Mul", columns, rows), flat), wide * other


def _joined(graph: Graph, parts: list[tuple[str, int]]) -> tuple[str, int]:
    names, width = [name for name, _ in parts], sum(width for _, width in parts)
    return (names[0] if len(names) == 1 else graph.call("Concat", *names, axis=1)), width


def _times(graph: Graph, part: tuple[str, int], factor: float) -> tuple[str, int]:
    return graph.affine(part[0], factor, 0.0), part[1]


def _polynomial(kernel: Polynomial, rows: Rows) -> tuple[str, int]:
    graph, own = rows.graph, (rows.tensor, rows.n_columns)
    powers = [(graph.ones(), 1)]
    for _ in range(kernel.degree):
        powers.append(_tensor(graph, powers[-1], own) if len(powers) > 1 else own)
    weights = [kernel._weight(j) for j in range(kernel.degree + 1)]
    blocks = [
        _times(graph, power, float(np.sqrt(weight)))
        for power, weight in zip(powers, weights, strict=True)
        if weight
    ]
    return _joined(graph, blocks)


def _power(kernel: Power, rows: Rows) -> tuple[str, int]:
    own = features(kernel.inner, rows)
    return reduce(lambda a, b: _tensor(rows.graph, a, b), [own] * kernel.exponent)


def _product(kernel: Product, rows: Rows) -> tuple[str, int]:
    return reduce(
        lambda a, b: _tensor(rows.graph, a, b), [features(term, rows) for term in kernel.terms]
    )


def _normalized(kernel: Normalized, rows: Rows) -> tuple[str, int]:
    name, width = features(kernel.inner, rows)
    return rows.graph.call("Mul", name, scale_of(kernel, rows)), width


def _on(kernel: On, rows: Rows) -> tuple[str, int]:
    inner = kernel.inner
    key = ("on", kernel.columns, inner.domain)
    return features(inner, rows.follow((Step(key, kernel.child_input),)))


def _changed(kernel: Metric | Of, rows: Rows) -> tuple[str, int]:
    change = kernel.child_input
    return features(kernel.inner, rows.follow((Step(("of", change), change),)))


_MAPS: dict[type[Kernel], Callable[[Any, Rows], tuple[str, int]]] = {
    Constant: lambda kernel, rows: _times(rows.graph, (rows.graph.ones(), 1), kernel.c**0.5),
    Linear: lambda kernel, rows: (rows.tensor, rows.n_columns),
    Polynomial: _polynomial,
    Sum: lambda kernel, rows: _joined(rows.graph, [features(one, rows) for one in kernel.terms]),
    Product: _product,
    Power: _power,
    Scaled: lambda kernel, rows: _times(rows.graph, features(kernel.inner, rows), kernel.coef**0.5),
    Normalized: _normalized,
    On: _on,
    Metric: _changed,
    Of: _changed,
}
