"""Lists of objects as tensors: all texts in one, all numbers in another, lengths as offsets.

A column is a list of one kind; items of several kinds are a union, a code for each item and a
column for each kind. Lists, sets and dicts are offsets into a column of what they hold, so any
nesting is a handful of tensors, however long the list. Other rooms add kinds with `register_kind`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..checks import Array
from ..storage.container import is_shape
from .arrays import check_offsets, pack_array, unpack_array
from .context import LoadContext, SaveContext

Kind = tuple[Hashable, ...]
Column = dict[str, Any]

_LARGEST = 2**63 - 1
_SIMPLE: dict[type, str] = {
    type(None): "none",
    bool: "bool",
    float: "float",
    str: "str",
    bytes: "bytes",
    list: "list",
    tuple: "tuple",
    set: "set",
    frozenset: "frozenset",
    dict: "dict",
    np.str_: "numpy str",
    np.bytes_: "numpy bytes",
}
_NUMBERS: dict[str, type] = {"bool": np.bool_, "int": np.int64, "float": np.float64}
_TEXTS: dict[str, Callable[[bytes], Any]] = {
    "str": lambda content: content.decode("utf-8"),
    "bytes": bytes,
    "numpy str": lambda content: np.str_(content.decode("utf-8")),
    "numpy bytes": np.bytes_,
    "hex": lambda content: _whole(content.decode("ascii")),
}
_COLLECTIONS: dict[str, Callable[[Iterable[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


@dataclass(frozen=True, kw_only=True)
class Structure:
    """A kind of item with its way in and its way out.

    traits: what decides, besides its type, which items can share a column.
    """

    word: str
    traits: Callable[[Any], Kind]
    pack: Callable[[Sequence[Any], SaveContext, str], Column]
    unpack: Callable[[Column, LoadContext], list[Any]]


_structures: dict[type, Structure] = {}


def register_kind(
    type_of_item: type,
    word: str,
    traits: Callable[[Any], Kind],
    pack: Callable[[Sequence[Any], SaveContext, str], Column],
    unpack: Callable[[Column, LoadContext], list[Any]],
) -> None:
    """Let columns hold items of one more type."""
    _structures[type_of_item] = Structure(word=word, traits=traits, pack=pack, unpack=unpack)


def _structure(word: str) -> Structure | None:
    return next((one for one in _structures.values() if one.word == word), None)


def _whole(text: str) -> int:
    if not re.fullmatch("-?0x[0-9a-f]+", text):
        raise ValueError("a whole number must be hexadecimal digits")
    return int(text, 16)


# --- packing -----------------------------------------------------------------------------------


def pack_column(items: Sequence[Any], packing: SaveContext, where: str) -> Column:
    """Return a list of items as tensors."""
    kinds: list[Kind] = []
    for item in items:
        kind = _kind(item)
        if kind is None:
            raise packing.refusal(item, where)
        kinds.append(kind)
    distinct = sorted(set(kinds), key=repr)
    if len(distinct) == 1 and distinct[0] != ("none",):
        return _pack_part(distinct[0], items, packing, where)
    if len(distinct) > 255:
        raise packing.refusal(items, f"{where}, a list with {len(distinct)} kinds of items,")
    codes = {kind: code for code, kind in enumerate(distinct)}
    groups: list[list[Any]] = [[] for _ in distinct]
    for item, kind in zip(items, kinds, strict=True):
        groups[codes[kind]].append(item)
    return {
        "kind": "union",
        "codes": packing.tensor(
            f"{where}.codes", np.array([codes[kind] for kind in kinds], np.uint8)
        ),
        "parts": [
            _pack_part(kind, group, packing, f"{where}.{kind[0]}".replace(" ", "_"))
            for kind, group in zip(distinct, groups, strict=True)
        ],
    }


def is_item(value: Any) -> bool:
    """Return whether a column can hold this value, with everything in it."""
    if type(value) is dict:
        return all(map(is_item, value)) and all(map(is_item, value.values()))
    inside = type(value) in (list, tuple, set, frozenset)
    return all(map(is_item, value)) if inside else _kind(value) is not None


def _kind(item: Any) -> Kind | None:
    """Return what decides the column of an item; arrays of one type and rank share one."""
    simple = _SIMPLE.get(type(item))
    if simple is not None:
        return (simple,)
    structure = _structures.get(type(item))
    if structure is not None:
        return (structure.word, *structure.traits(item))
    if type(item) is int:
        return ("int" if -_LARGEST <= item <= _LARGEST else "hex",)
    if type(item) is np.ndarray and item.dtype.kind != "O":
        return ("array", item.dtype.str, item.ndim)
    if isinstance(item, np.generic) and not isinstance(item, np.void | np.object_):
        return ("scalar", item.dtype.str)
    return None


def _pack_part(kind: Kind, items: Sequence[Any], packing: SaveContext, where: str) -> Column:
    """Return items of one kind as tensors."""
    name = str(kind[0])
    column: Column = {"kind": name}
    structure = _structure(name)
    if structure is not None:
        return column | structure.pack(items, packing, where)
    if name in _NUMBERS:
        numbers: Array = np.array(items, dtype=_NUMBERS[name])
        return column | {"values": packing.tensor(where, numbers)}
    if name in _TEXTS:
        return column | _pack_texts(name, items, packing, where)
    if name in _COLLECTIONS:
        inner = [one for item in items for one in (_ordered(item) if "set" in name else item)]
        offsets = pack_offsets(items, packing, where)
        return column | {"offsets": offsets, "items": pack_column(inner, packing, f"{where}.items")}
    if name == "dict":
        keys = [key for item in items for key in item]
        values = [value for item in items for value in item.values()]
        return column | {
            "offsets": pack_offsets(items, packing, where),
            "keys": pack_column(keys, packing, f"{where}.keys"),
            "values": pack_column(values, packing, f"{where}.values"),
        }
    if name == "scalar":
        return column | {"values": pack_array(np.array(items), packing, where)}
    if name == "array":
        shapes = np.array([item.shape for item in items], np.int64)
        flat = np.concatenate([item.reshape(-1) for item in items])
        return column | {
            "shapes": packing.tensor(f"{where}.shapes", shapes),
            "values": pack_array(flat, packing, where),
        }
    return column  # none


def _pack_texts(name: str, items: Sequence[Any], packing: SaveContext, where: str) -> Column:
    if name == "hex":
        items = [hex(item) for item in items]
    contents = [
        packing.text(item, where).encode() if isinstance(item, str) else bytes(item)
        for item in items
    ]
    return {
        "offsets": pack_offsets(contents, packing, where),
        "bytes": packing.tensor(where, np.frombuffer(b"".join(contents), np.uint8)),
    }


def pack_offsets(items: Sequence[Any], packing: SaveContext, where: str) -> str:
    """Return the name of the tensor that says where each item ends."""
    ends = np.cumsum([0, *map(len, items)], dtype=np.int64)
    return packing.tensor(f"{where}.offsets", ends)


def _ordered(items: Iterable[Any]) -> list[Any]:
    """Return the items of a set in an order that is the same in every process."""
    return sorted(items, key=_order)


def _order(item: Any) -> tuple[str, Any]:
    if isinstance(item, tuple | frozenset):
        inner = [_order(one) for one in item]
        return type(item).__name__, repr(sorted(inner) if isinstance(item, frozenset) else inner)
    return type(item).__name__, repr(item)


# --- unpacking ---------------------------------------------------------------------------------


def unpack_column(data: Any, unpacking: LoadContext) -> list[Any]:
    """Return the list of a column."""
    kind = unpacking.get(data, "kind", str)
    if kind == "union":
        return _unpack_union(data, unpacking)
    return _unpack_part(kind, data, unpacking)


def _unpack_union(data: Any, unpacking: LoadContext) -> list[Any]:
    codes = unpacking.tensor(data, "codes", np.uint8)
    parts = unpacking.get(data, "parts", list)
    counts = np.bincount(codes, minlength=len(parts))
    found = [
        # Only here is a column of nothing possible: the codes say how long it is.
        [None] * int(count)
        if isinstance(part, dict) and part.get("kind") == "none"
        else unpack_column(part, unpacking)
        for part, count in zip(parts, counts, strict=False)
    ]
    if [len(part) for part in found] != counts.tolist():
        raise unpacking.fail("a union must have one item a code", f"{counts.tolist()} codes")
    heads = [iter(part) for part in found]
    return [next(heads[code]) for code in codes.tolist()]


def _unpack_part(kind: str, data: Any, unpacking: LoadContext) -> list[Any]:
    if kind in _NUMBERS:
        return list(unpacking.tensor(data, "values", _NUMBERS[kind]).tolist())
    if kind in _TEXTS:
        return _unpack_texts(kind, data, unpacking)
    if kind in _COLLECTIONS:
        items = unpack_column(data.get("items"), unpacking)
        make = _COLLECTIONS[kind]
        return grouped(data, len(items), unpacking, lambda rows: make(items[rows]))
    if kind == "dict":
        keys = unpack_column(data.get("keys"), unpacking)
        values = unpack_column(data.get("values"), unpacking)
        if len(keys) != len(values):
            raise unpacking.fail("every key must have a value", f"{len(keys)}, {len(values)}")
        return grouped(
            data,
            len(keys),
            unpacking,
            lambda rows: dict(zip(keys[rows], values[rows], strict=True)),
        )
    if kind in ("scalar", "array"):
        array = unpack_array(unpacking.get(data, "values", dict), unpacking)
        if array.ndim != 1:
            raise unpacking.fail("the values of a column must have one dimension", array.shape)
        return list(array) if kind == "scalar" else _unpack_arrays(data, array, unpacking)
    structure = _structure(kind)
    if structure is not None:
        return structure.unpack(data, unpacking)
    raise unpacking.fail("a column must be of a known kind", kind)


def _unpack_texts(kind: str, data: Any, unpacking: LoadContext) -> list[Any]:
    content = unpacking.tensor(data, "bytes", np.uint8).tobytes()
    make = _TEXTS[kind]
    return grouped(data, len(content), unpacking, lambda rows: make(content[rows]))


def grouped(
    data: Any, total: int, unpacking: LoadContext, make: Callable[[slice], Any]
) -> list[Any]:
    """Return what is made of the items between each two offsets."""
    offsets = unpacking.tensor(data, "offsets", np.int64)
    check_offsets(offsets, total, unpacking)
    try:
        return [make(slice(start, stop)) for start, stop in pairwise(offsets.tolist())]
    except (TypeError, ValueError) as error:  # no UTF-8, no digits, or not hashable
        raise unpacking.fail("a column must hold items of its kind", str(error)) from None


def _unpack_arrays(data: Any, values: Array, unpacking: LoadContext) -> list[Any]:
    table = unpacking.tensor(data, "shapes", np.int64, dimensions=2)
    # A table without columns takes no bytes, whatever number of rows it claims to have.
    possible = table.shape[1] > 0 or len(table) == len(values)
    shapes = table.tolist() if possible else []
    sizes = [math.prod(shape) for shape in shapes]
    if not possible or not all(map(is_shape, shapes)) or sum(sizes) != len(values):
        raise unpacking.fail("arrays must have the values of their shapes", f"{len(values)} values")
    found, start = [], 0
    for shape, size in zip(shapes, sizes, strict=True):
        found.append(values[start : start + size].reshape(shape))
        start += size
    return found
