"""Classes in another order, with their machines: LIBSVM keeps that of its data, mercer sorts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from ...checks import Array
from ...models.svm.classes import class_pairs
from .text import Machines


def reordered(machines: Machines, order: Sequence[int]) -> Machines:
    """Return the same machines with class order[c] in place c.

    Where the two classes of a machine change places, its sign does.
    """
    k = len(order)
    stops = [0, *accumulate(machines.counts)]
    groups = [slice(start, stop) for start, stop in pairwise(stops)]
    old = {pair: number for number, pair in enumerate(class_pairs(k))}
    rho = np.empty_like(machines.rho)
    for number, (first, second) in enumerate(class_pairs(k)):
        i, j = order[first], order[second]
        rho[number] = machines.rho[old[i, j]] if i < j else 0.0 - machines.rho[old[j, i]]
    blocks = [
        _block(machines.coefficients[:, groups[order[place]]], place, order) for place in range(k)
    ]
    return Machines(
        coefficients=np.hstack(blocks),
        rho=rho,
        counts=tuple(machines.counts[c] for c in order),
    )


def _block(own: Array, place: int, order: Sequence[int]) -> Array:
    """Return the coefficients of the vectors of one class against all others, in the new order."""
    made = np.empty_like(own)
    i = order[place]
    for other, j in enumerate(order):
        if other != place:
            same = (i < j) == (place < other)
            made[_row(place, other)] = own[_row(i, j)] if same else 0.0 - own[_row(i, j)]
    return made


def _row(own: int, other: int) -> int:
    """Return the row in which vectors of a class have their coefficients against another."""
    return other - 1 if other > own else other


def spread(by_machine: Array, k: int) -> tuple[Array, Array, tuple[int, ...]]:
    """Return vectors that are in all machines as vectors of single classes.

    by_machine: one row per machine of two of k classes. Each vector is repeated for every class but
    the last: as one of class i it carries the machines of i and a later class. Returned are the
    coefficients, which vector each column stands for, and how many there are of each class.
    """
    n = by_machine.shape[1]
    made = np.zeros((k - 1, (k - 1) * n))
    for row, (first, second) in zip(by_machine, class_pairs(k), strict=True):
        made[second - 1, first * n : (first + 1) * n] = row
    return made, np.tile(np.arange(n), k - 1), (*(n for _ in range(k - 1)), 0)
