"""From a table of mixed columns to a matrix of numbers for kernel methods."""

from .estimator import TableEncoder
from .record import TableColumn

__all__ = ["TableColumn", "TableEncoder"]
