"""Folders of graphs in the format of TU Dortmund."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...checks import Array, DataError, InputError
from ...inputs import Graph


def read_folder(folder: Path) -> tuple[list[Graph], Array, str]:
    """Return the graphs of a folder, their labels, and the digest of its files."""
    try:
        graphs, labels = Graph.read_tu(folder)
    except (InputError, OSError) as error:
        told = str(error).removeprefix("Graph.read_tu: ").removeprefix("Graph.read_tu, ")
        raise DataError(f"read({str(folder)!r}): {told}") from None
    return graphs, labels, _digest(folder)


def _digest(folder: Path) -> str:
    """Return the digest of the digests of the files, as `sha256sum * | sha256sum` shows it."""
    lines = []
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.is_file():
            with path.open("rb") as file:
                lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()
