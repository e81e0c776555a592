"""Pictures of kernels and models, with matplotlib.

A display is made of plain numbers, or computed from a fitted model by `from_estimator`, and draws
itself on given axes or on new ones:

>>> from mercer.plots import SpectrumDisplay
>>> from mercer.kernels import Gaussian
>>> display = SpectrumDisplay.from_kernel(Gaussian(1.0), [[0.0], [1.0], [3.0]])
>>> display.ax_.get_yscale()
'log'
"""

from .base import Display
from .boundary import DecisionBoundaryDisplay
from .classification import CalibrationDisplay, ConfusionDisplay
from .columns import ColumnRelevanceDisplay
from .dependence import PartialDependenceDisplay
from .embedding import EmbeddingDisplay
from .features import FeatureConvergenceDisplay
from .gram import GramDisplay, SpectrumDisplay
from .regression import RegressionBandDisplay, ResidualsDisplay
from .search import LearningCurveDisplay, SearchSurfaceDisplay, ValidationCurveDisplay
from .style import PackageError
from .training import ConvergenceDisplay, KernelWeightsDisplay

__all__ = [
    "CalibrationDisplay",
    "ColumnRelevanceDisplay",
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "DecisionBoundaryDisplay",
    "Display",
    "EmbeddingDisplay",
    "FeatureConvergenceDisplay",
    "GramDisplay",
    "KernelWeightsDisplay",
    "LearningCurveDisplay",
    "PackageError",
    "PartialDependenceDisplay",
    "RegressionBandDisplay",
    "ResidualsDisplay",
    "SearchSurfaceDisplay",
    "SpectrumDisplay",
    "ValidationCurveDisplay",
]
