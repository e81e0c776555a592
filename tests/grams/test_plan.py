"""Which kind of Gram is chosen under a memory limit, that it keeps the limit, and its refusals."""

import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from mercer.checks import InputError, KernelError, MemoryLimitError, memory_limit
from mercer.grams import Normal, Sums, TopK, available_memory, gram, gram_family, memory
from mercer.kernels import (
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    SetIntersection,
    Spectrum,
    Tanimoto,
)

N = 1500
X = np.random.default_rng(0).normal(size=(N, 5))
FULL = N * N * 8
KEPT = {"stored", "half stored"}


def test_what_fits_is_kept_and_what_does_not_is_computed_anew():
    large = gram(Gaussian(0.5), X, memory_limit=2 * FULL)
    assert large.plan.kind == "half stored"
    assert re.fullmatch(r"half of K needs [\d.]+ MB, the limit is 36\.0 MB", large.plan.reason)
    cross = gram(Gaussian(0.5), X, X.copy(), memory_limit=2 * FULL)
    assert cross.plan.kind == "stored"
    assert cross.plan.reason == "K needs 18.0 MB, the limit is 36.0 MB"
    small = gram(Gaussian(0.5), X, memory_limit=FULL // 4)
    assert small.plan.kind == "on the fly"
    assert small.plan.reason == "K would need 18.0 MB, the limit is 4.5 MB"
    for made in (large, cross, small):
        assert 0 < made.plan.bytes <= made.plan.limit
    # In single precision K is half as large, and the limit that was too small holds it.
    half = gram(Gaussian(0.5), X.astype(np.float32), X.astype(np.float32), memory_limit="10MB")
    assert half.plan.kind == "stored"


@pytest.mark.parametrize("limit", [3_000_000, "3MB", "3000 kB", 3e6, "0.003 GB"])
def test_limits_are_numbers_and_texts(limit):
    made = gram(Gaussian(0.5), X, memory_limit=limit)
    assert made.plan.limit == 3_000_000
    assert made.plan.kind == "on the fly"


def test_auto_is_a_share_of_what_is_free(monkeypatch):
    assert available_memory() > 10**6
    for free, kind in ((10 * FULL, "half stored"), (FULL // 4, "on the fly")):
        monkeypatch.setattr(memory, "available_memory", lambda free=free: free)
        made = gram(Gaussian(0.5), X)
        assert made.plan.kind == kind
        assert free / 4 < made.plan.limit < free


def test_storing_can_be_asked_for_and_declined():
    assert gram(Linear(), X, store=True).plan.kind in KEPT
    assert gram(Linear(), X, store="half").plan.kind == "half stored"
    assert gram(Gaussian(0.5), X, store="whole").plan.kind == "stored"
    with pytest.raises(MemoryLimitError, match="leave out store"):
        gram(Gaussian(0.5), X, store="whole", memory_limit="10MB")
    declined = gram(Gaussian(0.5), X, store=False)
    assert declined.plan.kind == "on the fly"
    assert declined.plan.reason == "storing was not wanted"
    assert gram(Linear(), X, store=False).plan.kind == "on the fly"
    with pytest.raises(KernelError, match="of one collection of points"):
        gram(Gaussian(0.5), X, X.copy(), store="half")
    with pytest.raises(KernelError, match="takes a native kernel"):
        gram(Tanimoto(), [{1}, {2}], store="half")
    with pytest.raises(InputError, match=r"store must be one of 'whole', 'half'.*; got 'haf'"):
        gram(Gaussian(0.5), X, store="haf")


def test_an_exact_map_is_used_where_it_is_cheaper():
    made = gram(Linear(), X)
    assert made.plan.kind == "low rank"
    assert made.plan.reason == "an exact map with 5 features is cheaper than K"
    assert made.plan.bytes >= N * 5 * 8
    # 5**5 features and more are not cheaper than 1500 columns.
    assert gram(Polynomial(5), X).plan.kind in KEPT
    # A map that does not fit the limit is not made.
    wide = np.random.default_rng(0).normal(size=(400, 60))
    assert gram(Linear(), wide, memory_limit="10MB").plan.kind == "low rank"
    assert gram(Linear(), wide, memory_limit="300kB").plan.kind == "on the fly"
    assert gram(Spectrum(3), ["abcabc", "bcab"] * 3).plan.kind == "sparse features"
    assert gram(SetIntersection(), [{1}, {2}]).plan.kind == "sparse features"
    assert gram(Tanimoto(), [{1}, {2}]).plan.kind == "stored"


def test_explanation_says_what_and_why():
    text = str(gram(Gaussian(0.5), X, memory_limit="3MB").explain())
    first, second, third, *rest = text.splitlines()
    assert first == "K of shape 1500 x 1500, float64, for Gaussian(gamma=0.5)"
    assert second.strip() == "on the fly: K would need 18.0 MB, the limit is 3.0 MB"
    assert re.search(r"bands of \d+ rows; [\d.]+ .B beyond the inputs", third)
    assert len(rest) == 1
    assert rest[0].endswith(": squared distance")
    shared = 0.5 * Gaussian(0.1) + Gaussian(0.2) + Laplacian(1.0) + Linear().on([0])
    explained = gram(shared, X, store=False).explain()
    told = [*explained.statistics, *explained.numpy]
    for statistic in ("squared distance", "L1 distance", "dot on (0,)"):
        assert told.count(statistic) == 1
    assert len(told) == 3
    weighted = gram(Gaussian([1.0, 2.0, 3.0, 4.0, 5.0]), X).explain()
    assert "squared distance with column weights" in [*weighted.statistics, *weighted.numpy]
    low = gram(Linear(), X).explain()
    assert "5 dense features" in str(low)
    assert "3 sparse features" in str(gram(Spectrum(1), ["ab", "bc"]).explain())


# --- the limit is kept -------------------------------------------------------------------------


def peak(work):
    """The most bytes that Python allocated at a time during some work, beyond those before it."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


WIDE = np.random.default_rng(1).normal(size=(N, 120))
KERNELS = [
    Gaussian(0.5),
    0.5 * Gaussian(0.5) + Laplacian(0.2) + Polynomial(2) + Matern(1.5),
    Gaussian(0.5).normalized() * Linear(),
    Matern(0.7),
    Periodic(2.0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("points", [X, WIDE], ids=["narrow", "wide"])
def test_on_the_fly_keeps_the_limit(kernel, dtype, points):
    points = points.astype(dtype)
    columns = points.shape[1] * (2 if isinstance(kernel, Periodic) else 1)  # cosines and sines
    limit = 2 * N * 8 * (columns + 60)
    V, groups = np.ones((N, 2)), np.zeros(N, int)
    for work in (
        lambda K: K @ V,
        lambda K: K.reduce(Normal(V, V)),
        lambda K: K.reduce(Sums(groups, 1)),
        lambda K: K.reduce(TopK(3)),
    ):
        K = gram(kernel, points, memory_limit=limit, store=False)
        assert K.plan.bytes <= limit < FULL
        assert peak(lambda K=K, work=work: work(K)) <= limit


def test_stored_keeps_the_limit():
    for kernel in (Gaussian(0.5), Laplacian(0.2) + Linear(), Matern(0.7)):
        K = gram(kernel, X, memory_limit="30MB", store=True)
        assert peak(lambda K=K: K @ np.ones(N)) <= 30e6


def test_family_keeps_the_limit():
    family = gram_family([Gaussian(g) for g in np.linspace(0.1, 1, 8)], X, memory_limit="3MB")
    sinks = [Sums(np.zeros(N, int), 1) for _ in range(8)]
    assert peak(lambda: family.reduce(sinks)) <= 3e6


MEASURE = """
import sys, numpy, scipy.sparse
from mercer.grams import gram
from mercer.kernels import Gaussian
made = {
    "dense": lambda: numpy.random.default_rng(0).normal(size=(6000, 100)),
    "sparse": lambda: scipy.sparse.random(3000, 20000, 1e-3, format="csr", random_state=0),
}[sys.argv[1]]()
K = gram(Gaussian(1e-3), made, memory_limit=sys.argv[2])
warm = gram(Gaussian(1e-3), made[:64], memory_limit=sys.argv[2])
warm @ numpy.ones(64)

def high():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

before = high()
K @ numpy.ones(K.shape[0])
print(K.plan.kind, (high() - before) * 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_process_keeps_the_limit(kind):
    # What native code allocates is seen by the operating system only. K would be 288 MB and 72 MB,
    # the sparse rows 480 MB if they were dense.
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, kind, "30MB"], capture_output=True, text=True, check=True
    )
    chosen, grown = done.stdout.rsplit(maxsplit=1)
    assert chosen == "on the fly"
    assert int(grown) <= 30e6


# --- refused -----------------------------------------------------------------------------------


def test_refusal_comes_before_allocation_and_says_what_would_fit():
    huge = np.broadcast_to(np.float64(0.5), (3_000_000, 4))  # one number in memory

    def ask():
        with pytest.raises(MemoryLimitError) as caught:
            gram(Gaussian(0.5), huge, memory_limit="2MB")
        told.append(str(caught.value))

    told = []
    assert peak(ask) < 10**6
    assert re.fullmatch(
        r"gram: computing it band by band must fit memory_limit; a 3000000 x 3000000 Gram matrix "
        r"needs at least ([\d.]+ .B), the limit is 2\.0 MB\. Raise memory_limit to \1\.",
        told[0],
    )


@pytest.mark.parametrize("store", [None, True])
def test_the_limit_that_a_refusal_names_is_enough(store):
    with pytest.raises(MemoryLimitError) as caught:
        gram(Gaussian(0.5), X, memory_limit="20kB", store=store)
    named = re.findall(r"Raise memory_limit to ([\d.]+ .B)", str(caught.value))
    # The text rounds to one decimal.
    enough = memory_limit("gram", named[0]) * 1.05
    made = gram(Gaussian(0.5), X, memory_limit=enough, store=store)
    assert made.plan.kind in (KEPT if store else {"on the fly"})
    with pytest.raises(MemoryLimitError):
        gram(Gaussian(0.5), X, memory_limit=enough * 0.85, store=store)


def test_refusal_to_store_names_the_way_out():
    with pytest.raises(MemoryLimitError) as caught:
        gram(Gaussian(0.5), X, memory_limit="10MB", store=True)
    told = str(caught.value)
    assert told.startswith("gram: storing it must fit memory_limit; a 1500 x 1500 Gram matrix")
    assert "or leave out store: on the fly it fits in " in told
    assert isinstance(caught.value, MemoryError)


@pytest.mark.parametrize("bad", ["much", None, 0, -1, float("nan")])
def test_a_limit_that_is_none_is_refused(bad):
    with pytest.raises(InputError, match="gram: memory_limit must be"):
        gram(Gaussian(0.5), X, memory_limit=bad)


def test_sparse_rows_are_planned_as_they_are():
    sparse = scipy.sparse.random(300, 10_000, 1e-3, format="csr", random_state=0)
    made = gram(Gaussian(0.5), sparse, memory_limit="1MB", store=False)
    wanted = Gaussian(0.5).formula(sparse[:5], sparse)
    assert np.abs(made.rows(slice(0, 5)) - wanted).max() < 1e-13


def test_sparse_features_count_what_they_take():
    texts = [f"word {i:03}" for i in range(300)]
    held = gram(Spectrum(3), texts, memory_limit="1MB")
    assert held.plan.kind == "sparse features"
    F = Spectrum(3).features(texts)
    assert held.plan.bytes == F.data.nbytes + F.indices.nbytes + F.indptr.nbytes
    twice = gram(Spectrum(3), texts[:150], texts, memory_limit="1MB")
    assert 1.4 * held.plan.bytes < twice.plan.bytes < 1.6 * held.plan.bytes
    assert gram(Spectrum(3), texts, memory_limit=held.plan.bytes - 1).plan.kind == "on the fly"
    with pytest.raises(MemoryLimitError, match="Raise memory_limit"):
        gram(Spectrum(3), texts, memory_limit="1kB")
