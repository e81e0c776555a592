"""Fits that are cut off after any write of their checkpoint end as if nothing had happened."""

import contextlib
import logging
import os
import sys
import warnings

import kill_fits
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

import mercer.sklearn
from mercer import (
    SVC,
    SVR,
    Checkpoint,
    CheckpointError,
    KernelKMeans,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    load,
    save,
)
from mercer.checkpoints import CheckpointFile
from mercer.features import RandomFourier
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Spectrum
from mercer.solvers import BoxSizes

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
Y = np.column_stack([y, y**2])
WEIGHT = RANDOM.uniform(0.5, 2.0, size=len(X))


BLOCKS = RowBlocks.split(X, 60)
CLASSES = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
FEATURES = RandomFourier(n_components=30, random_state=0)


class Killed(BaseException):
    """What a process that is killed does not live to see."""


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    """No test here pulls the plug, so that nothing needs to be on the disk itself."""
    monkeypatch.setattr("mercer.storage.atomic.os.fsync", lambda handle: None)


def cut_off(fit, path, writes, monkeypatch):
    """Fit with a checkpoint up to the given write; return how many there were."""
    write, count = CheckpointFile.write, [0]

    def counted(file, states):
        write(file, states)
        count[0] += 1
        if count[0] == writes:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointFile, "write", counted)
        with contextlib.suppress(Killed):
            fit(Checkpoint(path, every=0))
    return count[0]


LEARNERS = {
    "cg": (KernelRidge(1e-2, kernel=Gaussian(0.5), solver="cg", tol=1e-10), (X, y)),
    "cg, outputs and weights": (
        KernelRidge([1e-2, 1.0], kernel=Gaussian(0.5), solver="cg", fit_intercept=True, tol=1e-9),
        (X, Y, WEIGHT),
    ),
    "nystrom": (
        KernelRidge(0.1, kernel=Gaussian(0.5), solver="nystrom", n_centers=40),
        (BLOCKS, y),
    ),
    "nystrom, many centres": (
        KernelRidge(
            0.1, kernel=Gaussian(0.5), solver="nystrom", n_centers=40, fit_intercept=True, tol=1e-2
        ),
        (BLOCKS, Y, WEIGHT),
    ),
    "whole kernel of blocks": (KernelRidge(0.1, kernel=Gaussian(0.5), solver="cg"), (BLOCKS, y)),
    "features": (KernelRidge(0.1, approximation=FEATURES, fit_intercept=True), (X, Y)),
    "features of blocks": (KernelRidge(0.1, approximation=FEATURES), (BLOCKS, Y)),
    "classes": (
        KernelRidgeClassifier(0.1, kernel=Gaussian(0.5), solver="nystrom", n_centers=40),
        (BLOCKS, CLASSES),
    ),
    "classes by cg": (KernelRidgeClassifier(0.1, kernel=Gaussian(0.5), solver="cg"), (X, CLASSES)),
    "newton": (
        KernelMachineClassifier("logistic", kernel=Gaussian(0.5), fit_intercept=True, tol=1e-2),
        (X, CLASSES, WEIGHT),
    ),
    "newton with few centres": (
        KernelMachineRegressor("huber", kernel=Gaussian(0.5), n_centers=20, tol=1e-2),
        (BLOCKS, y),
    ),
    "newton in features": (
        KernelMachineClassifier("logistic", alpha=0.1, approximation=FEATURES),
        (X, CLASSES == "low"),
    ),
    "pairs of classes": (SVC(10.0, kernel=Gaussian(0.5), probability=True), (X, CLASSES, WEIGHT)),
    "pairs in blocks": (SVC(10.0, kernel=Gaussian(0.5), tol=1e-9), (X, CLASSES)),
    "nu": (NuSVC(0.3, kernel=Gaussian(0.5), tol=1e-9), (X, CLASSES == "low")),
    "tube in blocks": (SVR(epsilon=0.05, kernel=Gaussian(0.5), tol=1e-4), (X, y)),
    "nu regression": (NuSVR(0.5, C=10.0, kernel=Gaussian(0.5), tol=1e-9), (X, y)),
    "one class in blocks": (OneClassSVM(nu=0.3, kernel=Gaussian(0.5), tol=1e-9), (X,)),
    "hinge": (KernelMachineClassifier("hinge", kernel=Gaussian(0.5)), (X, CLASSES == "low")),
    "search": (
        KernelRidgeCV([0.1, 1.0], kernel=[Gaussian(0.5), Gaussian(1.0)], n_centers=20),
        (BLOCKS, y),
    ),
    "search over folds": (
        KernelRidgeCV([0.1, 1.0], kernel=Gaussian(0.5), n_centers=20, cv=3, fit_intercept=True),
        (BLOCKS, Y, WEIGHT),
    ),
    "search for classes": (
        KernelRidgeClassifierCV([0.1, 1.0], kernel=Gaussian(0.5), n_centers=20, cv=3),
        (BLOCKS, CLASSES),
    ),
    "search in memory": (KernelRidgeCV([0.1, 1.0], kernel=Gaussian(0.5), solver="cg"), (X, y)),
    "eigenvectors": (
        KernelPCA(3, kernel=Gaussian(0.5), eigen_solver="krylov", tol=1e-9, max_iter=12),
        (X,),
    ),
    "components of blocks": (KernelPCA(3, kernel=Gaussian(0.5), n_centers=40), (BLOCKS,)),
    "clusters": (
        KernelKMeans(4, kernel=Gaussian(0.5), n_init=3, random_state=1),
        (X, None, WEIGHT),
    ),
    "clusters of blocks": (
        KernelKMeans(4, kernel=Gaussian(0.5), n_init=2, n_centers=40, random_state=1),
        (BLOCKS,),
    ),
    "cholesky": (KernelRidge(1e-2, kernel=Gaussian(0.5), solver="cholesky"), (X, y)),
}


def answers(model):
    """Numbers that tell a model from others."""
    if hasattr(model, "transform"):
        return np.abs(model.transform(X))  # of a component the sign is free
    if hasattr(model, "score_samples"):
        return model.score_samples(X)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict(X)


@pytest.mark.parametrize("name", LEARNERS)
def test_resumed_fits_equal_whole_ones(tmp_path, monkeypatch, name):
    model, given = LEARNERS[name]
    model = clone(model).set_params(memory_limit="1GB")  # for plans in the same words
    path = tmp_path / "checkpoint"

    def fit(checkpoint):
        return clone(model).set_params(checkpoint=checkpoint).fit(*given)

    if "in blocks" in name:
        sizes = BoxSizes(whole=20, block=24, small=16, large=0)
        monkeypatch.setattr(type(model), "_sizes_of_box", sizes)
    if "many centres" in name:  # for conjugate gradients
        monkeypatch.setattr("mercer.solvers.ridge.nystrom.DIRECT", 20)
    whole = clone(model).fit(*given)
    writes = cut_off(fit, path, 0, monkeypatch)
    assert os.listdir(tmp_path) == []
    for cut in sorted({1, writes // 3, 2 * writes // 3, writes}):
        assert cut_off(fit, path, cut, monkeypatch) == cut
        resumed = fit(path)
        assert resumed.certificate_.plan == whole.certificate_.plan + "; resumed from a checkpoint"
        assert resumed.certificate_.status == whole.certificate_.status
        np.testing.assert_allclose(answers(resumed), answers(whole), rtol=1e-8, atol=1e-8)
        assert np.all(getattr(resumed, "n_iter_", 0) == getattr(whole, "n_iter_", 0))
        assert os.listdir(tmp_path) == []


def test_only_what_was_not_done_is_done(tmp_path):
    path = Checkpoint(tmp_path / "checkpoint", every=0)
    model, given = LEARNERS["cg"]
    seen = []

    def stop(record):
        seen.append(record["iteration"])
        return len(seen) == 5

    with pytest.warns(UserWarning, match="cancelled"):
        stopped = clone(model).set_params(checkpoint=path, callback=stop).fit(*given)
    assert stopped.certificate_.status == "cancelled"
    clone(model).set_params(checkpoint=path, callback=lambda r: seen.append(r["iteration"])).fit(
        *given
    )
    assert seen == list(range(1, len(seen) + 1))


def test_a_time_limit_leaves_all_that_was_done(tmp_path):
    path = tmp_path / "checkpoint"  # of which nothing would be due for half a minute
    given = {"alpha": 1e-2, "kernel": Gaussian(0.5), "solver": "cg", "tol": 1e-10}
    for attempt in range(200):  # with limits that leave time for a step, however slow the machine
        model = KernelRidge(**given, checkpoint=path, time_limit=0.01 * 1.1**attempt)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        if model.certificate_.status == "converged":
            break
    assert model.certificate_.status == "converged"
    assert not path.exists()
    whole = KernelRidge(**given).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, whole.dual_coef_, rtol=1e-7, atol=1e-9)


def test_a_killed_process_is_resumed(tmp_path):
    """The real thing, once; `make kills` does it at random moments."""
    command, path = [sys.executable, kill_fits.__file__, "fit"], tmp_path / "checkpoint"
    wanted, _ = kill_fits.ended(command, path)
    assert not wanted["resumed"]
    assert kill_fits.killed(command, path, path.exists)
    found, _ = kill_fits.ended(command, path)
    assert kill_fits.wrong(found, np.array(wanted["answers"]), True, path, 1e-6) == ""


def leave(path, model, given, monkeypatch, writes=4):
    def fit(checkpoint):
        return clone(model).set_params(checkpoint=checkpoint).fit(*given)

    assert cut_off(fit, path, writes, monkeypatch) == writes


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"alpha": 0.2}, r"alpha was 0\.01, now 0\.2"),
        ({"kernel": Gaussian(0.4)}, r"kernel was Gaussian\(gamma=0\.5\), now Gaussian\(gamma=0\.4"),
        ({"tol": 1e-8}, "tol was 1e-10, now 1e-08"),
        ({"random_state": 3}, "random_state was None, now 3"),
        ({"X": X + 1e-9}, "X was 150 x 3 float64 with digest .*, now 150 x 3 float64 with digest"),
        ({"X": X.astype(np.float32)}, "X was 150 x 3 float64 .*, now 150 x 3 float32"),
        ({"y": 2 * y}, "y was float64 of shape .* with digest"),
        ({"sample_weight": WEIGHT}, "sample_weight was None, now float64 of shape"),
    ],
)
def test_another_fit_is_refused(tmp_path, monkeypatch, change, told):
    path = tmp_path / "checkpoint"
    model, given = LEARNERS["cg"]
    leave(path, model, given, monkeypatch)
    before = path.read_bytes()
    data = {"X": X, "y": y} | {k: v for k, v in change.items() if k in ("X", "y", "sample_weight")}
    parameters = {name: value for name, value in change.items() if name not in data}
    other = clone(model).set_params(checkpoint=path, **parameters)
    with pytest.raises(CheckpointError, match=told):
        other.fit(**data)
    assert not hasattr(other, "certificate_")
    assert path.read_bytes() == before


def test_folds_that_are_drawn_anew_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"

    def fit(checkpoint):
        folds = KFold(3, shuffle=True)
        model = KernelRidgeCV([0.1, 1.0], kernel=Gaussian(0.5), n_centers=20, cv=folds)
        return model.set_params(checkpoint=checkpoint).fit(BLOCKS, y)

    assert cut_off(fit, path, 3, monkeypatch) == 3
    with pytest.raises(CheckpointError, match="folds was list with digest"):
        fit(path)


def test_what_changes_nothing_may_change(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    model, given = LEARNERS["cg"]
    leave(path, model, given, monkeypatch)
    free = {"n_jobs": 1, "time_limit": 100.0, "callback": lambda record: None}
    resumed = clone(model).set_params(checkpoint=path, **free).fit(X, y)
    assert "resumed" in resumed.certificate_.plan


def test_a_generator_is_drawn_from_once(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    given = {"alpha": 1e-2, "kernel": Gaussian(0.5), "solver": "cg", "tol": 1e-3}

    def fit(state, checkpoint=None):
        return KernelRidge(**given, random_state=state, checkpoint=checkpoint).fit(X, y)

    wanted = fit(np.random.default_rng(5))
    assert cut_off(lambda kept: fit(np.random.default_rng(5), kept), path, 3, monkeypatch) == 3
    resumed = fit(np.random.default_rng(77), path)
    np.testing.assert_allclose(resumed.dual_coef_, wanted.dual_coef_, rtol=1e-9, atol=1e-12)
    assert np.abs(fit(np.random.default_rng(77)).dual_coef_ - wanted.dual_coef_).max() > 1e-6


def test_drop_in_classes_have_the_parameters_of_scikit_learn_alone():
    kinds = [getattr(mercer.sklearn, name) for name in mercer.sklearn.__all__]
    estimators = [kind for kind in kinds if hasattr(kind, "get_params")]
    assert len(estimators) > 5
    assert not any("checkpoint" in kind._get_param_names() for kind in estimators)


def test_objects_are_known_again(tmp_path, monkeypatch):
    words = ["".join(RANDOM.choice(list("abcd"), size=12)) for _ in range(60)]
    lengths = np.array([word.count("a") for word in words], float)
    model = KernelRidge(1.0, kernel=Spectrum(2).normalized(), solver="cg", tol=1e-10)
    path = tmp_path / "checkpoint"
    leave(path, model, (words, lengths), monkeypatch)
    other = [words[0] + "a", *words[1:]]
    with pytest.raises(CheckpointError, match="X was 60 with digest"):
        clone(model).set_params(checkpoint=path).fit(other, lengths)
    resumed = clone(model).set_params(checkpoint=path).fit(words, lengths)
    assert "resumed" in resumed.certificate_.plan


def test_a_resumed_fit_says_so_in_the_log(tmp_path, monkeypatch, caplog):
    path = tmp_path / "checkpoint"
    model, given = LEARNERS["cg"]
    leave(path, model, given, monkeypatch)
    with caplog.at_level(logging.INFO, "mercer"):
        clone(model).set_params(checkpoint=path).fit(*given)
    assert f"KernelRidge: fit goes on from the checkpoint '{path}'" in caplog.text


def test_auto_takes_what_can_be_interrupted(tmp_path):
    quick = KernelRidge(kernel=Gaussian(0.5), checkpoint=tmp_path / "one").fit(X, y)
    assert quick.certificate_.solver == "cholesky"
    short = Checkpoint(tmp_path / "one", every=1e-9)
    careful = KernelRidge(kernel=Gaussian(0.5), checkpoint=short).fit(X, y)
    assert careful.certificate_.solver == "cg"
    assert "a factor takes longer than the interval of the checkpoint" in careful.certificate_.plan


def test_a_model_file_does_not_name_the_checkpoint(tmp_path):
    model = KernelRidge(checkpoint=tmp_path / "checkpoint").fit(X, y)
    save(model, tmp_path / "model.mercer")
    content = (tmp_path / "model.mercer").read_bytes()
    assert content.count(b"checkpoint") == 1  # among what was left out
    assert b"parameters.checkpoint" in content
    again = load(tmp_path / "model.mercer")
    assert again.checkpoint is None
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
