"""Estimators: their name, their parameters, what they learnt."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline

from ..checks import FileError, InputTypeError, nearest, sentence, show
from ..grams import Gram
from ..kernels import Kernel
from ..monitor import Monitor
from .context import LoadContext, SaveContext
from .parts import set_attribute
from .records import estimators, name_of
from .schema import check_model
from .scikit_learn.composition import (
    pack_column_transformer,
    pack_pipeline,
    unpack_column_transformer,
    unpack_pipeline,
)
from .scikit_learn.preprocessing import BY_KIND, BY_NAME, check_preprocessor
from .values import Fields, pack_value, register, unpack_value

_PREDICTING = ("kernel", "loss", "weights")  # parameters that may be functions, and predict
# Where scikit-learn keeps what belongs to the process and not to a model.
_FOREIGN = {"_metadata_request", "_skl_callbacks", "_parent_callback_ctx"}


def pack_model(model: Any, packing: SaveContext) -> Fields:
    """Return what `save` is given: an estimator of mercer, or a pipeline that ends in one."""
    last = model.steps[-1][1] if type(model) is Pipeline and model.steps else model
    if type(last) not in estimators().values():
        must = "the model must be an estimator of mercer itself, or a Pipeline that ends in one"
        got = f"{show(last)} ({type(last).__module__}.{type(last).__qualname__})"
        advice = "A class of your own can be pickled, but a model file cannot name it."
        raise InputTypeError(sentence("save", must, got, advice))
    return pack_estimator(model, packing)


def pack_estimator(model: Any, packing: SaveContext, where: str = "") -> Fields:
    """Return an estimator as JSON data."""
    name = name_of(type(model))
    if name is None:
        packing.uses_scikit_learn = True
        if type(model) is Pipeline:
            return pack_pipeline(model, packing, where)
        if type(model) is ColumnTransformer:
            return pack_column_transformer(model, packing, where)
        if type(model) not in BY_KIND:
            raise _refusal(model, where)
        name = type(model).__name__
    parameters = _kept_parameters(model, packing, where)
    state = _state(model)
    packed = {
        "estimator": name,
        "parameters": {
            key: pack_value(value, packing, f"{where}parameters.{key}")
            for key, value in parameters.items()
        },
        "state": {
            key: pack_value(value, packing, f"{where}state.{key}") for key, value in state.items()
        },
    }
    _check(model, parameters, state, packing.fail)
    return packed


def _refusal(model: Any, where: str) -> FileError:
    names = ", ".join((*BY_NAME, "ColumnTransformer", "Pipeline"))
    must = f"{where.rstrip('.') or 'it'} must be an estimator of mercer or one of {names}"
    got = f"{show(model)} ({type(model).__module__}.{type(model).__qualname__})"
    advice = "In a kernel, .of(function) with a function of yours is saved by its name."
    if isinstance(model, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        advice = "Fit without trees, allow_trees=False, or pickle the model."
    return FileError(sentence("save", must, got, advice))


def _check(model: Any, parameters: Any, state: Any, fail: Any) -> None:
    table = check_preprocessor if type(model) in BY_KIND else check_model
    table(model, parameters, state, fail)


def _kept_parameters(model: Any, packing: SaveContext, where: str) -> dict[str, Any]:
    """Return the parameters; what only another `fit` would use and no file can hold is None."""
    parameters = dict(model.get_params(deep=False))
    if parameters.pop("checkpoint", None) is not None:  # a path of the machine that fitted
        packing.left_out.append(f"{where}parameters.checkpoint")
    for key, value in parameters.items():
        if key not in _PREDICTING and _serves_fitting(value):
            packing.left_out.append(f"{where}parameters.{key}")
            parameters[key] = None
    return parameters


def _state(model: Any) -> dict[str, Any]:
    """Return what the model learnt, in one order."""
    learnt = set(vars(model)) - set(model.get_params(deep=False))
    state = {key: vars(model)[key] for key in sorted(learnt)}
    return {key: value for key, value in state.items() if not _is_passing(key, value)}


def _serves_fitting(value: Any) -> bool:
    """Return whether this is a callback, a scorer, a random generator, a splitter or a monitor.

    So is a data frame, in the place of a parameter: its rows are among what the fit has kept.
    """
    random = isinstance(value, np.random.RandomState | np.random.Generator | np.random.BitGenerator)
    splitter = hasattr(value, "get_n_splits")
    function = callable(value) and not isinstance(value, type | Kernel)
    frame = hasattr(value, "columns") and hasattr(value, "shape")
    return random or splitter or function or frame or isinstance(value, Monitor)


def _is_passing(key: str, value: Any) -> bool:
    """Return whether an attribute belongs to the process: it is computed or set again."""
    return key in _FOREIGN or isinstance(value, Monitor | Gram)


def unpack_model(data: Any, unpacking: LoadContext) -> Any:
    """Return the model of a manifest, which is one that `save` takes."""
    model = unpack_estimator(data, unpacking)
    last = model.steps[-1][1] if type(model) is Pipeline else model
    if type(last) not in estimators().values():
        must = "it must hold an estimator of mercer, or a Pipeline that ends in one"
        raise unpacking.fail(must, show(last))
    return model


def unpack_estimator(data: Any, unpacking: LoadContext) -> Any:
    """Return the estimator of JSON data."""
    name = unpacking.get(data, "estimator", str)
    if name == "Pipeline":
        return unpack_pipeline(data, unpacking)
    if name == "ColumnTransformer":
        return unpack_column_transformer(data, unpacking)
    kind = estimators().get(name) or (BY_NAME[name].kind if name in BY_NAME else None)
    if kind is None:
        must = "its estimator must be one that this mercer has"
        got = f"{show(name)}, written by {show(data.get('writer'))}"
        raise unpacking.fail(must, got, nearest(name, estimators()))
    parameters = unpacking.get(data, "parameters", dict)
    known = set(inspect.signature(kind).parameters)
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise unpacking.fail(f"the parameters of {name} are {', '.join(sorted(known))}", unknown[0])
    given = {key: unpack_value(value, unpacking) for key, value in parameters.items()}
    model = kind(**given)
    state = unpacking.get(data, "state", dict)
    for key, value in state.items():
        set_attribute(model, key, unpack_value(value, unpacking), unpacking)
    _check(model, given, {key: vars(model)[key] for key in state}, unpacking.fail)
    return model


register(
    "estimator",
    lambda value: isinstance(value, BaseEstimator),
    lambda model, packing, where: pack_estimator(model, packing, f"{where}."),
    unpack_estimator,
)
