"""The numbers that the pictures of the lectures show."""

import gzip
import io

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mercer.kernels import Gaussian, Polynomial


def test_perceptron(load):
    script = load("lectures/perceptron")
    found = script.numbers()
    X, y, model = found["X"], found["y"], found["model"]
    # The algorithm of the lecture, visit by visit.
    made, quiet = [], 0
    while quiet < len(y):
        for t in range(len(y)):
            score = sum(y[i] * (np.exp(-((X[i] - X[t]) ** 2).sum() / 2) + 1) for i in made)
            quiet = 0 if y[t] * score <= 0 else quiet + 1
            made += [t] if quiet == 0 else []
            if quiet == len(y):
                break
    assert model.mistakes_.tolist() == made
    assert len(made) == 4
    assert np.array_equal(model.predict(X), y)
    after = script.scores_after(2, model, X, y, X[:3])
    wanted = [
        sum(y[i] * (np.exp(-((X[i] - x) ** 2).sum() / 2) + 1) for i in made[:2]) for x in X[:3]
    ]
    assert np.allclose(after, wanted)


def test_polynomial_regressions(load):
    found = load("lectures/polynomial_regressions").numbers(draws=4)
    assert found["search"].kernel_ == Polynomial(1)
    assert sum(found["shares"].values()) == pytest.approx(1.0)
    x, y = found["x"], found["y"]
    for order, error in zip((1, 3, 5, 7), found["errors"], strict=True):
        left_out = []
        for t in range(len(y)):
            keep = np.arange(len(y)) != t
            K = (x @ x.T + 1) ** order
            a = np.linalg.solve(K[np.ix_(keep, keep)] + 1e-4 * np.eye(len(y) - 1), y[keep])
            left_out.append(y[t] - K[t, keep] @ a)
        assert error == pytest.approx(np.mean(np.square(left_out)), rel=1e-4)
    assert found["errors"] == sorted(found["errors"])


def test_linear_and_kernel(load):
    script = load("lectures/linear_and_kernel")
    counts = [script.mistakes(case) for case in script.numbers().values()]
    assert counts == [0, 6, 33, 0]


def test_principal_components(load):
    found = load("lectures/principal_components").numbers(n=200)
    for name in ("a line", "a plane"):
        assert found[name]["PCA"]["after"] < 0.3 * found[name]["before"]
    curved = found["a curved surface"]
    assert curved["kernel PCA"]["after"] < 0.7 * curved["before"] < curved["PCA"]["after"]
    # PCA by its definition: the projection on the first two principal axes.
    X = curved["X"] - curved["X"].mean(axis=0)
    axes = np.linalg.svd(X, full_matrices=False)[2][:2]
    assert np.allclose(curved["PCA"]["back"], X @ axes.T @ axes + curved["X"].mean(axis=0))


def test_explicit_maps(load):
    script = load("lectures/explicit_maps")
    found = script.numbers()
    for name, phi in (("fold", script.fold), ("squares", script.squares)):
        one = found[name]
        scores = phi(one["X"]) @ one["w"] + one["model"].intercept_[0]
        assert (one["y"] * scores).min() == pytest.approx(1.0, abs=1e-3)  # separated, w in place
    assert found["powers"]["w"] == pytest.approx([5, -4, 1], abs=0.3)


def test_neighbors_and_prototypes(load):
    found = load("lectures/neighbors_and_prototypes").numbers(new=500)
    models, scores = found["models"], found["scores"]
    grid = np.random.default_rng(0).uniform(-3, 3, (200, 2))
    plain, bell, square = (
        models["5 nearest neighbours", name].predict(grid) for name in ("x·y", "Gaussian", "(x·y)²")
    )
    assert np.array_equal(plain, bell)  # radial kernels keep the order of distances
    assert np.array_equal(square, models["5 nearest neighbours", "(x·y)²"].predict(-grid))
    assert scores["nearest class mean", "x·y"] < 0.6 < 0.85 < scores["nearest class mean", "(x·y)²"]


def test_local_fits(load):
    found = load("lectures/local_fits").numbers()
    assert np.allclose(found["bumps"].sum(axis=1), found["curve"].predict(found["grid"]))
    assert found["error"] < 0.06


def test_lifting(load):
    script = load("lectures/lifting")
    found = script.numbers()
    assert np.allclose(found["Z"] @ found["Z"].T, (found["X"] @ found["X"].T) ** 2)
    scores = found["Z"] @ found["w"] + found["b"]
    assert np.allclose(scores, found["model"].decision_function(found["X"]))
    assert (found["y"] * scores).min() == pytest.approx(1.0, abs=1e-3)
    assert found["model"].certificate_.margin == pytest.approx(1 / np.linalg.norm(found["w"]))


def test_gamma_contours(load):
    script = load("lectures/gamma_contours")
    found = script.numbers(steps=40)
    first, *_, last = script.GAMMAS
    assert found["as_linear"][first] > 0.99
    assert found["as_nearest"][last] > 0.99
    assert list(found["beside"].values()) == sorted(found["beside"].values(), reverse=True)
    assert found["beside"][last] < 0.01 < 0.99 < found["beside"][first]
    scores = found["models"][first].decision_function(found["X"])
    wanted = Ridge(script.LAMBDA).fit(found["X"], found["y"]).predict(found["X"])
    assert np.allclose(scores, wanted, atol=1e-3)


def test_random_features(load):
    script = load("lectures/random_features")
    found = script.numbers(points=20, repeats=1, n=300, widths=(16, 128))
    gaps = [
        np.abs(values - found["along"]["kernel"]).max()
        for values in found["along"]["products"].values()
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert found["along"]["kernel"] == pytest.approx(np.exp(-0.5 * found["along"]["x"] ** 2))
    network = found["network"]
    total = network["units"].sum(axis=1) + network["model"].intercept_
    assert np.allclose(total, network["model"].predict(network["grid"]))
    models = found["models"]
    for few, many in models["errors"].values():
        assert models["whole"] < many < few


def test_margin(load):
    for title, case in load("lectures/margin").numbers().items():
        score = case["y"] * case["model"].decision_function(case["X"])
        a, C = case["a"], case["C"]
        assert (score[a == 0] >= 1 - 1e-3).all(), title
        free = (a > 0) & (a < C)
        assert np.abs(score[free] - 1).max() < 1e-3
        assert (score[a == C] <= 1 + 1e-3).all()
        assert np.allclose(case["slack"], np.maximum(0, 1 - score))
    assert load("lectures/margin").numbers()["hard margin, C = ∞"]["slack"].max() < 1e-3


def test_risk_tradeoff(load):
    found = load("lectures/risk_tradeoff").numbers(n=1500, steps=5)
    assert (found["new"] <= found["bounds"]).all()
    assert (np.diff(found["norms"]) > 0).all()
    assert found["slack"][-1] < found["slack"][0]
    assert found["slack"] == pytest.approx(
        [
            np.minimum(
                1, np.maximum(0, 1 - found["y"] * model.decision_function(found["X"]))
            ).mean()
            for model in found["models"]
        ]
    )


def test_kernel_weights(load):
    script = load("lectures/kernel_weights")
    found = script.numbers(n=200, gap=1e-2)
    simple, level = found["models"]["SimpleMKL"], found["models"]["level method"]
    assert simple.weights_.sum() == pytest.approx(1.0)
    assert simple.certificate_.objective == pytest.approx(level.certificate_.objective, rel=0.02)
    assert level.certificate_.solves < simple.certificate_.solves
    by_column = found["table"].sum(axis=1)
    assert set(np.argsort(by_column)[-2:]) == {1, 3}  # the columns that decide
    assert found["table"][3].argmax() == 3  # stripes ask for a narrow kernel
    assert found["scores"]["SimpleMKL"] > found["scores"]["equal weights"]


def test_mnist_full_kernel(load):
    script = load("lectures/mnist_full_kernel")
    found = script.numbers(rows=300)
    assert found["model"].certificate_.status == "converged"
    assert found["records"][-1]["residual"] <= script.TOL
    wrong = found["guess"] != found["y_new"]
    assert found["accuracy"] == pytest.approx(1 - wrong.mean())
    assert wrong[found["worst"]].all()
    assert (np.diff(found["sure"][found["worst"]]) <= 0).all()
    assert script.summary(found)[0].startswith("scikit-learn's digits, 300 rows")


def test_the_files_of_mnist_are_read(load, tmp_path):
    script = load("lectures/mnist_full_kernel")
    random = np.random.default_rng(0)
    for prefix, n in (("train", 30), ("t10k", 12)):
        labels = (np.arange(n) % 2).astype(np.uint8)
        images = random.integers(0, 40, (n, 28, 28)).astype(np.uint8)
        images[labels == 1, :14] += 200
        for name, array in (("images-idx3", images), ("labels-idx1", labels)):
            stream = io.BytesIO()
            stream.write(bytes([0, 0, 8, array.ndim]))
            stream.write(np.array(array.shape, ">i4").tobytes() + array.tobytes())
            path = tmp_path / f"{prefix}-{name}-ubyte.gz"
            path.write_bytes(gzip.compress(stream.getvalue()))
    found = script.numbers(rows=20, folder=tmp_path)
    assert found["X_train"].shape == (20, 784)
    assert found["X_train"].max() <= 1.0
    assert found["accuracy"] == 1.0
    assert found["model"].kernel_ == Gaussian(0.02)


def test_lecture_identities(load, capsys):
    script = load("lectures/lecture_identities")
    parts = "rules classics objects making geometry validity ridge machines features learners"
    for part in parts.split():
        getattr(script, part)()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 60
    assert any(line.endswith("-0.1006") for line in lines)  # the Laplacian that is not a kernel
    off = [line for line in lines if "off by" in line]
    assert len(off) == 1
    assert "series of degree 0 to 6" in off[0]  # which is cut off, and says by how much
