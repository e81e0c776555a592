"""Points as features: scikit-learn transformers."""

from .additive import AdditiveMap
from .binning import RandomBinning
from .explicit import ExplicitMap
from .fourier import RandomFourier
from .gram import GramTransformer
from .nystrom import Nystrom, NystromCertificate
from .sketch import PolynomialSketch
from .taylor import GaussianTaylor

__all__ = [
    "AdditiveMap",
    "ExplicitMap",
    "GaussianTaylor",
    "GramTransformer",
    "Nystrom",
    "NystromCertificate",
    "PolynomialSketch",
    "RandomBinning",
    "RandomFourier",
]
