"""Points as features: scikit-learn transformers."""

from .fourier import RandomFourier
from .gram import GramTransformer

__all__ = ["GramTransformer", "RandomFourier"]
