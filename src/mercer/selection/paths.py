"""Support vector machines for many C, each found from the one before."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import checks
from ..checks import InputError, sentence
from ..models.svm.classifier import SVC


def svm_path(
    X: Any, y: Any, kernel: Any = None, Cs: Any = None, *, sample_weight: Any = None, **options: Any
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
    first = clone(base).set_params(C=float(values.max()))  # which decides on precision
    data = first._labelled(X, y, sample_weight)
    solver = first._machine_solver(data.points, data.weight, data.groups)
    shared = {name: v for name, v in vars(first).items() if name not in first.get_params()}
    found: dict[float, SVC] = {}
    before = None
    for C in np.unique(values):
        start = time.monotonic()
        model = clone(base).set_params(C=float(C))
        vars(model).update(shared)
        specs = model._specs(data)
        if before is not None:
            last, machines = before
            pairs = zip(specs, machines, strict=True)
            specs = [spec.after(machine.solution, C / last) for spec, machine in pairs]
        machines = model._run(solver, specs, start, with_loo_scores=bool(model.probability))
        before = C, machines
        model._finish(data, machines)
        found[float(C)] = model
    return [found[float(C)] for C in values]
