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
    """Run a fit to its end; return what it has found and for how long there was a checkpoint."""
    start = last = None
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, str(path)], **pipes) as one:
        while one.poll() is None:
            if path.exists():
                last = time.monotonic()
                start = last if start is None else start
            time.sleep(0.001)
        out, told_wrong = one.communicate()
    if one.returncode != 0:
        raise ArithmeticError(told_wrong.strip().rpartition("\n")[2] or f"exit {one.returncode}")
    return json.loads(out.splitlines()[-1]), 0.0 if start is None else last - start


def killed(command, path, happened):
    """Start a fit and kill it when something has happened; return whether it was under way."""
    one = subprocess.Popen([*command, str(path)], stdout=subprocess.DEVNULL)
    while one.poll() is None and not happened():
        time.sleep(0.001)
    one.kill()
    return one.wait() == -signal.SIGKILL


def begun(path, seconds):
    """What happens so many seconds after a fit has written its first checkpoint."""
    start = []

    def happened():
        if not start and path.exists():
            start.append(time.monotonic())
        return bool(start) and time.monotonic() >= start[0] + seconds

    return happened


def run(command, kills, seed=0, tolerance=1e-6, report=lambda counts: None):
    """Kill so many fits; return how they went on, and what is wrong in words.

    tolerance: how far answers may be from those of a fit that nothing has stopped, relative to the
    largest of these. The moments are spread over the time between the first state and the end.
    """
    draw = random.Random(seed)
    counts, failures = {"resumed": 0, "at its end": 0, "too late": 0}, []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        whole, seconds = ended(command, path)
        wanted = np.array(whole["answers"])
        while counts["resumed"] + counts["at its end"] + len(failures) < kills:
            if not killed(command, path, begun(path, draw.uniform(0.0, seconds))):
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
                counts["resumed" if was_there else "at its end"] += 1
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
        f"{counts['at its end']:6d} were killed when the fit had just ended",
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
