"""mercer on a cluster: collections of Dask in the place of arrays.

Estimators take arrays and data frames of Dask as they take others. A fit sends its work to where
the blocks of points lie, sums up what comes back in the order of the blocks, and keeps what it
iterates on here; so the fitted model is local and small. Predictions stay lazy.
"""

from ..inputs import register_blocks
from . import answers as answers
from .blocks import is_collection, row_blocks

register_blocks(is_collection, row_blocks)

__all__ = ["row_blocks"]
