"""Numbers for tokens that depend on nothing but the token, so that no table has to be shared.

A single character is its code point; anything else has a 64-bit hash of its content. Tokens that
are equal in Python (1, 1.0 and True) have one code, and so have all NaN. Two different tokens share
a code with probability 2**-64; among n of them, some pair does with probability n**2 / 2**65.
"""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from threading import Lock
from typing import Any

import numpy as np

from ...checks import Array

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
    if isinstance(token, numbers.Complex | Decimal | np.bool_):
        return _number(token)
    if isinstance(token, tuple):
        parts = [_content(part) for part in token]
        return b"t" + b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    if isinstance(token, frozenset):
        return b"f" + b"".join(
            sorted(_hash(_content(part)).to_bytes(8, "little") for part in token)
        )
    if isinstance(token, Enum) and type(token).__hash__ is Enum.__hash__:
        return f"e{type(token).__module__}.{type(token).__qualname__}.{token.name}".encode()
    return _other(token)


def _number(token: Any) -> bytes:
    """Return bytes for the value of a number, whatever its type."""
    if isinstance(token, numbers.Integral | np.bool_):
        return f"n{int(token):x}".encode()
    if isinstance(token, numbers.Complex) and not isinstance(token, numbers.Real):
        imaginary = b"" if token.imag == 0 else b"+i" + _number(token.imag)
        return _number(token.real) + imaginary
    try:
        top, bottom = token.as_integer_ratio()
    except (AttributeError, OverflowError, ValueError):  # infinite or NaN
        return f"n{float(token)!r}".encode()
    return f"n{top:x}{'' if bottom == 1 else f'/{bottom:x}'}".encode()


_others: dict[int, list[Any]] = {}  # tokens of other types by their own hash
_one_at_a_time = Lock()


def _other(token: Any) -> bytes:
    """Return bytes for a token of any other type, which only its equality tells from others.

    Its own hash may be that of other tokens too (those of -1 and -2 are the same), so tokens that
    share one are numbered as they come. Python's hashes of strings hold within one process.
    """
    with _one_at_a_time:
        alike = _others.setdefault(hash(token), [])
        if token not in alike:
            alike.append(token)
        return f"h{hash(token)}.{alike.index(token)}".encode()


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


def mix_rows(codes: Array, rows: Array) -> Array:
    """Return codes, one for each row of numbers, mixed with the numbers of the row in turn."""
    for column in (rows + 0.0).view(np.uint64).T:  # 0 and -0 are one number
        codes = mix(codes + column)
    return codes


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
