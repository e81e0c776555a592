"""Points in the chunks of a Dask collection, which work goes to where they lie."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .. import _native
from ..checks import InputError, InputTypeError, sentence
from ..inputs import Input, RowBlocks
from ..inputs.blocks import FIRST, Likeness, itself, nothing
from .sums import Group, added_up, groups

Item = TypeVar("Item")
IN_FLIGHT = 2  # tasks for each thread of the cluster that may have been sent and not yet be used
REMEMBERED = 4  # works that the workers keep
PAUSE = 1.0  # seconds before something is sent again
TRIES = 3  # for a block whose worker was lost
WHO = "mercer.distributed"


def is_collection(X: Any) -> bool:
    """Return whether X is an array or a data frame of Dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "ndim")


def row_blocks(X: Any, client: Any = None) -> RowBlocks:
    """Return the points of a Dask array or data frame, each chunk of rows a block.

    Estimators do this themselves with the default client. With a client the chunks are computed
    once, stay in the memory of its workers until the blocks are no longer used, and work is sent to
    them. Without any client a chunk is computed in this process whenever it is read.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        The points; chunk sizes may be unknown, and chunks may be empty.
    client : distributed.Client, default=None
        The client; None is the default client, if there is one.

    Returns
    -------
    RowBlocks
        The points, which every estimator that takes blocks can be fitted to.

    Raises
    ------
    InputError
        If the client has no workers.
    InputTypeError
        If X is no array or data frame of rows.

    Examples
    --------
    >>> import dask.array
    >>> from mercer.distributed import row_blocks
    >>> blocks = row_blocks(dask.array.ones((10, 2), chunks=(4, 2)))
    >>> blocks.lengths
    (4, 4, 2)
    """
    if not is_collection(X) or X.ndim != 2:
        got = f"{type(X).__name__} with {getattr(X, 'ndim', 'no')} dimensions"
        raise InputTypeError(sentence(WHO, "X must be a Dask array or frame of rows", got))
    if hasattr(X, "rechunk") and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    client = client or _default_client()
    if client is None:
        return RowBlocks(lambda: (part.compute() for part in _parts(X)), None, as_it_is)
    return DaskBlocks(X, client)


def _default_client() -> Any:
    try:
        from distributed import default_client
    except ImportError:
        return None
    try:
        return default_client()  # type: ignore[no-untyped-call]
    except ValueError:  # there is none
        return None


def _parts(X: Any) -> list[Any]:
    return list(np.ravel(X.to_delayed()))


class DaskBlocks(RowBlocks):
    """Points in the memory of the workers of a cluster; `row_blocks` makes it."""

    is_remote = True

    def __init__(self, X: Any, client: Any) -> None:
        if not client.scheduler_info(n_workers=-1)["workers"]:
            must = "the client must have a worker"
            advice = "Start one, or wait with client.wait_for_workers(1)."
            raise InputError(sentence(WHO, must, "none", advice))
        self.client, self._kept = client, client.persist(X)
        parts = client.compute(_parts(self._kept))
        shapes = client.gather(client.map(_shape, parts, pure=False))
        filled = [place for place, (length, _) in enumerate(shapes) if length] or [0]
        for place in filled:
            shapes[filled[0]][1].check(shapes[place][1], place)
        self._parts = [parts[i] for i in filled]
        super().__init__(self._parts, [shapes[i][0] for i in filled], as_it_is)
        self._sent: list[tuple[Any, Any, Any]] = []

    def blocks(self) -> Iterator[Input]:
        """Yield every block as an input, brought here."""
        yield from (found for _, found in self.each(itself, nothing))

    def first(self) -> Input:
        """Return a few points of the first block."""

        def ask() -> Input:
            group = Group(blocks=range(1), submit=self._submitter(head, nothing), add=self._add)
            group.send(0)
            found: Input = self._result(group)
            return found

        found: Input = self.once("first", ask)
        return found

    def each(
        self, work: Callable[[Input, Any], Item], part: Callable[[slice], Any], sums: bool = False
    ) -> Iterator[tuple[slice, Item]]:
        """Yield the rows of every block, in order, with what work(block, part(rows)) returns.

        The work is sent to every worker once, and runs where the block is. sums: of many blocks
        results are added up on the workers; those of several blocks, one after another, come here.
        """
        stops = [0, *np.cumsum(self.lengths).tolist()]
        most = IN_FLIGHT * max(sum(self.client.nthreads().values()), 1)
        sent: deque[Group] = deque()

        def take() -> tuple[slice, Item]:
            group = sent.popleft()
            rows = slice(stops[group.blocks.start], stops[group.blocks.stop])
            return rows, self._result(group)

        submit = self._submitter(work, part)
        for group in groups(len(self.lengths), sums, submit, self._add):
            sent.append(group)
            for block in group.blocks:
                while sum(len(one.running) for one in sent) >= most:
                    if len(sent) > 1:
                        yield take()
                    else:
                        group.wait()
                group.send(block)
        while sent:
            yield take()

    def _submitter(self, work: Any, part: Callable[[slice], Any]) -> Callable[[int], Any]:
        """Return what sends the work of a block, and what it needs of its rows, to where it is."""
        stops = [0, *np.cumsum(self.lengths).tolist()]

        def submit(place: int) -> Any:
            own, block = part(slice(stops[place], stops[place + 1])), self._parts[place]
            return self.client.submit(run_task, self._send(work), block, own, place, pure=False)

        return submit

    def _add(self, futures: list[Any]) -> Any:
        """Add up results on a worker, before further blocks are worked on."""
        return self.client.submit(added_up, *futures, pure=False, priority=1)

    def _send(self, work: Any) -> Any:
        """Return the work as the workers have it, which is sent once for many passes."""
        for known, convert, sent in self._sent:
            if known is work and convert is self._convert:
                return sent
        packed = Task(work=work, convert=self._convert or as_it_is, process=os.getpid())
        sent = self._scatter(packed)
        self._sent = [(work, self._convert, sent), *self._sent[: REMEMBERED - 1]]
        return sent

    def _scatter(self, packed: Task) -> Any:
        """Send something to every worker; where one is lost meanwhile, to those that are left."""
        for _ in range(TRIES - 1):
            try:
                return self.client.scatter([packed], broadcast=True, hash=False)[0]
            except OSError:  # a connection that was closed, of which the scheduler hears soon
                time.sleep(PAUSE)
        return self.client.scatter([packed], broadcast=True, hash=False)[0]

    def _result(self, group: Group) -> Any:
        """Return the result of a group; where a worker was lost with what it had, try again."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        for _ in range(TRIES):
            try:
                return group.result().result()
            except (KilledWorker, FutureCancelledError, OSError) as error:
                lost, self._sent = error, []
                group = group.again()
        must = "a block must come through on one of the workers"
        got = f"blocks {group.blocks.start} to {group.blocks.stop - 1}: {lost}"
        raise RuntimeError(sentence(WHO, must, got)) from lost


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is done with blocks, how they are read, and the process that asks for it."""

    work: Callable[[Input, Any], Any]
    convert: Callable[[Any, str], Input]
    process: int


def run_task(task: Task, block: Any, part: Any, place: int) -> Any:
    """Do the work of a block in a worker: one native thread for each thread of Dask."""
    if os.getpid() != task.process:
        _native.set_num_threads(1)
    return task.work(task.convert(block, f"RowBlocks block {place}"), part)


def _shape(block: Any) -> tuple[int, Likeness]:
    """Return how many points a chunk has, and what it must share with others."""
    names = getattr(block, "columns", None)
    kind = "a data frame" if names is not None else f"an array with {block.ndim} dimensions"
    width = block.shape[1] if block.ndim == 2 else None
    return len(block), Likeness(kind, width, None if names is None else tuple(names))


def as_it_is(block: Any, who: str) -> Any:
    """Return a chunk as it is; what a kernel makes of it comes after."""
    return block


def head(block: Input, part: None) -> Input:
    """Return a few points of a block."""
    return block.take(slice(0, FIRST))
