"""The one seam: from a kernel and data to a Gram matrix that solvers can use.

prepare(kernel, X)      resolve the kernel on the training data, keep what it needs of them
gram(kernel, X, Y)      K(X, Y): stored, on the fly, low rank, … as the memory limit allows
gram_family([...], X)   many kernels over shared statistics
"""

from .family import GramFamily
from .matrix import Explanation, Gram
from .memory import available_memory, limit_in_bytes
from .pivots import PartialFactor, partial_cholesky, partial_factor, spanned_columns
from .plan import Plan
from .prepared import Prepared, evaluate, gram, gram_family, prepare
from .sinks import Multiply, Normal, Sink, Sums, TopK
from .stacks.given import GramStack
from .threads import limited_threads, threads

__all__ = [
    "Explanation",
    "Gram",
    "GramFamily",
    "GramStack",
    "Multiply",
    "Normal",
    "PartialFactor",
    "Plan",
    "Prepared",
    "Sink",
    "Sums",
    "TopK",
    "available_memory",
    "evaluate",
    "gram",
    "gram_family",
    "limit_in_bytes",
    "limited_threads",
    "partial_cholesky",
    "partial_factor",
    "prepare",
    "spanned_columns",
    "threads",
]
