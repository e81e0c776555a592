"""Arrays and sparse rows as tensors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import scipy.sparse

from ..checks import Array
from ..storage.container import DTYPES
from .context import LoadContext, SaveContext

_TIMES = re.compile(r"(datetime64|timedelta64)\[(Y|M|W|D|h|m|s|ms|us|ns)\]")
_LAST_CHARACTER = 0x10FFFF


def pack_array(array: Array, packing: SaveContext, where: str) -> dict[str, Any]:
    """Return an array as one tensor: text as its characters, times as whole numbers."""
    array = np.asarray(array)
    dtype = array.dtype
    found: dict[str, Any] = {}
    if _is_by_columns(array):
        found["order"] = "F"  # products may round otherwise when the order in memory changes
    if dtype.kind in "US":
        size = 4 if dtype.kind == "U" else 1
        width = max(dtype.itemsize // size, 1)
        text = np.ascontiguousarray(array, dtype=f"<{dtype.kind}{width}")
        values = text.reshape(-1).view(f"<u{size}").reshape(*array.shape, width)
        found["text"] = dtype.kind
    elif _TIMES.fullmatch(dtype.name):
        values = array.astype(dtype.newbyteorder("<")).view("<i8")
        found["time"] = dtype.name
    elif dtype.newbyteorder("<") in DTYPES.values():
        values = array
    else:
        raise packing.refusal(array, where)
    return {"tensor": packing.tensor(where, values), **found}


def unpack_array(data: dict[str, Any], unpacking: LoadContext) -> Array:
    """Return the array of a tensor."""
    array = unpacking.tensor(data, "tensor")
    if "text" in data:
        array = _text_array(array, unpacking.get(data, "text", str), unpacking)
    elif "time" in data:
        name = unpacking.get(data, "time", str)
        if not _TIMES.fullmatch(name) or array.dtype != np.int64:
            raise unpacking.fail("times must be whole numbers of a known unit", name)
        array = array.view(name)
    return array.T.copy(order="C").T if data.get("order") == "F" else array


def _is_by_columns(array: Array) -> bool:
    """Return whether an array lies by columns; of a single row or column the strides tell."""
    if array.ndim < 2 or not array.flags.f_contiguous:
        return False
    by_rows = array.itemsize * np.cumprod([1, *array.shape[:0:-1]])[::-1]
    return bool((by_rows != array.strides).any())


def _text_array(array: Array, kind: str, unpacking: LoadContext) -> Array:
    wanted = {"U": np.uint32, "S": np.uint8}.get(kind)
    # None would compare equal to float64: NumPy takes it for the usual type.
    if wanted is None or array.dtype != wanted or array.ndim == 0 or array.shape[-1] == 0:
        must = "text must be characters in the last dimension of a U32 or U8 tensor"
        raise unpacking.fail(must, f"{kind!r} from {array.dtype} of shape {array.shape}")
    if kind == "U" and array.max(initial=0) > _LAST_CHARACTER:
        raise unpacking.fail("text must be characters", f"character {array.max()}")
    return array.view(f"<{kind}{array.shape[-1]}").reshape(array.shape[:-1])


def pack_csr(rows: Any, packing: SaveContext, where: str) -> dict[str, Any]:
    """Return sparse rows as three tensors."""
    if rows.format != "csr" or rows.ndim != 2:
        raise packing.refusal(rows, where)
    largest = max(*rows.shape, rows.nnz)
    index = np.int32 if largest <= np.iinfo(np.int32).max else np.int64  # as scipy chooses
    return {
        "array": isinstance(rows, scipy.sparse.sparray),
        "columns": int(rows.shape[1]),
        "values": pack_array(rows.data, packing, f"{where}.values"),
        "indices": packing.tensor(f"{where}.indices", rows.indices.astype(index, copy=False)),
        "starts": packing.tensor(f"{where}.starts", rows.indptr.astype(index, copy=False)),
    }


def unpack_csr(data: dict[str, Any], unpacking: LoadContext) -> Any:
    """Return sparse rows; no index may lead out of them."""
    values = unpack_array(unpacking.get(data, "values", dict), unpacking)
    indices = unpacking.tensor(data, "indices")
    starts = unpacking.tensor(data, "starts", indices.dtype)
    columns = unpacking.get(data, "columns", int)
    whole = indices.dtype in (np.int32, np.int64) and 0 <= columns < 2**48
    if not (whole and values.ndim == indices.ndim == 1 and len(values) == len(indices)):
        raise unpacking.fail("sparse rows must have one column a value", f"{columns} columns")
    if np.any(indices < 0) or np.any(indices >= columns):
        raise unpacking.fail(f"columns must be from 0 to {columns - 1}", "another")
    check_offsets(starts, len(values), unpacking)
    kind = scipy.sparse.csr_array if data.get("array") is True else scipy.sparse.csr_matrix
    return kind((values, indices, starts), shape=(len(starts) - 1, columns))


def check_offsets(offsets: Array, total: int, unpacking: LoadContext) -> None:
    """Refuse offsets that do not go from 0 to the total in steps forward."""
    rising = len(offsets) > 0 and bool(np.all(offsets[1:] >= offsets[:-1]))
    if not rising or offsets[0] != 0 or offsets[-1] != total:
        must = f"offsets must rise from 0 to {total}"
        raise unpacking.fail(must, f"{len(offsets)} others")
