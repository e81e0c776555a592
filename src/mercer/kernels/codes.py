"""Numbers for tokens that depend on nothing but the token, so that no table has to be shared.

A single character is its code point; anything else has a 64-bit hash of its content. Tokens that
are equal in Python (1, 1.0 and True) have one code. Two different tokens share a code with
probability 2**-63, so n different ones meet none of it but with probability n**2 / 2**64.
"""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from ..checks import Array

_LOWEST = 1 << 32  # of hashes: code points lie below


def token_code(token: Hashable) -> int:
    """Return the code of a token, a whole number below 2**64."""
    if isinstance(token, str) and len(token) == 1:
        return ord(token)
    return _hash(_content(token))


def _hash(content: bytes) -> int:
    code = int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")
    return code if code >= _LOWEST else code + _LOWEST


def _content(token: Any) -> bytes:
    """Return bytes that are equal for equal tokens."""
    if isinstance(token, str):
        return b"s" + token.encode("utf-8", "surrogatepass")
    if isinstance(token, bytes):
        return b"b" + token
    if isinstance(token, numbers.Real | Decimal | np.bool_):
        return _number(token)
    if isinstance(token, tuple):
        parts = [_content(part) for part in token]
        return b"t" + b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    if isinstance(token, frozenset):
        return b"f" + b"".join(
            sorted(_hash(_content(part)).to_bytes(8, "little") for part in token)
        )
    # Anything else is known by its own hash, which is the same for equal tokens of one process.
    return f"h{type(token).__qualname__}:{hash(token)}".encode()


def _number(token: Any) -> bytes:
    """Return bytes for the value of a number, whatever its type."""
    value = token if isinstance(token, int) else float(token)
    if value != token and value == value:  # more digits than a float has
        return f"d{token}".encode()
    whole = isinstance(value, int) or value.is_integer()
    return f"n{int(value) if whole else value!r}".encode()


def token_codes(tokens: Iterable[Hashable], known: dict[Hashable, int] | None = None) -> Array:
    """Return the codes of tokens; `known` remembers those met before."""
    known = {} if known is None else known
    found = []
    for token in tokens:
        code = known.get(token)
        if code is None:
            code = known[token] = token_code(token)
        found.append(code)
    return np.array(found, dtype=np.uint64)


def mix(codes: Array) -> Array:
    """Return a number that looks random for each code; different codes give different numbers."""
    with np.errstate(over="ignore"):
        x = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: Array = x ^ (x >> np.uint64(31))
        return mixed


@dataclass(frozen=True)
class Sequences:
    """Sequences of tokens one after another: codes of sequence i from ends[i] to ends[i + 1]."""

    codes: Array  # uint64
    ends: Array  # int64, one more than there are sequences

    def __len__(self) -> int:
        return len(self.ends) - 1


def sequences(items: Sequence[Any]) -> Sequences:
    """Return strings, bytes and lists of tokens as codes.

    A string is the sequence of its characters (code points), bytes are whole numbers, as in Python.
    """
    ends = np.cumsum([0, *map(len, items)], dtype=np.int64)
    if all(isinstance(item, str) for item in items):
        points = "".join(items).encode("utf-32-le", "surrogatepass")
        return Sequences(np.frombuffer(points, dtype=np.uint32).astype(np.uint64), ends)
    known: dict[Hashable, int] = {}
    parts = [token_codes(item, known) for item in items]
    return Sequences(np.concatenate([np.zeros(0, dtype=np.uint64), *parts]), ends)
