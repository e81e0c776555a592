"""Kill processes while they save a model over another, and look at what is left: `make kills`.

After every kill the file must be, byte for byte, the old model or the new one, and load. Only a
hidden `.mercer-….tmp` may lie beside it. Kills that come after the save has ended are not counted.
With a number of kills and a seed:

    python tests/support/kill_saves.py 500 0
"""

import contextlib
import io
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from mercer import KernelPrototypeClassifier
from mercer.files import load, save

SIZES = (6_000, 4_000)  # points of the two models, so that their files differ in length too
COLUMNS = 20
TRIES = 20  # saves that are timed, to know when to kill


def models():
    """Two models, and the bytes of their files."""
    random_points = np.random.default_rng(0)
    made = []
    for n in SIZES:
        X = random_points.normal(size=(n, COLUMNS))
        model = KernelPrototypeClassifier("linear").fit(X, np.arange(n) % 2)
        buffer = io.BytesIO()
        save(model, buffer)
        made.append((model, buffer.getvalue()))
    return made


class Save:
    """A process that saves a model over what is at a path, and then waits."""

    def __init__(self, model, path):
        self.folder = path.parent
        ready, done = os.pipe(), os.pipe()
        self.ends, self.done = (*ready, *done), done[0]
        self.process = os.fork()
        if self.process == 0:
            os.write(ready[1], b"r")
            save(model, path)
            os.write(done[1], b"d")
            signal.pause()
        os.read(ready[0], 1)
        os.set_blocking(self.done, False)
        self.start = time.monotonic()
        self.has_ended = False

    def ended(self):
        """Whether the save is over."""
        if not self.has_ended:
            with contextlib.suppress(BlockingIOError):
                self.has_ended = os.read(self.done, 1) == b"d"
        return self.has_ended

    def wait(self, happened):
        """Wait for something; return the seconds since the start."""
        while not happened() and not self.ended():
            pass
        return time.monotonic() - self.start

    def is_writing(self):
        """Whether the new file has been begun."""
        return any(name.startswith(".mercer-") for name in os.listdir(self.folder))

    def kill(self):
        """Kill the process; return whether it was still saving."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        was_saving = not self.ended()
        for end in self.ends:
            os.close(end)
        return was_saving


def usual_seconds(model, path):
    """How long a save takes here until the new file is begun, and from then on."""
    before, after = [], []
    for _ in range(TRIES):
        one = Save(model, path)
        begun = one.wait(one.is_writing)
        before.append(begun)
        after.append(one.wait(lambda: False) - begun)
        one.kill()
    return statistics.median(before), statistics.median(after)


def killed_save(model, path, draw, usual):
    """Kill a process at a random moment of a save; return whether it was still saving.

    Every second time the moment lies after the new file was begun, which is the shorter part.
    """
    one = Save(model, path)
    if draw.random() < 0.5:
        one.wait(one.is_writing)
        time.sleep(draw.uniform(0.0, 1.1 * usual[1]))
    else:
        time.sleep(draw.uniform(0.0, sum(usual)))
    return one.kill()


def swept(folder, name):
    """Remove what killed processes left behind; return how much, and what else lies there."""
    others = [one for one in os.listdir(folder) if one != name]
    ours = [one for one in others if one.startswith(".mercer-") and one.endswith(".tmp")]
    for one in ours:
        os.unlink(os.path.join(folder, one))
    return len(ours), sorted(set(others) - set(ours))


def run(kills, seed, report=lambda counts: None):
    """Kill so many saves; return what was left how often, and what is wrong in words."""
    known, draw = models(), random.Random(seed)
    counts = {"old": 0, "new": 0, "left beside": 0, "too late": 0}
    failures = []
    points = np.random.default_rng(1).normal(size=(5, COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mercer"
        save(known[0][0], path)
        usual = usual_seconds(known[0][0], path)
        there = 0  # which of the models the file holds
        while counts["old"] + counts["new"] < kills and len(failures) < 10:
            old, new = known[there], known[1 - there]
            hit = killed_save(new[0], path, draw, usual)
            left, strange = swept(folder, path.name)
            counts["left beside"] += left
            found = path.read_bytes()
            if strange or found not in (old[1], new[1]):
                size = f"{len(found)} bytes, of {len(old[1])} or {len(new[1])}; {strange}"
                failures.append(f"kill {sum(counts.values())}: neither the old nor the new: {size}")
                save(old[0], path)
                continue
            there = 1 - there if found == new[1] else there
            wanted = known[there][0].decision_function(points)
            if not np.array_equal(load(path).decision_function(points), wanted):
                failures.append(f"kill {sum(counts.values())}: it predicts something else")
            what = "new" if found == new[1] else "old"
            counts[what if hit else "too late"] += 1
            report(counts)
    return counts, failures


def main(kills=500, seed=0):
    """Kill, and say what was found; the exit code tells whether anything was wrong."""

    def report(counts):
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{counts['old'] + counts['new']} of {kills}")

    counts, failures = run(kills, seed, report)
    lines = [
        f"{counts['old'] + counts['new']} processes were killed while they saved",
        f"{counts['old']:6d} left the old model",
        f"{counts['new']:6d} left the new model",
        f"{len(failures):6d} left anything else",
        f"{counts['left beside']:6d} left a temporary file beside it",
        *failures,
    ]
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
