"""The door to the compiled core: nothing else imports `mercer._core`."""

from operator import index

from mercer import _core
from mercer._core import (
    MAX_REGISTERS,
    MAX_TERMS,
    MAX_THREADS,
    AlignmentJob,
    Answers32,
    Answers64,
    Automata,
    BlockSolver32,
    BlockSolver64,
    FiniteWalks,
    Forest,
    GeometricWalks,
    Job32,
    Job64,
    NodeJob,
    NodePaths,
    NodeWalks,
    Packed32,
    Packed64,
    PairJob,
    Panels32,
    Panels64,
    PartialTreeJob,
    PathLists,
    SeriesSet,
    SubsequenceJob,
    SubsetTreeJob,
    SubstringJob,
    SvmlightRows,
    Tally,
    TokenSequences,
    WalkGraphs,
    Waves32,
    Waves64,
    add_meetings,
    add_rows,
    column_slopes,
    count_graphlets,
    count_paths,
    hash_subtrees,
    isa,
    look_up,
    merge_tokens,
    normal_product,
    num_threads,
    pack_tokens,
    version,
    walk,
)

__all__ = [
    "MAX_REGISTERS",
    "MAX_TERMS",
    "MAX_THREADS",
    "AlignmentJob",
    "Answers32",
    "Answers64",
    "Automata",
    "BlockSolver32",
    "BlockSolver64",
    "FiniteWalks",
    "Forest",
    "GeometricWalks",
    "Job32",
    "Job64",
    "NodeJob",
    "NodePaths",
    "NodeWalks",
    "Packed32",
    "Packed64",
    "PairJob",
    "Panels32",
    "Panels64",
    "PartialTreeJob",
    "PathLists",
    "SeriesSet",
    "SubsequenceJob",
    "SubsetTreeJob",
    "SubstringJob",
    "SvmlightRows",
    "Tally",
    "TokenSequences",
    "WalkGraphs",
    "Waves32",
    "Waves64",
    "add_meetings",
    "add_rows",
    "column_slopes",
    "count_graphlets",
    "count_paths",
    "hash_subtrees",
    "isa",
    "look_up",
    "merge_tokens",
    "normal_product",
    "num_threads",
    "pack_tokens",
    "set_num_threads",
    "version",
    "walk",
]


def set_num_threads(count: int) -> None:
    """Set how many threads native loops use from now on, in this process.

    Without it the environment variable MERCER_NUM_THREADS counts, else OMP_NUM_THREADS, else all
    processors available are used.

    Parameters
    ----------
    count : int
        Number of threads, from 1 to 1024.

    Raises
    ------
    TypeError
        If the number is not whole.
    ValueError
        If it is out of range.

    See Also
    --------
    num_threads : The number in use.

    Examples
    --------
    >>> from mercer import num_threads, set_num_threads
    >>> before = num_threads()
    >>> set_num_threads(2)
    >>> num_threads()
    2
    >>> set_num_threads(before)
    """
    try:
        whole = index(count)
    except TypeError:
        raise TypeError(f"set_num_threads: count must be a whole number; got {count!r}.") from None
    if not 1 <= whole <= MAX_THREADS:
        raise ValueError(f"set_num_threads: count must be from 1 to {MAX_THREADS}; got {whole}.")
    _core.set_num_threads(whole)
