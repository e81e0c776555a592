"""Tables of mixed columns: from a data frame to numbers and a kernel."""

from .encoder import TableColumn, TableEncoder

__all__ = ["TableColumn", "TableEncoder"]
