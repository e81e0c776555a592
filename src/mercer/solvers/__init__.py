"""Settings with `solve(...) -> Solution`: solvers see Gram matrices, never kernels or data."""

from ..linalg.cg import LowRankPreconditioner, System, conjugate_gradients
from ..linalg.cholesky import NotPositiveDefinite, TileCholesky
from .box.leave_one_out import leave_one_out
from .box.machines import Machine
from .box.problem import BoxProblem, BoxSolution
from .box.rows import DenseRows, KernelRows, RowStore
from .box.sizes import BoxSizes
from .box.solver import BoxSolver
from .eigen.centred import DenseEigen, Spectrum
from .eigen.krylov import Krylov
from .kmeans import Clusters, KernelMeans
from .loss.newton import LossProblem, LossSolution, Newton
from .perceptron.solver import Perceptron, PerceptronSolution
from .ridge.features import FeatureRidge
from .ridge.nystrom import Nystrom
from .ridge.path import HeldOutPath, RidgePath
from .ridge.problem import RidgeProblem, Solution
from .ridge.refits import RidgeRefits
from .ridge.whole import Cholesky, ConjugateGradients

__all__ = [
    "BoxProblem",
    "BoxSizes",
    "BoxSolution",
    "BoxSolver",
    "Cholesky",
    "Clusters",
    "ConjugateGradients",
    "DenseEigen",
    "DenseRows",
    "FeatureRidge",
    "HeldOutPath",
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
    "RidgeRefits",
    "RowStore",
    "Solution",
    "Spectrum",
    "System",
    "TileCholesky",
    "conjugate_gradients",
    "leave_one_out",
]
