"""Kernels of objects whose feature map is a count of tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse

from ..inputs import Input
from .base import Basis, Kernel


class CountKernel(Kernel, abstract=True):
    """k(x, y) = sum_t n_t(x) n_t(y) over tokens t; a subclass says what is counted.

    The explicit map makes a Gram matrix one sparse product, and linear in the number of points
    at prediction.
    """

    @abstractmethod
    def counts(self, x: Any) -> Mapping[Hashable, float]:
        """Return n_t(x) of every token t that x has."""

    def pair(self, x: Any, y: Any) -> float:
        theirs = self.counts(y)
        return float(sum(n * theirs.get(token, 0) for token, n in self.counts(x).items()))

    def _basis(self, points: Input) -> Basis:
        tokens = {token for x in points.raw for token in self.counts(x)}
        return Basis(len(tokens), {token: i for i, token in enumerate(_ordered(tokens))})

    def expand(self, points: Input, basis: Basis) -> Any:
        known = basis.tokens or {}
        ends, columns, values = [0], [], []
        for x in points.raw:
            for token, count in self.counts(x).items():
                if token in known:
                    columns.append(known[token])
                    values.append(count)
            ends.append(len(columns))
        shape = (len(points), basis.width)
        parts = (np.array(values, dtype=np.float64), np.array(columns, dtype=np.int64), ends)
        rows = scipy.sparse.csr_array(parts, shape=shape)
        rows.sort_indices()
        return rows


def _ordered(tokens: Iterable[Any]) -> list[Any]:
    """Return tokens in an order that does not depend on the hash seed of the process."""
    try:
        return sorted(tokens)
    except TypeError:
        return sorted(tokens, key=lambda token: (type(token).__name__, repr(token)))
