"""What a report was made of: data, command, versions, cost."""

from __future__ import annotations

import importlib.metadata
import platform
from dataclasses import dataclass

from ..models import KernelEstimator
from .subject import Subject
from .subject.subject import last_of
from .table.summary import hash_of

PACKAGES = ("mercer", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What a report was made of.

    Attributes
    ----------
    source : str or None
        Where the data are from.
    sha256 : str or None
        The hash of the data.
    hashed : str
        What was hashed: "file", or "values" for the columns as they are in memory.
    rows : int
        How many points there are.
    columns : int or None
        How many columns there are.
    command : str or None
        The command that made the model.
    seed : int or None
        The seed of the fit.
    random_state : int
        The seed of the report.
    versions : dict of str
        The versions of Python and of the packages that numbers depend on.
    fit_seconds : float or None
        Time that the fit took.
    fit_bytes : int or None
        Bytes that the fit held beyond the data; of an ensemble those of its encoded rows.
    kernel_values : int or None
        Kernel values that one prediction takes.
    members : int or None
        How many models are averaged.
    """

    source: str | None = None
    sha256: str | None
    hashed: str
    rows: int
    columns: int | None
    command: str | None = None
    seed: int | None = None
    random_state: int
    versions: dict[str, str]
    fit_seconds: float | None
    fit_bytes: int | None
    kernel_values: int | None
    members: int | None


def versions() -> dict[str, str]:
    """Return the versions that the numbers of a report depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        found[name] = importlib.metadata.version(name)
    return found


def provenance_of(subject: Subject, sha256: str | None, random_state: int) -> Provenance:
    """Return what is known of data and fit; sha256: of the file, None for that of the values."""
    last = last_of(subject.model)
    certificate = getattr(last, "certificate_", None)
    parts = [one.model for one in last.members_] if subject.is_automatic else [last]
    kernels = [one for one in parts if isinstance(one, KernelEstimator)]
    points = [len(one._prepared) for one in kernels if hasattr(one, "_prepared")]
    return Provenance(
        sha256=hash_of(subject) if sha256 is None else sha256,
        hashed="values" if sha256 is None else "file",
        rows=len(subject),
        columns=None if subject.table is None else len(subject.table.columns),
        random_state=random_state,
        versions=versions(),
        fit_seconds=None if certificate is None else float(certificate.seconds),
        fit_bytes=None if certificate is None else int(certificate.bytes),
        kernel_values=sum(points) if points else None,
        members=len(parts) if subject.is_automatic else None,
    )
