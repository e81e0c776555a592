"""Searching the parameters of one kind of model."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from ...files import CardScore, make_card
from ...files.records import estimators
from ...kernels import Kernel
from ...selection import PerColumn, Tuned, tune
from ..errors import usage
from ..outputs import STANDARD, check_outputs, save_model, size_text
from ..show.fitting import data_screen
from ..show.parts import figure, heading, pairs, seconds, table, with_error
from .judging import THIS
from .learning import encoded_points
from .search import shared_options
from .spaces import PLAIN, recipe_of
from .tasks import CLASSES, check_model
from .training import Columns, Reading, Training, read_training
from .wishes import Wish, splits_of

if TYPE_CHECKING:
    from ..screen import Screen

WHO = "mercer tune"
SHOWN = 10  # candidates


@dataclass(frozen=True, kw_only=True)
class TuneSettings:
    """What `mercer tune` is asked for."""

    data: str
    columns: Columns
    reading: Reading
    task: str
    model: str
    kernel: Kernel | None
    params: tuple[tuple[str, str], ...]
    method: str
    scoring: str | None
    folds: int
    iterations: int
    time_limit: float
    memory_limit: str
    max_candidates: int | None
    seed: int
    raw: bool
    out: str | None
    force: bool


def run_tuning(screen: Screen, settings: TuneSettings) -> None:
    """Search, show the best candidates, save the best model."""
    start = time.monotonic()
    check_outputs(WHO, {"--out": settings.out}, settings.force, [settings.data])
    screen.results_to_stderr = settings.out == STANDARD
    space = {name: values_of(name, text) for name, text in settings.params}
    training = read_training(settings.data, settings.columns, settings.reading, settings.task, WHO)
    check_model(settings.model, training.task.kind, settings.task, WHO)
    screen.show(*data_screen(training))
    encoder, points = encoded_points(_wish(settings, training), training.X)
    left = max(settings.time_limit - (time.monotonic() - start), 1.0)
    limit = None if settings.max_candidates is not None else left
    with screen.bar("Searching", limit):
        found = _search(settings, training, points, space, limit)
    model = found.model
    if encoder is not None:
        model = Pipeline([("columns", encoder), ("model", found.model)])
    if settings.out is not None:
        save_model(model, settings.out, _card(settings, training, model, found, screen.line))
    _show(screen, settings, found)


def _wish(settings: TuneSettings, training: Training) -> Wish:
    return Wish(
        model=settings.model,
        kind=training.task.kind,
        points=training.read.kind,
        kernel=settings.kernel,
        seed=settings.seed,
        types=training.kept_types(settings.columns.types),
        by_time=training.by_time,
        is_raw=settings.raw,
    )


def _search(
    settings: TuneSettings, training: Training, points: Any, space: Any, limit: float | None
) -> Tuned:
    wish = _wish(settings, training)
    recipe = recipe_of(wish.chosen, wish.kind, training.y)
    name = recipe.estimator(wish.kind)
    kind = estimators()[PLAIN.get(name, name)]
    options = recipe.options | shared_options(kind, settings.memory_limit, settings.seed)
    if settings.kernel is not None:
        options["kernels" if wish.chosen == "mkl" else "kernel"] = settings.kernel
    estimator = kind(**options)
    _require_known(estimator, space)
    return tune(
        estimator,
        points,
        training.y,
        space,
        cv=splits_of(wish, len(training.y), training.y, training.groups) or settings.folds,
        scoring=settings.scoring,
        method=settings.method,
        n_iter=settings.max_candidates or settings.iterations,
        time_limit=limit,
        random_state=settings.seed,
    )


def _require_known(estimator: Any, space: dict[str, Any]) -> None:
    """Refuse names that are no parameters, before any data is fitted."""
    from ...checks import nearest

    known = [name for name in estimator.get_params() if name not in ("callback", "verbose")]
    if getattr(estimator, "kernel", 0) is None:  # which stands for Gaussian()
        known.append("kernel__gamma")
    for name in space:
        if name not in known:
            must = f"--param must name a parameter of {type(estimator).__name__}"
            raise usage(WHO, must, repr(name), nearest(name, known))


def values_of(name: str, text: str) -> Any:
    """Return what of a parameter is tried."""
    each, _, rest = text.partition(":")
    if each == "each":
        low, high = _bounds(name, rest)
        return PerColumn(low, high)
    if ":" in text:
        return _bounds(name, text)
    return [_value(word.strip()) for word in text.split(",")]


def _bounds(name: str, text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        found = float(low), float(high)
    except ValueError:
        must = f"--param {name} must be LOW:HIGH with two numbers"
        raise usage(WHO, must, repr(text)) from None
    if not found[0] < found[1]:
        raise usage(WHO, f"--param {name} must have LOW below HIGH", repr(text))
    return found


def _value(word: str) -> Any:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"True": True, "False": False, "None": None}.get(word, word)


def _card(settings: TuneSettings, training: Training, model: Any, found: Tuned, line: str) -> Any:
    score = CardScore(
        model=THIS,
        measure=measure_of(settings, training),
        value=found.score,
        better="higher",
        how=f"the best of {len(found.table['params'])} candidates on rows that it had not seen, "
        "a little too good since it was chosen by that",
    )
    return make_card(
        model,
        training.X,
        training.y,
        target=training.target,
        source="" if training.read.source == STANDARD else training.read.source,
        sha256=training.read.sha256,
        scores=[score] if np.isfinite(found.score) else [],
        notes=[*training.notes, *training.read.notes],
        command=line,
        seed=settings.seed,
    )


def measure_of(settings: TuneSettings, training: Training) -> str:
    """Return what the scores of a search are called."""
    usual = "accuracy" if training.task.kind == CLASSES else "R²"
    return settings.scoring or usual


def _show(screen: Screen, settings: TuneSettings, found: Tuned) -> None:
    names = list(found.params)
    scores = np.asarray(found.table["mean_test_score"])
    spread = np.asarray(found.table["std_test_score"])
    order = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), kind="stable")
    has_folds = bool((spread > 0).any())
    rows = [
        [with_error(float(scores[place]), float(spread[place]) if has_folds else None)]
        + [_text(found.table["params"][place][name]) for name in names]
        for place in order[:SHOWN]
    ]
    facts = [("best", ", ".join(f"{name}={_text(found.params[name])}" for name in names))]
    facts.append(("time", seconds(found.seconds)))
    if settings.out is not None and settings.out != STANDARD:
        facts.append(("model", f"{settings.out} ({size_text(settings.out)})"))
    screen.show(
        heading("Candidates", f"the best of {len(scores)}, by {found.method}, {found.status}"),
        table(["score ± over folds" if has_folds else "score", *names], rows, right=(0,)),
        "",
        pairs(facts),
    )
    screen.result |= {
        "params": {name: _plain(value) for name, value in found.params.items()},
        "score": found.score,
        "method": found.method,
        "status": str(found.status),
        "candidates": [
            {
                "params": {k: _plain(v) for k, v in found.table["params"][place].items()},
                "score": scores[place],
                "deviation": spread[place],
            }
            for place in order
        ],
        "seconds": found.seconds,
        "out": settings.out,
    }


def _text(value: Any) -> str:
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, tuple | list | np.ndarray):
        return f"({', '.join(figure(float(one), 3) for one in value)})"
    return str(value)


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | tuple | list) else repr(value)
