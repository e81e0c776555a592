"""From what a user has to the kind of input that a kernel takes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence
from ..typing import PointsLike
from . import advice
from .blocks import RowBlocks
from .categories import category_codes, check_categories
from .items import OBJECT_DOMAINS, SINGLE, checked_items, is_single
from .kinds import (
    ANY,
    FRAME,
    GRAM,
    ROWS,
    SERIES,
    VECTOR_SETS,
    WORD_MAPS,
    Frame,
    GramRows,
    Input,
    Matrix,
    Objects,
    domain_text,
)

COLUMN = "the column of dates as a Series"
OTHER_KERNELS = "Numbers only; for strings, sets and graphs choose a kernel made for them."
# Containers whose adapters are loaded when one of them is first met, by the package of its type.
_ADAPTED = {"dask": "mercer.distributed"}
_adapters: list[tuple[Callable[[Any], bool], Callable[[Any], RowBlocks]]] = []


def register_blocks(matches: Callable[[Any], bool], adapt: Callable[[Any], RowBlocks]) -> None:
    """Let `as_input` take a further container: where `matches(X)`, use `adapt(X)`."""
    _adapters.append((matches, adapt))


def _package(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def is_elsewhere(X: Any) -> bool:
    """Return whether X is a collection that may lie in other processes; load what knows it."""
    if type(X) is np.ndarray or _package(X) not in _ADAPTED:
        return False
    importlib.import_module(_ADAPTED[_package(X)])
    return True


def as_blocks(X: PointsLike) -> RowBlocks | None:
    """Return points that arrive in blocks as such; None for others."""
    if isinstance(X, RowBlocks):
        return X
    is_elsewhere(X)  # loads what knows such collections
    return next((adapt(X) for matches, adapt in _adapters if matches(X)), None)


def as_input(X: PointsLike, domain: frozenset[str] = ANY, who: str = "X") -> Input:
    """Return X as the kind of input that the domain takes, checked; else say what must hold."""
    if isinstance(X, RowBlocks):
        if domain == GRAM:
            must = "a precomputed Gram must be one matrix (a memory map will do)"
            raise InputTypeError(sentence(who, must, "row blocks"))
        return X.converted(lambda block, where: as_input(block, domain, where))
    if isinstance(X, Input):
        return X
    blocks = as_blocks(X)
    if blocks is not None:
        return as_input(blocks, domain, who)
    if domain == GRAM:
        return _gram_rows(X, who)
    if scipy.sparse.issparse(X):
        return _matrix(X, domain, who)
    if isinstance(X, str | bytes):
        must = f"X must be a sequence of {domain_text(domain)}"
        raise InputTypeError(sentence(who, must, "one string", "Put it into a list."))
    if isinstance(X, np.ndarray):
        return _from_array(X, domain, who)
    if isinstance(X, list | tuple):
        return _from_sequence(X, domain, who)
    return _from_frame(X, domain, who)


def _from_array(X: Array, domain: frozenset[str], who: str) -> Input:
    if X.ndim == 1 and X.dtype.kind in "OUS" and domain & OBJECT_DOMAINS:
        return _objects(X, domain, who)
    if _is_stack(X, domain):
        return _objects(X, domain, who)
    if X.ndim == 2 and X.dtype.kind in "OUS" and "categories" in domain:
        columns = [category_codes(X[:, j], f"{who} column {j}") for j in range(X.shape[1])]
        values = np.column_stack(columns) if columns else np.empty(X.shape)
        names = [str(j) for j in range(X.shape[1])]
        check_categories(who, values, names, ['"missing"'] * len(names))
        return Matrix(values).check(who)
    return _matrix(X, domain, who)


def _is_stack(X: Array, domain: frozenset[str]) -> bool:
    """Return whether an array of numbers is a stack of objects: series, sets of vectors, maps."""
    least = 2 if "series" in domain and not domain & ROWS else 3
    arrays = domain & (SERIES | VECTOR_SETS | WORD_MAPS)
    return bool(arrays) and X.dtype.kind in "biuf" and least <= X.ndim <= 3


def _from_sequence(X: Sequence[Any], domain: frozenset[str], who: str) -> Input:
    if not domain & OBJECT_DOMAINS:
        rows = _rows_array(X, who)
        if rows.dtype.kind in "US" and "categories" in domain:
            rows = np.array(X, dtype=object)  # numbers among words stay numbers
        return _from_array(rows, domain, who)
    if domain & ROWS and len(X) and _is_row(X[0]) and not isinstance(X[0], str):
        return _matrix(_rows_array(X, who), domain, who)
    return _objects(X, domain, who)


def _from_frame(X: Any, domain: frozenset[str], who: str) -> Input:
    import narwhals.stable.v2 as narwhals

    try:
        native = narwhals.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    except narwhals.exceptions.DuplicateError:
        must = "every column of X must have a name of its own"
        raise InputError(sentence(who, must, f"columns {', '.join(map(str, X.columns))}")) from None
    if isinstance(native, narwhals.Series):
        return _from_sequence(native.to_list(), domain, who)
    if isinstance(native, narwhals.DataFrame):
        numeric = all(kind.is_numeric() for kind in native.schema.values())
        # A kernel of anything gets the frame itself: a function may know its columns by name.
        if domain == ANY or (domain & FRAME and not (domain & ROWS and numeric)):
            return Frame(X)
        if domain & ROWS:
            codes = "categories" in domain
            return Frame(X).matrix(native.columns, who, codes=codes)
        if len(native.columns) == 1:
            return Frame(X).on(native.columns[0], domain, who)
    elif hasattr(X, "__len__") and hasattr(X, "__getitem__") and not isinstance(X, Mapping):
        if hasattr(X, "__array__") and domain & ROWS:
            return _from_array(np.asarray(X), domain, who)
        return _from_sequence([X[i] for i in range(len(X))], domain, who)
    elif hasattr(X, "__array__"):
        return _from_array(np.asarray(X), domain, who)
    must = f"X must be {domain_text(domain)}"
    if isinstance(native, narwhals.DataFrame):
        hint = _choice(Frame(X), domain)
    else:
        hint = _advice(X, domain)
    raise InputTypeError(sentence(who, must, type(X).__name__, hint))


def _choice(frame: Frame, domain: frozenset[str]) -> str:
    """Return which column of a frame a kernel of objects may be meant for."""
    kinds = frame.kinds(frame.names)
    others = [name for name, kind in kinds.items() if kind != advice.NUMBERS]
    words = [name for name in others if kinds[name] == advice.TEXT]
    likely = [*(words if "sequences" in domain else []), *others, *frame.names]
    hint = "X has no columns."
    if likely:
        hint = f"Choose a column with .on(...), such as .on({likely[0]!r}); X has "
        hint += f"{advice.listed(kinds)}."
    return hint + (" If a row is a series, take X.to_numpy()." if domain == SERIES else "")


def _advice(X: Any, domain: frozenset[str]) -> str:
    """Return how to turn what was handed in into a collection."""
    if is_single(X, domain):
        return SINGLE
    if isinstance(X, Mapping):
        return "Take list(X.values())."
    return "Take list(X)." if isinstance(X, Iterable) else ""


def _is_row(item: Any) -> bool:
    if isinstance(item, np.ndarray) and item.ndim != 1:  # a set of vectors, perhaps an empty one
        return False
    return isinstance(item, np.ndarray | list | tuple) and all(
        isinstance(value, int | float | np.number) for value in item
    )


def _rows_array(X: Sequence[Any], who: str) -> Array:
    try:
        return np.asarray(X)
    except ValueError:
        for index, row in enumerate(X):
            if not isinstance(row, list | tuple | np.ndarray):
                got = f"{checks.show(row)} ({type(row).__name__}) at index {index}"
                raise InputTypeError(sentence(who, "every row of X must be a list", got)) from None
            if len(row) != len(X[0]):
                must = f"every row of X must have {len(X[0])} numbers"
                raise InputError(sentence(who, must, f"{len(row)} in row {index}")) from None
        raise InputTypeError(
            sentence(who, "X must be rows of numbers", "rows of items of different lengths")
        ) from None


def _matrix(X: Any, domain: frozenset[str], who: str) -> Matrix:
    if not domain & ROWS:
        must = f"X must be {domain_text(domain)}"
        got = (
            f"a {'sparse matrix' if scipy.sparse.issparse(X) else f'{X.ndim}-D array'} of {X.dtype}"
        )
        hint = SINGLE if is_single(X, domain) else ""
        if domain & FRAME:
            hint = 'Put the numbers into a data frame, or drop .on("name").'
        raise InputTypeError(sentence(who, must, got, hint))
    if X.dtype.kind == "c":
        raise InputTypeError(sentence(who, "X must be real. Complex data not supported", X.dtype))
    return Matrix(X if X.dtype.kind in "biuf" else _as_numbers(X, who)).check(who)


def _as_numbers(X: Array, who: str) -> Array:
    """Return an array of objects or words as numbers, or name the first entry that is not."""
    must = "X must be rows of numbers"
    if X.dtype.kind in "mM":
        told = checks.dates_advice(COLUMN)
        raise InputTypeError(sentence(who, must, f"dates, dtype {X.dtype}", told))
    if X.dtype.kind not in "OUS":
        raise InputTypeError(sentence(who, must, f"dtype {X.dtype}", OTHER_KERNELS))
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        place = next(place for place, entry in np.ndenumerate(X) if not _is_number(entry))
        where = f"row {place[0]}, column {place[1]}" if X.ndim == 2 else f"index {place[0]}"
        told = _for_entry(X[place])
        why = f" ({error})" if told == OTHER_KERNELS and not isinstance(X[place], str) else ""
        got = f"{checks.show(X[place])} in {where}{why}"
        raise InputTypeError(sentence(who, must, got, told)) from None


def _for_entry(entry: Any) -> str:
    """Return what to do with an entry that is not a number."""
    if checks.is_missing(entry):
        return checks.ADVICE_MISSING["X"]
    kind = advice.kind_of_values([entry])
    if kind == advice.COMPLEX:
        return "Complex data not supported."
    dates = kind in (advice.DATES, advice.DURATIONS)
    return checks.dates_advice(COLUMN) if dates else OTHER_KERNELS


def _is_number(entry: Any) -> bool:
    try:
        np.array(entry, dtype=object).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _objects(X: Iterable[Any], domain: frozenset[str], who: str) -> Objects:
    return Objects(checked_items(who, X, domain))


def _gram_rows(X: Any, who: str) -> GramRows:
    rows = as_input(X, ROWS, who)
    values = rows.dense() if isinstance(rows, Matrix) else np.asarray(rows.raw)
    square = values.shape[0] == values.shape[1]
    return GramRows(values, np.arange(len(values)) if square else None)
