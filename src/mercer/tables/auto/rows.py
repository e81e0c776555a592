"""The rows of a table, and what a user says of them: their groups and their weights."""

from __future__ import annotations

import numpy as np

from ... import checks
from ...checks import Array, InputError, sentence
from ...typing import LabelsLike, PointsLike
from ..encoder.columns.table import Table, read_table

CLASS_ROWS = 10  # of each class, that are among any that are taken


def read_rows(X: PointsLike, who: str) -> Table:
    """Return the columns of a table that has rows."""
    table = read_table(X, who)
    if not len(table):
        raise InputError(sentence(who, "there must be at least one row", "0 sample(s)"))
    return table


def group_numbers(who: str, groups: LabelsLike | None, n: int, split: str) -> Array | None:
    """Return the number of the group of each of n rows; None where there are none."""
    if groups is None:
        return None
    if split == "time":
        must = 'groups must be left out with split="time", which judges by the order of rows'
        raise InputError(sentence(who, must, "both"))
    members = checks.array(who, "groups", groups)
    if members.shape != (n,):
        must = f"groups must have one entry for each of the {n} rows"
        raise InputError(sentence(who, must, f"shape {members.shape}"))
    try:
        return np.asarray(np.unique(members, return_inverse=True)[1])
    except TypeError:  # such as None among texts
        must = "groups must be numbers or texts, all of one kind"
        raise InputError(sentence(who, must, checks.show(groups))) from None


def kept_weights(weight: Array | None, kept: Array) -> Array | None:
    """Return the weights of the rows that are kept, with mean 1: their unit does not matter."""
    return None if weight is None else weight[kept] / weight[kept].mean()


def sample_rows(kept: Array, codes: Array | None, most: int, split: str, seed: int) -> Array:
    """Return about so many of the rows that are kept: the last ones in time, or any.

    codes: the classes of all rows; each class has a few rows among those returned.
    """
    some = kept[-most:]
    if split != "time":
        some = np.random.default_rng(seed).choice(kept, most, replace=False)
    if codes is not None:
        order = np.argsort(codes[kept], kind="stable")
        sorted_codes = codes[kept][order]
        place = np.arange(len(kept)) - np.searchsorted(sorted_codes, sorted_codes)
        some = np.union1d(some, kept[order[place < CLASS_ROWS]])
    return np.sort(some)
