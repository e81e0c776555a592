"""Which format a file has: by its name, then by its first bytes."""

from __future__ import annotations

import re
from pathlib import Path

from ..checks import DataError, one_of, sentence
from .sources import Source, binary_format

CSV, TSV, PARQUET, JSON_LINES = "csv", "tsv", "parquet", "jsonl"
SVMLIGHT, NPY, NPZ = "svmlight", "npy", "npz"
TREES, FASTA, TU = "trees", "fasta", "tu"
FORMATS = (CSV, TSV, PARQUET, JSON_LINES, SVMLIGHT, NPY, NPZ, TREES, FASTA, TU)

SUFFIXES = {
    ".csv": CSV,
    ".tsv": TSV,
    ".tab": TSV,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".svm": SVMLIGHT,
    ".svmlight": SVMLIGHT,
    ".libsvm": SVMLIGHT,
    ".npy": NPY,
    ".npz": NPZ,
    ".tree": TREES,
    ".trees": TREES,
    ".fasta": FASTA,
    ".fa": FASTA,
    ".faa": FASTA,
    ".fna": FASTA,
    ".fas": FASTA,
}
_PACKINGS = (".gz", ".bz2", ".xz")
_WORKBOOKS = (".xlsx", ".xls", ".ods")
_NUMBER = rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_SVMLIGHT_LINE = re.compile(
    rb"\s*" + _NUMBER + rb"(\s+qid:\d+)?(\s+\d+:" + _NUMBER + rb")+\s*(#.*)?"
)
_TREE_LINE = re.compile(rb"([^\t(]*\t)?\s*\(.*\)\s*")
LOOKED_AT = 5  # lines that must look alike


def check_format(who: str, format: str | None) -> str | None:
    """Return a format that was asked for, if there is one of the name."""
    return None if format is None else one_of(who, "format", format, FORMATS)


def format_of_name(path: Path | None) -> str | None:
    """Return the format that the suffix of a name stands for, or None."""
    if path is None:
        return None
    plain = path.with_suffix("") if path.suffix.lower() in _PACKINGS else path
    if plain.suffix.lower() in _WORKBOOKS:
        must = "workbooks are not read"
        told = "Save the sheet as CSV in the program that wrote it."
        raise DataError(sentence(f"read({str(path)!r})", must, plain.suffix, told))
    return SUFFIXES.get(plain.suffix.lower())


def format_of(source: Source) -> str:
    """Return the format of a file, by its name if that says it, else by what is in it."""
    if not source.head:
        raise source.fail("there must be data", "an empty file")
    return format_of_name(source.path) or binary_format(source.head) or _format_of_text(source)


def _format_of_text(source: Source) -> str:
    lines = [line.strip(b"\r") for line in source.head.lstrip(b"\xef\xbb\xbf").split(b"\n")]
    if len(lines) > 1:
        lines.pop()  # which may have been cut
    lines = [line for line in lines if line.strip()][:LOOKED_AT]
    first = lines[0].lstrip() if lines else b""
    if first.startswith(b"["):
        told = "Write one object per line: JSON lines."
        raise source.fail("JSON must be one object per line", "a list of JSON", told)
    if first.startswith(b"{"):
        return JSON_LINES
    if first.startswith(b">"):
        return FASTA
    plain = [line for line in lines if not line.lstrip().startswith(b"#")]
    if plain and all(_SVMLIGHT_LINE.fullmatch(line) for line in plain):
        return SVMLIGHT
    if lines and all(_TREE_LINE.fullmatch(line) for line in lines):
        return TREES
    return CSV
