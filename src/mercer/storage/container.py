"""The bytes of a model file: a safetensors file with a manifest and a digest of its own header.

    8 bytes    N, the length of the header, little endian
    N bytes    {"__metadata__":{"sha256":"<64 digits>","mercer":"<manifest>"},"<tensor>":{…},…}
    the rest   the tensors, end to end

`sha256` is the digest of the first 8 + N bytes with its own 64 digits read as zeros, and the
manifest holds the digest of every tensor: no byte of the file can change unnoticed.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import Array, FileError, sentence, show
from . import strict
from .streams import Source

FORMAT = (1, 2)  # what this reader understands, and what this writer writes
HEADER_LIMIT = 50_000_000
TENSOR_LIMIT = 65_536  # a table learner has up to eight for each column
SIZE_LIMIT = 2**48  # of one dimension: far above any file, far below an overflow
DIMENSION_LIMIT = 32

_START = b'{"__metadata__":{"sha256":"'
_DIGITS = slice(len(_START), len(_START) + 64)
_DAMAGED = "The file was cut short or altered: take a fresh copy."

DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype("?"),
    "I8": np.dtype("<i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("<u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Where a tensor is, and what its bytes mean."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    stop: int
    sha256: str


# --- writing -----------------------------------------------------------------------------------


def content(who: str, manifest: Mapping[str, Any], tensors: Mapping[str, Array]) -> list[Any]:
    """Return the bytes of a model file, in parts; the tensors are little endian, in C order."""
    # The widest numbers first: then every tensor is aligned, also for readers that map the file.
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    chosen = {name: tensors[name] for name in order}
    header = make_header(manifest, chosen)
    # The reader's own checks: what cannot be read is not written.
    parse_header(header, sum(array.nbytes for array in chosen.values()), who)
    return [len(header).to_bytes(8, "little"), header, *map(as_bytes, chosen.values())]


def make_header(manifest: Mapping[str, Any], tensors: Mapping[str, Array]) -> bytes:
    """Return the header of a file with these tensors, in this order."""
    digests = {name: _sha256(as_bytes(array)) for name, array in tensors.items()}
    text = json.dumps({**manifest, "tensors": digests}, allow_nan=False, separators=(",", ":"))
    entries: dict[str, Any] = {"__metadata__": {"sha256": "0" * 64, "mercer": text}}
    start = 0
    for name, array in tensors.items():
        stop = start + array.nbytes
        shape = list(array.shape)
        entries[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": shape,
            "data_offsets": [start, stop],
        }
        start = stop
    header = json.dumps(entries, separators=(",", ":")).encode("ascii")
    return sealed(header + b" " * (-len(header) % 8))


def sealed(header: bytes) -> bytes:
    """Return the header with its digest in its place."""
    return header[: _DIGITS.start] + header_digest(header).encode() + header[_DIGITS.stop :]


def header_digest(header: bytes) -> str:
    """Return the SHA-256 of length and header, the digits of the digest itself read as zeros."""
    blank = header[: _DIGITS.start] + b"0" * 64 + header[_DIGITS.stop :]
    return _sha256(len(header).to_bytes(8, "little") + blank)


def as_bytes(array: Array) -> Array:
    """Return the bytes of an array without a copy."""
    return array.reshape(-1).view(np.uint8)


def _sha256(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()


# --- reading -----------------------------------------------------------------------------------


def read(
    source: Source, who: str, what: str = "a model file"
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the manifest and the tensors of a file, every byte of it checked."""
    header = _read_header(source, who, what)
    manifest, entries = parse_header(header, source.size - 8 - len(header), who)
    return manifest, {name: _read_tensor(source, name, entries[name], who) for name in entries}


def read_manifest(source: Source, who: str) -> dict[str, Any]:
    """Return the manifest alone; the tensors are known to fill the file, but are not read."""
    header = _read_header(source, who)
    return parse_header(header, source.size - 8 - len(header), who)[0]


def _read_header(source: Source, who: str, what: str = "a model file") -> bytes:
    """Return the header, once its length is known to be possible and its digest to be right."""
    first, size = source.read(8 + _DIGITS.stop), source.size
    if first[8 : 8 + len(_START)] != _START:
        raise FileError(sentence(who, f"it must be {what} of mercer", _guess(first)))
    length = int.from_bytes(first[:8], "little")
    if not _DIGITS.stop <= length <= min(HEADER_LIMIT, size - 8):
        must = f"its header must have at most {HEADER_LIMIT} bytes and lie within the file"
        raise FileError(sentence(who, must, f"{length} bytes in a file of {size}", _DAMAGED))
    header = first[8:] + source.read(length - _DIGITS.stop)
    if header[_DIGITS] != header_digest(header).encode():
        must = "its header must agree with its SHA-256"
        raise FileError(sentence(who, must, "another digest", _DAMAGED))
    return header


def _guess(first: bytes) -> str:
    """Return in words what else a file may be."""
    if first[:1] == b"\x80":
        return "a pickle, which mercer never opens"
    if first[:2] == b"PK":
        return "a zip archive"
    if first[8:9] == b"{":
        return "a safetensors file without a model of mercer"
    return f"one that starts with {first[:8]!r}" if first else "an empty file"


def parse_header(header: bytes, size: int, who: str) -> tuple[dict[str, Any], dict[str, Entry]]:
    """Return the manifest and the tensors that a header announces for `size` bytes after it."""
    if len(header) > HEADER_LIMIT:
        must = f"its header must have at most {HEADER_LIMIT} bytes"
        raise FileError(sentence(who, must, f"{len(header)}", "Large data belongs in arrays."))
    entries = strict.loads(header, who)
    metadata = entries.pop("__metadata__", None) if isinstance(entries, dict) else None
    text = metadata.get("mercer") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise FileError(sentence(who, "its header must hold a manifest", "none"))
    manifest = strict.loads(text, who)
    if not isinstance(manifest, dict):
        raise FileError(sentence(who, "its manifest must be an object", show(manifest)))
    _check_version(manifest, who)
    digests = manifest.get("tensors")
    if not isinstance(digests, dict) or list(digests) != list(entries):
        must = "its manifest must list the tensors of the file, in their order"
        raise FileError(sentence(who, must, "other tensors"))
    if len(entries) > TENSOR_LIMIT:
        must = f"it must have at most {TENSOR_LIMIT} tensors"
        raise FileError(sentence(who, must, len(entries)))
    return manifest, _entries(entries, digests, size, who)


def _check_version(manifest: Mapping[str, Any], who: str) -> None:
    """Refuse a file that asks for a newer reader, naming who wrote it."""
    given = manifest.get("min_reader")
    needed = re.fullmatch(r"([1-9][0-9]{0,3})\.([0-9]{1,4})", given if type(given) is str else "")
    ours = ".".join(map(str, FORMAT))
    if needed is None or (int(needed[1]), int(needed[2])) > FORMAT:
        raise FileError(
            sentence(
                who,
                f"it must be readable by format {ours}, which this mercer knows",
                f"a file for readers of {show(given)}, written by {show(manifest.get('writer'))}",
                "Update mercer.",
            )
        )


def _entries(
    entries: Mapping[str, Any], digests: Mapping[str, Any], size: int, who: str
) -> dict[str, Entry]:
    """Return where the tensors are, once they are known to fill the file end to end."""
    found: dict[str, Entry] = {}
    start = 0
    for name, fields in entries.items():
        entry = _entry(fields, digests[name])
        if entry is None:
            must = f"tensor {show(name)} must have a dtype, a shape, its bytes and its SHA-256"
            raise FileError(sentence(who, must, show(fields)))
        if entry.start != start or entry.stop > size:
            must = "its tensors must lie end to end within the file"
            got = f"{show(name)} from {entry.start} to {entry.stop} of {size} bytes"
            raise FileError(sentence(who, must, got, _DAMAGED))
        found[name], start = entry, entry.stop
    if start != size:
        must = f"there must be {start} bytes of tensors"
        raise FileError(sentence(who, must, size, _DAMAGED))
    return found


def _entry(fields: Any, digest: Any) -> Entry | None:
    """Return one tensor, or None where anything about it is not as it must be."""
    if not isinstance(fields, dict) or set(fields) != {"dtype", "shape", "data_offsets"}:
        return None
    dtype = DTYPES.get(fields["dtype"]) if isinstance(fields["dtype"], str) else None
    shape, offsets = fields["shape"], fields["data_offsets"]
    if dtype is None or not (is_shape(shape) and is_shape(offsets) and len(offsets) == 2):
        return None
    if not isinstance(digest, str):
        return None
    if offsets[1] - offsets[0] != math.prod(shape) * dtype.itemsize:
        return None
    return Entry(dtype=dtype, shape=tuple(shape), start=offsets[0], stop=offsets[1], sha256=digest)


def is_shape(sizes: Any) -> bool:
    """Return whether this is a list of sizes, few and far from any overflow."""
    few = isinstance(sizes, list) and len(sizes) <= DIMENSION_LIMIT
    return few and all(type(size) is int and 0 <= size < SIZE_LIMIT for size in sizes)


def _read_tensor(source: Source, name: str, entry: Entry, who: str) -> Array:
    """Return one tensor; the file is known to be large enough for it."""
    array: Array = np.empty(entry.shape, entry.dtype)
    content = as_bytes(array)
    read = source.read_into(content) if array.size else 0
    if read != array.nbytes or _sha256(content) != entry.sha256:
        must = f"tensor {show(name)} must agree with its SHA-256"
        raise FileError(sentence(who, must, "other bytes", _DAMAGED))
    if entry.dtype.kind == "b" and content.max(initial=0) > 1:
        must = f"tensor {show(name)} must hold truth values, 0 or 1"
        raise FileError(sentence(who, must, "another byte"))
    return array
