"""mercer fit: every kind of data, target and model; what is shown, saved and said in JSON."""

import json

import numpy as np
import polars as pl
import pytest
from command_line import QUICK, call

from mercer import load, read_card
from mercer.cli.commands.fit import MODELS
from mercer.cli.learn import fitjob, search, spaces
from mercer.status import Status


@pytest.fixture(scope="module")
def result(home, tmp_path_factory):
    """One fit with everything, as JSON."""
    out = tmp_path_factory.mktemp("fit") / "m.mercer"
    words = ("-t", "rent", "--max-candidates", "2", "--out", out, "--json")
    ended = call("fit", home / "flats.csv", *words)
    assert ended.code == 0, ended.err
    return out, ended.json["result"]


def test_a_fit_writes_model_card_report_and_twin(result):
    out, found = result
    assert found["files"]["model"] == str(out)
    page = out.with_name("m-report.html")
    assert found["files"]["report"] == str(page)
    assert page.read_text().startswith("<!DOCTYPE html>")
    twin = json.loads(out.with_name("m-report.json").read_text())
    assert twin["version"]
    card = read_card(out)
    assert (card.task, card.target, card.rows, card.source) == (
        "regression",
        "rent",
        90,
        "flats.csv",
    )
    assert card.command.startswith("mercer fit ")
    assert card.seed == 0
    assert len(load(out).members_) >= 1


def test_the_json_of_a_fit_has_what_the_page_about_it_promises(result):
    _, found = result
    assert set(found) == {
        "data",
        "task",
        "verdict",
        "judgement",
        "findings",
        "model",
        "files",
        "seconds",
    }
    assert found["task"]["kind"] == "regression"
    assert found["verdict"]["grade"] in ("good", "mixed", "bad")
    first = found["judgement"]["scores"][0]
    assert set(first) == {"model", "measure", "value", "standard_error", "better"}
    assert first["standard_error"] > 0
    assert {one["model"] for one in found["judgement"]["baselines"]} >= {"the mean"}
    assert found["data"]["sha256"] == read_card(result[0]).sha256
    assert [column["name"] for column in found["data"]["columns"]][:2] == ["area", "rooms"]
    assert found["model"]["converged"] is True
    assert all(set(one) >= {"code", "severity", "advice"} for one in found["findings"])


def test_scores_of_screen_card_and_report_are_the_same(result):
    out, found = result
    card = read_card(out)
    shown = {one["measure"]: one["value"] for one in found["judgement"]["scores"]}
    assert {one.measure: one.value for one in card.scores} == shown
    model = load(out)
    honest = model.out_of_sample_
    assert shown["RMSE"] == pytest.approx(
        float(np.sqrt(np.mean((_rent(found)[honest.rows] - honest.values[:, 0]) ** 2)))
    )


def _rent(found):
    return pl.read_csv(found["data"]["source"])["rent"].to_numpy()


def test_the_screen_tells_what_was_read_found_and_written(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = call("fit", home / "flats.csv", "-t", "rent", "--max-candidates", "2", "--no-report")
    assert ended.code == 0
    for text in (
        "90 rows × 12 columns, csv",
        "district  category",
        "target rent: regression, since numbers with",
        "boosted trees",
        "a linear model",
        "the mean",
        " ± ",
        "mercer predict flats.mercer new.csv --interval 0.9 --out predictions.csv",
        "mercer inspect flats.mercer",
    ):
        assert text in ended.out
    assert (tmp_path / "flats.mercer").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["flats.mercer"]
    assert not any(line.endswith(" ") for line in ended.out.splitlines())


def test_the_same_command_gives_the_same_model(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("fit", home / "shop.csv", "-t", "sold", *QUICK, "--out", "m.mercer", "--force")
    assert call(*words).code == 0
    first = call("predict", "m.mercer", home / "shop.csv", "--proba").out
    card = read_card("m.mercer")
    assert call(*words).code == 0
    assert call("predict", "m.mercer", home / "shop.csv", "--proba").out == first
    assert read_card("m.mercer") == card


def test_standard_input_and_output(home, tmp_path):
    data = (home / "shop.csv").read_bytes()
    ended = call("fit", "-", "-t", "sold", *QUICK, "--out", "-", stdin=data)
    assert ended.code == 0
    frame = pl.read_csv(home / "shop.csv").drop("sold")
    assert load(ended.data).predict(frame[:3]).shape == (3,)
    assert "target sold: classification, since its values are texts" in ended.err
    shown = call("fit", "-", "-t", "sold", *QUICK, "--out", tmp_path / "m.mercer", stdin=data).out
    assert f"mercer predict {tmp_path}/m.mercer new.csv --proba --out" in shown
    assert read_card(ended.data).source == ""


def test_the_task_is_decided_by_a_rule_that_can_be_overruled(home, tmp_path):
    table = pl.DataFrame({"x": np.arange(60.0), "stars": [1 + i // 20 for i in range(60)]})
    table.write_csv(tmp_path / "t.csv")
    words = ("fit", tmp_path / "t.csv", "-t", "stars", "--max-candidates", "1", "--no-report")
    ended = call(*words, "--out", tmp_path / "a.mercer")
    assert "target stars: classification, since whole numbers with 3 different values" in ended.out
    assert load(tmp_path / "a.mercer").classes_.tolist() == [1, 2, 3]
    ended = call(*words, "--out", tmp_path / "b.mercer", "--task", "regression")
    assert "target stars: regression, as --task says" in ended.out
    ended = call(
        *("fit", home / "shop.csv", "-t", "colour", "--task", "regression"),
        *("--out", tmp_path / "c.mercer"),
    )
    assert ended.code == 3
    assert "must hold numbers for --task regression; got 'red' first" in ended.err


def test_groups_and_time_are_taken_out_and_obeyed(home, tmp_path):
    words = ("fit", home / "shop.csv", "-t", "sold", *QUICK)
    ended = call(*words, "--group", "shop", "--drop", "day", "--out", tmp_path / "g.mercer")
    assert ended.code == 0
    assert "Rows of one 'shop' are judged together: 8 groups." in ended.out
    names = load(tmp_path / "g.mercer").feature_names_in_.tolist()
    assert names == ["a", "b", "colour"]
    ended = call(*words, "--time", "day", "--drop", "shop", "--out", tmp_path / "t.mercer")
    assert ended.code == 0
    model = load(tmp_path / "t.mercer")
    assert model.split == "time"
    # The file has the last day first: the rows that are judged are the last in time.
    assert model.out_of_sample_.rows.tolist() == list(range(64, 80))
    frame = pl.read_csv(home / "shop.csv").drop("shop", "day", "sold")
    assert model.predict(frame)[0] in ("yes", "no")


@pytest.mark.parametrize("model", [name for name in MODELS if name != "auto"])
def test_every_model_can_be_fitted_saved_and_used(model, home, tmp_path):
    target = "rent" if model == "svr" else "sold"
    source = home / ("flats.csv" if model == "svr" else "shop.csv")
    out = tmp_path / "m.mercer"
    ended = call("fit", source, "-t", target, "--model", model, *QUICK, "--out", out)
    assert ended.code == 0, ended.err
    ended = call("predict", out, source)
    assert ended.code == 0, ended.err
    assert len(ended.out.splitlines()) == 1 + len(pl.read_csv(source))


@pytest.mark.parametrize("model", ["ridge", "mkl", "rfm", "machine", "knn"])
def test_models_of_both_kinds_take_numbers_too(model, home, tmp_path):
    out = tmp_path / "m.mercer"
    ended = call("fit", home / "flats.csv", "-t", "rent", "--model", model, *QUICK, "--out", out)
    assert ended.code == 0, ended.err
    assert read_card(out).task == "regression"


def test_the_models_of_the_help_are_those_there_are():
    assert set(MODELS) == set(spaces.MODELS)


def test_a_model_for_classes_refuses_numbers(home, tmp_path):
    ended = call("fit", home / "flats.csv", "-t", "rent", "--model", "svc", "--out", tmp_path / "m")
    assert ended.code == 2
    assert (
        "--model svc is for classification, and so the target must be; got regression" in ended.err
    )
    assert "Write --model svr" in ended.err


def test_a_kernel_is_used_as_it_is_written(ridge):
    card = read_card(ridge)
    assert card.kernel == "Gaussian(gamma=0.01)"
    assert card.estimator == "KernelRidgeCV"
    assert len(card.columns) == 12


def test_a_kernel_alone_means_a_ridge_model(home, tmp_path):
    words = ("-t", "sold", "--kernel", "0.7*Gaussian(gamma=0.5) + (Linear() + 1)**2", *QUICK)
    ended = call("fit", home / "shop.csv", *words, "--out", tmp_path / "m.mercer")
    assert ended.code == 0
    assert read_card(tmp_path / "m.mercer").estimator == "KernelRidgeClassifierCV"


def test_a_kernel_of_named_columns_takes_the_table_as_it_is(home, tmp_path):
    words = ("-t", "sold", "--model", "svc", "--kernel", 'Spectrum(2).on("colour")', *QUICK)
    ended = call("fit", home / "shop.csv", *words, "--out", tmp_path / "m.mercer")
    assert ended.code == 0, ended.err
    ended = call("predict", tmp_path / "m.mercer", home / "shop.csv")
    assert ended.code == 0, ended.err


def test_types_of_columns_can_be_told(home, tmp_path):
    words = ("-t", "rent", "--type", "floor=category", "--type", "agent=drop", *QUICK)
    ended = call("fit", home / "flats.csv", *words, "--out", tmp_path / "m.mercer")
    assert ended.code == 0, ended.err
    kinds = {column.name: column.kind for column in read_card(tmp_path / "m.mercer").columns}
    assert kinds["floor"] == "category"
    assert "agent" not in kinds
    ended = call("fit", home / "flats.csv", "-t", "rent", "--type", "floor=colour")
    assert ended.code == 2
    assert "must be one of number" in ended.err


# --- other data -----------------------------------------------------------------------------------


def test_a_matrix(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    np.savez(tmp_path / "m.npz", X=X, y=(X[:, 0] > 0).astype(int))
    words = ("--out", tmp_path / "m.mercer", *QUICK)
    assert call("fit", tmp_path / "m.npz", *words).code == 0
    np.save(tmp_path / "new.npy", X[:5])
    ended = call("predict", tmp_path / "m.mercer", tmp_path / "new.npy", "--proba")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0] == "prediction,probability 0,probability 1"


def test_sparse_rows(tmp_path):
    lines = [f"{1 if i % 2 else -1} {1 + i % 2}:1 {3 + i % 5}:0.5\n" for i in range(60)]
    (tmp_path / "a.svmlight").write_text("".join(lines))
    words = ("--model", "svc", "--out", tmp_path / "m.mercer", *QUICK)
    ended = call("fit", tmp_path / "a.svmlight", *words)
    assert ended.code == 0, ended.err
    assert load(tmp_path / "m.mercer").classes_.tolist() == [-1, 1]
    (tmp_path / "few.svmlight").write_text("0 1:1 3:0.5\n0 2:1\n")  # fewer columns are there
    ended = call("predict", tmp_path / "m.mercer", tmp_path / "few.svmlight")
    assert ended.code == 0, ended.err
    assert ended.out.split() == ["prediction", "-1", "1"]


def test_strings_and_trees_have_kernels_of_their_own(tmp_path):
    genes = [("alpha", "ACGT"), ("beta", "GGTT")]
    lines = [f">s{i} {genes[i % 2][0]}\n{3 * genes[i % 2][1]}{'A' * (i % 3)}\n" for i in range(24)]
    (tmp_path / "s.fasta").write_text("".join(lines))
    trees = [f"{i % 2}\t(S (NP {'a' if i % 2 else 'b'}) (VP c{i % 3}))\n" for i in range(24)]
    (tmp_path / "t.trees").write_text("".join(trees))
    for name, kernel in (("s.fasta", "Spectrum"), ("t.trees", "SubsetTree")):
        out = tmp_path / f"{name}.mercer"
        ended = call("fit", tmp_path / name, "--out", out, *QUICK)
        assert ended.code == 0, ended.err
        assert read_card(out).kernel.startswith(kernel)
        assert call("predict", out, tmp_path / name).code == 0
        assert "row" not in call("inspect", out).out.partition("Data")[2].splitlines()[0]


def test_graphs_in_a_folder(tmp_path):
    folder = tmp_path / "TOY"
    folder.mkdir()
    edges, nodes, labels, first = [], [], [], 1
    for number in range(20):
        size = 3 + number % 2
        ring = [(first + i, first + (i + 1) % size) for i in range(size)]
        edges += [pair for a, b in ring for pair in ((a, b), (b, a))]
        nodes += [number + 1] * size
        labels.append(number % 2)
        first += size
    (folder / "TOY_A.txt").write_text("".join(f"{a}, {b}\n" for a, b in edges))
    (folder / "TOY_graph_indicator.txt").write_text("".join(f"{one}\n" for one in nodes))
    (folder / "TOY_graph_labels.txt").write_text("".join(f"{one}\n" for one in labels))
    out = tmp_path / "g.mercer"
    ended = call("fit", folder, "--out", out, *QUICK)
    assert ended.code == 0, ended.err
    assert read_card(out).points == "graphs"
    assert call("evaluate", out, folder, "--json").json["result"]["scores"][0]["value"] is not None


# --- limits and strictness ------------------------------------------------------------------------


def test_a_time_limit_ends_the_fit(home, tmp_path):
    words = ("-t", "rent", "--time-limit", "3s", "--no-report", "--out", tmp_path / "m.mercer")
    ended = call("fit", home / "flats.csv", *words)
    assert ended.code == 0
    assert "Fitting for up to" in ended.err


def test_a_limit_of_memory_is_refused_with_5(tmp_path, home):
    words = ("-t", "rent", "--model", "svr", "--kernel", "Gaussian(gamma=0.1)", *QUICK)
    out = tmp_path / "m.mercer"
    ended = call("fit", home / "flats.csv", *words, "--memory-limit", "10B", "--out", out)
    assert ended.code == 5, ended.err
    assert "--memory-limit" in ended.err
    assert not out.exists()
    assert call("fit", home / "flats.csv", *words, "--memory-limit", "lots").code == 2


def test_strict_asks_for_convergence(home, tmp_path, monkeypatch):
    monkeypatch.setattr(fitjob, "unconverged", lambda model: [f"SVC: {Status.TIME_LIMIT.value}"])
    words = ("fit", home / "shop.csv", "-t", "sold", *QUICK)
    lenient = call(*words, "--out", tmp_path / "a.mercer")
    assert lenient.code == 0
    ended = call(*words, "--strict", "--out", tmp_path / "b.mercer", "--json")
    assert ended.code == ended.json["exit_code"] == 4
    assert "got SVC: time limit. Raise --time-limit." in ended.json["error"]["message"]
    assert ended.json["result"]["model"]["converged"] is False
    assert (tmp_path / "b.mercer").exists()


def test_a_report_that_fails_does_not_cost_the_model(home, tmp_path, monkeypatch):
    from mercer.cli.learn import reporting

    def broken(*args, **options):
        raise RuntimeError("no ink")

    monkeypatch.setattr(reporting, "report_of", broken)
    words = ("-t", "sold", "--max-candidates", "1", "--out", tmp_path / "m.mercer")
    ended = call("fit", home / "shop.csv", *words)
    assert ended.code == 1
    assert "no ink" in ended.err
    assert f"The model is in {tmp_path / 'm.mercer'}, but there is no report" in ended.err
    assert read_card(tmp_path / "m.mercer").scores


@pytest.mark.parametrize("model", ["ridge", "svc", "knn"])
def test_of_many_rows_parameters_are_chosen_on_some(home, tmp_path, monkeypatch, model):
    monkeypatch.setattr(search, "SEARCH_ROWS", 40)
    words = ("fit", home / "shop.csv", "-t", "sold", "--drop", "day", "--model", model)
    ended = call(*words, *QUICK, "--group", "shop", "--out", tmp_path / "m.mercer")
    assert ended.code == 0, ended.err
    assert "Kernel and penalty were chosen on 40 of 80 rows." in ended.out
    card = read_card(tmp_path / "m.mercer")
    assert card.rows == 80
    assert "Kernel and penalty were chosen on 40 of 80 rows." in card.notes
    last = load(tmp_path / "m.mercer").steps[-1][1]
    assert type(last).__name__ in ("KernelRidgeClassifier", "SVC", "KernelNeighborsClassifier")
    assert getattr(last, "time_limit", None) is None


def test_where_time_is_short_the_model_has_few_centres(home, tmp_path, monkeypatch):
    monkeypatch.setattr(search, "FEWER_ROWS", 40)
    monkeypatch.setattr(search, "RATE", 1.0)
    words = ("fit", home / "flats.csv", "-t", "rent", "--model", "ridge", "--time-limit", "20")
    ended = call(*words, "--no-report", "--out", tmp_path / "m.mercer")
    assert ended.code == 0, ended.err
    assert "The model is a function of few centres, for lack of time." in ended.out
    assert load(tmp_path / "m.mercer").steps[-1][1].solver == "nystrom"


def test_a_model_that_there_was_no_time_to_judge_is_saved_all_the_same(home, tmp_path, monkeypatch):
    monkeypatch.setattr(fitjob, "judge", lambda *args: None)
    words = ("fit", home / "shop.csv", "-t", "sold", *QUICK, "--out", tmp_path / "m.mercer")
    ended = call(*words, "--json")
    assert ended.code == 0
    assert ended.json["warnings"] == ["There was no time to judge the model: raise --time-limit."]
    assert ended.json["result"]["judgement"] is None
    assert read_card(tmp_path / "m.mercer").scores == ()
    assert call("inspect", tmp_path / "m.mercer").code == 0
