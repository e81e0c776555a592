"""Points that arrive in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import InputError, InputTypeError, sentence
from .kinds import Columns, Frame, Input, Matrix, Objects, Rows


class RowBlocks(Input):
    """Points that arrive in blocks: arrays in a list, a memory map cut up, files, a cluster.

    `source` is a sequence of blocks, or a function that returns a fresh iterator over them.
    Every pass over the data runs through the source once; only `take` keeps rows.
    """

    kind = "row blocks"

    def __init__(
        self,
        source: Sequence[Any] | Callable[[], Iterable[Any]],
        lengths: Sequence[int] | None = None,
        convert: Callable[[Any, str], Input] | None = None,
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

    @classmethod
    def split(cls, values: Any, rows: int) -> RowBlocks:
        """Return an array or memory map as blocks of at most `rows` rows, read on demand."""
        size = checks.whole("RowBlocks", "rows", rows, least=1)
        total = values.shape[0] if hasattr(values, "shape") else len(values)
        starts = range(0, total, size)
        lengths = [min(size, total - start) for start in starts]
        return cls(lambda: (values[start : start + size] for start in starts), lengths=lengths)

    @property
    def raw(self) -> RowBlocks:
        return self

    @property
    def lengths(self) -> tuple[int, ...]:
        if self._lengths is None:
            self._lengths = tuple(len(block) for block in self.blocks())
        return self._lengths

    def __len__(self) -> int:
        return sum(self.lengths)

    def blocks(self) -> Iterator[Input]:
        """Yield every block as an input, checked."""
        lengths: list[int] = []
        width: int | None = None
        for index, block in enumerate(self.source() if callable(self.source) else self.source):
            who = f"RowBlocks block {index}"
            item = self._read(block, who)
            if isinstance(item, Matrix):
                if width is not None and item.n_columns != width:
                    must = f"every block must have {width} columns"
                    raise InputError(sentence(who, must, f"{item.n_columns}"))
                width = item.n_columns
            lengths.append(len(item))
            yield item
        if not lengths or self._lengths not in (None, tuple(lengths)):
            must = "the source must give the same blocks, one or more, in every pass"
            advice = "A function must return a fresh iterator each time."
            raise InputError(sentence("RowBlocks", must, f"blocks of {lengths} rows", advice))

    def _read(self, block: Any, who: str) -> Input:
        return self._convert(block, who) if self._convert else Matrix(block).check(who)

    def converted(self, convert: Callable[[Any, str], Input]) -> RowBlocks:
        """Return the same blocks, each read by the given conversion after any earlier one."""
        earlier = self._convert or (lambda block, who: block)
        return RowBlocks(
            self.source, self._lengths, lambda block, who: convert(earlier(block, who), who)
        )

    def mapped(self, change: Callable[[Input], Input]) -> RowBlocks:
        """Return the blocks with a change applied to each as it passes."""
        return RowBlocks(
            self.source, self._lengths, lambda block, who: change(self._read(block, who))
        )

    def take(self, rows: Rows) -> Input:
        index = np.arange(len(self))[rows]
        parts, order, start = [], [], 0
        for block in self.blocks():
            inside = np.flatnonzero((index >= start) & (index < start + len(block)))
            if len(inside):
                parts.append(block.take(index[inside] - start))
                order.append(inside)
            start += len(block)
        if not parts:
            return next(self.blocks()).take(np.arange(0))
        return concatenate(parts).take(np.argsort(np.concatenate(order), kind="stable"))

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> RowBlocks:
        return self.mapped(lambda block: block.on(columns, domain, who))


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
