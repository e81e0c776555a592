"""From a data file to a saved model, its card and its report."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...files import ModelCard, make_card
from ...kernels import Kernel
from ..errors import Exit, data_error
from ..outputs import STANDARD, check_outputs, default_name, save_model, size_text, writing
from ..show.fitting import (
    data_screen,
    files_screen,
    findings_screen,
    model_screen,
    notes_screen,
    verdict_screen,
)
from ..show.parts import figure, rounded, seconds
from .judging import card_scores, judge, judgement_json, words
from .learning import Learned, learn, members_of, unconverged
from .search import LEAST_SECONDS
from .tasks import CLASSES, check_model
from .training import Columns, Reading, Training, read_training
from .wishes import Wish

if TYPE_CHECKING:
    from ...report import Finding, Report
    from ...report.measure.verdict import Judgement
    from ..screen import Screen

REPORT_SHARE = 0.25  # of the time limit
MOST_REPORT = 60.0  # seconds
DRAWING, DRAWING_SHARE = 9.0, 0.15  # seconds, at most this share: to draw, save and end late
JUDGE_SHARE = 0.2  # of the time limit, where models must be fitted again to be judged
MOST_COLUMNS = 8000  # of a table, which a model file describes one by one
SHORT = 60  # characters of a kernel on the screen


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """What `mercer fit` is asked for."""

    data: str
    columns: Columns
    reading: Reading = field(default_factory=Reading)
    task: str = "auto"
    model: str = "auto"
    kernel: Kernel | None = None
    time_limit: float = 60.0
    memory_limit: str = "auto"
    max_candidates: int | None = None
    seed: int = 0
    raw: bool = False
    strict: bool = False
    force: bool = False
    out: str | None = None
    report: str | None = None
    no_report: bool = False
    who: str = "mercer fit"

    def with_names(self) -> FitSettings:
        """Return the settings with names of files where none were given."""
        out = self.out or default_name(self.data, ".mercer")
        page = self.report
        if page is None and not self.no_report:
            stem = default_name(self.data, "") if out == STANDARD else out.removesuffix(".mercer")
            page = f"{stem}-report.html"
        return replace(self, out=out, report=None if self.no_report else page)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """What came of it."""

    settings: FitSettings
    training: Training
    model: Any
    card: ModelCard
    judgement: Judgement | None
    notes: list[str]
    findings: tuple[Finding, ...]
    seconds: float


class FitJob:
    """One run of `mercer fit`."""

    def __init__(self, screen: Screen, settings: FitSettings, *, has_nexts: bool = True) -> None:
        self.has_nexts = has_nexts
        self.screen, self.settings = screen, settings.with_names()
        self.who = settings.who

    def run(self) -> Fitted:
        """Read, fit, judge, save, report; show each step."""
        settings, screen = self.settings, self.screen
        twin = None if settings.report is None else _twin(settings.report)
        outputs = {"--out": settings.out, "--report": settings.report, "the twin of --report": twin}
        check_outputs(self.who, outputs, settings.force, [settings.data])
        screen.results_to_stderr = settings.out == STANDARD
        with screen.bar(f"Reading {settings.data}"):
            training = read_training(
                settings.data, settings.columns, settings.reading, settings.task, self.who
            )
        check_model(settings.model, training.task.kind, settings.task, self.who)
        _check_width(training, self.who)
        screen.show(*data_screen(training))
        learned = self._learn(training)
        model = learned.model
        report, failure = self._report(training, model)
        judgement = self._judgement(training, model, report)
        notes = [*notes_of(model), *learned.notes]
        card = self._card(training, model, judgement, notes)
        save_model(model, settings.out or STANDARD, card)
        if failure is not None:
            self.screen.warn(f"The model is in {settings.out}, but there is no report of it.")
            raise failure
        if report is not None and settings.report is not None:
            with writing():
                report.save(settings.report, force=True)
        fitted = Fitted(
            settings=settings,
            training=training,
            model=model,
            card=card,
            judgement=judgement,
            notes=notes,
            findings=() if report is None else report.findings,
            seconds=self._elapsed,
        )
        self._show(fitted)
        self._be_strict(model)
        return fitted

    # --- time -------------------------------------------------------------------------------

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self.screen.start

    def _reserve(self, wish: Wish) -> float:
        """Return the seconds that are kept for what comes after the fit."""
        limit = self.settings.time_limit
        kept = 0.0 if self.settings.report is None else min(REPORT_SHARE * limit, MOST_REPORT)
        return kept + (0.02 if wish.is_automatic else JUDGE_SHARE) * limit

    def _left(self, share: float = 1.0) -> float | None:
        if self.settings.max_candidates is not None:
            return None
        return max(share * (self.settings.time_limit - self._elapsed), LEAST_SECONDS)

    # --- steps ------------------------------------------------------------------------------

    def _learn(self, training: Training) -> Learned:
        settings = self.settings
        wish = Wish(
            model=settings.model,
            kind=training.task.kind,
            points=training.read.kind,
            kernel=settings.kernel,
            memory=settings.memory_limit,
            seed=settings.seed,
            max_candidates=settings.max_candidates,
            types=training.kept_types(settings.columns.types),
            by_time=training.by_time,
            is_raw=settings.raw,
        )
        left = self._left()
        if left is not None:
            left = max(left - self._reserve(wish), 0.3 * left)
        if not self.screen.is_live and left is not None:
            self.screen.note(f"Fitting for up to {seconds(left)}.")
        with self.screen.bar("Fitting", left) as bar:
            return learn(replace(wish, seconds=left), training.X, training.y, training.groups, bar)

    def _report(self, training: Training, model: Any) -> tuple[Report | None, Exception | None]:
        """Return the report, or why there is none."""
        if self.settings.report is None:
            return None, None
        from .reporting import report_of

        left, seed = self._left(), self.settings.seed
        if left is not None:
            left = max(left - min(DRAWING, DRAWING_SHARE * self.settings.time_limit), LEAST_SECONDS)
        with self.screen.bar("Explaining", left) as bar:
            try:
                found = report_of(
                    model, training, seconds=left, seed=seed, command=self.screen.line, bar=bar
                )
                return found, None
            except Exception as error:
                return None, error

    def _judgement(self, training: Training, model: Any, report: Report | None) -> Judgement | None:
        """Return how good the model is, as the report has it where there is one."""
        found = None if report is None else report.facts.judgement
        if report is None:
            with self.screen.bar("Judging"):
                found = judge(model, training, self._left(), self.settings.seed)
        if found is None:
            self.screen.warn("There was no time to judge the model: raise --time-limit.")
        return found

    def _card(
        self, training: Training, model: Any, judgement: Judgement | None, notes: list[str]
    ) -> ModelCard:
        own, others = card_scores(judgement)
        return make_card(
            model,
            training.X,
            training.y,
            target=training.target,
            source="" if training.read.source == STANDARD else training.read.source,
            sha256=training.read.sha256,
            scores=own,
            baselines=others,
            notes=[*training.notes, *training.read.notes, *notes],
            command=self.screen.line,
            seed=self.settings.seed,
        )

    def _be_strict(self, model: Any) -> None:
        late = unconverged(model)
        if late and self.settings.strict:
            from ...checks import sentence

            must = "with --strict every fit must reach its optimum"
            text = sentence(self.who, must, ", ".join(late), "Raise --time-limit.")
            self.screen.code = Exit.NOT_CONVERGED
            self.screen.problem(text)

    # --- what is shown ----------------------------------------------------------------------

    def _show(self, fitted: Fitted) -> None:
        settings, screen, training = fitted.settings, self.screen, fitted.training
        judgement, verdict = fitted.judgement, None
        if judgement is not None:
            verdict = words(judgement, training.target, frequent_share(training))
            screen.show(*verdict_screen(judgement, verdict))
        screen.show(
            *model_screen(facts_of(fitted)),
            *findings_screen(fitted.findings),
            *notes_screen(fitted.notes),
            *files_screen(files_of(settings), nexts_of(fitted) if self.has_nexts else []),
        )
        screen.result |= {
            "data": training.read.to_dict(),
            "task": {"kind": training.task.kind, "why": training.task.why},
            "verdict": None if verdict is None else dataclasses.asdict(verdict),
            "judgement": None if judgement is None else judgement_json(judgement),
            "findings": [finding_json(one) for one in fitted.findings],
            "model": {
                "estimator": fitted.card.estimator,
                "kernel": fitted.card.kernel,
                "certificate": fitted.card.certificate,
                "converged": not unconverged(fitted.model),
                "notes": fitted.notes,
            },
            "files": {
                "model": settings.out,
                "report": settings.report,
                "report_json": None if settings.report is None else _twin(settings.report),
            },
            "seconds": self._elapsed,
        }


def _check_width(training: Training, who: str) -> None:
    """Refuse tables whose columns a model file has no room for, before anything is computed."""
    if training.read.kind == "table" and training.X.shape[1] > MOST_COLUMNS:
        must = f"a table must have at most {MOST_COLUMNS:,} columns"
        advice = "Drop columns, or write the numbers into a .npy file and fit --model ridge --raw."
        raise data_error(who, must, f"{training.X.shape[1]:,}", advice)


def _twin(page: str) -> str:
    """Return the name of the JSON that is written beside a report."""
    return f"{page.removesuffix('.html')}.json"


def finding_json(finding: Finding) -> dict[str, str]:
    """Return a finding as data of JSON."""
    names = ("code", "severity", "title", "found", "advice")
    return {name: getattr(finding, name) for name in names}


def frequent_share(training: Training) -> float | None:
    """Return the share of the most frequent class; None for numbers."""
    if training.task.kind != CLASSES:
        return None
    counts = np.unique(training.y, return_counts=True)[1]
    return float(counts.max() / counts.sum())


def notes_of(model: Any) -> list[str]:
    """Return what a model says of itself, in sentences."""
    steps = (
        [step for _, step in getattr(model, "steps", [])] if hasattr(model, "named_steps") else []
    )
    return [str(note) for one in (model, *steps) for note in getattr(one, "notes_", ())]


def facts_of(fitted: Fitted) -> list[tuple[str, str]]:
    """Return what the model is, by name."""
    card, members = fitted.card, getattr(fitted.model, "members_", None)
    found = [("learner", card.estimator)]
    if members:
        several = f"an ensemble of {len(members)} kernel models"
        what = several if len(members) > 1 else "one kernel model"
        found = [("learner", f"{card.estimator}, {what}")]
        for member in members[:3]:
            kernel = _short(rounded(repr(member.model.kernel_)))
            found.append((f"{100 * member.weight:3.0f} %", f"{member.name}  {kernel}"))
        if len(members) > 3:
            rest, others = 100 * sum(one.weight for one in members[3:]), len(members) - 3
            found.append((f"{rest:3.0f} %", f"{others} other{'s' if others > 1 else ''}"))
    else:
        found.append(("kernel", _short(rounded(card.kernel))))
        found += _penalties(members_of(fitted.model)[0])
    found.append(("certificate", card.certificate))
    found.append(("time", seconds(fitted.seconds)))
    return found


def _penalties(model: Any) -> list[tuple[str, str]]:
    found = []
    for name in ("alpha", "C", "epsilon", "n_neighbors"):
        value = getattr(model, f"{name}_", getattr(model, name, None))
        if isinstance(value, int | float | np.number) and not isinstance(value, bool):
            found.append((name, figure(float(value))))
    return found


def _short(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def files_of(settings: FitSettings) -> list[tuple[str, str]]:
    """Return where the files are."""
    found = []
    if settings.out is not None and settings.out != STANDARD:
        found.append(("model", f"{settings.out} ({size_text(settings.out)})"))
    if settings.report is not None:
        found.append(("report", f"{settings.report} ({size_text(settings.report)})"))
        found.append(("", f"{_twin(settings.report)} (the same for programs)"))
    return found


def nexts_of(fitted: Fitted) -> list[str]:
    """Return what to type next."""
    import shlex

    out = fitted.settings.out
    if out is None or out == STANDARD:
        return []
    ending = {"table": "csv", "matrix": "npy"}.get(fitted.training.read.kind, "txt")
    name = shlex.quote(out)
    model, last = fitted.model, members_of(fitted.model)[0]
    if fitted.training.task.kind == CLASSES:
        more = " --proba" if hasattr(model, "predict_proba") else ""
    else:
        is_sure = hasattr(model, "predict_interval") or hasattr(last, "_posterior")
        more = " --interval 0.9" if is_sure else ""
    return [
        f"mercer predict {name} new.{ending}{more} --out predictions.csv",
        f"mercer inspect {name}",
    ]
