"""The encoder of tables, as a transformer of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ... import checks
from ...checks import Array, InputError, InputTypeError, sentence, show
from ...kernels import Kernel
from ...models.base import Certificate
from ...models.contract.anywhere import anywhere
from ...models.contract.atomic import atomic
from ...models.contract.records import recorded
from ...monitor import warn
from ...run import Run
from ...status import Status
from ...typing import HasArray, PointsLike
from .apply import encode_column
from .codes import METHODS, Method
from .columns import DROP, KINDS, TEXT, Table, read_table, spread_rows
from .kernel import table_kernel
from .learn import LEFT_OUT, Settings, learn_columns
from .record import TableColumn

Kind = Literal["number", "boolean", "category", "date", "text", "drop"]
ASIDE = {"kernel_", "_sklearn_output_config"}  # what an encoder within a kernel is without
SAMPLE = 1000  # rows whose distances settle the width of the kernel
WIDEST = 1024  # numbers that a column of text may become
FEWEST, MOST = 2, 10  # rows that a level must have to be kept, in small and in large tables


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """From a table of mixed columns to a matrix of numbers, on one scale, for kernel methods.

    Each column is a number, a boolean, a category, a date or a text, by a guess from its values
    that `types` overrules. Numbers are put on one scale, so that a typical difference is 1;
    categories are one-hot, so that two levels are at distance sqrt(2); dates become a number and
    points on the circles of year, week and day; texts become a few directions of their n-grams,
    as in latent semantic analysis [1]_. Missing numbers become the median, with a column that says
    so. Columns that say nothing, or the same as another one, are left out with a note. A table is
    a data frame of pandas, polars or arrow, a two-dimensional array or a list of dicts.

    Parameters
    ----------
    numbers : {"standard", "rank", "robust"}, default="standard"
        The scale of numbers: (x - mean) / deviation; normal scores of ranks, which no outlier
        stretches; or z = (x - median) / (interquartile range), drawn in as z / sqrt(1 + (z/3)**2).
    category_scale : float, default=1.0
        The size of the entries of one-hot columns.
    max_levels : int, default=50
        How many levels of a category are kept, the frequent ones; the others are taken as one.
    min_count : int or "auto", default="auto"
        How many rows a level must have to be kept; "auto" is from 2 in small tables to 10.
    dates : {"calendar", "linear"}, default="calendar"
        Whether a date is also the time of the year, of the week and of the day, where these vary.
    text : {"ngrams", "kernel"}, default="ngrams"
        Whether texts become numbers, or are left out of these and compared by a string kernel that
        is part of `kernel_`.
    text_width : int, default=32
        How many numbers a text becomes at most.
    missing : {"indicator", "fill"}, default="indicator"
        Whether a column of numbers, dates or text with missing values gets a column that says so.
    types : dict, default=None
        By the name of a column, or its position in an array, what it is: "number", "boolean",
        "category", "date", "text" or "drop".

    Attributes
    ----------
    columns_ : tuple of TableColumn
        What was found in each column, and what becomes of it.
    notes_ : tuple of str
        What was left out or grouped, and why, in sentences.
    kernel_ : Kernel
        A kernel of the table itself: a Gaussian of the encoded rows whose width is their median
        distance, with a string kernel per text where `text` is "kernel".
    certificate_ : Certificate
        What the fit cost.

    See Also
    --------
    mercer.features.Nystrom : Features of any kernel, also of `kernel_`.

    References
    ----------
    .. [1] S. Deerwester et al., "Indexing by latent semantic analysis", Journal of the American
       Society for Information Science 41, 1990.

    Examples
    --------
    >>> from mercer import TableEncoder
    >>> rows = [{"size": 3.0, "colour": "red"}, {"size": 5.0, "colour": "blue"}] * 2
    >>> encoder = TableEncoder().fit(rows)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'colour=red']
    >>> encoder.transform([{"size": 4.0, "colour": "green"}, rows[0]]).round(3)
    array([[ 0.   ,  0.   ],
           [-1.   ,  0.707]])
    """

    columns_: tuple[TableColumn, ...]
    notes_: tuple[str, ...]
    kernel_: Kernel
    certificate_: Certificate
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self,
        *,
        numbers: Method = "standard",
        category_scale: float = 1.0,
        max_levels: int = 50,
        min_count: int | Literal["auto"] = "auto",
        dates: Literal["calendar", "linear"] = "calendar",
        text: Literal["ngrams", "kernel"] = "ngrams",
        text_width: int = 32,
        missing: Literal["indicator", "fill"] = "indicator",
        types: Mapping[Any, Kind] | None = None,
    ) -> None:
        self.numbers = numbers
        self.category_scale = category_scale
        self.max_levels = max_levels
        self.min_count = min_count
        self.dates = dates
        self.text = text
        self.text_width = text_width
        self.missing = missing
        self.types = types

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: object = None) -> Self:
        """Find out what the columns of a table are, and learn their scales and levels.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The training rows.
        y : object, default=None
            Not used; present by scikit-learn's convention.

        Returns
        -------
        TableEncoder
            The fitted encoder itself.

        Raises
        ------
        InputError
            If a column cannot be read, or all columns are left out.
        """
        self._fit(self._read(X))
        return self

    @atomic
    @recorded
    def fit_transform(self, X: PointsLike, y: object = None) -> Any:
        """Fit to a table, and encode its rows.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The training rows.
        y : object, default=None
            Not used; present by scikit-learn's convention.

        Returns
        -------
        ndarray of shape (n, n_features)
            The encoded rows, in double precision.

        Raises
        ------
        InputError
            If a column cannot be read, or all columns are left out.
        """
        table = self._read(X)
        self._fit(table)
        return self._encode(table, range(len(table.columns)))

    @anywhere
    def transform(self, X: PointsLike) -> Any:
        """Encode the rows of a table.

        Columns are found by their names, where those of the fit had names: their order may be
        another one, and others are ignored with a warning. Levels that were never seen count as
        rare ones, or as no level where there are no rare ones.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n, n_features)
            The encoded rows, in double precision.

        Raises
        ------
        InputError
            If columns are missing, or hold what cannot be read as what they held in the fit.
        """
        check_is_fitted(self)
        table = self._read(X)
        return self._encode(table, self._places(table))

    def get_feature_names_out(
        self, input_features: Sequence[str] | HasArray | None = None
    ) -> Array:
        """Return the names of the columns of the matrix.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Not needed; if given it must be the names of the columns that were fitted.

        Returns
        -------
        ndarray of str
            Names such as "age", "age=missing", "colour=red" and "born=year sin".

        Raises
        ------
        InputError
            If names are given that are not those of the fit.
        """
        check_is_fitted(self)
        known = [column.name for column in self.columns_]
        given = known if input_features is None else list(map(str, np.asarray(input_features)))
        if "feature_names_in_" in vars(self) and given != known:
            must = "input_features must be equal to feature_names_in_, the columns of fit"
            raise InputError(sentence(type(self).__name__, must, show(given)))
        if len(given) != len(known):
            must = f"input_features should have length equal to {len(known)}"
            raise InputError(sentence(type(self).__name__, must, len(given)))
        found: dict[str, None] = {}
        for name in (name for column in self.columns_ for name in column.names):
            while name in found:  # as of a column "a=b" beside a level b of a column "a"
                name += "~"
            found[name] = None
        return np.array(list(found), dtype=object)

    def _fit(self, table: Table) -> None:
        run = Run(who=type(self).__name__)
        if table.n_rows < 2:
            must = "there must be at least two rows to learn from"
            raise InputError(sentence(run.who, must, "1 sample"))
        settings = self._settings(run.who, table.n_rows)
        self.columns_ = learn_columns(table, settings, self._kinds(run.who, table), run.who)
        self.notes_ = tuple(column.note for column in self.columns_ if column.note)
        self.n_features_in_ = len(table.columns)
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        used = [column for column in self.columns_ if column.done != LEFT_OUT]
        texts = [one.name for one in used if one.kind == TEXT and settings.is_text_kernel]
        self._require_some(run.who, used, texts, table.names is not None)
        some = table.take(spread_rows(table.n_rows, SAMPLE))
        encoded = self._encode(some, range(len(table.columns)))
        self.certificate_ = Certificate(
            status=Status.EXACT,
            plan=f"{len(table.columns)} columns become {encoded.shape[1]} numbers",
            kernel_entries=0,
            bytes=int(encoded.nbytes),
            seconds=run.seconds,
        )
        self.kernel_ = table_kernel(self._frozen(), encoded, texts)

    def _require_some(
        self, who: str, used: list[TableColumn], texts: list[str], has_names: bool
    ) -> None:
        if not used:
            must = "at least one column must tell rows apart"
            raise InputError(sentence(who, must, f"none. {' '.join(self.notes_)}".rstrip(".")))
        if texts and not has_names:
            must = 'text="kernel" chooses columns by their names, so X must be a data frame'
            raise InputError(sentence(who, must, "rows without names"))

    def _frozen(self) -> TableEncoder:
        """Return a copy for the kernel, which another fit of this encoder does not change."""
        copy = object.__new__(type(self))
        held = {name: value for name, value in vars(self).items() if name not in ASIDE}
        copy.__dict__.update(held)
        return copy

    def _read(self, X: PointsLike) -> Table:
        table = read_table(X, type(self).__name__)
        if table.n_rows == 0:
            must = "there must be at least one row"
            raise InputError(sentence(type(self).__name__, must, "0 sample(s)"))
        return table

    def _encode(self, table: Table, places: Mapping[int, int] | range) -> Array:
        """Return the numbers of a table; places: where in it the columns of the fit are."""
        found = np.empty((table.n_rows, self.columns_[-1].stop))
        for number, column in enumerate(self.columns_):
            if column.codes:
                encode_column(column, table.columns[places[number]], type(self).__name__, found)
        return found

    def _places(self, table: Table) -> Mapping[int, int] | range:
        """Return where the columns of the fit are: by name, or by position without names."""
        who, fitted = type(self).__name__, getattr(self, "feature_names_in_", None)
        if table.names is None or fitted is None:
            width, known = len(table.columns), len(self.columns_)
            if width != known:
                got = f"X has {width} features, but {who} is expecting {known} features as input."
                raise InputError(got)
            if table.names is not None:
                warn(f"X has feature names, but {who} was fitted without feature names")
            elif fitted is not None:
                warn(
                    f"X does not have valid feature names, but {who} was fitted with feature names"
                )
            return range(width)
        there = {name: place for place, name in enumerate(table.names)}
        names = [column.name for column in self.columns_]
        missing = [one.name for one in self.columns_ if one.codes and one.name not in there]
        if missing:
            got = f"none called {', '.join(map(repr, missing))}"
            told = checks.nearest(missing[0], there)
            raise InputError(sentence(who, "X must have the columns of fit", got, told))
        extra = [name for name in table.names if name not in set(names)]
        if extra:
            shown = ", ".join(map(repr, extra[:5])) + (" and others" if len(extra) > 5 else "")
            warn(f"{who}: X has columns that fit did not see, which are ignored: {shown}")
        return {place: there[name] for place, name in enumerate(names) if name in there}

    def _settings(self, who: str, n_rows: int) -> Settings:
        least = self.min_count
        if isinstance(least, str):
            checks.one_of(who, "min_count", least, ("auto",))
            least = min(MOST, max(FEWEST, n_rows // 500))
        calendar = checks.one_of(who, "dates", self.dates, ("calendar", "linear")) == "calendar"
        kernel = checks.one_of(who, "text", self.text, ("ngrams", "kernel")) == "kernel"
        indicator = checks.one_of(who, "missing", self.missing, ("indicator", "fill"))
        checks.one_of(who, "numbers", self.numbers, METHODS)
        return Settings(
            numbers=self.numbers,
            category_scale=checks.number(who, "category_scale", self.category_scale, above=0),
            max_levels=checks.whole(who, "max_levels", self.max_levels, least=1),
            min_count=checks.whole(who, "min_count", least, least=1),
            has_calendar=calendar,
            is_text_kernel=kernel,
            text_width=checks.whole(who, "text_width", self.text_width, least=1, most=WIDEST),
            has_indicator=indicator == "indicator",
        )

    def _kinds(self, who: str, table: Table) -> dict[int, str]:
        """Return the kinds that `types` gives, by position."""
        if self.types is None:
            return {}
        if not isinstance(self.types, Mapping):
            must = 'types must be a dict such as {"name": "category"}'
            raise InputTypeError(sentence(who, must, show(self.types)))
        labels = {table.label(place): place for place in range(len(table.columns))}
        found = {}
        for name, kind in self.types.items():
            place = labels.get(str(name))
            if table.names is None and isinstance(name, int) and 0 <= name < len(labels):
                place = name
            if place is None:
                must = f"types must name columns of X, of which there is none called {name!r}"
                told = checks.nearest(name, labels)
                raise InputError(sentence(who, must, ", ".join(labels), told))
            found[place] = checks.one_of(who, f"types[{name!r}]", kind, (*KINDS, DROP))
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
