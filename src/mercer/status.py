"""How computations end, and what to do about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Work = Literal["ridge", "loss", "machines", "components", "clusters", "perceptron", "weights"]


class Status(StrEnum):
    """How a computation has ended: a text that also knows what to do about it."""

    EXACT = "exact"
    CONVERGED = "converged"
    COMPLETE = "complete"
    ONE_PASS = "one pass"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    MEMORY_LIMIT = "memory limit"
    CANCELLED = "cancelled"
    STAGNATED = "stagnated"
    ROUNDING = "rounding"
    NO_MARGIN = "no margin"
    UNBOUNDED = "unbounded"

    def __repr__(self) -> str:
        return repr(self.value)

    @property
    def is_good(self) -> bool:
        """Whether the computation came to the end that was asked for."""
        return self in (Status.EXACT, Status.CONVERGED, Status.COMPLETE, Status.ONE_PASS)

    @property
    def was_stopped(self) -> bool:
        """Whether it was asked to end, by the clock or by a user."""
        return self in (Status.TIME_LIMIT, Status.CANCELLED)

    def advice(self, work: Work) -> str:
        """Return what to do about it, in the words of the parameters of a kind of work."""
        return _ADVICE.get(self, {}).get(work, _USUAL.get(self, ""))


def first_bad(states: list[Status]) -> Status:
    """Return how several computations have ended: as the first one that did not converge."""
    return next((state for state in states if not state.is_good), Status.CONVERGED)


_USUAL = {
    Status.ITERATION_LIMIT: "Raise max_iter, or loosen tol.",
    Status.TIME_LIMIT: "Raise time_limit, or choose solver='nystrom' for a smaller model.",
    Status.MEMORY_LIMIT: "Raise memory_limit: matrices of low rank stand for the whole ones.",
    Status.CANCELLED: "The fit was asked to stop; fit again to finish it.",
    Status.STAGNATED: "Rounding limits the accuracy: loosen tol, raise alpha, or hand in X as "
    "float64.",
    Status.ROUNDING: "Scale the columns of X, lower C, or raise tol: beside values of K this "
    "large, rounding hides what is left.",
    Status.NO_MARGIN: "Raise nu: where so few errors are allowed, the best function is 0.",
    Status.UNBOUNDED: "Use a finite C.",
}
_ADVICE: dict[Status, dict[Work, str]] = {
    Status.ITERATION_LIMIT: {
        "ridge": "Raise max_iter, or loosen tol; a larger alpha or gamma converges sooner.",
        "loss": "Raise max_iter, or loosen tol; a larger alpha converges sooner.",
        "machines": "Raise max_iter or tol, lower C, or scale the columns of X.",
        "clusters": "Raise max_iter or tol.",
        "weights": "Raise max_iter or gap_tol.",
        "perceptron": "Raise max_iter, take average=True, or take a kernel that separates more, "
        "such as Gaussian with a larger gamma.",
    },
    Status.TIME_LIMIT: {
        "machines": "Raise time_limit or tol, or lower C.",
        "components": "Raise time_limit, loosen tol, or ask for fewer components.",
        "clusters": "Raise time_limit or tol, or lower n_init.",
        "perceptron": "Raise time_limit.",
        "weights": "Raise time_limit or gap_tol, or give fewer kernels.",
    },
    Status.STAGNATED: {
        "machines": "Raise tol, scale the columns of X, or see check_kernel: is the kernel Mercer?",
        "components": "Rounding limits the accuracy: loosen tol, or hand in X as float64.",
        "weights": "Rounding limits the accuracy: raise gap_tol, or lower tol.",
    },
}
