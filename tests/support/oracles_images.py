"""Slow, obvious definitions for kernels of images, written apart from the library."""

import math
from fractions import Fraction


def cell_histogram(image, level, row, column):
    """How often each word is in one of the 2**level x 2**level cells of a map."""
    height, width = len(image), len(image[0]) if len(image) else 0
    found = {}
    for i in range(height):
        for j in range(width):
            inside = (
                math.floor(i * 2**level / height) == row
                and math.floor(j * 2**level / width) == column
            )
            if inside and image[i][j] >= 0:
                word = int(image[i][j])
                found[word] = found.get(word, 0) + 1
    return found


def common(left, right):
    """The intersection of two histograms."""
    return sum(min(number, right.get(key, 0)) for key, number in left.items())


def spatial_pyramid(left, right, levels):
    """2**-L I_0 + sum_l 2**-(L - l + 1) I_l, cell by cell."""
    total = 0.0
    for level in range(levels + 1):
        cells = [(i, j) for i in range(2**level) for j in range(2**level)]
        met = sum(
            common(cell_histogram(left, level, *cell), cell_histogram(right, level, *cell))
            for cell in cells
        )
        total += met * (2.0**-levels if level == 0 else 2.0 ** -(levels - level + 1))
    return total


def bin_histogram(vectors, side):
    """How many vectors are in each bin of this side; with fractions, which do not round."""
    found = {}
    for vector in vectors:
        key = tuple(math.floor(Fraction(float(value)) / Fraction(side)) for value in vector)
        found[key] = found.get(key, 0) + 1
    return found


def meetings(left, right, levels, side=1.0):
    """I_0, ..., I_levels of two sets of vectors."""
    sides = [side * 2**level for level in range(levels + 1)]
    return [common(bin_histogram(left, s), bin_histogram(right, s)) for s in sides]


def pyramid_match(left, right, levels, side=1.0):
    """sum_i 2**-i (I_i - I_(i-1)): what first meets on level i counts 2**-i."""
    total, before = 0.0, 0
    for level, met in enumerate(meetings(left, right, levels, side)):
        total += 2.0**-level * (met - before)
        before = met
    return total
