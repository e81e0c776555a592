"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable
from typing import Any


def write(path: str, parts: Iterable[Any]) -> None:
    """Write the parts to `path`: until the last byte is on the disk, the old file stays as it is.

    A process that is killed in between leaves a hidden file `.mercer-….tmp` beside it, no more.
    """
    target = os.path.realpath(path)  # a link stays a link
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".mercer-{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(handle, "wb") as file:
            _copy_mode(target, handle)
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(handle)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


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
