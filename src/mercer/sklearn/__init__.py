"""scikit-learn's estimators on mercer's engine: the same names, parameters and results.

Use them by name, or let `patch_sklearn` put them in the place of scikit-learn's own. Names are
loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .approximation import Nystroem as Nystroem
    from .approximation import RBFSampler as RBFSampler
    from .gaussian_process import GaussianProcessRegressor as GaussianProcessRegressor
    from .kernel_pca import KernelPCA as KernelPCA
    from .machines import SVC as SVC
    from .machines import SVR as SVR
    from .machines import NuSVC as NuSVC
    from .machines import NuSVR as NuSVR
    from .machines import OneClassSVM as OneClassSVM
    from .neighbors import KNeighborsClassifier as KNeighborsClassifier
    from .neighbors import KNeighborsRegressor as KNeighborsRegressor
    from .pairwise import chi2_kernel as chi2_kernel
    from .pairwise import euclidean_distances as euclidean_distances
    from .pairwise import laplacian_kernel as laplacian_kernel
    from .pairwise import pairwise_kernels as pairwise_kernels
    from .pairwise import polynomial_kernel as polynomial_kernel
    from .pairwise import rbf_kernel as rbf_kernel
    from .patching import is_patched as is_patched
    from .patching import patch_sklearn as patch_sklearn
    from .patching import unpatch_sklearn as unpatch_sklearn
    from .ridge import KernelRidge as KernelRidge

_HOME = {
    "GaussianProcessRegressor": "gaussian_process",
    "KNeighborsClassifier": "neighbors",
    "KNeighborsRegressor": "neighbors",
    "KernelPCA": "kernel_pca",
    "KernelRidge": "ridge",
    "NuSVC": "machines",
    "NuSVR": "machines",
    "Nystroem": "approximation",
    "OneClassSVM": "machines",
    "RBFSampler": "approximation",
    "SVC": "machines",
    "SVR": "machines",
    "chi2_kernel": "pairwise",
    "euclidean_distances": "pairwise",
    "is_patched": "patching",
    "laplacian_kernel": "pairwise",
    "pairwise_kernels": "pairwise",
    "patch_sklearn": "patching",
    "polynomial_kernel": "pairwise",
    "rbf_kernel": "pairwise",
    "unpatch_sklearn": "patching",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
