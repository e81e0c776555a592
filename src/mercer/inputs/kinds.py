"""The kinds of input: a collection of n points, whatever a point is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence
from . import advice
from .categories import FILLS, category_codes, check_categories
from .items import OBJECT_DOMAINS, checked_items

Rows = slice | Array
Columns = str | int | tuple[str | int, ...]

ROWS = frozenset({"rows"})
CATEGORIES = frozenset({"rows", "categories"})
SETS = frozenset({"sets"})
SEQUENCES = frozenset({"sequences"})
TREES = frozenset({"trees"})
GRAPHS = frozenset({"graphs"})
SERIES = frozenset({"series"})
VECTOR_SETS = frozenset({"vector sets"})
WORD_MAPS = frozenset({"word maps"})
OBJECTS = frozenset({"objects"})
GRAM = frozenset({"gram"})
FRAME = frozenset({"frame"})
ANY = ROWS | CATEGORIES | OBJECT_DOMAINS | GRAM | FRAME

DOMAINS = {
    "rows": "rows of numbers",
    "categories": "columns of categories",
    "sets": "sets",
    "sequences": "strings or sequences of tokens",
    "trees": "trees",
    "graphs": "graphs",
    "series": "time series",
    "vector sets": "sets of vectors",
    "word maps": "maps of visual words",
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

    def only(self, rows: Array) -> Input:
        """Return the same, of blocks without bringing the points together."""
        return self.take(rows)

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return what a kernel derives from the points, computed the first time it is asked for."""
        known = self.__dict__.setdefault("_known", {})
        if key not in known:
            known[key] = compute()
        return known[key]

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_known"}

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
        values = _canonical(values) if scipy.sparse.issparse(values) else np.asarray(values)
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

    def take(self, rows: Rows) -> Matrix:
        return Matrix(self.values[rows], self.names)

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Matrix:
        if not domain & CATEGORIES:
            raise InputError(
                sentence(who, f".on(columns) must lead to {domain_text(domain)}", "a matrix")
            )
        wanted = columns if isinstance(columns, tuple) else (columns,)
        index = [self._position(column, who) for column in wanted]
        names = self.names or tuple(map(str, range(self.n_columns)))
        return Matrix(self.values[:, index], [names[i] for i in index])

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
            hint = "Reshape your data: one column with X.reshape(-1, 1), one row with (1, -1)."
            got = f"shape {self.values.shape}"
            raise InputError(sentence(who, "X must be 2-D, one row per point", got, hint))
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

    def copied(self) -> Objects:
        """Return the same objects, with arrays that nobody else can change."""
        return Objects(item.copy() if isinstance(item, np.ndarray) else item for item in self.items)


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
    def names(self) -> tuple[Any, ...]:
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
            values = self.frame.get_column(names[0]).to_list()
            column = f"{who} column {names[0]!r}"
            return Objects(checked_items(column, values, domain, whole=True))
        return self.matrix(names, who, codes="categories" in domain)

    def _name(self, column: str | int, who: str) -> Any:
        if isinstance(column, int) and -len(self.names) <= column < len(self.names):
            return self.names[column]
        by_text = {str(name): name for name in self.names}  # pandas may have numbers for names
        if str(column) in by_text:
            return by_text[str(column)]
        raise InputError(
            sentence(
                who,
                f"X must have the column {column!r}",
                f"columns {', '.join(map(str, self.names))}",
                checks.nearest(column, self.names),
            )
        )

    def matrix(self, names: Sequence[Any], who: str, codes: bool = False) -> Matrix:
        """Return columns as numbers; with `codes`, other columns as category codes."""
        if not codes:
            self._require_numbers(names, who)
        columns = [self._numbers(name, who) for name in names]
        dtype = np.result_type(*(column.dtype for column in columns)) if columns else np.float64
        values = np.empty((len(self), len(names)), dtype=dtype)
        for index, column in enumerate(columns):
            values[:, index] = column
        if codes:
            fills = [FILLS.get(kind, "") for kind in self.kinds(names).values()]
            check_categories(who, values, [repr(name) for name in names], fills)
        return Matrix(values, [str(name) for name in names]).check(who)

    def kinds(self, names: Sequence[Any]) -> dict[Any, str]:
        """Return in words what columns hold."""
        return {name: advice.kind_of(self.frame.get_column(name)) for name in names}

    def _require_numbers(self, names: Sequence[Any], who: str) -> None:
        """Refuse columns that do not hold numbers, all of them at once."""
        kinds = self.kinds(names)
        wrong = {name: kind for name, kind in kinds.items() if kind != advice.NUMBERS}
        if wrong:
            right = [name for name in names if name not in wrong]
            told = advice.for_columns(wrong, right)
            got = advice.listed(wrong)
            raise InputTypeError(sentence(who, "every column must hold numbers", got, told))

    def _numbers(self, name: Any, who: str) -> Array:
        column = self.frame.get_column(name)
        if advice.kind_of(column) != advice.NUMBERS:
            return category_codes(_present(column), f"{who} column {name!r}")
        values = np.asarray(column.to_numpy())
        if values.dtype.kind == "O":  # a nullable column: missing values become NaN
            values = np.array(_present(column), dtype=np.float64)
        return values.astype(_float_type(values.dtype), copy=False)


class GramRows(Input):
    """Rows of a precomputed Gram matrix, one column per training point.

    `columns` says which training points these rows are; None for new points.
    """

    kind = "rows of a Gram matrix"

    def __init__(self, values: Array, columns: Array | None = None) -> None:
        self.values = values.astype(_float_type(values.dtype), copy=False)
        self.columns = columns

    @property
    def raw(self) -> Array:
        return self.values

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.values.dtype
        return dtype

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def take(self, rows: Rows) -> GramRows:
        return GramRows(self.values[rows], None if self.columns is None else self.columns[rows])

    @classmethod
    def numbered(cls, columns: Array, width: int, dtype: Any) -> GramRows:
        """Return training points that only say which columns they are, without their entries.

        The matrix has the right shape and takes no memory; what is not there must not look like
        data.
        """
        return cls(np.broadcast_to(np.array(np.nan, dtype), (len(columns), width)), columns)


def _canonical(values: Any) -> Any:
    """Return a sparse matrix as CSR in which every entry is stored once."""
    rows = values.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is values else rows
        rows.sum_duplicates()
    return rows


def _float_type(dtype: Any) -> type[np.floating[Any]]:
    return np.float32 if dtype in (np.float16, np.float32) else np.float64


def _present(column: Any) -> list[Any]:
    """Return the values of a column of a frame, None for the missing ones, whatever they were."""
    pairs = zip(column.to_list(), column.is_null().to_list(), strict=True)
    return [None if missing else value for value, missing in pairs]
