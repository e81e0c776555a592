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
    """Fit an `SVC` for each of many C, each found from the one before on one kernel matrix.

    From one C to the next larger all coefficients are scaled by their ratio, which keeps them
    feasible; rows of K are computed once.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or sequence of objects
        The n training points, of a kind that the kernel takes.
    y : array-like of shape (n,)
        The class of each point.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    Cs : float or array-like of shape (n_models,), default=None
        The values of C, in any order; None is 0.01, 0.1, …, 1000.
    sample_weight : float or array-like of shape (n,), default=None
        Weights that multiply C per point. None is 1 for all.
    **options : dict
        Other parameters of `SVC`.

    Returns
    -------
    list of SVC
        The fitted machines, in the order of Cs.

    Raises
    ------
    InputError
        If the points, classes, weights or parameters are not what they must be.

    See Also
    --------
    tune : Choice of C and of other parameters by cross-validation.

    References
    ----------
    .. [1] I. Steinwart, P. Thomann, "liquidSVM: a fast and versatile SVM package", arXiv:1702.06899
       (2017).

    Examples
    --------
    >>> from mercer import svm_path
    >>> X = [[0.0], [0.2], [0.4], [0.6], [0.8], [1.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> [len(model.support_) for model in svm_path(X, y, "linear", [0.1, 1000.0])]
    [6, 2]
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
