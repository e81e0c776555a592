"""The numbers that the pictures of models show."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score


def test_clusters(load):
    found = load("models/clusters").numbers()
    assert found["clusters"]["linear"]["right"] < 0.8
    assert found["clusters"]["Gaussian kernel"]["right"] > 0.99
    assert found["scores"][1] < 0.8 < 0.97 < found["scores"][2]
    assert found["directions"]["linear"]["right"] < 0.8
    assert found["directions"]["Gaussian kernel"]["right"] == 1.0


def test_relevant_columns(load):
    found = load("models/relevant_columns").numbers(n=200)
    gammas = np.array(found["tuned"]["a gamma per column"].params["kernel__gamma"])
    assert set(np.argsort(gammas)[-3:]) == {0, 1, 2}
    assert found["errors"]["a gamma per column"] < 0.5 * found["errors"]["one gamma"]


def test_tuning_surface(load):
    found = load("models/tuning_surface").numbers(n=120, steps=4)
    tuned = found["tuned"]
    assert len(tuned.table["params"]) == 16
    assert tuned.score == max(tuned.table["mean_test_score"])
    scores = cross_val_score(tuned.model, found["X"], found["y"], cv=5)
    assert scores.mean() == pytest.approx(tuned.score, abs=0.05)  # other folds, much the same


def test_digits_embedding(load):
    found = load("models/digits_embedding").numbers(n=200)
    model = found["model"]
    assert found["share"][7] == pytest.approx(model.explained_variance_ratio_.sum())
    K = model.kernel_(found["X"])
    H = np.eye(len(K)) - 1 / len(K)
    values = np.linalg.eigvalsh(H @ K @ H)[::-1]
    assert found["share"] == pytest.approx(np.cumsum(values[:8]) / values.sum(), rel=1e-4)


def test_probabilities(load):
    found = load("models/probabilities").numbers(n=200)
    guess = found["model"].predict(found["X_new"])
    assert found["accuracy"] == np.mean(guess == found["y_new"])
    assert found["accuracy"] > 0.9


def test_uncertainty(load):
    found = load("models/uncertainty").numbers(n=80, new=1000)
    assert found["within"] > 0.9
    assert found["covered"] > 0.8
    mean, spread = found["ridge"].predict(found["X_new"], return_std=True)
    inside = (mean - 2 * spread <= found["y_new"]) & (found["y_new"] <= mean + 2 * spread)
    assert found["within"] == inside.mean()


def test_validity(load):
    good, bad = load("models/validity").numbers().values()
    assert good["certificate"].is_psd
    assert not bad["certificate"].is_psd
    assert bad["values"][-1] == pytest.approx(-0.1006, abs=1e-4)
    # By hand: the four outer points are alike, so that sums over them have this 2 x 2 matrix.
    e1, e4 = np.exp(-0.25), np.exp(-1.0)
    block = np.array([[1.0, 2 * e1], [2 * e1, 1 + 3 * e4]])
    assert bad["values"][[0, -1]] == pytest.approx(np.linalg.eigvalsh(block)[::-1])
