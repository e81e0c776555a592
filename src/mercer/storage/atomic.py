"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of a disk that has no room, for anyone or for us


def write(path: str, parts: Iterable[Any]) -> None:
    """Write the parts to `path`: until the last byte is on the disk, the old file stays as it is.

    A process that is killed in between leaves a hidden file `.mercer-….tmp` beside it, no more. A
    disk that is full raises an OSError that names the path.
    """
    with replacing(path) as file:
        for part in parts:
            file.write(part)


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` when the block ends without an error.

    A device or a pipe is written to as it is: to replace /dev/null would break the machine.
    """
    target = os.path.realpath(path)  # a link stays a link
    if is_special(target):
        with open(target, "wb") as file:
            yield file
        return
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".mercer-{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(handle, "wb") as file:
            _copy_mode(target, handle)
            yield file
            file.flush()
            os.fsync(handle)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno in FULL:
            told = f"{error.strerror}; what was there before, if anything, is as it was"
            raise OSError(error.errno, told, path) from error
        raise
    _sync_folder(folder)


def is_special(path: str) -> bool:
    """Return whether this is a device, a pipe or a socket."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _copy_mode(target: str, handle: int) -> None:
    """Give the new file the permissions of the old one, before there is anything to read in it."""
    with contextlib.suppress(FileNotFoundError):
        os.fchmod(handle, stat.S_IMODE(os.stat(target).st_mode))


def _sync_folder(folder: str) -> None:
    """Put the new name on the disk too, where the file system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
