"""Slow, obvious definitions for kernels of series, written apart from the library."""

import math


def alignments(rows, columns):
    """Every path of places from (0, 0) to (rows - 1, columns - 1) by the three steps."""
    if rows == 0 or columns == 0:
        return [[]] if rows == columns else []

    def onwards(place):
        if place == (rows - 1, columns - 1):
            return [[place]]
        paths = []
        for down, right in ((1, 0), (0, 1), (1, 1)):
            after = (place[0] + down, place[1] + right)
            if after[0] < rows and after[1] < columns:
                paths += [[place, *path] for path in onwards(after)]
        return paths

    return onwards((0, 0))


def half_gaussian(gamma):
    """The local kernel e / (2 - e)."""

    def local(x, y):
        e = math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))
        return e / (2 - e)

    return local


def plain_gaussian(gamma):
    """The local kernel e, whose sum over alignments is no kernel."""

    def local(x, y):
        return math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))

    return local


def global_alignment(x, y, local):
    """The sum over all alignments, one by one; x and y are lists of moments."""
    paths = alignments(len(x), len(y))
    return math.fsum(math.prod(local(x[i], y[j]) for i, j in path) for path in paths)


def delannoy(rows, columns):
    """How many alignments there are of so many moments: exact, of any size."""
    m, n = rows - 1, columns - 1
    return sum(math.comb(m, k) * math.comb(n, k) * 2**k for k in range(min(m, n) + 1))
