"""mercer predict and evaluate: blocks, columns, what is outside, formats of output."""

import io
import json
import re

import numpy as np
import polars as pl
import pytest
from command_line import call

from mercer import SVC, load, save
from mercer.cli.stored import predicting


def table(ended):
    return pl.read_csv(io.BytesIO(ended.data))


def test_predictions_are_those_of_the_model(numbers, home):
    frame = pl.read_csv(home / "new.csv", try_parse_dates=True)
    wanted = load(numbers).predict(frame)
    found = table(call("predict", numbers, home / "new.csv"))
    np.testing.assert_allclose(found["prediction"].to_numpy(), wanted, rtol=1e-12)


def test_blocks_do_not_change_predictions(numbers, home, monkeypatch):
    whole = call("predict", numbers, home / "new.csv", "--interval", "0.9")
    monkeypatch.setattr(predicting, "BLOCK", 5)
    parts = call("predict", numbers, home / "new.csv", "--interval", "0.9")
    assert table(whole).columns == ["prediction", "low", "high"]
    np.testing.assert_allclose(table(whole).to_numpy(), table(parts).to_numpy(), rtol=1e-9)


def test_probabilities_have_a_column_for_each_class(classes, home):
    found = table(call("predict", classes, home / "shop.csv", "--proba", "--keep", "shop"))
    assert found.columns == ["shop", "prediction", "probability no", "probability yes"]
    shares = found.select("probability no", "probability yes").to_numpy()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    said = np.where(shares[:, 1] > 0.5, "yes", "no")
    assert (said == found["prediction"].to_numpy()).all()


def test_deviations_and_intervals_of_a_ridge_model(ridge, home):
    found = table(call("predict", ridge, home / "new.csv", "--std", "--interval", "0.9"))
    half = 1.6448536269514722 * found["std"].to_numpy()
    np.testing.assert_allclose(found["high"] - found["prediction"], half, rtol=1e-6)
    np.testing.assert_allclose(found["prediction"] - found["low"], half, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--proba"], "the model must give probabilities for --proba; got AutoKernelRegressor"),
        (["--std"], "must know its standard deviation for --std; got AutoKernelRegressor"),
    ],
)
def test_what_a_model_cannot_tell_is_usage(numbers, home, options, sentence):
    ended = call("predict", numbers, home / "new.csv", *options)
    assert ended.code == 2
    assert sentence in ended.err


def test_intervals_are_for_numbers(classes, home):
    ended = call("predict", classes, home / "shop.csv", "--interval", "0.9")
    assert ended.code == 2
    assert "--interval is for models of numbers" in ended.err
    assert call("predict", classes, home / "shop.csv", "--interval", "1.5").code == 2


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "npy"])
def test_every_format_of_output(numbers, home, tmp_path, ending):
    out = tmp_path / f"p.{ending}"
    ended = call("predict", numbers, home / "new.csv", "--out", out, "--json")
    assert ended.code == 0, ended.err
    assert ended.json["result"]["rows"] == 12
    assert ended.json["result"]["format"] == ending
    readers = {
        "csv": pl.read_csv,
        "tsv": lambda path: pl.read_csv(path, separator="\t"),
        "jsonl": pl.read_ndjson,
        "parquet": pl.read_parquet,
    }
    found = np.load(out) if ending == "npy" else readers[ending](out)["prediction"].to_numpy()
    assert len(found) == 12
    assert call("predict", numbers, home / "new.csv", "--out", out).code == 2  # it is there now


def test_jsonl_on_standard_output(numbers, home):
    ended = call("predict", numbers, home / "new.csv", "--output-format", "jsonl")
    assert len([json.loads(line) for line in ended.out.splitlines()]) == 12


def test_an_unknown_ending_is_refused(numbers, home, tmp_path):
    ended = call("predict", numbers, home / "new.csv", "--out", tmp_path / "p.xlsx")
    assert ended.code in (1, 2, 3)
    assert ".csv" in ended.err or "CSV" in ended.err


def test_json_and_predictions_cannot_share_standard_output(numbers, home):
    ended = call("predict", numbers, home / "new.csv", "--json")
    assert ended.code == 2
    assert "with --json predictions must go to a file" in ended.err


def test_the_model_may_come_from_standard_input(numbers, home):
    wanted = call("predict", numbers, home / "new.csv").out
    found = call("predict", "-", home / "new.csv", stdin=numbers.read_bytes())
    assert found.out == wanted
    assert call("predict", "-", "-").code == 2


# --- columns --------------------------------------------------------------------------------------


def changed(home, tmp_path, change):
    frame = change(pl.read_csv(home / "new.csv"))
    frame.write_csv(tmp_path / "changed.csv")
    return tmp_path / "changed.csv"


def test_the_order_of_columns_does_not_matter(numbers, home, tmp_path):
    path = changed(home, tmp_path, lambda frame: frame.select(frame.columns[::-1]))
    assert call("predict", numbers, path).out == call("predict", numbers, home / "new.csv").out


def test_a_missing_column_is_named_with_its_nearest(numbers, home, tmp_path):
    path = changed(home, tmp_path, lambda frame: frame.rename({"district": "distrikt"}))
    ended = call("predict", numbers, path)
    assert ended.code == 3
    assert "none called 'district'. Did you mean 'distrikt'?" in ended.err
    assert ended.out == ""


def test_further_columns_are_ignored_with_a_note(numbers, home, tmp_path):
    path = changed(home, tmp_path, lambda frame: frame.with_columns(pl.lit(1).alias("extra")))
    ended = call("predict", numbers, path)
    assert ended.code == 0
    assert "Columns that the model does not know are ignored: 'extra'." in ended.err
    assert ended.out == call("predict", numbers, home / "new.csv").out
    assert "ignored" not in call("predict", numbers, path, "--quiet").err


def test_the_target_may_be_there_as_well(numbers, home):
    ended = call("predict", numbers, home / "flats.csv")
    assert ended.code == 0
    assert "ignored" not in ended.err


def test_what_the_training_rows_did_not_have_is_flagged_once(numbers, home, tmp_path, monkeypatch):
    monkeypatch.setattr(predicting, "BLOCK", 4)
    path = changed(
        home,
        tmp_path,
        lambda frame: frame.with_columns(
            (pl.col("area") + 1000).alias("area"),
            pl.lit("Atlantis").alias("district"),
        ),
    )
    ended = call("predict", numbers, path)
    assert ended.code == 0
    assert ended.err.count("Column 'area': 12 of 12 values are outside") == 1
    assert "did not have: 'Atlantis' (12)." in ended.err
    found = call("predict", numbers, path, "--out", tmp_path / "p.csv", "--json").json
    assert len(found["warnings"]) >= 2
    assert found["result"]["outside"] == found["warnings"]


def test_a_value_that_cannot_be_read_is_named_with_its_line(numbers, home, tmp_path):
    path = changed(home, tmp_path, lambda frame: frame.with_columns(pl.lit("large").alias("area")))
    ended = call("predict", numbers, path)
    assert ended.code == 3
    assert "'area'" in ended.err
    assert "'large'" in ended.err


def test_whole_numbers_to_keep_stay_whole(numbers, home):
    names, *rows = (home / "new.csv").read_text().splitlines()
    text = "".join(f"{place},{line}\n" for place, line in enumerate(rows))
    (home / "named.csv").write_text(f"id,{names}\n{text}")
    found = call("predict", numbers, home / "named.csv", "--keep", "id")
    assert [line.split(",")[0] for line in found.out.splitlines()[:3]] == ["id", "0", "1"]


def test_warnings_of_many_columns_are_cut_short(numbers, home, monkeypatch):
    monkeypatch.setattr(predicting, "SHOWN_WARNINGS", 0)
    frame = pl.read_csv(home / "new.csv").with_columns(area=pl.lit(5000.0), district=pl.lit("Moon"))
    frame.write_csv(home / "far.csv")
    ended = call("predict", numbers, home / "far.csv")
    assert re.search(r"It is alike in \d more columns, which --json lists", ended.err)


def test_a_column_to_keep_must_be_there(numbers, home):
    ended = call("predict", numbers, home / "new.csv", "--keep", "aera")
    assert ended.code == 3
    assert "Did you mean 'area'?" in ended.err


def test_a_model_without_a_card_predicts_as_well(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    save(SVC().fit(X, X[:, 0] > 0), tmp_path / "m.mercer")
    np.save(tmp_path / "x.npy", X)
    ended = call("predict", tmp_path / "m.mercer", tmp_path / "x.npy")
    assert ended.code == 0, ended.err
    assert set(ended.out.split()[1:]) <= {"true", "false", "True", "False"}
    np.save(tmp_path / "wide.npy", np.zeros((2, 5)))
    ended = call("predict", tmp_path / "m.mercer", tmp_path / "wide.npy")
    assert ended.code == 3


# --- evaluate -------------------------------------------------------------------------------------


def test_evaluate_scores_beside_those_of_the_fit(numbers, home, tmp_path):
    from mercer.data import flats, write_table

    write_table(tmp_path / "more.csv", flats(60, 5))
    ended = call("evaluate", numbers, tmp_path / "more.csv", "--json")
    assert ended.code == 0, ended.err
    scores = {one["measure"]: one for one in ended.json["result"]["scores"]}
    frame = pl.read_csv(tmp_path / "more.csv", try_parse_dates=True)
    errors = frame["rent"].to_numpy() - load(numbers).predict(frame.drop("rent"))
    assert scores["RMSE"]["value"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-9)
    assert scores["RMSE"]["standard_error"] > 0
    assert scores["RMSE"]["at_fit"] is not None
    assert "RMSE" in call("evaluate", numbers, tmp_path / "more.csv").out


def test_evaluate_notices_rows_of_another_kind(numbers, tmp_path):
    from mercer.data import flats, write_table

    other = flats(60, 5)
    other["rent"] = [3 * value for value in other["rent"]]
    write_table(tmp_path / "other.csv", other)
    ended = call("evaluate", numbers, tmp_path / "other.csv")
    assert "clearly worse than at the fit" in ended.out


def test_evaluate_counts_classes_and_warns_of_training_rows(classes, home):
    ended = call("evaluate", classes, home / "shop.csv")
    assert ended.code == 0
    assert "said yes" in ended.out
    assert "These are the rows of the fit" in ended.err


def test_evaluate_needs_the_truth(numbers, classes, home, tmp_path):
    ended = call("evaluate", numbers, home / "new.csv")
    assert ended.code == 3
    assert "'rent'" in ended.err
    frame = pl.read_csv(home / "shop.csv").with_columns(pl.lit("maybe").alias("sold"))
    frame.write_csv(tmp_path / "odd.csv")
    ended = call("evaluate", classes, tmp_path / "odd.csv")
    assert ended.code == 3
    assert "got 'maybe' in row 0" in ended.err
