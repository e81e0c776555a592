"""The record of what is known about a model beside the model itself."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...checks import InputError, sentence, show
from ...tables.encoder.columns import DATE, DROP, KINDS, NUMBER
from ...typing import PointsLike
from . import rules

TASKS = ("classification", "regression", "")
POINTS = ("table", "matrix", "strings", "trees", "graphs")
BETTER = ("higher", "lower")
_SHA256 = re.compile(r"[0-9a-f]{64}|", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class CardColumn:
    """What a card says of one column of the training rows.

    Parameters
    ----------
    name : str
        Its name; of an array x0, x1 and so on.
    kind : str
        "number", "boolean", "category", "date", "text", or "drop" for one that is not used.
    missing : float
        Share of its values that were missing.
    low : float, str or None
        The smallest number, or the earliest date as a text; None where there is no order.
    high : float, str or None
        The largest number, or the latest date as a text.
    levels : tuple of str or None
        The levels of a category; None where there are too many to list, and for other kinds.

    Examples
    --------
    >>> from mercer.files import CardColumn
    >>> CardColumn(name="area", kind="number", missing=0.0, low=18.0, high=160.0).high
    160.0
    """

    name: str
    kind: str
    missing: float
    low: float | str | None = None
    high: float | str | None = None
    levels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        rules.text("the name of a column", self.name)
        rules.word("the kind of a column", self.kind, (*KINDS, DROP))
        rules.real("the share of missing values", self.missing, 0.0, 1.0)
        if self.levels is not None:
            rules.texts("levels", self.levels, rules.LEVEL_LIMIT)
        ends = [self._end(end) for end in (self.low, self.high) if end is not None]
        if len(ends) == 1 or (ends and ends[0] > ends[1]):
            must = "the range of a column must have a low end and a high end"
            raise InputError(sentence("ModelCard", must, f"{self.low} to {self.high}"))

    def _end(self, end: float | str) -> float:
        """Return one end of the range as a number."""
        if self.kind == NUMBER:
            return rules.real("the range of a column", end)
        if self.kind == DATE:
            return rules.date_seconds(rules.date("the range of a column", end))
        must = f"a column of kind {self.kind!r} must have no range"
        raise InputError(sentence("ModelCard", must, show(end)))


@dataclass(frozen=True, kw_only=True)
class CardScore:
    """How good a model was, or one that it was compared with.

    Parameters
    ----------
    model : str
        Whose score it is, such as "this model" or "boosted trees".
    measure : str
        What was measured, such as "accuracy".
    value : float
        The score.
    error : float or None
        Its standard error; None where it is not known.
    better : {"higher", "lower"}
        Whether a higher value is better.
    how : str
        Which rows it was measured on, in words.

    Examples
    --------
    >>> from mercer.files import CardScore
    >>> score = CardScore(
    ...     model="this model", measure="accuracy", value=0.93, error=0.01, better="higher",
    ...     how="500 rows that it had not seen",
    ... )
    >>> score.value
    0.93
    """

    model: str
    measure: str
    value: float
    error: float | None = None
    better: str
    how: str

    def __post_init__(self) -> None:
        for what in ("model", "measure", "how"):
            rules.text(f"{what} of a score", getattr(self, what))
        rules.real("the value of a score", self.value)
        if self.error is not None:
            rules.real("the error of a score", self.error, 0.0, float("inf"))
        rules.word("better of a score", self.better, BETTER)


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """What a model learnt from, how good it was, and what it was not made for.

    A card is a part of a model file: `save(model, path, card=card)`, and `read_card(path)`
    without the model. Its fields are plain texts and numbers, and their number is limited, since
    a file may come from anyone.

    Parameters
    ----------
    task : {"classification", "regression", ""}
        What the model is for; empty: something else, such as clusters.
    points : {"table", "matrix", "strings", "trees", "graphs"}
        What kind of data it takes.
    rows : int
        Number of training rows.
    columns : tuple of CardColumn, default=()
        The columns of a table or of a dense matrix.
    target : str or None, default=None
        The name of what is predicted.
    target_range : tuple of two floats or None, default=None
        The smallest and the largest number to predict.
    classes : tuple of str, default=()
        The classes, as texts.
    class_rows : tuple of int, default=()
        Number of training rows of each class.
    source : str, default=""
        The name of the data file, without its folder.
    sha256 : str, default=""
        The SHA-256 of the bytes of the data, in hexadecimal digits.
    estimator : str, default=""
        The class of the model.
    kernel : str, default=""
        Its kernel as an expression.
    scores : tuple of CardScore, default=()
        How good the model is.
    baselines : tuple of CardScore, default=()
        How good simpler models are on the same rows.
    certificate : str, default=""
        How the fit ended, in words.
    figures : dict, default={}
        Numbers of the certificate, by name.
    notes : tuple of str, default=()
        What else should be known, in sentences.
    versions : dict, default={}
        Versions of mercer and of what it ran on, by name.
    command : str, default=""
        The command line that made the model.
    seed : int or None, default=None
        The seed of whatever was random.
    created : str or None, default=None
        The date; None unless it was handed in, so that the same model gives the same file.

    See Also
    --------
    mercer.files.make_card : Fills a card from a model and its training data.

    Examples
    --------
    >>> from mercer import ModelCard
    >>> from mercer.files import CardColumn
    >>> area = CardColumn(name="area", kind="number", missing=0.0, low=20.0, high=90.0)
    >>> card = ModelCard(task="regression", points="table", rows=500, columns=(area,))
    >>> for line in card.outside([{"area": 55.0}, {"area": 140.0}]):
    ...     print(line)
    Column 'area': 1 of 2 values is outside 20 to 90, the range of the training rows (up to 140).
    """

    task: str
    points: str
    rows: int
    columns: tuple[CardColumn, ...] = ()
    target: str | None = None
    target_range: tuple[float, float] | None = None
    classes: tuple[str, ...] = ()
    class_rows: tuple[int, ...] = ()
    source: str = ""
    sha256: str = ""
    estimator: str = ""
    kernel: str = ""
    scores: tuple[CardScore, ...] = ()
    baselines: tuple[CardScore, ...] = ()
    certificate: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    seed: int | None = None
    created: str | None = None

    def __post_init__(self) -> None:
        self._check_data()
        rules.text("estimator", self.estimator)
        rules.text("kernel", self.kernel, rules.COMMAND_LIMIT)
        rules.text("command", self.command, rules.COMMAND_LIMIT)
        rules.text("certificate", self.certificate)
        rules.items("scores", self.scores, CardScore)
        rules.items("baselines", self.baselines, CardScore)
        rules.texts("notes", self.notes)
        for name, figure in rules.pairs("figures", self.figures).items():
            rules.real(f"figure {name!r}", figure)
        for name, version in rules.pairs("versions", self.versions).items():
            rules.text(f"version of {name!r}", version)
        if self.seed is not None:
            rules.whole("seed", self.seed)
        if self.created is not None:
            rules.date("created", self.created)

    def _check_data(self) -> None:
        rules.word("task", self.task, TASKS)
        rules.word("points", self.points, POINTS)
        rules.whole("rows", self.rows)
        columns = rules.items("columns", self.columns, CardColumn, rules.COLUMN_LIMIT)
        if len({column.name for column in columns}) < len(columns):
            must = "every column must have a name of its own"
            raise InputError(sentence("ModelCard", must, "one given twice"))
        rules.texts("classes", self.classes, rules.CLASS_LIMIT)
        for count in rules.items("class_rows", self.class_rows, int, rules.CLASS_LIMIT):
            rules.whole("class_rows", count)
        if self.class_rows and len(self.class_rows) != len(self.classes):
            must = f"class_rows must be {len(self.classes)} numbers, one per class"
            raise InputError(sentence("ModelCard", must, len(self.class_rows)))
        if self.target is not None:
            rules.text("target", self.target)
        if self.target_range is not None:
            ends = rules.items("target_range", self.target_range, float, 2)
            if len(ends) != 2 or rules.real("target_range", ends[0]) > rules.real("", ends[1]):
                must = "target_range must be the smallest and the largest number"
                raise InputError(sentence("ModelCard", must, show(ends)))
        source = rules.text("source", self.source)
        if "/" in source or "\\" in source:
            must = "source must be the name of a file without its folder"
            raise InputError(sentence("ModelCard", must, show(source)))
        if not _SHA256.fullmatch(rules.text("sha256", self.sha256)):
            must = "sha256 must be 64 hexadecimal digits, or empty"
            raise InputError(sentence("ModelCard", must, show(self.sha256)))

    def outside(self, X: PointsLike) -> list[str]:
        """Tell which columns of new rows hold what the training rows did not.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The new rows. Other data has no columns, and nothing is said of it.

        Returns
        -------
        list of str
            One sentence for each column with numbers beyond the range of the training rows, with
            levels that they did not have, or with missing values where they had none.
        """
        from .outside import Outside  # which knows this record

        watch = Outside(self)
        watch.add(X)
        return watch.sentences()

    def as_dict(self) -> dict[str, Any]:
        """Return the card as data of JSON.

        Returns
        -------
        dict
            Its fields by name, with lists in the place of tuples.
        """
        found: dict[str, Any] = _plain(dataclasses.asdict(self))
        return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value
