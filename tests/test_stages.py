"""Stages: a computation that is cut off anywhere goes on from its last written state."""

import itertools
import time

import numpy as np
import pytest

from mercer.stages import Stages


def test_states_are_written_at_intervals(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    written = []
    stages = Stages(written.append, every=10)
    with stages.stage("solve") as stage:
        for step in range(35):
            now[0] = float(step)
            stage.reached({"step": step})
    assert [states["solve 1/"]["step"] for states in written] == [10, 20, 30]


def test_a_function_is_asked_only_for_what_is_written():
    asked, written = [], []
    stages = Stages(written.append, every=1e9)
    with stages.stage("sums") as stage:
        for step in range(5):
            stage.reached(lambda step=step: asked.append(step) or {"step": step})
        assert asked == []
        stages.save()
    assert written == [{"sums 1/": {"step": 4}}]
    assert asked == [4, 4]  # and at the end of the stage, whose arrays others may then change


def test_stages_of_one_name_are_told_apart_and_forgotten_with_the_step_around_them():
    written = []
    stages = Stages(lambda states: written.append(sorted(states)), every=0)
    with stages.stage("search") as search:
        for _ in range(2):
            with stages.stage("solve") as solve:
                solve.reached({"x": 1})
        search.reached({"best": 3})
        with stages.stage("solve") as solve:
            assert solve.known is None
            solve.reached({"x": 2})
    assert written == [
        ["search 1/solve 1/"],
        ["search 1/solve 1/", "search 1/solve 2/"],
        ["search 1/"],
        ["search 1/", "search 1/solve 1/"],
    ]


def test_a_stage_that_has_ended_is_known_until_the_one_around_it_ends():
    written = []
    stages = Stages(written.append, every=1e9)
    with stages.stage("fit"), stages.stage("solve") as solve:
        solve.reached({"x": 1})
    stages.save()
    assert written == [{}]
    with stages.stage("fit"):
        with stages.stage("solve") as solve:
            solve.reached({"x": 1})
        stages.save()
    assert written[1] == {"fit 2/solve 1/": {"x": 1}}


def summed(stages, numbers):
    """Sums of running sums, with a state in both loops: what an interruption must not change."""
    total, outer = 0.0, 0
    steps = []
    with stages.stage("outer") as around:
        if around.known is not None:
            total, outer = around.known["total"], around.known["index"]
        for i in range(outer, len(numbers)):
            part, first = np.zeros(1), 0
            with stages.stage("inner") as within:
                if within.known is not None:
                    part, first = within.known["part"].copy(), within.known["index"]
                for j in range(first, i + 1):
                    part += numbers[j]
                    steps.append((i, j))
                    within.reached(lambda j=j, part=part: {"index": j + 1, "part": part.copy()})
            total += float(part[0])
            around.reached({"total": total, "index": i + 1})
    return total, steps


@pytest.mark.parametrize("every", [0, 2])
@pytest.mark.parametrize("cut", range(1, 20))
def test_a_computation_goes_on_from_any_write(monkeypatch, cut, every):
    clock = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    numbers = [1.0, 10.0, 100.0, 1000.0]
    wanted, all_steps = summed(Stages(lambda states: None, every), numbers)
    written = []

    def write(states):
        written.append({path: dict(state) for path, state in states.items()})
        if len(written) == cut:
            raise KeyboardInterrupt

    try:
        summed(Stages(write, every), numbers)
    except KeyboardInterrupt:
        found, steps = summed(Stages(lambda states: None, every, written[-1]), numbers)
        assert found == wanted
        assert steps == all_steps[len(all_steps) - len(steps) :]
        assert len(steps) < len(all_steps)
    else:
        assert cut > len(written) > 3
