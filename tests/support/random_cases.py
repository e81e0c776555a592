"""Random fits, each drawn from a seed alone: an estimator with its parameters, and data for it.

What is drawn is legal but hostile: scales from 1e-8 to 1e8 and now and then far beyond, offsets,
duplicated rows, constant and collinear columns, penalties and tolerances over many decades.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from estimators import OF_SOME, with_kernel

from mercer import kernels as k
from mercer import losses, prepare
from mercer.files.records import estimators

Array = np.ndarray[Any, Any]
Random = np.random.Generator


@dataclass(frozen=True)
class Case:
    """One fit: what is fitted to what, and the points that are predicted afterwards."""

    seed: int
    model: Any
    X: Any
    y: Array | None
    weight: Array | None
    new: Any
    text: str


def log_uniform(random: Random, low: float, high: float) -> float:
    """Return a number whose logarithm is uniform."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def chance(random: Random, share: float) -> bool:
    return bool(random.random() < share)


def pick(random: Random, options: Any) -> Any:
    return options[int(random.integers(len(options)))]


# --- data -----------------------------------------------------------------------------------


def _normal(random: Random, n: int, d: int) -> Array:
    return random.normal(size=(n, d))


def _whole(random: Random, n: int, d: int) -> Array:
    return random.integers(-100, 101, size=(n, d)).astype(float)


def _offset(random: Random, n: int, d: int) -> Array:
    return random.normal(size=(n, d)) + pick(random, (100.0, 1e6))


def _duplicated(random: Random, n: int, d: int) -> Array:
    rows = random.normal(size=(max(2, n // 3), d))
    return rows[random.integers(len(rows), size=n)]


def _constant(random: Random, n: int, d: int) -> Array:
    X = random.normal(size=(n, d))
    X[:, random.random(d) < 0.5] = pick(random, (0.0, 1.0, 1e3))
    return X


def _collinear(random: Random, n: int, d: int) -> Array:
    return random.normal(size=(n, 1)) @ random.normal(size=(1, d))


def _wild(random: Random, n: int, d: int) -> Array:
    return random.normal(size=(n, d)) * 10.0 ** random.uniform(-8, 8, size=d)


SHAPES = (_normal, _normal, _whole, _offset, _duplicated, _constant, _collinear, _wild)


def draw_points(random: Random, nonnegative: bool) -> tuple[Array, Array, str]:
    """Return training points, new points and a word about them."""
    n = int(random.integers(6, 61))
    d = int(random.integers(1, 9))
    shape = pick(random, SHAPES)
    X = shape(random, n + 5, d)
    scale = 1.0 if chance(random, 0.4) else log_uniform(random, 1e-8, 1e8)
    X = X * scale
    X = np.abs(X) if nonnegative else X
    new = np.vstack([X[n:], X[:3], X[:3] * (1 + 1e-3), np.zeros((1, d))])
    if chance(random, 0.05):
        new *= pick(random, (1e3, 1e8))
    text = f"{shape.__name__[1:]} {n} x {d} scale {scale:.1e}"
    X = X[:n]
    if chance(random, 0.15):
        largest = float(np.abs(X).max())
        if largest > 0 and chance(random, 0.3):
            X, new, text = X / largest * 1e20, new / largest * 1e20, text + " at 1e20"
        with np.errstate(over="ignore", under="ignore"):
            small = X.astype(np.float32), new.astype(np.float32)
        if all(np.isfinite(part).all() for part in small):
            X, new, text = *small, text + " float32"
    return X, new, text


def draw_targets(random: Random, X: Array) -> Array:
    """Return numbers to predict, some of them far from ordinary ones."""
    with np.errstate(all="ignore"):
        size = np.float64(np.abs(X).max()) or 1.0
        signal = np.sin(3 * np.asarray(X[:, 0], np.float64) / size)
    y = signal + pick(random, (0.0, 0.1, 1.0)) * random.normal(size=len(X))
    if chance(random, 0.1):
        y = np.full(len(X), 0.7)
    scale = 1.0 if chance(random, 0.5) else log_uniform(random, 1e-8, 1e8)
    if chance(random, 0.05):
        scale = pick(random, (1e200, 1e-200, 1e300))
    return y * scale


def draw_labels(random: Random, X: Array) -> Array:
    """Return classes, each with at least two points."""
    count = pick(random, (2, 2, 2, 3, 4)) if len(X) >= 12 else 2
    by = np.asarray(X[:, 0], np.float64)
    order = np.argsort(by + pick(random, (0.0, 1.0)) * np.ptp(by) * random.normal(size=len(X)))
    y = np.empty(len(X), int)
    y[order] = np.arange(len(X)) * count // len(X)
    return y


# --- kernels --------------------------------------------------------------------------------


def _gamma(random: Random) -> Any:
    if chance(random, 0.5):
        return "scale"
    return "auto" if chance(random, 0.2) else log_uniform(random, 1e-12, 1e12)


def _mild(random: Random) -> float:
    return log_uniform(random, 1e-3, 1e3)


def _polynomial(random: Random) -> Any:
    gamma = pick(random, (_mild(random), "scale", 1.0))
    return k.Polynomial(int(random.integers(1, 8)), gamma, pick(random, (0.0, 1.0, 10.0)))


ROW_KERNELS: dict[str, Callable[[Random], Any]] = {
    "Gaussian": lambda r: k.Gaussian(_gamma(r)),
    "Laplacian": lambda r: k.Laplacian(_gamma(r)),
    "Matern": lambda r: k.Matern(pick(r, (0.5, 1.5, 2.5, 3.3, 40.0)), pick(r, (_mild(r), "scale"))),
    "Exponential": lambda r: k.Exponential(pick(r, (_mild(r), "scale"))),
    "LpNorm": lambda r: k.LpNorm(pick(r, (1.0, 1.4, 2.0)), 1.0, pick(r, (_mild(r), "scale"))),
    "SumPower": lambda r: k.SumPower(
        pick(r, (0.5, 1.0, 2.0)), int(r.integers(1, 5)), 0.1, pick(r, (_mild(r), "scale"))
    ),
    "RationalQuadratic": lambda r: k.RationalQuadratic(_mild(r), pick(r, (_mild(r), "scale"))),
    "Periodic": lambda r: k.Periodic(_mild(r), _mild(r)),
    "Linear": lambda r: k.Linear(),
    "Polynomial": _polynomial,
    "ExpDot": lambda r: k.ExpDot(pick(r, (_mild(r), "scale", 1.0))),
    "Sigmoid": lambda r: k.Sigmoid(pick(r, (_mild(r), "scale")), float(r.normal())),
    "Intersection": lambda r: k.Intersection(),
    "NormalizedIntersection": lambda r: k.NormalizedIntersection(),
    "Chi2": lambda r: k.Chi2(_mild(r)),
    "Categorical": lambda r: k.Categorical(_mild(r)),
    "Constant": lambda r: k.Constant(_mild(r)),
}
NAMES = ("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "chi2")


def draw_kernel(random: Random, depth: int = 2) -> Any:
    """Return a kernel: one of rows of numbers, or an expression of such."""
    if depth == 0 or chance(random, 0.55):
        return ROW_KERNELS[pick(random, tuple(ROW_KERNELS))](random)
    one = draw_kernel(random, depth - 1)
    ways: tuple[Callable[[], Any], ...] = (
        lambda: (k.Linear() + 1) ** int(random.integers(2, 6)),
        lambda: one + draw_kernel(random, depth - 1),
        lambda: one * draw_kernel(random, depth - 1),
        lambda: one.normalized(),
        lambda: log_uniform(random, 1e-8, 1e8) * one,
        lambda: one ** int(random.integers(2, 4)),
        lambda: one.exp(),
        lambda: one + _mild(random),
        lambda: one.on([0]),
    )
    return pick(random, ways)()


# --- estimators -----------------------------------------------------------------------------


def _wide(random: Random) -> float:
    return 1.0 if chance(random, 0.3) else log_uniform(random, 1e-12, 1e12)


def _tolerance(random: Random, usual: float) -> float:
    if chance(random, 0.6):
        return usual
    return log_uniform(random, 1e-12, 1e-2) if chance(random, 0.9) else _wide(random)


def _share(random: Random) -> float:
    return pick(random, (0.5, float(random.uniform(0.01, 1.0)), log_uniform(random, 1e-6, 1.0)))


def _classes(random: Random) -> dict[str, Any]:
    return {
        "multiclass": pick(random, ("ovo", "ovo", "ovr")),
        "class_weight": pick(random, (None, None, "balanced")),
        "probability": chance(random, 0.2),
        "tol": _tolerance(random, 1e-3),
    }


def _svc(random: Random) -> dict[str, Any]:
    C = float("inf") if chance(random, 0.03) else _wide(random)
    return {"C": C, "fit_intercept": chance(random, 0.85)} | _classes(random)


def _svr(random: Random) -> dict[str, Any]:
    return {
        "C": _wide(random),
        "epsilon": pick(random, (0.1, 0.0, _wide(random))),
        "tol": _tolerance(random, 1e-3),
        "fit_intercept": chance(random, 0.85),
    }


def _ridge(random: Random) -> dict[str, Any]:
    return {
        "alpha": 0.0 if chance(random, 0.05) else _wide(random),
        "fit_intercept": chance(random, 0.5),
        "solver": pick(random, ("auto", "auto", "cholesky", "cg", "nystrom", "primal")),
        "tol": _tolerance(random, 1e-6),
    }


def _search(random: Random) -> dict[str, Any]:
    alphas = [log_uniform(random, 1e-12, 1e12) for _ in range(3)]
    return {
        "alphas": pick(random, (None, alphas)),
        "cv": pick(random, (None, None, 3)),
        "fit_intercept": chance(random, 0.5),
    }


def _machine(random: Random) -> dict[str, Any]:
    return {
        "alpha": _wide(random),
        "fit_intercept": chance(random, 0.7),
        "solver": pick(random, ("auto", "auto", "auto", "newton", "nystrom", "primal")),
        "tol": _tolerance(random, 1e-6),
    }


def _class_loss(random: Random) -> dict[str, Any]:
    loss = pick(random, (*losses.OF_CLASSES, losses.SmoothedHinge(0.2)))
    return {"loss": loss} | _machine(random)


def _number_loss(random: Random) -> dict[str, Any]:
    made = losses.Huber(_mild(random)), losses.Quantile(0.9), losses.EpsilonInsensitive(0.01)
    return {"loss": pick(random, (*losses.OF_NUMBERS, *made))} | _machine(random)


def _of_differences(random: Random) -> Any:
    """Return a kernel that has a spectral law."""
    names = ("Gaussian", "Laplacian", "Exponential", "Matern", "RationalQuadratic")
    one, other = (ROW_KERNELS[pick(random, names)](random) for _ in range(2))
    return pick(random, (one, one, one + other, one * other, _mild(random) * one + 1))


def _of_distances(random: Random) -> Any:
    """Return a kernel that falls with the distance, or the name of one."""
    names = ("Gaussian", "Laplacian", "Exponential", "Matern", "RationalQuadratic", "LpNorm")
    short = pick(random, ("laplacian", "exponential", "gaussian"))
    return short if chance(random, 0.6) else ROW_KERNELS[pick(random, names)](random)


def _frequencies(random: Random) -> dict[str, Any]:
    return {
        "n_components": pick(random, (8, 64, 200)),
        "method": pick(random, ("auto", "iid", "orthogonal", "sobol")),
        "phase": chance(random, 0.3),
    }


def _components(random: Random) -> dict[str, Any]:
    return {
        "n_components": pick(random, (None, 1, 2, 3)),
        "eigen_solver": pick(random, ("auto", "dense", "krylov")),
        "fit_inverse_transform": chance(random, 0.3),
        "alpha": _wide(random),
        "tol": _tolerance(random, 1e-6),
        "remove_zero_eig": chance(random, 0.5),
    }


def _metric(random: Random) -> dict[str, Any]:
    return {
        "metric": pick(random, ("diagonal", "full")),
        "steps": pick(random, ("auto", 0, 1, 3)),
        "width": pick(random, ("auto", _mild(random), [0.5, 2.0])),
        "alpha": pick(random, ("auto", _wide(random))),
        "cv": pick(random, (2, 4)),
        "fit_intercept": chance(random, 0.7),
    }


LABELS, NUMBERS, NOTHING = "labels", "numbers", "nothing"

# name: what it learns from, whether it takes weights, how often it is drawn, its parameters
ESTIMATORS: dict[str, tuple[str, bool, int, Callable[[Random], dict[str, Any]]]] = {
    "SVC": (LABELS, True, 4, _svc),
    "NuSVC": (LABELS, True, 3, lambda r: {"nu": _share(r)} | _classes(r)),
    "SVR": (NUMBERS, True, 3, _svr),
    "NuSVR": (
        NUMBERS,
        True,
        3,
        lambda r: {"C": _wide(r), "nu": _share(r), "tol": _tolerance(r, 1e-3)},
    ),
    "OneClassSVM": (NOTHING, True, 3, lambda r: {"nu": _share(r), "tol": _tolerance(r, 1e-3)}),
    "MKLClassifier": (
        LABELS,
        True,
        2,
        lambda r: {
            "C": _wide(r),
            "p": pick(r, (1.0, 1.0, 2.0)),
            "scaling": pick(r, ("diagonal", "trace", "variance", None)),
        },
    ),
    "MKLRegressor": (
        NUMBERS,
        True,
        2,
        lambda r: {
            "loss": pick(r, ("epsilon_insensitive", "squared")),
            "C": _wide(r),
            "alpha": _wide(r),
        },
    ),
    "MKLOneClassSVM": (NOTHING, True, 1, lambda r: {"nu": _share(r)}),
    "KernelRidge": (NUMBERS, True, 3, _ridge),
    "KernelRidgeClassifier": (
        LABELS,
        True,
        2,
        lambda r: _ridge(r) | {"class_weight": pick(r, (None, "balanced"))},
    ),
    "KernelRidgeCV": (NUMBERS, True, 2, _search),
    "KernelRidgeClassifierCV": (
        LABELS,
        True,
        2,
        lambda r: _search(r) | {"class_weight": pick(r, (None, "balanced"))},
    ),
    "RFMRegressor": (NUMBERS, True, 1, _metric),
    "RFMClassifier": (
        LABELS,
        True,
        1,
        lambda r: _metric(r) | {"class_weight": pick(r, (None, "balanced"))},
    ),
    "KernelMachineClassifier": (LABELS, True, 4, _class_loss),
    "KernelMachineRegressor": (NUMBERS, True, 4, _number_loss),
    "KernelPerceptron": (
        LABELS,
        False,
        2,
        lambda r: {
            "average": chance(r, 0.5),
            "shuffle": chance(r, 0.5),
            "budget": pick(r, (None, None, 5)),
            "max_iter": 100,
        },
    ),
    "KernelNeighborsClassifier": (
        LABELS,
        False,
        1,
        lambda r: {"n_neighbors": int(r.integers(1, 6)), "weights": pick(r, WEIGHTS)},
    ),
    "KernelNeighborsRegressor": (
        NUMBERS,
        False,
        1,
        lambda r: {"n_neighbors": int(r.integers(1, 6)), "weights": pick(r, WEIGHTS)},
    ),
    "KernelPrototypeClassifier": (
        LABELS,
        True,
        1,
        lambda r: {"n_prototypes": int(r.integers(1, 4)), "shrinkage": pick(r, (0.0, 0.3, 1.0))},
    ),
    "KernelPCA": (NOTHING, True, 2, _components),
    "KernelKMeans": (
        NOTHING,
        True,
        2,
        lambda r: {"n_clusters": int(r.integers(1, 5)), "tol": pick(r, (0.0, 1e-4))},
    ),
    "KernelFisherDiscriminant": (
        LABELS,
        True,
        2,
        lambda r: {
            "alpha": _wide(r),
            "solver": pick(r, ("auto", "auto", "cholesky", "cg", "nystrom", "primal")),
            "tol": _tolerance(r, 1e-6),
        },
    ),
    "GramTransformer": (NOTHING, False, 1, lambda r: {"center": chance(r, 0.5)}),
    "RandomFourier": (NOTHING, False, 1, _frequencies),
    "Nystrom": (
        NOTHING,
        False,
        2,
        lambda r: {
            "n_components": pick(r, (None, 1, 3, 6)),
            "centers": pick(r, ("rpcholesky", "uniform")),
        },
    ),
    "ExplicitMap": (NOTHING, False, 1, lambda r: {}),
    "GaussianTaylor": (NOTHING, False, 1, lambda r: {"degree": int(r.integers(0, 6))}),
    "PolynomialSketch": (
        NOTHING,
        False,
        1,
        lambda r: {"n_components": int(r.integers(1, 40)), "random_state": int(r.integers(99))},
    ),
    "AdditiveMap": (NOTHING, False, 1, lambda r: {"n_components": int(r.integers(1, 9))}),
    "RandomBinning": (NOTHING, False, 1, lambda r: {"n_components": int(r.integers(1, 20))}),
}
# Maps and machines of some kernels only.
OWN: dict[str, Callable[[Random], Any]] = {
    "ExplicitMap": lambda r: k.Polynomial(int(r.integers(1, 4)), _mild(r), pick(r, (0.0, 1.0))),
    "GaussianTaylor": lambda r: k.Gaussian(_gamma(r)),
    "PolynomialSketch": _polynomial,
    "AdditiveMap": lambda r: pick(r, (k.Intersection(), k.NormalizedIntersection())),
    "RandomBinning": lambda r: k.Laplacian(_gamma(r)),
    "RandomFourier": _of_differences,
    "RFMRegressor": _of_distances,
    "RFMClassifier": _of_distances,
}
WEIGHTS = ("uniform", "distance")
WIDEST = 1000  # features of a map that a matrix of them is made of
KINKED = ("hinge", "epsilon_insensitive", "quantile")
NAMED = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "KernelRidge", "KernelPCA")


def _possible(settings: dict[str, Any], kernel: Any, X: Array) -> str:
    """Return the solver, or "auto" where it cannot serve this loss or this kernel in time."""
    loss = settings.get("loss")
    if loss in KINKED or isinstance(loss, losses.Quantile | losses.EpsilonInsensitive):
        return "auto"
    if settings["solver"] != "primal":
        return settings["solver"]
    width = None if isinstance(kernel, str) else prepare(kernel, X).map_width()
    return "primal" if width is not None and width <= WIDEST else "auto"


def draw(seed: int, only: tuple[str, ...] = ()) -> Case:
    """Return the case of a seed; only: the estimators to draw from, all if there are none."""
    random = np.random.default_rng(seed)
    names = [name for name in only or ESTIMATORS for _ in range(ESTIMATORS[name][2])]
    name = pick(random, names)
    learns, weighted, _, parameters = ESTIMATORS[name]
    settings = parameters(random)
    kernel: Any = OWN[name](random) if name in OWN else draw_kernel(random)
    if name in NAMED and chance(random, 0.15):
        kernel = pick(random, NAMES)
        settings |= {"degree": int(random.integers(1, 8))} if kernel == "poly" else {}
        settings |= {"gamma": _mild(random)} if kernel == "chi2" else {}
    nonnegative = kernel == "chi2" or (not isinstance(kernel, str) and kernel.needs_nonnegative())
    X, new, text = draw_points(random, nonnegative)
    if "solver" in settings:
        settings["solver"] = _possible(settings, kernel, X)
    y = None
    if learns == LABELS:
        y = draw_labels(random, X)
    elif learns == NUMBERS:
        y = draw_targets(random, X)
        if settings.get("loss") == "poisson":
            y = np.floor(np.minimum(np.abs(y), 1e15))
    weight = None
    if weighted and chance(random, 0.25):
        sizes, shares = (0.0, 0.5, 1.0, 2.0, 1e-6, 1e6), (0.1, 0.25, 0.4, 0.2, 0.02, 0.03)
        weight = random.choice(sizes, p=shares, size=len(X))
        weight[:2] = 1.0
    kind = estimators()[name]
    given = {"kernel": kernel} if kind in OF_SOME else with_kernel(kind, kernel)
    model = kind(**given, **settings)
    if chance(random, 0.05) and X.dtype == np.float64:
        X, new, text = scipy.sparse.csr_array(X), scipy.sparse.csr_array(new), text + " sparse"
    return Case(seed, model, X, y, weight, new, text)
