"""Settings with `solve(...) -> Solution`: solvers see Gram matrices, never kernels or data."""

from .cg import LowRankPreconditioner, System, conjugate_gradients
from .cholesky import NotPositiveDefinite, TileCholesky
from .linear import FeatureRidge
from .nystrom import Nystrom
from .path import RidgePath
from .problem import ADVICE, RidgeProblem, Solution
from .ridge import Cholesky, ConjugateGradients

__all__ = [
    "ADVICE",
    "Cholesky",
    "ConjugateGradients",
    "FeatureRidge",
    "LowRankPreconditioner",
    "NotPositiveDefinite",
    "Nystrom",
    "RidgePath",
    "RidgeProblem",
    "Solution",
    "System",
    "TileCholesky",
    "conjugate_gradients",
]
