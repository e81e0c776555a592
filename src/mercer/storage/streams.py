"""Where the bytes of a model file come from and go to: a path, bytes, or a binary file object."""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from ..checks import Array, FileError, InputTypeError, sentence, show
from . import atomic

AT_ONCE = 2**24  # bytes asked of a stream at a time


class Readable(Protocol):
    """What `load` asks of a file object."""

    def read(self, size: int, /) -> bytes: ...


class Writable(Protocol):
    """What `save` asks of a file object."""

    def write(self, data: bytes | memoryview, /) -> Any: ...


class Source:
    """Bytes to be read in order, of which the number is known.

    So a file that claims to hold more than it does is found out before memory is taken.
    """

    def __init__(self, file: Readable, size: int, who: str) -> None:
        self.file, self.size, self.who = file, size, who

    def read(self, count: int) -> bytes:
        """Return so many bytes, or what is left."""
        return b"".join(_pieces(self.file, count, self.who))

    def read_into(self, target: Array) -> int:
        """Fill an array of bytes, and return how many there were."""
        filled, view = 0, target.data
        for piece in _pieces(self.file, len(target), self.who):
            view[filled : filled + len(piece)] = piece
            filled += len(piece)
        return filled


def _pieces(file: Readable, count: int, who: str) -> Iterator[bytes]:
    """Yield what a file gives, which may be less at a time than was asked for."""
    while count > 0:
        piece = file.read(min(count, AT_ONCE))
        if not isinstance(piece, bytes | bytearray | memoryview):
            must = "a file object must give bytes"
            raise InputTypeError(sentence(who, must, type(piece).__name__, _BINARY))
        if len(piece) == 0:
            return
        yield bytes(piece)
        count -= len(piece)


_BINARY = 'Open the file in binary mode: open(path, "rb") to load, open(path, "wb") to save.'
_MUST = "it must be a path, bytes or a binary file object"


@contextlib.contextmanager
def opened(source: Any, who: str) -> Iterator[Source]:
    """Give the bytes of a path, of bytes themselves or of a file object, to its end."""
    if isinstance(source, str | os.PathLike):
        if os.path.isdir(source):
            raise FileError(sentence(who, "it must be a file", "a directory"))
        # Not to wait for whoever writes into a pipe: what is not a file is refused.
        handle = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise FileError(sentence(who, "it must be a file", "a pipe or a device"))
            yield Source(file, status.st_size, who)
    elif isinstance(source, bytes | bytearray | memoryview):
        yield Source(io.BytesIO(source), memoryview(source).nbytes, who)
    elif hasattr(source, "read"):
        yield _of_file(source, who)
    else:
        raise InputTypeError(sentence(who, _MUST, show(source)))


def _of_file(file: Any, who: str) -> Source:
    """Return what a file object has from where it stands; without a way to seek, read it all."""
    if isinstance(file, io.TextIOBase):
        raise InputTypeError(sentence(who, _MUST, "a text file", _BINARY))
    seekable = getattr(file, "seekable", None)
    if callable(seekable) and seekable():
        start = file.tell()
        size = file.seek(0, os.SEEK_END) - start
        file.seek(start)
        return Source(file, size, who)
    content = b"".join(_pieces(file, 2**63, who))
    return Source(io.BytesIO(content), len(content), who)


def check_target(target: Any, who: str) -> None:
    """Refuse what cannot be written to, before there is anything to write."""
    if isinstance(target, str | os.PathLike):
        path = os.fsdecode(target)
        folder = os.path.dirname(os.path.abspath(path))
        if not path or os.path.isdir(path) or not os.path.isdir(folder):
            must = "the path must be that of a file in a directory that exists"
            raise FileError(sentence(who, must, repr(path)))
    elif isinstance(target, io.TextIOBase):
        must = "the target must be a path or a binary file object"
        raise InputTypeError(sentence(who, must, "a text file", _BINARY))
    elif not hasattr(target, "write"):
        must = "the target must be a path or a binary file object"
        advice = "For bytes hand in io.BytesIO() and take its getvalue()."
        raise InputTypeError(sentence(who, must, show(target), advice))


def write(target: str | os.PathLike[str] | Writable, parts: Iterable[Any]) -> None:
    """Write the parts: to a path whole or not at all, to a file object one after another."""
    if isinstance(target, str | os.PathLike):
        atomic.write(os.fsdecode(target), parts)
        return
    for part in parts:
        left = memoryview(part).cast("B")
        while len(left):
            written = target.write(left)
            # A raw file may take less than it is given; one that does not say took it all.
            left = left[written:] if isinstance(written, int) else left[len(left) :]


def name_of(source: Any) -> str:
    """Return how a message names what was loaded."""
    if isinstance(source, str | os.PathLike):
        return repr(os.fsdecode(source))
    if isinstance(source, bytes | bytearray | memoryview):
        return f"{memoryview(source).nbytes} bytes"
    given = getattr(source, "name", None)
    return repr(given) if isinstance(given, str) else type(source).__name__
