"""Fit at random until something breaks: python tests/support/random_fits.py --count 10000.

Every fit must end within the limit, in finite numbers or in a sentence of ours, and a support
vector machine that says it converged must be as good as LIBSVM's. A case is drawn from its seed
alone: --seed 123 repeats one and shows what it is.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import queue
import re
import sys
import threading
import time
from collections import Counter, defaultdict
from typing import Any

LIMIT = 5.0  # seconds that a fit and its predictions may take
PATIENCE = 4.0  # seconds that LIBSVM may take, after which there is nothing to compare with


def _work(pipe: Any, only: tuple[str, ...]) -> None:
    """Judge the seeds that come through the pipe: a verdict, then a comparison."""
    from random_cases import draw
    from random_judge import Verdict, comparable, compare, judge

    pipe.send("ready")
    while (seed := pipe.recv()) is not None:
        case = draw(seed, only)
        pipe.send(type(case.model).__name__)
        verdict = judge(case)
        pipe.send((verdict.word, verdict.about))
        against = Verdict("ok")
        if verdict.word in ("ok", "own warning") and comparable(case):
            against = compare(case)
        pipe.send((against.word, against.about))


class Worker:
    """A process that judges one seed after another, and is replaced where it hangs."""

    def __init__(self, only: tuple[str, ...] = (), limit: float = LIMIT) -> None:
        self.only, self.limit = only, limit
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, self.only), daemon=True)
        self.process.start()
        other.close()
        self.pipe.recv()

    def judge(self, seed: int) -> tuple[str, str, str]:
        """Return the verdict in a word, what there is to say, and the estimator."""
        self.pipe.send(seed)
        name = "?"
        try:
            if not self.pipe.poll(self.limit):
                self._replace()
                return "hang", f"longer than {self.limit:g} s", name
            name = self.pipe.recv()
            if not self.pipe.poll(self.limit):
                self._replace()
                return "hang", f"longer than {self.limit:g} s", name
            word, about = self.pipe.recv()
            if not self.pipe.poll(PATIENCE):
                self._replace()
                return word, about, name
            against, said = self.pipe.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            self._replace()
            return "raw exception", f"the process died ({code})", name
        return (word, about, name) if against == "ok" else (against, said, name)

    def _replace(self) -> None:
        self.stop()
        self._start()

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def search(
    seeds: range, only: tuple[str, ...], limit: float, jobs: int, progress: bool = False
) -> dict[int, tuple[str, str, str]]:
    """Return the verdict of every seed."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for seed in seeds:
        waiting.put(seed)
    found: dict[int, tuple[str, str, str]] = {}
    start = time.monotonic()

    def run() -> None:
        worker = Worker(only, limit)
        try:
            while True:
                try:
                    seed = waiting.get_nowait()
                except queue.Empty:
                    return
                found[seed] = worker.judge(seed)
                if progress and len(found) % 500 == 0:
                    print(f"{len(found)} fits, {time.monotonic() - start:.0f} s", file=sys.stderr)
        finally:
            worker.stop()

    threads = [threading.Thread(target=run) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def confirmed(
    found: dict[int, tuple[str, str, str]], only: tuple[str, ...], limit: float
) -> dict[int, tuple[str, str, str]]:
    """Return the verdicts with those that hung tried again, alone: a busy machine is no hang."""
    hung = [seed for seed, (word, _, _) in found.items() if word == "hang"]
    if not hung:
        return found
    worker = Worker(only, limit)
    try:
        return found | {seed: worker.judge(seed) for seed in sorted(hung)}
    finally:
        worker.stop()


def report(found: dict[int, tuple[str, str, str]], sentences: bool = False) -> int:
    """Print counts, then every failure by kind; return how many there are."""
    from random_judge import ERROR, FAILURES, WARNING

    words = Counter(word for word, _, _ in found.values())
    print(f"{len(found)} fits: " + ", ".join(f"{words[word]} {word}" for word in sorted(words)))
    if sentences:
        said = Counter(
            (word, re.sub(r"[-+]?\d[\d.e+-]*", "#", about)[:150])
            for word, about, _ in found.values()
            if word in (ERROR, WARNING)
        )
        for (word, text), count in said.most_common():
            print(f"  {count:5d} {word}: {text}")
    failed = 0
    for kind in FAILURES:
        groups = defaultdict(list)
        for seed, (word, about, name) in sorted(found.items()):
            if word == kind:
                groups[name, re.sub(r"[-+]?\d[\d.e+-]*", "#", about)[:120]].append((seed, about))
        for (name, _), members in sorted(groups.items()):
            failed += len(members)
            seeds = " ".join(str(seed) for seed, _ in members[:30])
            print(f"{kind}: {name} {members[0][1][:300]}\n  {len(members)} seeds: {seeds}")
    return failed


def main() -> int:
    """Run the search, or one seed of it; return 1 where something broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="how many fits")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="repeat this one, and show it")
    parser.add_argument("--only", nargs="*", default=[], help="estimators to draw from")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for a fit")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--sentences", action="store_true", help="count errors and warnings too")
    options = parser.parse_args()
    only = tuple(options.only)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of the workers, which share the cores
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if options.seed is None:
        seeds = range(options.first, options.first + options.count)
        found = search(seeds, only, options.limit, options.jobs, progress=True)
        found = confirmed(found, only, options.limit)
    else:
        from random_cases import draw

        case = draw(options.seed, only)
        print(case.model, case.text + (", weighted" if case.weight is not None else ""), sep="\n")
        found = search(range(options.seed, options.seed + 1), only, options.limit, 1)
        print(found[options.seed])
    return int(report(found, options.sentences) > 0)


if __name__ == "__main__":
    sys.exit(main())
