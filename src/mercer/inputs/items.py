"""What the objects of each domain are, and the check that a collection holds nothing else."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ..checks import InputTypeError, sentence, show
from .graph import Graph
from .tree import Tree


def _is_sequence(item: Any) -> bool:
    return isinstance(item, str | bytes) or (
        isinstance(item, list | tuple) and all(isinstance(token, Hashable) for token in item)
    )


def _is_series(item: Any) -> bool:
    return _is_numeric(item, (1, 2))


def _is_vectors(item: Any) -> bool:
    return _is_numeric(item, (2,))


def _is_word_map(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.ndim == 2 and item.dtype.kind in "iu"


def _is_numeric(item: Any, dimensions: tuple[int, ...]) -> bool:
    plain = isinstance(item, np.ndarray) and item.dtype.kind in "biuf"
    return plain and item.ndim in dimensions and bool(np.isfinite(item).all())


# For each domain of objects: what an item must be in words, the test, and what to do otherwise.
_KINDS: dict[str, tuple[str, Callable[[Any], bool], str]] = {
    "sets": (
        "a set or frozenset of hashable items",
        lambda item: isinstance(item, set | frozenset),
        "",
    ),
    "sequences": ("a string, or a list or tuple of hashable tokens", _is_sequence, ""),
    "trees": (
        "a Tree",
        lambda item: isinstance(item, Tree),
        "Make it with Tree.parse(text) or Tree.from_nested(tuple).",
    ),
    "graphs": (
        "a Graph",
        lambda item: isinstance(item, Graph),
        "Make it with Graph(...), Graph.from_networkx or Graph.from_adjacency.",
    ),
    "series": (
        "a 1-D or 2-D array of finite numbers, one row a moment",
        _is_series,
        "Make it one with np.asarray, and drop or fill in what is missing.",
    ),
    "vector sets": (
        "a 2-D array of finite numbers, one row a vector",
        _is_vectors,
        "Make it one with np.asarray, and drop rows with something missing.",
    ),
    "word maps": (
        "a 2-D array of whole numbers, the visual word at each place",
        _is_word_map,
        "Make it one with np.asarray(item, dtype=int); places without a word have -1.",
    ),
}

OBJECT_DOMAINS = frozenset(_KINDS) | {"objects"}


def check_items(who: str, values: Sequence[Any], domain: frozenset[str]) -> None:
    """Refuse None and items of a type that no wanted domain has, naming the index."""
    wanted = [kind for word, kind in _KINDS.items() if word in domain]
    anything = "objects" in domain
    for index, item in enumerate(values):
        if item is None or not (anything or any(fits(item) for _, fits, _ in wanted)):
            must = " or ".join(text for text, _, _ in wanted) or "an object"
            got = f"{show(item)} ({type(item).__name__}) at index {index}"
            hints = "" if item is None else " ".join(hint for _, _, hint in wanted if hint)
            advice = hints or "Drop it, or replace it by an empty one."
            raise InputTypeError(sentence(who, f"every item must be {must}", got, advice))
