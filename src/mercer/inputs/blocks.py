"""Points that arrive in blocks."""

from __future__ import annotations

import copy
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence
from .kinds import Columns, Frame, Input, Matrix, Objects, Rows

FIRST = 100  # points of the first block that show what all are like
Item = TypeVar("Item")
END: Any = object()


class RowBlocks(Input):
    """Points that arrive in blocks: arrays in a list, a memory map cut up, files, a cluster.

    `source` is a sequence of blocks, or a function that returns a fresh iterator over them.
    Every pass over the data runs through the source once; only `take` keeps rows. What a function
    returns is read ahead: the next block is read while work goes on with the last.

    lengths: of the blocks, where they are known. convert: makes an input of a block. stamp: tells
    the state of what the blocks come from, which must be the same in every pass.
    """

    kind = "row blocks"
    is_remote = False  # whether work goes to the blocks instead of blocks to the work

    def __init__(
        self,
        source: Sequence[Any] | Callable[[], Iterable[Any]],
        lengths: Sequence[int] | None = None,
        convert: Callable[[Any, str], Input] | None = None,
        stamp: Callable[[], object] | None = None,
    ) -> None:
        if not (callable(source) or hasattr(source, "__getitem__")):
            raise InputTypeError(
                sentence(
                    "RowBlocks",
                    "source must be a sequence of blocks, or a function that returns an iterator",
                    f"{type(source).__name__}, which can be read only once",
                )
            )
        self.source = source
        self._lengths = None if lengths is None else tuple(lengths)
        self._convert = convert
        self._stamp = stamp
        self._first_stamp = None if stamp is None else stamp()

    @classmethod
    def split(cls, values: Any, rows: int) -> RowBlocks:
        """Return an array or memory map as blocks of at most `rows` rows, read on demand."""
        size = checks.whole("RowBlocks", "rows", rows, least=1)
        total = values.shape[0] if hasattr(values, "shape") else len(values)
        starts = range(0, total, size)
        lengths = [min(size, total - start) for start in starts]
        path = getattr(values, "filename", None)
        stamp = None if path is None else (lambda: file_stamps([path]))
        return cls(lambda: (values[start : start + size] for start in starts), lengths, None, stamp)

    @property
    def raw(self) -> RowBlocks:
        return self

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many rows each block has."""
        if self._lengths is None:
            self._lengths = tuple(found for _, found in self.each(_length, nothing))
        return self._lengths

    def __len__(self) -> int:
        return sum(self.lengths)

    def each(
        self, work: Callable[[Input, Any], Item], part: Callable[[slice], Any], sums: bool = False
    ) -> Iterator[tuple[slice, Item]]:
        """Yield the rows of every block, in order, with what work(block, part(rows)) returns.

        Blocks that lie elsewhere override this, and send the work to them. sums: the results will
        be added up; then the sum for several blocks, one after another, may come at once.
        """
        start = 0
        for block in self.blocks():
            rows = slice(start, start + len(block))
            found = work(block, part(rows))
            del block  # or three of them were in memory: this one, the next, and the one being read
            yield rows, found
            start = rows.stop

    def first(self) -> Input:
        """Return a few points of the first block, which show what all are like."""
        found: Input = self.once("first", lambda: _few(next(_items(self), None)))
        return found

    def blocks(self) -> Iterator[Input]:
        """Yield every block as an input, checked."""
        lengths: list[int] = []
        first: Likeness | None = None
        _check_stamp(self)
        items = _items(self)
        for index, item in enumerate(ahead(items) if callable(self.source) else items):
            first = first or Likeness.of(item)
            first.check(Likeness.of(item), index)
            lengths.append(len(item))
            yield item
            del item
        _check_stamp(self)
        if not lengths or self._lengths not in (None, tuple(lengths)):
            raise _other_blocks(lengths)

    def converted(self, convert: Callable[[Any, str], Input]) -> RowBlocks:
        """Return the same blocks, each read by the given conversion after any earlier one."""
        earlier = self._convert or (lambda block, who: block)
        return _with(self, lambda block, who: convert(earlier(block, who), who))

    def mapped(self, change: Callable[[Input], Input]) -> RowBlocks:
        """Return the blocks with a change applied to each as it passes."""
        read = self._convert or _as_matrix
        return _with(self, lambda block, who: change(read(block, who)))

    def take(self, rows: Rows) -> Input:
        index = np.arange(len(self))[rows]
        if len(index) and index.max() < len(self.first()):
            return self.first().take(index)
        order = np.argsort(index, kind="stable")
        ordered = index[order]

        def inside(rows: slice) -> Array:
            first, last = np.searchsorted(ordered, [rows.start, rows.stop])
            return np.asarray(ordered[first:last] - rows.start)

        parts = [found for _, found in self.each(_chosen, inside)]
        back = np.empty(len(order), dtype=np.intp)
        back[order] = np.arange(len(order))
        return concatenate([part for part in parts if len(part)] or parts[:1]).take(back)

    def only(self, rows: Array) -> RowBlocks:
        return ChosenBlocks(self, rows)

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> RowBlocks:
        return self.mapped(lambda block: block.on(columns, domain, who))


class ChosenBlocks(RowBlocks):
    """Some of the points of blocks: the others are left out of each block as it passes.

    rows: the points, in order.
    """

    def __init__(self, whole: RowBlocks, rows: Array) -> None:
        self.whole, self.is_remote = whole, whole.is_remote
        self._chosen = np.zeros(len(whole), dtype=bool)
        self._chosen[rows] = True
        starts = np.cumsum([0, *whole.lengths])
        counts = [int(self._chosen[a:b].sum()) for a, b in itertools.pairwise(starts)]
        self._before = dict(zip(starts.tolist(), np.cumsum([0, *counts]).tolist(), strict=True))
        self._last: tuple[Any, Any] = (None, None)
        super().__init__([], [count for count in counts if count])

    def each(
        self, work: Callable[[Input, Any], Item], part: Callable[[slice], Any], sums: bool = False
    ) -> Iterator[tuple[slice, Item]]:
        """Yield the rows of every block with any, and what work(block, part(rows)) returns."""
        if self._last[0] is not work:  # the same again, for those who remember what was sent
            self._last = work, ChosenWork(work)

        def inside(rows: slice) -> tuple[Array, Any]:
            chosen = np.flatnonzero(self._chosen[rows])
            first = self._before[rows.start]
            return chosen, part(slice(first, first + len(chosen))) if len(chosen) else None

        for rows, found in self.whole.each(self._last[1], inside, sums):
            first, stop = self._before[rows.start], self._before[rows.stop]
            if stop > first:
                yield slice(first, stop), found

    def blocks(self) -> Iterator[Input]:
        """Yield what is left of every block."""
        yield from (block for _, block in self.each(itself, nothing))

    def first(self) -> Input:
        """Return a few points, which show what all are like."""
        return self.whole.first()

    def take(self, rows: Rows) -> Input:
        return self.whole.take(np.flatnonzero(self._chosen)[rows])

    def converted(self, convert: Callable[[Any, str], Input]) -> RowBlocks:
        return ChosenBlocks(self.whole.converted(convert), np.flatnonzero(self._chosen))

    def mapped(self, change: Callable[[Input], Input]) -> RowBlocks:
        return ChosenBlocks(self.whole.mapped(change), np.flatnonzero(self._chosen))


@dataclass(frozen=True)
class ChosenWork:
    """Work that is done with some of the points of a block; none where there are none."""

    work: Callable[[Input, Any], Any]

    def __call__(self, block: Input, given: tuple[Array, Any]) -> Any:
        chosen, part = given
        return self.work(block.take(chosen), part) if len(chosen) else None


def _with(blocks: RowBlocks, convert: Callable[[Any, str], Input]) -> RowBlocks:
    """Return the same blocks, read in another way."""
    changed = copy.copy(blocks)
    changed.__dict__.pop("_known", None)
    changed._convert = convert
    return changed


def _items(blocks: RowBlocks) -> Iterator[Input]:
    """Yield the blocks of a source as inputs."""
    read = blocks._convert or _as_matrix
    for index, block in enumerate(blocks.source() if callable(blocks.source) else blocks.source):
        yield read(block, f"RowBlocks block {index}")


def _as_matrix(block: Any, who: str) -> Input:
    return Matrix(block).check(who)


def _check_stamp(blocks: RowBlocks) -> None:
    if blocks._stamp is not None and blocks._stamp() != blocks._first_stamp:
        must = "the files must stay as they are until the end of a fit"
        raise InputError(sentence("RowBlocks", must, "files that have changed", "Fit again."))


def _length(block: Input, nothing: None) -> int:
    return len(block)


def itself(block: Input, nothing: None) -> Input:
    """Return a block."""
    return block


def nothing(rows: slice) -> None:
    """Return what work needs that needs nothing of the rows."""


def _chosen(block: Input, rows: Array) -> Input:
    return block.take(rows)


def _other_blocks(lengths: list[int]) -> InputError:
    must = "the source must give the same blocks, one or more, in every pass"
    advice = "A function must return a fresh iterator each time."
    return InputError(sentence("RowBlocks", must, f"blocks of {lengths} rows", advice))


def _few(block: Input | None) -> Input:
    """Return copies of a few points of a block, which do not keep all of it in memory."""
    if block is None:
        raise _other_blocks([])
    return block.take(np.arange(min(FIRST, len(block))))


@dataclass(frozen=True)
class Likeness:
    """What all blocks of a collection share: the kind, and of tables how wide they are.

    names: of the columns, where they have any.
    """

    kind: str
    width: int | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, block: Any) -> Likeness:
        """Return what others must share with a block."""
        kind = getattr(block, "kind", type(block).__name__)
        if isinstance(block, Matrix):
            return cls(kind, block.n_columns, block.names)
        if isinstance(block, Frame):
            return cls(kind, len(block.names), tuple(block.names))
        return cls(kind)

    def check(self, found: Likeness, index: int) -> None:
        """Refuse a block that is unlike the first."""
        who = f"RowBlocks block {index}"
        if found.kind != self.kind:
            must = f"every block must be of the kind of the first, {self.kind}"
            raise InputTypeError(sentence(who, must, found.kind))
        if found.width != self.width:
            must = f"every block must have {self.width} columns"
            raise InputError(sentence(who, must, f"{found.width}"))
        if None not in (self.names, found.names) and found.names != self.names:
            shown = [", ".join(map(str, names or ())) for names in (self.names, found.names)]
            raise InputError(
                sentence(who, f"every block must have the columns {shown[0]}", shown[1])
            )


def file_stamps(paths: Iterable[Any]) -> tuple[tuple[str, int, int], ...]:
    """Return names, sizes and times of files, by which a change is noticed."""
    states = [(os.fspath(path), os.stat(path)) for path in paths]
    return tuple((name, state.st_size, state.st_mtime_ns) for name, state in states)


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield items while a thread already reads the next one."""
    with ThreadPoolExecutor(1, "mercer-reader") as reader:
        coming = reader.submit(next, items, END)
        while (item := coming.result()) is not END:
            coming = reader.submit(next, items, END)
            yield item
            del item  # which may leave the memory before the one after the next is read


def concatenate(parts: Sequence[Input]) -> Input:
    """Return several inputs of one kind as one."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, Matrix):
        values = [part.values for part in parts if isinstance(part, Matrix)]
        if any(scipy.sparse.issparse(one) for one in values):
            return Matrix(scipy.sparse.vstack(values, format="csr"), first.names)
        return Matrix(np.concatenate(values), first.names)
    if isinstance(first, Frame):
        import narwhals.stable.v2 as narwhals

        frames = [part.frame for part in parts if isinstance(part, Frame)]
        return Frame(narwhals.concat(frames).to_native())
    return Objects([item for part in parts for item in part.raw])
