"""The simulation of a cluster: what is known of a pass by hand."""

from dataclasses import replace

import pytest
from simulate_cluster import (
    Cluster,
    Fit,
    driver_bytes,
    groups_of,
    outcome,
    replay,
    serial,
    tasks,
    worker_bytes,
)

FIT = Fit(rows=1_600_000, block_rows=100_000, centres=1000)  # 16 blocks of 0.1 s each
MANY = replace(FIT, block_rows=3125)  # 512 blocks, added up eight at a time
FREE = Cluster(workers=4, bandwidth=float("inf"), latency=0, task_seconds=0)


@pytest.mark.parametrize("fit", [FIT, MANY])
@pytest.mark.parametrize("driver_seconds", [0.0, 0.25])
def test_one_worker_takes_the_serial_time(fit, driver_seconds):
    fit = replace(fit, driver_seconds=driver_seconds)
    assert serial(fit) == pytest.approx(1.6 + driver_seconds)
    assert replay(fit, replace(FREE, workers=1)) == pytest.approx(serial(fit))


@pytest.mark.parametrize("fit", [FIT, MANY])
@pytest.mark.parametrize("workers", [1, 2, 4, 8, 16])
def test_messages_without_cost_give_a_perfect_speed_up(fit, workers):
    assert replay(fit, replace(FREE, workers=workers)) == pytest.approx(1.6 / workers)


def test_blocks_that_workers_cannot_share_evenly():
    assert replay(FIT, replace(FREE, workers=5)) == pytest.approx(0.4)  # one has four of 16
    assert replay(FIT, replace(FREE, workers=100)) == pytest.approx(0.1)


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
    # Two at a time, and each takes half a second to arrive; the last sum as long to come back.
    fit, cluster = replace(FIT, entry_seconds=0), replace(FREE, workers=1, latency=0.5)
    assert replay(fit, cluster) == pytest.approx(8 * 0.5 + 0.5)


def test_workers_add_up_many_sums():
    assert [len(group) for group in groups_of(64)] == [1] * 64
    assert [len(group) for group in groups_of(100)] == [8] * 12 + [4]
    assert {len(group) for group in groups_of(512)} == {8}
    assert tasks(64) == 64
    assert tasks(512) == 512 + 64
    assert tasks(4096) == 4096 + 512 + 64


def test_what_adding_up_takes():
    # 512 tasks of 8 kB and 64 sums, each with seven terms from other workers; one by one they come.
    fit, cluster = replace(MANY, entry_seconds=0), replace(FREE, workers=512, bandwidth=8_000.0)
    last_is_sent, terms = 512 * 1.0, 7 * 1.0
    assert replay(fit, cluster) == pytest.approx(last_is_sent + terms + 1.0)
    fit = replace(fit, sum_bytes=8 * 8000.0)  # 9 s a message: the first sum after 8 + 63 s
    assert replay(fit, cluster) == pytest.approx(8 + 63 + 64 * 9.0)


def test_memory_binds_where_there_is_not_enough():
    fit = replace(FIT, row_bytes=72)
    assert driver_bytes(fit) == 3 * 8 * 1000**2 + 72 * 1_600_000
    small = replace(FREE, driver_memory=1e8)
    assert outcome(fit, small)["binds"] == "memory of the driver"
    small = replace(FREE, worker_memory=worker_bytes(fit, FREE) - 1)
    assert outcome(fit, small)["binds"] == "memory of the workers"
    assert outcome(fit, FREE)["binds"] == "arithmetic"
