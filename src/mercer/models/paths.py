"""Support vector machines for many C, and what their geometry says about new points."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import checks
from ..checks import InputError, sentence
from ..grams import prepare
from ..monitor import Monitor
from ..solvers import BoxProblem, BoxSolver
from .svm import SupportVectorEstimator
from .svm_classes import SupportVectorClassifier
from .svm_classifier import SVC
from .svm_rows import SharedRows


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


def enclosing_radius(model: Any, X: Any = None) -> float:
    """Return the radius of the smallest ball in feature space that holds all images of points.

    R**2 = max sum_i b_i k(x_i, x_i) - b' K b over b >= 0, sum b = 1.

    Parameters
    ----------
    model : a fitted support vector machine, or a kernel
    X : the points; None: those of the fit, in a ball about 0, which is no smaller

    References
    ----------
    Tax, Duin, "Support vector data description" (2004).
    """
    who = "enclosing_radius"
    if X is None:
        return float(_fitted(who, model).certificate_.radius)
    kernel = model.kernel_ if isinstance(model, SupportVectorEstimator) else model
    prepared = prepare(kernel, X)
    n = len(prepared)
    if n == 0:
        raise InputError(sentence(who, "X must have a point", "none"))
    diagonal = np.asarray(prepared.kernel.diag(prepared.points), dtype=np.float64)
    monitor, tol = Monitor(), 1e-9
    scale = max(float(diagonal.max()), np.finfo(np.float64).tiny)
    rows = SharedRows(who, prepared, [np.arange(n)], "auto", tol, monitor).of(0)
    start = np.zeros(n)
    start[0] = 1.0
    problem = BoxProblem(-diagonal / 2, np.zeros(n), np.ones(n), start)
    solution = BoxSolver(rows, tol * scale, 2**62, monitor).solve(problem)
    b, products = solution.b, solution.g + diagonal / 2
    squared = diagonal - 2 * products + float(b @ products)
    return float(np.sqrt(max(float(squared.max()), 0.0)))


def vc_bound(model: Any, X: Any = None, *, delta: float = 0.05) -> float:
    """Return what the risk is below with probability 1 - delta, by structural risk minimisation.

    R_emp + sqrt((h (ln(2 n / h) + 1) - ln(delta / 4)) / n) with h = |w|**2 R**2 + 1, at most 1:
    where h is n or more the bound says nothing.

    Parameters
    ----------
    model : a fitted `SVC` or `NuSVC` of two classes
    X : the training points, for the smallest R; None takes a larger one, see `enclosing_radius`
    delta : the chance that the bound fails

    References
    ----------
    Vapnik, "The nature of statistical learning theory" (1995).
    """
    who = "vc_bound"
    chance = checks.number(who, "delta", delta, above=0, most=1)
    fitted = _fitted(who, model)
    if not isinstance(fitted, SupportVectorClassifier) or len(fitted.classes_) != 2:
        must = "the model must be a support vector classifier of two classes"
        raise InputError(sentence(who, must, checks.show(model)))
    record = fitted.certificate_
    h = record.norm**2 * enclosing_radius(fitted, X) ** 2 + 1
    if h >= record.n:
        return 1.0
    capacity = h * (np.log(2 * record.n / h) + 1) - np.log(chance / 4)
    return float(min(record.training_error + np.sqrt(capacity / record.n), 1.0))


def _fitted(who: str, model: Any) -> SupportVectorEstimator:
    if isinstance(model, SupportVectorEstimator) and hasattr(model, "certificate_"):
        return model
    must = "the model must be a fitted support vector machine"
    raise InputError(sentence(who, must, checks.show(model)))
