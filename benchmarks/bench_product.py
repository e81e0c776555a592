"""The commands on a table, against scikit-learn: python benchmarks/bench_product.py [CASE].

`mercer fit` with default settings on 10,000 rows of 20 columns, against boosted trees on rows held
out; `mercer predict` of 1,000,000 rows from CSV to CSV, against `SVC.predict` of scikit-learn on
the same support vectors. Times of mercer are those of the whole command, with its start, reading
and writing; scikit-learn is given rows in memory, fewer of them, and its time is scaled.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from machine import run_cases, timed
from sklearn import svm
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline, make_pipeline

from mercer import SVC, TableEncoder, save
from mercer.data import flats
from mercer.files import make_card
from mercer.kernels import Gaussian

ROWS, HELD_OUT = 10_000, 3_000
NEW, CHECKED = 1_000_000, 20_000  # rows to predict, and those that scikit-learn predicts as well
GAMMA, C = 0.1, 1.0
# The peak of the process itself: what its parent is told of it may be the peak of the parent.
WATCHED = """
import atexit, sys
from mercer.cli import main

peak = lambda: next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
atexit.register(lambda: print(peak(), file=sys.stderr))
main(sys.argv[1:])
"""


def command(*words):
    """Run mercer; return its time and the largest memory that it held, in bytes."""
    start = time.perf_counter()
    line = [sys.executable, "-c", WATCHED, *map(str, words), "--quiet"]
    ended = subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.perf_counter() - start, 1024 * int(ended.stderr.split()[-2])


def wide_flats(rows):
    """Return the table of the demo with eight more columns, most of which say nothing."""
    random = np.random.default_rng(0)
    table = pl.DataFrame(flats(rows, 0))
    more = {f"number {place}": random.normal(size=rows).round(3) for place in range(5)}
    more |= {f"code {place}": random.choice(list("abcdef"), rows) for place in range(2)}
    more["square"] = (table["area"].to_numpy() ** 2 + 500 * random.normal(size=rows)).round(1)
    return table.with_columns(**{name: pl.Series(values) for name, values in more.items()})


def case_fit():
    """Yield how long `mercer fit` takes, and its score beside that of boosted trees."""
    table = wide_flats(ROWS + HELD_OUT)
    fresh = table.tail(HELD_OUT)
    with tempfile.TemporaryDirectory() as folder:
        known, new, out = (Path(folder, name) for name in ("flats.csv", "new.csv", "out.csv"))
        table.head(ROWS).write_csv(known)
        fresh.drop("rent").write_csv(new)
        yield f"{ROWS:,} rows × {table.width - 1} columns, {HELD_OUT:,} rows held out"
        model, report = Path(folder, "flats.mercer"), Path(folder, "report.html")
        seconds, memory = command(
            "fit", known, "--target", "rent", "--out", model, "--report", report
        )
        yield f"mercer fit: {seconds:.1f} s of 60 s, {memory / 1e6:.0f} MB"
        sizes = [file.stat().st_size / 1e6 for file in (model, report)]
        yield "model {:.1f} MB, report {:.2f} MB".format(*sizes)
        command("predict", model, new, "--out", out)
        ours = pl.read_csv(out)["prediction"].to_numpy()
    trees = make_pipeline(TableEncoder(), HistGradientBoostingRegressor(random_state=0))
    trees.fit(table.head(ROWS).drop("rent"), table["rent"].head(ROWS).to_numpy())
    theirs, truth = trees.predict(fresh.drop("rent")), fresh["rent"].to_numpy()
    better = ((truth - theirs) ** 2 - (truth - ours) ** 2) / truth.var()
    yield (
        f"R² on rows held out: mercer {r2_score(truth, ours):.4f}, HistGradientBoosting "
        f"{r2_score(truth, theirs):.4f}, difference {better.mean():+.4f} ± "
        f"{better.std() / HELD_OUT**0.5:.4f}"
    )


def made_rows(rows, seed):
    """Return a table of 20 columns and classes that overlap."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 20)).round(4)
    values = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * random.normal(size=rows)
    return pl.DataFrame(X, schema=[f"x{place}" for place in range(20)]), np.where(values > 0, 1, 0)


def case_predict():
    """Yield the time and the memory of a million predictions, and the time of scikit-learn."""
    X, y = made_rows(4_000, 0)
    ours = Pipeline(
        [("columns", TableEncoder()), ("model", SVC(kernel=Gaussian(GAMMA), C=C, tol=1e-6))]
    )
    ours.fit(X, y)
    fresh, _ = made_rows(NEW, 1)
    with tempfile.TemporaryDirectory() as folder:
        model, new, out = (Path(folder, name) for name in ("svc.mercer", "new.csv", "out.csv"))
        save(ours, model, card=make_card(ours, X, y))
        fresh.write_csv(new)
        yield f"{NEW:,} rows × {X.width} columns, {new.stat().st_size / 1e6:.0f} MB of CSV"
        seconds, memory = command("predict", model, new, "--out", out)
        said = pl.read_csv(out)["prediction"].to_numpy()
    carriers = ours["model"].support_
    points = ours["columns"].transform(X)[carriers]  # whose optimum is that of all rows
    theirs = svm.SVC(gamma=GAMMA, C=C, tol=1e-6).fit(points, y[carriers])
    some = ours["columns"].transform(fresh.head(CHECKED))
    part, wanted = timed(lambda: theirs.predict(some), 3)
    whole = part * NEW / CHECKED
    differ = int((said[:CHECKED] != wanted).sum())
    if differ > CHECKED // 10_000 or len(said) != NEW:
        raise SystemExit(f"{differ} of {CHECKED} predictions differ")
    yield f"{len(carriers):,} support vectors, of scikit-learn {len(theirs.support_):,}"
    yield f"mercer predict: {seconds:.1f} s, {memory / 1e6:.0f} MB at most"
    yield f"scikit-learn predict: {whole:.1f} s, from {part:.2f} s for {CHECKED:,} rows"
    yield f"{whole / seconds:.1f} x; {differ} of {CHECKED:,} predictions differ"


if __name__ == "__main__":
    run_cases(globals())
