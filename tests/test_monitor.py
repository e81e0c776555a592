"""The monitor: it stops what it watches, says how far that is, and keeps checkpoints."""

import threading
import time

import numpy as np
import pytest

from mercer.checks import InputError, InputTypeError, MercerError
from mercer.grams import Multiply, TopK, gram, gram_family
from mercer.inputs import RowBlocks
from mercer.kernels import FunctionKernel, Gaussian, Linear
from mercer.monitor import Monitor, Stopped, muted, warn
from mercer.stages import Stages

X = np.random.default_rng(0).normal(size=(400, 3))
V = np.ones(400)
WORDS = ["ab", "ba", "abab"] * 20
SLOW = FunctionKernel(lambda x, y: float(len(x) == len(y)), pairwise=True)


def test_nothing_stops_by_itself():
    monitor = Monitor()
    assert monitor.stop_reason() is None
    monitor.poll()
    monitor.report("kernel", 0.5)
    monitor.iteration({"n": 1})
    assert monitor.start() is monitor


def test_cancel():
    monitor = Monitor()
    monitor.cancel()
    assert monitor.stop_reason() == "cancelled"
    for ask in (
        monitor.poll,
        lambda: monitor.report("kernel", 0.1),
        lambda: monitor.iteration({}),
    ):
        with pytest.raises(Stopped, match="stopped: cancelled") as caught:
            ask()
        assert caught.value.reason == "cancelled"
    assert issubclass(Stopped, MercerError)


def test_time_limit_counts_from_the_start(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monitor = Monitor(time_limit=5).start()
    now[0] = 104.0
    assert monitor.stop_reason() is None
    assert monitor.seconds == 4.0
    monitor.start()
    now[0] = 108.9
    monitor.poll()
    now[0] = 109.0
    with pytest.raises(Stopped, match="stopped: time limit"):
        monitor.poll()
    monitor.cancel()
    assert monitor.stop_reason() == "cancelled"


@pytest.mark.parametrize("bad", [0, -1, np.nan, np.inf])
def test_a_time_limit_must_be_positive(bad):
    with pytest.raises(InputError, match="Monitor: time_limit must be a finite number above 0"):
        Monitor(time_limit=bad)
    with pytest.raises(InputTypeError, match="Monitor: time_limit"):
        Monitor(time_limit="1s")


def test_progress():
    told = []
    monitor = Monitor(progress=lambda what, fraction: told.append((what, fraction)))
    monitor.report("kernel", 0.25)
    assert told == [("kernel", 0.25)]


def test_callback_sees_the_record_and_may_stop():
    seen = []
    monitor = Monitor(callback=lambda record: seen.append(record) or len(seen) == 3)
    monitor.iteration({"n": 0})
    monitor.iteration({"n": 1})
    with pytest.raises(Stopped, match="cancelled"):
        monitor.iteration({"n": 2})
    assert [record["n"] for record in seen] == [0, 1, 2]


def test_states_are_written_before_a_stop():
    written = []
    monitor = Monitor(callback=lambda record: True, stages=Stages(written.append, every=100))
    with monitor.stage("solve") as stage:
        stage.reached({"step": 1})
        for _ in range(2):  # only once: what follows a stop winds up
            with pytest.raises(Stopped):
                monitor.iteration({})
    assert written == [{"solve 1/": {"step": 1}}]


def test_without_stages_nothing_is_known_and_nothing_kept():
    monitor = Monitor()
    with monitor.stage("solve") as stage:
        assert stage.known is None
        stage.reached({"step": 1})
        assert stage.known is None
    made = []
    for _ in range(2):
        assert monitor.kept("factor", lambda: made.append(1) or {"size": 3}) == {"size": 3}
    assert len(made) == 2


def test_what_is_kept_is_made_once_unless_it_is_large(monkeypatch):
    written = []
    monitor = Monitor(stages=Stages(written.append, every=0))
    monitor.kept("factor", lambda: {"T": np.ones(3)})
    again = Monitor(stages=Stages(written.append, 100, written[-1]))
    found = again.kept("factor", lambda: pytest.fail("it is known"))
    assert np.array_equal(found["T"], np.ones(3))
    monkeypatch.setattr("mercer.monitor.KEPT", 23)
    monitor = Monitor(stages=Stages(written.append, every=0))
    count = len(written)
    monitor.kept("factor", lambda: {"T": np.ones(3)})
    assert len(written) == count


# --- Gram matrices under a monitor -------------------------------------------------------------

GRAMS = {
    "on the fly": lambda m: gram(Gaussian(0.5), X, store=False, memory_limit="200kB", monitor=m),
    "stored": lambda m: gram(Gaussian(0.5), X, store=True, monitor=m),
    "low rank": lambda m: gram(Linear(), X, monitor=m),
    "object pairs": lambda m: gram(SLOW, WORDS, store=False, monitor=m),
    "row blocks": lambda m: gram(Gaussian(0.5), RowBlocks.split(X, 100), monitor=m),
    "family": lambda m: gram_family([Gaussian(0.5), Linear()], X, monitor=m),
}


@pytest.mark.parametrize("name", GRAMS)
def test_a_cancelled_monitor_stops_every_kind(name):
    monitor = Monitor()
    K = GRAMS[name](monitor)
    monitor.cancel()
    with pytest.raises(Stopped, match="cancelled"):
        K.dense()
    sink = [Multiply(V), Multiply(V)] if name == "family" else TopK(1)
    with pytest.raises(Stopped, match="cancelled"):
        K.reduce(sink)


def test_a_stop_leaves_nothing_half_made():
    class Switch(Monitor):
        on = True

        def stop_reason(self):
            return "cancelled" if self.on else None

    monitor = Switch()
    K = gram(Gaussian(0.5), X, store=True, monitor=monitor)
    with pytest.raises(Stopped):
        K @ V
    monitor.on = False
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    assert np.allclose(K @ V, np.exp(-0.5 * squares) @ V, rtol=1e-12)


@pytest.mark.parametrize("name", ["on the fly", "row blocks", "object pairs"])
def test_progress_goes_from_nothing_to_all(name):
    told = []
    monitor = Monitor(progress=lambda what, fraction: told.append((what, fraction)))
    K = GRAMS[name](monitor)
    K.reduce(TopK(1))
    fractions = [fraction for _, fraction in told]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] <= 1
    assert {what for what, _ in told} == {"kernel"}
    if K.plan.band_rows < K.shape[0]:
        assert len(fractions) > 1


def test_progress_may_stop():
    monitor = Monitor(progress=lambda what, fraction: monitor.cancel() if fraction > 0 else None)
    K = gram(Gaussian(0.5), X, store=False, memory_limit="200kB", monitor=monitor)
    with pytest.raises(Stopped):
        K.reduce(TopK(1))


def multiply_forever(K):
    while True:
        K @ np.ones((K.shape[1], 8))


def test_cancel_from_another_thread_stops_a_product():
    points = np.random.default_rng(0).normal(size=(60_000, 40)).astype(np.float32)
    monitor, began, ended = Monitor(), threading.Event(), []

    def work():
        K = gram(Gaussian(0.01), points, store=False, memory_limit="1GB", monitor=monitor)
        began.set()
        try:
            multiply_forever(K)
        except Stopped as stopped:
            ended.append(stopped.reason)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert began.wait(60)
    monitor.cancel()
    thread.join(60)
    assert not thread.is_alive()
    assert ended == ["cancelled"]


def test_time_limit_stops_a_long_product():
    points = np.random.default_rng(0).normal(size=(60_000, 40)).astype(np.float32)
    monitor = Monitor(time_limit=0.05)
    K = gram(Gaussian(0.01), points, store=False, memory_limit="1GB", monitor=monitor)
    monitor.start()
    with pytest.raises(Stopped, match="time limit"):
        multiply_forever(K)


def test_time_limit_stops_object_pairs():
    monitor = Monitor(time_limit=0.05)
    kernel = FunctionKernel(lambda x, y: time.sleep(1e-4) or 1.0, pairwise=True)
    K = gram(kernel, WORDS * 2, store=False, memory_limit=120 * 8 * 30, monitor=monitor)
    monitor.start()
    with pytest.raises(Stopped, match="time limit"):
        K.dense()


def test_muted_warnings_are_records_only(caplog, recwarn):
    with caplog.at_level("INFO", logger="mercer"):
        with muted():
            warn("said inside")
            with muted():
                warn("said deeper")
            warn("still inside")
        assert not recwarn.list
        warn("said outside")
    assert [str(one.message) for one in recwarn.list] == ["said outside"]
    assert sum("said" in one.message or "still" in one.message for one in caplog.records) == 4
