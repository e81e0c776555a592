"""The sample table of flats, and what a data set tells of itself."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score

from mercer import KernelRidge, TableEncoder
from mercer.checks import InputError
from mercer.data import ColumnSummary, flats, read, write_table
from mercer.data.flats import NOISE, _typical_rent

EXPECTED = """\
area,rooms,floor,year,district,heating,lift,balcony,station,listed,remark,agent,rent
71.7,2.5,1,1949,Harbour,district heating,false,true,221,2023-12-02,\
Looks out on a quiet courtyard. Newly renovated with an oak floor.,A853,1320
49.9,2.0,5,1994,North End,heat pump,false,true,1274,2024-02-26,\
Bright rooms with large windows. Looks out on a quiet courtyard.,A593,569
63.3,2.0,3,1961,University,gas,false,false,451,2023-12-12,\
Newly renovated with an oak floor. Faces a busy street with a tram line.,A478,725
"""


def test_the_table_is_the_same_everywhere(tmp_path):
    table = flats(3, 1)
    assert table == flats(3, 1)
    assert flats(2, 1)["rent"] == table["rent"][:2]
    assert flats(3, 2) != table
    write_table(tmp_path / "flats.csv", table)
    assert (tmp_path / "flats.csv").read_text() == EXPECTED


def test_it_has_what_real_tables_have():
    frame = pl.DataFrame(flats())
    assert frame.shape == (1200, 13)
    gaps = {name: count for name, count in frame.null_count().to_dicts()[0].items() if count}
    assert set(gaps) == {"floor", "year", "heating", "remark"}
    assert all(0.03 < count / 1200 < 0.15 for count in gaps.values())
    kinds = {one.name: one.kind for one in TableEncoder().fit(frame.drop("rent")).columns_}
    assert kinds == {
        "area": "number",
        "rooms": "number",
        "floor": "number",
        "year": "number",
        "district": "category",
        "heating": "category",
        "lift": "boolean",
        "balcony": "boolean",
        "station": "number",
        "listed": "date",
        "remark": "text",
        "agent": "category",
    }
    assert 100 < frame["rent"].min() < frame["rent"].max() < 3000


def test_the_rent_is_what_it_is_said_to_be():
    table = flats(4000, 5)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    whole = [row for row in rows if None not in row.values()]
    ratios = np.log([row["rent"] / _typical_rent(row) for row in whole])
    assert np.std(ratios) == pytest.approx(NOISE, rel=0.05)
    assert abs(np.mean(ratios)) < 0.01


def test_a_kernel_finds_more_than_a_line():
    frame = pl.DataFrame(flats(1500, 7))
    X, y = frame.drop("rent"), frame["rent"].to_numpy()
    encoder = TableEncoder().fit(X[:1000])
    A, B = encoder.transform(X[:1000]), encoder.transform(X[1000:])
    line = r2_score(y[1000:], RidgeCV(np.logspace(-2, 3, 11)).fit(A, y[:1000]).predict(B))
    model = KernelRidge(kernel="rbf", alpha=0.01).fit(A, y[:1000])
    curve = r2_score(y[1000:], model.predict(B))
    assert 0.7 < line < curve < 0.97


@pytest.mark.parametrize(("n", "seed"), [(0, 0), (-1, 0), (10, -1)])
def test_what_cannot_be(n, seed):
    with pytest.raises(InputError, match=r"flats: (n|seed) must be a whole number at least"):
        flats(n, seed)


# --- what a data set tells ------------------------------------------------------------------------


def test_the_description(put):
    text = "size,colour,born,note\n1.5,red,2024-01-01,\n,blue,2024-02-01,\n10,red,2024-03-01,\n"
    data = read(put("a.csv", text))
    assert data.describe() == (
        f"{data.source}: csv, 3 rows, 4 columns\n"
        "  column  type      missing  values\n"
        "  size    number          1  1.5 to 10\n"
        "  colour  category        0  red, blue\n"
        "  born    date            0  2024-01-01 to 2024-03-01\n"
        "  note    category        3\n"
        "note: Column 'note' has no values."
    )
    told = read(put("a.csv", text), target="size", max_rows=1).describe()
    assert told.endswith("note: Column 'note' has no values.")
    assert "\ntarget size: 1 class, 1.5 (1)\n" in told


def test_the_target_in_words(put):
    rows = "".join(f"1,{place},{'ab'[place % 2]}\n" for place in range(40))
    path = put("a.csv", "x,y,z\n" + rows)
    assert "\ntarget y: number, 0 to 39" in read(path, target="y").describe()
    assert "\ntarget z: 2 classes, a (20), b (20)" in read(path, target="z").describe()


def test_long_lists_of_levels_are_cut():
    summary = ColumnSummary(name="a", type="category", missing=0, levels=tuple("abc"))
    assert summary.values == "a, b, c"
    many = tuple(f"level {place}" for place in range(50))
    summary = ColumnSummary(name="a", type="category", missing=0, levels=many)
    assert summary.values == "level 0, level 1, level 2, level 3, level 4, … (50 or more)"
    long = ColumnSummary(name="a", type="category", missing=0, levels=("x" * 90, "y"))
    assert long.values == "x" * 47 + "…, … (2)"


def test_what_is_known_goes_into_json(put):
    data = read(put("a.csv", "a,b,y\n1,x,1\n2,,0\n"), target="y")
    told = json.loads(json.dumps(data.to_dict()))
    assert told == {
        "source": data.source,
        "format": "csv",
        "kind": "table",
        "rows": 2,
        "target": "y",
        "sha256": data.sha256,
        "columns": [
            {"name": "a", "type": "number", "missing": 0, "low": 1.0, "high": 2.0, "levels": []},
            {
                "name": "b",
                "type": "category",
                "missing": 1,
                "low": None,
                "high": None,
                "levels": ["x"],
            },
        ],
        "notes": [],
    }
