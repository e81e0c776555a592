"""The text of a LIBSVM model file: a header of words and numbers, then one support vector per line.

A file may come from anyone. Every number is checked where it stands and every count against what
is there, so that nothing is allocated that the file does not hold; a message names the line.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import scipy.sparse

from ...checks import Array, FileError, nearest, sentence, show

SVM_TYPES = ("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")
KERNEL_TYPES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")
OF_CLASSES = ("c_svc", "nu_svc")
USES = {
    "polynomial": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
}
KEYS = (
    "svm_type",
    "kernel_type",
    "degree",
    "gamma",
    "coef0",
    "nr_class",
    "total_sv",
    "rho",
    "label",
    "probA",
    "probB",
    "prob_density_marks",
    "nr_sv",
)
MOST_COLUMNS = 2**26  # more than any data set in LIBSVM's collection has
_WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")
AT_ONCE = 1000  # lines that are written together


@dataclass(frozen=True, kw_only=True)
class Machines:
    """Machines for two of k classes each, in LIBSVM's order, or one machine without classes.

    coefficients: k - 1 rows; a support vector of class i has its coefficient against class j in row
    j - 1 if j > i, else in row j. rho: of each pair (0, 1), (0, 2), …, of which a positive value
    speaks for the first. counts: how many of the vectors belong to each class, one after another.
    """

    coefficients: Array
    rho: Array
    counts: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a model file says.

    labels: of the classes, none where there are no classes. slopes, offsets: probA and probB, empty
    where there are none. has_marks: whether there are quantiles of a density, which only LIBSVM
    itself can use. vectors: one row per support vector; of a precomputed matrix one column, the
    number of the training point counted from 1.
    """

    svm_type: str
    kernel_type: str
    machines: Machines
    vectors: scipy.sparse.csr_array
    labels: tuple[int, ...] = ()
    degree: int = 3
    gamma: float = 0.0
    coef0: float = 0.0
    slopes: tuple[float, ...] = ()
    offsets: tuple[float, ...] = ()
    has_marks: bool = False


@dataclass(frozen=True)
class Line:
    """A line of the file, for what is said about it."""

    who: str
    number: int
    words: list[bytes]

    def fail(self, must: str, got: object, advice: str = "") -> NoReturn:
        """Refuse the line."""
        raise FileError(sentence(f"{self.who}, line {self.number}", must, got, advice))

    def whole(self, place: int, what: str, least: int, most: int = 2**31 - 1) -> int:
        """Return the word at a place as a whole number within bounds."""
        word = self.words[place]
        value = int(word) if _WHOLE.fullmatch(word) else None
        if value is None or not least <= value <= most:
            self.fail(f"{what} must be a whole number from {least} to {most}", _text(word))
        return value

    def number_at(self, place: int, what: str) -> float:
        """Return the word at a place as a finite number."""
        return self.finite(self.words[place], what)

    def finite(self, word: bytes, what: str) -> float:
        """Return a word as a finite number."""
        try:
            value = math.nan if b"_" in word else float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.fail(f"{what} must be a finite number", _text(word))
        return value

    def require(self, count: int, what: str) -> None:
        """Refuse a line that has not so many values after its first word."""
        found = len(self.words) - 1
        if found != count:
            self.fail(f"{what} must have {count} value{'' if count == 1 else 's'}", found)


def _text(word: bytes) -> str:
    return show(word.decode("ascii", "backslashreplace"))


# --- reading ------------------------------------------------------------------------------------


def parse(data: bytes, who: str) -> Content:
    """Return what the bytes of a model file say; refuse what is not one, naming the line."""
    lines = data.split(b"\n")
    header, start = _header(lines, who)
    last = Line(who, start, [b"SV"])
    svm_type = _word(header, last, "svm_type", SVM_TYPES)
    kernel_type = _word(header, last, "kernel_type", KERNEL_TYPES)
    classes = _whole(header, last, "nr_class", 2)
    total = _whole(header, last, "total_sv", 0)
    labels, counts = _classes(header, last, svm_type, classes, total)
    pairs = classes * (classes - 1) // 2 if labels else 1
    rho = _numbers(header, "rho", pairs)
    if rho is None:
        last.fail("there must be a line rho before the line SV", "none")
    rows = classes - 1 if labels else 1
    body = _body(lines[start:], total, Line(who, start + 1, []))
    coefficients, vectors = _vectors(body, total, rows, kernel_type == "precomputed")
    machines = Machines(coefficients=coefficients, rho=np.array(rho), counts=counts)
    slopes, offsets = _probabilities(header, pairs, bool(labels))
    return Content(
        svm_type=svm_type,
        kernel_type=kernel_type,
        machines=machines,
        vectors=vectors,
        labels=labels,
        slopes=slopes,
        offsets=offsets,
        has_marks="prob_density_marks" in header,
        **_parameters(header, last, kernel_type),  # type: ignore[arg-type]
    )


def _header(lines: list[bytes], who: str) -> tuple[dict[str, Line], int]:
    """Return the lines before SV by their first word, and the number of the line SV."""
    found: dict[str, Line] = {}
    for number, text in enumerate(lines, 1):
        line = Line(who, number, text.split())
        if line.words == [b"SV"]:
            return found, number
        if not line.words:
            continue
        key = line.words[0].decode("ascii", "backslashreplace")
        if key not in KEYS:
            must = "a line before SV must start with a word of LIBSVM's model files"
            line.fail(must, show(key), nearest(key, KEYS) if len(key) < 40 else "")
        if key in found:
            line.fail(f"there must be one line {key}", f"another in line {found[key].number}")
        found[key] = line
    must = "a LIBSVM model file must have a line SV, after which the support vectors come"
    raise FileError(sentence(who, must, f"none in {len(lines)} lines"))


def _word(header: dict[str, Line], last: Line, key: str, known: Sequence[str]) -> str:
    line = _line(header, last, key)
    line.require(1, key)
    word = line.words[1].decode("ascii", "backslashreplace")
    if word not in known:
        advice = nearest(word, known) if len(word) < 40 else ""
        line.fail(f"{key} must be one of {', '.join(known)}", show(word), advice)
    return word


def _line(header: dict[str, Line], last: Line, key: str) -> Line:
    if key not in header:
        last.fail(f"there must be a line {key} before the line SV", "none")
    return header[key]


def _whole(header: dict[str, Line], last: Line, key: str, least: int) -> int:
    line = _line(header, last, key)
    line.require(1, key)
    return line.whole(1, key, least)


def _numbers(header: dict[str, Line], key: str, count: int) -> tuple[float, ...] | None:
    """Return the numbers of a line of the header; None if there is no such line."""
    if key not in header:
        return None
    line = header[key]
    line.require(count, key)
    return tuple(line.number_at(place, key) for place in range(1, count + 1))


def _classes(
    header: dict[str, Line], last: Line, svm_type: str, classes: int, total: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the labels and the numbers of support vectors of all classes."""
    if svm_type not in OF_CLASSES:
        for key in ("label", "nr_sv"):
            if key in header:
                header[key].fail(f"{svm_type} must have no line {key}", "one")
        if classes != 2:
            header["nr_class"].fail(f"nr_class of {svm_type} must be 2", classes)
        return (), (total,)
    line = _line(header, last, "label")
    line.require(classes, "label")
    labels = tuple(line.whole(place, "a label", -(2**31)) for place in range(1, classes + 1))
    if len(set(labels)) < classes:
        line.fail("labels must be distinct", show(labels))
    line = _line(header, last, "nr_sv")
    line.require(classes, "nr_sv")
    counts = tuple(line.whole(place, "nr_sv", 0) for place in range(1, classes + 1))
    if sum(counts) != total:
        line.fail(f"nr_sv must add up to total_sv = {total}", sum(counts))
    return labels, counts


def _probabilities(
    header: dict[str, Line], pairs: int, of_classes: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    slopes = _numbers(header, "probA", pairs)
    offsets = _numbers(header, "probB", pairs)
    if of_classes and (slopes is None) != (offsets is None):
        header["probA" if slopes is not None else "probB"].fail(
            "probA and probB must come together", "one of them"
        )
    if "prob_density_marks" in header:
        marks = header["prob_density_marks"]
        _numbers(header, "prob_density_marks", len(marks.words) - 1)
    return slopes or (), offsets or ()


def _parameters(header: dict[str, Line], last: Line, kernel_type: str) -> dict[str, float]:
    """Return degree, gamma and coef0 as far as the kernel has them."""
    used = USES.get(kernel_type, ())
    found: dict[str, float] = {}
    for key in ("degree", "gamma", "coef0"):
        if key in header:
            line = header[key]
            line.require(1, key)
            value = line.whole(1, key, 0) if key == "degree" else line.number_at(1, key)
            if key in used:
                found[key] = value
        elif key in used:
            last.fail(
                f"with kernel_type {kernel_type} there must be a line {key} before SV", "none"
            )
    return found


def _body(lines: list[bytes], total: int, first: Line) -> list[Line]:
    """Return the lines of support vectors; empty ones may follow the last of them."""
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) != total:
        where = Line(first.who, first.number + min(len(lines), total), [])
        where.fail(f"after SV there must be total_sv = {total} lines", f"{len(lines)} lines")
    return [Line(first.who, first.number + i, text.split()) for i, text in enumerate(lines)]


def _vectors(
    body: list[Line], total: int, rows: int, precomputed: bool
) -> tuple[Array, scipy.sparse.csr_array]:
    """Return coefficients, `rows` per support vector, and the support vectors."""
    coefficients, values, columns = array("d"), array("d"), array("q")
    starts = array("q", [0])
    for line in body:
        if len(line.words) < rows:
            must = f"a support vector must start with {rows} coefficient{'' if rows == 1 else 's'}"
            line.fail(must, f"{len(line.words)} words")
        coefficients.extend(line.number_at(place, "a coefficient") for place in range(rows))
        if precomputed:
            columns.append(0)
            values.append(_serial(line, rows))
        else:
            _entries(line, rows, columns, values)
        starts.append(len(columns))
    width = 1 + max(columns, default=-1)
    shape = (total, width)
    parts = (np.array(values), np.array(columns), np.array(starts))
    made = scipy.sparse.csr_array(parts, shape=shape, dtype=np.float64)
    return np.array(coefficients).reshape(total, rows).T, made


def _serial(line: Line, rows: int) -> int:
    """Return the number of a training point of a precomputed matrix."""
    words = line.words[rows:]
    found = words[0].partition(b":") if len(words) == 1 else (b"", b"", b"")
    if found[0] != b"0" or not _WHOLE.fullmatch(found[2]):
        must = "a support vector of a precomputed matrix must be 0: and the number of the point"
        line.fail(must, _text(b" ".join(words)))
    value = int(found[2])
    if not 1 <= value <= MOST_COLUMNS:
        line.fail(f"the number of a point must be from 1 to {MOST_COLUMNS}", value)
    return value


def _entries(line: Line, rows: int, columns: array[int], values: array[float]) -> None:
    """Add the entries of a line, whose indices must rise."""
    before = 0
    for word in line.words[rows:]:
        index, colon, value = word.partition(b":")
        if not colon or not _WHOLE.fullmatch(index):
            line.fail("an entry must be index:value", _text(word))
        place = int(index)
        if not before < place <= MOST_COLUMNS:
            line.fail(
                f"indices must rise from 1 to at most {MOST_COLUMNS}",
                f"{place} after {before}" if before else place,
            )
        before = place
        columns.append(place - 1)
        values.append(line.finite(value, f"the value of index {place}"))


# --- writing ------------------------------------------------------------------------------------


def render(content: Content) -> Iterator[bytes]:
    """Yield the text of a model file; every number has the digits that bring it back."""
    machines = content.machines
    lines = [f"svm_type {content.svm_type}", f"kernel_type {content.kernel_type}"]
    for key in USES.get(content.kernel_type, ()):
        lines.append(f"{key} {getattr(content, key)!r}")
    lines.append(f"nr_class {max(len(content.labels), 2)}")
    lines.append(f"total_sv {machines.coefficients.shape[1]}")
    lines.append(_joined("rho", machines.rho.tolist()))
    if content.labels:
        lines.append(_joined("label", content.labels))
    if content.slopes:
        lines.append(_joined("probA", content.slopes))
    if content.offsets:
        lines.append(_joined("probB", content.offsets))
    if content.labels:
        lines.append(_joined("nr_sv", machines.counts))
    lines.append("SV")
    yield ("\n".join(lines) + "\n").encode()
    for start in range(0, machines.coefficients.shape[1], AT_ONCE):
        yield "".join(_rendered(content, slice(start, start + AT_ONCE))).encode()


def _joined(key: str, values: Sequence[float]) -> str:
    return " ".join([key, *map(repr, values)])


def _rendered(content: Content, some: slice) -> Iterator[str]:
    """Yield the lines of some support vectors."""
    vectors = content.vectors[some]
    precomputed = content.kernel_type == "precomputed"
    shift = 0 if precomputed else 1
    columns, values = (vectors.indices + shift).tolist(), vectors.data.tolist()
    bounds = vectors.indptr.tolist()
    for row, own in enumerate(content.machines.coefficients[:, some].T.tolist()):
        places = range(bounds[row], bounds[row + 1])
        if precomputed:
            entries = [f"0:{int(values[place])}" for place in places]
        else:
            entries = [f"{columns[place]}:{values[place]!r}" for place in places]
        yield " ".join([*map(repr, own), *entries]) + "\n"
