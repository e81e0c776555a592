"""Settings with `solve(...) -> Solution`: solvers see Gram matrices, never kernels or data."""

from .box import BoxSolver
from .box_problem import BoxProblem, BoxSolution
from .centred import DenseEigen, Spectrum
from .cg import LowRankPreconditioner, System, conjugate_gradients
from .cholesky import NotPositiveDefinite, TileCholesky
from .kmeans import Clusters, KernelMeans
from .krylov import Krylov
from .linear import FeatureRidge
from .machines import Machine
from .newton import LossProblem, LossSolution, Newton
from .nystrom import Nystrom
from .path import RidgePath
from .perceptron import Perceptron, PerceptronSolution
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
    "Clusters",
    "ConjugateGradients",
    "DenseEigen",
    "DenseRows",
    "FeatureRidge",
    "KernelMeans",
    "KernelRows",
    "Krylov",
    "LossProblem",
    "LossSolution",
    "LowRankPreconditioner",
    "Machine",
    "Newton",
    "NotPositiveDefinite",
    "Nystrom",
    "Perceptron",
    "PerceptronSolution",
    "RidgePath",
    "RidgeProblem",
    "RowStore",
    "Solution",
    "Spectrum",
    "System",
    "TileCholesky",
    "conjugate_gradients",
    "leave_one_out",
]
