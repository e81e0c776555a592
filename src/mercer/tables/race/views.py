"""The table as the candidates see it: matrices of numbers, and how far rows are apart in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.distance import pdist

from ...checks import Array
from ...inputs import Matrix
from ...kernels import Exponential, Gaussian, Kernel, Laplacian, Linear, Matern, SumPower

SAMPLE = 400  # rows whose distances are looked at
LINEAR_SHARE = 0.3
UNIT: dict[str, Kernel] = {  # kernels for which a metric is learnt
    "laplacian": Laplacian(gamma=1.0),
    "exponential": Exponential(length_scale=1.0),
    "gaussian": Gaussian(gamma=1.0),
}


@dataclass(frozen=True)
class TableView:
    """A matrix of all rows, in single precision, and the median distances of its rows."""

    X: Array

    @cached_property
    def points(self) -> Matrix:
        """The rows, as kernels take them."""
        return Matrix(self.X)

    @cached_property
    def medians(self) -> dict[str, float]:
        """The median distance of two rows, "cityblock" and "euclidean"."""
        n = len(self.X)
        rows = np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False)
        found = {}
        for name in ("cityblock", "euclidean"):
            distances = pdist(self.X[rows].astype(np.float64), name)
            positive = distances[distances > 0]
            found[name] = float(np.median(positive)) if len(positive) else 1.0
        return found

    def take(self, rows: Array) -> TableView:
        """Return some rows, with the same distances."""
        found = TableView(self.X[rows])
        found.__dict__["medians"] = self.medians
        return found

    def kernel(self, family: str, width: float) -> Kernel:
        """Return a kernel; width: in units of the median distance."""
        if family == "laplacian":
            return Laplacian(gamma=1.0 / (width * self.medians["cityblock"]))
        if family == "bent":  # linear at large, and bent where there are many rows
            return self.kernel("laplacian", width) + LINEAR_SHARE * self.kernel("linear", 1.0)
        if family == "additive":
            return SumPower(q=1.0, power=2, length_scale=width)
        length = width * self.medians["euclidean"]
        if family == "exponential":
            return Exponential(length_scale=length)
        if family == "matern":
            return Matern(nu=1.5, length_scale=length)
        if family == "gaussian":
            return Gaussian(sigma=length)
        return (1.0 / length**2) * Linear()
