"""Choosing among models: searches on shared matrices, and whole paths of penalties."""

from .paths import svm_path
from .tuning import Tuned, tune

__all__ = ["Tuned", "svm_path", "tune"]
