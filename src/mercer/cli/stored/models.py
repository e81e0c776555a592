"""Model files as commands take them, and what can be said of a model."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from ...checks import InputError, nearest
from ...files import ModelCard, load, read_card
from ..errors import data_error, usage
from ..outputs import STANDARD


@dataclass(frozen=True, kw_only=True, eq=False)
class Stored:
    """A model that was read from a file, with its card if it has one."""

    path: str
    model: Any
    card: ModelCard | None
    size: int

    @property
    def last(self) -> Any:
        """The model itself, without what stands before it in a pipeline."""
        return self.model.steps[-1][1] if isinstance(self.model, Pipeline) else self.model

    @property
    def is_classifier(self) -> bool:
        """Whether it names classes."""
        return bool(is_classifier(self.last))

    @property
    def is_regressor(self) -> bool:
        """Whether it predicts numbers."""
        return bool(is_regressor(self.last))

    @property
    def points(self) -> str:
        """The kind of data that it takes; empty where nothing says so."""
        return "" if self.card is None else self.card.points

    @property
    def columns(self) -> list[str] | None:
        """The names of the columns that it was fitted to; None where they have none."""
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    @property
    def needed(self) -> set[str]:
        """The names of the columns without which it cannot predict."""
        unused = set()
        if self.card is not None:
            unused = {column.name for column in self.card.columns if column.kind == "drop"}
        return set(self.columns or ()) - unused


def read_model(path: str, who: str) -> Stored:
    """Read a model file; - is standard input."""
    if path == STANDARD:
        data: Any = sys.stdin.buffer.read()
        return Stored(path=path, model=load(data), card=read_card(data), size=len(data))
    import os

    try:
        size = os.path.getsize(path)
        card = read_card(path)
        return Stored(path=path, model=load(path), card=card, size=size)
    except FileNotFoundError:
        folder = os.path.dirname(path) or "."
        known = os.listdir(folder) if os.path.isdir(folder) else []
        advice = nearest(os.path.basename(path), known)
        raise data_error(
            who, "the model must be a file", f"{path!r}, which is not there", advice
        ) from None
    except OSError as error:
        got = f"{path!r}: {error.strerror or error}"
        raise data_error(who, "the model must be a readable file", got) from None


def require_predictor(stored: Stored, who: str) -> None:
    """Refuse a model that predicts nothing, such as an encoder."""
    if not hasattr(stored.model, "predict"):
        must = "the model must be one that predicts"
        raise usage(who, must, type(stored.last).__name__)


def chances(stored: Stored, who: str) -> Any:
    """Return the method that gives probabilities, or say that there is none."""
    try:
        return stored.model.predict_proba
    except (AttributeError, InputError):
        must = "the model must give probabilities for --proba"
        advice = (
            "Classifiers do that mercer fit has made, except perceptrons, prototypes and the like."
        )
        raise usage(who, must, f"{type(stored.last).__name__}, which does not", advice) from None


def class_names(stored: Stored) -> list[str]:
    """Return the classes as texts."""
    return [str(one) for one in np.asarray(stored.last.classes_).tolist()]
