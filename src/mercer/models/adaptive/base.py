"""What estimators that learn the weights of kernels share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ... import checks
from ...checks import Array, InputError, KernelError, sentence
from ...fitting.machines import MachineSpec
from ...fitting.mkl.fit import (
    ALGORITHMS,
    SCALINGS,
    KernelWeights,
    Learned,
    Settings,
    equal_weights,
    given_stack,
    make_stack,
)
from ...fitting.mkl.oracles import FactorOracle, MachineOracle
from ...grams import GramStack, limited_threads
from ...grams.stacks.factors import FactorStack
from ...grams.stacks.matrices import MatrixStack
from ...inputs import GRAM, Input, as_input
from ...kernels import Gaussian, Kernel, Linear, Precomputed, Sum, to_kernel
from ...kernels.algebra import Scaled
from ...kernels.parameters import data_bandwidth
from ...monitor import Stopped
from ...run import Run
from ...solvers.mkl.problem import Oracle
from ..base import Certificate, KernelEstimator

WIDTHS = 7  # Gaussian kernels of the default family, a factor of 4 in gamma apart


@dataclass(frozen=True, kw_only=True)
class MklCertificate(Certificate):
    """How far weights of kernels are from the best ones, and what they cost.

    Attributes
    ----------
    status : str
        "converged", "complete" where the algorithm takes no steps, or the reason why not.
    plan : str
        The algorithm that was taken, and how the kernel matrices were held.
    kernel_entries : int
        Number of kernel values of one matrix, times the kernels.
    bytes : int
        Bytes that the kernel matrices take.
    seconds : float
        Time that the fit took.
    algorithm : str
        What was taken, where "auto" was asked for.
    objective : float
        The least regularised loss with these weights.
    gap : float
        The objective is at most this far above that of the best weights; NaN for "easy" and
        "average", which have another aim.
    tol : float
        The gap that was asked for, relative to the objective.
    steps : int
        Number of steps.
    solves : int
        How many machines or systems were solved for the weights, each for all classes.
    active : int
        Number of kernels with a weight.
    machine_gap : float
        How far the machine may be from the best one with these weights.
    """

    algorithm: str
    objective: float
    gap: float
    tol: float
    steps: int
    solves: int
    active: int
    machine_gap: float


class KernelLearner(KernelEstimator):
    """An estimator with a parameter `kernels`, whose weighted sum is its kernel.

    It stands before the estimator that learns with that sum.
    """

    kernels: Any
    algorithm: str
    p: float
    scaling: str | None
    gap_tol: float
    share: float
    tol: float
    max_iter: int | None
    weights_: Array
    history_: dict[str, Array]
    n_iter_: Any
    certificate_: Any
    kernel = None  # there are several
    _coefficients_of_stack: Array

    # --- the kernels ------------------------------------------------------------------------

    def _is_given(self) -> bool:
        """Return whether matrices are handed in, not points."""
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def _family(self) -> tuple[Kernel, ...]:
        """Return the kernels, those of a sum without their coefficients."""
        who, given = type(self).__name__, self.kernels
        if given is None:
            return (*(Gaussian() for _ in range(WIDTHS)), Linear())
        if isinstance(given, Sum):
            return tuple(t.inner if isinstance(t, Scaled) else t for t in given.terms)
        if isinstance(given, Kernel | str | Mapping) or callable(given):
            must = "kernels must be a list of kernels, a sum of kernels or 'precomputed'"
            advice = f"Put it into a list, or take SVC(kernel={checks.show(given)})."
            raise InputError(sentence(who, must, checks.show(given), advice))
        try:
            found = tuple(to_kernel(kernel, who=who) for kernel in given)
        except TypeError:
            must = "kernels must be a list of kernels, a sum of kernels or 'precomputed'"
            raise InputError(sentence(who, must, checks.show(given))) from None
        if not found:
            raise InputError(sentence(who, "kernels must have a kernel or more", "an empty list"))
        if any(isinstance(kernel, Precomputed) for kernel in found):
            must = "precomputed matrices come as a GramStack, with kernels='precomputed'"
            raise InputError(sentence(who, must, "Precomputed() in a list"))
        return found

    def _kernel(self) -> Kernel:
        """Return a kernel that takes the points that all of them take."""
        if self._is_given():
            return Precomputed()
        family = self._family()
        return family[0] if len(family) == 1 else Sum(family)

    def _resolved(self, points: Input, weight: Array | None) -> tuple[Kernel, ...]:
        """Return the kernels with parameters settled on the points."""
        if self.kernels is None:
            gamma = data_bandwidth("scale", points, weight)
            powers = np.arange(WIDTHS) - WIDTHS // 2
            return (*(Gaussian(gamma=gamma * 4.0**power) for power in powers), Linear())
        return tuple(kernel.resolve(kernel.admit(points), weight) for kernel in self._family())

    # --- input ------------------------------------------------------------------------------

    def _points(self, X: Any, kernel: Kernel, *, reset: bool) -> Input:
        if not self._is_given() or isinstance(X, Input):
            return super()._points(X, kernel, reset=reset)
        stack = self._as_stack(X)
        weights = np.full(stack.n_kernels, 1 / stack.n_kernels)
        if not reset:
            weights = self._coefficients_of_stack
            if stack.n_kernels != len(weights):
                must = f"X must have {len(weights)} matrices, as many as in the fit"
                raise InputError(sentence(type(self).__name__, must, stack.n_kernels))
        return super()._points(stack.weighted(weights), kernel, reset=reset)

    def _as_stack(self, X: Any) -> GramStack:
        """Return matrices that were handed in; one of them need not be a stack."""
        if isinstance(X, GramStack):
            return X
        if np.ndim(X) not in (2, 3):
            must = "with kernels='precomputed' X must be a GramStack, or matrices in an array"
            got = f"{type(X).__name__} of {np.ndim(X)} dimensions"
            raise InputError(sentence(type(self).__name__, must, got, "Write GramStack([K1, K2])."))
        return GramStack(X if np.ndim(X) == 3 else [X])

    # --- the weights ------------------------------------------------------------------------

    def _mkl_settings(self, run: Run) -> Settings:
        who = run.who
        algorithm = checks.one_of(who, "algorithm", self.algorithm, ALGORITHMS)
        p = checks.number(who, "p", self.p, least=1)
        if algorithm in ("simple", "level") and p != 1:
            must = f"algorithm={algorithm!r} finds weights of sum 1, so p must be 1"
            raise InputError(sentence(who, must, f"{p:g}", "Take algorithm='lp', or 'auto'."))
        scaling = self.scaling
        if scaling is not None:
            scaling = checks.one_of(who, "scaling", scaling, SCALINGS)
        most = self.max_iter
        return Settings(
            run=run,
            algorithm=algorithm,
            p=p,
            scaling=scaling,
            tol=checks.number(who, "gap_tol", self.gap_tol, above=0),
            max_iter=1000 if most is None else checks.whole(who, "max_iter", most, least=1),
            share=checks.number(who, "share", self.share, least=0, most=1),
            offset=bool(getattr(self, "fit_intercept", True)),
        )

    def _learn(
        self,
        points: Input,
        weight: Array | None,
        run: Run,
        *,
        X: Any,
        oracle: Callable[[MatrixStack, Array], Oracle],
        signs: Sequence[tuple[Array, Array]] = (),
        low_rank: bool = False,
    ) -> tuple[Input, Kernel, Learned]:
        """Learn the weights; return the points and the kernel that the estimator is fitted with.

        X: the points as they were handed in. low_rank: whether the oracle takes factors.
        """
        settings = self._mkl_settings(run)
        low_rank = low_rank and settings.algorithm != "easy"  # it changes the diagonal of a sum
        kernels: tuple[Kernel, ...] = ()
        given = self._as_stack(X) if self._is_given() else None
        if given is not None:
            names = [f"matrix {m}" for m in range(given.n_kernels)]
        else:
            kernels = self._resolved(points, weight)
            names = [repr(kernel) for kernel in kernels]
        try:
            if given is None:
                stack, plan = make_stack(kernels, points, run, low_rank=low_rank)
            else:
                stack, plan = given_stack(given, run)
            search = KernelWeights(
                stack, names, settings, oracle=oracle, signs=signs, weight=weight
            )
            learned = search.run(plan)
        except Stopped as stop:
            learned = equal_weights(len(names), stop.reason)
        self.weights_, self.history_ = learned.weights, _table(learned)
        if given is not None:
            self._coefficients_of_stack = learned.coefficients
            total = given.weighted(learned.coefficients)
            return as_input(total, GRAM, run.who), Precomputed(), learned
        return points, combined(kernels, learned.coefficients), learned

    def _learn_machines(
        self,
        points: Input,
        weight: Array | None,
        run: Run,
        *,
        X: Any,
        specs: list[MachineSpec],
        places: list[Array],
    ) -> tuple[Input, Kernel, Learned, list[MachineSpec]]:
        """Learn the weights that machines share; these then start from what was found.

        places: the points that each machine is about.
        """
        made: list[MachineOracle] = []

        def oracle(stack: MatrixStack, factors: Array) -> Oracle:
            tol = checks.number(run.who, "tol", self.tol, above=0)
            settings: dict[str, Any] = {"factors": factors, "specs": specs, "points": places}
            settings |= {"tol": tol, "monitor": run.monitor}
            if isinstance(stack, FactorStack):
                made.append(FactorOracle(stack=stack, **settings))
            else:
                made.append(MachineOracle(stack=stack, **settings))
            return made[-1]

        signs = [(rows, -spec.problem.linear) for rows, spec in zip(places, specs, strict=True)]
        with limited_threads(run.n_jobs, run.who):
            found, kernel, learned = self._learn(
                points, weight, run, X=X, oracle=oracle, signs=signs, low_rank=True
            )
        machines = made[-1].machines if made else []
        if len(machines) == len(specs):
            specs = [spec.started(m.b) for spec, m in zip(specs, machines, strict=True)]
        return found, kernel, learned, specs

    def _certify_weights(self, learned: Learned, run: Run, machine_gap: float) -> None:
        """Publish how good the weights are, and warn where they could be better."""
        self.n_iter_ = max(len(learned.history), 1)
        self.certificate_ = MklCertificate(
            status=learned.status,
            plan=learned.plan,
            kernel_entries=learned.entries,
            bytes=learned.bytes,
            seconds=run.seconds,
            algorithm=learned.algorithm,
            objective=learned.objective,
            gap=learned.gap,
            tol=float(self.gap_tol),
            steps=len(learned.history),
            solves=learned.solves,
            active=int(np.count_nonzero(learned.weights)),
            machine_gap=machine_gap,
        )
        if not learned.status.is_good:
            relative = learned.gap / abs(learned.objective) if learned.objective else np.inf
            must = f"the gap of the weights must reach {self.gap_tol:g} of the objective"
            got = f"{relative:.2g} ({learned.status}, {learned.solves} solves)"
            run.warn(
                sentence(run.who, must, got, learned.status.advice("weights")), ConvergenceWarning
            )


def combined(kernels: Sequence[Kernel], coefficients: Array) -> Kernel:
    """Return the weighted sum of the kernels that have a weight."""
    terms = tuple(
        Scaled(kernel, float(c)) for kernel, c in zip(kernels, coefficients, strict=True) if c > 0
    )
    if not terms:
        got = "weights that all vanish"
        raise KernelError(sentence("kernels", "a weight must be above 0", got))
    return terms[0] if len(terms) == 1 else Sum(terms)


def _table(learned: Learned) -> dict[str, Array]:
    """Return the history, one array per quantity."""
    steps = learned.history
    return {
        "objective": np.array([step.objective for step in steps]),
        "gap": np.array([step.gap for step in steps]),
        "weights": np.array([step.weights for step in steps]).reshape(-1, len(learned.weights)),
        "solves": np.array([step.solves for step in steps], dtype=np.int64),
    }
