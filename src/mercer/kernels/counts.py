"""Kernels of objects whose feature map is a count of tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from ..checks import Array
from ..inputs import Input
from .base import Basis, Kernel
from .codes import token_code


@dataclass(frozen=True)
class Table:
    """Counts of tokens, object by object.

    Object i has values[k] of token ids[k] for ends[i] <= k < ends[i + 1]; its ids ascend.
    """

    ends: Array  # int64
    ids: Array  # uint64, hashes of what is counted
    values: Array  # float64

    @classmethod
    def of(cls, owners: Array, ids: Array, count: int, values: Array | None = None) -> Table:
        """Return the table of single occurrences: token ids[k] in object owners[k].

        values: how much each counts; 1 if not given.
        """
        order = np.lexsort((ids, owners))
        owners, ids = owners[order], ids[order]
        new = np.ones(len(ids), dtype=bool)
        new[1:] = (owners[1:] != owners[:-1]) | (ids[1:] != ids[:-1])
        first = np.flatnonzero(new)
        weight = np.ones(len(ids)) if values is None else values[order]
        totals = np.add.reduceat(weight, first) if len(first) else np.zeros(0)
        ends = np.searchsorted(owners[first], np.arange(count + 1))
        return cls(ends.astype(np.int64), ids[first], totals)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def rows(self, vocabulary: Array) -> Any:
        """Return the counts as sparse rows, one column for each id of an ascending vocabulary."""
        columns = np.searchsorted(vocabulary, self.ids)
        known = columns < len(vocabulary)
        known[known] = vocabulary[columns[known]] == self.ids[known]
        kept = np.concatenate([[0], np.cumsum(known)])[self.ends]
        parts = (self.values[known], columns[known].astype(np.int32), kept)
        return scipy.sparse.csr_array(parts, shape=(len(self), len(vocabulary)))


class CountKernel(Kernel, abstract=True):
    """k(x, y) = sum_t n_t(x) n_t(y) over tokens t; a subclass says what is counted.

    The explicit map makes a Gram matrix one sparse product, and linear in the number of points
    at prediction. With `overlap` it is sum_t min(n_t(x), n_t(y)) instead, which has no short map.
    """

    @property
    def overlap(self) -> bool:
        """Whether counts meet by their minimum instead of their product."""
        return False

    @abstractmethod
    def counts(self, x: Any) -> Mapping[Hashable, float]:
        """Return n_t(x) of every token t that x has."""

    def pair(self, x: Any, y: Any) -> float:
        mine, theirs = self.counts(x), self.counts(y)
        common = [(n, theirs[token]) for token, n in mine.items() if token in theirs]
        return float(sum(min(m, n) if self.overlap else m * n for m, n in common))

    def tabulate(self, items: Sequence[Any]) -> Table:
        """Return the counts of all objects; a subclass may know a faster way than `counts`."""
        ends, ids, values = [0], [], []
        known: dict[Hashable, int] = {}
        for x in items:
            for token, count in self.counts(x).items():
                if token not in known:
                    known[token] = token_code(token)
                ids.append(known[token])
                values.append(count)
            ends.append(len(ids))
        owners = np.repeat(np.arange(len(items)), np.diff(ends))
        codes = np.array(ids, dtype=np.uint64)
        return Table.of(owners, codes, len(items), np.array(values, dtype=np.float64))

    def table(self, points: Input) -> Table:
        """Return the counts of all points, made once and kept with them."""
        found: Table = points.once(("table", self), lambda: self.tabulate(points.raw))
        return found

    def matched(self, left: Input, right: Input) -> Array:
        mine, theirs = self.table(left), self.table(right)
        if left is right:
            own = mine.values if self.overlap else mine.values**2
            return _totals(own, mine.ends)
        vocabulary = np.unique(theirs.ids)
        rows = mine.rows(vocabulary), theirs.rows(vocabulary)
        common = rows[0].minimum(rows[1]) if self.overlap else rows[0] * rows[1]
        return np.asarray(common.sum(axis=1), dtype=np.float64).ravel()

    def has_map(self) -> bool:
        return not self.overlap

    def vocabulary(self, points: Input) -> Array:
        """Return the ids of all tokens of these points, ascending."""
        found: Array = points.once(("ids", self), lambda: np.unique(self.table(points).ids))
        return found

    def _basis(self, points: Input) -> Basis | None:
        if self.overlap:
            return None
        ids = self.vocabulary(points)
        return Basis(len(ids), ids)

    def expand(self, points: Input, basis: Basis) -> Any:
        return self.table(points).rows(np.zeros(0, np.uint64) if basis.ids is None else basis.ids)


def _totals(values: Array, ends: Array) -> Array:
    """Return the sum of the values of each object."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    exact = np.all(values == np.floor(values)) and sums[-1] < 2**53
    if exact:  # no rounding: differences of sums will do
        return np.asarray(sums[ends[1:]] - sums[ends[:-1]])
    return np.array([values[a:b].sum() for a, b in pairwise(ends.tolist())])
