"""Estimators: their name, their parameters, what they learnt."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..checks import InputTypeError, nearest, sentence, show
from ..grams import Gram
from ..kernels import Kernel
from ..monitor import Monitor
from .parcel import Packing, Unpacking
from .parts import set_attribute
from .records import estimators
from .schema import check_model
from .values import Fields, pack_value, register, unpack_value

_PREDICTING = ("kernel", "loss", "weights")  # parameters that may be functions, and predict
# Where scikit-learn keeps what belongs to the process and not to a model.
_FOREIGN = {"_metadata_request", "_skl_callbacks", "_parent_callback_ctx"}


def pack_estimator(model: Any, packing: Packing, where: str = "") -> Fields:
    """Return an estimator as JSON data."""
    name = type(model).__name__
    if estimators().get(name) is not type(model):
        must = "the model must be an estimator of mercer itself"
        got = f"{show(model)} ({type(model).__module__}.{type(model).__qualname__})"
        advice = "A class of your own can be pickled, but a model file cannot name it."
        raise InputTypeError(sentence("save", must, got, advice))
    parameters = _kept_parameters(model, packing, where)
    state = _state(model, parameters)
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
    check_model(model, parameters, state, packing.fail)
    return packed


def _kept_parameters(model: Any, packing: Packing, where: str) -> dict[str, Any]:
    """Return the parameters; what only another `fit` would use and no file can hold is None."""
    parameters = model.get_params(deep=False)
    for key, value in parameters.items():
        if key not in _PREDICTING and _serves_fitting(value):
            packing.left_out.append(f"{where}parameters.{key}")
            parameters[key] = None
    return dict(parameters)


def _state(model: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return what the model learnt, in one order."""
    state = {key: vars(model)[key] for key in sorted(set(vars(model)) - set(parameters))}
    return {key: value for key, value in state.items() if not _is_passing(key, value)}


def _serves_fitting(value: Any) -> bool:
    """Return whether this is a callback, a scorer, a random generator, a splitter or a monitor."""
    random = isinstance(value, np.random.RandomState | np.random.Generator | np.random.BitGenerator)
    splitter = hasattr(value, "get_n_splits")
    function = callable(value) and not isinstance(value, type | Kernel)
    return random or splitter or function or isinstance(value, Monitor)


def _is_passing(key: str, value: Any) -> bool:
    """Return whether an attribute belongs to the process: it is computed or set again."""
    return key in _FOREIGN or isinstance(value, Monitor | Gram)


def unpack_estimator(data: Any, unpacking: Unpacking) -> Any:
    """Return the estimator of JSON data."""
    name = unpacking.get(data, "estimator", str)
    kind = estimators().get(name)
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
    check_model(model, given, {key: vars(model)[key] for key in state}, unpacking.fail)
    return model


register(
    "estimator",
    lambda value: isinstance(value, BaseEstimator),
    lambda model, packing, where: pack_estimator(model, packing, f"{where}."),
    unpack_estimator,
)
