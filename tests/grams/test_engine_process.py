"""The engine among processes and threads: stopping, forking, the other instruction set."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer import _native, gram
from mercer.kernels import Gaussian
from mercer.monitor import Monitor, Stopped

pytestmark = pytest.mark.native


def multiply_often(X: Any, monitor: Monitor) -> None:
    for _ in range(1000):
        gram(Gaussian(0.5), X, store=False, monitor=monitor) @ np.ones((len(X), 4))


def test_a_cancelled_product_stops() -> None:
    X = np.random.default_rng(0).random((30_000, 3), dtype=np.float32)
    monitor = Monitor()
    timer = threading.Timer(0.1, monitor.cancel)
    timer.start()
    with pytest.raises(Stopped, match="cancelled"):
        multiply_often(X, monitor)
    timer.join()
    with pytest.raises(Stopped, match="time limit"):
        multiply_often(X, Monitor(time_limit=0.05))


INTERRUPTED = """
import signal
import numpy as np
from mercer import gram
from mercer.grams import TopK
from mercer.kernels import Gaussian
X = np.random.default_rng(0).random((60_000, 50), dtype=np.float32)
few, wide = np.zeros((4000, 800), np.float32), np.zeros((20_000, 800), np.float32)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
print("ready", flush=True)
try:
    while True:
        WORK
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(float(Gaussian(0.5)(X[:2])[0, 0]))
"""


WORKS = {
    "product": "gram(Gaussian(0.5), X, store=False) @ np.ones((60_000, 10))",
    "long tasks": "gram(Gaussian(0.5), few, wide, store=False).reduce(TopK(5))",
}


@pytest.mark.parametrize("work", WORKS)
def test_ctrl_c_ends_a_native_loop_and_the_next_call_works(work: str) -> None:
    """Threads in the middle of a long task are waited for, and asked about, meanwhile."""
    script = INTERRUPTED.replace("WORK", WORKS[work])
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            output, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert output.split() == ["interrupted", "1.0"]


def test_a_forked_child_has_threads_of_its_own() -> None:
    script = (
        "import os, numpy as np\nfrom mercer import set_num_threads\n"
        "from mercer.kernels import Gaussian\nset_num_threads(2)\n"
        "X = np.random.default_rng(0).random((600, 3))\nK = Gaussian(1.0)(X)\n"
        "child = os.fork()\nsame = np.array_equal(Gaussian(1.0)(X), K)\n"
        "os._exit(0 if same else 1) if child == 0 else None\n"
        "assert os.waitpid(child, 0)[1] == 0 and same\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)


@pytest.mark.skipif("MERCER_ISA" in os.environ, reason="another instruction set is running")
@pytest.mark.parametrize("narrower", ["baseline", "avx2"])
def test_narrower_instruction_sets_pass_the_same_tests(narrower: str) -> None:
    if _native.isa() in {"baseline", narrower}:
        pytest.skip("this is what the other tests run, or too wide for this machine")
    tests = Path(__file__).parent.parent
    files = [str(tests / "grams/test_engine.py"), str(tests / "kernels/test_conformance.py")]
    environment = os.environ | {"MERCER_ISA": narrower}
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", *files]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:]
