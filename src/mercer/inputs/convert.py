"""From what a user has to the kind of input that a kernel takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence
from .kinds import (
    ANY,
    FRAME,
    GRAM,
    OBJECT_DOMAINS,
    ROWS,
    Frame,
    GramRows,
    Input,
    Matrix,
    Objects,
    RowBlocks,
    category_codes,
    domain_text,
)

_adapters: list[tuple[Callable[[Any], bool], Callable[[Any], RowBlocks]]] = []


def register_blocks(matches: Callable[[Any], bool], adapt: Callable[[Any], RowBlocks]) -> None:
    """Let `as_input` take a further container: where `matches(X)`, use `adapt(X)`."""
    _adapters.append((matches, adapt))


def as_input(X: Any, domain: frozenset[str] = ANY, who: str = "X") -> Input:
    """Return X as the kind of input that the domain takes, checked; else say what must hold."""
    if isinstance(X, RowBlocks):
        return X.converted(lambda block, where: as_input(block, domain, where))
    if isinstance(X, Input):
        return X
    for matches, adapt in _adapters:
        if matches(X):
            return as_input(adapt(X), domain, who)
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
    if X.ndim == 2 and X.dtype.kind in "OUS" and "categories" in domain:
        columns = [_category_column(X[:, j]) for j in range(X.shape[1])]
        values = np.column_stack(columns) if columns else np.empty(X.shape)
        return Matrix(values).check(who)
    return _matrix(X, domain, who)


def _from_sequence(X: Sequence[Any], domain: frozenset[str], who: str) -> Input:
    if not domain & OBJECT_DOMAINS:
        return _from_array(_rows_array(X, who), domain, who)
    if domain & ROWS and len(X) and _is_row(X[0]) and not isinstance(X[0], str):
        return _matrix(_rows_array(X, who), domain, who)
    return _objects(X, domain, who)


def _from_frame(X: Any, domain: frozenset[str], who: str) -> Input:
    import narwhals.stable.v2 as narwhals

    native = narwhals.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, narwhals.Series):
        return _from_sequence(native.to_list(), domain, who)
    if isinstance(native, narwhals.DataFrame):
        numeric = all(kind.is_numeric() for kind in native.schema.values())
        if domain & FRAME and not (domain & ROWS and numeric):
            return Frame(X)
        if domain & ROWS:
            codes = "categories" in domain
            return Frame(X).matrix(native.columns, who, codes=codes)
        if len(native.columns) == 1:
            return Frame(X).on(native.columns[0], domain, who)
    elif hasattr(X, "__len__") and hasattr(X, "__getitem__"):
        if hasattr(X, "__array__") and domain & ROWS:
            return _from_array(np.asarray(X), domain, who)
        return _from_sequence([X[i] for i in range(len(X))], domain, who)
    elif hasattr(X, "__array__"):
        return _from_array(np.asarray(X), domain, who)
    must = f"X must be {domain_text(domain)}"
    hint = 'Choose columns with .on("column").' if isinstance(native, narwhals.DataFrame) else ""
    raise InputTypeError(sentence(who, must, type(X).__name__, hint))


def _is_row(item: Any) -> bool:
    return isinstance(item, np.ndarray | list | tuple) and all(
        isinstance(value, int | float | np.number) for value in item
    )


def _rows_array(X: Sequence[Any], who: str) -> Array:
    try:
        return np.asarray(X)
    except ValueError:
        widths = [len(row) if hasattr(row, "__len__") else 0 for row in X]
        odd = next(i for i, width in enumerate(widths) if width != widths[0])
        must = f"every row of X must have {widths[0]} numbers"
        raise InputError(sentence(who, must, f"{widths[odd]} in row {odd}")) from None


def _matrix(X: Any, domain: frozenset[str], who: str) -> Matrix:
    if not domain & ROWS:
        must = f"X must be {domain_text(domain)}"
        got = (
            f"a {'sparse matrix' if scipy.sparse.issparse(X) else f'{X.ndim}-D array'} of {X.dtype}"
        )
        hint = 'Put the numbers into a data frame, or drop .on("name").' if domain & FRAME else ""
        raise InputTypeError(sentence(who, must, got, hint))
    if X.dtype.kind == "c":
        raise InputTypeError(sentence(who, "X must be real. Complex data not supported", X.dtype))
    if X.dtype.kind not in "biuf":
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            hint = "Numbers only; for strings, sets and graphs choose a kernel made for them."
            raise InputTypeError(
                sentence(who, "X must be rows of numbers", f"dtype {X.dtype} ({error})", hint)
            ) from None
    return Matrix(X).check(who)


def _objects(X: Iterable[Any], domain: frozenset[str], who: str) -> Objects:
    result = Objects(X)
    checks.items(who, result.items, domain)
    return result


def _gram_rows(X: Any, who: str) -> GramRows:
    values = np.asarray(X.todense() if scipy.sparse.issparse(X) else X)
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        must = "X must be a 2-D Gram matrix of numbers, one column a training point"
        raise InputError(sentence(who, must, f"shape {values.shape} of {values.dtype}"))
    checks.finite(who, values)
    square = values.shape[0] == values.shape[1]
    return GramRows(values, np.arange(len(values)) if square else None)


def _category_column(column: Array) -> Array:
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        return category_codes(column)
