"""The points that a model keeps: matrices, sequences, data frames, rows of a Gram, blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..checks import Array, MercerError
from ..grams import Prepared
from ..grams.sides import Side, View
from ..inputs import Frame, GramRows, Input, Matrix, Objects, RowBlocks
from ..kernels import Kernel
from .admission import check_points
from .columns import pack_column, unpack_column
from .context import LoadContext, SaveContext
from .values import Fields, pack_value, register, unpack_field, unpack_value

_LIBRARIES = ("pandas", "polars", "pyarrow")


def _pack_prepared(prepared: Prepared, packing: SaveContext, where: str) -> Fields:
    return {
        "kernel": pack_value(prepared.kernel, packing, f"{where}.kernel"),
        "points": pack_value(prepared.points, packing, f"{where}.points"),
    }


def _unpack_prepared(data: Fields, unpacking: LoadContext) -> Prepared:
    kernel = unpack_field(data, "kernel", Kernel, unpacking)
    points = unpack_field(data, "points", Input, unpacking)
    try:
        check_points(kernel.require_resolved(), points)
    except MercerError as error:
        raise unpacking.fail("points must be such as their kernel takes", str(error)) from error
    return Prepared(kernel, View(Side(points)))


register("prepared", lambda value: isinstance(value, Prepared), _pack_prepared, _unpack_prepared)


# --- rows of numbers, objects ------------------------------------------------------------------


def _pack_matrix(points: Matrix, packing: SaveContext, where: str) -> Fields:
    names = None if points.names is None else list(points.names)
    return {
        "values": pack_value(points.values, packing, where),
        "names": pack_value(names, packing, f"{where}.names"),
    }


def _unpack_matrix(data: Fields, unpacking: LoadContext) -> Matrix:
    kinds = (np.ndarray, scipy.sparse.csr_array, scipy.sparse.csr_matrix)
    values = unpack_field(data, "values", kinds, unpacking)
    names = unpack_field(data, "names", list | None, unpacking)
    if values.dtype.kind != "f" or values.ndim != 2 or values.shape[1] == 0:
        must = "a matrix must be rows of numbers"
        raise unpacking.fail(must, f"{values.dtype} of shape {values.shape}")
    wrong = names is not None and [type(name) for name in names] != [str] * values.shape[1]
    if wrong:
        raise unpacking.fail(f"there must be {values.shape[1]} names of columns", names)
    return Matrix(values, names)


def _unpack_sequence(data: Fields, unpacking: LoadContext) -> Objects:
    return Objects(unpack_column(data.get("items"), unpacking))


register("matrix", lambda value: isinstance(value, Matrix), _pack_matrix, _unpack_matrix)
register(
    "sequence",
    lambda value: isinstance(value, Objects),
    lambda points, packing, where: {"items": pack_column(points.items, packing, where)},
    _unpack_sequence,
)


# --- rows of a Gram matrix ---------------------------------------------------------------------


def _pack_gram_rows(points: GramRows, packing: SaveContext, where: str) -> Fields:
    """Keep which training points they are: predictions read the entries from new rows."""
    return {
        "columns": pack_value(points.columns, packing, f"{where}.columns"),
        "width": int(points.values.shape[1]),
        "dtype": points.values.dtype.name,
    }


def _unpack_gram_rows(data: Fields, unpacking: LoadContext) -> GramRows:
    columns = unpack_field(data, "columns", np.ndarray, unpacking)
    width = unpacking.get(data, "width", int)
    dtype = unpacking.get(data, "dtype", str)
    whole = columns.ndim == 1 and columns.dtype.kind in "iu" and dtype in ("float32", "float64")
    if not whole or not 0 < width < 2**31 or np.any((columns < 0) | (columns >= width)):
        raise unpacking.fail("rows of a Gram must say which points they are", f"{len(columns)}")
    return GramRows.numbered(columns, width, dtype)


register("gram rows", lambda value: isinstance(value, GramRows), _pack_gram_rows, _unpack_gram_rows)


# --- blocks ------------------------------------------------------------------------------------


def _pack_blocks(points: RowBlocks, packing: SaveContext, where: str) -> Fields:
    blocks = enumerate(points.blocks())
    return {"blocks": [pack_value(block, packing, f"{where}.{i}") for i, block in blocks]}


def _unpack_blocks(data: Fields, unpacking: LoadContext) -> RowBlocks:
    found = [unpack_value(block, unpacking) for block in unpacking.get(data, "blocks", list)]
    if not found or not all(isinstance(block, Matrix | Objects | Frame) for block in found):
        raise unpacking.fail("blocks must be points", found)
    return RowBlocks(found, [len(block) for block in found], _as_they_are)


def _as_they_are(block: Input, who: str) -> Input:
    return block


register("row blocks", lambda value: isinstance(value, RowBlocks), _pack_blocks, _unpack_blocks)


# --- data frames -------------------------------------------------------------------------------


def _pack_frame(points: Frame, packing: SaveContext, where: str) -> Fields:
    columns = [
        _pack_series(points.frame.get_column(name), packing, f"{where}.{name}")
        for name in points.names
    ]
    return {
        "library": points.frame.implementation.value,
        "names": pack_column(points.names, packing, f"{where}.names"),
        "columns": columns,
    }


def _pack_series(column: Any, packing: SaveContext, where: str) -> Fields:
    """Return numbers and times as an array, anything else as a column of items."""
    missing = np.asarray(column.is_null().to_numpy(), dtype=bool)
    kind = str(column.dtype)
    if column.dtype.is_numeric() or kind == "Boolean":
        some = bool(missing.any())
        filled = column.fill_null(False if kind == "Boolean" else 0) if some else column
        fields = {"values": pack_value(np.asarray(filled.to_numpy()), packing, where)}
        return fields | ({"missing": packing.tensor(f"{where}.missing", missing)} if some else {})
    if column.dtype.is_temporal() and kind != "Time":
        values = pack_value(np.asarray(column.to_numpy()), packing, where)
        zone = getattr(column.dtype, "time_zone", None)
        if zone is None:
            return {"values": values}
        return {"instants": values, "zone": packing.text(zone, where)}  # the array is in UTC
    pairs = zip(column.to_list(), missing.tolist(), strict=True)
    items = [None if gone else item for item, gone in pairs]
    return {"items": pack_column(items, packing, where)}


def _unpack_frame(data: Fields, unpacking: LoadContext) -> Frame:
    import narwhals.stable.v2 as narwhals

    names = unpack_column(data.get("names"), unpacking)
    columns = [_unpack_series(one, unpacking) for one in unpacking.get(data, "columns", list)]
    if len({len(values) for values, _, _ in columns}) > 1 or len(names) != len(columns):
        raise unpacking.fail("a frame must have named columns of one length", f"{len(names)} names")
    library = unpacking.get(data, "library", str)
    for backend in (library, *_LIBRARIES) if library in _LIBRARIES else _LIBRARIES:
        try:
            pairs = zip(names, columns, strict=True)
            series = {name: _series(*column, backend) for name, column in pairs}
            if len(series) < len(names):
                raise ValueError("a name given twice")
            return Frame(narwhals.from_dict(series).to_native())
        except ModuleNotFoundError:
            continue
        except Exception as error:  # three libraries, each with errors of its own
            raise unpacking.fail(f"a frame must be one for {backend}", str(error)) from error
    raise unpacking.fail("a library for data frames must be installed", "none")


def _unpack_series(data: Any, unpacking: LoadContext) -> tuple[Any, Array | None, str | None]:
    """Return the values of a column, where they are missing, and the time zone of times."""
    if isinstance(data, dict) and "items" in data:
        return unpack_column(data["items"], unpacking), None, None
    has_zone = isinstance(data, dict) and "instants" in data
    zone = unpacking.get(data, "zone", str) if has_zone else None
    key = "values" if zone is None else "instants"
    values = unpack_value(unpacking.get(data, key, dict), unpacking)
    missing = unpacking.tensor(data, "missing", np.bool_) if "missing" in data else None
    kinds = "biufmM" if zone is None else "M"
    plain = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in kinds
    if not plain:
        raise unpacking.fail("a column of a frame must be numbers, times or items", values)
    return values, missing, zone


def _series(values: Any, missing: Array | None, zone: str | None, backend: Any) -> Any:
    import narwhals.stable.v2 as narwhals

    if isinstance(values, list):
        words = all(item is None or isinstance(item, str) for item in values)
        return narwhals.new_series(
            "", values, narwhals.String() if words else None, backend=backend
        )
    whole = narwhals.new_series("", values, backend=backend)
    if zone is not None:
        return whole.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    if missing is None:
        return whole
    present = [None if gone else one for one, gone in zip(values.tolist(), missing, strict=True)]
    # pandas has no missing whole numbers: they become NaN there, among floats.
    dtype = None if backend == "pandas" else whole.dtype
    return narwhals.new_series("", present, dtype, backend=backend)


register("frame", lambda value: isinstance(value, Frame), _pack_frame, _unpack_frame)
