"""The kinds of input: a collection of n points, whatever a point is.

`as_input(X, domain)` turns what a user has into one of `Matrix`, `Objects`, `Frame`, `GramRows`
or `RowBlocks`. A *domain* is a set of words for what a kernel takes; see `DOMAINS`.
"""

from .blocks import RowBlocks
from .categories import category_codes
from .convert import as_blocks, as_input, is_elsewhere, register_blocks
from .graph import Graph
from .items import OBJECT_DOMAINS
from .kinds import (
    ANY,
    CATEGORIES,
    DOMAINS,
    FRAME,
    GRAM,
    GRAPHS,
    OBJECTS,
    ROWS,
    SEQUENCES,
    SERIES,
    SETS,
    TREES,
    VECTOR_SETS,
    WORD_MAPS,
    Columns,
    Frame,
    GramRows,
    Input,
    Matrix,
    Objects,
    Rows,
    domain_text,
)
from .tree import Tree

__all__ = [
    "ANY",
    "CATEGORIES",
    "DOMAINS",
    "FRAME",
    "GRAM",
    "GRAPHS",
    "OBJECTS",
    "OBJECT_DOMAINS",
    "ROWS",
    "SEQUENCES",
    "SERIES",
    "SETS",
    "TREES",
    "VECTOR_SETS",
    "WORD_MAPS",
    "Columns",
    "Frame",
    "GramRows",
    "Graph",
    "Input",
    "Matrix",
    "Objects",
    "RowBlocks",
    "Rows",
    "Tree",
    "as_blocks",
    "as_input",
    "category_codes",
    "domain_text",
    "is_elsewhere",
    "register_blocks",
]
