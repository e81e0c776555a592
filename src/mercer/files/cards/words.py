"""What a certificate says, in plain words."""

from __future__ import annotations

from typing import Any

from ...models import MachineCertificate, MklCertificate, RidgeCertificate, SvmCertificate
from ...status import Status
from ...tables import AutoCertificate

_ENDS = {
    Status.EXACT: "The fit is exact: its optimum was computed in closed form.",
    Status.CONVERGED: "The fit reached its optimum, to the tolerance that was asked for.",
    Status.COMPLETE: "The fit came to its end.",
    Status.ONE_PASS: "The fit took one pass over the rows, as it was asked to.",
}


def certificate_words(certificate: Any) -> str:
    """Return how a fit ended and how far it is from its optimum; empty: nothing is known."""
    status = getattr(certificate, "status", None)
    if not isinstance(status, Status):
        return ""
    if isinstance(certificate, AutoCertificate):
        return _automatic(certificate)
    first = _ENDS.get(status, f"The fit ended before its optimum, by {_reason(status)}.")
    return f"{first} {_distance(certificate)}".strip()


def _reason(status: Status) -> str:
    return f"its {status.value}" if status.value.endswith("limit") else f'"{status.value}"'


def _automatic(certificate: AutoCertificate) -> str:
    several = f"{certificate.candidates} candidates were"
    who = "1 candidate was" if certificate.candidates == 1 else several
    judged = f"{who} judged by rows not seen before"
    if certificate.status is Status.COMPLETE:
        return f"{judged}; the race came to its end."
    if certificate.status is Status.CANCELLED:
        return f"{judged}; the race was stopped."
    return f"{judged}, until the time limit; there was no time for: {_listed(certificate.skipped)}."


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "some"


def _distance(certificate: Any) -> str:
    """Return what bounds the distance from the optimum."""
    if isinstance(certificate, RidgeCertificate):
        return f"No prediction is further than {certificate.error_bound:.2g} from the exact one."
    if isinstance(certificate, SvmCertificate | MachineCertificate):
        share = certificate.gap / max(abs(certificate.primal), 1e-300)
        return f"Its objective is at most {share:.1e} of itself above the best one (duality gap)."
    if isinstance(certificate, MklCertificate):
        count = "1 kernel has" if certificate.active == 1 else f"{certificate.active} kernels have"
        return f"{count} a weight."
    return ""
