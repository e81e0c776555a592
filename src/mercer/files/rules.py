"""The words in which a table says what the attributes of a model must be, and what checks them.

A rule is about one attribute: its kind, its sizes, its range. Sizes have names, such as "points" or
"classes": the first attribute that has one says how large it is, and all others must agree with it,
so that the parts of a model fit each other.
"""

from __future__ import annotations

import numbers as abstract
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ..checks import show

Size = int | str
Fail = Callable[[str, Any], Exception]
Derive = Callable[[Mapping[str, int]], int]


@dataclass
class Context:
    """A model that is being checked, and the sizes that its attributes have so far."""

    model: Any
    derived: Mapping[str, Derive] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def has(self, name: Size, size: int) -> bool:
        """Return whether a size is as known; the first to be seen is noted."""
        if isinstance(name, int):
            return name == size
        if name in self.derived:
            return self.derived[name](self.sizes) == size
        return self.sizes.setdefault(name, size) == size

    def has_shape(self, shape: tuple[int, ...], wanted: tuple[Size, ...]) -> bool:
        return len(shape) == len(wanted) and all(map(self.has, wanted, shape))


@dataclass(frozen=True)
class Rule:
    """What one value must be, in words and as a test.

    needed: when the attribute must be there; False: it may always be missing. Where it is not
    needed it is not used either, and is not checked, unless `needed` is False.
    """

    words: str
    holds: Callable[[Any, Context], bool]
    needed: Callable[[Context], bool] | bool = True


@dataclass(frozen=True, kw_only=True)
class Schema:
    """What a class must have.

    attributes: in the order in which they are checked. agree: sizes that are the same.
    derived: sizes that follow from others. parameters: those that are read after the fit.
    """

    attributes: Mapping[str, Rule]
    agree: tuple[tuple[str, str], ...] = ()
    derived: Mapping[str, Derive] = field(default_factory=dict)
    parameters: Mapping[str, Rule] = field(default_factory=dict)


def check(
    model: Any,
    schema: Schema,
    values: Mapping[str, Any],
    fail: Fail,
    sizes: Mapping[str, int] | None = None,
) -> None:
    """Refuse attributes that are missing, or not what the schema says; sizes: known before."""
    who = type(model).__name__
    context = Context(model, schema.derived, dict(sizes or {}))
    for name, rule in schema.attributes.items():
        needed = rule.needed if isinstance(rule.needed, bool) else rule.needed(context)
        if name not in values:
            if needed:
                raise fail(f"{who} must have the attribute {name}, {rule.words}", "none")
        elif needed or rule.needed is False:
            _check_one(f"{name} of {who}", values[name], rule, context, fail)
    for left, right in schema.agree:
        size = context.sizes.get(left)
        if size is not None and not context.has(right, size):
            must = f"the parts of {who} must agree in the number of {left} and {right}"
            raise fail(must, f"{size} {left}")


def check_parameters(model: Any, schema: Schema, given: Mapping[str, Any], fail: Fail) -> None:
    """Refuse parameters that methods read after the fit and that are of another kind.

    Those on which predictions depend must be there; others have their default. They come before
    the attributes, since which of those are needed may depend on them.
    """
    context = Context(model)
    for name, rule in schema.parameters.items():
        what = f"parameter {name} of {type(model).__name__}"
        if name in given:
            _check_one(what, given[name], rule, context, fail)
        elif rule.needed:
            raise fail(f"{what} must be given, {rule.words}", "none")


def _check_one(what: str, value: Any, rule: Rule, context: Context, fail: Fail) -> None:
    try:
        with np.errstate(all="ignore"):
            right = rule.holds(value, context)
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError):
        right = False  # so strange that the test itself fails
    if not right:
        known = ", ".join(f"{count} {name}" for name, count in context.sizes.items())
        raise fail(f"{what} must be {rule.words}" + (f" ({known})" if known else ""), _shown(value))


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return show(value)


# --- changes of a rule -------------------------------------------------------------------------


def optional(rule: Rule) -> Rule:
    """Return the rule for an attribute that may be missing."""
    return Rule(rule.words, rule.holds, needed=False)


def only_if(condition: Callable[[Context], bool], rule: Rule) -> Rule:
    """Return the rule for an attribute that is there, and used, under a condition."""
    return Rule(rule.words, rule.holds, needed=condition)


def or_none(rule: Rule) -> Rule:
    """Return the rule for an attribute that may be None."""
    return Rule(
        f"None or {rule.words}",
        lambda value, context: value is None or rule.holds(value, context),
        rule.needed,
    )


def either(first: Rule, second: Rule) -> Rule:
    """Return the rule of an attribute that obeys one of two."""

    def holds(value: Any, context: Context) -> bool:
        return first.holds(value, context) or second.holds(value, context)

    return Rule(f"{first.words} or {second.words}", holds, first.needed)


# --- arrays ------------------------------------------------------------------------------------


def numbers(
    *shape: Size, least: float | None = None, above: float | None = None, finite: bool = True
) -> Rule:
    """Return the rule of an array of numbers in floating point."""

    def holds(value: Any, context: Context) -> bool:
        return (
            isinstance(value, np.ndarray)
            and value.dtype in (np.float32, np.float64)
            and context.has_shape(value.shape, shape)
            and (not finite or bool(np.isfinite(value).all()))
            and (least is None or bool((value >= least).all()))
            and (above is None or bool((value > above).all()))
        )

    return Rule(_words("finite numbers" if finite else "numbers", shape, least, above), holds)


def whole(*shape: Size, below: Size | None = None) -> Rule:
    """Return the rule of an array of whole numbers from 0 on; below: a size they are less than."""

    def holds(value: Any, context: Context) -> bool:
        plain = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
        if not plain or not np.can_cast(value.dtype, np.int64):  # sums with others are whole too
            return False
        if not context.has_shape(value.shape, shape) or bool((value < 0).any()):
            return False
        most = context.sizes[below] if isinstance(below, str) else below
        return most is None or bool((value < most).all())

    return Rule(_words("whole numbers", shape, 0, None), holds)


def labels(size: Size, least: int = 2) -> Rule:
    """Return the rule of the classes of a model: distinct, in ascending order."""

    def holds(value: Any, context: Context) -> bool:
        if not isinstance(value, np.ndarray) or value.ndim != 1 or len(value) < least:
            return False
        if value.dtype.kind not in "biufUSO" or not context.has(size, len(value)):
            return False
        check_classification_targets(value)
        return np.array_equal(np.unique(value), value)

    return Rule(f"at least {least} distinct labels in ascending order", holds)


def _words(what: str, shape: tuple[Size, ...], least: float | None, above: float | None) -> str:
    size = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    bound = f" of at least {least:g}" if least is not None else ""
    bound += f" above {above:g}" if above is not None else ""
    return f"an array of {what}{bound} of shape ({size})"


# --- single values -----------------------------------------------------------------------------


def real(least: float | None = None, finite: bool = True) -> Rule:
    """Return the rule of one number."""

    def holds(value: Any, context: Context) -> bool:
        plain = isinstance(value, abstract.Real) and not isinstance(value, bool)
        return (
            plain
            and (not finite or bool(np.isfinite(float(value))))
            and (least is None or value >= least)
        )

    bound = "" if least is None else f" of at least {least:g}"
    return Rule(("a finite number" if finite else "a number") + bound, holds)


def count(least: int = 0, size: str | None = None) -> Rule:
    """Return the rule of one whole number; size: what it counts."""

    def holds(value: Any, context: Context) -> bool:
        plain = isinstance(value, abstract.Integral) and not isinstance(value, bool)
        return plain and value >= least and (size is None or context.has(size, int(value)))

    return Rule(f"a whole number of at least {least}" if size is None else f"{size}", holds)


def truth(flag: str | None = None) -> Rule:
    """Return the rule of True or False; flag: noted as a size of 1 or 0."""

    def holds(value: Any, context: Context) -> bool:
        plain = isinstance(value, bool | np.bool_)
        return plain and (flag is None or context.has(flag, int(value)))

    return Rule("True or False", holds)


def word(*allowed: str) -> Rule:
    """Return the rule of one of a few texts."""
    return Rule(
        f"one of {', '.join(map(repr, allowed))}",
        lambda value, context: isinstance(value, str) and value in allowed,
    )


def instance(*kinds: type) -> Rule:
    """Return the rule of a value of a type, as it is."""
    names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
    return Rule(names, lambda value, context: isinstance(value, kinds))


def scalar() -> Rule:
    """Return the rule of a parameter that is one thing: None, a truth value, a number, a text."""
    kinds = (type(None), bool, np.bool_, abstract.Real, str)
    return Rule("one value", lambda value, context: isinstance(value, kinds))


def anything() -> Rule:
    """Return the rule of a parameter that its own method checks: it must be there."""
    return Rule("as in its class", lambda value, context: True)


def output_config(value: Any, context: Context) -> bool:
    """Return whether this is what scikit-learn notes when set_output is called."""
    known = {"default", "pandas", "polars"}
    return isinstance(value, dict) and set(value) == {"transform"} and set(value.values()) <= known
