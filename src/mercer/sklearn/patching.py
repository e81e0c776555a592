"""Putting mercer's estimators in the place of scikit-learn's, and taking them out again.

Only public names change: `sklearn.svm.SVC`, not `sklearn.svm._classes.SVC`, so that what was
pickled before still finds its class. An estimator is loaded when a program first asks for it,
because loading all of mercer takes longer than many programs run; until then its name is answered
by the `__getattr__` of its module. A module of scikit-learn that nobody has loaded is not loaded
for the patch either: it is changed once a program imports it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from . import pairwise

# name: (the module where programs find it, the module here that has it)
ESTIMATORS = {
    "SVC": ("sklearn.svm", "machines"),
    "NuSVC": ("sklearn.svm", "machines"),
    "SVR": ("sklearn.svm", "machines"),
    "NuSVR": ("sklearn.svm", "machines"),
    "OneClassSVM": ("sklearn.svm", "machines"),
    "KernelRidge": ("sklearn.kernel_ridge", "ridge"),
    "GaussianProcessRegressor": ("sklearn.gaussian_process", "gaussian_process"),
    "KernelPCA": ("sklearn.decomposition", "kernel_pca"),
    "KNeighborsClassifier": ("sklearn.neighbors", "neighbors"),
    "KNeighborsRegressor": ("sklearn.neighbors", "neighbors"),
    "Nystroem": ("sklearn.kernel_approximation", "approximation"),
    "RBFSampler": ("sklearn.kernel_approximation", "approximation"),
}
PLACES = {place for place, _ in ESTIMATORS.values()}
# scikit-learn's own functions find these in their module, so they are there from the start.
FUNCTIONS = pairwise.__all__
HOMES = ("sklearn.metrics.pairwise", "sklearn.metrics")
TABLES = ("PAIRWISE_KERNEL_FUNCTIONS", "PAIRWISE_DISTANCE_FUNCTIONS")

_saved: dict[tuple[str, str], Any] = {}  # what scikit-learn had, by module and name


def patch_sklearn() -> None:
    """Make scikit-learn's public names stand for mercer's estimators and functions.

    Programs that import `SVC`, `KernelRidge`, `rbf_kernel` and so on from scikit-learn afterwards
    get those of `mercer.sklearn`, with the same parameters and results. Names that a program has
    imported before stay what they are. Patching twice is patching once.

    See Also
    --------
    unpatch_sklearn : The way back.

    Examples
    --------
    >>> from mercer.sklearn import is_patched, patch_sklearn, unpatch_sklearn
    >>> patch_sklearn()
    >>> from sklearn.svm import SVC
    >>> SVC.__module__, is_patched()
    ('mercer.sklearn.machines', True)
    >>> unpatch_sklearn()
    """
    if is_patched():
        return
    for place in HOMES:
        importlib.import_module(place)
        for name in FUNCTIONS:
            if hasattr(sys.modules[place], name):
                _put(place, name, getattr(pairwise, name))
    for table in TABLES:
        _swap(table, lambda function: getattr(pairwise, function.__name__))
    for place in PLACES.intersection(sys.modules):
        _exchange(place)
    sys.meta_path.insert(0, _WATCH)


def unpatch_sklearn() -> None:
    """Give scikit-learn's public names back to scikit-learn.

    What a program has imported or made while they were mercer's stays so, and works. Without a
    patch this does nothing.

    See Also
    --------
    patch_sklearn : What this undoes.

    Examples
    --------
    >>> from mercer.sklearn import is_patched, unpatch_sklearn
    >>> unpatch_sklearn()
    >>> is_patched()
    False
    """
    if not is_patched():
        return
    own = {name: found for (_, name), found in _saved.items()}
    for table in TABLES:
        _swap(table, lambda function: own[function.__name__])
    for (place, name), found in _saved.items():
        vars(sys.modules[place])[name] = found
    for place in {place for place, _ in _saved} - {*HOMES}:
        for hook in ("__getattr__", "__dir__"):
            vars(sys.modules[place]).pop(hook)
    _saved.clear()
    sys.meta_path.remove(_WATCH)


def is_patched() -> bool:
    """Return whether scikit-learn's public names stand for mercer's estimators.

    Returns
    -------
    bool
        True between `patch_sklearn` and `unpatch_sklearn`.

    Examples
    --------
    >>> from mercer.sklearn import is_patched
    >>> is_patched()
    False
    """
    return bool(_saved)


class _Watch:
    """Exchanges the estimators of a module of scikit-learn as soon as a program has loaded it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name in PLACES else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_exchange(module: ModuleType) -> None:
            load(module)
            if is_patched():
                _exchange(name)

        spec.loader.exec_module = load_and_exchange  # type: ignore[method-assign]
        return spec


_WATCH = _Watch()


def _exchange(place: str) -> None:
    """Let the names of a module's estimators be answered by `_load`."""
    module = sys.modules[place]
    for name, (home, _) in ESTIMATORS.items():
        if home == place:
            _saved[place, name] = vars(module).pop(name)
    vars(module)["__getattr__"] = partial(_load, module)
    vars(module)["__dir__"] = partial(_names, module)


def _put(place: str, name: str, ours: Any) -> None:
    _saved[place, name] = getattr(sys.modules[place], name)
    setattr(sys.modules[place], name, ours)


def _swap(table: str, other: Callable[[Any], Any]) -> None:
    """Replace the functions of a table of metrics; the table itself is what others hold."""
    entries = getattr(sys.modules[HOMES[0]], table)
    for metric, function in entries.items():
        if getattr(function, "__name__", None) in FUNCTIONS:
            entries[metric] = other(function)


def _load(module: ModuleType, name: str) -> Any:
    """Return mercer's estimator of a name, and keep it in scikit-learn's module."""
    own = _saved.get((module.__name__, name))
    if own is None:
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    ours = importlib.import_module(f".{ESTIMATORS[name][1]}", __package__)
    # A module here that is being loaded asks for the class it derives from: scikit-learn's.
    if not hasattr(ours, name):
        return own
    setattr(module, name, getattr(ours, name))
    return getattr(ours, name)


def _names(module: ModuleType) -> list[str]:
    missing = {name for place, name in _saved if place == module.__name__}
    return sorted({*vars(module), *missing})
