"""Support vector machines for many C, each found from the one before."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import checks
from ..checks import InputError, sentence
from ..models.svm.classifier import SVC
from ..typing import KernelLike, LabelsLike, Numbers, PointsLike, Weights


def svm_path(
    X: PointsLike,
    y: LabelsLike,
    kernel: KernelLike = None,
    Cs: float | Numbers | None = None,
    *,
    sample_weight: Weights = None,
    **options: Any,
) -> list[SVC]:
    """Return a fitted `SVC` for every C, found one from the other on one kernel matrix.

    From one C to the next larger all coefficients are scaled, which keeps them feasible; rows of K
    are computed once.

    Parameters
    ----------
    X, y, sample_weight : as for `SVC.fit`
    kernel : as for `SVC`
    Cs : one C or more, in any order; None is 0.01, 0.1, …, 1000
    options : other parameters of `SVC`

    References
    ----------
    Steinwart, Thomann, "liquidSVM: a fast and versatile SVM package" (2017).
    """
    who = "svm_path"
    values = np.logspace(-2, 3, 6) if Cs is None else np.atleast_1d(np.asarray(Cs, dtype=float))
    if values.ndim != 1 or len(values) == 0:
        raise InputError(sentence(who, "Cs must be one number or more", checks.show(Cs)))
    if not ((values > 0) & np.isfinite(values)).all():
        raise InputError(sentence(who, "every C must be above 0 and finite", checks.show(Cs)))
    base = SVC(kernel=kernel, **options)
    found: dict[float, SVC] = {}
    shop, before = None, None
    for C in np.unique(values):
        start = time.monotonic()
        model = clone(base).set_params(C=float(C))
        data = model._labelled(X, y, sample_weight)
        if shop is None:
            shop = model._shop(data.points, data.weight, data.groups)
            prepared = model._prepared
        model._prepared, model.kernel_ = prepared, prepared.kernel
        tasks = model._tasks(data)
        if before is not None:
            last, machines = before
            pairs = zip(tasks, machines, strict=True)
            tasks = [task.after(machine.solution, C / last) for task, machine in pairs]
        machines = model._run(shop, tasks, start, unseen=bool(model.probability))
        before = C, machines
        model._finish(data, machines)
        found[float(C)] = model
    return [found[float(C)] for C in values]
