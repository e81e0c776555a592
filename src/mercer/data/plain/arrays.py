"""Arrays of NumPy: npy, row by row, and npz. Objects are never unpickled."""

from __future__ import annotations

import io
import math
import tokenize
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from ...checks import Array, nearest
from ..frames.targets import refuse_gaps
from ..pieces import Content, Options, Piece
from ..sources import AT_ONCE, Source
from ..summaries import summarize
from .labels import check_types, column_of

_SPARSE = {"data", "indices", "indptr", "shape", "format"}
_BROKEN = (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile, zlib.error)
_HEADER = (ValueError, SyntaxError, TypeError, tokenize.TokenError, RecursionError)


class _MatrixReader(ABC):
    """Reads rows of numbers, or a list of texts."""

    def __init__(self, source: Source, options: Options) -> None:
        check_types(source.who, options)
        self.source, self.options = source, options
        self.target = options.target

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """Yield arrays, with the target where it is an array of its own."""

    def finish(self, piece: Piece) -> Content:
        """Return the rows, without the column that is the target."""
        X, y = piece.X, piece.y
        if isinstance(X, list):
            return Content(X=X, y=y, kind="strings", target=None if y is None else self.target)
        if self.target is not None and y is None:
            X, y = self._without_target(X, self.target)
        if y is not None and y.dtype.kind == "f":
            refuse_gaps(self.source, np.flatnonzero(np.isnan(y)), piece, self.target or "y")
        is_sparse = scipy.sparse.issparse(X)
        columns = () if is_sparse else summarize(X, {}, self.source.who)
        target = None if y is None else self.target
        return Content(X=X, y=y, kind="matrix", target=target, columns=columns)

    def _without_target(self, X: Any, target: str) -> tuple[Any, Array]:
        place = column_of(self.source, target, X.shape[1])
        if X.shape[1] == 1:
            raise self.source.fail("there must be a column beside the target", "none")
        others = [one for one in range(X.shape[1]) if one != place]
        column = X[:, [place]]
        column = column.toarray() if scipy.sparse.issparse(column) else column
        return X[:, others], np.ascontiguousarray(column[:, 0])

    def points(self, name: str, array: Array) -> Any:
        """Return an array as points: rows of numbers, or a list of texts."""
        if array.dtype.kind == "U" and array.ndim == 1:
            return array.tolist()
        kind = array.dtype.kind
        if kind not in "biuf" or array.ndim not in (1, 2):
            got = f"{name} of {_words(array.dtype)}, shape {array.shape}"
            raise self.source.fail("it must hold rows of numbers", got)
        rows = array.reshape(len(array), -1) if array.ndim == 1 else array
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
        infinite = np.isinf(rows)
        if infinite.any():
            row, column = np.argwhere(infinite)[0].tolist()
            got = f"infinity in row {row}, column 'x{column}'"
            raise self.source.fail("numbers must be finite or NaN", got)
        return rows


class ArrayReader(_MatrixReader):
    """Reads npy: rows in order, as many at a time as there is room for."""

    def pieces(self) -> Iterator[Piece]:
        """Yield the rows of the array."""
        shape, is_fortran, dtype = self._header()
        if dtype.hasobject:
            raise _pickled(self.source, "the array")
        if 0 in shape or not shape:
            raise self.source.fail("there must be rows of data", f"an array of shape {shape}")
        size = math.prod(shape[1:]) * dtype.itemsize
        step = shape[0] if is_fortran or len(shape) > 2 else max(1, AT_ONCE // max(size, 1))
        for start in range(0, shape[0], step):
            rows = min(step, shape[0] - start)
            flat = np.frombuffer(self._bytes(rows * size, start), dtype=dtype)
            part = flat.reshape((rows, *shape[1:]), order="F" if is_fortran else "C")
            yield Piece(X=self.points("an array", part))

    def _header(self) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        try:
            version = np.lib.format.read_magic(self.source)  # type: ignore[arg-type]
            readers = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }
            if version not in readers:
                raise ValueError(f"version {version[0]}.{version[1]} of the format")
            return readers[version](self.source)  # type: ignore[arg-type]
        except _HEADER as error:
            got = str(error).partition("\n")[0].rstrip(".")
            raise self.source.fail("it must be a file of numpy.save", got) from None

    def _bytes(self, count: int, row: int) -> bytes:
        parts, left = [], count
        while left:
            part = self.source.read(min(left, AT_ONCE))
            if not part:
                got = f"its end within the rows from {row} on"
                raise self.source.fail("the array must be whole", got, "Copy the file again.")
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


class ArchiveReader(_MatrixReader):
    """Reads npz: arrays X and y, one array, or a matrix of scipy.sparse.save_npz."""

    def pieces(self) -> Iterator[Piece]:
        """Yield all points as one piece."""
        arrays = self._arrays()
        if set(arrays) >= _SPARSE:
            yield Piece(X=self._sparse(arrays))
            return
        wanted = self.target if self.target in arrays else "y"
        names = [name for name in arrays if name != wanted or len(arrays) == 1]
        name = names[0] if len(names) == 1 else "X"
        if name not in names:
            told = nearest("X", names)
            raise self.source.fail("an array must be called X", ", ".join(names) or "none", told)
        X = self.points(f"an array {name!r}", arrays[name])
        y = arrays[wanted] if wanted in arrays and wanted != name else None
        if len(X) == 0:
            raise self.source.fail("there must be rows of data", "an array without rows")
        if y is not None:
            self.target = wanted
            if y.shape != (len(X),) or y.dtype.kind not in "biufU":
                must = f"{wanted} must be {len(X)} numbers or classes, one for each row of {name}"
                raise self.source.fail(must, f"{_words(y.dtype)}, shape {y.shape}")
        yield Piece(X=X, y=y)

    def _arrays(self) -> dict[str, Array]:
        content = io.BytesIO(self.source.read_all())
        name = ""
        try:
            with np.load(content, allow_pickle=False) as archive:
                found = {}
                for name in archive.files:
                    found[name] = archive[name]
                return {name: one for name, one in found.items() if isinstance(one, np.ndarray)}
        except _BROKEN as error:
            if "allow_pickle" in str(error):
                raise _pickled(self.source, f"the array {name!r}") from None
            got = str(error).partition("\n")[0].rstrip(".")
            raise self.source.fail("it must be a whole file of numpy.savez", got) from None

    def _sparse(self, arrays: dict[str, Array]) -> scipy.sparse.csr_array:
        try:
            kind = arrays["format"].item()
            kind = kind.decode("ascii") if isinstance(kind, bytes) else kind
            made = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array}[kind]
            content = (arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"])
            matrix = made(content, shape=tuple(arrays["shape"].tolist()))
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            must = "it must be a matrix of scipy.sparse.save_npz, csr or csc"
            raise self.source.fail(must, str(error).partition("\n")[0].rstrip(".")) from None
        if not np.isfinite(matrix.data).all():
            raise self.source.fail("numbers must be finite", "infinity or NaN")
        return scipy.sparse.csr_array(matrix)


def _pickled(source: Source, what: str) -> Exception:
    told = "Save numbers: numpy.save(path, array.astype(float))."
    return source.fail("pickled objects are never read", f"{what} of objects", told)


def _words(dtype: np.dtype[Any]) -> str:
    if dtype.names:
        return "records"
    return {"U": "texts", "S": "bytes", "c": "complex numbers"}.get(dtype.kind, str(dtype))
