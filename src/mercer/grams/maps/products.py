"""Products with the features of a map, which need not be kept."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...inputs import Input, RowBlocks
from ...kernels.transforms import Of
from ..prepared import Prepared


def map_times(prepared: Prepared, X: Input, coefficients: Array) -> Array:
    """Return phi(x) . c of points, for every column c, where the kernel has a finite map phi.

    A map that is a fitted transformer may have a method `product` that does this at once.
    """
    kernel = prepared.kernel
    if isinstance(kernel, Of) and kernel.is_linear_map():
        product = getattr(kernel.phi, "product", None)
        if product is not None:
            blocks = X.blocks() if isinstance(X, RowBlocks) else (X,)
            return np.concatenate([product(some.raw, coefficients) for some in blocks])
    out = np.empty((len(X), *coefficients.shape[1:]))
    for rows, features in prepared.map_bands(X):
        out[rows] = features @ coefficients
    return out
