"""Checks of the parts of a graph: edges, labels, attributes, weights."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence


def checked_edges(given: Any, n_nodes: int) -> tuple[Array, Array]:
    """Return the edges in order, each with its smaller node first, and where they came from."""
    found = _pairs(given)
    outside = np.flatnonzero((found < 0).any(axis=1) | (found >= n_nodes).any(axis=1))
    if len(outside):
        first = outside[0]
        must = f"edges must join nodes from 0 to {n_nodes - 1}" if n_nodes else "edges need nodes"
        raise InputError(sentence("Graph", must, f"{_text(found[first])} at index {first}"))
    pairs = np.sort(found.astype(np.int64), axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    twice = np.flatnonzero((pairs[1:] == pairs[:-1]).all(axis=1))
    if len(twice):
        again = sorted(order[twice[0] : twice[0] + 2].tolist())
        got = f"{_text(pairs[twice[0]])} at indices {again[0]} and {again[1]}"
        hint = "Give each undirected edge once; use edge_weights for its strength."
        raise InputError(sentence("Graph", "an edge must be given once", got, hint))
    pairs.setflags(write=False)
    return pairs, order


def _pairs(given: Any) -> Array:
    """Return edges as an array of two columns of whole numbers."""
    must = "edges must be pairs of node numbers, shape (m, 2)"
    if not isinstance(given, np.ndarray):
        if scipy.sparse.issparse(given):
            hint = "Read an adjacency matrix with Graph.from_adjacency."
            raise InputTypeError(sentence("Graph", must, "a sparse matrix", hint))
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise InputTypeError(sentence("Graph", must, checks.show(given)))
        given = list(given)
    try:
        found = np.asarray(given)
    except ValueError:
        raise InputTypeError(sentence("Graph", must, "rows of different lengths")) from None
    if found.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        columns = found.ndim == 2 and found.shape[0] == 2
        hint = "Read it with Graph.from_edge_index." if columns else ""
        got = f"{found.dtype} of shape {found.shape}"
        raise InputTypeError(sentence("Graph", must, got, hint))
    return found


def _text(pair: Array) -> str:
    return f"({pair[0]}, {pair[1]})"


def checked_labels(name: str, given: Any, count: int) -> tuple[Hashable, ...] | None:
    if given is None:
        return None
    if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable):
        must = f"{name} must be a list of {count} labels, in order"
        raise InputTypeError(sentence("Graph", must, type(given).__name__))
    found = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
    if len(found) != count:
        raise InputError(sentence("Graph", f"{name} must have {count} labels", len(found)))
    for index, label in enumerate(found):
        if label is None or not _is_comparable(label):
            must = f"{name} must be hashable, not None and not NaN"
            raise InputTypeError(sentence("Graph", must, f"{checks.show(label)} at index {index}"))
    return found


def _is_comparable(label: Any) -> bool:
    """Return whether a label has a hash and equals itself, as not-a-number does not."""
    try:
        hash(label)
        return bool(label == label)
    except TypeError:  # a tuple that holds a list; pandas.NA, which compares to NA
        return False


def checked_attributes(given: Any, count: int) -> Array | None:
    if given is None:
        return None
    must = f"node_attributes must be {count} rows of finite numbers"
    found = _numbers(given, must)
    if found.size == 0 and count == 0:
        found = found.reshape(0, found.shape[1] if found.ndim == 2 else 0)
    if found.ndim != 2 or len(found) != count:
        raise InputError(sentence("Graph", must, f"shape {found.shape}"))
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0]
        got = f"{found[row, column]} in row {row}, column {column}"
        raise InputError(sentence("Graph", must, got))
    found.setflags(write=False)
    return found


def checked_weights(given: Any, order: Array) -> Array | None:
    if given is None:
        return None
    must = f"edge_weights must be {len(order)} positive numbers"
    found = _numbers(given, must)
    if found.shape != order.shape:
        raise InputError(sentence("Graph", must, f"shape {found.shape}"))
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > 0)))
    if len(wrong):
        raise InputError(sentence("Graph", must, f"{found[wrong[0]]} at index {wrong[0]}"))
    found = found[order]
    found.setflags(write=False)
    return found


def _numbers(given: Any, must: str) -> Array:
    """Return a copy as an array of numbers."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(sentence("Graph", must, checks.show(given))) from None
