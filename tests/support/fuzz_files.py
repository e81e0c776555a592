"""Mutate model files at random and use what loads: `make fuzz-files`.

Half of the mutations are blind, changes of bytes; none of them may load. The others are forged:
contents changed, digests put right. Those may load, as another model; but whatever is called then
ends in a result or in an error of mercer. With a number of mutations and a seed:

    python tests/support/fuzz_files.py 100000 0
"""

import collections
import contextlib
import io
import json
import random
import resource
import signal
import sys
import time
import traceback
import warnings

import numpy as np
import scipy.sparse
from file_models import FUNCTIONS, models
from mutants import blind, forged
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from mercer.checks import MercerError
from mercer.files import load, make_card, read_card, save
from mercer.storage import container, streams

SECONDS = 10  # that one mutation may take
METHODS = (
    "predict",
    "decision_function",
    "predict_proba",
    "predict_log_proba",
    "transform",
    "score_samples",
    "distances",
    "kneighbors",
)
# What scikit-learn says of data that its own steps and scores do not take.
TOLD = (
    "Input X contains",
    "Input contains infinity",
    "Input contains NaN",
    "Found unknown categories",
    "contains negative values",
    "strictly positive data",
)


class Slow(Exception):
    """A mutation took too long."""


class _Unknown(Exception):
    """What a call needs was not to be had, since an earlier one ended in an error of mercer."""


class _Results(dict):
    def __missing__(self, name):
        raise _Unknown(name)


class Case:
    """A model file with what it takes to mutate and to use it."""

    def __init__(self, name, model, points):
        buffer = io.BytesIO()
        save(model, buffer, card=make_card(model, points))
        self.name, self.data = name, buffer.getvalue()
        with streams.opened(self.data, name) as source:
            manifest, tensors = container.read(source, name)
        self.content = json.dumps(manifest), tensors
        self.few = _few(points)


def _few(points):
    """A few points to predict."""
    if isinstance(points, np.ndarray) or scipy.sparse.issparse(points):
        return points[:3]
    return points.iloc[:3] if hasattr(points, "iloc") else points[:3]


def cases(short=False):
    """Every model as a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [Case(*one) for one in models(short)]


def use(model, few):
    """Call whatever a model has, and return the errors of mercer in which calls ended."""
    repr(model)
    few = _named(few, model)
    found = _Results()
    calls = [
        (lambda m=name: found.update({m: getattr(model, m)(few)}))
        for name in METHODS
        if _has(model, name)
    ]
    if _has(model, "predict") and hasattr(model, "_posterior") and not hasattr(model, "classes_"):
        calls.append(lambda: model.predict(few, return_std=True))
    if _has(model, "predict") and _has(model, "score"):
        calls.append(lambda: model.score(few, _targets(found["predict"])))
    if _has(model, "inverse_transform"):
        calls.append(lambda: model.inverse_transform(found["transform"]))
    if not isinstance(model, Pipeline) and _has(model, "get_feature_names_out"):
        calls.append(model.get_feature_names_out)
    calls.append(lambda: save(model, io.BytesIO()))
    told = []
    for call in calls:
        try:
            call()
        except (MercerError, NotFittedError, _Unknown) as error:
            told.append(str(error))
        except ValueError as error:
            if not any(text in str(error) for text in TOLD):
                raise
            told.append(str(error))
    return told


def _targets(found):
    return np.nan_to_num(found) if found.dtype.kind == "f" else found


def _has(model, name):
    return callable(getattr(model, name, None))


def _named(few, model):
    """The points with the names that the model knows, so that only their number may be wrong."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and hasattr(few, "iloc") and len(names) == few.shape[1]:
        return few.set_axis(list(names), axis=1)
    return few


def run(number, seed, known, report=lambda done, counts, failures: None):
    """Try so many mutations; return what became of them, and the failures in words."""
    counts, failures = collections.Counter(), []
    originals = {case.data for case in known}
    for index in range(number):
        draw = random.Random(f"{seed} {index}")
        case, other = draw.choice(known), draw.choice(known)
        is_blind = index % 2 == 0
        if is_blind:
            data = blind(case.data, draw, other.data)
        else:
            data = forged(*case.content, draw, other.content)
        if is_blind and data in originals:
            counts["blind, nothing changed"] += 1
            continue
        outcome, failure = _try(data, case, "blind" if is_blind else "forged")
        counts[outcome] += 1
        if failure:
            failures.append(f"mutation {index} of {case.name!r}: {failure}")
            report(index + 1, counts, failures)
        if index % 1000 == 999:
            report(index + 1, counts, failures)
    return counts, failures


def _try(data, case, kind):
    """What became of one mutation, and what is wrong with that."""
    try:
        with _limited(SECONDS), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            _use_card(data, case.few)
            try:
                model = load(data, FUNCTIONS)
            except MercerError:
                return f"{kind}, refused", None
            if kind == "blind":
                return "blind, silent", "it loads"
            told = use(model, case.few)
            return f"{kind}, {'told later' if told else 'used'}", None
    except Slow:
        return f"{kind}, slow", f"more than {SECONDS} s\n{traceback.format_exc(limit=-4)}"
    except Exception as error:
        lines = "".join(traceback.format_exception(error, limit=-4))
        return f"{kind}, raw", f"{type(error).__name__}\n{lines}"


def _use_card(data, few):
    """Read the card and compare rows with it, whatever became of the model."""
    with contextlib.suppress(MercerError):
        card = read_card(data)
        if card is not None:
            card.outside(few)


@contextlib.contextmanager
def _limited(seconds):
    def stop(number, frame):
        raise Slow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def main(number=100_000, seed=0):
    """Mutate, and say what was found; the exit code tells whether anything was."""
    resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))  # a bomb must not take the machine
    start = time.monotonic()
    known = cases()
    shown = 0

    def report(done, counts, failures):
        nonlocal shown
        for failure in failures[shown:]:
            sys.stdout.write(f"{failure}\n")
        shown, seconds = len(failures), time.monotonic() - start
        sys.stderr.write(f"\r{done} of {number}, {len(failures)} failures, {seconds:.0f} s")

    counts, failures = run(number, seed, known, report)
    lines = [f"{count:8d} {outcome}" for outcome, count in sorted(counts.items())]
    sys.stdout.write("\n".join(["", f"{len(known)} model files", *lines, ""]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
