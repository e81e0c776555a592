"""Files that commands write: refused where they exist, whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .errors import CommandError, Exit, usage

if TYPE_CHECKING:
    from ..files import ModelCard

STANDARD = "-"


def check_outputs(
    who: str, outputs: dict[str, str | None], force: bool, inputs: Iterable[str] = ()
) -> None:
    """Refuse files that cannot be written, before any work; outputs: by their option."""
    seen: dict[str, str] = {}
    read = {os.path.realpath(path) for path in inputs if path != STANDARD}
    for option, path in outputs.items():
        if path is None:
            continue
        place = path if path == STANDARD else os.path.realpath(path)
        if place in seen:
            must = f"{option} and {seen[place]} must be different files"
            raise usage(who, must, f"{path!r} for both")
        seen[place] = option
        if path == STANDARD or _is_special(path):
            continue
        if place in read:
            must = f"{option} must not be the file that is read"
            raise usage(who, must, repr(path))
        _check_one(who, option, path, force)


def _check_one(who: str, option: str, path: str, force: bool) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise usage(who, f"{option} must name a file", f"{path!r}, a folder")
    if not os.path.isdir(folder):
        must = f"{option} must name a file in a folder that exists"
        raise usage(who, must, repr(path), f"Make the folder first: mkdir -p {folder}")
    if os.path.exists(path) and not force:
        must = f"{option} must name a file that does not exist yet"
        raise usage(who, must, repr(path), "Write --force to replace it, or choose another name.")
    if not os.access(folder, os.W_OK):
        raise usage(who, f"{option} must be in a folder that may be written to", repr(folder))


def _is_special(path: str) -> bool:
    """Return whether this is a device or a pipe, which is written to and not replaced."""
    from ..storage.atomic import is_special

    return is_special(path)


@contextmanager
def writing() -> Iterator[None]:
    """Make failures of what is written failures of the command: the data was not to blame."""
    from ..checks import FileError

    try:
        yield
    except FileError as error:
        raise CommandError(Exit.FAILURE, str(error)) from error


def save_model(model: Any, path: str, card: ModelCard | None) -> None:
    """Save a model with its card; - is standard output."""
    from ..files import save

    with writing():
        if path != STANDARD:
            save(model, path, card=card)
            return
        sys.stdout.flush()
        save(model, sys.stdout.buffer, card=card)
        sys.stdout.buffer.flush()


def default_name(source: str, ending: str) -> str:
    """Return the name of a file beside us that goes with a data file."""
    if source == STANDARD:
        return f"model{ending}"
    name = os.path.basename(os.path.normpath(source))
    stem = name.partition(".")[0] or name.lstrip(".").partition(".")[0]
    return f"{stem or 'model'}{ending}"


def size_text(path: str) -> str:
    """Return the size of a file as people write it."""
    from ..checks import bytes_text

    try:
        return bytes_text(os.path.getsize(path))
    except OSError:
        return ""
