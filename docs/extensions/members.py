"""What the page of a class in the reference shows; the template of such pages asks here."""

import importlib
import inspect
from dataclasses import dataclass

from mercer.kernels import Kernel

USEFUL = ("fit_predict", "fit_transform", "get_params", "score", "set_output", "set_params")


def find(path: str) -> type:
    """The class of a path such as `mercer.kernels.Linear`."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def is_ours(value: object) -> bool:
    """Whether a member was written in mercer, not in scikit-learn or in the standard library."""
    value = getattr(value, "fn", value)  # of one that is there for some parameters only
    value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    return (getattr(value, "__module__", None) or "").startswith("mercer")


def members(kind: type) -> dict[str, object]:
    """The public methods and properties of a class, by name.

    Those that it has from another class of mercer count as its own; a kernel has so much from
    `Kernel` that its page shows only what it adds.
    """
    found = {}
    for name, value in inspect.getmembers_static(kind):
        of_all_kernels = is_kernel(kind) and hasattr(Kernel, name)
        if is_ours(value) and not name.startswith("_") and not of_all_kernels:
            found[name] = value
    return found


def is_kernel(kind: type) -> bool:
    """Whether a class is a kernel, but not the base of all."""
    return issubclass(kind, Kernel) and kind is not Kernel


@dataclass(frozen=True)
class Shown:
    """What the template asks: an object and not functions, since Sphinx keeps what it was given."""

    def methods(self, path: str) -> list[str]:
        """The methods that the page of a class shows."""
        shown = members(find(path))
        return [name for name, value in shown.items() if not isinstance(value, property)]

    def properties(self, path: str) -> list[str]:
        """The properties that the page of a class shows."""
        shown = members(find(path))
        return [name for name, value in shown.items() if isinstance(value, property)]

    def from_scikit_learn(self, path: str) -> list[str]:
        """The methods that a class has from scikit-learn, those that most programs use."""
        kind = find(path)
        return [name for name in USEFUL if hasattr(kind, name) and name not in members(kind)]

    def is_kernel(self, path: str) -> bool:
        """Whether a class is a kernel, whose page leaves to that of `Kernel` what all have."""
        return is_kernel(find(path))
