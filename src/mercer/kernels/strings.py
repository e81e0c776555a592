"""Kernels of strings and other sequences of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import checks
from ..inputs import SEQUENCES
from .counts import CountKernel


@dataclass(frozen=True, repr=False)
class Spectrum(CountKernel):
    """k(s, t) = sum_u n_u(s) n_u(t) over all n-grams u, n_u(s) = how often u occurs in s.

    blended=True sums over all lengths 1..n. A sequence may be a string (by code point), bytes, or
    a list or tuple of tokens. Leslie, Eskin, Noble, "The spectrum kernel" (2002).
    """

    domain = SEQUENCES

    n: int
    blended: bool = False

    def __post_init__(self) -> None:
        self._set(n=checks.whole("Spectrum", "n", self.n, least=1), blended=bool(self.blended))

    def pair(self, x: Any, y: Any) -> float:
        x, y = _tokens(x), _tokens(y)
        total = 0
        for length in range(1 if self.blended else self.n, self.n + 1):
            ours = [x[i : i + length] for i in range(len(x) - length + 1)]
            theirs = [y[i : i + length] for i in range(len(y) - length + 1)]
            total += sum(u == v for u in ours for v in theirs)
        return float(total)

    def counts(self, x: Any) -> Mapping[Hashable, float]:
        tokens = _tokens(x)
        lengths = range(1 if self.blended else self.n, self.n + 1)
        return Counter(
            tokens[i : i + length] for length in lengths for i in range(len(tokens) - length + 1)
        )


def _tokens(x: Any) -> Any:
    """Return a sequence whose slices can be counted."""
    return x if isinstance(x, str | bytes) else tuple(x)
