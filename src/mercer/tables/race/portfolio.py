"""Which candidates there are, and in which order they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .judging import TREES, Candidate, Judged
from .tasks import PLAIN, ClassTask, Task

STANDARD, RANK = "standard", "rank"
VIEWS = (STANDARD, RANK)
WIDTHS = {
    "laplacian": (1.0, 4.0, 2.0, 0.5, 0.25, 8.0),
    "bent": (1.0, 0.5, 2.0),
    "matern": (2.0, 0.7),
    "gaussian": (1.5, 3.0, 0.7, 0.35),
    "exponential": (1.5, 5.0, 0.5),
    "additive": (2.0,),
    "linear": (1.0,),
}
STEPS = 5  # of a metric, at most
FIRST = 4  # fixed kernels that are judged before others get their turn
WIDE = 200  # columns beyond which a full metric is not tried


def fixed(targets: Sequence[str]) -> list[Candidate]:
    """Return all ridge models with a fixed kernel, the most promising first."""
    pairs = [
        (place, family, width)
        for family, widths in WIDTHS.items()
        for place, width in enumerate(widths)
    ]
    return [
        Candidate(learner="ridge", view=view, family=family, width=width, target=target)
        for _, family, width in sorted(pairs, key=lambda one: one[0])
        for target in targets
        for view in VIEWS
    ]


def by_promise(screened: Sequence[Judged]) -> list[Candidate]:
    """Return candidates by their loss, those unlike all better ones first.

    Candidates are alike that differ in the width or the target only.
    """
    ordered = sorted(screened, key=lambda one: one.loss)
    first, rest = list[Candidate](), list[Candidate]()
    seen = set[tuple[str, str]]()
    for one in ordered:
        kind = (one.candidate.family, one.candidate.view)
        (rest if kind in seen else first).append(one.candidate)
        seen.add(kind)
    return first + rest


def learned(best: Judged, widths: dict[str, float], columns: int) -> Iterator[Candidate]:
    """Yield candidates with a learned metric, given the best so far.

    widths: the best width of each family. columns: of the table, as it is encoded.
    """
    base = replace(best.candidate, learner="rfm", steps=STEPS)
    other = RANK if base.view == STANDARD else STANDARD
    for family, view, diagonal in (
        ("laplacian", base.view, True),
        ("exponential", base.view, True),
        ("laplacian", other, True),
        ("exponential", base.view, False),
        ("gaussian", base.view, False),
    ):
        if diagonal or columns <= WIDE:
            width = widths.get(family, 1.0)
            yield replace(base, family=family, view=view, width=width, diagonal=diagonal)


def machines(ridges: Sequence[Judged], task: Task) -> Iterator[Candidate]:
    """Yield machines with the best kernels of ridge models, where they suit the task."""
    classes = isinstance(task, ClassTask)
    if task.targets(PLAIN).shape[1] > 1 and not classes:
        return
    for place, one in enumerate(ridges[:3]):
        yield replace(one.candidate, learner="svm", penalty=2.0)
        if classes and place == 0:
            yield replace(one.candidate, learner="logistic", penalty=0.3)


def trees(task: Task) -> Iterator[Candidate]:
    """Yield boosted trees, which an ensemble of kernels should beat; they have one output."""
    if isinstance(task, ClassTask) or task.targets(PLAIN).shape[1] == 1:
        yield Candidate(learner=TREES, view=STANDARD, family=TREES, width=1.0)


def by_turns(*lists: Iterator[Candidate]) -> Iterator[Candidate]:
    """Yield one of each list after another."""
    left = list(lists)
    while left:
        for one in list(left):
            found = next(one, None)
            if found is None:
                left.remove(one)
            else:
                yield found
