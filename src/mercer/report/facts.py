"""All that a report says, as numbers and sentences: the page and its twin are made of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .clock import LeftOut
from .findings.record import Finding
from .kernel.certificate import CertificateFacts
from .kernel.facts import KernelFacts, LeaderboardFacts
from .kernel.gram import GramFacts
from .kernel.influence import Influence
from .measure.columns import Dependence, Relevances
from .measure.curves import LearningCurve, ValidationCurve
from .measure.edges import Edge
from .measure.errors import Calibration, Confusions, Residuals
from .measure.sentences import Verdict
from .measure.verdict import Judgement
from .provenance import Provenance
from .table.drift import Drift
from .table.summary import DataFacts


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """The model.

    Attributes
    ----------
    name : str
        The class of the model.
    text : str
        The model with its parameters.
    task : str
        "classification" or "regression".
    training_skill : float or None
        The skill on rows of the fit themselves, which is no measure of quality.
    notes : tuple of str
        What the model itself says.
    """

    name: str
    text: str
    task: str
    training_skill: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """Some rows of the data, as texts.

    Attributes
    ----------
    columns : tuple of str
        The columns that are shown: those that matter most.
    rows : dict of tuple of str
        The values, by the number of the row.
    """

    columns: tuple[str, ...]
    rows: dict[int, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All that a report says; a part that is left out is None or empty.

    Attributes
    ----------
    title : str
        The title.
    model : ModelFacts
        The model.
    verdict : Verdict or None
        How good it is, in words.
    judgements : tuple of Judgement
        How good it is, in numbers: on test rows, where there are any, then on held-out rows.
    findings : tuple of Finding
        What to mind, the gravest first.
    data : DataFacts
        The data.
    leaderboard : LeaderboardFacts or None
        What an automatic learner has tried.
    kernel : KernelFacts or None
        The kernel.
    certificates : tuple of CertificateFacts
        How fits have ended.
    edges : tuple of Edge
        Parameters at an end of what was tried.
    learning_curve : LearningCurve or None
        Scores by the number of rows.
    validation_curves : tuple of ValidationCurve
        Scores by penalty and width.
    residuals : Residuals or None
        Errors of numbers.
    confusions : Confusions or None
        Which classes are taken for which.
    calibration : Calibration or None
        Whether probabilities come true.
    influence : Influence or None
        The rows that matter most.
    gram : GramFacts or None
        The Gram matrix and its spectrum.
    relevances : Relevances or None
        Which columns matter.
    dependences : tuple of Dependence
        How predictions depend on columns.
    alone : dict of float
        By column, the skill of a small model that sees it only.
    drift : Drift or None
        How test rows differ from training rows.
    excerpt : Excerpt
        The rows that are named.
    provenance : Provenance
        What the report was made of.
    left_out : tuple of LeftOut
        What is not there, and why.
    """

    title: str
    model: ModelFacts
    verdict: Verdict | None
    judgements: tuple[Judgement, ...]
    findings: tuple[Finding, ...] = ()
    data: DataFacts
    leaderboard: LeaderboardFacts | None = None
    kernel: KernelFacts | None = None
    certificates: tuple[CertificateFacts, ...] = ()
    edges: tuple[Edge, ...] = ()
    learning_curve: LearningCurve | None = None
    validation_curves: tuple[ValidationCurve, ...] = ()
    residuals: Residuals | None = None
    confusions: Confusions | None = None
    calibration: Calibration | None = None
    influence: Influence | None = None
    gram: GramFacts | None = None
    relevances: Relevances | None = None
    dependences: tuple[Dependence, ...] = ()
    alone: dict[str, float] = field(default_factory=dict)
    drift: Drift | None = None
    excerpt: Excerpt
    provenance: Provenance
    left_out: tuple[LeftOut, ...] = ()

    @property
    def judgement(self) -> Judgement | None:
        """The judgement that counts: on test rows where there are any."""
        return self.judgements[0] if self.judgements else None

    @property
    def is_class(self) -> bool:
        """Whether classes are predicted."""
        return self.model.task == "classification"
