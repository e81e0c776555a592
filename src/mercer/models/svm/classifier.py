"""Classification by support vector machines."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from ...checks import Array, InputError, sentence
from ...fitting.machines import Task
from ...solvers.box.machines import (
    classification,
    hard_margin,
    nu_classification,
    read_classification,
    read_hard_margin,
    read_nu_classification,
)
from ..atomic import atomic
from ..records import recorded
from .classes import SupportVectorClassifier


class SVC(SupportVectorClassifier):
    """Classification with the widest margin: min 1/2 |w|**2 + C sum_i max(0, 1 - y_i f(x_i)).

    Two classes have one machine; more have one for every two (LIBSVM's way), or with
    multiclass="ovr" one for each class against the rest. All share the rows of one kernel matrix.

    Parameters
    ----------
    C : what a unit of margin error costs; float("inf") allows none
    kernel : None (Gaussian), a kernel, a scikit-learn name, "precomputed" or a function of X and Y
    degree, gamma, coef0 : of a kernel given by its name
    fit_intercept : whether f has an offset
    multiclass : "ovo" or "ovr"
    probability : whether to calibrate `predict_proba` on approximate leave-one-out scores
    tol : the largest violation of the optimality conditions
    class_weight : None, "balanced" or a weight for each class
    decision_function_shape : "ovr", one column a class, or "ovo", one a machine
    break_ties : whether equal votes are decided by the scores, as `decision_function` does; else
        the first class wins, as in LIBSVM
    max_iter : steps of two variables each; None or -1: no limit
    memory_limit, time_limit, callback, n_jobs, random_state, verbose : as in `KernelRidge`

    Attributes
    ----------
    classes_, support_, support_vectors_ (of rows of numbers), n_support_, dual_coef_, intercept_,
    coef_ (of the linear kernel), class_weight_, kernel_ (resolved), n_iter_, certificate_

    References
    ----------
    Chang, Lin, "LIBSVM: a library for support vector machines" (2011).
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = None,
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        fit_intercept: bool = True,
        multiclass: str = "ovo",
        probability: bool = False,
        tol: float = 1e-3,
        class_weight: Any = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = True,
        max_iter: Any = None,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.multiclass = multiclass
        self.probability = probability
        self.tol = tol
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _task(self, groups: tuple[int, ...], y: Array, weight: Array) -> Task:
        bounds = self._bounds(self.C, weight, len(y), endless=True)
        if np.isinf(bounds).any():
            if not self.fit_intercept:
                must = "C must be finite where fit_intercept is False"
                raise InputError(sentence("SVC", must, "C=inf", "Use a large C, such as 1e6."))
            return Task(
                groups=groups,
                problem=hard_margin(y, bounds > 0),
                read=read_hard_margin,
                relative=True,
            )
        problem = classification(y, bounds, bool(self.fit_intercept))
        return Task(groups=groups, problem=problem, read=read_classification)

    @atomic
    @recorded
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the machines."""
        return self._fit(X, y, sample_weight)


class NuSVC(SupportVectorClassifier):
    """Classification where nu bounds the share of margin errors and of support vectors.

    At most a share nu of the points are margin errors, at least a share nu are support vectors.
    The machine is that of `SVC` for some C, found with it.

    Parameters
    ----------
    nu : in (0, 1]; at most 2 min(n+, n-) / n of every two classes
    kernel, degree, gamma, coef0, multiclass, probability, tol, class_weight,
    decision_function_shape, break_ties, max_iter, memory_limit, time_limit, callback, n_jobs,
    random_state, verbose : as in `SVC`

    Attributes
    ----------
    As in `SVC`.

    References
    ----------
    Schölkopf, Smola, Williamson, Bartlett, "New support vector algorithms" (2000).
    """

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: Any = None,
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        multiclass: str = "ovo",
        probability: bool = False,
        tol: float = 1e-3,
        class_weight: Any = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = True,
        max_iter: Any = None,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.multiclass = multiclass
        self.probability = probability
        self.tol = tol
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _task(self, groups: tuple[int, ...], y: Array, weight: Array) -> Task:
        nu = self._share("nu")
        most = 2 * min(float(weight[y > 0].sum()), float(weight[y < 0].sum())) / weight.sum()
        if nu > most * (1 + 1e-12):
            must = f"nu must be at most {most:.6g}, twice the share of the smaller class of two"
            raise InputError(
                sentence("NuSVC", must, f"specified nu={nu:g} is infeasible", "Lower nu.")
            )
        read = partial(read_nu_classification, tol=self.tol)
        return Task(groups=groups, problem=nu_classification(y, weight, nu), read=read)

    @atomic
    @recorded
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the machines."""
        return self._fit(X, y, sample_weight)
