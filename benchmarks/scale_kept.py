"""A fit with checkpoints that `bench_scale.py` kills: python benchmarks/scale_kept.py ROWS PATH."""

from __future__ import annotations

import sys
from pathlib import Path

from scale_data import GAMMA, draw, test_rows

from mercer import Checkpoint, KernelRidge
from mercer.kernels import Gaussian

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from kill_fits import told

EVERY = 0.2  # seconds between two states
ANSWERS = 1000

if __name__ == "__main__":
    X, y = draw(int(sys.argv[1]), 0)
    kept = Checkpoint(sys.argv[2], every=EVERY)
    model = KernelRidge(0.01, kernel=Gaussian(GAMMA), solver="cg", tol=1e-6, checkpoint=kept)
    model.set_params(memory_limit="100MB", random_state=0)  # so that passes take long
    told(model.fit(X, y), model.predict(test_rows()[0][:ANSWERS]))
