"""The columns of an exact feature map."""

from __future__ import annotations

from dataclasses import dataclass

from ..checks import Array


@dataclass(frozen=True)
class Basis:
    """What an exact feature map needs to know before it meets new points.

    It says which columns there are, so that features of training points and of new points agree.

    Parameters
    ----------
    width : int
        Number of features.
    ids : ndarray of uint64, default=None
        What each feature counts, for maps of objects, ascending.
    parts : tuple of Basis, default=()
        The bases of the kernels inside.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(2).basis(["abab", "abc"]).width
    3
    """

    width: int
    ids: Array | None = None
    parts: tuple[Basis, ...] = ()

    @property
    def is_sparse(self) -> bool:
        """Whether features are sparse rows."""
        return self.ids is not None or any(part.is_sparse for part in self.parts)
