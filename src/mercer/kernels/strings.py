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

    def counts(self, x: Any) -> Mapping[Hashable, float]:
        tokens = _tokens(x)
        lengths = range(1 if self.blended else self.n, min(self.n, len(tokens)) + 1)
        return Counter(
            tokens[i : i + length] for length in lengths for i in range(len(tokens) - length + 1)
        )


def _tokens(x: Any) -> Any:
    """Return a sequence whose slices can be counted."""
    return x if isinstance(x, str | bytes) else tuple(x)
