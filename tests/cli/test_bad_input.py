"""Everything that can be wrong with files and options: exit code, sentence, and nothing written."""

import errno
import json
import os
import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import QUICK, call
from forgery import content, forge

from mercer import SVC, TableEncoder, save
from mercer.cli.learn import fitjob
from mercer.storage import atomic


def refused(ended, code, *texts):
    """The command ended so, said so, and showed no traceback."""
    assert ended.code == code, ended.err
    assert ended.err.startswith("error: ")
    assert "Traceback" not in ended.err
    for text in texts:
        assert text in ended.err
    return True


# --- data -----------------------------------------------------------------------------------------

GOOD = "a,b,y\n" + "".join(f"{i},{i % 3},{2 * i}\n" for i in range(30))


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (b"", ["there must be data; got an empty file"]),
        (b"a,b,y\n", ["there must be rows of data"]),
        (b"a,b,y\n1,2\n3,4,5\n", ["in line 2"]),
        (
            GOOD.encode().replace(b"\n1,1,2\n", b"\n\xff,1,2\n"),
            ["UTF-8", "0xff in line 3", "--encoding"],
        ),
        (b"a,a,y\n" + b"1,2,3\n" * 20, ["'a'"]),
        (b"a,b,z\n" + b"1,2,3\n" * 20, ["the target must be a column", "'y'"]),
        (b"a,b,y\n" + b"1,2,\n" * 20, ["the target 'y' must be known in every row"]),
        (b"y\n" + b"1\n" * 20, ["there must be a column beside the target"]),
        (b"a,b,y\n" + b"1,2,3\n" * 20, ["at least two different values; got 3 in every row"]),
        (b"PK\x03\x04 a zip", ["data.csv"]),
    ],
    ids=["empty", "names", "ragged", "encoding", "twice", "target", "gaps", "alone", "same", "zip"],
)
def test_a_table_that_cannot_be_learnt(tmp_path, data, texts):
    (tmp_path / "data.csv").write_bytes(data)
    ended = call("fit", tmp_path / "data.csv", "-t", "y", *QUICK, "--out", tmp_path / "m.mercer")
    assert refused(ended, 3, *texts)
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_a_missing_file_with_its_nearest(tmp_path):
    (tmp_path / "sales.csv").write_text(GOOD)
    ended = call("fit", tmp_path / "sale.csv", "-t", "y")
    assert refused(ended, 3, "there must be such a file; got none", "Did you mean 'sales.csv'?")
    assert refused(call("fit", tmp_path / "no" / "a.csv", "-t", "y"), 3, "There is no folder")
    assert refused(call("fit", tmp_path, "-t", "y", "--out", tmp_path / "m"), 3, "a folder")


def test_a_target_that_is_not_there_with_its_nearest(home, tmp_path):
    ended = call("fit", home / "flats.csv", "-t", "rnet", "--out", tmp_path / "m.mercer")
    assert refused(ended, 3, "got 'rnet'", "Did you mean 'rent'?")
    ended = call("fit", home / "flats.csv", "--out", tmp_path / "m.mercer")
    assert refused(ended, 3, "there must be a target", "--target: 'area', 'rooms'")


def test_a_wrong_delimiter_and_a_right_one(tmp_path):
    (tmp_path / "d.csv").write_text(GOOD.replace(",", ";"))
    words = ("fit", tmp_path / "d.csv", "-t", "y", *QUICK)
    assert call(*words, "--out", tmp_path / "a.mercer").code == 0  # it is found out
    ended = call(*words, "--delimiter", ",", "--out", tmp_path / "b.mercer")
    assert refused(ended, 3, "Say --delimiter ';'.")  # which a shell would read as the end
    (tmp_path / "d.csv").write_text(GOOD.replace(",", "~"))
    ended = call(*words, "--out", tmp_path / "b.mercer")
    assert refused(ended, 3)
    assert call(*words, "--delimiter", "~", "--out", tmp_path / "b.mercer").code == 0
    (tmp_path / "t.csv").write_text(GOOD.replace(",", "\t"))
    words = ("fit", tmp_path / "t.csv", "-t", "y", *QUICK)
    assert call(*words, "--delimiter", r"\t", "--out", tmp_path / "c.mercer").code == 0


def test_encoding_missing_and_header_can_be_told(tmp_path):
    rows = "".join(
        f"{'é' if i % 2 else 'ü'},{'unbekannt' if i % 9 == 0 else i},{i}\n" for i in range(40)
    )
    (tmp_path / "d.csv").write_bytes(rows.encode("latin-1"))
    words = ("fit", tmp_path / "d.csv", "-t", "x2", "--no-header", *QUICK)
    out = ("--out", tmp_path / "m.mercer")
    assert refused(call(*words, *out), 3, "--encoding")
    ended = call(*words, *out, "--encoding", "latin-1", "--missing", "unbekannt")
    assert ended.code == 0, ended.err
    assert refused(call(*words, *out, "--force", "--encoding", "klingon"), 3, "'klingon'")


def test_mixed_types_name_the_first_line(tmp_path):
    rows = [f"{i if i % 5 else 'many'},{i}\n" for i in range(1, 120)]
    (tmp_path / "d.csv").write_text("a,y\n" + "".join(rows))
    ended = call("fit", tmp_path / "d.csv", "-t", "y", *QUICK, "--out", tmp_path / "m.mercer")
    assert refused(ended, 3, "column 'a'", "'many' in line 6", "--type a=category")


def test_a_column_without_values_is_noted_and_left_out(tmp_path):
    rows = "".join(f"{i},,{2 * i % 7}\n" for i in range(40))
    (tmp_path / "d.csv").write_text("a,empty,y\n" + rows)
    words = ("--task", "regression", "--max-candidates", "1", "--no-report")
    ended = call("fit", tmp_path / "d.csv", "-t", "y", *words, "--out", tmp_path / "m.mercer")
    assert ended.code == 0, ended.err
    assert "Column 'empty' has no values." in ended.out


def test_columns_for_groups_and_time_are_checked(home, tmp_path):
    words = ("fit", home / "shop.csv", "-t", "sold", *QUICK, "--out", tmp_path / "m.mercer")
    assert refused(call(*words, "--group", "shp"), 3, "Did you mean 'shop'?")
    assert refused(call(*words, "--group", "sold"), 2, "must have one purpose")
    assert refused(call(*words, "--time", "shop"), 3, "must hold dates or numbers for --time")
    assert refused(call(*words, "--drop", "colur"), 3, "'colur'", "'colour'")
    np.savez(tmp_path / "x.npz", X=np.zeros((4, 2)), y=[0, 1, 0, 1])
    ended = call("fit", tmp_path / "x.npz", "--group", "a", "--out", tmp_path / "m.mercer")
    assert refused(ended, 2, "--group and --time are for tables")


def test_names_of_rows_are_no_classes(tmp_path):
    rows = "".join(f"{i},name{i}\n" for i in range(40))
    (tmp_path / "d.csv").write_text("a,who\n" + rows)
    ended = call("fit", tmp_path / "d.csv", "-t", "who", "--out", tmp_path / "m.mercer")
    assert refused(ended, 3, "must repeat; got 40 different values in 40 rows")


def test_a_workbook_is_refused_with_advice(tmp_path):
    (tmp_path / "d.xlsx").write_bytes(b"PK\x03\x04")
    ended = call("fit", tmp_path / "d.xlsx", "-t", "a", "--out", tmp_path / "m.mercer")
    assert refused(ended, 3, "Save the sheet as CSV")


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--kernel", "Gausian(gamma=1)"], "Did you mean 'Gaussian'?"),
        (["--kernel", "Gaussian(gamma=-1)"], "above 0"),
        (["--kernel", "__import__('os')"], "--kernel"),
        (["--memory-limit", "plenty"], "plenty"),
        (["--time-limit", "soon"], "a time such as 60, 90s, 5m or 1h; got 'soon'"),
        (["--time-limit", "0"], "a time such as"),
        (["--model", "oracle"], "oracle"),
        (["--seed", "-1"], "-1"),
        (["--type", "area"], "NAME=KIND; got 'area'"),
        (["--report", "r.html", "--no-report"], "exclude each other"),
        (["--format", "xml"], "xml"),
    ],
)
def test_options_that_cannot_be_meant(home, tmp_path, monkeypatch, options, text):
    monkeypatch.chdir(tmp_path)
    assert refused(call("fit", home / "flats.csv", "-t", "rent", *options), 2, text)
    assert list(tmp_path.iterdir()) == []


# --- model files ----------------------------------------------------------------------------------


def test_a_model_that_is_not_there_or_not_a_model(home, numbers, tmp_path):
    ended = call("predict", home / "flats.mercr", home / "new.csv")
    assert refused(ended, 3, "which is not there. Did you mean 'flats.mercer'?")
    assert refused(call("inspect", home / "flats.csv"), 3, "it must be a model file of mercer")
    assert refused(call("inspect", tmp_path), 3)
    (tmp_path / "p.mercer").write_bytes(b"\x80\x04 a pickle")
    assert refused(call("inspect", tmp_path / "p.mercer"), 3, "a pickle, which mercer never opens")


def test_a_truncated_or_altered_model_is_refused(home, numbers, tmp_path):
    data = numbers.read_bytes()
    short, altered = tmp_path / "short.mercer", tmp_path / "altered.mercer"
    short.write_bytes(data[: len(data) // 2])
    altered.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
    for path in (short, altered):
        ended = call("predict", path, home / "new.csv")
        assert refused(ended, 3, "cut short or altered: take a fresh copy")
        assert ended.data == b""


def test_a_model_of_a_newer_format_is_refused(numbers, home, tmp_path):
    manifest, tensors = content(numbers)
    manifest |= {"format": "1.9", "min_reader": "1.9", "writer": "mercer 7.2.0"}
    newer = forge(tmp_path / "newer.mercer", manifest, tensors)
    ended = call("predict", newer, home / "new.csv")
    assert refused(ended, 3, "written by 'mercer 7.2.0'", "Update mercer.")


def test_a_forged_card_is_refused(numbers, tmp_path):
    manifest, tensors = content(numbers)
    manifest["card"]["rows"] = "many"
    forged = forge(tmp_path / "forged.mercer", manifest, tensors)
    assert refused(call("inspect", forged), 3, "its card must be one that this mercer knows")


def test_a_model_that_predicts_nothing(home, tmp_path):
    save(TableEncoder().fit(pl.read_csv(home / "new.csv")), tmp_path / "e.mercer")
    ended = call("predict", tmp_path / "e.mercer", home / "new.csv")
    assert refused(ended, 2, "the model must be one that predicts; got TableEncoder")


def test_other_data_than_a_table(numbers, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 12)))
    ended = call("predict", numbers, tmp_path / "x.npy")
    assert refused(ended, 3, "the data must be a table, as that of the fit was")


# --- outputs --------------------------------------------------------------------------------------


def test_a_file_that_exists_is_not_replaced_without_force(home, numbers, tmp_path):
    out = tmp_path / "m.mercer"
    out.write_text("precious")
    words = ("fit", home / "shop.csv", "-t", "sold", *QUICK, "--out", out)
    assert refused(call(*words), 2, "does not exist yet", "--force")
    assert out.read_text() == "precious"
    assert call(*words, "--force").code == 0
    (tmp_path / "r.json").write_text("precious")
    words = ("fit", home / "shop.csv", "-t", "sold", "--out", tmp_path / "n.mercer")
    ended = call(*words, "--report", tmp_path / "r.html", "--max-candidates", "1")
    assert refused(ended, 2, "r.json")
    predictions = tmp_path / "p.csv"
    predictions.write_text("precious")
    assert refused(call("predict", numbers, home / "new.csv", "--out", predictions), 2, "--force")
    assert predictions.read_text() == "precious"


@pytest.mark.parametrize(
    ("out", "text"),
    [
        ("no/folder/m.mercer", "in a folder that exists"),
        (".", "must name a file"),
        ("data.csv", "must not be the file that is read"),
    ],
)
def test_an_output_that_cannot_be(tmp_path, monkeypatch, out, text):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(GOOD)
    ended = call("fit", "data.csv", "-t", "y", "--out", out, "--force", "--no-report")
    assert refused(ended, 2, text)
    assert Path("data.csv").read_text() == GOOD


def test_the_name_of_predictions_must_tell_their_format(home, numbers, tmp_path):
    ended = call("predict", numbers, home / "new.csv", "--out", tmp_path / "p.xls")
    assert refused(ended, 2, "--out must end in .csv", "write --output-format csv")
    assert list(tmp_path.iterdir()) == []


def test_a_table_too_wide_for_a_file_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(fitjob, "MOST_COLUMNS", 1)
    (tmp_path / "data.csv").write_text(GOOD)
    ended = call("fit", tmp_path / "data.csv", "-t", "y", *QUICK, "--out", tmp_path / "m.mercer")
    assert refused(ended, 3, "a table must have at most 1 columns; got 2. Drop columns")


def test_two_outputs_must_be_two_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(GOOD)
    ended = call("fit", "data.csv", "-t", "y", "--out", "a.html", "--report", "a.html")
    assert refused(ended, 2, "must be different files; got 'a.html' for both")


class Full:
    """A file on a disk that is full."""

    def __init__(self, file):
        self.file = file

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()


def full(*args):
    return Full(open(*args))


def test_a_full_disk_leaves_the_old_file(home, tmp_path, monkeypatch):
    out = tmp_path / "m.mercer"
    words = ("fit", home / "shop.csv", "-t", "sold", *QUICK, "--out", out)
    assert call(*words).code == 0
    before = out.read_bytes()
    monkeypatch.setattr(atomic, "open", full, raising=False)
    ended = call(*words, "--force")
    assert refused(ended, 1, "No space left on device", "as it was")
    monkeypatch.undo()
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m.mercer"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_devices_are_written_to_and_not_replaced(home, numbers):
    ended = call(
        "predict", numbers, home / "new.csv", "--out", "/dev/full", "--output-format", "csv"
    )
    assert refused(ended, 1, "No space left")
    ended = call(
        "predict", numbers, home / "new.csv", "--out", "/dev/null", "--output-format", "csv"
    )
    assert ended.code == 0
    save(SVC().fit([[0.0], [1.0]], [0, 1]), "/dev/null")
    for path in ("/dev/full", "/dev/null"):
        assert stat.S_ISCHR(os.stat(path).st_mode)


def test_an_error_in_the_last_block_leaves_no_file(numbers, home, tmp_path, monkeypatch):
    from mercer.cli.stored import predicting

    monkeypatch.setattr(predicting, "BLOCK", 4)
    lines = (home / "new.csv").read_text().splitlines()
    lines[-1] = "large," + lines[-1].partition(",")[2]
    (tmp_path / "odd.csv").write_text("\n".join(lines) + "\n")
    ended = call("predict", numbers, tmp_path / "odd.csv", "--out", tmp_path / "p.csv")
    assert refused(ended, 3, "'large'")
    assert not (tmp_path / "p.csv").exists()


def test_json_of_every_failure_is_json(tmp_path):
    for words in (
        ["fit", "no.csv"],
        ["inspect", "no.mercer"],
        ["predict", "a"],
        ["check", "G(", "x"],
    ):
        ended = call(*words, "--json")
        assert json.loads(ended.out)["exit_code"] == ended.code > 0
