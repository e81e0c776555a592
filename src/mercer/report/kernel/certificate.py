"""What the certificate of a fit says, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import bytes_text
from ...models import (
    Certificate,
    MachineCertificate,
    MklCertificate,
    PerceptronCertificate,
    RidgeCertificate,
    SvmCertificate,
)
from ...status import Status
from ...tables import AutoCertificate
from ..subject import Core, Subject
from ..words import count, number, plural, seconds

SEARCH = "the search"  # what the certificate of an automatic learner is about


@dataclass(frozen=True, kw_only=True)
class CertificateFacts:
    """How a fit has ended, and what it cost.

    Attributes
    ----------
    of : str
        What the certificate is about.
    status : str
        How the computation has ended.
    is_good : bool
        Whether it came to the end that was asked for.
    sentences : tuple of str
        What that means.
    plan : str
        How it was computed.
    seconds : float
        Time that it took.
    bytes : int
        Bytes that the plan allocates beyond the inputs.
    kernel_entries : int
        Number of kernel values that were computed.
    """

    of: str
    status: str
    is_good: bool
    sentences: tuple[str, ...]
    plan: str
    seconds: float
    bytes: int
    kernel_entries: int


def certificates_of(subject: Subject, core: Core | None) -> tuple[CertificateFacts, ...]:
    """Return the certificate of the model and, in an ensemble, that of its heaviest member."""
    found = []
    if subject.is_automatic:
        found.append(_facts(SEARCH, subject.model.certificate_))
    if core is not None and hasattr(core.model, "certificate_"):
        found.append(_facts(core.place or type(core.model).__name__, core.model.certificate_))
    return tuple(found)


def _facts(of: str, certificate: Certificate) -> CertificateFacts:
    status = Status(certificate.status)
    return CertificateFacts(
        of=of,
        status=str(status),
        is_good=status.is_good,
        sentences=(*_meaning(status, certificate), _cost(certificate)),
        plan=certificate.plan,
        seconds=float(certificate.seconds),
        bytes=int(certificate.bytes),
        kernel_entries=int(certificate.kernel_entries),
    )


def _cost(certificate: Certificate) -> str:
    values = (
        ""
        if not certificate.kernel_entries
        else (f", {count(int(certificate.kernel_entries))} kernel values")
    )
    size = bytes_text(certificate.bytes)
    if isinstance(certificate, AutoCertificate):  # which counts the encoded rows only
        size += " for the encoded rows"
    return f"It took {seconds(certificate.seconds)}{values} and {size}."


def _meaning(status: Status, certificate: Any) -> list[str]:
    """Return what a certificate proves, in sentences."""
    if isinstance(certificate, AutoCertificate):
        return _of_search(status, certificate)
    found = [_ENDS.get(status, f"The fit ended as “{status}”.")]
    if isinstance(certificate, RidgeCertificate | MachineCertificate):
        found += _bound(certificate.error_bound)
    elif isinstance(certificate, SvmCertificate):
        found.append(
            f"The objective is at most {number(certificate.gap, 3)} above its least value of about "
            f"{number(certificate.primal)}: primal and dual problem agree to that."
        )
        found.append(
            f"Of the coefficients {count(certificate.free)} are free, {count(certificate.bound)} "
            f"at their bound and {count(certificate.zero)} zero."
        )
    elif isinstance(certificate, MklCertificate):
        if np.isfinite(certificate.gap):
            found.append(
                f"No other weights of the kernels would lower the objective "
                f"{number(certificate.objective)} by more than {number(certificate.gap, 3)}."
            )
        found.append(f"{plural(certificate.active, 'kernel has', 'kernels have')} a weight.")
    elif isinstance(certificate, PerceptronCertificate):
        found.append(f"The last call made {plural(certificate.mistakes, 'mistake')}.")
    if not status.is_good:
        found.append(status.advice(_work(certificate)))
    return [text for text in found if text]


def _bound(error: float) -> list[str]:
    if not np.isfinite(error):
        return []
    return [
        f"No prediction is further than {number(error, 3)} from that of the exact solution, for "
        "points like those of the fit."
    ]


def _of_search(status: Status, certificate: AutoCertificate) -> list[str]:
    judged = plural(certificate.candidates, "candidate was", "candidates were")
    found = [f"{judged} judged ({certificate.plan.partition(', ')[2]})."]
    if status == Status.TIME_LIMIT:
        found.append(
            "The clock ended the search before all had their turn: a longer time limit may find a "
            "better model."
        )
    elif status == Status.CANCELLED:
        found.append("The search was asked to stop.")
    else:
        found.append("All candidates had their turn.")
    return found


def _work(certificate: Certificate) -> Any:
    kinds = {
        SvmCertificate: "machines",
        MachineCertificate: "loss",
        MklCertificate: "weights",
        PerceptronCertificate: "perceptron",
    }
    return next((work for kind, work in kinds.items() if isinstance(certificate, kind)), "ridge")


_ENDS = {
    Status.EXACT: "The fit is a closed form and exact up to rounding.",
    Status.CONVERGED: "The fit has converged: it is as accurate as was asked for.",
    Status.COMPLETE: "The fit is complete.",
    Status.ONE_PASS: "The fit has made one pass over the points, as was asked for.",
    Status.ITERATION_LIMIT: "The fit stopped at its limit of iterations, before it converged.",
    Status.TIME_LIMIT: "The clock stopped the fit before it converged.",
    Status.MEMORY_LIMIT: "The memory limit allowed an approximation only.",
    Status.CANCELLED: "The fit was asked to stop before it converged.",
    Status.STAGNATED: "The fit stagnated: rounding allowed no further progress.",
    Status.ROUNDING: "What is left of the violation is within rounding.",
    Status.NO_MARGIN: "The best function with these parameters is 0.",
    Status.UNBOUNDED: "The problem has no least value.",
}
