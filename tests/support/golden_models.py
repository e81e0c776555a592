"""Model files of every estimator as this release wrote them, with what the models answered.

`python tests/support/golden_models.py` writes those that are not there yet into tests/files/golden.
Files that are there are never written again: they stand for what users have on disk.
"""

import warnings
from pathlib import Path

import numpy as np
import scipy.sparse
from file_models import models
from sklearn.pipeline import Pipeline

from mercer.files import save

FOLDER = Path(__file__).parent.parent / "files" / "golden" / "models-0.1"
METHODS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")


def few_of(points):
    """A few points to ask a model about."""
    if isinstance(points, np.ndarray) or scipy.sparse.issparse(points):
        return points[:3]
    return points.iloc[:3] if hasattr(points, "iloc") else points[:3]


def answers(model, few):
    """What a model says of a few points, by the method that says it."""
    found = {}
    last = model[-1] if isinstance(model, Pipeline) else model
    if not hasattr(last, "certificate_"):
        return found
    for name in METHODS:
        if hasattr(model, name):
            answer = getattr(model, name)(few)
            answer = np.asarray(answer.toarray() if scipy.sparse.issparse(answer) else answer)
            found[name] = answer.astype(str) if answer.dtype.kind == "O" else answer
    return found


def known_models():
    """Names, models and points; a name is that of its file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are fitted to too few points on purpose
        for name, model, points in models(short=True):
            yield name.strip("_").replace(" ", "-").replace("_", "-"), model, points


def write():
    """Write the files that are missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, model, points in known_models():
        path = FOLDER / f"{name}.mercer"
        if not path.exists():
            save(model, path)
            np.savez_compressed(path.with_suffix(".npz"), **answers(model, few_of(points)))


if __name__ == "__main__":
    write()
