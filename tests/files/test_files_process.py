"""Model files among processes: saves that are interrupted or killed, loads that are watched."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from forgery import small_file

from mercer import KernelPrototypeClassifier
from mercer.files import save
from mercer.kernels import Linear
from mercer.storage import atomic


@pytest.fixture
def good(tmp_path):
    return small_file(tmp_path / "good.mercer")


# --- writing -----------------------------------------------------------------------------------


def test_a_save_that_fails_leaves_the_old_file(good, monkeypatch):
    before = good.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    for name, broken in (("fsync", full), ("replace", lambda *paths: full(0))):
        monkeypatch.setattr(atomic.os, name, broken)
        with pytest.raises(OSError, match="No space left"):
            save(KernelPrototypeClassifier(Linear()), good)
        monkeypatch.undo()
        assert good.read_bytes() == before
        assert os.listdir(good.parent) == [good.name]


def test_an_interrupted_save_leaves_the_old_file(good):
    before = good.read_bytes()

    def parts():
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atomic.write(str(good), parts())
    assert good.read_bytes() == before
    assert os.listdir(good.parent) == [good.name]


def in_another_process(script, *arguments):
    command = [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent / "support")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_killed_save_leaves_the_old_file_or_the_new_one():
    """A short run; `make kills` is the long one."""
    script = "import kill_saves, sys; sys.exit(kill_saves.main(10, 0))"
    assert "10 processes were killed while they saved" in in_another_process(script)


def test_the_run_of_kills_would_notice():
    """A save that writes into the old file itself is found out."""
    script = """
import kill_saves, os, sys
from mercer.storage import streams

def careless(path, parts):
    with open(path, "wb", buffering=0) as file:
        for part in parts:
            data = memoryview(part).cast("B")
            for start in range(0, len(data), 32768):
                file.write(data[start : start + 32768])
                os.fsync(file.fileno())

streams.atomic.write = careless
print(kill_saves.main(10, 0))
"""
    told = in_another_process(script)
    assert "neither the old nor the new" in told
    assert told.split()[-1] == "1"


# --- a full disk -------------------------------------------------------------------------------

FULL = """
import resource, sys
import numpy as np
from mercer import KernelPrototypeClassifier
from mercer.files import save

model = KernelPrototypeClassifier("linear").fit(np.eye(400), np.arange(400) % 2)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    save(model, sys.argv[1])
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize("exists", [True, False])
def test_a_disk_that_is_full_leaves_the_old_file(tmp_path, exists):
    path = tmp_path / "model.mercer"
    before = small_file(path).read_bytes() if exists else None
    told = in_another_process(FULL, path)
    wanted = "File too large; what was there before, if anything, is as it was"
    assert told == f"[Errno {errno.EFBIG}] {wanted}: {str(path)!r}\n"
    assert os.listdir(tmp_path) == ([path.name] if exists else [])
    assert before is None or path.read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_stream_onto_a_full_disk():
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError, match="No space"):
        save(KernelPrototypeClassifier(Linear()), full)


# --- nothing runs ------------------------------------------------------------------------------

AUDITED = """
import random, sys
from pathlib import Path
import numpy as np
import pandas as pd
import polars
from forgery import content, forge
from samples import frame_columns
from mercer import KernelPrototypeClassifier
from mercer.checks import FileError
from mercer.files import load, save
from mercer.kernels import Gaussian, Spectrum

folder = Path(sys.argv[1])
kernel = Spectrum(2).on("dna") + Gaussian().on("age")
model = KernelPrototypeClassifier(kernel).fit(pd.DataFrame(frame_columns()), [0, 1] * 3)
save(model, folder / "good.mercer")
load(folder / "good.mercer")  # whatever is imported late is now here
manifest, tensors = content(folder / "good.mercer")
paths = []


def leaves(data, path=()):
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in inner:
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))
        yield (*path, key)


def changed(data, path, value):
    if not path:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[path[0]] = changed(data[path[0]], path[1:], value)
    return copy


hostile = ["os.system", "__import__('os').system('id')", "../../etc/passwd", {"type": "pickle"},
           {"type": "function", "name": "eval"}, ["exec"], 2**70, None, True, -1,
           {"type": "kernel", "spec": {"kernel": "FunctionKernel", "fn": "print"}},
           {"type": "record", "name": "Basis", "fields": {"width": 1}}]
draw = random.Random(0)
places = [place for place in leaves(manifest) if place[0] != "tensors"]
for number in range(int(sys.argv[2])):
    other = changed(manifest, draw.choice(places), draw.choice(hostile))
    paths.append(forge(folder / f"{number}.mercer", other, tensors))
data = bytearray((folder / "good.mercer").read_bytes())
for number in range(100):
    data[draw.randrange(len(data))] = draw.randrange(256)
    paths.append(folder / f"bytes{number}.mercer")
    paths[-1].write_bytes(data)

allowed = set(map(str, paths))
events, watching = [], False


def hook(name, arguments):
    if not watching or name in ("builtins.id", "object.__getattr__"):
        return
    known = name == "open" and (str(arguments[0]) in allowed or type(arguments[0]) is int)
    if not known:
        events.append((name, str(arguments)[:200]))


sys.addaudithook(hook)
outcomes = {"loaded": 0, "refused": 0}
for path in paths:
    watching = True
    try:
        load(path)
    except FileError:
        outcomes["refused"] += 1
    else:
        outcomes["loaded"] += 1
    finally:
        watching = False
print(outcomes["loaded"], outcomes["refused"], events[:5])
"""


def test_hostile_files_run_nothing_and_open_nothing(tmp_path):
    # A changed file with right digests may load, as other data; anything but data is refused.
    loaded, refused, events = in_another_process(AUDITED, tmp_path, 300).split(maxsplit=2)
    assert events.strip() == "[]"
    assert int(refused) > 200
    assert int(loaded) + int(refused) == 400
