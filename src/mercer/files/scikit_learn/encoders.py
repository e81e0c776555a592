"""Rules about the encoders of scikit-learn: categories, those that are grouped, those dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rules import Context, Rule, only_if, truth


def _categories(value: Any, context: Context) -> bool:
    """Return whether every column has distinct categories, numbers in ascending order."""
    return (
        isinstance(value, list)
        and context.has("columns", len(value))
        and all(_is_category_list(one) for one in value)
    )


def _is_category_list(value: Any) -> bool:
    plain = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biufUSO"
    if not plain or len(value) == 0:
        return False
    if value.dtype.kind == "O":
        return len(set(value.tolist())) == len(value)
    present = value[value == value]  # a missing number is a category as well, the last
    return bool((present[1:] > present[:-1]).all()) and len(present) >= len(value) - 1


def _groups(value: Any, context: Context) -> bool:
    """Return whether the infrequent categories of each column are among its categories."""
    sizes = [len(one) for one in context.model.categories_]
    return (
        isinstance(value, list)
        and len(value) == len(sizes)
        and all(_are_places(one, size) for one, size in zip(value, sizes, strict=True))
    )


def _are_places(value: Any, size: int) -> bool:
    if value is None:
        return True
    plain = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu"
    return plain and len(value) > 0 and bool(((value >= 0) & (value < size)).all())


def _mappings(value: Any, context: Context) -> bool:
    """Return whether each category of a column with a group has a new number."""
    model = context.model
    if not isinstance(value, list) or len(value) != len(model.categories_):
        return False
    triples = zip(value, model.categories_, model._infrequent_indices, strict=True)
    return all(_is_mapping(one, len(all_of), group) for one, all_of, group in triples)


def _is_mapping(value: Any, size: int, group: Any) -> bool:
    if group is None or value is None:
        return group is None and value is None
    distinct = len(np.unique(group)) == len(group)
    fits = isinstance(value, np.ndarray) and len(value) == size and distinct
    return fits and _are_places(value, size - len(group) + 1)


def dropped(value: Any, context: Context) -> bool:
    """Return whether what is dropped of each column is among its categories."""
    if value is None:
        return True
    plain = isinstance(value, np.ndarray) and value.shape == (len(context.model.categories_),)
    return plain and all(
        one is None or (type(one) in (int, np.int64) and 0 <= one < len(all_of))
        for one, all_of in zip(value.tolist(), context.model.categories_, strict=True)
    )


def outputs_of_categories(value: Any, context: Context) -> bool:
    """Return whether the numbers of features are those of the categories."""
    model = context.model
    plain = isinstance(value, list) and all(type(one) in (int, np.int64) for one in value)
    wanted = [len(one) for one in model.categories_]
    if model._infrequent_enabled:
        groups = model._infrequent_indices
        wanted = [n if g is None else n - len(g) + 1 for n, g in zip(wanted, groups, strict=True)]
    if model._drop_idx_after_grouping is not None:
        places = model._drop_idx_after_grouping
        wanted = [n - (place is not None) for n, place in zip(wanted, places, strict=True)]
    return plain and value == wanted


def missing_places(value: Any, context: Context) -> bool:
    """Return whether the missing category of each column is among its categories."""
    lists = context.model.categories_
    return isinstance(value, dict) and all(
        type(column) is int
        and 0 <= column < len(lists)
        and type(place) in (int, np.int64)
        and 0 <= place < len(lists[column])
        for column, place in value.items()
    )


def _is_grouped(context: Context) -> bool:
    return bool(context.model._infrequent_enabled)


ENCODED: dict[str, Rule] = {
    "categories_": Rule("a list of distinct categories, one list a column", _categories),
    "_infrequent_enabled": truth(),
}
GROUPED: dict[str, Rule] = {
    "_infrequent_indices": only_if(_is_grouped, Rule("places of infrequent categories", _groups)),
    "_default_to_infrequent_mappings": only_if(
        _is_grouped, Rule("new numbers of the categories", _mappings)
    ),
}
