"""inspect, tune, check, compress, convert, bench and demo."""

import json
import shutil
import subprocess

import numpy as np
import polars as pl
import pytest
from command_line import QUICK, call

from mercer import SVC, KernelRidge, load, read_card, save
from mercer.cli.learn import tuning
from mercer.cli.show.parts import rounded
from mercer.cli.tools import benching

# --- inspect --------------------------------------------------------------------------------------


def test_inspect_shows_the_card_and_the_members(numbers):
    ended = call("inspect", numbers)
    assert ended.code == 0
    for text in (
        "AutoKernelRegressor",
        "90 rows",
        "flats.csv",
        "district",
        "this model",
        "boosted trees",
        "certificate",
        "weight  member",
        "mercer fit ",
        "scikit-learn",
    ):
        assert text in ended.out
    found = call("inspect", numbers, "--json").json["result"]
    assert found["card"] == json.loads(json.dumps(read_card(numbers).as_dict()))
    assert sum(one["weight"] for one in found["members"]) == pytest.approx(1.0)
    assert found["bytes"] == numbers.stat().st_size


def test_inspect_of_a_model_without_a_card(tmp_path):
    save(KernelRidge().fit([[0.0], [1.0]], [0.0, 1.0]), tmp_path / "m.mercer")
    ended = call("inspect", tmp_path / "m.mercer")
    assert ended.code == 0
    assert "The file has no card" in ended.out
    assert "Gaussian(gamma=" in ended.out
    assert call("inspect", tmp_path / "m.mercer", "--json").json["result"]["card"] is None


def test_inspect_of_a_wide_table_shows_some_columns(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 50))
    np.savez(tmp_path / "x.npz", X=X, y=X[:, 0])
    out = tmp_path / "m.mercer"
    assert call("fit", tmp_path / "x.npz", "--model", "ridge", *QUICK, "--out", out).code == 0
    assert "and 20 more; --columns shows them" in call("inspect", out).out
    assert "x49" in call("inspect", out, "--columns").out


def test_inspect_keeps_lines_and_matrices_out_of_its_tables(tmp_path):
    words = ("one", "two\nlines", "three")
    rows = [f'"{words[i % 3]}",{i},{i * i % 7}\n' for i in range(40)]
    (tmp_path / "d.csv").write_text("note,a,y\n" + "".join(rows))
    out = tmp_path / "m.mercer"
    words = ("fit", tmp_path / "d.csv", "-t", "y", "--task", "regression", *QUICK, "--out", out)
    assert "two lines" in call(*words).out
    assert "one, three, two lines" in call("inspect", out).out
    assert rounded("2.00001*Gaussian(gamma=1).metric([0.1, 2.0]) + Linear()") == (
        "2*Gaussian(gamma=1).metric(…) + Linear()"
    )


# --- tune -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,10,100", [1, 10, 100]),
        ("0.5", [0.5]),
        ("auto,scale", ["auto", "scale"]),
        ("True,None", [True, None]),
        ("1e-3:10", (0.001, 10.0)),
    ],
)
def test_what_is_tried_of_a_parameter(text, wanted):
    assert tuning.values_of("C", text) == wanted


def test_a_number_for_each_column():
    found = tuning.values_of("kernel__gamma", "each:0.1:10")
    assert (found.low, found.high) == (0.1, 10.0)


def test_tune_finds_shows_and_saves_the_best(home, tmp_path):
    words = ("tune", home / "shop.csv", "-t", "sold", "--drop", "day", "--model", "svc")
    space = ("--param", "C=0.01,10", "--param", "kernel__gamma=0.1,1")
    ended = call(*words, *space, "--folds", "3", "--out", tmp_path / "t.mercer")
    assert ended.code == 0, ended.err
    assert "the best of 4, by grid, complete" in ended.out
    card = read_card(tmp_path / "t.mercer")
    assert card.scores[0].measure == "accuracy"
    assert load(tmp_path / "t.mercer").steps[-1][1].C in (0.01, 10)
    found = call(*words, *space, "--json").json["result"]
    assert len(found["candidates"]) == 4
    assert found["score"] == max(one["score"] for one in found["candidates"])


def test_tune_follows_a_gradient(home):
    words = ("tune", home / "flats.csv", "-t", "rent", "--model", "ridge", "--iterations", "2")
    space = ("--param", "alpha=1e-4:1", "--param", "kernel__gamma=1e-3:1")
    found = call(*words, *space, "--json").json["result"]
    assert found["method"] == "gradient"
    assert 1e-4 <= found["params"]["alpha"] <= 1


@pytest.mark.parametrize(
    ("params", "text"),
    [
        (["--param", "gama=1,2"], "Did you mean 'gamma'?"),
        (["--param", "C=2:1"], "LOW below HIGH"),
        (["--param", "C=a:1"], "LOW:HIGH with two numbers; got 'a:1'"),
        (["--param", "C"], "NAME=VALUES; got 'C'"),
        ([], "--param"),
    ],
)
def test_a_space_that_cannot_be_searched(home, params, text):
    ended = call("tune", home / "shop.csv", "-t", "sold", "--model", "svc", *params)
    assert ended.code == 2
    assert text in ended.err


# --- check ----------------------------------------------------------------------------------------


def test_check_says_what_is_a_kernel_and_what_is_not(home, tmp_path):
    ended = call("check", "Gaussian(gamma=0.1)", home / "flats.csv", "--drop", "rent")
    assert ended.code == 0
    assert "a valid Mercer kernel" in ended.out
    ended = call("check", "Sigmoid(gamma=2.0)", home / "flats.csv", "--drop", "rent")
    assert ended.code == 1
    assert "not positive semi-definite" in ended.out
    assert "got a smallest eigenvalue of -" in ended.err
    found = call("check", "Sigmoid(gamma=2.0)", home / "flats.csv", "--json").json
    assert (found["exit_code"], found["result"]["is_psd"]) == (1, False)


def test_check_takes_some_rows_and_points_as_they_are(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    np.save(tmp_path / "x.npy", X)
    words = ("check", "Gaussian(gamma=0.5)", tmp_path / "x.npy", "--json")
    found = call(*words, "--rows", "20", "--raw").json["result"]
    assert found["n"] == 20
    wanted = np.linalg.eigvalsh(np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2)))
    found = call(*words, "--raw").json["result"]
    assert found["max_eigenvalue"] == pytest.approx(wanted[-1])
    assert call("check", "Gaussian(", tmp_path / "x.npy").code == 2


# --- compress -------------------------------------------------------------------------------------


def test_compress_tells_sizes_and_errors(ridge, home, tmp_path):
    small = tmp_path / "small.mercer"
    words = ("compress", ridge, "--centers", "15", "--data", home / "flats.csv", "--out", small)
    ended = call(*words)
    assert ended.code == 0, ended.err
    assert next(line.split()[:3] for line in ended.out.splitlines() if "points" in line) == [
        "points",
        "90",
        "15",
    ]
    found = call(*words, "--force", "--json").json["result"]
    assert found["points"] == {"before": 90, "after": 15}
    assert found["bytes"]["after"] < found["bytes"]["before"]
    assert 0 < found["relative_error"] < 1
    frame = pl.read_csv(home / "flats.csv", try_parse_dates=True).drop("rent")
    moved = np.abs(load(small).predict(frame) - load(ridge).predict(frame))
    assert found["predictions"]["largest"] == pytest.approx(moved.max(), rel=1e-6)
    assert read_card(small) == read_card(ridge)


def test_compress_an_ensemble_by_members(classes, home, tmp_path):
    small = tmp_path / "small.mercer"
    ended = call("compress", classes, "--centers", "20", "--out", small, "--json")
    assert ended.code == 0, ended.err
    assert call("predict", small, home / "shop.csv", "--proba").code == 0
    ended = call("compress", classes, "--centers", "1", "--out", tmp_path / "one.mercer")
    assert "The small model may predict something else" in ended.err


def test_compress_wants_one_aim(ridge, tmp_path):
    words = ("compress", ridge, "--out", tmp_path / "s.mercer")
    assert "got neither" in call(*words).err
    assert call(*words, "--centers", "5", "--tol", "0.1").code == 2


# --- convert --------------------------------------------------------------------------------------


@pytest.fixture
def machine(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = SVC(C=2.0, kernel="rbf", gamma=0.5).fit(X, (X[:, 0] > 0).astype(int))
    save(model, tmp_path / "m.mercer")
    return tmp_path, model, X


def test_convert_to_libsvm_and_back(machine):
    folder, model, X = machine
    ended = call("convert", folder / "m.mercer", folder / "m.model")
    assert ended.code == 0, ended.err
    assert (folder / "m.model").read_text().startswith("svm_type c_svc")
    ended = call("convert", folder / "m.model", folder / "back.mercer", "--json")
    assert ended.json["result"]["to"] == "mercer"
    back = load(folder / "back.mercer")
    np.testing.assert_allclose(back.decision_function(X), model.decision_function(X), atol=1e-6)


def test_convert_to_onnx(machine):
    folder, _, _ = machine
    ended = call("convert", folder / "m.mercer", folder / "m.onnx")
    assert ended.code == 0, ended.err
    assert (folder / "m.onnx").stat().st_size > 100


def test_convert_refuses_what_makes_no_sense(machine, numbers):
    folder, _, _ = machine
    assert call("convert", folder / "m.mercer", folder / "x.mercer").code == 2
    ended = call("convert", folder / "m.mercer", folder / "x.pmml")
    assert ended.code == 2
    assert ".onnx" in ended.err
    (folder / "text.txt").write_text("hello\n")
    assert call("convert", folder / "text.txt", folder / "x.onnx").code == 2
    assert call("convert", folder / "text.txt", folder / "x.mercer").code == 3
    assert call("convert", folder / "no.model", folder / "x.mercer").code == 3
    assert call("convert", folder / "m.mercer", folder / "m.mercer", "--to", "onnx").code == 2
    ended = call("convert", numbers, folder / "x.model")
    assert ended.code in (1, 2, 3)
    assert "error: " in ended.err
    assert not (folder / "x.model").exists()


# --- bench and demo -------------------------------------------------------------------------------


def test_bench_compares_only_what_agrees():
    found = call("bench", "--scale", "0.05", "--json").json["result"]["tasks"]
    assert len(found) == 4
    for one in found:
        assert one["difference"] <= 5 * benching.TOLERANCE, one
        assert one["ratio"] == pytest.approx(one["scikit_learn_seconds"] / one["mercer_seconds"])


def test_a_race_without_the_same_result_has_no_ratio(monkeypatch):
    race = benching.Race(
        name="liars", ours=lambda: 1, theirs=lambda: 2, agree=lambda left, right: ("sum", 0.5)
    )
    monkeypatch.setattr(benching, "races", lambda scale, seed: [race])
    ended = call("bench")
    assert "DIFFERS" in ended.out
    assert call("bench", "--json").json["result"]["tasks"][0]["ratio"] is None


def test_demo_is_the_main_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = call("demo", "--rows", "80", "--max-candidates", "1")
    assert ended.code == 0, ended.err
    folder = tmp_path / "demo-output"
    assert {path.name for path in folder.iterdir()} == {
        "flats.csv",
        "new_flats.csv",
        "flats.mercer",
        "flats-report.html",
        "flats-report.json",
        "predictions.csv",
    }
    assert "$ mercer fit demo-output/flats.csv --target rent" in ended.out
    assert str(folder / "flats-report.html") in ended.out
    assert len(pl.read_csv(folder / "predictions.csv")) == 200
    card = read_card(folder / "flats.mercer")
    assert card.command.startswith("mercer fit demo-output/flats.csv --target rent")
    again = call("demo", "--rows", "80", "--max-candidates", "1")
    assert again.code == 2
    assert "--force" in again.err
    # The command that it shows does the same.
    shutil.copy(folder / "flats.csv", tmp_path / "flats.csv")
    words = ("-t", "rent", "--max-candidates", "1", "--no-report")
    assert call("fit", "flats.csv", *words).code == 0
    predict = ("predict", "flats.mercer", folder / "new_flats.csv", "--interval", "0.9")
    assert call(*predict).out == (folder / "predictions.csv").read_text()


def test_make_demo_calls_it():
    done = subprocess.run(["make", "-n", "demo"], capture_output=True, text=True, check=True)
    assert "mercer demo demo-output --force" in done.stdout
