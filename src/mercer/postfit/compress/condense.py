"""Which points suffice for nearest neighbours to answer as all points do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...checks import Array

Look = Callable[[Array], tuple[Array, Array, Array]]


@dataclass(frozen=True, kw_only=True)
class Condensed:
    """rows: the points that are kept, ascending. changed: how many are classified otherwise."""

    rows: Array
    changed: int
    rounds: int


def condense(
    wanted: Array, neighbours: Array, first: Array, look: Look, *, most: int, allowed: int
) -> Condensed:
    """Return points that suffice to classify all but `allowed` of the points as before.

    Every kept point looks at the points that are nearer to it than to any other kept one. Of those
    that are not classified as before the nearest is added; where it is there already, the nearest
    of its neighbours that is not. So it goes on in rounds that do not depend on the order of the
    points, until enough are right or `most` are kept. When all neighbours of a point are kept, it
    is classified as before, so that it comes to an end.

    wanted: the class of each point by all points. neighbours: of each point, by all points, nearest
    first. first: the points to begin with. look: returns for kept points the class, the nearest
    kept point and the distance to it of every point.

    Angiulli, "Fast nearest neighbor condensation for large data sets classification" (2007), which
    makes it of Hart, "The condensed nearest neighbor rule" (1968).
    """
    kept = np.zeros(len(wanted), dtype=bool)
    kept[first] = True
    rounds = 0
    while True:
        rows = np.flatnonzero(kept)
        classes, nearest, distances = look(rows)
        wrong = np.flatnonzero(classes != wanted)
        if len(wrong) <= allowed or len(rows) >= most:
            return Condensed(rows=rows, changed=len(wrong), rounds=rounds)
        chosen = _nearest_of_each(wrong, nearest[wrong], distances[wrong])
        added = _not_kept(neighbours[chosen], kept)
        if len(added) == 0:  # rounding alone keeps them from being right
            return Condensed(rows=rows, changed=len(wrong), rounds=rounds)
        kept[added[: most - len(rows)]] = True
        rounds += 1


def _nearest_of_each(points: Array, owners: Array, distances: Array) -> Array:
    """Return the nearest point of each owner; owners of many points come first."""
    order = np.lexsort((points, distances, owners))
    names, places, counts = np.unique(owners[order], return_index=True, return_counts=True)
    return np.asarray(points[order[places]][np.lexsort((names, -counts))])


def _not_kept(neighbours: Array, kept: Array) -> Array:
    """Return the first neighbour of each point that is not kept, each once, in their order."""
    free = ~kept[neighbours]
    found = neighbours[np.arange(len(free)), free.argmax(axis=1)][free.any(axis=1)]
    _, places = np.unique(found, return_index=True)
    return np.asarray(found[np.sort(places)])
