"""mercer: kernel methods, complete and fast, for any data that has a similarity.

Names are loaded when first used, so that `import mercer` is quick and does not load scikit-learn.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import num_threads as num_threads
    from ._native import set_num_threads as set_num_threads
    from .checkpoints import Checkpoint as Checkpoint
    from .checks import CheckpointError as CheckpointError
    from .checks import DataError as DataError
    from .checks import FileError as FileError
    from .checks import InputError as InputError
    from .checks import KernelError as KernelError
    from .checks import MemoryLimitError as MemoryLimitError
    from .checks import MercerError as MercerError
    from .checks import ParseError as ParseError
    from .diagnostics import align as align
    from .diagnostics import alignment as alignment
    from .diagnostics import center as center
    from .diagnostics import check_kernel as check_kernel
    from .diagnostics import hsic_test as hsic_test
    from .diagnostics import mmd_test as mmd_test
    from .diagnostics import repair as repair
    from .files import ModelCard as ModelCard
    from .files import load as load
    from .files import read_card as read_card
    from .files import save as save
    from .grams import GramStack as GramStack
    from .grams import gram as gram
    from .grams import gram_family as gram_family
    from .grams import prepare as prepare
    from .kernels import parse as parse
    from .models import SVC as SVC
    from .models import SVR as SVR
    from .models import KernelFisherDiscriminant as KernelFisherDiscriminant
    from .models import KernelKMeans as KernelKMeans
    from .models import KernelMachineClassifier as KernelMachineClassifier
    from .models import KernelMachineRegressor as KernelMachineRegressor
    from .models import KernelNeighborsClassifier as KernelNeighborsClassifier
    from .models import KernelNeighborsRegressor as KernelNeighborsRegressor
    from .models import KernelPCA as KernelPCA
    from .models import KernelPerceptron as KernelPerceptron
    from .models import KernelPrototypeClassifier as KernelPrototypeClassifier
    from .models import KernelRidge as KernelRidge
    from .models import KernelRidgeClassifier as KernelRidgeClassifier
    from .models import KernelRidgeClassifierCV as KernelRidgeClassifierCV
    from .models import KernelRidgeCV as KernelRidgeCV
    from .models import MKLClassifier as MKLClassifier
    from .models import MKLOneClassSVM as MKLOneClassSVM
    from .models import MKLRegressor as MKLRegressor
    from .models import NuSVC as NuSVC
    from .models import NuSVR as NuSVR
    from .models import OneClassSVM as OneClassSVM
    from .models import RFMClassifier as RFMClassifier
    from .models import RFMRegressor as RFMRegressor
    from .models import compress as compress
    from .models import enclosing_radius as enclosing_radius
    from .models import vc_bound as vc_bound
    from .selection import PerColumn as PerColumn
    from .selection import svm_path as svm_path
    from .selection import tune as tune
    from .sklearn import patch_sklearn as patch_sklearn
    from .sklearn import unpatch_sklearn as unpatch_sklearn
    from .tables import AutoKernelClassifier as AutoKernelClassifier
    from .tables import AutoKernelRegressor as AutoKernelRegressor
    from .tables import TableEncoder as TableEncoder

_HOME = {
    "SVC": "models",
    "SVR": "models",
    "AutoKernelClassifier": "tables",
    "AutoKernelRegressor": "tables",
    "Checkpoint": "checkpoints",
    "CheckpointError": "checks",
    "DataError": "checks",
    "FileError": "checks",
    "GramStack": "grams",
    "InputError": "checks",
    "KernelError": "checks",
    "KernelNeighborsClassifier": "models",
    "KernelNeighborsRegressor": "models",
    "KernelPCA": "models",
    "KernelPerceptron": "models",
    "KernelFisherDiscriminant": "models",
    "KernelKMeans": "models",
    "KernelMachineClassifier": "models",
    "KernelMachineRegressor": "models",
    "KernelPrototypeClassifier": "models",
    "KernelRidge": "models",
    "KernelRidgeCV": "models",
    "KernelRidgeClassifier": "models",
    "KernelRidgeClassifierCV": "models",
    "MKLClassifier": "models",
    "MKLOneClassSVM": "models",
    "MKLRegressor": "models",
    "MemoryLimitError": "checks",
    "MercerError": "checks",
    "ModelCard": "files",
    "NuSVC": "models",
    "NuSVR": "models",
    "OneClassSVM": "models",
    "ParseError": "checks",
    "PerColumn": "selection",
    "RFMClassifier": "models",
    "RFMRegressor": "models",
    "TableEncoder": "tables",
    "align": "diagnostics",
    "alignment": "diagnostics",
    "center": "diagnostics",
    "check_kernel": "diagnostics",
    "compress": "models",
    "enclosing_radius": "models",
    "gram": "grams",
    "gram_family": "grams",
    "hsic_test": "diagnostics",
    "load": "files",
    "mmd_test": "diagnostics",
    "num_threads": "_native",
    "parse": "kernels",
    "patch_sklearn": "sklearn",
    "prepare": "grams",
    "read_card": "files",
    "repair": "diagnostics",
    "save": "files",
    "set_num_threads": "_native",
    "svm_path": "selection",
    "tune": "selection",
    "unpatch_sklearn": "sklearn",
    "vc_bound": "models",
}

__all__ = [*_HOME, "kernels"]

logging.getLogger("mercer").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("mercer")
    if name in _HOME:
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    try:
        return importlib.import_module(f".{name}", __name__)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":  # the module is there, a package it needs is not
            raise
        raise AttributeError(f"module 'mercer' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
