"""Points as features: scikit-learn transformers."""

from .gram import GramTransformer

__all__ = ["GramTransformer"]
