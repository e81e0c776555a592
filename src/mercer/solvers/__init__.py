"""Settings with `solve(...) -> Solution`: solvers see Gram matrices, never kernels or data."""

from .box import BoxSolver
from .box_problem import BoxProblem, BoxSolution
from .cg import LowRankPreconditioner, System, conjugate_gradients
from .cholesky import NotPositiveDefinite, TileCholesky
from .linear import FeatureRidge
from .machines import Machine
from .nystrom import Nystrom
from .path import RidgePath
from .problem import ADVICE, RidgeProblem, Solution
from .ridge import Cholesky, ConjugateGradients
from .rows import DenseRows, KernelRows, RowStore
from .span import leave_one_out

__all__ = [
    "ADVICE",
    "BoxProblem",
    "BoxSolution",
    "BoxSolver",
    "Cholesky",
    "ConjugateGradients",
    "DenseRows",
    "FeatureRidge",
    "KernelRows",
    "LowRankPreconditioner",
    "Machine",
    "NotPositiveDefinite",
    "Nystrom",
    "RidgePath",
    "RidgeProblem",
    "RowStore",
    "Solution",
    "System",
    "TileCholesky",
    "conjugate_gradients",
    "leave_one_out",
]
