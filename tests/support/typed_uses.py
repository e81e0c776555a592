"""Uses of the public interface for mypy alone: `tests/architecture/test_types.py` checks this file.

A line that ends in `# wrong` must be an error, every other line must not be one.
"""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
from numpy.typing import NDArray
from sklearn.model_selection import KFold

import mercer
from mercer import (
    SVC,
    SVR,
    AutoKernelClassifier,
    AutoKernelRegressor,
    KernelPCA,
    KernelRidge,
    KernelRidgeCV,
    NuSVC,
    RFMRegressor,
    TableEncoder,
    kernels,
    losses,
)
from mercer.features import (
    AdditiveMap,
    ExplicitMap,
    GaussianTaylor,
    GramTransformer,
    Nystrom,
    PolynomialSketch,
    RandomBinning,
)
from mercer.typing import HasArray, KernelLike

X = np.zeros((4, 2))
frame = pl.DataFrame({"a": [0.0, 1.0], "b": [1.0, 2.0]})


def overlap(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(left @ right.T)


# --- kernels
RFMRegressor("gaussian", width=[0.5, 1.0], alpha=0.1, steps=2, cv=KFold(3))
RFMRegressor(steps=None)  # wrong
RFMRegressor(leaf_rows="many")  # wrong
SVC(kernel=None)
SVC(kernel="rbf", gamma="scale")
SVC(kernel=kernels.Gaussian(0.1))
SVC(kernel=2 * kernels.Gaussian(0.1) + kernels.Linear())
SVC(kernel=overlap)
SVC(kernel=lambda left, right: left @ right.T)
KernelRidgeCV(kernel=[kernels.Linear(), "rbf"])
SVC(kernel=12)  # wrong
SVC(kernel=kernels.Gaussian)  # wrong
SVC(kernel=[kernels.Linear()])  # wrong
SVC(kernel="rbf", gamma="skale")  # wrong
GramTransformer(kernel=0.5)  # wrong

# --- numbers
SVC(C=2)
SVC(C=np.float64(2.0))
SVC(C=float("inf"))
KernelRidge(alpha=1)
KernelRidge(alpha=[1.0, 2.0])
KernelRidge(alpha=np.ones(2))
KernelRidgeCV(alphas=np.logspace(-3, 3, 7))
KernelRidgeCV(alphas=(0.1, 1))
SVC(C=[1])  # wrong
SVC(C="1")  # wrong
NuSVC(nu=None)  # wrong
KernelRidge(alpha="a")  # wrong
KernelRidge(alpha=None)  # wrong
KernelPCA(n_components=1.5)  # wrong

# --- options
SVC(memory_limit="2GB", time_limit=3, n_jobs=-1, verbose=1, class_weight="balanced")
SVC(memory_limit=2e9, random_state=np.random.default_rng(0), class_weight={"a": 1, "b": 2.0})
SVC(callback=lambda record: record["iteration"] > 3)
KernelRidgeCV(cv=5, scoring="r2")
KernelRidgeCV(cv=KFold(3), scoring=lambda model, A, b: 0.0)
KernelRidgeCV(cv=[(np.arange(2), np.arange(2, 4))])
mercer.KernelMachineRegressor("huber")
mercer.KernelMachineRegressor(losses.Quantile(0.9))
SVC(memory_limit=None)  # wrong
SVC(time_limit="1 min")  # wrong
SVC(n_jobs=1.5)  # wrong
SVC(class_weight="even")  # wrong
SVC(random_state="seed")  # wrong
SVC(callback=3)  # wrong
KernelRidgeCV(cv=2.5)  # wrong
mercer.KernelMachineRegressor(3)  # wrong

# --- points, targets, weights
SVC().fit([[0.0], [1.0]], ["no", "yes"])
SVC().fit(X, np.zeros(4), sample_weight=[1.0, 1.0, 2.0, 2.0])
SVC(kernel=kernels.Spectrum(2)).fit(["ab", "ba"], [0, 1]).predict(["abab"])
SVC().fit(scipy.sparse.csr_array(X), [True, False, True, False])
SVC().fit(frame, pl.Series(["no", "yes"])).predict(frame)
SVC().fit(pd.DataFrame({"a": [0.0, 1.0]}), pd.Series(["no", "yes"]), sample_weight=np.ones(2))
KernelRidge().fit(X, [[0.0, 1.0], [1, 2], [2.0, 3.0], [3.0, 4.0]])
KernelRidge().fit(range(3), (0, 1, 2), sample_weight=None)
KernelRidge().fit(3, [1.0])  # wrong
KernelRidge().fit(X, "abcd")  # wrong
KernelRidge().fit(X, ["a", "b", "c", "d"])  # wrong
KernelRidge().fit(X, np.zeros(4), sample_weight="heavy")  # wrong
SVC().fit(X, 3)  # wrong
SVC().fit(X)  # wrong
SVC().predict(3)  # wrong
SVR().fit(X, None)  # wrong

# --- functions
mercer.tune(SVC(), X, [0, 1, 0, 1], {"C": [1, 10]}, cv=2)
mercer.tune(SVC(), X, [0, 1, 0, 1], {"C": (1, 10), "kernel__gamma": mercer.PerColumn(0.1, 1)})
mercer.tune(SVC(), X, [0, 1, 0, 1], {"C": [1]}, method="random", n_iter=3)
mercer.tune(SVC(), X, [0, 1, 0, 1], {"C": [1]}, sample_weight=[1.0, 2.0, 1.0, 0.5])
KernelRidge().gradient(X)
mercer.check_kernel(kernels.Gaussian(), X)
mercer.check_kernel([[1.0, 0.0], [0.0, 1.0]])
mercer.mmd_test(X, X, random_state=0)
mercer.alignment(kernels.Linear(), [0, 1, 0, 1], X)
mercer.save(SVC(), "model.mercer")
mercer.compress(SVC(), n_centers=10, X=X).predict_proba(X)
mercer.compress(KernelRidge(), tol=0.01, polish=False, time_limit=60, memory_limit="1GB")
mercer.compress("SVC", tol=0.1)  # wrong
mercer.compress(SVC(), n_centers=0.5)  # wrong
mercer.compress(SVC(), n_centers=10, X=3)  # wrong
mercer.tune("SVC", X, [0, 1, 0, 1], {"C": [1, 10]})  # wrong
mercer.tune(SVC(), X, [0, 1, 0, 1], {"C": 3.0})  # wrong
mercer.tune(SVC(), X, [0, 1, 0, 1], {"C": [1]}, n_iter="all")  # wrong
mercer.tune(SVC(), X, [0, 1, 0, 1], {"C": [1]}, sample_weight="heavy")  # wrong
mercer.PerColumn("low", 1.0)  # wrong
KernelRidge().gradient(3)  # wrong
mercer.mmd_test(X, X, kernel=3)  # wrong
mercer.repair("K")  # wrong
mercer.save(3, "model.mercer")  # wrong

# --- names of types that users may want
named: KernelLike = kernels.Gaussian()
matrix: HasArray = X

# --- feature maps
Nystrom(kernels.Spectrum(2), 10, centers=["ab", "ba"], random_state=0, n_jobs=2)
Nystrom(centers=X)
GaussianTaylor(3, gamma=[0.1, 0.2])
PolynomialSketch((kernels.Linear() + 1) ** 2, n_components=64)
AdditiveMap(kernels.Intersection(), 5)
RandomBinning("scale", 10)
ExplicitMap(kernels.Polynomial(2))
Nystrom(n_components="many")  # wrong
Nystrom(centers=3)  # wrong
GaussianTaylor("three")  # wrong
GaussianTaylor(gamma="skale")  # wrong
PolynomialSketch(kernel=2)  # wrong
AdditiveMap(n_components=None)  # wrong
RandomBinning(n_components=1.5)  # wrong
ExplicitMap(kernel=3)  # wrong

# --- tables
TableEncoder(numbers="rank", min_count=3, types={"a": "category", 2: "drop"}).fit(frame)
TableEncoder().fit([{"a": 1.0}]).get_feature_names_out(["a"])
TableEncoder(numbers="ranks")  # wrong
TableEncoder(types={"a": "categorical"})  # wrong
TableEncoder(min_count="few")  # wrong
TableEncoder("rank")  # wrong
TableEncoder().fit(3)  # wrong
AutoKernelClassifier(time_limit=5.0, types={"a": "category"}).fit(frame, ["a", "b"], groups=[1, 2])
AutoKernelRegressor(max_candidates=3, split="time").fit([{"a": 1.0}], [1.0]).predict_interval(frame)
AutoKernelClassifier(time_limit="long")  # wrong
AutoKernelClassifier(max_candidates=1.5)  # wrong
AutoKernelRegressor(class_weight="balanced")  # wrong
AutoKernelRegressor(5.0)  # wrong
AutoKernelRegressor().predict_interval(frame, "most")  # wrong
