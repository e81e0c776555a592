"""The bytes of a data file: where they come from, unpacked, and their digest."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import hashlib
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias, cast

from ..checks import DataError, InputTypeError, nearest, sentence, show

AT_ONCE = 2**21  # bytes read at a time: more is no faster, and takes memory
HEAD = 2**16  # bytes looked at to guess what a file is
STANDARD_INPUT = "-"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
_UNPACKING = (EOFError, OSError, zlib.error, lzma.LZMAError)


class Readable(Protocol):
    """What is asked of a file object."""

    def read(self, size: int, /) -> bytes: ...


SourceLike: TypeAlias = str | os.PathLike[str] | Readable


class _Digested:
    """A binary file whose bytes are added to a digest as they are read."""

    def __init__(self, file: Readable, who: str) -> None:
        self.file, self.digest = file, hashlib.sha256()
        self.start = self._take(HEAD, who)  # may be less than what is there

    def _take(self, size: int, who: str = "") -> bytes:
        data = self.file.read(size)
        if not isinstance(data, bytes):
            told = 'Open the file in binary mode: open(path, "rb").'
            raise InputTypeError(
                sentence(who, "a file object must give bytes", type(data).__name__, told)
            )
        self.digest.update(data)
        return data

    def read(self, size: int) -> bytes:
        if self.start:
            data, self.start = self.start[:size], self.start[size:]
            return data
        return self._take(size)


class Source:
    """The bytes of a data file in order; those of gzip, bzip2 and xz are unpacked."""

    def __init__(self, file: Readable, name: str, path: Path | None = None) -> None:
        self.name, self.path = name, path
        self.who = f"read({name!r})"
        self._raw = _Digested(file, self.who)
        start = self._raw.start
        self.packing = next((_PACKED[mark] for mark in _PACKED if start.startswith(mark)), None)
        self._stream: Any = self._unpacked()
        self._head = b""
        while len(self._head) < HEAD and (piece := self._read(HEAD - len(self._head))):
            self._head += piece
        self.head = self._head

    def _unpacked(self) -> Any:
        packed = cast(IO[bytes], self._raw)
        if self.packing == "gzip":
            return gzip.GzipFile(fileobj=packed)
        if self.packing == "bzip2":
            return bz2.BZ2File(packed)
        return lzma.LZMAFile(packed) if self.packing == "xz" else self._raw

    def _read(self, size: int) -> bytes:
        try:
            return cast(bytes, self._stream.read(size))
        except _UNPACKING as error:
            if self.packing is None:
                raise DataError(
                    sentence(self.who, "the file must be readable", _reason(error))
                ) from None
            told = "It may have been cut short: copy it again."
            raise DataError(
                sentence(self.who, f"the {self.packing} file must be whole", _reason(error), told)
            ) from None

    def read(self, size: int) -> bytes:
        """Return up to so many bytes; none at the end."""
        if self._head:
            data, self._head = self._head[:size], self._head[size:]
            return data
        return self._read(size)

    def chunks(self, size: int | None = None) -> Iterator[bytes]:
        """Yield the bytes, so many at a time."""
        while data := self.read(size or AT_ONCE):
            yield data

    def read_all(self) -> bytes:
        """Return all bytes that are left."""
        return b"".join(self.chunks())

    def drain(self) -> None:
        """Read what is left, so that the digest covers the whole file."""
        while self._raw.read(AT_ONCE):
            pass

    def digest(self) -> str:
        """Return the digest of the bytes of the file, packed as they are, that were read so far."""
        return self._raw.digest.hexdigest()

    def fail(self, must: str, got: object, advice: str = "") -> DataError:
        """Return the error of this file."""
        return DataError(sentence(self.who, must, got, advice))


@contextlib.contextmanager
def opened(source: SourceLike) -> Iterator[Source]:
    """Give the bytes of a path, of standard input or of a binary file object."""
    if isinstance(source, str) and source == STANDARD_INPUT:
        yield Source(sys.stdin.buffer, STANDARD_INPUT)
    elif isinstance(source, str | os.PathLike):
        path = Path(os.fsdecode(source))
        with _open(path) as file:
            yield Source(file, str(path), path)
    elif hasattr(source, "read") and not isinstance(source, io.TextIOBase):
        name = getattr(source, "name", None)
        yield Source(source, name if isinstance(name, str) else type(source).__name__)
    else:
        must = "source must be a path, '-' or a binary file object"
        raise InputTypeError(sentence("read", must, show(source)))


def _open(path: Path) -> IO[bytes]:
    who = f"read({str(path)!r})"
    if path.is_dir():
        told = "A folder is read as graphs where it holds NAME_A.txt."
        raise DataError(sentence(who, "it must be a file", "a folder", told))
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise DataError(
            sentence(who, "there must be such a file", "none", _nearest(path))
        ) from None
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        raise DataError(sentence(who, "the file must be readable", _reason(error))) from None


def _nearest(path: Path) -> str:
    """Return which file of the folder may be meant, or that there is no such folder."""
    if not path.parent.is_dir():
        return f"There is no folder {str(path.parent)!r}."
    with contextlib.suppress(OSError):
        found = nearest(path.name, (one.name for one in path.parent.iterdir()))
        return found or f"It is looked for in {str(path.parent.resolve())!r}."
    return ""


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error).rstrip(".")


# --- text --------------------------------------------------------------------------------------


def text_chunks(source: Source, encoding: str, size: int | None = None) -> Iterator[bytes]:
    """Yield the text in UTF-8 without a byte order mark, in stretches that end anywhere."""
    name = codec_name(source.who, encoding)
    if name not in ("utf-8", "utf-8-sig", "ascii"):
        yield from _recoded(source, name)
        return
    if source.head.startswith(_UTF16):
        told = 'Say encoding="utf-16".'
        raise source.fail("the text must be UTF-8", "the byte order mark of UTF-16", told)
    is_first = True
    for chunk in source.chunks(size):
        yield chunk.removeprefix(BYTE_ORDER_MARK) if is_first else chunk
        is_first = False


def codec_name(who: str, encoding: str) -> str:
    """Return what Python calls an encoding, or say that there is none of the name."""
    try:
        return codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError):
        must = "encoding must be one that Python knows, such as 'utf-8' or 'latin-1'"
        raise DataError(sentence(who, must, show(encoding))) from None


def _recoded(source: Source, name: str) -> Iterator[bytes]:
    decoder, line = codecs.getincrementaldecoder(name)(), 1
    is_first, is_last = True, False
    while not is_last:
        chunk = source.read(AT_ONCE)
        is_last = not chunk
        try:
            text = decoder.decode(chunk, is_last)
        except UnicodeError as error:
            good = chunk[: getattr(error, "start", 0)].decode(name, "replace")
            got = f"something else about line {line + good.count(chr(10))}"
            raise source.fail(f"the text must be {name}", got, "Try another encoding.") from None
        line += text.count("\n")
        if is_first:
            text = text.removeprefix("\ufeff")
        is_first = False
        yield text.encode("utf-8", "replace")


def check_text(source: Source, text: bytes, first_line: int) -> None:
    """Refuse what is not text in UTF-8, naming the line; text: whole lines."""
    zero = text.find(b"\0")
    if zero >= 0:
        line = first_line + text.count(b"\n", 0, zero)
        got = f"a zero byte in line {line}"
        raise source.fail("the file must be text", got, looks_like(source))
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + text.count(b"\n", 0, error.start)
        got = f"the byte 0x{text[error.start]:02x} in line {line}"
        told = 'Say encoding="cp1252" if the file comes from Windows, or encoding="latin-1".'
        raise source.fail("the text must be UTF-8", got, looks_like(source) or told) from None


def looks_like(source: Source) -> str:
    """Return advice where the first bytes are those of a format that is no text."""
    name = binary_format(source.head)
    return f"It begins like {name}: say format={name!r}." if name else ""


def binary_format(head: bytes) -> str | None:
    """Return the format of a file that is no text, by its first bytes."""
    marks = {b"PAR1": "parquet", b"\x93NUMPY": "npy", b"PK\x03\x04": "npz"}
    return next((name for mark, name in marks.items() if head.startswith(mark)), None)


def line_pieces(
    source: Source, encoding: str, *, size: int | None = None, is_checked: bool = True
) -> Iterator[tuple[bytes, int]]:
    """Yield stretches of whole lines, each with the number of its first line.

    size: bytes read at a time. is_checked: what is not text is refused.
    """
    waiting: list[bytes] = []
    line = 1
    for chunk in text_chunks(source, encoding, size):
        cut = chunk.rfind(b"\n") + 1
        if cut == 0:
            waiting.append(chunk)
            continue
        piece = b"".join([*waiting, chunk[:cut]])
        waiting = [chunk[cut:]]
        if is_checked:
            check_text(source, piece, line)
        yield piece, line
        line += piece.count(b"\n")
    rest = b"".join(waiting)
    if rest:
        if is_checked:
            check_text(source, rest, line)
        yield rest, line


def numbered_lines(source: Source, encoding: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, without blanks at their ends, with their numbers."""
    for piece, first in line_pieces(source, encoding):
        for line, text in enumerate(re.split("\r?\n", piece.decode("utf-8")), first):
            if text and not text.isspace():
                yield line, text.strip(" \r\n")
