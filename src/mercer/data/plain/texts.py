"""Objects written in lines: trees with brackets, sequences as FASTA."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...checks import ParseError, show
from ...inputs import Tree
from ..dataset import Kind
from ..pieces import Content, Options, Piece
from ..sources import Source, numbered_lines
from .labels import LABEL, LabelReader

AT_ONCE = 10_000  # objects in a piece
_KEYED = re.compile(r"(?:^|[\s|;])(?:label|class)=([^\s|;]+)")


class _Item(NamedTuple):
    line: int
    value: Any
    label: str | None


class _ObjectReader(ABC):
    """Reads objects, all of which have a label or none."""

    kind: Kind
    note = ""

    def __init__(self, source: Source, options: Options) -> None:
        self.source, self.options = source, options
        self.labels = LabelReader(source, options)

    @abstractmethod
    def items(self) -> Iterator[_Item]:
        """Yield the objects with their lines and labels."""

    def pieces(self) -> Iterator[Piece]:
        """Yield lists of objects, with labels as texts."""
        waiting: list[_Item] = []
        for item in self.items():
            waiting.append(item)
            if len(waiting) == AT_ONCE:
                yield self._piece(waiting)
                waiting = []
        if waiting:
            yield self._piece(waiting)

    def _piece(self, items: list[_Item]) -> Piece:
        labels = [item.label for item in items]
        return Piece(
            X=[item.value for item in items],
            y=None if labels[0] is None else np.array(labels, dtype=object),
            lines=np.array([item.line for item in items]),
        )

    def finish(self, piece: Piece) -> Content:
        """Return the objects, with labels as numbers if they are."""
        y = self.labels.read(piece)
        return Content(
            X=piece.X,
            y=y,
            kind=self.kind,
            target=None if y is None else LABEL,
            notes=(self.note,) if self.note else (),
        )

    def check_labelled(self, item: _Item, is_first_labelled: bool) -> None:
        """Refuse an object with a label after one without, and the other way round."""
        if (item.label is not None) != is_first_labelled:
            who = "every" if is_first_labelled else "no"
            got = f"{'none' if is_first_labelled else show(item.label)} in line {item.line}"
            raise self.source.fail(f"{who} object must have a label, as the first", got)


class TreesReader(_ObjectReader):
    """Reads a bracketed tree per line, or a label, a tab and a tree."""

    kind = "trees"

    def items(self) -> Iterator[_Item]:
        """Yield the trees with their lines and labels."""
        is_labelled: bool | None = None
        for line, text in numbered_lines(self.source, self.options.encoding):
            label, tab, rest = text.partition("\t")
            has_label = bool(tab) and not text.lstrip().startswith("(")
            try:
                tree = Tree.parse(rest if has_label else text)
            except ParseError as error:
                problem = str(error).partition("\n")[0].removeprefix("Tree.parse: ").rstrip(".")
                got = f"{show(text)} in line {line}: {problem}"
                raise self.source.fail("every line must be a bracketed tree", got) from None
            item = _Item(line, tree, label.strip() if has_label else None)
            is_labelled = has_label if is_labelled is None else is_labelled
            self.check_labelled(item, is_labelled)
            yield item
        if is_labelled is None:
            raise self.source.fail("there must be trees", "blank lines only")


class FastaReader(_ObjectReader):
    """Reads sequences with headers, which may have labels.

    A label is what follows `label=` or `class=` in a header; else the second word, where all
    headers have two words.
    """

    kind = "strings"

    def items(self) -> Iterator[_Item]:
        """Yield the sequences with the lines and labels of their headers."""
        records = self._records()
        first = list(itertools.islice(records, AT_ONCE))
        if not first:
            raise self.source.fail("there must be sequences", "none")
        label = _label_rule([header for _, header, _ in first])
        if label is _second_word:
            self.note = "Labels are the second words of the headers."
        for line, header, sequence in itertools.chain(first, records):
            if not sequence:
                raise self.source.fail("a header must be followed by a sequence", _at(header, line))
            item = _Item(line, sequence, label(header))
            self.check_labelled(item, label is not _no_label)
            yield item

    def _records(self) -> Iterator[tuple[int, str, str]]:
        """Yield line, header and sequence of each record."""
        start, header, parts = 0, "", list[str]()
        for line, text in numbered_lines(self.source, self.options.encoding):
            if text.startswith(";"):  # a comment
                continue
            if text.startswith(">"):
                if start:
                    yield start, header, "".join(parts)
                start, header, parts = line, text[1:].strip(), []
            elif not start:
                must = "a sequence must follow a header, a line that starts with >"
                raise self.source.fail(must, _at(text, line))
            else:
                parts.append("".join(text.split()))
        if start:
            yield start, header, "".join(parts)


def _at(text: str, line: int) -> str:
    return f"{show(text)} in line {line}"


def _label_rule(headers: list[str]) -> Callable[[str], str | None]:
    """Return where the labels are: behind a key, in the second word, or nowhere."""
    if any(map(_keyed_word, headers)):
        return _keyed_word
    return _second_word if all(map(_second_word, headers)) else _no_label


def _keyed_word(header: str) -> str | None:
    found = _KEYED.search(header)
    return found[1] if found else None


def _second_word(header: str) -> str | None:
    words = header.split()
    return words[1] if len(words) == 2 else None


def _no_label(header: str) -> str | None:
    return None
