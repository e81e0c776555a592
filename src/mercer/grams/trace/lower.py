"""From a kernel's profile to a native program.

A kernel's `profile(pairs)` is run once with `Trace` in the place of pairs: statistics come back as
symbols, NumPy arithmetic on them is written down instead of done. What is written down is the
program; what cannot be (a function NumPy has no ufunc for, a kernel of objects) becomes an external
block, computed by NumPy for that part of the expression only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...checks import Array
from ...inputs import Columns, Input
from ...kernels.base import Kernel
from ...kernels.pairs import (
    SQUARED,
    Pairs,
    Statistic,
    Weights,
    as_matrix,
    column_weights,
    same_width,
)
from ..blocks.objects import has_native_form
from ..sides import View
from .symbols import LEAVES, OPS, Node, Unlowerable, as_node


@dataclass(frozen=True)
class Step:
    """A choice of columns or a map; steps with the same key are the same step."""

    key: Any
    change: Callable[[Input], Input] = field(compare=False)


Path = tuple[Step, ...]


@dataclass
class Recorder:
    """What a trace has asked for: the inputs of the program, each once."""

    statistics: list[tuple[Path, Statistic, tuple[float, ...] | None]] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)
    sides: list[tuple[Path, Any]] = field(default_factory=list)
    externals: list[tuple[Path, Kernel]] = field(default_factory=list)

    def lengths(self) -> list[int]:
        """Return how much has been asked for so far."""
        return [len(known) for known in self._lists()]

    def forget(self, lengths: list[int]) -> None:
        """Drop what was asked for since, by a part that turned out to have no native form."""
        for known, length in zip(self._lists(), lengths, strict=True):
            del known[length:]

    def _lists(self) -> tuple[list[Any], ...]:
        return self.statistics, self.factors, self.sides, self.externals

    @staticmethod
    def number(known: list[Any], item: Any) -> int:
        if item not in known:
            known.append(item)
        return known.index(item)


@dataclass
class Trace(Pairs):
    """Pairs that write down what is done to them; `path` leads to the points they see."""

    left: View
    recorder: Recorder
    path: Path = ()

    @property
    def seen(self) -> Input:
        return self.left.side.points

    def value(self, kernel: Kernel) -> Any:
        before = self.recorder.lengths()
        try:
            return as_node(kernel.profile(self))
        except Unlowerable:
            self.recorder.forget(before)
            return self.external(kernel)

    def external(self, kernel: Kernel) -> Node:
        """Return a symbol for a block that NumPy computes."""
        item = (self.path, kernel)
        return Node("external", index=self.recorder.number(self.recorder.externals, item))

    def sum(self, statistic: Statistic, weights: Weights = None) -> Any:
        result = super().sum(statistic, weights)
        if isinstance(weights, float | int):
            self._note(statistic, abs(float(weights)))
        return result

    def _note(self, statistic: Statistic, factor: float) -> None:
        number = self.recorder.number(self.recorder.statistics, (self.path, statistic, None))
        self.recorder.factors[number] = max(self.recorder.factors[number], factor)

    def statistic(self, statistic: Statistic, weights: tuple[float, ...] | None) -> Node:
        if statistic.family == "decay" and weights is not None:
            raise Unlowerable("weights of columns cannot be folded into this statistic")
        item = (self.path, statistic, weights)
        number = self.recorder.number(self.recorder.statistics, item)
        if number == len(self.recorder.factors):
            self.recorder.factors.append(0.0 if weights is None else 1.0)
        return Node("expanded" if statistic is SQUARED else "statistic", index=number)

    def sides(self, function: Callable[[Input], Array]) -> tuple[Node, Node]:
        number = self.recorder.number(self.recorder.sides, (self.path, function))
        return Node("left", index=number), Node("right", index=number)

    def pairwise(self, kernel: Kernel) -> Node:
        return self.external(kernel)

    def given(self) -> Any:
        raise Unlowerable("a precomputed matrix is its own block")

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Trace:
        return self._child(("on", columns, domain), lambda points: points.on(columns, domain, who))

    def of(self, phi: Callable[[Input], Input]) -> Trace:
        return self._child(("of", phi), phi)

    def _child(self, key: Any, change: Callable[[Input], Input]) -> Trace:
        return replace(
            self, left=self.left.child(key, change), path=(*self.path, Step(key, change))
        )


def follow(view: View, path: Path) -> View:
    """Return the view that a path of a trace leads to."""
    for step in path:
        view = view.child(step.key, step.change)
    return view


@dataclass(frozen=True)
class Program:
    """Kernels as the engine runs them: what they need, and for each kernel its instructions, four
    whole numbers and two numbers each."""

    recorder: Recorder
    codes: list[Array]
    constants: list[Array]
    packed: int  # numbers that a point is packed into, for all statistics together
    derived: int  # numbers of a point that are kept besides: new representations, vectors

    @property
    def statistics(self) -> list[str]:
        """The statistics in words."""
        return [
            what.name + (" with column weights" if weights is not None else "") + _words(path)
            for path, what, weights in self.recorder.statistics
        ]

    def externals(self, *, native: bool) -> list[str]:
        """Return the parts that have no program, in words: kernels of objects, or the rest."""
        return [
            repr(kernel) + _words(path)
            for path, kernel in self.recorder.externals
            if has_native_form(kernel) == native
        ]


def _words(path: Path) -> str:
    keys = [step.key for step in path]
    return "".join(f" on {k[1]}" if k[0] == "on" else " in a new representation" for k in keys)


def lower(kernels: tuple[Kernel, ...], left: View, registers: int, terms: int) -> Program | None:
    """Return the program of kernels of the same points; None if NumPy should do it.

    That is so without any statistic, and with more parts than the engine has room for.
    """
    trace = Trace(left, Recorder())
    roots = [trace.value(kernel) for kernel in kernels]
    return assemble(roots, trace.recorder, left, registers, terms)


def assemble(
    roots: Sequence[Node], recorder: Recorder, left: View, registers: int, terms: int
) -> Program | None:
    """Return the program of what was written down; None if NumPy should do it."""
    counts = (len(recorder.statistics), len(recorder.sides), len(recorder.externals))
    if not recorder.statistics or max(counts) > terms:
        return None
    program = Program(recorder, [], [], *_numbers(recorder, left))
    for root in roots:
        sharpen(root, recorder)
        steps = _Assembler(registers).assemble(root)
        if steps is None:
            return None
        program.codes.append(np.array([step[:4] for step in steps], dtype=np.int32))
        program.constants.append(np.array([step[4:] for step in steps], dtype=np.float64))
    return program


def _numbers(recorder: Recorder, view: View) -> tuple[int, int]:
    """Return how many numbers a point is packed into, and how many are derived from it."""
    width = {
        path: as_matrix(follow(view, path).side.points).n_columns
        for path, _, _ in recorder.statistics
    }
    forms = {(path, what is SQUARED, weights) for path, what, weights in recorder.statistics}
    packed = sum(width[path] for path, _, _ in forms)
    represented = sum(columns for path, columns in width.items() if path)
    left_to_numpy = packed if recorder.externals else 0
    return packed, represented + left_to_numpy + 2 * len(recorder.sides) + 2


def sharpen(node: Node, recorder: Recorder, under_root: bool = False) -> None:
    """Ask for direct differences where a root would enlarge the rounding of small distances."""
    if node.op == "expanded" and under_root:
        recorder.factors[node.index] = -1.0
    for child in node.children:
        rooted = node.op in ("root", "inverse_root") or (node.op == "real_power" and node.x < 1)
        sharpen(child, recorder, under_root or rooted)


class _Assembler:
    """Turns an expression into instructions, computing equal parts once."""

    def __init__(self, registers: int) -> None:
        self.free = list(range(registers))[::-1]
        self.uses: dict[Node, int] = {}
        self.place: dict[Node, int] = {}
        self.steps: list[tuple[int, int, int, int, float, float]] = []

    def assemble(self, root: Node) -> list[tuple[int, int, int, int, float, float]] | None:
        self._count(root)
        if any(node.op not in OPS for node in self.uses):
            return None
        try:
            self._emit(root)
        except IndexError:  # out of registers
            return None
        return self.steps

    def _count(self, node: Node) -> None:
        self.uses[node] = self.uses.get(node, 0) + 1
        if self.uses[node] == 1:
            for child in node.children:
                self._count(child)

    def _emit(self, node: Node) -> int:
        if node in self.place:
            return self.place[node]
        inputs = [self._emit(child) for child in node.children]
        for child in node.children:
            self.uses[child] -= 1
            if self.uses[child] == 0:
                self.free.append(self.place.pop(child))
        out = self.free.pop()
        self.place[node] = out
        a = node.index if node.op in LEAVES else inputs[0]
        b = inputs[1] if len(inputs) > 1 else 0
        self.steps.append((OPS.index(node.op), out, a, b, node.x, node.y))
        return out


def packed_columns(view: View, weights: tuple[float, ...] | None, other: View) -> int:
    """Return the number of columns of a statistic, checked on both sides."""
    width = as_matrix(view.side.points).n_columns
    same_width(width, as_matrix(other.side.points).n_columns)
    column_weights(weights, width)
    return width
