"""What the automatic learners share: encoders, the race, the ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ... import checks
from ...checks import Array, InputError, sentence
from ...grams import limited_threads
from ...kernels import Kernel
from ...models.base import Certificate, KernelEstimator
from ...models.contract.parameters import check_parameters, run_of
from ...monitor import muted
from ...run import Run
from ...status import Status
from ...typing import PointsLike
from ..encoder import TableEncoder
from ..encoder.columns.table import Table, read_table
from ..race.contest import FoldRace, HoldoutRace, Race
from ..race.holdout import HoldoutJudge, size_for
from ..race.judging import FoldJudge, Judge, Judged, scores_of
from ..race.pace import Limits
from ..race.portfolio import VIEWS
from ..race.splits import Splits, make_splits
from ..race.tasks import Task, loss_of
from ..race.views import TableView
from .baselines import BASELINES, baseline_values, leaking_columns
from .honest import OutOfSample
from .leaderboard import Leaderboard, Placed
from .members import HasMembers, Member, fit_members
from .rows import sample_rows
from .scoring import measure_of

SPLITS = ("auto", "time")
ROWS_PER_SECOND = 10_000  # of the time limit, that a table may have; of more a part is taken
FEWEST_ROWS = 1000  # that are taken in any case


@dataclass(frozen=True, kw_only=True)
class AutoCertificate(Certificate):
    """What an automatic fit came to, and what it cost.

    Attributes
    ----------
    status : str
        "complete" if all candidates were judged, "time limit" if the clock ended the race,
        "cancelled" if the callback did.
    plan : str
        How candidates were judged.
    kernel_entries : int
        Number of kernel values of the members.
    bytes : int
        Bytes of the encoded tables.
    seconds : float
        Time that the fit took.
    loss : float
        The loss on rows that neither the members have seen nor their weights were chosen on.
    candidates : int
        How many candidates were judged.
    skipped : tuple of str
        Kinds of candidates for which there was no time.
    """

    loss: float
    candidates: int
    skipped: tuple[str, ...]


class AutoKernel(HasMembers, BaseEstimator):  # type: ignore[misc]
    """An ensemble of kernel models for a table, found within a time limit."""

    time_limit: float | None
    max_candidates: int | None
    scoring: Any
    split: str
    types: Any
    allow_trees: bool
    refit: bool
    memory_limit: Any
    n_jobs: int | None
    leaderboard_: Leaderboard
    baselines_: dict[str, float]
    out_of_sample_: OutOfSample
    notes_: tuple[str, ...]
    kernel_: Kernel
    certificate_: AutoCertificate
    n_features_in_: int
    feature_names_in_: Array
    _measure: ClassVar[str]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # --- fit --------------------------------------------------------------------------------

    def _begin(self) -> tuple[Run, Limits]:
        """Return the run and its limits; its clock starts now."""
        check_parameters(self)
        who = type(self).__name__
        checks.one_of(who, "split", self.split, SPLITS)
        most = self.max_candidates
        if most is not None:
            most = checks.whole(who, "max_candidates", most, least=1)
        run = run_of(self)
        if most is not None:
            run.monitor.time_limit = None
        return run, Limits(monitor=run.monitor, candidates=most)

    def _kept(
        self, n: int, weight: Array | None, codes: Array | None, limits: Limits, run: Run
    ) -> Array:
        """Return the rows with a weight, as many as the time is long enough for."""
        self.notes_ = ()
        kept = np.arange(n) if weight is None else np.flatnonzero(weight)
        if len(kept) < 2:
            must = "there must be at least two rows with a weight"
            raise InputError(sentence(run.who, must, f"{len(kept)} sample(s)"))
        most = np.inf if limits.seconds is None else int(ROWS_PER_SECOND * limits.seconds)
        if len(kept) <= max(most, FEWEST_ROWS):
            return kept
        some = sample_rows(kept, codes, max(int(most), FEWEST_ROWS), self.split, run.seed)
        self.notes_ = (f"{len(some)} of {len(kept)} rows were used, for lack of time.",)
        return some

    def _encode_table(self, table: Table) -> dict[str, Array]:
        """Return the matrices of all views of the training table."""
        self.encoders_, found = {}, {}
        for name in VIEWS:
            encoder = TableEncoder(numbers=name, types=self.types)  # type: ignore[arg-type]
            found[name] = encoder.fit_transform(table).astype(np.float32)
            self.encoders_[name] = encoder
        first = self.encoders_[VIEWS[0]]
        self.n_features_in_ = first.n_features_in_
        if hasattr(first, "feature_names_in_"):
            self.feature_names_in_ = first.feature_names_in_
        return found

    def _splits(self, kept: Array, codes: Array | None, groups: Array | None, run: Run) -> Splits:
        """Return who may see what, among the rows that are kept."""
        some = None if groups is None else groups[kept]
        if some is not None and len(np.unique(some)) < 2:
            raise InputError(sentence(run.who, "groups must name at least two groups", "one"))
        return make_splits(len(kept), codes, some, self.split == "time", run.seed)

    def _learn(
        self, table: Table, task: Task, splits: Splits, *, kept: Array, run: Run, limits: Limits
    ) -> None:
        """Run the race and fit the members; kept: the rows of the table in X of the user."""
        encoded = self._encode_table(table)
        views = {name: TableView(X) for name, X in encoded.items()}
        with limited_threads(run.n_jobs, run.who):
            judge, race = self._race(task, views, splits, run, limits)
            self._warn_of_leaks(encoded, task, run)
            ensemble = race.run().ensemble(judge, bool(self.allow_trees))
            # The members are fitted in any case.
            unlimited = judge.without_limit()
            self.members_ = fit_members(unlimited, ensemble.chosen, limits, bool(self.refit))
        baselines = baseline_values(judge, race.results.ranked())
        self.out_of_sample_ = OutOfSample(
            rows=kept[splits.rows], values=ensemble.values, baselines=baselines
        )
        self._note(judge, race, ensemble.loss)

    def _race(
        self,
        task: Task,
        views: dict[str, TableView],
        splits: Splits,
        run: Run,
        limits: Limits,
    ) -> tuple[Judge, Race]:
        if len(splits.parts) > 1:
            folds = FoldJudge(task=task, views=views, splits=splits, run=run)
            return folds, FoldRace(judge=folds, limits=limits)
        size = size_for(len(splits.parts[0][0]), limits.seconds)
        aside = HoldoutJudge(task=task, views=views, splits=splits, run=run, size=size)
        return aside, HoldoutRace(judge=aside, limits=limits)

    def _warn_of_leaks(self, encoded: dict[str, Array], task: Task, run: Run) -> None:
        for name in leaking_columns(self.encoders_[VIEWS[0]], encoded[VIEWS[0]], task):
            must = "a column must not give the target away"
            advice = "This looks like a leak: if it is not known before the target, drop it."
            run.warn(sentence(run.who, must, f"{name!r}, which determines y", advice))

    def _note(self, judge: Judge, race: Race, loss: float) -> None:
        """Set what tells of the race; loss: of the ensemble."""
        run = judge.run
        used = {member.name: member.weight for member in self.members_}
        judged = race.results.ranked()
        lines = tuple(_placed(judge, one, used.get(one.name, 0.0)) for one in judged)
        measure = measure_of(self.scoring, self._measure)
        self.leaderboard_ = Leaderboard(measure=measure, lines=lines)
        self.baselines_ = {
            name: loss_of(judge.task, values, judge.splits.rows)
            for name, values in self.out_of_sample_.baselines.items()
        }
        self.notes_ = self._sentences(race, loss)
        self.kernel_ = _first_kernel(self.members_, race)
        self.certificate_ = AutoCertificate(
            status=_status(race),
            plan=f"{len(judged)} candidates, {_how(judge)}",
            kernel_entries=sum(_entries(member) for member in self.members_),
            bytes=sum(view.X.nbytes for view in judge.views.values()),
            seconds=run.seconds,
            loss=loss,
            candidates=len(judged),
            skipped=tuple(sorted(race.skipped)),
        )

    def _sentences(self, race: Race, loss: float) -> tuple[str, ...]:
        """Return what a user should know, in sentences."""
        found = [*self.notes_, *self.encoders_[VIEWS[0]].notes_]
        for name, words in BASELINES.items():
            if self.baselines_.get(name, np.inf) <= loss:
                found.append(
                    f"{words} reached a {self.leaderboard_.measure} of "
                    f"{self.baselines_[name]:.4g} on the same rows, the ensemble {loss:.4g}."
                )
        if race.cancelled:
            found.append("The callback ended the race.")
        if race.skipped:
            found.append(f"There was no time for all of: {', '.join(sorted(race.skipped))}.")
        return tuple(found)

    # --- predict ----------------------------------------------------------------------------

    def _average(self, X: PointsLike) -> Array:
        """Return the weighted mean of the values of the members."""
        check_is_fitted(self)
        encoded: dict[str, Array] = {}
        table = read_table(X, type(self).__name__)
        for name in sorted({member.view for member in self.members_}):
            with muted() if encoded else nullcontext():  # one warning is enough
                encoded[name] = self.encoders_[name].transform(table).astype(np.float32)
        with limited_threads(self.n_jobs, type(self).__name__):
            values = [
                member.weight * self._values(member, scores_of(member.model, encoded[member.view]))
                for member in self.members_
            ]
        return np.asarray(sum(values))

    def _values(self, member: Member, scores: Array) -> Array:
        raise NotImplementedError


def _status(race: Race) -> Status:
    if race.cancelled:
        return Status.CANCELLED
    return Status.TIME_LIMIT if race.skipped else Status.COMPLETE


def _placed(judge: Judge, one: Judged, weight: float) -> Placed:
    return Placed(
        name=one.name,
        loss=one.loss,
        weight=weight,
        seconds=one.seconds,
        kernel=repr(judge.kernel_of(one.candidate)),
        penalty=one.candidate.penalty,
    )


def _entries(member: Member) -> int:
    model = member.model
    return model.certificate_.kernel_entries if isinstance(model, KernelEstimator) else 0


def _first_kernel(members: Sequence[Member], race: Race) -> Kernel:
    """Return the kernel of the heaviest kernel model; of the best one where there are none."""
    found = [m.model.kernel_ for m in members if isinstance(m.model, KernelEstimator)]
    if found:
        return found[0]
    best = race.results.kernel_models()[0].candidate
    return race.judge.views[best.view].kernel(best.family, best.width)


def _how(judge: Judge) -> str:
    parts = judge.splits.parts
    if judge.splits.one_by_one:
        return f"each row left out in closed form, or in {len(parts)} folds"
    if len(parts) > 1:
        return f"in {len(parts)} folds"
    return f"on {len(parts[0][1])} rows kept aside"
