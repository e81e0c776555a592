"""Digests of what a fit is given, by which a checkpoint knows its own fit."""

from __future__ import annotations

import dataclasses
import hashlib
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from ...inputs import Frame, GramRows, Input, Matrix, RowBlocks
from ...inputs.blocks import nothing
from ...kernels import Kernel

DIGITS = 16  # hexadecimal, of a digest that tells data apart
SHOWN = 100  # characters of a value
SAMPLED = 16  # rows of a block without a file that stand for all of it


def digest(value: Any) -> str:
    """Return a digest of the content of any value, the same in every process."""
    found = hashlib.sha256()
    _feed(found, value)
    return found.hexdigest()[:DIGITS]


def told(value: Any) -> str:
    """Return a value in words that tell it from other values."""
    if isinstance(value, bool | int | float | str | np.generic | None):
        text = repr(value.item() if isinstance(value, np.generic) else value)
    elif isinstance(value, Kernel):
        text = repr(value)
    elif isinstance(value, np.ndarray):
        text = f"{value.dtype} of shape {value.shape} with digest {digest(value)}"
    else:
        text = f"{type(value).__name__} with digest {digest(value)}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… with digest {digest(value)}"


def told_points(points: Input) -> str:
    """Return points in words: how many they are, and a digest of them.

    Of blocks that come from files it is the digest of the files' names, sizes and times; of other
    blocks, that of a few rows of each.
    """
    if isinstance(points, RowBlocks):
        stamp = points._first_stamp
        rows = [found for _, found in points.each(_sample, nothing)] if stamp is None else stamp
        counts = f"{len(points)} rows in {len(points.lengths)} blocks"
        return f"{counts} with digest {digest((points.lengths, rows))}"
    shape = f"{len(points)}"
    if isinstance(points, Matrix | GramRows):
        shape += f" x {points.values.shape[1]} {points.values.dtype}"
    return f"{shape} with digest {digest(points)}"


def _sample(block: Input, part: None) -> str:
    """Return the digest of a few rows of a block."""
    rows = np.linspace(0, len(block) - 1, min(SAMPLED, len(block))).astype(int)
    return digest(block.take(rows))


def _feed(found: Any, value: Any) -> None:
    """Give the content of a value to a digest, with marks that keep its parts apart."""
    found.update(f"<{type(value).__name__}>".encode())
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        found.update(f"{value.dtype.str}{value.shape}".encode())
        found.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    elif isinstance(value, str | bytes):
        text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        found.update(len(text).to_bytes(8, "little") + text)
    elif isinstance(value, int | float | complex | np.generic | None):
        found.update(repr(value).encode())
    else:
        parts = _parts(value)
        found.update(len(parts).to_bytes(8, "little"))
        for part in parts:
            _feed(found, part)


def _parts(value: Any) -> list[Any]:
    """Return what a value consists of; of sets and mappings, in an order of its own."""
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, set | frozenset):
        return sorted(map(digest, value))
    if isinstance(value, Mapping):
        return sorted(digest(pair) for pair in value.items())
    if isinstance(value, np.ndarray):  # of objects
        return list(value.tolist())
    if scipy.sparse.issparse(value):
        rows = value.tocsr()
        return [rows.shape, rows.data, rows.indices, rows.indptr]
    if isinstance(value, Frame):
        return [(str(n), value.frame.get_column(n).to_list()) for n in value.names]
    if isinstance(value, Input):
        return [vars(value).get("names"), value.raw]
    return _parts_of_object(value)


def _parts_of_object(value: Any) -> list[Any]:
    if isinstance(value, types.FunctionType):
        return [value.__module__, value.__qualname__, value.__code__, value.__defaults__]
    if isinstance(value, types.CodeType):
        return [value.co_code, value.co_consts, value.co_names]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, one.name) for one in dataclasses.fields(value)]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return [type(value).__qualname__, value.get_params(deep=False)]
    if hasattr(value, "__qualname__"):
        return [str(value.__module__), value.__qualname__]
    try:  # what the value says that it is made of; nothing is made
        return list(value.__reduce_ex__(2)[1:3])
    except TypeError:
        return []
