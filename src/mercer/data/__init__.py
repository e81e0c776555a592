"""Data files: tables, matrices, strings, trees and graphs, read as kernels take them.

`read` reads a file of one of ten formats, `read_blocks` the same in blocks, `row_blocks`
makes blocks for fits to more rows than fit into memory, `write_table` and
`TableWriter` write columns such as predictions; the formats are in docs/data-files.md. Nothing in
a file is executed, and what is wrong with it is said with its line.
"""

from .dataset import ColumnSummary, Dataset
from .flats import flats
from .formats import FORMATS
from .passes import row_blocks
from .reading import read, read_blocks
from .writing import TableWriter, write_table

__all__ = [
    "FORMATS",
    "ColumnSummary",
    "Dataset",
    "TableWriter",
    "flats",
    "read",
    "read_blocks",
    "row_blocks",
    "write_table",
]
