"""Every check of what a user hands in, with its error class and its sentence.

A sentence reads *who: what must hold; got what. What to do.*
"""

from __future__ import annotations

import contextlib
import difflib
import math
import numbers
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LARGEST = 2**62  # whole number that the core and NumPy can count to


class MercerError(Exception):
    """Base of every error that mercer raises on purpose."""


class InputError(MercerError, ValueError):
    """Data or a parameter is not what it must be."""


class InputTypeError(InputError, TypeError):
    """A value has the wrong type."""


class KernelError(MercerError, ValueError):
    """An expression is not a kernel, or cannot do what is asked of it."""


class ParseError(KernelError):
    """A text that stands for a kernel or a tree cannot be read; `position` is where."""

    def __init__(self, text: str, position: int, problem: str, who: str = "parse") -> None:
        self.text, self.position = text, position
        start = max(position - 60, 0)  # a line's worth of a long text is enough
        shown = re.sub(r"\s", " ", text[start : position + 40])
        mark = " " * (position - start) + "^"
        super().__init__(f"{who}: {problem} at position {position}.\n  {shown}\n  {mark}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild_parse_error, (self.text, self.position, self.args))


def _rebuild_parse_error(text: str, position: int, args: tuple[Any, ...]) -> ParseError:
    error = ParseError(text, position, "")
    error.args = args
    return error


class FileError(MercerError, ValueError):
    """A model file cannot be written, or what is read is not one or was altered."""


class CheckpointError(FileError):
    """A checkpoint belongs to another fit, cannot be read, or has no place to be written to."""


class DataError(MercerError, ValueError):
    """A data file cannot be read, or does not hold what it must."""


class PackageError(MercerError, ImportError):
    """A package that a part of mercer needs is not installed."""


# MemoryError makes its objects itself, and refuses to for a class that has another base first;
# Dask's pickling of errors asks it to.
class MemoryLimitError(MemoryError, MercerError):
    """Nothing that would fit the memory limit can do the job."""


def sentence(who: str, must: str, got: Any, advice: str = "") -> str:
    """Return the one form of message that mercer uses."""
    return f"{who}: {must}; got {got}." + (f" {advice}" if advice else "")


def show(value: Any, limit: int = 60) -> str:
    """Return a short text of any value for a message."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def number(
    who: str,
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    advice: str = "",
) -> float:
    """Return `value` as a finite float within its bounds."""
    wrong: type[InputError] = InputError
    if type(value) is float or (not isinstance(value, bool) and isinstance(value, numbers.Real)):
        try:
            result = float(value)
        except OverflowError:  # a whole number of more than 308 digits
            result = math.inf
        if math.isfinite(result) and _within(result, above, least, most):
            return result
    else:
        wrong = InputTypeError
    bounds = _bounds("a finite number", above, least, most)
    raise wrong(sentence(who, f"{name} must be {bounds}", show(value), advice))


def whole(
    who: str, name: str, value: Any, *, least: int, most: int | None = None, advice: str = ""
) -> int:
    """Return `value` as an int within its bounds."""
    bounds = _bounds("a whole number", None, least, most)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputTypeError(sentence(who, f"{name} must be {bounds}", show(value), advice))
    if most is None and int(value) > LARGEST:
        bounds += " and at most 2**62"
    if not _within(int(value), None, least, LARGEST if most is None else most):
        raise InputError(sentence(who, f"{name} must be {bounds}", show(value), advice))
    return int(value)


def flag(who: str, name: str, value: Any) -> bool:
    """Return `value` as a bool; 0 and 1 are accepted."""
    plain = isinstance(value, bool | np.bool_ | numbers.Integral)
    if not plain or int(value) not in (0, 1):
        raise InputTypeError(sentence(who, f"{name} must be True or False", show(value)))
    return bool(value)


def _bounds(noun: str, above: float | None, least: float | None, most: float | None) -> str:
    parts = [noun]
    if above is not None:
        parts.append(f"above {above:g}")
    if least is not None:
        parts.append(f"at least {least:g}")
    if most is not None:
        parts.append(f"at most {most:g}")
    return " ".join(parts[:2]) + "".join(f" and {part}" for part in parts[2:])


def _within(value: float, above: float | None, least: float | None, most: float | None) -> bool:
    return (
        (above is None or value > above)
        and (least is None or value >= least)
        and (most is None or value <= most)
    )


def one_of(who: str, name: str, value: Any, allowed: Sequence[str]) -> str:
    """Return `value` if it is one of the allowed words; else name the nearest."""
    if isinstance(value, str) and value in allowed:
        return value
    raise InputError(
        sentence(
            who,
            f"{name} must be one of {', '.join(map(repr, allowed))}",
            show(value),
            nearest(value, allowed),
        )
    )


def nearest(word: Any, known: Iterable[Any]) -> str:
    """Return 'Did you mean …?' for a misspelt word, or nothing."""
    names = {str(name).lower(): str(name) for name in known}
    found = difflib.get_close_matches(str(word).lower(), names, n=1, cutoff=0.5)
    return f"Did you mean {names[found[0]]!r}?" if found else ""


def assume_finite() -> bool:
    """Return scikit-learn's setting, without loading scikit-learn for it."""
    sklearn = sys.modules.get("sklearn")
    return bool(sklearn is not None and sklearn.get_config().get("assume_finite", False))


ADVICE_MISSING = {
    "X": "Drop or impute them first, for example with sklearn.impute.SimpleImputer.",
    "y": "Drop the points whose target is not known.",
}


def finite(who: str, values: Any, names: Sequence[Any] | None = None, what: str = "X") -> None:
    """Refuse NaN and infinity in an array, dense or sparse, naming the row and the column."""
    # One sum is much cheaper than a mask; only a suspicious sum is worth a look.
    if math.isfinite(_quiet_sum(values)) or assume_finite():
        return
    found = _first_entry(values, lambda entries: ~np.isfinite(entries), names)
    if found is not None:
        value, where, count = found
        word = "NaN" if np.isnan(value) else "infinity"
        raise InputError(
            sentence(
                who,
                f"{what} must have finite numbers only",
                f"{word} in {where} ({count} such {'entry' if count == 1 else 'entries'})",
                ADVICE_MISSING.get(what, ""),
            )
        )


def _quiet_sum(values: Any) -> Any:
    with np.errstate(all="ignore"):
        return values.sum(dtype=np.float64)


def nonnegative(who: str, values: Any, names: Sequence[Any] | None = None) -> None:
    """Refuse a negative entry of a 2-D array, dense or sparse, naming its row and column."""
    found = _first_entry(values, lambda entries: entries < 0, names)
    if found is not None:
        value, where, _ = found
        raise InputError(
            sentence(
                who,
                "X must have no negative entries",
                f"{value:g} in {where}",
                "Negative values in data break the Mercer property here: shift or scale the "
                "columns, or use Laplacian().",
            )
        )


def _first_entry(
    values: Any, wrong: Callable[[Array], Array], names: Sequence[Any] | None
) -> tuple[Any, str, int] | None:
    """Return the first wrong entry, where it is in words, and how many there are; None if none."""
    if hasattr(values, "tocoo"):
        stored = values.tocoo()
        entries, places = stored.data, np.stack([stored.row, stored.col], axis=1)
    else:
        entries, places = np.asarray(values), None
    bad = np.argwhere(wrong(entries))
    if len(bad) == 0:
        return None
    row, *columns = bad[0] if places is None else places[bad[0, 0]]
    where = f"row {row}"
    for column in columns:  # none of a vector
        where += f", column {column if names is None else repr(names[column])}"
    return entries[tuple(bad[0])], where, len(bad)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA."""
    if value is None or isinstance(value, str | bytes):
        return value is None
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # NA is neither equal nor unequal to itself
        return str(value) == "<NA>"


def first_missing(values: Array) -> tuple[int, int] | None:
    """Return the index of the first missing entry of a vector, and how many there are."""
    if values.dtype.kind == "O":
        gone = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    else:
        gone = values != values
    found = np.flatnonzero(gone)
    return (int(found[0]), len(found)) if len(found) else None


def array(
    who: str, name: str, values: Any, expected: str = "have an entry for each point"
) -> Array:
    """Return a list, an array or columns of a data frame as an array of one entry per point.

    Words with something else among them stay objects, of which NumPy would make words: NaN in a
    list of names is not a name.
    """
    must = f"{name} must {expected}"
    try:
        found = np.asarray(values)
        if found.dtype.kind in "US" and found.ndim == 1 and isinstance(values, list | tuple):
            words = str if found.dtype.kind == "U" else bytes
            if not all(isinstance(value, words) for value in values):
                found = np.array(values, dtype=object)
    except ValueError:
        got = f"{show(values)}, lists of several lengths"
        raise InputTypeError(sentence(who, must, got)) from None
    if found.ndim == 0:
        raise InputTypeError(sentence(who, must, show(values), "Hand in a list or an array."))
    if found.dtype.kind == "c":
        advice = "Complex data not supported: take the real part or the absolute value."
        raise InputTypeError(sentence(who, must, f"dtype {found.dtype}", advice))
    return found


def floats(
    who: str, name: str, values: Any, expected: str = "hold real numbers"
) -> NDArray[np.float64]:
    """Return `values` as float64, missing ones as NaN; name the first that is not a number."""
    found = array(who, name, values, expected)
    must = f"{name} must {expected}"
    if found.dtype.kind in "mMUSV":
        advice = dates_advice(name) if found.dtype.kind in "mM" else "Convert it to numbers first."
        raise InputTypeError(sentence(who, must, f"dtype {found.dtype}", advice))
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        return found.astype(np.float64, copy=False)
    result = np.empty(found.shape)
    for place, value in np.ndenumerate(found):
        try:
            result[place] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError, OverflowError):
            got = f"{show(value)} in row {place[0]}"
            raise InputTypeError(sentence(who, must, got)) from None
    return result


def dates_advice(column: str) -> str:
    """Return how to turn dates into numbers; column: where they are, as a user would write it."""
    return (
        "Turn dates into numbers first, such as seconds: (t - t.min()).dt.total_seconds() with "
        f"t = {column}."
    )


def vector(who: str, name: str, values: Any, length: int) -> NDArray[np.float64]:
    """Return `values` as a finite float64 vector of the given length."""
    result = floats(who, name, values, f"be {length} numbers")
    if result.shape != (length,):
        raise InputError(
            sentence(who, f"{name} must have shape ({length},)", f"shape {result.shape}")
        )
    if not np.all(np.isfinite(result)) and not assume_finite():
        index = int(np.flatnonzero(~np.isfinite(result))[0])
        raise InputError(
            sentence(who, f"{name} must be finite", f"{result[index]} at index {index}")
        )
    return result


def here(values: Any) -> Any:
    """Return numbers of a lazy collection as they are computed; all others as they are."""
    return values.compute() if hasattr(values, "__dask_graph__") else values


def sample_weight(who: str, values: Any, length: int) -> NDArray[np.float64] | None:
    """Return non-negative weights, not all zero, or None."""
    if values is None:
        return None
    if isinstance(values, numbers.Real):
        values = np.full(length, number(who, "sample_weight", values, least=0))
    values = here(values)
    result = vector(who, "sample_weight", values, length)
    if np.any(result < 0):
        index = int(np.flatnonzero(result < 0)[0])
        raise InputError(
            sentence(who, "sample_weight must be at least 0", f"{result[index]:g} at index {index}")
        )
    if length and not np.any(result > 0):
        raise InputError(
            sentence(
                who,
                "sample_weight must be above 0 for at least one sample",
                "all weights zero",
                "Give at least one sample a positive weight.",
            )
        )
    return result


_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def memory_limit(who: str, value: Any) -> int | None:
    """Return a limit in bytes for a number or a text such as "2GB"; None for "auto"."""
    must = 'memory_limit must be "auto", a number of bytes or a text such as "2GB"'
    if isinstance(value, str):
        if value.strip().lower() == "auto":
            return None
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-zA-Z]*)\s*", value)
        if match is None or match[2].lower() not in _UNITS:
            raise InputError(sentence(who, must, show(value)))
        value = float(match[1]) * _UNITS[match[2].lower()]
    elif value is None:
        raise InputTypeError(sentence(who, must, "None", 'Leave it out, or say "auto".'))
    return int(number(who, "memory_limit", value, least=1))


def bytes_text(count: float) -> str:
    """Return a number of bytes as people write it."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} bytes" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def square_matrix(who: str, values: Any, name: str = "K") -> Array:
    """Return a square, finite, real, dense 2-D array."""
    matrix = np.asarray(values)
    if matrix.dtype.kind not in "biuf":
        raise InputTypeError(
            sentence(who, f"{name} must be a matrix of real numbers", f"dtype {matrix.dtype}")
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            sentence(who, f"{name} must be square, one row and one column per point", matrix.shape)
        )
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    finite(who, matrix, what=name)
    return matrix
