"""Slow, obvious definitions of the kernels of sequences: everything is written out and compared.

Nothing here imports mercer.
"""

import math
from fractions import Fraction
from itertools import combinations, product


def windows(s, n):
    """All substrings of n tokens, with repetitions."""
    return [tuple(s[i : i + n]) for i in range(len(s) - n + 1)]


def spectrum(s, t, n):
    """Pairs of equal substrings of n tokens."""
    return sum(u == v for u in windows(s, n) for v in windows(t, n))


def blended_spectrum(s, t, n):
    return sum(spectrum(s, t, p) for p in range(1, n + 1))


def differing(u, v):
    return sum(a != b for a, b in zip(u, v, strict=True))


def mismatch(s, t, k, m, alphabet):
    """Over every word of k tokens there is."""
    total = 0
    for word in product(alphabet, repeat=k):
        near = [sum(differing(word, u) <= m for u in windows(x, k)) for x in (s, t)]
        total += near[0] * near[1]
    return total


def substring(s, t, decay):
    """Over pairs of equal substrings of any length."""
    longest = min(len(s), len(t))
    return math.fsum(decay**p * spectrum(s, t, p) for p in range(1, longest + 1))


def subsequences(s, n):
    """All choices of n places: the tokens there, and the span."""
    return [
        (tuple(s[i] for i in places), places[-1] - places[0] + 1)
        for places in combinations(range(len(s)), n)
    ]


def subsequence(s, t, n, decay):
    """Over pairs of equal choices; exact where decay is a fraction."""
    theirs = subsequences(t, n)
    total = [
        decay ** (span + other) for u, span in subsequences(s, n) for v, other in theirs if u == v
    ]
    return sum(total, start=Fraction(0)) if isinstance(decay, Fraction) else math.fsum(total)


def exact_subsequence(s, t, n, decay):
    """The same by the recursion of Lodhi et al. on prefixes, in fractions, for longer strings."""
    prime = [[Fraction(1)] * (len(t) + 1) for _ in range(len(s) + 1)]
    total = Fraction(0)
    for p in range(1, n + 1):
        last = prime
        prime = [[Fraction(0)] * (len(t) + 1) for _ in range(len(s) + 1)]
        total = Fraction(0)
        for i in range(1, len(s) + 1):
            second = Fraction(0)
            for j in range(1, len(t) + 1):
                same = s[i - 1] == t[j - 1]
                second = decay * second + (decay**2 * last[i - 1][j - 1] if same else 0)
                prime[i][j] = decay * prime[i - 1][j] + second
                if same and p == n:
                    total += decay**2 * last[i - 1][j - 1]
    return total
