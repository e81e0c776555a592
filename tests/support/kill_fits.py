"""Kill processes in the middle of a checkpointed fit, and let the next one end it: `make kills`.

After every kill the same fit is run again. It must end, say that it was resumed where the killed
one had left a checkpoint, and find what a fit finds that nothing has stopped. With a number of
kills and a seed:

    python tests/support/kill_fits.py 20 0

For another fit, `run` takes any command that is given the path of a checkpoint, fits with it and
prints a line of JSON: {"resumed": true or false, "answers": [numbers]}.
"""

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from mercer import Checkpoint, KernelRidge
from mercer.kernels import Gaussian

ROWS, COLUMNS = 1_200, 5
EVERY = 0.02  # seconds between two states


def fit(path):
    """The fit that is killed; it prints what it has found."""
    points = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    y = np.sin(points).sum(axis=1)
    kept = Checkpoint(path, every=EVERY)
    model = KernelRidge(1e-3, kernel=Gaussian(0.2), solver="cg", tol=1e-9, checkpoint=kept)
    model.fit(points, y)
    told(model, model.predict(points[:50]))


def told(model, answers):
    """Print what a fit has found, as `run` reads it."""
    resumed = "resumed" in model.certificate_.plan
    sys.stdout.write(json.dumps({"resumed": resumed, "answers": np.ravel(answers).tolist()}) + "\n")


def ended(command, path):
    """Run a fit to its end; return what it has found and the seconds that it took."""
    start = time.monotonic()
    ran = subprocess.run([*command, str(path)], capture_output=True, text=True)
    if ran.returncode != 0:
        raise ArithmeticError(ran.stderr.strip().rpartition("\n")[2] or f"exit {ran.returncode}")
    return json.loads(ran.stdout.splitlines()[-1]), time.monotonic() - start


def killed(command, path, happened):
    """Start a fit and kill it when something has happened; return whether it was under way."""
    one = subprocess.Popen([*command, str(path)], stdout=subprocess.DEVNULL)
    while one.poll() is None and not happened():
        time.sleep(0.001)
    one.kill()
    return one.wait() == -signal.SIGKILL


def after(seconds):
    """What happens after so many seconds."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def run(command, kills, seed=0, tolerance=1e-6, report=lambda counts: None):
    """Kill so many fits; return how they went on, and what is wrong in words.

    tolerance: how far answers may be from those of a fit that nothing has stopped, relative to the
    largest of these.
    """
    draw = random.Random(seed)
    counts, failures = {"resumed": 0, "without a checkpoint": 0, "too late": 0}, []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        whole, seconds = ended(command, path)
        wanted = np.array(whole["answers"])
        while counts["resumed"] + counts["without a checkpoint"] + len(failures) < kills:
            if not killed(command, path, after(draw.uniform(0.0, seconds))):
                counts["too late"] += 1
                continue
            was_there = path.exists()
            try:
                found, _ = ended(command, path)
                problem = wrong(found, wanted, was_there, path, tolerance)
            except ArithmeticError as error:
                problem = str(error)
            if problem:
                failures.append(problem)
                path.unlink(missing_ok=True)
            else:
                counts["resumed" if was_there else "without a checkpoint"] += 1
            report(counts)
    return counts, failures


def wrong(found, wanted, was_there, path, tolerance):
    """What is wrong with a fit that was run again; nothing is an empty text."""
    distance = np.abs(np.array(found["answers"]) - wanted).max() / np.abs(wanted).max()
    if not distance <= tolerance:
        return f"its answers are {distance:.2g} away, relative to the largest"
    if found["resumed"] != was_there:
        return f"resumed: {found['resumed']}, where there was a checkpoint: {was_there}"
    left = sorted(one.name for one in path.parent.iterdir() if not one.name.startswith(".mercer-"))
    return f"it left {', '.join(left)}" if left else ""


def main(kills=20, seed=0):
    """Kill, and say what was found; the exit code tells whether anything was wrong."""

    def report(counts):
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{sum(counts.values()) - counts['too late']} of {kills}")

    command = [sys.executable, __file__, "fit"]
    counts, failures = run(command, kills, seed, report=report)
    lines = [
        f"{kills} processes were killed while they fitted",
        f"{counts['resumed']:6d} were resumed from their checkpoint",
        f"{counts['before the first state']:6d} were killed before they had one, or after its end",
        f"{len(failures):6d} did not end as a fit that nothing has stopped",
        *failures,
    ]
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"]:
        fit(sys.argv[2])
    else:
        sys.exit(main(*map(int, sys.argv[1:])))
