"""Collections of graphs in the text format of TU Dortmund.

Nodes and graphs are numbered from 1 through the whole collection. NAME_A.txt has one arc per line,
"u, v"; NAME_graph_indicator.txt the graph of every node; NAME_graph_labels.txt a whole number
per graph. NAME_node_labels.txt, NAME_edge_labels.txt, NAME_node_attributes.txt and
NAME_edge_attributes.txt, with a line for every node or every arc, may be missing.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence

WHO = "Graph.read_tu"


def tu_graphs(
    folder: str | PathLike[str], name: str | None, weighted: bool
) -> tuple[list[tuple[Any, ...]], Array]:
    """Return the parts of every graph as a Graph holds them, and the labels of the graphs."""
    files = _open(Path(folder), name)
    labels = files.numbers("graph_labels", int, 1)[:, 0]
    owners = _owners(files, len(labels))
    nodes = np.argsort(owners, kind="stable")  # by graph, whatever the order of the lines
    node_ends = np.searchsorted(owners[nodes], np.arange(len(labels) + 1))
    places = np.empty_like(nodes)
    places[nodes] = np.arange(len(nodes)) - node_ends[owners[nodes]]
    arcs = _arcs(files, owners)
    lines = _Edges.of(owners[arcs[:, 0]], np.sort(places[arcs], axis=1), len(labels))
    node_parts = (
        _as_labels(files.optional("node_labels", int, len(nodes)), nodes),
        _as_numbers(files.optional("node_attributes", float, len(nodes)), nodes),
    )
    edge_parts = (
        _as_labels(lines.agreed(files, "edge_labels", int), lines.first),
        _weights(files, lines) if weighted else None,
    )
    parts, pairs = [], lines.pairs
    for g in range(len(labels)):
        a, b = node_ends[g : g + 2].tolist()
        c, d = lines.ends[g : g + 2].tolist()
        node_labels, attributes = (_cut(values, a, b) for values in node_parts)
        edge_labels, weights = (_cut(values, c, d) for values in edge_parts)
        parts.append((b - a, pairs[c:d], node_labels, edge_labels, attributes, weights))
    return parts, labels


@dataclass(frozen=True)
class _Files:
    """The files of one collection."""

    folder: Path
    name: str

    def path(self, part: str) -> Path | None:
        """Return where a part is, or None."""
        plain = self.folder / f"{self.name}_{part}.txt"
        packed = plain.with_name(f"{plain.name}.gz")
        return next((path for path in (plain, packed) if path.is_file()), None)

    def wrong(self, part: str, must: str, got: Any, line: int | None = None) -> InputError:
        """Return the error of a part; lines count from 0 here, from 1 in the message."""
        path = self.path(part)
        name = f"{self.name}_{part}.txt" if path is None else path.name
        where = name if line is None else f"{name} line {line + 1}"
        return InputError(sentence(f"{WHO}, {where}", must, got))

    def optional(self, part: str, kind: type, rows: int) -> Array | None:
        """Return the numbers of a part that may be missing."""
        return None if self.path(part) is None else self.numbers(part, kind, None, rows)

    def numbers(self, part: str, kind: type, width: int | None, rows: int | None = None) -> Array:
        """Return the numbers of a part, one row per line; width, rows: how many there must be."""
        lines = self._lines(part)
        if rows is not None and len(lines) != rows:
            raise self.wrong(part, f"there must be {rows} lines", len(lines))
        wide = (lines[0].count(",") + 1 if lines else 1) if width is None else width
        words = ",".join(lines).split(",") if lines else []
        try:
            found: Array = np.array(list(map(kind, words)), dtype=kind)
            if any(line.count(",") != wide - 1 for line in lines) or not np.isfinite(found).all():
                raise ValueError
        except (ValueError, OverflowError):
            raise self._bad_line(part, lines, kind, wide) from None
        return found.reshape(len(lines), wide)

    def _lines(self, part: str) -> list[str]:
        path = self.path(part)
        if path is None:
            must = f"there must be a file {self.name}_{part}.txt, or {self.name}_{part}.txt.gz"
            raise InputError(sentence(WHO, must, f"none in {self.folder}"))
        try:
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
        except (OSError, EOFError, zlib.error) as error:
            raise self.wrong(part, "the file must be readable", error) from None
        return data.decode("utf-8", "replace").rstrip().splitlines()

    def _bad_line(self, part: str, lines: list[str], kind: type, wide: int) -> InputError:
        """Return the error of the first line that is not so many numbers."""
        noun = "whole number" if kind is int else "finite number"
        numbers = f"{wide} {noun}s with commas between" if wide > 1 else f"a {noun}"
        for index, line in enumerate(lines):
            try:
                found: Array = np.array([kind(word) for word in line.split(",")], dtype=kind)
            except (ValueError, OverflowError):
                found = np.array([np.nan])
            if len(found) != wide or not np.isfinite(found).all():
                return self.wrong(part, f"there must be {numbers}", checks.show(line), index)
        raise AssertionError("every line is right by itself")


@dataclass(frozen=True)
class _Edges:
    """Which lines of arcs are the same edge, and the edges in order."""

    pairs: Array  # nodes of every edge, counted within its graph
    ends: Array  # where the edges of each graph end
    first: Array  # the first line of every edge
    edge_of: Array  # the edge of every line

    @classmethod
    def of(cls, graphs: Array, pairs: Array, count: int) -> _Edges:
        order = np.lexsort((pairs[:, 1], pairs[:, 0], graphs))
        keys = np.column_stack([graphs, pairs])[order]
        new = np.ones(len(keys), dtype=bool)
        new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        edge_of = np.empty_like(order)
        edge_of[order] = np.cumsum(new) - 1
        kept = np.ascontiguousarray(keys[new, 1:])
        kept.setflags(write=False)
        ends = np.searchsorted(keys[new, 0], np.arange(count + 1))
        return cls(kept, ends, order[new], edge_of)

    def agreed(self, files: _Files, part: str, kind: type) -> Array | None:
        """Return what a part says of every line, which must be the same for the same edge."""
        given = files.optional(part, kind, len(self.edge_of))
        if given is None:
            return None
        earlier = self.first[self.edge_of]
        other = np.flatnonzero((given != given[earlier]).any(axis=1))
        if len(other):
            line = int(other[0])
            must = f"an edge must have the same values as in line {earlier[line] + 1}"
            raise files.wrong(part, must, _text(given[line]), line)
        return given


def _open(folder: Path, name: str | None) -> _Files:
    if name is not None:
        return _Files(folder, name)
    names = {path.name.partition("_A.txt")[0] for path in folder.glob("*_A.txt*")}
    if len(names) != 1:
        must = "the folder must hold one collection, NAME_A.txt and so on"
        got = f"{', '.join(sorted(names)) or 'none'} in {folder}"
        raise InputError(sentence(WHO, must, got, "Choose one with name=." if names else ""))
    return _Files(folder, names.pop())


def _owners(files: _Files, count: int) -> Array:
    """Return the graph of every node, counted from 0."""
    owners = files.numbers("graph_indicator", int, 1)[:, 0] - 1
    outside = np.flatnonzero((owners < 0) | (owners >= count))
    if len(outside):
        line = int(outside[0])
        must = f"a node must belong to a graph from 1 to {count}"
        raise files.wrong("graph_indicator", must, owners[line] + 1, line)
    return owners


def _arcs(files: _Files, owners: Array) -> Array:
    """Return the two nodes of every line, counted from 0."""
    arcs = files.numbers("A", int, 2) - 1
    outside = np.flatnonzero(((arcs < 0) | (arcs >= len(owners))).any(axis=1))
    if len(outside):
        line = int(outside[0])
        raise files.wrong(
            "A", f"nodes must be from 1 to {len(owners)}", _text(arcs[line] + 1), line
        )
    apart = np.flatnonzero(owners[arcs[:, 0]] != owners[arcs[:, 1]])
    if len(apart):
        line = int(apart[0])
        raise files.wrong("A", "an edge must join nodes of one graph", _text(arcs[line] + 1), line)
    return arcs


def _text(numbers: Array) -> str:
    return ", ".join(map(str, numbers.tolist()))


def _as_labels(given: Array | None, rows: Array) -> list[Any] | None:
    """Return rows as labels: a number if there is one column, else a tuple."""
    if given is None:
        return None
    chosen = given[rows]
    return chosen[:, 0].tolist() if chosen.shape[1] == 1 else [*map(tuple, chosen.tolist())]


def _as_numbers(given: Array | None, rows: Array) -> Array | None:
    if given is None:
        return None
    chosen = given[rows]
    chosen.setflags(write=False)
    return chosen


def _weights(files: _Files, lines: _Edges) -> Array:
    """Return the weight of every edge."""
    given = lines.agreed(files, "edge_attributes", float)
    if given is None or given.shape[1] != 1:
        got = "none" if given is None else f"{given.shape[1]} per line"
        must = "edge_weights=True needs one edge attribute per line"
        raise files.wrong("edge_attributes", must, got)
    wrong = np.flatnonzero(given[:, 0] <= 0)
    if len(wrong):
        line = int(wrong[0])
        raise files.wrong("edge_attributes", "a weight must be positive", given[line, 0], line)
    found: Array = given[lines.first, 0]
    found.setflags(write=False)
    return found


def _cut(values: Any, start: int, end: int) -> Any:
    """Return the part of one graph: labels as a tuple, numbers as rows."""
    chosen = None if values is None else values[start:end]
    return tuple(chosen) if isinstance(chosen, list) else chosen
