"""Writing columns of values, such as predictions, to a file: at once or block by block."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self, TypeAlias, cast

import numpy as np

from ..checks import Array, DataError, FileError, array, one_of, sentence, show
from ..storage import atomic
from ..typing import HasArray
from .formats import CSV, JSON_LINES, NPY, PARQUET, TSV, format_of_name
from .library import require_polars

if TYPE_CHECKING:
    import polars

STANDARD_OUTPUT = "-"
WRITTEN = (CSV, TSV, PARQUET, JSON_LINES, NPY)
_WHOLE = (PARQUET, NPY)  # which say at their beginning or end how many rows there are

Columns: TypeAlias = Mapping[str, HasArray | list[Any]]


def write_table(
    target: str | os.PathLike[str],
    columns: Columns,
    format: str | None = None,
    force: bool = False,
) -> None:
    """Write columns of values to a file: whole, or not at all.

    Parameters
    ----------
    target : str or path
        The file; "-" is standard output. A name that ends in .gz is packed, but of Parquet and npy.
    columns : dict of array-like
        By name, numbers, truth values, texts or dates, one for each row.
    format : str, default=None
        "csv", "tsv", "parquet", "jsonl" or "npy"; None: by the suffix, and CSV for standard output.
        Of npy one column is a vector, and several of numbers are a matrix.
    force : bool, default=False
        Whether a file of the name may be replaced.

    Raises
    ------
    FileError
        If there is such a file and `force` is not set, or it cannot be written.
    DataError
        If the columns are not of one length, or the format cannot hold them.

    See Also
    --------
    TableWriter : The same block by block.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer.data import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.csv")
    ...     write_table(path, {"row": [0, 1], "prediction": [2.5, 3.5]})
    ...     print(path.read_text().strip())
    row,prediction
    0,2.5
    1,3.5
    """
    with TableWriter(target, format=format, force=force) as writer:
        writer.write(columns)


class TableWriter:
    """A file of columns that grows by blocks of rows, and is there when all are written.

    Used with `with`: if the block ends by an error, there is no new file and the old one stays.
    Text is written as it comes; Parquet and npy are held in memory until the end.

    Parameters
    ----------
    target : str or path
        The file; "-" is standard output. A name that ends in .gz is packed, but of Parquet and npy.
    format : str, default=None
        "csv", "tsv", "parquet", "jsonl" or "npy"; None: by the suffix, and CSV for standard output.
    force : bool, default=False
        Whether a file of the name may be replaced.

    See Also
    --------
    write_table : All at once.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer.data import TableWriter, read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "answers.csv")
    ...     with TableWriter(path) as writer:
    ...         writer.write({"prediction": [2.5]})
    ...         writer.write({"prediction": [3.5]})
    ...     len(read(path))
    2
    """

    def __init__(
        self,
        target: str | os.PathLike[str],
        *,
        format: str | None = None,
        force: bool = False,
    ) -> None:
        self.target = os.fsdecode(target)
        self.who = f"write_table({self.target!r})"
        self.format = self._chosen(format)
        self.n_rows = 0
        self._names: list[str] | None = None
        self._kept: list[Any] = []
        self._stack = contextlib.ExitStack()
        if self.format != NPY:
            require_polars(self.who)
        self._file = self._open(force)

    def _chosen(self, format: str | None) -> str:
        if format is not None:
            return one_of(self.who, "format", format, WRITTEN)
        if self.target == STANDARD_OUTPUT:
            return CSV
        found = format_of_name(Path(self.target))
        if found in WRITTEN:
            return found
        must = f"the name must end in .{', .'.join(WRITTEN)}, or format must be given"
        raise FileError(sentence(self.who, must, repr(Path(self.target).name)))

    def _open(self, force: bool) -> IO[bytes]:
        if self.target == STANDARD_OUTPUT:
            return sys.stdout.buffer
        path = Path(self.target)
        if path.is_dir() or not path.absolute().parent.is_dir():
            must = "the path must be that of a file in a folder that exists"
            raise FileError(sentence(self.who, must, repr(self.target)))
        if path.exists() and not force:
            told = "Choose another name, or say force=True (--force) to replace it."
            raise FileError(sentence(self.who, "there must be no such file yet", "one", told))
        with self._reported():
            file: IO[bytes] = self._stack.enter_context(atomic.replacing(self.target))
            if path.suffix.lower() == ".gz" and self.format not in _WHOLE:
                packed = gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0)
                file = cast(IO[bytes], self._stack.enter_context(packed))
        return file

    def write(self, columns: Columns) -> None:
        """Write further rows.

        Parameters
        ----------
        columns : dict of array-like
            By name, the values of each column; the names are those of the first call.

        Raises
        ------
        DataError
            If the columns are not of one length, or not those of the first call.
        FileError
            If the file cannot be written.
        """
        arrays = self._checked(columns)
        is_first = self._names is None
        self._names = list(arrays)
        self.n_rows += len(next(iter(arrays.values())))
        if self.format == NPY:
            self._kept.append(self._rows(arrays))
            return
        frame = self._frame(arrays)
        with self._reported():
            if self.format == PARQUET:
                self._kept.append(frame)
            elif self.format == JSON_LINES:
                frame.write_ndjson(self._file)
            else:
                separator = "\t" if self.format == TSV else ","
                frame.write_csv(self._file, include_header=is_first, separator=separator)

    def close(self) -> None:
        """Finish the file, which is then in its place; nothing can be written after that."""
        with self._reported():
            if self._kept and self.format == NPY:
                np.save(self._file, np.concatenate(self._kept), allow_pickle=False)
            elif self._kept:
                _write_parquet(self._kept, self._file)
            self._kept = []
            if self.target == STANDARD_OUTPUT:
                self._file.flush()
            self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._stack.__exit__(kind, error, trace)  # which leaves the old file as it was

    def _checked(self, columns: Columns) -> dict[str, Array]:
        arrays = {name: array(self.who, name, values) for name, values in columns.items()}
        if not arrays:
            raise DataError(sentence(self.who, "there must be columns", "none"))
        if self._names is not None and list(arrays) != self._names:
            must = f"columns must be those of the first block, {', '.join(self._names)}"
            raise DataError(sentence(self.who, must, ", ".join(arrays)))
        sizes = {name: values.shape for name, values in arrays.items()}
        if len(set(sizes.values())) > 1 or len(next(iter(sizes.values()))) != 1:
            must = "columns must be vectors of one length"
            raise DataError(sentence(self.who, must, show(sizes)))
        return arrays

    def _rows(self, arrays: dict[str, Array]) -> Array:
        """Return columns as npy holds them: a vector, or a matrix of numbers."""
        wrong = [name for name, values in arrays.items() if values.dtype.kind not in "biufU"]
        if len(arrays) > 1:
            wrong = [name for name, values in arrays.items() if values.dtype.kind not in "biuf"]
        if wrong:
            must = "npy holds one column of numbers or texts, or several of numbers"
            got = f"{', '.join(map(repr, wrong))} among them"
            raise DataError(sentence(self.who, must, got, "Write CSV or Parquet instead."))
        values = list(arrays.values())
        return values[0] if len(values) == 1 else np.column_stack(values)

    def _frame(self, arrays: dict[str, Array]) -> polars.DataFrame:
        import polars

        columns = {
            name: values.tolist() if values.dtype.kind in "OU" else values
            for name, values in arrays.items()
        }
        try:
            frame = polars.DataFrame(columns)
            wrong = [name for name, kind in frame.schema.items() if kind.is_nested()]
            wrong += [name for name, kind in frame.schema.items() if kind == polars.Object]
            got = f"objects in {', '.join(map(repr, wrong))}" if wrong else ""
        except (TypeError, ValueError, polars.exceptions.PolarsError) as error:
            got = str(error)
        if got:
            must = "columns must hold numbers, truth values, texts or dates"
            raise DataError(sentence(self.who, must, got))
        return frame

    @contextlib.contextmanager
    def _reported(self) -> Any:
        """Turn what the system says of a file into a sentence; a closed pipe stays one."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            if "Broken pipe" in str(error):  # which polars says without the number of the error
                raise BrokenPipeError from error
            self._stack.__exit__(type(error), error, None)
            got = (error.strerror or str(error)).rstrip(".")
            raise FileError(sentence(self.who, "the file must be writable", got)) from None


def _write_parquet(frames: list[polars.DataFrame], file: IO[bytes]) -> None:
    import polars

    polars.concat(frames, how="vertical_relaxed").write_parquet(file)
