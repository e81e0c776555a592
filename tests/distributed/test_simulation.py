"""The simulation of a cluster: what is known of a pass by hand."""

from dataclasses import replace

import pytest
from simulate_cluster import Cluster, Fit, driver_bytes, outcome, replay, serial, tree, worker_bytes

FIT = Fit(rows=1_600_000, block_rows=100_000, centres=1000)  # 16 blocks of 0.1 s each
FREE = Cluster(workers=4, bandwidth=float("inf"), latency=0, task_seconds=0)


@pytest.mark.parametrize("plan", [replay, tree])
@pytest.mark.parametrize("driver_seconds", [0.0, 0.25])
def test_one_worker_takes_the_serial_time(plan, driver_seconds):
    fit = replace(FIT, driver_seconds=driver_seconds)
    assert serial(fit) == pytest.approx(1.6 + driver_seconds)
    assert plan(fit, replace(FREE, workers=1)) == pytest.approx(serial(fit))


@pytest.mark.parametrize("plan", [replay, tree])
@pytest.mark.parametrize("workers", [1, 2, 4, 8, 16])
def test_messages_without_cost_give_a_perfect_speed_up(plan, workers):
    assert plan(FIT, replace(FREE, workers=workers)) == pytest.approx(1.6 / workers)


@pytest.mark.parametrize("plan", [replay, tree])
def test_blocks_that_workers_cannot_share_evenly(plan):
    assert plan(FIT, replace(FREE, workers=5)) == pytest.approx(0.4)  # one has four of 16
    assert plan(FIT, replace(FREE, workers=100)) == pytest.approx(0.1)


def test_the_last_block_may_be_short():
    assert replay(replace(FIT, rows=1_650_000), replace(FREE, workers=17)) == pytest.approx(0.1)
    assert serial(replace(FIT, rows=1_650_000)) == pytest.approx(1.65)


def test_sums_that_come_in_slowly_bind():
    fit = replace(FIT, entry_seconds=0, sum_bytes=2000)
    cluster = replace(FREE, bandwidth=10_000.0)  # 8 kB down in 0.8 s, 10 kB up in 1 s
    # The first sum waits for its task, the others follow one another.
    assert replay(fit, replace(cluster, workers=100)) == pytest.approx(0.8 + 16 * 1.0)
    found = outcome(fit, cluster)
    assert found["binds"] == "network"
    assert found["pass_seconds"] >= 16


def test_tasks_bind_where_each_takes_the_scheduler_long():
    cluster = replace(FREE, workers=16, task_seconds=0.5)
    # The last of 16 tasks leaves after 8 s and is worked on for 0.1 s.
    assert replay(FIT, cluster) == pytest.approx(8.1)
    assert outcome(FIT, cluster)["binds"] == "tasks"


def test_few_tasks_are_on_their_way_at_a_time():
    fit = replace(FIT, entry_seconds=0)
    # Each waits for the answer of the one before the last: two at a time, a second there and back.
    cluster = replace(FREE, workers=1, latency=0.5)
    assert replay(fit, cluster) == pytest.approx(16 / 2)


def test_a_tree_by_hand():
    fit = replace(FIT, entry_seconds=0, sum_bytes=2000)
    cluster = Cluster(workers=4, bandwidth=10_000.0, latency=0.1, task_seconds=0.01)
    # From the driver and two steps along the tree, and back: 8 kB and 10 kB, 0.1 s each time.
    assert tree(fit, cluster) == pytest.approx(3 * (0.2 + 1.8) + 4 * 0.01)


def test_memory_binds_where_there_is_not_enough():
    fit = replace(FIT, row_bytes=72)
    assert driver_bytes(fit) == 3 * 8 * 1000**2 + 72 * 1_600_000
    small = replace(FREE, driver_memory=1e8)
    assert outcome(fit, small)["binds"] == "memory of the driver"
    small = replace(FREE, worker_memory=worker_bytes(fit, FREE) - 1)
    assert outcome(fit, small)["binds"] == "memory of the workers"
    assert outcome(fit, FREE)["binds"] == "arithmetic"
