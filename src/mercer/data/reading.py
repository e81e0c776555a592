"""Reading a data file, whole or in blocks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from .. import checks
from ..checks import DataError, InputError, InputTypeError, sentence, show
from ..tables.encoder.columns import DROP, KINDS
from .dataset import Dataset
from .formats import (
    CSV,
    FASTA,
    JSON_LINES,
    NPY,
    NPZ,
    PARQUET,
    SVMLIGHT,
    TREES,
    TSV,
    TU,
    check_format,
    format_of,
)
from .frames import DelimitedReader, JsonLinesReader, ParquetReader
from .pieces import Content, Options, Piece, Reader, regroup, with_last
from .plain import (
    ArchiveReader,
    ArrayReader,
    FastaReader,
    SvmlightReader,
    TreesReader,
    read_folder,
)
from .plain.labels import LABEL, check_label
from .sources import STANDARD_INPUT, Source, SourceLike, opened

ColumnType = Literal["number", "boolean", "category", "date", "text", "drop"]
MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?")
BLOCK_ROWS = 50_000


def read(
    source: SourceLike,
    *,
    target: str | None = None,
    format: str | None = None,
    types: Mapping[str, ColumnType] | None = None,
    max_rows: int | None = None,
    delimiter: str | None = None,
    quote: str | None = '"',
    header: bool = True,
    encoding: str = "utf-8",
    missing: Sequence[str] = MISSING,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
) -> Dataset:
    """Read a data file: a table, a matrix, or a collection of strings, trees or graphs.

    The format follows from the suffix of the name, else from the first bytes: CSV and TSV, JSON
    lines, Parquet, the text format of SVMlight and LIBSVM, npy and npz, bracketed trees, FASTA, or
    a folder of graphs in the format of TU Dortmund [1]_. Text may be packed by gzip, bzip2 or xz.

    Parameters
    ----------
    source : str, path or binary file object
        The file or folder; "-" is standard input.
    target : str, default=None
        The column to predict. Of SVMlight, trees, FASTA and graphs it is the label, which is read
        where there is one; of npz the array y; of other matrices a column such as "x3".
    format : str, default=None
        "csv", "tsv", "parquet", "jsonl", "svmlight", "npy", "npz", "trees", "fasta" or "tu"; None
        is a guess.
    types : dict, default=None
        By the name of a column of a table, what it is: "number", "boolean", "category", "date",
        "text" or "drop". Others are guessed.
    max_rows : int, default=None
        How many rows are read at most.
    delimiter : str, default=None
        What stands between the columns of CSV; None is a guess among comma, semicolon, tab and bar.
    quote : str or None, default='"'
        What stands around values of CSV with delimiters in them; None: nothing does.
    header : bool, default=True
        Whether the first line of CSV names the columns; else they are x0, x1 and so on.
    encoding : str, default="utf-8"
        The encoding of text, by Python's name for it.
    missing : sequence of str, default=MISSING
        Values of CSV that mean a missing one, besides none at all: "NA", "N/A", "n/a", "NaN",
        "nan", "null", "NULL", "None" and "?".
    n_features : int, default=None
        The columns of SVMlight; None: as many as the highest index says.
    zero_based : bool or "auto", default="auto"
        Whether indices of SVMlight count from 0; "auto": if one of them is 0.

    Returns
    -------
    Dataset
        The points, the target, what the columns hold, and notes.

    Raises
    ------
    DataError
        If the file cannot be read, or does not hold what it must; the message says where.

    See Also
    --------
    read_blocks : The same in blocks, for files larger than memory.

    References
    ----------
    .. [1] C. Morris et al., "TUDataset: A collection of benchmark datasets for learning with
       graphs", ICML workshop on graph representation learning, 2020.

    Examples
    --------
    >>> import io
    >>> from mercer.data import read
    >>> text = b"size;colour;price\\n3;red;10\\n5;blue;14\\n4;red;12\\n"
    >>> data = read(io.BytesIO(text), target="price")
    >>> [(column.name, column.type) for column in data.columns]
    [('size', 'number'), ('colour', 'category')]
    >>> data.y
    array([10, 14, 12])
    """
    options = _options(
        Options(
            target=target,
            types=dict(types or {}),
            rows=None,
            max_rows=max_rows,
            delimiter=delimiter,
            quote=quote,
            has_header=header,
            encoding=encoding,
            missing=tuple(missing),
            n_features=n_features,
            zero_based=zero_based,
            is_strict=True,
        )
    )
    with contextlib.closing(_blocks(source, check_format("read", format), options)) as blocks:
        return next(blocks)


def read_blocks(
    source: SourceLike,
    *,
    rows: int = BLOCK_ROWS,
    target: str | None = None,
    format: str | None = None,
    types: Mapping[str, ColumnType] | None = None,
    delimiter: str | None = None,
    quote: str | None = '"',
    header: bool = True,
    encoding: str = "utf-8",
    missing: Sequence[str] = MISSING,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
) -> Iterator[Dataset]:
    """Read a data file in blocks of rows, with memory for a few of them.

    What the first block says of a column holds for all: its type, and the names of the columns. A
    later value that does not fit is an error that names its line. Files of npz, folders of graphs
    and Parquet from standard input are held in memory as a whole.

    Parameters
    ----------
    source : str, path or binary file object
        The file or folder; "-" is standard input.
    rows : int, default=50000
        How many rows a block has; the last one may have fewer.
    target : str, default=None
        The column to predict, as in `read`.
    format : str, default=None
        The format, as in `read`; None is a guess.
    types : dict, default=None
        By the name of a column of a table, what it is, as in `read`. A column that is not there is
        noted, and not an error: what a model was fitted to may be more than it needs.
    delimiter : str, default=None
        What stands between the columns of CSV; None is a guess among comma, semicolon, tab and bar.
    quote : str or None, default='"'
        What stands around values of CSV with delimiters in them; None: nothing does.
    header : bool, default=True
        Whether the first line of CSV names the columns; else they are x0, x1 and so on.
    encoding : str, default="utf-8"
        The encoding of text, by Python's name for it.
    missing : sequence of str, default=MISSING
        Values of CSV that mean a missing one, besides none at all: "NA", "N/A", "n/a", "NaN",
        "nan", "null", "NULL", "None" and "?".
    n_features : int, default=None
        The columns of SVMlight; None: as many as the highest index so far says.
    zero_based : bool or "auto", default="auto"
        Whether indices of SVMlight count from 0; "auto": if one of the first block is 0.

    Returns
    -------
    iterator of Dataset
        The points, a block at a time.

    Raises
    ------
    DataError
        If the file cannot be read, or does not hold what it must; the message says where.

    See Also
    --------
    read : All at once.

    Examples
    --------
    >>> import io
    >>> from mercer.data import read_blocks
    >>> text = b"a,b\\n1,x\\n2,y\\n3,x\\n"
    >>> [len(block) for block in read_blocks(io.BytesIO(text), rows=2)]
    [2, 1]
    """
    options = _options(
        Options(
            target=target,
            types=dict(types or {}),
            rows=checks.whole("read_blocks", "rows", rows, least=1),
            max_rows=None,
            delimiter=delimiter,
            quote=quote,
            has_header=header,
            encoding=encoding,
            missing=tuple(missing),
            n_features=n_features,
            zero_based=zero_based,
            is_strict=False,
        )
    )
    return _blocks(source, check_format("read_blocks", format), options)


def _options(options: Options) -> Options:
    """Return options that can be followed, or say what is wrong with them."""
    if options.max_rows is not None:
        checks.whole("read", "max_rows", options.max_rows, least=1)
    for name, kind in options.types.items():
        checks.one_of("read", f"types[{name!r}]", kind, (*KINDS, DROP))
    for name, mark in (("delimiter", options.delimiter), ("quote", options.quote)):
        plain = isinstance(mark, str) and len(mark) == 1 and mark.isascii() and mark not in "\r\n"
        if mark is not None and not plain:
            raise InputError(sentence("read", f"{name} must be one ASCII character", show(mark)))
    if options.delimiter is not None and options.delimiter == options.quote:
        raise InputError(sentence("read", "delimiter and quote must differ", options.quote))
    if not all(isinstance(word, str) for word in options.missing):
        raise InputTypeError(sentence("read", "missing must be texts", show(options.missing)))
    if options.n_features is not None:
        checks.whole("read", "n_features", options.n_features, least=1, most=2**31 - 1)
    if options.zero_based != "auto":
        checks.flag("read", "zero_based", options.zero_based)
    checks.flag("read", "header", options.has_header)
    return options


def _blocks(
    source: SourceLike, format: str | None, options: Options
) -> Generator[Dataset, None, None]:
    folder = _folder(source, format)
    if folder is not None:
        yield from _graph_blocks(folder, options)
        return
    with opened(source) as given:
        name = format or format_of(given)
        reader = _reader(given, name, options)
        for piece, is_last in with_last(regroup(reader.pieces(), options.rows, options.max_rows)):
            if is_last:
                given.drain()
            yield _dataset(given.name, name, given.digest(), reader.finish(piece))


def _reader(source: Source, format: str, options: Options) -> Reader:
    if not source.head:
        raise source.fail("there must be data", "an empty file")
    if format in (CSV, TSV):
        return DelimitedReader(source, options, format)
    if format == TU:
        raise source.fail("graphs of this format must be in a folder", "a file")
    return _READERS[format](source, options)


_READERS: dict[str, Callable[[Source, Options], Reader]] = {
    JSON_LINES: JsonLinesReader,
    PARQUET: ParquetReader,
    SVMLIGHT: SvmlightReader,
    NPY: ArrayReader,
    NPZ: ArchiveReader,
    TREES: TreesReader,
    FASTA: FastaReader,
}


def _dataset(source: str, format: str, digest: str, content: Content) -> Dataset:
    return Dataset(
        X=content.X,
        y=content.y,
        kind=content.kind,
        target=content.target,
        source=source,
        format=format,
        sha256=digest,
        columns=content.columns,
        notes=content.notes,
    )


# --- folders of graphs -------------------------------------------------------------------------


def _folder(source: SourceLike, format: str | None) -> Path | None:
    """Return the folder that a source is, if it is one of graphs."""
    if not isinstance(source, str | os.PathLike) or source == STANDARD_INPUT:
        return None
    path = Path(os.fsdecode(source))
    is_graphs = path.is_dir() and (format == TU or any(path.glob("*_A.txt*")))
    if is_graphs and format not in (None, TU):
        must = f"format={format!r} must be that of a file"
        raise DataError(sentence(f"read({str(path)!r})", must, "a folder of graphs"))
    return path if is_graphs else None


def _graph_blocks(folder: Path, options: Options) -> Iterator[Dataset]:
    check_label(f"read({str(folder)!r})", options)
    graphs, labels, digest = read_folder(folder)
    whole = iter([Piece(X=graphs, y=labels)])
    for piece in regroup(whole, options.rows, options.max_rows):
        content = Content(X=piece.X, y=piece.y, kind="graphs", target=LABEL)
        yield _dataset(str(folder), TU, digest, content)
