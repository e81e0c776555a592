"""Choosing among models: searches on shared matrices or along gradients, and paths of penalties."""

from .paths import svm_path
from .spaces import PerColumn
from .tuned import Tuned
from .tuning import tune

__all__ = ["PerColumn", "Tuned", "svm_path", "tune"]
