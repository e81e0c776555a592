"""Weights of lp norm by a closed form, with solutions that get more exact on the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...status import Status
from .problem import Search

TINY = 1e-12  # a weight, against the largest, that counts as 0


def closed_form(weights: Array, forms: Array, p: float) -> Array:
    """Return the best weights for the parts of the function that weights and forms stand for.

    The part of kernel m has the squared norm d_m**2 q_m; of all weights with |d|_p = 1,
    d_m ~ |f_m|**(2 / (p + 1)) makes the sum of |f_m|**2 / d_m least.
    """
    norms = np.maximum(weights**2 * forms, 0.0)
    if not norms.any():
        return weights
    found = (norms / norms.max()) ** (1 / (p + 1))
    found[found < TINY * found.max()] = 0.0
    return np.asarray(found / (found**p).sum() ** (1 / p))


@dataclass
class ClosedForm:
    """min J(d) over d >= 0 with |d|_p <= 1, for p >= 1.

    M. Kloft, U. Brefeld, S. Sonnenburg, A. Zien, "lp-norm multiple kernel learning", Journal of
    Machine Learning Research 12 (2011).
    """

    search: Search

    def run(self) -> Status:
        """Return how it ended; the search has the rest."""
        search, weights = self.search, self.search.start()
        for _ in range(search.max_iter):
            at = search.evaluate(weights)
            search.note(at)
            if search.is_reached():
                return Status.CONVERGED
            found = closed_form(weights, at.forms, search.p)
            if np.array_equal(found, weights):
                return Status.STAGNATED
            weights = found
        return Status.ITERATION_LIMIT
