"""Checkpoints: what a fit needs to go on in another process, in a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np

from . import checks
from .checks import Array, CheckpointError, FileError, InputTypeError, sentence, show
from .stages import Stages, State
from .storage import container, streams

CheckpointLike: TypeAlias = "str | os.PathLike[str] | Checkpoint | None"
ANEW = "Delete the file to begin anew, or give another path."
FEW = 3  # differences that a refusal names


@dataclass(frozen=True)
class Checkpoint:
    """Where a long fit keeps what it needs to go on, and how often it is written.

    A fit with the same data and parameters that finds the file goes on where it was written. The
    file is deleted at the end of the fit.

    Parameters
    ----------
    path : str or path
        The file, in a directory that exists.
    every : float, default=30.0
        Seconds between two writes; 0 writes after every step.

    See Also
    --------
    KernelRidge : Takes one, as most learners do: `checkpoint=Checkpoint(path, every=60.0)`.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import Checkpoint, KernelRidge
    >>> folder = tempfile.TemporaryDirectory()
    >>> kept = Checkpoint(os.path.join(folder.name, "ridge.checkpoint"), every=10.0)
    >>> X = [[0.0], [1.0], [2.0]]
    >>> stopped = KernelRidge(solver="cg", callback=lambda record: True, checkpoint=kept)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     print(stopped.fit(X, [0.0, 1.0, 4.0]).certificate_.status, os.path.exists(kept.path))
    cancelled True
    >>> model = KernelRidge(solver="cg", checkpoint=kept).fit(X, [0.0, 1.0, 4.0])
    >>> model.certificate_.status, "resumed" in model.certificate_.plan, os.path.exists(kept.path)
    ('converged', True, False)
    >>> folder.cleanup()
    """

    path: str | os.PathLike[str]
    every: float = 30.0

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise InputTypeError(sentence("Checkpoint", "path must be a path", show(self.path)))
        checks.number("Checkpoint", "every", self.every, least=0)


class CheckpointFile:
    """The file of one fit. facts: what tells the fit from others, each in words."""

    def __init__(self, who: str, checkpoint: Checkpoint, facts: Mapping[str, str]) -> None:
        self.path = os.fsdecode(checkpoint.path)
        self.who = f"{who} checkpoint {show(self.path, 200)}"
        self.every = checkpoint.every
        self.facts = {"mercer": version("mercer")} | dict(facts)

    def open(self) -> tuple[Stages, bool]:
        """Return the stages of the fit, and whether an earlier process has left any."""
        try:
            streams.check_target(self.path, self.who)
        except FileError as error:
            raise CheckpointError(str(error)) from None
        found = self._read() if os.path.exists(self.path) else {}
        return Stages(self.write, self.every, found), bool(found)

    def write(self, states: Mapping[str, State]) -> None:
        """Write states; until all is on the disk, the file stays as it is."""
        tensors: dict[str, Array] = {}
        packed = [_pack(path, state, tensors) for path, state in states.items()]
        text = ".".join(map(str, container.FORMAT))
        manifest = {
            "format": text,
            "min_reader": "1.0",
            "checkpoint": {"facts": self.facts, "states": packed},
        }
        streams.write(self.path, container.content(self.who, manifest, tensors))

    def remove(self) -> None:
        """Remove the file: the fit has ended."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)

    def _read(self) -> dict[str, State]:
        try:
            with streams.opened(self.path, self.who) as source:
                manifest, tensors = container.read(source, self.who, "a checkpoint")
            return self._unpack(manifest.get("checkpoint"), tensors)
        except FileError as error:
            raise CheckpointError(f"{error} {ANEW}") from None
        except (KeyError, TypeError, ValueError):  # whole, but not written by us
            must = "it must be as it was written"
            raise CheckpointError(sentence(self.who, must, "something else", ANEW)) from None

    def _unpack(self, content: Any, tensors: Mapping[str, Array]) -> dict[str, State]:
        if not isinstance(content, dict):
            raise FileError(sentence(self.who, "it must be a checkpoint", "a model file"))
        self._compare(content["facts"])
        found: dict[str, State] = {}
        for one in content["states"]:
            arrays = {name: tensors[tensor] for name, tensor in one["arrays"].items()}
            floats = {name: float(tensors[tensor]) for name, tensor in one["floats"].items()}
            found[one["path"]] = {**arrays, **floats, **one["plain"]}
        return found

    def _compare(self, facts: Mapping[str, str]) -> None:
        """Refuse the checkpoint of another fit, and say what differs."""
        names = [*self.facts, *(name for name in facts if name not in self.facts)]
        differ = [
            f"{name} was {facts.get(name, 'not there')}, now {self.facts.get(name, 'not there')}"
            for name in names
            if facts.get(name) != self.facts.get(name)
        ]
        if differ:
            more = len(differ) - FEW
            told = "; ".join(differ[:FEW]) + (f"; and {more} more" if more > 0 else "")
            raise FileError(sentence(self.who, "it must be of the same fit", f"another: {told}"))


def _pack(path: str, state: State, tensors: dict[str, Array]) -> dict[str, Any]:
    """Return a state as JSON data, its arrays and its floating-point numbers as tensors."""
    packed: dict[str, Any] = {"path": path, "arrays": {}, "floats": {}, "plain": {}}
    for name, value in state.items():
        if isinstance(value, np.ndarray | float):
            tensor = str(len(tensors))
            array = np.asarray(value)
            tensors[tensor] = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
            packed["floats" if isinstance(value, float) else "arrays"][name] = tensor
        else:
            packed["plain"][name] = value
    return packed
