"""Data that reports are tested on."""

import numpy as np
import pandas as pd


def flats(n=160, seed=0):
    """A table with numbers, categories, dates, missing values and a column that says nothing."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "area": random.gamma(6.0, 12.0, n),
            "town": random.choice(["Bern", "Oslo", "Rome"], n),
            "sold": pd.date_range("2021-01-01", periods=n, freq="2D"),
            "floor": np.where(random.random(n) < 0.3, np.nan, random.integers(0, 9, n)),
            "land": ["x"] * n,
            "noise": random.normal(size=n),
        }
    )
    rent = 300 + 11 * X["area"] + 150 * np.sin(X["area"] / 12) + 250 * (X["town"] == "Oslo")
    rent = rent + 30 * random.normal(size=n)
    return X, rent.rename("rent")


def rows(n=90, seed=0):
    """Rows of numbers, of which the first two say what to predict, and numbers and classes."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * random.normal(size=n)
    return X, y, np.where(y > 0.8, "high", "low")
