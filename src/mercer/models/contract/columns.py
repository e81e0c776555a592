"""The columns of a table of points: how many there are, and what they are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names, validate_data

from ...checks import InputError, sentence
from ...inputs import Matrix, RowBlocks
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


def note_columns_of_blocks(model: Any, blocks: RowBlocks) -> None:
    """Note the number and the names of the columns of blocks, as the first one shows them."""
    first = blocks.first()
    vars(model).pop("feature_names_in_", None)
    if isinstance(first, Matrix):
        model.n_features_in_ = first.n_columns
        if first.names is not None and all(isinstance(name, str) for name in first.names):
            model.feature_names_in_ = np.array(first.names, dtype=object)


def check_columns_of_blocks(model: Any, blocks: RowBlocks) -> None:
    """Refuse blocks whose columns are not those of the fit."""
    first, who = blocks.first(), type(model).__name__
    if not isinstance(first, Matrix) or not hasattr(model, "n_features_in_"):
        return
    known = getattr(model, "feature_names_in_", None)
    if first.names is None or known is None:
        check_columns(model, first.values, first.n_columns)
    elif first.names != tuple(known):
        must = f"the columns must be those of the fit, {', '.join(known)}"
        raise InputError(sentence(who, must, ", ".join(map(str, first.names))))
