"""What a compression has done to a model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Compression:
    """How far the functions of a compressed model are from those before, and what it took.

    f are the functions before, g those after, without their offsets; H is the space of the kernel.

    Attributes
    ----------
    points : int
        Number of points that carried the functions.
    centers : int
        Number of centres that carry them now.
    moved : int
        Number of centres that are no longer training points.
    errors : tuple of float
        ||f - g|| in H, for each function.
    relative_errors : tuple of float
        ||f - g|| / ||f|| for each function; what is below 1e-7 may be rounding.
    bound : float
        No function, with its offset, has changed by more than this where k(x, x) is at most
        `largest`: sqrt(largest) times its error, and what its offset has changed by.
    largest : float
        Largest k(x, x) of the points before.
    score_errors : tuple of float
        Root mean square of the changes of each function at the points that were handed in; empty
        if there were none.
    iterations : int
        Number of steps that moved the centres.
    seconds : float
        Time that the compression took.
    """

    points: int
    centers: int
    moved: int
    errors: tuple[float, ...]
    relative_errors: tuple[float, ...]
    bound: float
    largest: float
    score_errors: tuple[float, ...]
    iterations: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Condensation:
    """Which share of the training points a condensed set of neighbours classifies as before.

    Attributes
    ----------
    points : int
        Number of training points.
    centers : int
        Number of those that are kept.
    changed : int
        Number of training points that are classified otherwise than before.
    rounds : int
        How often points were added.
    seconds : float
        Time that the condensing took.
    """

    points: int
    centers: int
    changed: int
    rounds: int
    seconds: float
