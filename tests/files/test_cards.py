"""Model cards: what they say, what they must be, and what they flag in new rows."""

import copy
import dataclasses
import datetime
import io
import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from forgery import content, forge
from samples import graphs, strings, trees
from sklearn.pipeline import make_pipeline

from mercer import (
    SVC,
    FileError,
    InputError,
    KernelKMeans,
    KernelPrototypeClassifier,
    KernelRidge,
    ModelCard,
    TableEncoder,
    load,
    read_card,
    save,
)
from mercer.files import CardColumn, CardScore, make_card
from mercer.files.cards import rules
from mercer.kernels import Spectrum, SubsetTree, WeisfeilerLehman

TOWNS = ["Bern", "Oslo", "Rome"]
SCORE = CardScore(
    model="this model", measure="R²", value=0.9, error=0.02, better="higher", how="40 rows"
)


def flats(n=40):
    """A frame with a column of every kind, and a number to predict."""
    random = np.random.default_rng(0)
    area = random.uniform(20.0, 90.0, n).round(1)
    area[:2] = 20.0, 90.0
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=5 * i) for i in range(n)]
    frame = pl.DataFrame(
        {
            "area": area,
            "floor": [None if i % 4 == 0 else i % 7 for i in range(n)],
            "town": [TOWNS[i % 3] for i in range(n)],
            "lift": [i % 2 == 0 for i in range(n)],
            "since": days,
            "land": ["x"] * n,
        }
    )
    return frame, 10 * area + 50 * (np.arange(n) % 3)


def table_card():
    frame, y = flats()
    model = make_pipeline(TableEncoder(), KernelRidge()).fit(frame, y)
    return make_card(
        model,
        frame,
        y,
        target="rent",
        source="/home/me/flats.csv",
        sha256="ab" * 32,
        scores=[SCORE],
        baselines=[dataclasses.replace(SCORE, model="a linear model", error=None)],
        notes=["Column 'land' is left out."],
        command="mercer fit flats.csv --target rent",
        seed=7,
    ), model


def saved(model, card):
    buffer = io.BytesIO()
    save(model, buffer, card=card)
    return buffer.getvalue()


# --- what a card says ----------------------------------------------------------------------------


def test_a_card_of_a_table_says_what_its_columns_held():
    card, _ = table_card()
    by_name = {column.name: column for column in card.columns}
    assert [column.kind for column in card.columns] == [
        "number",
        "number",
        "category",
        "boolean",
        "date",
        "drop",
    ]
    assert (by_name["area"].low, by_name["area"].high, by_name["area"].missing) == (20.0, 90.0, 0)
    assert by_name["floor"].missing == 0.25
    assert by_name["town"].levels == ("Bern", "Oslo", "Rome")
    assert (by_name["since"].low, by_name["since"].high) == ("2024-01-01", "2024-07-14")
    assert (card.task, card.points, card.rows, card.target) == ("regression", "table", 40, "rent")
    assert card.target_range == (float(flats()[1].min()), float(flats()[1].max()))
    assert card.source == "flats.csv"  # not the folder of whoever made it
    assert card.estimator == "KernelRidge"
    assert card.kernel.startswith("Gaussian(gamma=")
    assert card.certificate.startswith("The fit is exact")
    assert "seconds" not in card.figures
    assert {"python", "mercer", "numpy"} <= set(card.versions)
    assert card.created is None


def test_a_card_of_classes_counts_them():
    X = np.array([[0.0, 3.0], [1.0, 4.0], [2.0, 5.0], [3.0, np.pi]])
    y = np.array([1, 2, 2, 1])
    card = make_card(SVC().fit(X, y), X, y)
    assert (card.task, card.points) == ("classification", "matrix")
    assert (card.classes, card.class_rows) == (("1", "2"), (2, 2))
    assert [column.name for column in card.columns] == ["x0", "x1"]
    assert "duality gap" in card.certificate


@pytest.mark.parametrize(
    ("kernel", "points", "word"),
    [
        (Spectrum(2), strings(), "strings"),
        (SubsetTree(), trees(), "trees"),
        (WeisfeilerLehman(), graphs(), "graphs"),
        (None, scipy.sparse.eye_array(6, format="csr"), "matrix"),
    ],
)
def test_points_without_columns_have_a_card_too(kernel, points, word):
    n = points.shape[0] if hasattr(points, "shape") else len(points)
    y = np.arange(n) % 2
    model = KernelPrototypeClassifier(kernel).fit(points, y)
    card = make_card(model, points, y)
    assert (card.points, card.columns, card.rows) == (word, (), n)
    assert card.outside(points) == []
    assert read_card(saved(model, card)) == card


def test_clusters_have_no_task():
    X = np.arange(8.0)[:, None]
    card = make_card(KernelKMeans(2).fit(X), X)
    assert (card.task, card.classes, card.target_range) == ("", (), None)


def test_what_is_too_much_for_a_card_is_left_out_of_it():
    frame = pl.DataFrame({"name": [f"n{i % 300}" for i in range(900)], "x": range(900)})
    model = make_pipeline(TableEncoder(max_levels=400), KernelRidge()).fit(frame, np.arange(900.0))
    card = make_card(model, frame, np.arange(900.0))
    assert card.columns[0].levels is None
    wide = np.zeros((3, rules.COLUMN_LIMIT + 1))
    assert make_card(KernelRidge().fit(wide, [0.0, 1.0, 2.0]), wide).columns == ()


# --- in the file ---------------------------------------------------------------------------------


def test_the_card_comes_back_and_the_model_is_the_same():
    card, model = table_card()
    data = saved(model, card)
    assert read_card(data) == card
    assert read_card(io.BytesIO(data)) == card
    frame, _ = flats()
    assert (load(data).predict(frame) == model.predict(frame)).all()
    assert saved(model, card) == data


def test_a_file_without_a_card_is_as_before(tmp_path):
    model = SVC().fit([[0.0], [1.0]], [0, 1])
    save(model, tmp_path / "plain.mercer")
    assert read_card(tmp_path / "plain.mercer") is None
    manifest, _ = content(tmp_path / "plain.mercer")
    assert "card" not in manifest
    assert manifest["min_reader"] == "1.0"


def test_a_card_needs_no_newer_reader(tmp_path):
    X, y = [[0.0], [1.0]], [0, 1]
    model = SVC().fit(X, y)
    save(model, tmp_path / "model.mercer", card=make_card(model, X, y))
    manifest, _ = content(tmp_path / "model.mercer")
    assert (manifest["format"], manifest["min_reader"]) == ("1.2", "1.0")


def test_only_a_card_is_a_card():
    with pytest.raises(TypeError, match="card must be a ModelCard; got"):
        save(SVC(), io.BytesIO(), card={"rows": 3})


def test_an_altered_card_is_noticed(tmp_path):
    card, model = table_card()
    data = saved(model, card).replace(b'\\"rows\\":40', b'\\"rows\\":41')
    with pytest.raises(FileError, match="its header must agree with its SHA-256"):
        read_card(data)
    with pytest.raises(FileError, match="it must be a model file of mercer"):
        read_card(b"name,age\n")


def change(data, path, value):
    """JSON data with another value at a place; a tuple ("del",) deletes."""
    data = copy.deepcopy(data)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    if value == ("del",):
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return data


BAD = [
    ((), "a text"),
    (("rows",), ("del",)),
    (("surprise",), 1),
    (("rows",), -1),
    (("rows",), 1.5),
    (("rows",), True),
    (("rows",), 2**60),
    (("task",), "poetry"),
    (("points",), ["table"]),
    (("columns",), {}),
    (("columns",), [1]),
    (("columns", 0, "name"), "town"),  # twice
    (("columns", 0, "kind"), "colour"),
    (("columns", 0, "missing"), 1.5),
    (("columns", 0, "low"), "1999-01-01"),
    (("columns", 0, "low"), 91.0),
    (("columns", 0, "low"), None),
    (("columns", 0, "low"), 10**400),
    (("columns", 2, "low"), 1.0),
    (("columns", 2, "levels"), ["a"] * (rules.LEVEL_LIMIT + 1)),
    (("columns", 2, "levels"), [1, 2]),
    (("columns", 2, "levels"), "Bern"),
    (("columns", 4, "low"), "2024-02-30"),
    (("columns", 4, "low"), 5.0),
    (("columns", 0, "extra"), 1),
    (("target",), 7),
    (("target_range",), [1.0]),
    (("target_range",), [2.0, 1.0]),
    (("target_range",), ["1", "2"]),
    (("classes",), ["a", None]),
    (("class_rows",), [1, 2]),
    (("source",), "folder/file.csv"),
    (("source",), "a" * (rules.TEXT_LIMIT + 1)),
    (("source",), "\ud800"),
    (("sha256",), "ABC"),
    (("scores", 0, "value"), None),
    (("scores", 0, "error"), -1.0),
    (("scores", 0, "better"), "sideways"),
    (("scores",), [{}]),
    (("figures",), []),
    (("figures",), {"gap": "small"}),
    (("figures",), {str(i): 1.0 for i in range(rules.ITEM_LIMIT + 1)}),
    (("notes",), "a note"),
    (("versions",), {"mercer": 1}),
    (("command",), "x" * (rules.COMMAND_LIMIT + 1)),
    (("seed",), -1),
    (("seed",), "7"),
    (("created",), "yesterday"),
]


@pytest.mark.parametrize(("path", "value"), BAD, ids=lambda one: str(one)[:40])
def test_a_forged_card_is_refused_but_the_model_loads(path, value, tmp_path):
    card, model = table_card()
    source = tmp_path / "good.mercer"
    save(model, source, card=card)
    manifest, tensors = content(source)
    manifest["card"] = value if not path else change(manifest["card"], path, value)
    forged = forge(tmp_path / "bad.mercer", manifest, tensors)
    with pytest.raises(FileError, match="its card must be one that this mercer knows; got"):
        read_card(forged)
    frame, _ = flats()
    assert len(load(forged).predict(frame)) == len(frame)


def test_a_card_is_json_of_plain_values():
    card, _ = table_card()
    text = json.dumps(card.as_dict(), allow_nan=False)
    assert json.loads(text)["columns"][0]["high"] == 90.0


@pytest.mark.parametrize(
    ("field", "value"),
    [("rows", "many"), ("scores", [SCORE]), ("figures", {"x": float("nan")}), ("columns", None)],
)
def test_a_card_of_nonsense_cannot_be_made(field, value):
    card, _ = table_card()
    with pytest.raises(InputError, match="ModelCard: "):
        dataclasses.replace(card, **{field: value})


# --- what is outside -----------------------------------------------------------------------------


def test_rows_like_those_of_the_fit_are_inside():
    card, _ = table_card()
    assert card.outside(flats()[0]) == []
    assert card.outside(flats()[0].to_pandas()) == []


def test_each_column_outside_is_told_with_counts():
    card, _ = table_card()
    frame = pl.DataFrame(
        {
            "area": [10.0, 50.0, 120.5, None],
            "floor": [1, 2, None, 3],
            "town": ["Paris", "Rome", "Paris", "Lima"],
            "lift": [True, None, False, True],
            "since": [datetime.date(2031, 1, 1)] + [datetime.date(2024, 2, 1)] * 3,
            "land": ["y"] * 4,
        }
    )
    assert card.outside(frame) == [
        "Column 'area': 2 of 4 values are outside 20 to 90, the range of the training rows "
        "(down to 10 and up to 120.5).",
        "Column 'area': 1 of 4 values is missing; no training row lacked one.",
        "Column 'town': 3 of 4 values are of levels that the training rows did not have: "
        "'Paris' (2), 'Lima' (1).",
        "Column 'lift': 1 of 4 values is missing; no training row lacked one.",
        "Column 'since': 1 of 4 values is outside 2024-01-01 to 2024-07-14, the range of the "
        "training rows (up to 2031-01-01).",
    ]


def test_values_are_read_as_the_model_reads_them():
    card, _ = table_card()
    texts = [{"area": "150", "since": "2023-05-01", "town": 7}]
    found = card.outside(texts)
    assert len(found) == 3
    assert "(up to 150)" in found[0]
    assert "'7' (1)" in found[1]
    assert "(down to 2023-05-01)" in found[2]


def test_columns_in_any_order_missing_or_of_another_kind():
    card, _ = table_card()
    frame = flats()[0].select("town", "area").with_columns(new=pl.lit(1))
    assert card.outside(frame) == []
    assert card.outside(frame.with_columns(area=pl.lit(datetime.date(2024, 1, 1)))) == []
    assert card.outside(["not", "rows"]) == []


def test_an_array_is_read_by_position():
    X = np.array([[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]])
    card = make_card(KernelRidge().fit(X, X[:, 0]), X)
    assert card.outside(X) == []
    assert card.outside(np.array([[0.5, 9.0]])) == [
        "Column 'x1': 1 of 1 values is outside 3 to 5, the range of the training rows (up to 9)."
    ]


def test_a_column_that_was_always_missing_has_no_range():
    column = CardColumn(name="a", kind="number", missing=1.0)
    card = ModelCard(task="", points="table", rows=3, columns=(column,))
    assert card.outside([{"a": 4.0}, {"a": None}]) == []
