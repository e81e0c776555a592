"""Checkpoint files: whole or refused, and the old one stays until the new one is."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

from mercer import Checkpoint, CheckpointError, KernelRidge, load, save
from mercer.checkpoints import CheckpointFile
from mercer.checks import FileError, InputError, InputTypeError
from mercer.storage import atomic

FACTS = {"alpha": "0.1", "X": "3 x 2 float64 with digest 12ab"}
STATES = {
    "solve 1/": {"x": np.arange(6.0).reshape(2, 3), "iteration": 7, "worst": float("inf")},
    "solve 1/way 1/": {"way": "cg", "odd": np.array(2**40), "few": np.ones(2, np.float32)},
}


def file_of(path, facts=FACTS):
    return CheckpointFile("KernelRidge", Checkpoint(path, every=5), facts)


def read_back(path, facts=FACTS):
    stages, is_resumed = file_of(path, facts).open()
    assert is_resumed == os.path.exists(path)
    return {name: stages.known(name) for name in STATES}


def test_states_come_back_as_they_were(tmp_path):
    path = tmp_path / "one"
    file_of(path).write(STATES)
    found = read_back(path)
    for name, state in STATES.items():
        assert set(found[name]) == set(state)
        for key, value in state.items():
            assert np.array_equal(found[name][key], value)
            assert np.asarray(found[name][key]).dtype == np.asarray(value).dtype
            assert isinstance(found[name][key], type(value))


def test_a_fresh_fit_knows_nothing(tmp_path):
    assert read_back(tmp_path / "none") == dict.fromkeys(STATES)


def test_arrays_by_columns_come_back(tmp_path):
    by_columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    file_of(tmp_path / "one").write({"solve 1/": {"x": by_columns}})
    assert np.array_equal(read_back(tmp_path / "one")["solve 1/"]["x"], by_columns)


def test_the_checkpoint_of_another_fit_is_refused_and_stays(tmp_path):
    path = tmp_path / "one"
    file_of(path).write(STATES)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"same fit; got another: alpha was 0.1, now 0.2\. "):
        read_back(path, FACTS | {"alpha": "0.2"})
    with pytest.raises(CheckpointError, match=r"tol was not there, now 1; X was 3 x 2 .*, now not"):
        read_back(path, {"alpha": "0.2", "tol": "1"})
    with pytest.raises(CheckpointError, match=r"; and 1 more\. Delete"):
        read_back(path, {"one": "1", "other": "2"})
    with pytest.raises(CheckpointError, match=r"Delete the file to begin anew, or give another"):
        read_back(path, {})
    assert path.read_bytes() == before


@pytest.mark.parametrize("part", ["short", "head", "empty", "flipped", "words"])
def test_a_damaged_checkpoint_is_refused(tmp_path, part):
    path = tmp_path / "one"
    file_of(path).write(STATES)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-20] ^= 1
    damaged = {
        "short": whole[:-3],
        "head": whole[:100],
        "empty": b"",
        "flipped": bytes(flipped),
        "words": b"not a checkpoint of anything " * 30,
    }[part]
    path.write_bytes(damaged)
    with pytest.raises(CheckpointError, match=r"checkpoint '.*one': .* Delete the file to begin"):
        read_back(path)
    assert path.read_bytes() == damaged


def test_a_model_file_is_no_checkpoint_and_the_other_way_round(tmp_path):
    path = tmp_path / "model"
    save(KernelRidge().fit([[0.0], [1.0]], [0.0, 1.0]), path)
    with pytest.raises(CheckpointError, match="it must be a checkpoint; got a model file"):
        read_back(path)
    file_of(tmp_path / "one").write(STATES)
    with pytest.raises(FileError, match="it must be a model file; got the checkpoint of a fit"):
        load(tmp_path / "one")


def test_the_place_must_exist(tmp_path):
    for path in (tmp_path / "no" / "where", tmp_path):
        with pytest.raises(CheckpointError, match="a file in a directory that exists"):
            file_of(path).open()


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "one"
    file_of(path).write(STATES)
    before = path.read_bytes()

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device; what was there before"):
        file_of(path).write({"solve 1/": {"x": np.zeros(100)}})
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["one"]


LIMITED = """
import resource, sys
import numpy as np
from mercer import Checkpoint, KernelRidge

X = np.random.default_rng(0).normal(size=(200, 2))
iterations = []

def limit(record):
    iterations.append(record)
    if len(iterations) == 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

kept = Checkpoint(sys.argv[1], every=0)
KernelRidge(1e-3, solver="cg", tol=1e-9, callback=limit, checkpoint=kept).fit(X, X[:, 0] ** 2)
"""


def test_a_real_limit_of_files_ends_the_fit_clearly_and_it_goes_on_later(tmp_path):
    path = tmp_path / "one"
    ran = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True)
    assert ran.returncode == 1
    assert "File too large; what was there before, if anything, is as it was" in ran.stderr
    assert str(path) in ran.stderr.splitlines()[-1]
    X = np.random.default_rng(0).normal(size=(200, 2))
    seen = []
    given = {"alpha": 1e-3, "solver": "cg", "tol": 1e-9}
    model = KernelRidge(**given, checkpoint=path, callback=lambda record: seen.append(record))
    model.fit(X, X[:, 0] ** 2)
    assert seen[0]["iteration"] == 3
    whole = KernelRidge(**given).fit(X, X[:, 0] ** 2)
    np.testing.assert_allclose(model.dual_coef_, whole.dual_coef_, rtol=1e-9, atol=1e-12)


def test_what_a_checkpoint_is_made_of():
    with pytest.raises(InputTypeError, match="Checkpoint: path must be a path; got 3"):
        Checkpoint(3)
    with pytest.raises(InputError, match="Checkpoint: every must be a finite number at least 0"):
        Checkpoint("one", every=-1)
    with pytest.raises(InputTypeError, match="KernelRidge: checkpoint must be None, a path or"):
        KernelRidge(checkpoint=3).fit([[0.0], [1.0]], [0.0, 1.0])
