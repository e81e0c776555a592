"""Kernels of strings and other sequences of tokens that compare two of them as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _native, checks
from ...checks import Array, InputError, InputTypeError, sentence, show
from ...inputs import SEQUENCES
from .paired import PairKernel
from .tokens import sequences

_LEAST = 1e-300  # of decay and decay**(2n): products with it keep their digits
_LONGEST = 1000


@dataclass(frozen=True, repr=False)
class Substring(PairKernel):
    """k(s, t) = sum_u decay**|u| n_u(s) n_u(t) over all substrings u of one token and more,
    n_u(s) = how often u occurs in s.

    decay: 1e-300 or more; below 1 short substrings count most, above 1 long ones, and then a value
    may be infinite: where decay**length is above 1e308. Vishwanathan, Smola, "Fast kernels for
    string and tree matching" (2003).
    """

    domain = SEQUENCES

    decay: float

    def __post_init__(self) -> None:
        self._set(decay=checks.number("Substring", "decay", self.decay, least=_LEAST))

    def pair(self, x: Any, y: Any) -> float:
        total, above = 0.0, [0.0] * len(y)  # sum of decay**l over the common suffixes that end here
        for a in x:
            row = []
            for j, b in enumerate(y):
                row.append(self.decay * (1.0 + (above[j - 1] if j else 0.0)) if a == b else 0.0)
            total, above = total + sum(row), row
        return total

    def encode(self, items: Sequence[Any]) -> _native.Automata:
        text = sequences(items)
        return _native.Automata(text.codes, text.ends, self.decay)

    def job(self, left: Any, right: Any) -> _native.PairJob:
        return _native.SubstringJob(left, right)


@dataclass(frozen=True, repr=False)
class Subsequence(PairKernel):
    """k(s, t) = sum over all pairs of equal subsequences of n tokens, one of s and one of t, of
    decay**(their spans), the span being the number of tokens from the first to the last.

    decay: above 0, at most 1; what is left out between tokens costs. weights: w_1, ..., w_n for
    sum_p w_p k_p over the lengths p = 1..n instead of k_n alone. Lodhi, Saunders, Shawe-Taylor,
    Cristianini, Watkins, "Text classification using string kernels" (2002).
    """

    domain = SEQUENCES

    n: int
    decay: float
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        n = checks.whole("Subsequence", "n", self.n, least=1, most=_LONGEST)
        decay = checks.number("Subsequence", "decay", self.decay, above=0, most=1)
        if decay ** (2 * n) < _LEAST:
            must = f"decay**(2*n) must be at least {_LEAST:g}, for values to keep their digits"
            raise InputError(sentence("Subsequence", must, f"decay={decay:g}, n={n}"))
        self._set(n=n, decay=decay, weights=_weights(self.weights, n))

    @property
    def _every_weight(self) -> list[float]:
        return [0.0] * (self.n - 1) + [1.0] if self.weights is None else list(self.weights)

    def pair(self, x: Any, y: Any) -> float:
        same = np.array([a == b for a in x for b in y], dtype=float).reshape(len(x), len(y))
        down, along = self._gaps(len(x)), self._gaps(len(y))
        total, ending = 0.0, same  # weight of the subsequences that end at each i and j, gaps only
        for p, weight in enumerate(self._every_weight, start=1):
            total += weight * self.decay ** (2 * p) * ending.sum()
            ending = same * (down @ ending @ along.T)
        return float(total)

    def _gaps(self, length: int) -> Array:
        """Return decay**(tokens left out between j and i) where j comes before i, else 0."""
        gap = np.subtract.outer(np.arange(length), np.arange(length)) - 1
        return np.where(gap >= 0, self.decay ** np.maximum(gap, 0), 0.0)

    def encode(self, items: Sequence[Any]) -> _native.TokenSequences:
        text = sequences(items)
        return _native.TokenSequences(text.codes, text.ends)

    def job(self, left: Any, right: Any) -> _native.PairJob:
        return _native.SubsequenceJob(left, right, self.decay, self._every_weight)


def _weights(given: Any, n: int) -> tuple[float, ...] | None:
    """Return one weight for each length, or None."""
    if given is None:
        return None
    must = f"weights must be {n} numbers of at least 0, for the lengths 1 to {n}"
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
        raise InputTypeError(sentence("Subsequence", must, show(given)))
    if len(given) != n:
        raise InputError(sentence("Subsequence", must, f"{len(given)} of them"))
    return tuple(
        checks.number("Subsequence", f"weights[{i}]", weight, least=0)
        for i, weight in enumerate(given)
    )
