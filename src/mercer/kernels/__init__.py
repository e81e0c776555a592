"""Kernels are frozen values: build them, combine them, print them, read them back.

>>> from mercer.kernels import Gaussian, Linear
>>> 0.7 * Gaussian(gamma=0.05) + 0.3 * (Linear() + 1) ** 2
0.7*Gaussian(gamma=0.05) + 0.3*(Linear() + 1.0)**2
"""

from ..inputs import (
    CATEGORIES,
    GRAPHS,
    OBJECTS,
    ROWS,
    SEQUENCES,
    SERIES,
    SETS,
    TREES,
    VECTOR_SETS,
    WORD_MAPS,
    Graph,
    Tree,
)
from .algebra import Constant, Exp, Power, Product, Scaled, Sum
from .base import Basis, Kernel
from .fisher.kernel import Fisher
from .grammar import from_spec, parse
from .graphs.counted import ShortestPath, WeisfeilerLehman
from .graphs.graphlets import Graphlet
from .graphs.hashed import HashGraph
from .graphs.random_walks import RandomWalk
from .metric import Metric, MetricMatrix
from .names import SKLEARN_NAMES, to_kernel
from .objects.counted import CountKernel
from .objects.images import PyramidMatch, SpatialPyramid
from .objects.mismatches import Mismatch
from .objects.paired import PairKernel
from .objects.series import GlobalAlignment
from .objects.sets import SetIntersection, Tanimoto
from .objects.strings import Spectrum
from .objects.substrings import Subsequence, Substring
from .objects.trees import PartialTree, SubsetTree, Subtree
from .pairs import (
    ABSOLUTE,
    CHI2,
    DOT,
    MINIMUM,
    ROOT_RATIO,
    SQUARED,
    STATISTICS,
    UNEQUAL,
    Pairs,
    Statistic,
)
from .rows.categorical import Categorical
from .rows.dot import ExpDot, Linear, Polynomial, Sigmoid
from .rows.histogram import Chi2, Intersection, NormalizedIntersection
from .rows.powers import LpNorm, SumPower
from .rows.radial import Exponential, Gaussian, Laplacian, Matern, Periodic, RationalQuadratic
from .transforms import Normalized, Of, On, Rescaled
from .user import FunctionKernel, Precomputed

__all__ = [
    "ABSOLUTE",
    "CATEGORIES",
    "CHI2",
    "DOT",
    "GRAPHS",
    "MINIMUM",
    "OBJECTS",
    "ROOT_RATIO",
    "ROWS",
    "SEQUENCES",
    "SERIES",
    "SETS",
    "SKLEARN_NAMES",
    "SQUARED",
    "STATISTICS",
    "TREES",
    "UNEQUAL",
    "VECTOR_SETS",
    "WORD_MAPS",
    "Basis",
    "Categorical",
    "Chi2",
    "Constant",
    "CountKernel",
    "Exp",
    "ExpDot",
    "Exponential",
    "Fisher",
    "FunctionKernel",
    "Gaussian",
    "GlobalAlignment",
    "Graph",
    "Graphlet",
    "HashGraph",
    "Intersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "LpNorm",
    "Matern",
    "Metric",
    "MetricMatrix",
    "Mismatch",
    "Normalized",
    "NormalizedIntersection",
    "Of",
    "On",
    "PairKernel",
    "Pairs",
    "PartialTree",
    "Periodic",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "PyramidMatch",
    "RandomWalk",
    "RationalQuadratic",
    "Rescaled",
    "Scaled",
    "SetIntersection",
    "ShortestPath",
    "Sigmoid",
    "SpatialPyramid",
    "Spectrum",
    "Statistic",
    "Subsequence",
    "SubsetTree",
    "Substring",
    "Subtree",
    "Sum",
    "SumPower",
    "Tanimoto",
    "Tree",
    "WeisfeilerLehman",
    "from_spec",
    "parse",
    "to_kernel",
]
