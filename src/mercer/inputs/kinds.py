"""The kinds of input: a collection of n points, whatever a point is."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence

Rows = slice | Array
Columns = str | int | tuple[str | int, ...]

ROWS = frozenset({"rows"})
CATEGORIES = frozenset({"rows", "categories"})
SETS = frozenset({"sets"})
SEQUENCES = frozenset({"sequences"})
GRAM = frozenset({"gram"})
FRAME = frozenset({"frame"})
OBJECT_DOMAINS = frozenset({"sets", "sequences", "objects"})
ANY = ROWS | CATEGORIES | OBJECT_DOMAINS | GRAM | FRAME

DOMAINS = {
    "rows": "rows of numbers",
    "categories": "columns of categories",
    "sets": "sets",
    "sequences": "strings or sequences of tokens",
    "objects": "objects of any kind",
    "gram": "rows of a precomputed Gram matrix",
    "frame": "a data frame with named columns",
}


def domain_text(domain: frozenset[str]) -> str:
    """Return what a domain takes, in words."""
    return " or ".join(text for word, text in DOMAINS.items() if word in domain)


class Input(ABC):
    """n points that know how to give a subset of themselves."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def raw(self) -> Any:
        """What a user's function receives."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, rows: Rows) -> Input:
        """Return the chosen points."""

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Input:
        """Return the chosen columns as an input of the given domain."""
        raise InputError(
            sentence(
                who,
                ".on(columns) takes a matrix or a data frame",
                f"{self.kind} without columns",
                "Drop .on(...), or hand in a data frame.",
            )
        )


class Matrix(Input):
    """Rows of numbers, a dense 2-D array or CSR; float32 or float64."""

    kind = "a matrix"

    def __init__(self, values: Any, names: Sequence[str] | None = None) -> None:
        values = values.tocsr() if scipy.sparse.issparse(values) else np.asarray(values)
        self.values = values.astype(_float_type(values.dtype), copy=False)
        self.names = None if names is None else tuple(names)

    @property
    def raw(self) -> Any:
        return self.values

    @property
    def is_sparse(self) -> bool:
        return bool(scipy.sparse.issparse(self.values))

    @property
    def n_columns(self) -> int:
        return int(self.values.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.values.dtype
        return dtype

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def dense(self) -> Array:
        """Return the rows as a dense array."""
        return np.asarray(self.values.toarray() if self.is_sparse else self.values)

    def entries(self) -> Array:
        """Return the stored entries as a 2-D array (zeros of a sparse matrix are left out)."""
        return np.asarray(self.values.data.reshape(1, -1) if self.is_sparse else self.values)

    def take(self, rows: Rows) -> Matrix:
        return Matrix(self.values[rows], self.names)

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Matrix:
        if not domain & CATEGORIES:
            raise InputError(
                sentence(who, f".on(columns) must lead to {domain_text(domain)}", "a matrix")
            )
        wanted = columns if isinstance(columns, tuple) else (columns,)
        index = [self._position(column, who) for column in wanted]
        return Matrix(self.values[:, index], [str(column) for column in wanted])

    def _position(self, column: str | int, who: str) -> int:
        if isinstance(column, str):
            if self.names is not None and column in self.names:
                return self.names.index(column)
        elif -self.n_columns <= column < self.n_columns:
            return column
        known = f"columns {', '.join(self.names)}" if self.names else f"{self.n_columns} columns"
        raise InputError(
            sentence(
                who,
                f"X must have the column {column!r}",
                known,
                checks.nearest(column, self.names or ()),
            )
        )

    def check(self, who: str) -> Matrix:
        """Refuse wrong shapes and entries that are not finite."""
        if self.values.ndim != 2:
            hint = "Reshape one column with X.reshape(-1, 1), one row with X.reshape(1, -1)."
            raise InputError(
                sentence(who, "X must be 2-D, one row a point", f"shape {self.values.shape}", hint)
            )
        if self.is_sparse:
            coordinates = self.values.tocoo()
            bad = ~np.isfinite(coordinates.data)
            if bad.any() and not checks.assume_finite():
                first = int(np.flatnonzero(bad)[0])
                where = f"row {coordinates.row[first]}, column {coordinates.col[first]}"
                raise InputError(
                    sentence(
                        who,
                        "X must have finite numbers only",
                        f"{coordinates.data[first]} in {where}",
                    )
                )
        else:
            checks.finite(who, self.values, self.names)
        return self


class Objects(Input):
    """A sequence of sets, strings, or anything else; a list stays a list."""

    kind = "a sequence of objects"

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)

    @property
    def raw(self) -> list[Any]:
        return self.items

    def __len__(self) -> int:
        return len(self.items)

    def take(self, rows: Rows) -> Objects:
        if isinstance(rows, slice):
            return Objects(self.items[rows])
        return Objects(self.items[i] for i in np.arange(len(self))[rows])


class Frame(Input):
    """A data frame of pandas, polars or arrow, whose columns kernels choose with `.on`."""

    kind = "a data frame"

    def __init__(self, frame: Any) -> None:
        import narwhals.stable.v2 as narwhals

        self.frame: Any = narwhals.from_native(frame, eager_only=True)

    @property
    def raw(self) -> Any:
        return self.frame.to_native()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def __len__(self) -> int:
        return len(self.frame)

    def take(self, rows: Rows) -> Frame:
        index = np.arange(len(self))[rows]
        return Frame(self.frame[index].to_native())

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Input:
        wanted = columns if isinstance(columns, tuple) else (columns,)
        names = [self._name(column, who) for column in wanted]
        if domain & OBJECT_DOMAINS and not (isinstance(columns, tuple) and domain & ROWS):
            if len(names) != 1:
                raise InputError(
                    sentence(who, f"{domain_text(domain)} come from one column", f"{names}")
                )
            column = Objects(self.frame[names[0]].to_list())
            checks.items(f"{who} column {names[0]!r}", column.items, domain)
            return column
        return self.matrix(names, who, codes="categories" in domain)

    def _name(self, column: str | int, who: str) -> str:
        if isinstance(column, int) and -len(self.names) <= column < len(self.names):
            return self.names[column]
        if column in self.names:
            return str(column)
        raise InputError(
            sentence(
                who,
                f"X must have the column {column!r}",
                f"columns {', '.join(map(str, self.names))}",
                checks.nearest(column, self.names),
            )
        )

    def matrix(self, names: Sequence[str], who: str, codes: bool = False) -> Matrix:
        """Return columns as numbers; with `codes`, other columns as category codes."""
        columns = [self._numbers(name, who, codes) for name in names]
        dtype = np.result_type(*(column.dtype for column in columns)) if columns else np.float64
        values = np.empty((len(self), len(names)), dtype=dtype)
        for index, column in enumerate(columns):
            values[:, index] = column
        return Matrix(values, names).check(who)

    def _numbers(self, name: str, who: str, codes: bool) -> Array:
        column = self.frame[name]
        if column.dtype.is_numeric() or str(column.dtype) == "Boolean":
            values = np.asarray(column.to_numpy())
            if values.dtype.kind == "O":  # a nullable column: missing values become NaN
                values = np.array([np.nan if v is None else v for v in values], dtype=np.float64)
            return values.astype(_float_type(values.dtype), copy=False)
        if codes:
            return category_codes(column.to_list())
        raise InputTypeError(
            sentence(
                who,
                f"column {name!r} must hold numbers",
                f"{column.dtype}",
                f"Give it a kernel of its own, for example Categorical(1.0).on({name!r}).",
            )
        )


class GramRows(Input):
    """Rows of a precomputed Gram matrix, one column a training point.

    `columns` says which training points these rows are; None for new points.
    """

    kind = "rows of a Gram matrix"

    def __init__(self, values: Array, columns: Array | None = None) -> None:
        self.values = values.astype(_float_type(values.dtype), copy=False)
        self.columns = columns

    @property
    def raw(self) -> Array:
        return self.values

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def take(self, rows: Rows) -> GramRows:
        return GramRows(self.values[rows], None if self.columns is None else self.columns[rows])


class RowBlocks(Input):
    """Points that arrive in blocks: arrays in a list, a memory map cut up, files, a cluster.

    `source` is a sequence of blocks, or a function that returns a fresh iterator over them.
    Every pass over the data runs through the source once; only `take` keeps rows.
    """

    kind = "row blocks"

    def __init__(
        self,
        source: Sequence[Any] | Callable[[], Iterable[Any]],
        lengths: Sequence[int] | None = None,
        convert: Callable[[Any, str], Input] | None = None,
    ) -> None:
        self.source = source
        self._lengths = None if lengths is None else tuple(lengths)
        self._convert = convert or (lambda block, who: Matrix(block).check(who))

    @classmethod
    def split(cls, values: Any, rows: int) -> RowBlocks:
        """Return an array or memory map as blocks of at most `rows` rows, read on demand."""
        size = checks.whole("RowBlocks", "rows", rows, least=1)
        starts = range(0, len(values), size)
        lengths = [min(size, len(values) - start) for start in starts]
        return cls(lambda: (values[start : start + size] for start in starts), lengths=lengths)

    @property
    def raw(self) -> RowBlocks:
        return self

    @property
    def lengths(self) -> tuple[int, ...]:
        if self._lengths is None:
            self._lengths = tuple(len(block) for block in self.blocks())
        return self._lengths

    def __len__(self) -> int:
        return sum(self.lengths)

    def blocks(self) -> Iterator[Input]:
        """Yield every block as an input, checked."""
        blocks = self.source() if callable(self.source) else self.source
        width: int | None = None
        for index, block in enumerate(blocks):
            item = self._convert(block, f"RowBlocks block {index}")
            if isinstance(item, Matrix):
                if width is not None and item.n_columns != width:
                    raise InputError(
                        sentence(
                            f"RowBlocks block {index}",
                            f"every block must have {width} columns",
                            f"{item.n_columns}",
                        )
                    )
                width = item.n_columns
            yield item

    def converted(self, convert: Callable[[Any, str], Input]) -> RowBlocks:
        """Return the same blocks, each read by the given conversion."""
        return RowBlocks(self.source, self._lengths, convert)

    def mapped(self, change: Callable[[Input], Input]) -> RowBlocks:
        """Return the blocks with a change applied to each as it passes."""
        return self.converted(lambda block, who: change(self._convert(block, who)))

    def take(self, rows: Rows) -> Input:
        index = np.arange(len(self))[rows]
        parts, order, start = [], [], 0
        for block in self.blocks():
            inside = np.flatnonzero((index >= start) & (index < start + len(block)))
            if len(inside):
                parts.append(block.take(index[inside] - start))
                order.append(inside)
            start += len(block)
        if not parts:
            return next(self.blocks()).take(np.arange(0))
        return concatenate(parts).take(np.argsort(np.concatenate(order), kind="stable"))

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> RowBlocks:
        return self.mapped(lambda block: block.on(columns, domain, who))


def concatenate(parts: Sequence[Input]) -> Input:
    """Return several inputs of one kind as one."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, Matrix):
        values = [part.values for part in parts if isinstance(part, Matrix)]
        if first.is_sparse:
            return Matrix(scipy.sparse.vstack(values, format="csr"), first.names)
        return Matrix(np.concatenate(values), first.names)
    if isinstance(first, Frame):
        import narwhals.stable.v2 as narwhals

        frames = [part.frame for part in parts if isinstance(part, Frame)]
        return Frame(narwhals.concat(frames).to_native())
    return Objects([item for part in parts for item in part.raw])


def _float_type(dtype: Any) -> type[np.floating[Any]]:
    return np.float32 if dtype in (np.float16, np.float32) else np.float64


def category_codes(values: Iterable[Any]) -> Array:
    """Return a number for every category that depends on nothing but its text.

    Two categories share a number with probability 2**-53, so train and test need no common table.
    A missing value becomes NaN, which the check of the matrix then names.
    """
    known: dict[Any, float] = {}
    codes = []
    for value in values:
        if value is None or value != value:
            codes.append(np.nan)
            continue
        if value not in known:
            digest = hashlib.blake2b(str(value).encode(), digest_size=8).digest()
            known[value] = float(int.from_bytes(digest, "little") >> 11)
        codes.append(known[value])
    return np.array(codes, dtype=np.float64)
