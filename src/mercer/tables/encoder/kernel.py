"""The kernel of a table: a Gaussian of what its columns become, and one per text beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from ...checks import Array
from ...kernels import Gaussian, Kernel, Spectrum

LETTERS = 3  # that texts are compared by


def table_kernel(encoder: Any, encoded: Array, texts: Sequence[str]) -> Kernel:
    """Return the kernel of a table; encoded: some of its rows; texts: the columns compared so.

    The width of the Gaussian is the median distance: gamma = 1 / (2 median**2).
    """
    terms: list[Kernel] = [Spectrum(LETTERS).normalized().on(name) for name in texts]
    if encoded.shape[1]:
        terms.insert(0, Gaussian(gamma=0.5 / _median_distance(encoded) ** 2).of(encoder))
    kernel = terms[0]
    for term in terms[1:]:
        kernel = kernel + term
    return kernel


def _median_distance(encoded: Array) -> float:
    """Return the median distance of rows, of those that are not the same if it is 0."""
    distances = pdist(encoded)
    median = float(np.median(distances))
    apart = distances[distances > 0]
    if median > 0 or len(apart) == 0:
        return median or 1.0
    return float(np.median(apart))
