"""Files that many tests of the command line use: tables and models, made once."""

import numpy as np
import polars as pl
import pytest
from command_line import QUICK, call

from mercer.data import flats, write_table


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A folder with a table of flats, new flats, and a table of two classes."""
    folder = tmp_path_factory.mktemp("command-line")
    write_table(folder / "flats.csv", flats(90, 0))
    fresh = flats(12, 1)
    fresh.pop("rent")
    write_table(folder / "new.csv", fresh)
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 2)).round(3)
    pl.DataFrame(
        {
            "a": X[:, 0],
            "b": X[:, 1],
            "colour": [("red", "blue", "green")[i % 3] for i in range(80)],
            "shop": [f"s{i % 8}" for i in range(80)],
            "day": [f"2024-{1 + (79 - i) // 28:02d}-{1 + (79 - i) % 28:02d}" for i in range(80)],
            "sold": np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"),
        }
    ).write_csv(folder / "shop.csv")
    return folder


@pytest.fixture(scope="session")
def numbers(home):
    """A model of numbers, found automatically."""
    path = home / "flats.mercer"
    assert call("fit", home / "flats.csv", "-t", "rent", *QUICK, "--out", path).code == 0
    return path


@pytest.fixture(scope="session")
def classes(home):
    """A model of two classes, found automatically."""
    path = home / "shop.mercer"
    words = ("-t", "sold", "--drop", "shop", "--drop", "day")
    assert call("fit", home / "shop.csv", *words, *QUICK, "--out", path).code == 0
    return path


@pytest.fixture(scope="session")
def ridge(home):
    """A ridge model of numbers behind an encoder."""
    path = home / "ridge.mercer"
    words = ("-t", "rent", "--model", "ridge", "--kernel", "Gaussian(gamma=0.01)")
    assert call("fit", home / "flats.csv", *words, *QUICK, "--out", path).code == 0
    return path
