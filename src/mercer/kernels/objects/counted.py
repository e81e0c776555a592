"""Kernels of objects whose feature map is a count of tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from ... import _native
from ...checks import Array
from ...inputs import Input
from ..base import Basis, Kernel
from .tokens import token_code


@dataclass(frozen=True)
class Table:
    """Counts of tokens, object by object.

    Object i has values[k] of token ids[k] for ends[i] <= k < ends[i + 1]; its ids ascend.
    """

    ends: Array  # int64
    ids: Array  # uint64, hashes of what is counted
    values: Array  # float64

    @classmethod
    def of(cls, ends: Array, ids: Array, values: Array | None = None) -> Table:
        """Return the table of single occurrences, those of object i from ends[i] to ends[i + 1].

        values: how much each counts; 1 if not given.
        """
        ends, ids = ends.astype(np.int64), np.array(ids, dtype=np.uint64)
        sums = np.ones(len(ids)) if values is None else np.array(values, dtype=np.float64)
        kept = np.empty(len(ends) - 1, dtype=np.int64)
        _native.merge_tokens(ends, ids, sums, kept, None)
        packed = np.concatenate([[0], np.cumsum(kept)])
        made = cls(packed, np.empty(packed[-1], dtype=np.uint64), np.empty(packed[-1]))
        _native.pack_tokens(ends, kept, ids, sums, made.ids, made.values)
        return made

    def __len__(self) -> int:
        return len(self.ends) - 1

    def rows(self, vocabulary: Array) -> Any:
        """Return the counts as sparse rows, one column for each id of an ascending vocabulary."""
        columns = np.empty(len(self.ids), dtype=np.int32)
        _native.look_up(vocabulary, self.ids, columns, None)
        known = columns >= 0
        kept = np.concatenate([[0], np.cumsum(known)])[self.ends]
        # Linear models of scikit-learn take 32-bit indices only.
        places = np.int32 if kept[-1] < 2**31 else np.int64
        parts = (self.values[known], columns[known].astype(places), kept.astype(places))
        return scipy.sparse.csr_array(parts, shape=(len(self), len(vocabulary)))


class CountKernel(Kernel, abstract=True):
    """A kernel of objects whose feature map is a count of tokens.

    k(x, y) = sum_t n_t(x) n_t(y) over tokens t, or sum_t min(n_t(x), n_t(y)) if `overlap` is true;
    such kernels are convolution kernels [1]_. A subclass says in `counts` what is counted. The
    explicit map makes a Gram matrix one sparse product, and prediction linear in the number of new
    points.

    References
    ----------
    .. [1] D. Haussler, "Convolution kernels on discrete structures", 1999.

    Examples
    --------
    >>> from collections import Counter
    >>> from dataclasses import dataclass
    >>> from mercer.kernels import SEQUENCES, CountKernel
    >>> @dataclass(frozen=True, repr=False)
    ... class Initials(CountKernel):
    ...     domain = SEQUENCES
    ...
    ...     def counts(self, x):
    ...         return Counter(word[0] for word in x)
    >>> Initials()([["red", "rose"], ["red", "ink"]])
    array([[4., 2.],
           [2., 2.]])
    """

    is_native = True

    @property
    def overlap(self) -> bool:
        """Whether counts meet by their minimum instead of their product."""
        return False

    @abstractmethod
    def counts(self, x: Any) -> Mapping[Hashable, float]:
        """Return n_t(x) of every token t that x has.

        Parameters
        ----------
        x : object
            One object.

        Returns
        -------
        Mapping
            Tokens, anything hashable, and how much each counts.
        """

    def pair(self, x: Any, y: Any) -> float:
        return self.common(self.counts(x), self.counts(y))

    def common(self, mine: Mapping[Hashable, float], theirs: Mapping[Hashable, float]) -> float:
        """Return k of two objects from their counts.

        Parameters
        ----------
        mine : Mapping
            What `counts` returns for the first object.
        theirs : Mapping
            What `counts` returns for the second.

        Returns
        -------
        float
            The value of the kernel.
        """
        common = [(n, theirs[token]) for token, n in mine.items() if token in theirs]
        return float(sum(min(m, n) if self.overlap else m * n for m, n in common))

    def tabulate(self, items: Sequence[Any]) -> Table:
        """Return the counts of all objects; a subclass may know a faster method than `counts`.

        Parameters
        ----------
        items : sequence
            The objects.

        Returns
        -------
        Table
            Hashes of the tokens of every object, ascending, and how much each counts.
        """
        ends, ids, values = [0], [], []
        known: dict[Hashable, int] = {}
        for x in items:
            for token, count in self.counts(x).items():
                if token not in known:
                    known[token] = token_code(token)
                ids.append(known[token])
                values.append(count)
            ends.append(len(ids))
        return Table.of(np.array(ends), np.array(ids, dtype=np.uint64), np.array(values))

    def check_sides(self, left: Input, right: Input) -> None:
        """Refuse two collections whose tokens can only differ; a subclass knows when.

        Parameters
        ----------
        left : Input
            One collection.
        right : Input
            The other.
        """

    def table(self, points: Input) -> Table:
        """Return the counts of all points, made once and kept with them.

        Parameters
        ----------
        points : Input
            The objects.

        Returns
        -------
        Table
            What `tabulate` returns.
        """
        found: Table = points.once(("table", self), lambda: self.tabulate(points.raw))
        return found

    def matched(self, left: Input, right: Input) -> Array:
        self.check_sides(left, right)
        mine, theirs = self.table(left), self.table(right)
        if left is right:
            own = mine.values if self.overlap else mine.values**2
            return _totals(own, mine.ends)
        vocabulary = distinct(theirs.ids)
        rows = mine.rows(vocabulary), theirs.rows(vocabulary)
        common = rows[0].minimum(rows[1]) if self.overlap else rows[0] * rows[1]
        return np.asarray(common.sum(axis=1), dtype=np.float64).ravel()

    def has_map(self) -> bool:
        return not self.overlap

    def vocabulary(self, points: Input) -> Array:
        """Return the ids of all tokens of these points.

        Parameters
        ----------
        points : Input
            The objects.

        Returns
        -------
        ndarray of uint64
            The ids, ascending.
        """
        found: Array = points.once(("ids", self), lambda: distinct(self.table(points).ids))
        return found

    def _basis(self, points: Input) -> Basis | None:
        if self.overlap:
            return None
        ids = self.vocabulary(points)
        return Basis(len(ids), ids)

    def expand(self, points: Input, basis: Basis) -> Any:
        return self.table(points).rows(np.zeros(0, np.uint64) if basis.ids is None else basis.ids)


def distinct(ids: Array) -> Array:
    """Return the different ids, ascending; much faster than np.unique, which hashes them again."""
    ids = np.sort(ids)
    new = np.ones(len(ids), dtype=bool)
    new[1:] = ids[1:] != ids[:-1]
    return np.asarray(ids[new])


def _totals(values: Array, ends: Array) -> Array:
    """Return the sum of the values of each object."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    exact = np.all(values == np.floor(values)) and sums[-1] < 2**53
    if exact:  # no rounding: differences of sums will do
        return np.asarray(sums[ends[1:]] - sums[ends[:-1]])
    return np.array([values[a:b].sum() for a, b in pairwise(ends.tolist())])
