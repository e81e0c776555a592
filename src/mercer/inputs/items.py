"""What the objects of each domain are, and the check that a collection holds nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..checks import InputTypeError, is_missing, sentence, show
from .graph import Graph
from .tree import Tree

# Sets and lists are taken as frozen ones: a model does not change where the caller's list does.


def _set(item: Any) -> Any:
    return frozenset(item) if isinstance(item, set | frozenset) else None


def _sequence(item: Any) -> Any:
    if isinstance(item, str | bytes):
        return item
    item = _unwrapped(item)
    if isinstance(item, np.ndarray) and item.ndim == 1:
        item = item.tolist()
    tokens = tuple(item) if isinstance(item, list | tuple) else None
    return tokens if _is_hashable(tokens) else None


def _is_hashable(item: Any) -> bool:
    try:
        hash(item)
    except TypeError:  # as of a tuple with a list in it
        return False
    return True


def _series(item: Any) -> Any:
    return _numbers(item, "biuf", (1, 2))


def _vectors(item: Any) -> Any:
    return _numbers(item, "biuf", (2,))


def _word_map(item: Any) -> Any:
    return _numbers(item, "iu", (2,))


def _numbers(item: Any, kinds: str, dimensions: tuple[int, ...]) -> Any:
    """Return an array, or lists of numbers as one, of such a kind and shape and all finite."""
    if isinstance(item, list | tuple):
        try:
            item = np.array(item)
        except ValueError:  # rows of different lengths
            return None
    item = _unwrapped(item)
    if isinstance(item, np.ndarray) and item.dtype == np.longdouble:
        with np.errstate(over="ignore"):  # kernels compute in double precision, at most
            item = item.astype(np.float64)
    plain = isinstance(item, np.ndarray) and item.dtype.kind in kinds
    fits = plain and item.ndim in dimensions and bool(np.isfinite(item).all())
    return item if fits else None


def _unwrapped(item: Any) -> Any:
    """Return what has an array inside, such as a column or a frame of pandas, as that array."""
    return np.asarray(item) if hasattr(item, "__array__") else item


def _instance(*kinds: type) -> Callable[[Any], Any]:
    return lambda item: item if isinstance(item, kinds) else None


# For each domain of objects: what an item must be in words, a function that returns it as kernels
# take it, or None where it is something else, and what to do then.
_KINDS: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "sets": (
        "a set or frozenset of hashable items",
        _set,
        "Make it one with set(item).",
    ),
    "sequences": (
        "a string, or a list or tuple of hashable tokens",
        _sequence,
        "Make it one: text.split() gives words; tokens are strings, numbers or tuples.",
    ),
    "trees": (
        "a Tree",
        _instance(Tree),
        "Make it with Tree.parse(text) or Tree.from_nested(tuple).",
    ),
    "graphs": (
        "a Graph",
        _instance(Graph),
        "Make it with Graph(...), Graph.from_networkx, Graph.from_edge_index or "
        "Graph.from_adjacency.",
    ),
    "series": (
        "a 1-D or 2-D array of finite numbers, one row per moment",
        _series,
        "Make it one with np.asarray, and drop or fill in what is missing.",
    ),
    "vector sets": (
        "a 2-D array of finite numbers, one row per vector",
        _vectors,
        "Make it one with np.asarray, and drop rows with something missing; "
        "an empty one is np.zeros((0, d)).",
    ),
    "word maps": (
        "a 2-D array of whole numbers, the visual word at each place",
        _word_map,
        "Make it one with np.asarray(item, dtype=int); places without a word have -1.",
    ),
}

SINGLE = "Put a single one into a list."
OBJECT_DOMAINS = frozenset(_KINDS) | {"objects"}


def checked_items(
    who: str, values: Iterable[Any], domain: frozenset[str], whole: bool = False
) -> list[Any]:
    """Return the items as kernels of the domain take them; refuse any other, naming its index.

    whole: whether the values are a collection for sure, such as a column of a frame.
    """
    wanted = [kind for word, kind in _KINDS.items() if word in domain]
    found = []
    for index, item in enumerate(values):
        taken = item if "objects" in domain else _first(item, wanted)
        if taken is None:
            must = " or ".join(text for text, _, _ in wanted) or "an object"
            got = f"{show(item)} ({type(item).__name__}) at index {index}"
            advice = " ".join(hint for _, _, hint in wanted)
            if is_missing(item):
                advice = "Drop it, or replace it by an empty one."
            elif index == 0 and not whole and is_single(values, domain):
                advice = SINGLE
            raise InputTypeError(sentence(who, f"every item must be {must}", got, advice))
        found.append(taken)
    return found


def is_single(X: Any, domain: frozenset[str]) -> bool:
    """Return whether X is one object of the domain instead of a collection of them."""
    kinds = [kind for word, kind in _KINDS.items() if word in domain]
    return _first(X, kinds) is not None


def _first(item: Any, kinds: Iterable[tuple[str, Callable[[Any], Any], str]]) -> Any:
    """Return the item as the first kind that knows it takes it, or None."""
    for _, take, _ in kinds:
        taken = take(item)
        if taken is not None:
            return taken
    return None
