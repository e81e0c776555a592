"""Rules about what fitted estimators are made of: points, kernels, coefficients, certificates."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from .. import models
from ..checks import Array
from ..grams import Prepared
from ..inputs import Frame, GramRows, Matrix
from ..kernels import Kernel
from ..postfit.compress.record import Compression, Condensation
from ..postfit.posterior import Posterior
from ..solvers import TileCholesky
from ..status import Status
from .records import LOSSES
from .rules import (
    Context,
    Derive,
    Rule,
    Schema,
    check,
    count,
    either,
    instance,
    numbers,
    only_if,
    optional,
    or_none,
    output_config,
    real,
    scalar,
    truth,
    whole,
    word,
)

# --- sizes that follow from others -------------------------------------------------------------


def _machines(sizes: Mapping[str, int]) -> int:
    """Return how many functions a support vector classifier has."""
    k = sizes["classes"]
    if k == 2:
        return 1
    return k * (k - 1) // 2 if sizes["by pairs"] else k


def _machine_rows(sizes: Mapping[str, int]) -> int:
    """Return how many functions a support vector is part of."""
    k = sizes["classes"]
    return 1 if k == 2 else k - sizes["by pairs"]


def _class_outputs(sizes: Mapping[str, int]) -> int:
    """Return how many functions tell the classes apart."""
    k = sizes["classes"]
    return 1 if k == 2 and not sizes.get("several labels", 0) else k


DERIVED: dict[str, Derive] = {
    "machines": _machines,
    "machine rows": _machine_rows,
    "class outputs": _class_outputs,
    "slopes": lambda sizes: sizes["classes"] if sizes.get("several labels", 0) else 1,
    "leaves": lambda sizes: sizes["splits"] + 1,
    "kept": lambda sizes: max(sizes["support"], 1),  # without support one point shows the columns
}


# --- what all have in common -------------------------------------------------------------------


def _prepared(value: Any, context: Context) -> bool:
    if not isinstance(value, Prepared) or len(value) == 0:
        return False
    points = value.points
    context.sizes["points"] = len(value)
    if isinstance(points, Matrix | GramRows):
        context.sizes["columns"] = int(points.values.shape[1])
    return True


def is_kernel(value: Any, context: Context) -> bool:
    return isinstance(value, Kernel) and bool(value == context.model._prepared.kernel)


def _has_columns(context: Context) -> bool:
    return isinstance(context.model._prepared.points, Matrix | GramRows)


def _width(value: Any, context: Context) -> bool:
    # Objects have no columns: a number may be left there from an earlier fit, and is not read.
    return count(1).holds(value, context) and (
        not _has_columns(context) or context.sizes["columns"] == value
    )


def _names(value: Any, context: Context) -> bool:
    points = context.model._prepared.points
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        return False
    if isinstance(points, Frame):
        return bool(value.tolist() == list(points.names))
    texts = all(isinstance(name, str) for name in value.tolist())
    return texts and (not _has_columns(context) or len(value) == context.sizes["columns"])


def record(kind: type) -> Callable[[Any, Context], bool]:
    """Return the test of a record whose fields are of the types that its class states."""
    hints = typing.get_type_hints(kind)
    rules = {one.name: _of_hint(hints[one.name]) for one in fields(kind)}

    def holds(value: Any, context: Context) -> bool:
        return type(value) is kind and all(
            rule.holds(getattr(value, name), context) for name, rule in rules.items()
        )

    return holds


def _of_hint(hint: Any) -> Rule:
    if hint is str or hint is Status:
        return instance(hint)
    if hint is int:
        return count(-(2**63))
    if typing.get_origin(hint) is tuple:
        inner = _of_hint(typing.get_args(hint)[0])
        return Rule(
            "numbers",
            lambda value, context: (
                isinstance(value, tuple) and all(inner.holds(one, context) for one in value)
            ),
        )
    return real(finite=False)  # a certificate may say that something is unknown or unbounded


COMPRESSION = either(
    Rule("a Compression", record(Compression)), Rule("a Condensation", record(Condensation))
)


def is_whole(context: Context) -> bool:
    """Return whether a model still has the points that it was fitted on."""
    return "compression_" not in vars(context.model)


def common(certificate: type) -> dict[str, Rule]:
    return {
        "_prepared": Rule("a kernel with the points it was fitted on", _prepared),
        "kernel_": Rule("the kernel of the points", is_kernel),
        "certificate_": Rule(f"a {certificate.__name__}", record(certificate)),
        "compression_": optional(COMPRESSION),
        "n_features_in_": optional(Rule("the number of columns of the points", _width)),
        "feature_names_in_": optional(Rule("the names of the columns of the points", _names)),
        "_sklearn_output_config": optional(Rule("what set_output was told", output_config)),
    }


# --- parameters that methods read after the fit -------------------------------------------------


def _kernel_parameter(value: Any, context: Context) -> bool:
    if isinstance(value, list | tuple):
        return len(value) > 0 and all(_kernel_parameter(one, context) for one in value)
    return value is None or isinstance(value, str | Kernel) or callable(value)


KERNEL_PARAMETER = Rule("None, a name, a kernel, a function or a list of these", _kernel_parameter)
NAMED: dict[str, Rule] = dict.fromkeys(("gamma", "degree", "coef0"), optional(scalar()))
JOBS: dict[str, Rule] = {"n_jobs": optional(scalar())}


# --- functions by coefficients ------------------------------------------------------------------


def is_primal(context: Context) -> bool:
    return "coef_" in vars(context.model)


def is_dual(context: Context) -> bool:
    return not is_primal(context)


def primal(*shape: str) -> Rule:
    """Return the rule of coefficients of features, which the map of the kernel must give."""
    rule = numbers(*shape)

    def holds(value: Any, context: Context) -> bool:
        width = context.model._prepared.map_width()
        return rule.holds(value, context) and width == context.sizes["features"]

    return only_if(is_primal, Rule(f"{rule.words}, one row per feature of the kernel", holds))


def dual(*shape: str) -> Rule:
    """Return the rule of coefficients of points; beside those of features they are not read."""
    finite, any_number = numbers("points", *shape), numbers("support", *shape, finite=False)

    def holds(value: Any, context: Context) -> bool:
        if is_primal(context):
            return any_number.holds(value, context)
        return finite.holds(value, context) and context.has("support", len(value))

    return Rule(finite.words, holds)


SUPPORT = whole("support")
FLAT = truth("flat")


def _flat(context: Context) -> bool:
    return bool(context.sizes["flat"])


def by_flat(flat: Rule, table: Rule) -> Rule:
    """Return the rule of an attribute that is a vector where y was one, else a table."""

    def holds(value: Any, context: Context) -> bool:
        return (flat if _flat(context) else table).holds(value, context)

    return Rule(f"{flat.words}, or {table.words}", holds)


# --- the posterior of ridge regression ----------------------------------------------------------


def _way(*ways: str) -> Callable[[Context], bool]:
    return lambda context: context.model.way in ways


def _features(value: Any, context: Context) -> bool:
    if context.model.way == "nystrom" and not context.has("points", len(value)):
        return False
    if context.model.way == "primal" and not context.has("features", len(value)):
        return False
    return numbers("width").holds(value, context)


def _weights(value: Any, context: Context) -> bool:
    kept = context.model.way in ("cholesky", "cg")  # the points are; else their number is free
    return numbers("points" if kept else "weights", above=0).holds(value, context)


def _scale(value: Any, context: Context) -> bool:
    # One that is not a number says that no point can be left out.
    return numbers("outputs", finite=False).holds(value, context) and not (value < 0).any()


def _factors(value: Any, context: Context) -> bool:
    # A file has none: they are computed when first asked for.
    return isinstance(value, dict) and all(isinstance(f, TileCholesky) for f in value.values())


_IN_FEATURES = _way("primal", "nystrom")
POSTERIOR = Schema(
    attributes={
        "way": word("primal", "nystrom", "cholesky", "cg"),
        "intercept": truth(),
        "alphas": numbers("alphas", least=0),
        "place": whole("outputs", below="alphas"),
        "weight": or_none(Rule("a weight for each training point", _weights)),
        "scale": optional(or_none(Rule("a scale for each output", _scale))),
        "shift": only_if(_IN_FEATURES, Rule("one number per feature", _features)),
        "mean": only_if(_IN_FEATURES, Rule("one number per feature", _features)),
        "moments": only_if(_IN_FEATURES, or_none(numbers("width", "width"))),
        "total": real(0),
        "_factors": Rule("what was computed since the fit", _factors),
    }
)


class _Unfit(Exception):
    """A part of an attribute is not what it must be."""


def _posterior(value: Any, context: Context) -> bool:
    if type(value) is not Posterior:
        return False
    if not set(vars(value)) <= set(POSTERIOR.attributes):
        return False
    sizes = context.sizes | {"outputs": 1} if context.sizes.get("flat") else context.sizes
    try:
        check(value, POSTERIOR, vars(value), _unfit, sizes)
    except _Unfit:
        return False
    return True


def _unfit(must: str, got: Any) -> Exception:
    return _Unfit(must)


A_POSTERIOR = Rule("a Posterior whose parts are those of the model", _posterior)


# --- parts of one estimator only ----------------------------------------------------------------


def owners(value: Any, context: Context) -> bool:
    """Return whether every class has prototypes, which follow one another."""
    classes = context.model.classes_
    plain = isinstance(value, np.ndarray) and value.dtype == classes.dtype
    if not plain or not context.has_shape(value.shape, ("prototypes",)):
        return False
    places = np.searchsorted(classes, value)
    same = np.array_equal(classes[np.minimum(places, len(classes) - 1)], value)
    return same and np.array_equal(np.unique(places), np.arange(len(classes))) and _rising(places)


def _rising(places: Array) -> bool:
    return bool((np.diff(places) >= 0).all())


def inverse(value: Any, context: Context) -> bool:
    if type(value) is not models.KernelRidge or not hasattr(value, "_prepared"):
        return False
    points = value._prepared.points
    fits = isinstance(points, Matrix) and points.n_columns == context.sizes["components"]
    return fits and value.dual_coef_.shape[1:] == (context.sizes["columns"],)


def history(value: Any, context: Context) -> bool:
    """Return whether a history has one entry per step for each quantity."""
    names = {"objective", "gap", "weights", "solves"}
    if not isinstance(value, dict) or set(value) != names:
        return False
    columns = [value[name] for name in ("objective", "gap", "solves")]
    plain = all(isinstance(one, np.ndarray) and one.dtype.kind in "fi" for one in value.values())
    steps = len(value["solves"]) if plain and np.ndim(value["solves"]) == 1 else -1
    kernels = context.sizes["kernels"]
    return (
        plain
        and all(one.shape == (steps,) for one in columns)
        and value["weights"].shape == (steps, kernels)
    )


def loss(value: Any, context: Context) -> bool:
    return isinstance(value, str) or type(value) in LOSSES


MACHINE_DUAL = only_if(is_dual, dual("outputs"))
