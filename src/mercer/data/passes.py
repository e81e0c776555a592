"""Data files that are read anew in every pass, for fits to more rows than fit into memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from .. import checks
from ..checks import Array, DataError, InputError, sentence
from ..inputs import RowBlocks
from ..inputs.blocks import file_stamps
from .formats import NPY
from .reading import BLOCK_ROWS, ColumnType, read_blocks

WHO = "row_blocks"
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def row_blocks(
    paths: Paths,
    *,
    target: str | None = None,
    rows: int = BLOCK_ROWS,
    types: Mapping[str, ColumnType] | None = None,
    **options: Any,
) -> tuple[RowBlocks, Array | None]:
    """Return the rows of one or more files as blocks that are read anew in every pass.

    A fit to the blocks holds two of them at a time: one that it works on, and the next, which is
    read meanwhile. Files of npy are memory maps. Of others the first pass notes the target and how
    many rows there are. A file that changes before the end of a fit is noticed.

    Parameters
    ----------
    paths : str, path or a list of them
        The files, one after another; a name with * stands for all that match, in order.
    target : str, default=None
        The column to predict.
    rows : int, default=50000
        How many rows a block has at most.
    types : dict, default=None
        By the name of a column, what it is, as in `read`; the first file settles all others.
    **options : object
        Further options of `read_blocks`.

    Returns
    -------
    X : RowBlocks
        The points, for estimators and feature maps.
    y : ndarray or None
        The target of all rows, which is held in memory.

    Raises
    ------
    DataError
        If a file cannot be read, or has other columns than the first.

    See Also
    --------
    read_blocks : One pass over a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.data import row_blocks
    >>> folder = Path(tempfile.mkdtemp())
    >>> for part in range(2):
    ...     _ = (folder / f"{part}.csv").write_text("a,b,y\\n1,2,3\\n2,1,3\\n4,5,9\\n")
    >>> X, y = row_blocks(folder / "*.csv", target="y")
    >>> X.lengths, y.tolist()
    ((3, 3), [3, 3, 9, 3, 3, 9])
    >>> model = KernelRidge(0.1, kernel="linear").fit(X, y)
    """
    found, size = _expanded(paths), checks.whole(WHO, "rows", rows, least=1)
    files = _Files(found, target, size, dict(types or {}), options)
    if all(path.suffix == ".npy" for path in found) and options.get("format", NPY) == NPY:
        return _memory_maps(found, target, size), None
    lengths, targets = [], []
    for _, y, count in files.blocks():
        lengths.append(count)
        targets += [] if y is None else [y]
    X = RowBlocks(files.points, lengths, _as_it_is, lambda: file_stamps(found))
    return X, None if target is None else np.concatenate(targets)


class _Files:
    """Tables that are read one after another, all with the columns of the first."""

    def __init__(
        self,
        paths: list[Path],
        target: str | None,
        rows: int,
        types: dict[str, ColumnType],
        options: dict[str, Any],
    ) -> None:
        self.paths, self.options = paths, {"target": target, "rows": rows} | options
        self.types, self.names = types, list[str]()

    def points(self) -> Iterator[Any]:
        """Yield the points of every block."""
        return (X for X, _, _ in self.blocks())

    def blocks(self) -> Iterator[tuple[Any, Array | None, int]]:
        """Yield the points of every block, their targets and how many they are."""
        for path in self.paths:
            for block in read_blocks(path, types=self.types, **self.options):
                names = [column.name for column in block.columns]
                if not self.names:
                    self.names = names
                    own = {column.name: cast(ColumnType, column.type) for column in block.columns}
                    self.types = own | self.types
                if names != self.names:
                    must = f"every file must have the columns {', '.join(self.names)}"
                    got = ", ".join(names)
                    raise DataError(sentence(f"{WHO}({str(path)!r})", must, got))
                yield block.X, block.y, len(block)


def _expanded(paths: Paths) -> list[Path]:
    """Return the files; refuse none at all."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[Path] = []
    for one in map(Path, given):
        match = sorted(one.parent.glob(one.name)) if "*" in one.name else [one]
        if not match:
            raise DataError(sentence(WHO, f"{str(one)!r} must match a file", "none"))
        found += match
    if not found:
        raise InputError(sentence(WHO, "paths must name a file", "none"))
    return found


def _memory_maps(paths: list[Path], target: str | None, rows: int) -> RowBlocks:
    if target is not None:
        must, advice = "target must be None for npy files", "Hand y to fit."
        raise InputError(sentence(WHO, must, repr(target), advice))
    maps = []
    for path in paths:
        try:
            maps.append(np.load(path, mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError) as error:
            must = "the file must be an array of npy"
            raise DataError(sentence(f"{WHO}({str(path)!r})", must, error)) from None
    cuts = [(one, start) for one in maps for start in range(0, len(one), rows)]
    lengths = [min(rows, len(one) - start) for one, start in cuts]
    return RowBlocks(
        lambda: (one[start : start + rows] for one, start in cuts),
        lengths,
        None,
        lambda: file_stamps(paths),
    )


def _as_it_is(block: Any, who: str) -> Any:
    """Return a block as it was read; what a kernel makes of it comes after."""
    return block
