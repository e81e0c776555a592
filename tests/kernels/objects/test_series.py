"""Kernels of time series: the sum over all alignments."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracles
import oracles_series
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import SVC, _native
from mercer.checks import InputError, InputTypeError, KernelError
from mercer.inputs import RowBlocks
from mercer.kernels import GlobalAlignment, parse

pytestmark = pytest.mark.native

BLOCKS = 500  # of equal values, in a series of 2,000 moments


def moments(series):
    """A series as a list of tuples, for the oracle."""
    values = np.asarray(series, dtype=float)
    return [tuple(row) for row in (values[:, None] if values.ndim == 1 else values)]


def by_hand(series, others, gamma, normalize=True):
    """The Gram block by going through all alignments."""
    local = oracles_series.half_gaussian(gamma)

    def raw(x, y):
        return oracles_series.global_alignment(moments(x), moments(y), local)

    K = oracles.gram(raw, series, others)
    if not normalize:
        return K
    sizes = [[raw(x, x) for x in side] for side in (series, others)]
    return K / np.sqrt(np.outer(*sizes))


def walk(length, seed, width=1):
    return np.random.default_rng(seed).normal(size=(length, width)).cumsum(axis=0)


@st.composite
def collections(draw, width=None):
    """A few short series of one width; some empty, some of few values so that they coincide."""
    d = draw(st.integers(1, 3)) if width is None else width
    value = st.one_of(st.integers(-2, 2).map(float), st.floats(-3, 3))
    series = st.integers(0, 5).flatmap(
        lambda length: st.lists(value, min_size=length * d, max_size=length * d).map(
            lambda found: np.array(found, dtype=float).reshape(-1, d)
        )
    )
    return draw(st.lists(series, min_size=2, max_size=5))


gammas = st.sampled_from([1e-6, 0.01, 0.3, 1.0, 7.0, 300.0])


# --- values -------------------------------------------------------------------------------------


def test_a_pair_of_two_moments_by_hand():
    """x = (0, 1) with itself, gamma = 1: three alignments, two of them through a place off the
    diagonal, which costs kappa = e / (2 - e)."""
    e = math.exp(-1.0)
    kappa = e / (2 - e)
    raw = GlobalAlignment(1.0, normalize=False)
    x, y = np.array([0.0, 1.0]), np.array([1.0, 1.0])
    np.testing.assert_allclose(raw([x]), [[1 + 2 * kappa]], rtol=1e-15)
    # (1, 1) with itself has three alignments of 1; with x: kappa first, or kappa twice.
    np.testing.assert_allclose(raw([y]), [[3.0]], rtol=1e-15)
    np.testing.assert_allclose(raw([x], [y]), [[2 * kappa + kappa**2]], rtol=1e-15)
    cosine = (2 * kappa + kappa**2) / math.sqrt(3 * (1 + 2 * kappa))
    np.testing.assert_allclose(GlobalAlignment(1.0)([x], [y]), [[cosine]], rtol=1e-15)


def test_one_moment_each_is_the_local_kernel():
    K = GlobalAlignment(0.5)([np.array([1.0]), np.array([3.0])])
    e = math.exp(-2.0)
    np.testing.assert_allclose(K, [[1, e / (2 - e)], [e / (2 - e), 1]], rtol=1e-15)


@settings(max_examples=25, deadline=None)
@given(collections(), gammas, st.booleans())
def test_all_alignments_one_by_one(series, gamma, normalize):
    kernel = GlobalAlignment(gamma, normalize)
    wanted = by_hand(series, series, gamma, normalize)
    np.testing.assert_allclose(kernel(series), wanted, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(kernel.formula(series), wanted, rtol=1e-13, atol=1e-300)
    half = len(series) // 2
    block = kernel(series[:half], series[half:])
    np.testing.assert_array_equal(block, kernel(series)[:half, half:])
    np.testing.assert_array_equal(kernel(series[half:], series[:half]), block.T)
    np.testing.assert_array_equal(kernel.diag(series), np.diag(kernel(series)))


@settings(max_examples=40, deadline=None)
@given(collections(), gammas, st.booleans())
def test_it_is_positive_semi_definite(series, gamma, normalize):
    values = np.linalg.eigvalsh(GlobalAlignment(gamma, normalize)(series))
    assert values[0] >= -1e-10 * values[-1]


def test_the_local_kernel_is_what_makes_it_one():
    """All series of one and two moments of 0, 1, 2, 3: with e alone the sum is indefinite."""
    series = [
        np.array(values, dtype=float)
        for length in (1, 2)
        for values in itertools.product(range(4), repeat=length)
    ]

    def plain(x, y):
        local = oracles_series.plain_gaussian(0.3)
        return oracles_series.global_alignment(moments(x), moments(y), local)

    assert np.linalg.eigvalsh(oracles.gram(plain, series))[0] < -0.013
    assert np.linalg.eigvalsh(GlobalAlignment(0.3, normalize=False)(series))[0] > 1e-6
    assert np.linalg.eigvalsh(GlobalAlignment(0.3)(series))[0] > 1e-6


@pytest.mark.parametrize("gamma", [1e-3, 0.05, 1.0, 40.0, 1000.0])
@pytest.mark.parametrize("width", [1, 3])
def test_longer_series_against_the_definition(gamma, width):
    """Of different lengths: in groups of four pairs, and what is left over."""
    series = [walk(n, seed, width) for seed, n in enumerate((15, 1, 24, 11, 15, 2))]
    kernel = GlobalAlignment(gamma)
    np.testing.assert_allclose(kernel(series), kernel.formula(series), rtol=1e-12, atol=1e-300)


# --- long series, where the sum is no double ----------------------------------------------------


def test_constant_series_of_two_thousand_moments_count_alignments():
    """Every local kernel is 1: k is a Delannoy number, of 1,500 digits here."""
    lengths = (2000, 1300, 257, 256, 1)
    series = [np.full(length, 3.5) for length in lengths]
    counts = {(a, b): oracles_series.delannoy(a, b) for a in lengths for b in lengths if a >= b}

    def cosine(a, b):
        own = (Decimal(counts[a, a]) * Decimal(counts[b, b])).sqrt()
        return float(Decimal(counts[max(a, b), min(a, b)]) / own)

    wanted = [[cosine(a, b) for b in lengths] for a in lengths]
    np.testing.assert_allclose(GlobalAlignment(2.0)(series), wanted, rtol=1e-12)
    kernel = GlobalAlignment(2.0, normalize=False)
    assert kernel([np.zeros(350)])[0, 0] == pytest.approx(oracles_series.delannoy(350, 350), 1e-12)


@pytest.mark.parametrize("gamma", [1e4, 1e250])
def test_blocks_of_equal_values_at_an_extreme_gamma(gamma):
    """Moments of different value cannot be aligned, so k is the product over the blocks."""
    first = np.repeat(np.arange(BLOCKS, dtype=float), 4)
    second = np.repeat(np.arange(BLOCKS, dtype=float), 3)
    count = oracles_series.delannoy
    K = GlobalAlignment(gamma)([first, second])
    ratio = Fraction(count(4, 3) ** 2, count(4, 4) * count(3, 3))
    np.testing.assert_allclose(K[0, 1], math.sqrt(float(ratio**BLOCKS)), rtol=1e-12)
    np.testing.assert_array_equal(np.diag(K), 1.0)
    assert GlobalAlignment(gamma)([second[:30]], [second[29::-1]])[0, 0] == 0.0


@pytest.mark.parametrize("gamma", [1e-5, 1e-3, 0.05])
def test_long_series_backwards(gamma):
    """Alignments of reversed series are the reversed alignments: other numbers on the way."""
    series = [walk(2000, 0), walk(1300, 1) - 5, walk(2000, 0) + 0.1]
    forward = GlobalAlignment(gamma)(series)
    backward = GlobalAlignment(gamma)([x[::-1] for x in series])
    np.testing.assert_allclose(forward, backward, rtol=1e-11, atol=1e-300)
    assert np.isfinite(forward).all()
    assert (np.diag(forward) == 1).all()
    assert 0 < forward[0, 2] < 1


def test_values_that_a_square_overflows():
    series = [np.array([1e200, -1e200]), np.array([1e200]), np.array([1e200, -1e200, 0.0])]
    K = GlobalAlignment(1.0)(series)
    np.testing.assert_array_equal(K, np.eye(3))
    np.testing.assert_array_equal(GlobalAlignment(1.0).formula(series), np.eye(3))


def test_a_sum_that_is_no_double_is_refused_without_normalisation():
    kernel = GlobalAlignment(1.0, normalize=False)
    series = [np.zeros(3), np.zeros(1000)]
    said = "k\\(x, x\\) must be below 1.8e308 with normalize=False; got about 1e763 for the series"
    with pytest.raises(InputError, match=said + " of 1000 moments at index 1. Leave normalize=Tr"):
        kernel(series)
    with pytest.raises(InputError, match="at index 1"):
        kernel.diag(series)
    with pytest.raises(InputError, match=r"got \de\+3\d\d for series of 420 and"):
        kernel.pair(np.zeros(420), np.zeros(420))
    assert kernel.normalized() == GlobalAlignment(1.0)
    np.testing.assert_array_equal(np.diag(kernel.normalized()(series)), 1.0)


def test_what_is_too_small_is_zero():
    raw = GlobalAlignment(1.0, normalize=False)
    assert raw([np.zeros(5)], [np.full(5, 100.0)])[0, 0] == 0.0
    # exp(-720) / 2 is a double, but not a normal one.
    x, y = np.zeros(1), np.array([math.sqrt(720.0)])
    np.testing.assert_allclose(raw([x], [y]), [[math.exp(-720.0) / 2]], rtol=1e-8)


@pytest.mark.parametrize("far", [30.0, -30.0])
def test_a_moment_too_far_for_a_double_among_many_alignments(far):
    """exp(-900) is no double, but the sum over all ways around it is one.

    The sign decides which of the two series the rows of the recurrence are.
    """
    x, y = np.zeros(250), np.zeros(250)
    y[100] = far
    raw = GlobalAlignment(1.0, normalize=False)
    wanted = raw.pair(x, y)
    assert 1e-250 < wanted < 1e-150
    np.testing.assert_allclose(raw([x], [y]), [[wanted]], rtol=1e-12)


# --- what a series may be -----------------------------------------------------------------------


def test_arrays_of_series():
    """(n, T) and (n, T, d) are n series; so are lists, of (T,) and (T, 1) alike."""
    pile = np.random.default_rng(0).normal(size=(5, 6))
    kernel = GlobalAlignment(0.4)
    wanted = kernel(list(pile))
    np.testing.assert_array_equal(kernel(pile), wanted)
    np.testing.assert_array_equal(kernel(pile[:, :, None]), wanted)
    np.testing.assert_array_equal(kernel([pile[0], pile[1][:, None]]), wanted[:2, :2])
    plane = np.random.default_rng(0).normal(size=(4, 5, 2))
    np.testing.assert_array_equal(kernel(plane), kernel(list(plane)))
    np.testing.assert_allclose(kernel(plane), by_hand(plane, plane, 0.4), rtol=1e-13)
    # Other strides and other numbers.
    np.testing.assert_array_equal(kernel(np.asfortranarray(plane)), kernel(plane))
    whole = np.arange(12).reshape(3, 4) % 5
    np.testing.assert_array_equal(kernel(whole), kernel(whole.astype(float)))


def test_single_precision_is_read_in_double():
    series = [np.float32([0.1, 0.7]), np.float32([0.3])]
    kernel = GlobalAlignment(1.0)
    found = kernel(series)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, kernel([x.astype(np.float64) for x in series]))


def test_series_without_moments():
    """One alignment of nothing with nothing, none of nothing with something."""
    series = [np.zeros(0), np.array([1.0, 2.0]), np.zeros((0, 1)), np.array([1.0])]
    for kernel in (GlobalAlignment(1.0), GlobalAlignment(1.0, normalize=False)):
        K = kernel(series)
        np.testing.assert_array_equal(K[0], [1, 0, 1, 0])
        np.testing.assert_array_equal(kernel.formula(series)[0], [1, 0, 1, 0])
    assert GlobalAlignment(1.0)([], series).shape == (0, 4)
    assert GlobalAlignment(1.0)(series[:1], []).shape == (1, 0)
    assert GlobalAlignment().resolve([np.zeros(0)]).gamma == 1.0


def test_moments_without_coordinates_are_all_equal():
    K = GlobalAlignment(1.0, normalize=False)([np.zeros((3, 0)), np.zeros((2, 0))])
    np.testing.assert_allclose(K, [[13, 5], [5, 3]], rtol=1e-15)
    assert GlobalAlignment().resolve([np.zeros((3, 0))]).gamma == 1.0


def test_more_moments_than_any_memory_holds_are_refused():
    for claimed in (2**48 + 1, 2**60 - 1):  # 16 numbers for each are more than 64 bits count
        with pytest.raises(ValueError, match="at most 2\\^48 moments"):
            GlobalAlignment(1.0)([np.zeros((claimed, 0))])


@pytest.mark.parametrize(
    ("series", "error", "said"),
    [
        ([np.zeros(2), np.array([1.0, np.nan])], InputTypeError, "(?s)finite numbers.*at index 1"),
        ([np.zeros(2), np.array([np.inf])], InputTypeError, "at index 1"),
        (
            [np.zeros(2), [[1.0, 2.0], [3.0]]],
            InputTypeError,
            "(?s)1-D or 2-D array.*list\\) at index 1. Make it one with np",
        ),
        ([np.zeros(2), np.array(["a"])], InputTypeError, "at index 1"),
        ([np.zeros((2, 3, 4))], InputTypeError, "at index 0"),
        ([np.zeros((2, 1)), np.zeros((4, 2))], InputError, "1 values per moment.* 2 at index 1.$"),
        ([[], np.zeros((4, 2))], InputError, r"index 1\. A series without moments is np.zeros"),
        ([np.zeros((4, 2)), []], InputError, r"index 1\. A series without moments is np.zeros"),
        (np.zeros((2, 2, 2, 2)), InputTypeError, "time series; got a 4-D array"),
    ],
)
def test_what_is_no_series_is_refused(series, error, said):
    with pytest.raises(error, match=said):
        GlobalAlignment(1.0)(series)


def test_both_sides_must_have_one_width():
    narrow, wide = [np.zeros(2)], [np.zeros((2, 3))]
    kernel = GlobalAlignment(1.0)
    with pytest.raises(InputError, match="same number of values per moment; got 1 and 3"):
        kernel(narrow, wide)
    with pytest.raises(InputError, match="must have 1 values per moment"):
        kernel.pair(narrow[0], wide[0])


# --- parameters ---------------------------------------------------------------------------------


def test_the_scale_of_the_data():
    """1 / (d v T): by the values, their number of columns and the mean length."""
    series = [walk(4, 0, 2), walk(6, 1, 2), walk(2, 2, 2)]
    everything = np.concatenate(series)
    wanted = 1 / (2 * everything.var() * 4)
    assert GlobalAlignment().resolve(series).gamma == pytest.approx(wanted, rel=1e-14)
    assert GlobalAlignment("auto").resolve(series).gamma == 0.5
    twice = GlobalAlignment().resolve([*series, series[1]]).gamma
    weighted = GlobalAlignment().resolve(series, sample_weight=[1, 2, 1]).gamma
    assert weighted == pytest.approx(twice, rel=1e-13)
    assert twice != pytest.approx(wanted, rel=1e-3)
    blocks = RowBlocks([series[:1], series[1:]])
    assert GlobalAlignment().resolve(blocks).gamma == pytest.approx(wanted, rel=1e-14)
    unseen = GlobalAlignment().resolve([np.zeros(0), np.arange(3.0)], sample_weight=[1, 0])
    assert unseen.gamma == 1.0
    constant = GlobalAlignment().resolve([np.full(4, 2.0)])
    assert constant.gamma == pytest.approx(0.25)
    with pytest.raises(KernelError, match="still to be taken from data"):
        GlobalAlignment()(series)
    with pytest.raises(KernelError, match="still to be taken from data"):
        GlobalAlignment().pair(series[0], series[1])


def test_text_and_parameters():
    for kernel in (GlobalAlignment(), GlobalAlignment(0.25), GlobalAlignment(2, normalize=False)):
        assert parse(repr(kernel)) == kernel
    assert (
        repr(GlobalAlignment(2, normalize=False)) == "GlobalAlignment(gamma=2.0, normalize=False)"
    )
    assert parse("GlobalAlignment(2.0, normalize=False).normalized()") == GlobalAlignment(2.0)
    with pytest.raises(InputError, match="gamma must be a finite number above 0; got 0"):
        GlobalAlignment(0)
    with pytest.raises(InputError, match="gamma must be one of 'scale', 'auto'; got 'scal'"):
        GlobalAlignment("scal")


def test_learning_from_series_of_different_lengths():
    """Rising and falling walks, told apart by an SVM that has seen other ones."""
    random = np.random.default_rng(3)

    def some(count):
        labels = np.arange(count) % 2
        made = []
        for label in labels:
            slope = 2.0 * label - 1.0
            time = np.linspace(0, 1, random.integers(20, 40)) ** random.uniform(0.5, 2.0)
            made.append(slope * time + 0.3 * random.normal(size=len(time)))
        return made, labels

    X, y = some(30)
    model = SVC(kernel=GlobalAlignment()).fit(X, y)
    fresh, labels = some(40)
    assert model.score(fresh, labels) == 1.0


# --- the core -----------------------------------------------------------------------------------


def test_the_core_checks_what_it_is_given():
    values, ends = np.zeros(4), np.array([0, 1, 2])
    fine = _native.SeriesSet(values, ends, 2, 1.0)
    assert len(fine) == 2
    with pytest.raises(ValueError, match="both sets must be measured"):
        _native.AlignmentJob(fine, fine, True)
    assert fine.measure(None)
    assert _native.AlignmentJob(fine, fine, True).lefts == 2
    assert fine.parts == [0.5, 0.5]
    assert fine.powers == [1.0, 1.0]
    for wrong in ([0, 1, 3], [0, 2, 1], [1, 2], [-1, 2], []):
        with pytest.raises(ValueError, match="SeriesSet"):
            _native.SeriesSet(values, np.array(wrong, dtype=np.int64), 2, 1.0)
    for width, gamma in ((3, 1.0), (0, 1.0), (-1, 1.0), (2, 0.0), (2, np.nan), (2, np.inf)):
        with pytest.raises(ValueError, match="SeriesSet"):
            _native.SeriesSet(values, ends, width, gamma)
    for other in (
        _native.SeriesSet(values, 2 * ends, 1, 1.0),
        _native.SeriesSet(values, ends, 2, 2.0),
    ):
        other.measure(None)
        with pytest.raises(ValueError, match="one width and one gamma"):
            _native.AlignmentJob(fine, other, True)


def test_measuring_can_be_stopped():
    series = _native.SeriesSet(np.zeros(400 * 400), np.arange(0, 400 * 401, 400), 1, 1.0)
    assert not series.measure(lambda: True)
    assert series.parts == []
