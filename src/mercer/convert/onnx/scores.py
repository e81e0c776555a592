"""The scores of models: sums of kernels or of features, and mixtures of leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import Array
from ...fitting.rfm.tree import Tree
from ...models.adaptive.leaves import LEAST_SHARE, LeafMachine
from ...models.base import FunctionEstimator
from ...models.svm.base import SupportVectorEstimator
from .graph import Graph
from .maps import kernel_times, map_times
from .rows import Rows


def function_scores(model: FunctionEstimator, graph: Graph, X: str) -> str:
    """Return f(x) + b of every row, one column per output."""
    if isinstance(model, LeafMachine) and "leaves_" in vars(model):
        return _mixed(model, graph, X)
    rows = rows_of(model, graph, X)
    if hasattr(model, "coef_"):
        found = map_times(model.kernel_, rows, _columns(model.coef_))
    else:
        found = kernel_times(model.kernel_, rows, _columns(model.dual_coef_))
    return _plus(graph, found, model.intercept_)


def machine_scores(model: SupportVectorEstimator, graph: Graph, X: str) -> str:
    """Return f(x) of every machine of a support vector machine."""
    found = kernel_times(model.kernel_, rows_of(model, graph, X), _columns(model._of_points()))
    return _plus(graph, found, model.intercept_)


def expansion(model: Any, graph: Graph, X: str, coefficients: Array) -> str:
    """Return sums of the kernel of a model with coefficients of its own points."""
    return kernel_times(model.kernel_, rows_of(model, graph, X), coefficients)


def rows_of(model: Any, graph: Graph, X: str) -> Rows:
    """Return rows beside the points that a model keeps."""
    return Rows(graph, X, model._prepared.view)


def _columns(values: Array) -> Array:
    return np.asarray(values, dtype=np.float64).reshape(len(values), -1)


def _plus(graph: Graph, scores: str, intercept: Any) -> str:
    offset = np.atleast_1d(np.asarray(intercept, dtype=np.float64))
    return graph.call("Add", scores, graph.floats(offset)) if offset.any() else scores


# --- leaves -------------------------------------------------------------------------------------


def _mixed(model: LeafMachine, graph: Graph, X: str) -> str:
    """Return the scores of the leaves, each times the share that a row has in it."""
    shares = _shares(model.tree_, model.temperature_, graph, X)
    parts = []
    for number, leaf in enumerate(model.leaves_):
        share = graph.call("Gather", shares, graph.wholes([number]), axis=1)
        parts.append(graph.call("Mul", share, function_scores(leaf, graph, X)))
    return graph.total(parts)


def _shares(tree: Tree, temperature: float, graph: Graph, X: str) -> str:
    """Return the share of every row in every leaf; small ones count as none."""
    right = _right(tree, temperature, graph, X)
    found = [""] * tree.n_leaves
    waiting = [(0, graph.ones())] if len(tree.thresholds) else []
    while waiting:
        place, share = waiting.pop()
        there = graph.call("Gather", right, graph.wholes([place]), axis=1)
        for side, part in enumerate((graph.affine(there, -1.0, 1.0), there)):
            child, own = int(tree.children[place, side]), graph.call("Mul", share, part)
            if child >= 0:
                waiting.append((child, own))
            else:
                found[-1 - child] = own
    whole = graph.call("Concat", *found, axis=1) if len(tree.thresholds) else graph.ones()
    most = graph.call("ReduceMax", whole, graph.wholes([1]), keepdims=1)
    small = graph.call("Less", whole, graph.affine(most, LEAST_SHARE, 0.0))
    kept = graph.call("Where", small, graph.floats(0.0), whole)
    return graph.call("Div", kept, graph.sum_over(kept, 1, keep=True))


def _right(tree: Tree, temperature: float, graph: Graph, X: str) -> str:
    """Return how far every row goes to the right at every split, from 0 to 1."""
    along = graph.call("MatMul", X, graph.floats(tree.directions.T / tree.spreads))
    far = graph.call("Sub", along, graph.floats(tree.thresholds / tree.spreads))
    if temperature == 0:
        right = graph.cast(graph.call("Greater", far, graph.floats(0.0)))
    else:
        right = graph.call("Sigmoid", graph.affine(far, 1.0 / temperature, 0.0))
    open_ = tree.directions.any(axis=1).astype(np.float64)  # else a row is in both halves alike
    if open_.all():
        return right
    kept = graph.call("Mul", right, graph.floats(open_))
    return graph.call("Add", kept, graph.floats(0.5 * (1.0 - open_)))
