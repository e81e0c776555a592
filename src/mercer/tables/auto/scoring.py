"""What a user wants an ensemble to be chosen by: scorers of scikit-learn as losses."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.metrics import check_scoring

from ...checks import Array, InputError, sentence, show
from ...fitting.cross_validation import HeldOut, as_score, weight_option
from ...typing import Scoring


def loss_of(
    who: str, scoring: Scoring, known: HeldOut, truth: Array, weight: Array | None
) -> float:
    """Return the negative score of known predictions; infinity where it is not defined."""
    scorer = check_scoring(known, scoring)
    option = weight_option(scorer, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some scores are not defined for some rows
        try:
            found = scorer(known, np.arange(len(truth)), truth, **option)
        except ValueError as error:
            must = "scoring must be one for targets of this kind"
            raise InputError(sentence(who, must, f"{show(scoring)} ({error})")) from None
    loss = -as_score(who, found)
    return np.inf if np.isnan(loss) else loss


def measure_of(scoring: Scoring, usual: str) -> str:
    """Return what losses are called; usual: the name where no scoring is given."""
    if scoring is None:
        return usual
    name = scoring if isinstance(scoring, str) else "score"
    return name.removeprefix("neg_") if name.startswith("neg_") else f"-{name}"
