"""A fit is whole or did not happen."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

Model = TypeVar("Model")
Returned = TypeVar("Returned")
Parameters = ParamSpec("Parameters")
Method = Callable[Concatenate[Model, Parameters], Returned]

_PACKAGE = __name__.partition(".")[0]


def atomic(fit: Method[Model, Parameters, Returned]) -> Method[Model, Parameters, Returned]:
    """Make a method that fits work on a draft of the model, which the model adopts at the end.

    The draft has the parameters of the model and nothing of a former fit. Whatever a method sets
    is set on the draft, so one that fails, or is interrupted, leaves the model as it was, and what
    a former fit has left behind is gone after a fit that ends.
    """
    return _on_a_draft(fit, goes_on=False)


def atomic_step(step: Method[Model, Parameters, Returned]) -> Method[Model, Parameters, Returned]:
    """Make a method that goes on from a former fit work on a draft that knows it."""
    return _on_a_draft(step, goes_on=True)


def is_atomic(method: Callable[..., Any]) -> bool:
    """Return whether a method, or what it wraps, works on a draft."""
    while not hasattr(method, "_works_on_a_draft") and hasattr(method, "__wrapped__"):
        method = method.__wrapped__
    return hasattr(method, "_works_on_a_draft")


@functools.cache
def fitted_names(kind: type) -> frozenset[str]:
    """Return the attributes that fits set: those that mercer's classes declare.

    Names of parameters have no underscore at either end. Attributes that a subclass of a user
    declares are the user's.
    """
    ours = [one for one in kind.__mro__ if one.__module__.partition(".")[0] == _PACKAGE]
    declared = [item for one in ours for item in inspect.get_annotations(one).items()]
    return frozenset(
        name
        for name, hint in declared
        if (name.startswith("_") or name.endswith("_")) and not str(hint).startswith("ClassVar")
    )


def _on_a_draft(
    fit: Method[Model, Parameters, Returned], *, goes_on: bool
) -> Method[Model, Parameters, Returned]:
    @functools.wraps(fit)
    def run(self: Model, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        kind = type(self)
        former = frozenset[str]() if goes_on else fitted_names(kind)  # type: ignore[arg-type]
        draft = object.__new__(kind)
        begun = {name: value for name, value in vars(self).items() if name not in former}
        vars(draft).update(begun)
        returned = fit(draft, *args, **kwargs)
        _adopt(self, draft, begun, former)
        return self if returned is draft else returned  # type: ignore[return-value]

    run._works_on_a_draft = True  # type: ignore[attr-defined]
    return run


def _adopt(model: Any, draft: Any, begun: dict[str, Any], former: frozenset[str]) -> None:
    """Give the model what its draft has got, in place of what a former fit had left, at once.

    What a callback has meanwhile set on the model itself stays.
    """
    found, missing = vars(draft), object()
    gone = former | (begun.keys() - found.keys())
    kept = {name: value for name, value in vars(model).items() if name not in gone}
    new = {name: value for name, value in found.items() if begun.get(name, missing) is not value}
    model.__dict__ = kept | new
