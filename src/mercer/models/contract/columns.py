"""The columns of a table of points: how many there are, and what they are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names, validate_data

from ...checks import InputError
from ...monitor import warn


def note_columns(model: Any, X: Any) -> None:
    """Note the number of columns that a model is fitted on, and their names if they have any."""
    if type(X) is np.ndarray:  # which has no names
        model.n_features_in_ = X.shape[1]
        vars(model).pop("feature_names_in_", None)
        return
    validate_data(model, X, skip_check_array=True, reset=True)


def check_columns(model: Any, X: Any, width: int) -> None:
    """Refuse columns that are not those of the fit; warn where only one of both has names.

    The words are scikit-learn's; its own warnings would point into its files.
    """
    who, known = type(model).__name__, getattr(model, "n_features_in_", width)
    names, fitted = _get_feature_names(X), getattr(model, "feature_names_in_", None)
    if names is not None and fitted is not None:
        validate_data(model, X, skip_check_array=True, reset=False)
        return
    if width != known:
        got = f"X has {width} features, but {who} is expecting {known} features as input."
        raise InputError(got)
    if names is not None:
        warn(f"X has feature names, but {who} was fitted without feature names")
    elif fitted is not None:
        warn(f"X does not have valid feature names, but {who} was fitted with feature names")
