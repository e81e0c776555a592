"""Choosing among models: searches on shared matrices, and whole paths of penalties."""

from .paths import svm_path
from .tuning import tune

__all__ = ["svm_path", "tune"]
