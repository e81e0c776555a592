"""Fits that go on where an earlier process was stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ...checkpoints import Checkpoint, CheckpointFile
from ...grams import limit_in_bytes
from ...inputs import Input
from ...monitor import Monitor, logger
from ...run import Run
from .digests import told, told_points
from .parameters import run_of

# Parameters that change nothing of what a fit finds, or only when it ends.
ASIDE = ("callback", "checkpoint", "n_jobs", "time_limit", "verbose")


@contextmanager
def resumable(model: Any, points: Input, **given: Any) -> Iterator[Run]:
    """Give the run of a fit; with a `checkpoint`, one that goes on where a former one has ended.

    given: what else is fitted, such as targets and weights, by its name in messages. The file is
    deleted at the end of the fit, unless its certificate says that it was stopped.
    """
    run, wanted = run_of(model), getattr(model, "checkpoint", None)
    if wanted is None:
        yield run
        return
    checkpoint = wanted if isinstance(wanted, Checkpoint) else Checkpoint(wanted)
    file = CheckpointFile(run.who, checkpoint, _facts(model, points, given))
    stages, is_resumed = file.open()
    watch = run.monitor
    monitor = Monitor(watch.time_limit, watch.progress, watch.callback, stages)
    limit = limit_in_bytes(run.who, run.memory_limit)
    first = monitor.kept("fit", lambda: {"seed": run.seed, "memory_limit": limit})
    stages.save()  # a path that cannot be written to is noticed before the work
    if is_resumed:
        logger.info("%s: fit goes on from the checkpoint %r", run.who, file.path)
    yield replace(
        run, seed=int(first["seed"]), memory_limit=int(first["memory_limit"]), monitor=monitor
    )
    certificate = model.certificate_
    if is_resumed:
        plan = f"{certificate.plan}; resumed from a checkpoint"
        model.certificate_ = replace(certificate, plan=plan)
    if not certificate.status.was_stopped:
        file.remove()


def _facts(model: Any, points: Input, given: dict[str, Any]) -> dict[str, str]:
    """Return what tells a fit from others, by the names that its user knows."""
    kind = type(model)
    facts = {"the estimator": kind.__name__, "X": told_points(points)}
    facts |= {name: told(value) for name, value in given.items()}
    kernels = model._kernels() if hasattr(model, "_kernels") else [model._kernel()]
    facts["kernel"] = ", ".join(map(told, kernels))
    for name, value in model.get_params(deep=False).items():
        if name not in ASIDE and name != "kernel":
            facts[name] = "a generator" if _draws(value) else told(value)
    return facts


def _draws(value: Any) -> bool:
    """Return whether a value is a source of random numbers, whose state is not a parameter."""
    return value is np.random or isinstance(value, np.random.Generator | np.random.RandomState)
