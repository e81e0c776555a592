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
    """The kernel of all common substrings, weighted by their length.

    k(s, t) = sum_u decay**|u| n_u(s) n_u(t) over all substrings u of at least one token, where
    n_u(s) is how often u occurs in s [1]_.

    Parameters
    ----------
    decay : float
        Weight per token, at least 1e-300. Below 1 short substrings count most, above 1 long ones;
        then a value is infinite where decay**length exceeds 1e308.

    References
    ----------
    .. [1] S. V. N. Vishwanathan, A. J. Smola, "Fast kernels for string and tree matching", NIPS,
       2003.

    Examples
    --------
    >>> from mercer.kernels import Substring
    >>> Substring(decay=1.0)(["ab", "abc", "cab"])
    array([[3., 3., 3.],
           [3., 6., 4.],
           [3., 4., 6.]])
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
    """The kernel of common subsequences, in which gaps cost.

    k(s, t) = sum of decay**(span in s + span in t) over all pairs of equal subsequences of n
    tokens, one of s and one of t. The span of a subsequence is the number of tokens from its first
    to its last [1]_.

    Parameters
    ----------
    n : int
        Length of the subsequences, from 1 to 1000.
    decay : float
        Weight per token of the span, above 0 and at most 1.
    weights : tuple of float, default=None
        Weights w_1, …, w_n for the sum of w_p k_p over the lengths p = 1, …, n. None counts the
        length n alone.

    References
    ----------
    .. [1] H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini, C. Watkins, "Text classification
       using string kernels", Journal of Machine Learning Research, 2002.

    Examples
    --------
    >>> from mercer.kernels import Subsequence
    >>> Subsequence(2, decay=0.5)(["cat", "car", "cart"]).round(4)
    array([[0.1406, 0.0625, 0.1016],
           [0.0625, 0.1406, 0.1406],
           [0.1016, 0.1406, 0.2227]])
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
