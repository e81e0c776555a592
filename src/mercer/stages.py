"""How far a long computation has come, stage by stage, so that another process can go on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from .checks import Array

# What a stage needs to go on, or what came of it: by name, arrays and plain values.
State: TypeAlias = Mapping[str, Array | float | int | str]


class Stage:
    """A part of a computation that is under way: a loop whose steps take long."""

    def __init__(self, path: str, stages: Stages | None = None) -> None:
        self.path, self._stages = path, stages
        self.begun: Counter[str] = Counter()  # stages within this one, since its last step

    @property
    def known(self) -> State | None:
        """What an earlier process has left of this stage; None where it begins here."""
        return None if self._stages is None else self._stages.known(self.path)

    def reached(self, state: State | Callable[[], State]) -> None:
        """Note a finished step.

        A function is called when the state is written, which may be at any time until the next
        step: it returns copies of arrays that are changed in place. Without one, no array of the
        state may be changed in place.
        """
        if self._stages is not None:
            self._stages.note(self, state if callable(state) else _always(state))


class Stages:
    """The stages of a computation under way, and what it takes to go on with each.

    A computation that is resumed runs anew, in the same way, and its stages are told apart by
    their names and by how often a name has come up since the last step of the stage around them:
    the third solve in the second round of a search is that again, and finds what was known of it.
    A stage that has ended stays known until the one around it makes a step or ends.

    write: takes the states of all stages. every: seconds between two writes. states: what an
    earlier process has written.
    """

    def __init__(
        self,
        write: Callable[[Mapping[str, State]], None],
        every: float,
        states: Mapping[str, State] | None = None,
    ) -> None:
        self._write, self.every = write, every
        known = {} if states is None else states
        self._states = {path: _always(state) for path, state in known.items()}
        self._open = [Stage("", self)]
        self._saved = time.monotonic()
        self.has_stopped = False

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Begin a stage, within the one that is under way."""
        around = self._open[-1]
        around.begun[name] += 1
        stage = Stage(f"{around.path}{name} {around.begun[name]}/", self)
        self._open.append(stage)
        try:
            yield stage
        finally:
            self._open.pop()
            last = self._states.get(stage.path)
            self._forget(stage.path)
            if last is not None:  # its arrays are from now on those of the work that follows
                self._states[stage.path] = _always(last())

    def known(self, path: str) -> State | None:
        """Return what is known of a stage."""
        return self._states[path]() if path in self._states else None

    def note(self, stage: Stage, state: Callable[[], State]) -> None:
        """Take the state of a stage after a step, and write all states if it is time to."""
        self._forget(stage.path)
        stage.begun.clear()
        self._states[stage.path] = state
        if not self.has_stopped and time.monotonic() - self._saved >= self.every:
            self.save()

    def save(self) -> None:
        """Write all states."""
        self._write({path: state() for path, state in self._states.items()})
        self._saved = time.monotonic()

    def stop(self) -> None:
        """Write where the computation stands; what it does to wind up is not written."""
        if not self.has_stopped:
            self.save()
            self.has_stopped = True

    def _forget(self, path: str) -> None:
        """Drop what is known of a stage and of those within it."""
        for inner in [one for one in self._states if one.startswith(path)]:
            del self._states[inner]


def _always(state: State) -> Callable[[], State]:
    return lambda: state
