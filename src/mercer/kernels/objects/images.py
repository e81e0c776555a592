"""Kernels of images: maps of visual words, and sets of local descriptions."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import checks
from ...checks import Array, InputError, sentence
from ...inputs import VECTOR_SETS, WORD_MAPS, Input
from .counted import CountKernel, Table
from .paired import portions
from .tokens import mix, mix_rows

_TOKENS = 1 << 20  # that are counted together, which bounds what the work takes in memory
_FINEST = 16  # level: there are 2**16 cells in a row then, more than a map has places
_FULL = 60  # level: the bins are 2**60 times as wide as on level 0, far beyond any data


@dataclass(frozen=True, repr=False)
class SpatialPyramid(CountKernel):
    """The spatial pyramid kernel of maps of visual words.

    k(A, B) = 2**-L I_0 + sum_l 2**-(L - l + 1) I_l for l = 1, …, L, where L = levels. Level l cuts
    a map into 2**l x 2**l cells, and I_l = sum min(n, n') over cells and words, n and n' being how
    many places of the cell have the word in A and in B [1]_. A map is a 2-D array of whole numbers,
    the visual word at each place; a negative number means that there is none. Row i is in row
    floor(i 2**l / height) of the cells, and so are columns. A map without words has k = 0. Larger
    maps have larger values, unless `.normalized()`.

    Parameters
    ----------
    levels : int
        The finest level L, from 0 to 16.

    References
    ----------
    .. [1] S. Lazebnik, C. Schmid, J. Ponce, "Beyond bags of features: spatial pyramid matching for
       recognizing natural scene categories", CVPR, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import SpatialPyramid
    >>> maps = [np.array([[0, 1], [2, 2]]), np.array([[1, 0], [2, 2]])]
    >>> SpatialPyramid(1)(maps)
    array([[4., 3.],
           [3., 4.]])
    """

    domain = WORD_MAPS

    levels: int

    def __post_init__(self) -> None:
        levels = checks.whole("SpatialPyramid", "levels", self.levels, least=0, most=_FINEST)
        self._set(levels=levels)

    @property
    def overlap(self) -> bool:
        return True

    def weight(self, level: int) -> float:
        """Return how much one place counts on a level.

        Parameters
        ----------
        level : int
            The level, from 0.

        Returns
        -------
        float
            The weight of the level.
        """
        return 2.0 ** -(self.levels - max(level - 1, 0))

    def counts(self, x: Any) -> Mapping[Hashable, float]:
        height, width = x.shape
        found: dict[Hashable, float] = {}
        for level in range(self.levels + 1):
            for (i, j), word in np.ndenumerate(x):
                token = (level, (i << level) // height, (j << level) // width, int(word))
                if word >= 0:
                    found[token] = found.get(token, 0.0) + self.weight(level)
        return found

    def tabulate(self, items: Sequence[Any]) -> Table:
        sizes = [item.size * (self.levels + 1) for item in items]
        return _joined(self._table(items[some]) for some in portions(sizes, _TOKENS))

    def _table(self, maps: Sequence[Any]) -> Table:
        """Return the counts of a few maps: the tokens of a place are side by side."""
        cells = {shape: _cells(shape, self.levels) for shape in {item.shape for item in maps}}
        rows, columns = np.concatenate([cells[item.shape] for item in maps], axis=1)
        words = np.concatenate([item.ravel().astype(np.uint64) for item in maps])
        present = np.concatenate([(item >= 0).ravel() for item in maps])
        rows, columns, words = rows[present], columns[present], mix(words[present])
        ids = np.empty((len(words), self.levels + 1), dtype=np.uint64)
        for level in range(self.levels + 1):
            finer = self.levels - level
            where = (level << 2 * _FINEST) + (rows >> finer << _FINEST) + (columns >> finer)
            ids[:, level] = mix(words + where.astype(np.uint64))
        return _table([int((item >= 0).sum()) for item in maps], ids, self.weight)


def _cells(shape: tuple[int, int], level: int) -> Array:
    """Return the row and the column of the cell that each place of a map is in."""
    rows, columns = ((np.arange(size) << level) // size for size in shape)
    return np.array([part.ravel() for part in np.meshgrid(rows, columns, indexing="ij")])


@dataclass(frozen=True, repr=False)
class PyramidMatch(CountKernel):
    """The pyramid match kernel of sets of vectors.

    k(X, Y) = sum_i 2**-i (I_i - I_(i-1)) for i = 0, …, levels, with I_(-1) = 0. I_i = sum min(n,
    n') over bins of side `side` 2**i, n and n' being how many vectors of X and of Y lie in the bin;
    the bin of x is floor(x / (side 2**i)), column by column. So a pair that first meets on level i
    counts 2**-i [1]_. The same is sum_i w_i I_i with w_i = 2**-(i + 1), and 2**-levels for the
    last, which shows that k is positive definite. A set of vectors is an array of shape (m, d); a
    set without vectors has k = 0. Larger sets have larger values, unless `.normalized()`.

    Parameters
    ----------
    levels : int
        The coarsest level, from 0 to 60.
    side : float, default=1.0
        Side of the finest bins, above 0.

    References
    ----------
    .. [1] K. Grauman, T. Darrell, "The pyramid match kernel: discriminative classification with
       sets of image features", ICCV, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import PyramidMatch
    >>> sets = [np.array([[0.2], [3.1]]), np.array([[0.7]]), np.array([[2.5], [7.0]])]
    >>> PyramidMatch(levels=2)(sets)
    array([[2.  , 1.  , 0.5 ],
           [1.  , 1.  , 0.25],
           [0.5 , 0.25, 2.  ]])
    """

    domain = VECTOR_SETS

    levels: int
    side: float = 1.0

    def __post_init__(self) -> None:
        levels = checks.whole("PyramidMatch", "levels", self.levels, least=0, most=_FULL)
        side = checks.number("PyramidMatch", "side", self.side, above=0)
        self._set(levels=levels, side=side)

    @property
    def overlap(self) -> bool:
        return True

    def weight(self, level: int) -> float:
        """Return how much one vector counts on a level.

        Parameters
        ----------
        level : int
            The level, from 0.

        Returns
        -------
        float
            The weight of the level.
        """
        return 2.0 ** -min(level + 1, self.levels)

    def check_sides(self, left: Input, right: Input) -> None:
        if len(left) and len(right):
            _check_widths(left.raw[0], right.raw[0])

    def pair(self, x: Any, y: Any) -> float:
        _check_widths(x, y)
        return super().pair(x, y)

    def counts(self, x: Any) -> Mapping[Hashable, float]:
        self._check([x])
        found: dict[Hashable, float] = {}
        for level in range(self.levels + 1):
            for vector in x:
                token = (level, *(float(value) // self.side // 2.0**level for value in vector))
                found[token] = found.get(token, 0.0) + self.weight(level)
        return found

    def tabulate(self, items: Sequence[Any]) -> Table:
        self._check(items)
        sizes = [item.size + len(item) * (self.levels + 1) for item in items]
        return _joined(self._table(items[some]) for some in portions(sizes, _TOKENS))

    def _table(self, sets: Sequence[Any]) -> Table:
        """Return the counts of a few sets: the tokens of a vector are side by side."""
        bins = np.floor_divide(np.concatenate(sets, dtype=np.float64), self.side)
        ids = np.empty((len(bins), self.levels + 1), dtype=np.uint64)
        for level in range(self.levels + 1):
            ids[:, level] = _bin_ids(bins, level)
            bins = np.floor(bins / 2)
        return _table([len(item) for item in sets], ids, self.weight)

    def _check(self, items: Sequence[Any]) -> None:
        """Refuse vectors of different widths, and numbers whose bin no double can name."""
        for index, item in enumerate(items):
            if item.shape[1] != items[0].shape[1]:
                must = f"every vector must have {items[0].shape[1]} numbers, as in the first set"
                got = f"{item.shape[1]} at index {index}"
                raise InputError(sentence("PyramidMatch", must, got))
            most = float(np.abs(item, dtype=np.float64).max(initial=0.0))
            if math.isinf(most / self.side):
                must = "a number must be less than 1.8e308 bins from 0"
                got = f"{most:g} at index {index}, with side {self.side:g}"
                raise InputError(sentence("PyramidMatch", must, got, "Take a larger side."))


def _check_widths(x: Array, y: Array) -> None:
    if x.shape[1] != y.shape[1]:
        got = f"{x.shape[1]} and {y.shape[1]}"
        must = "vectors of X and of Y must have equally many numbers"
        raise InputError(sentence("PyramidMatch", must, got))


def _bin_ids(bins: Array, level: int) -> Array:
    """Return a hash of the level and the bin of every vector."""
    seed = mix(np.array([1 + level + (bins.shape[1] << 8)], dtype=np.uint64))
    return mix_rows(np.repeat(seed, len(bins)), bins)


def _table(lengths: Sequence[int], ids: Array, weight: Callable[[int], float]) -> Table:
    """Return the counts of objects with so many parts; each part has one token per level."""
    levels = ids.shape[1]
    ends = np.cumsum([0, *lengths]) * levels
    weights = np.array([weight(level) for level in range(levels)])
    return Table.of(ends, ids.ravel(), np.tile(weights, len(ids)))


def _joined(tables: Iterable[Table]) -> Table:
    """Return the table of all objects of several tables."""
    parts = [Table.of(np.zeros(1), np.zeros(0)), *tables]
    lengths = np.concatenate([np.diff(part.ends) for part in parts])
    ends = np.concatenate([[0], np.cumsum(lengths)])
    ids, values = [part.ids for part in parts], [part.values for part in parts]
    return Table(ends, np.concatenate(ids), np.concatenate(values))
