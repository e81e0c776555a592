"""A closed table of what a model file can hold, each with its way in and its way out.

In the manifest a value is plain JSON where JSON has it, else {"type": word, …}. Other rooms of this
package add their words with `register`; what has none is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..checks import show
from ..status import Status
from ..storage.container import DTYPES, is_shape
from .arrays import pack_array, pack_csr, unpack_array, unpack_csr
from .columns import is_item, pack_column, unpack_column
from .context import LoadContext, SaveContext

Fields = dict[str, Any]

_SHORT = 256  # longer lists of items are columns
_EXACT = 2**53  # beyond it, not every reader of JSON has whole numbers


@dataclass(frozen=True, kw_only=True)
class Codec:
    """One word of the table: which values it is for, and both directions."""

    word: str
    fits: Callable[[Any], bool]
    pack: Callable[[Any, SaveContext, str], Fields]
    unpack: Callable[[Fields, LoadContext], Any]


_table: dict[str, Codec] = {}


def register(
    word: str,
    fits: Callable[[Any], bool],
    pack: Callable[[Any, SaveContext, str], Fields],
    unpack: Callable[[Fields, LoadContext], Any],
) -> None:
    """Add a word to the table; words are tried in the order in which they came."""
    _table[word] = Codec(word=word, fits=fits, pack=pack, unpack=unpack)


def pack_value(value: Any, packing: SaveContext, where: str) -> Any:
    """Return a value as JSON data, its arrays put aside as tensors."""
    if value is None or type(value) is bool:
        return value
    if type(value) is str or type(value) is Status:
        return packing.text(str(value), where)
    if type(value) is int and abs(value) <= _EXACT:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is list and not _is_column(value):
        return _pack_each(value, packing, where)
    for codec in _table.values():
        if codec.fits(value):
            return {"type": codec.word, **codec.pack(value, packing, where)}
    raise packing.refusal(value, where)


def unpack_value(data: Any, unpacking: LoadContext) -> Any:
    """Return the value of JSON data."""
    if isinstance(data, list):
        return [unpack_value(item, unpacking) for item in data]
    if not isinstance(data, dict):
        return data
    codec = _table.get(str(data.get("type")))
    if codec is None:
        raise unpacking.fail(f"a type must be one of {', '.join(_table)}", data.get("type"))
    return codec.unpack(data, unpacking)


def unpack_field(data: Fields, key: str, kinds: Any, unpacking: LoadContext) -> Any:
    """Return the value of a field, which must be of one of these types."""
    value = unpack_value(data.get(key), unpacking)
    if not isinstance(value, kinds):
        raise unpacking.fail(f"{key!r} must be of another type", show(value))
    return value


def _is_column(value: Any) -> bool:
    """Return whether a list, tuple or dict is better off as a column."""
    return len(value) > _SHORT and is_item(value)


def _pack_each(values: Any, packing: SaveContext, where: str) -> list[Any]:
    return [pack_value(value, packing, f"{where}.{index}") for index, value in enumerate(values)]


# --- containers, arrays and single items -------------------------------------------------------


def _unpack_tuple(data: Fields, unpacking: LoadContext) -> tuple[Any, ...]:
    return tuple(unpack_value(item, unpacking) for item in unpacking.get(data, "items", list))


def _is_plain_dict(value: Any) -> bool:
    named = type(value) is dict and all(type(key) is str for key in value)
    return named and not _is_column(value)


def _pack_dict(value: dict[str, Any], packing: SaveContext, where: str) -> Fields:
    return {
        "items": {
            packing.text(key, where): pack_value(one, packing, f"{where}.{key}")
            for key, one in value.items()
        }
    }


def _unpack_dict(data: Fields, unpacking: LoadContext) -> dict[str, Any]:
    items = unpacking.get(data, "items", dict)
    return {key: unpack_value(item, unpacking) for key, item in items.items()}


def _pack_objects(array: Any, packing: SaveContext, where: str) -> Fields:
    items = pack_column(array.reshape(-1).tolist(), packing, where)
    return {"shape": list(array.shape), "items": items}


def _unpack_objects(data: Fields, unpacking: LoadContext) -> Any:
    items = unpack_column(data.get("items"), unpacking)
    shape = unpacking.get(data, "shape", list)
    if not is_shape(shape) or math.prod(shape) != len(items):
        raise unpacking.fail("a shape must fit the number of items", f"{show(shape)}, {len(items)}")
    array = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):  # one by one: a list of lists would become a table
        array[index] = item
    return array.reshape(shape)


def _unpack_item(data: Fields, unpacking: LoadContext) -> Any:
    items = unpack_column(data.get("column"), unpacking)
    if len(items) != 1:
        raise unpacking.fail("there must be one item", len(items))
    return items[0]


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)


_ITEMS = (int, float, list, tuple, dict, bytes, set, frozenset)

register(
    "tuple",
    lambda value: type(value) is tuple and not _is_column(value),
    lambda value, packing, where: {"items": _pack_each(value, packing, where)},
    _unpack_tuple,
)
register("dict", _is_plain_dict, _pack_dict, _unpack_dict)
register("array", lambda v: _is_array(v) and v.dtype.kind != "O", pack_array, unpack_array)
register("objects", lambda v: _is_array(v) and v.dtype.kind == "O", _pack_objects, _unpack_objects)
register("csr", scipy.sparse.issparse, pack_csr, unpack_csr)
register(  # NaN, numbers of NumPy, sets, bytes, long lists, trees, graphs: a column of one
    "item",
    lambda value: type(value) in _ITEMS or isinstance(value, np.generic) or is_item(value),
    lambda value, packing, where: {"column": pack_column([value], packing, where)},
    _unpack_item,
)


# --- types of numbers, as preprocessors have them ----------------------------------------------

_TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, int, float)},
    **{f"numpy {dtype.name}": dtype.type for dtype in DTYPES.values()},
}
_DTYPE = re.compile(r"[<|]([biuf][1248]|O|U[0-9]{1,9})")


def _pack_type(value: Any, packing: SaveContext, where: str) -> Fields:
    if isinstance(value, np.dtype):
        text = value.newbyteorder("<").str
        if not _DTYPE.fullmatch(text):
            raise packing.refusal(value, where)
        return {"dtype": text}
    return {"name": next(name for name, kind in _TYPES.items() if kind is value)}


def _unpack_type(data: Fields, unpacking: LoadContext) -> Any:
    if "dtype" in data:
        text = unpacking.get(data, "dtype", str)
        if not _DTYPE.fullmatch(text):
            raise unpacking.fail("a dtype must be one of numbers, texts or objects", text)
        return np.dtype(text)
    name = unpacking.get(data, "name", str)
    if name not in _TYPES:
        raise unpacking.fail(f"a type must be one of {', '.join(_TYPES)}", name)
    return _TYPES[name]


register(
    "number type",
    lambda value: isinstance(value, np.dtype) or any(value is kind for kind in _TYPES.values()),
    _pack_type,
    _unpack_type,
)
