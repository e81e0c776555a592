"""Numbers on one scale, missing ones, and numbers that are written as text."""

import datetime
from decimal import Decimal
from statistics import NormalDist

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import InputError, TableEncoder

HALF = np.sqrt(0.5)


def encoded(values, **parameters):
    return TableEncoder(**parameters).fit_transform(pd.DataFrame({"a": values}))


def test_standard_numbers():
    found = encoded([1.0, 2.0, 3.0, 6.0])
    assert np.allclose(found[:, 0], (np.array([1, 2, 3, 6]) - 3) / np.sqrt(3.5), rtol=1e-14)


@pytest.mark.parametrize("unit", [1e-320, 1e-200, 1.0, 1e200, 1e307])
def test_standard_numbers_of_any_size(unit):
    found = encoded([unit, 2 * unit, 3 * unit])
    assert np.allclose(found[:, 0], [-np.sqrt(1.5), 0, np.sqrt(1.5)], rtol=1e-2, atol=1e-3)


def test_ranks_as_normal_scores():
    values = [5.0, 1.0, 100.0, 5.0]
    score = NormalDist().inv_cdf
    wanted = {1.0: score(0.5 / 4), 5.0: score(2.0 / 4), 100.0: score(3.5 / 4)}
    assert np.allclose(encoded(values, numbers="rank")[:, 0], [wanted[v] for v in values])


def test_ranks_between_and_beyond_those_of_the_fit():
    encoder = TableEncoder(numbers="rank").fit([[0.0], [1.0], [3.0]])
    low, middle, high = encoder.transform([[0.0], [1.0], [3.0]])[:, 0]
    found = encoder.transform([[-1e9], [0.25], [2.0], [1e9]])[:, 0]
    assert np.allclose(found, [low, 0.75 * low + 0.25 * middle, (middle + high) / 2, high])


def test_ranks_of_many_numbers_are_kept_as_few():
    values = np.random.default_rng(0).lognormal(size=5000)
    encoder = TableEncoder(numbers="rank").fit(values[:, None])
    (code,) = encoder.columns_[0].codes
    assert 500 < len(code.knots) <= 1001
    ranks = (np.argsort(np.argsort(values)) + 0.5) / 5000
    wanted = np.array([NormalDist().inv_cdf(p) for p in ranks])
    assert np.abs(encoder.transform(values[:, None])[:, 0] - wanted).max() < 0.01


def test_robust_numbers():
    values = np.array([0.0, 1.0, 2.0, 3.0, 1000.0])
    z = (values - 2.0) / 2.0  # quartiles 1 and 3
    assert np.allclose(encoded(values, numbers="robust")[:, 0], z / np.sqrt(1 + z**2 / 9))
    assert np.abs(encoded(values, numbers="robust")).max() < 3


def test_robust_numbers_that_are_mostly_the_same():
    z = np.array([0, 0, 0, 0, 0, 2.0])  # half the range is 4
    found = encoded([1.0] * 5 + [9.0], numbers="robust")[:, 0]
    assert np.allclose(found, z / np.sqrt(1 + z**2 / 9))


@pytest.mark.parametrize("numbers", ["standard", "rank", "robust"])
def test_missing_numbers_are_the_median_and_marked(numbers):
    encoder = TableEncoder(numbers=numbers).fit([[1.0], [2.0], [np.nan], [9.0]])
    found = encoder.transform([[np.nan], [2.0]])
    assert found[0, 0] == found[1, 0]
    assert np.allclose(found[:, 1], [HALF, -HALF])
    assert encoder.get_feature_names_out().tolist() == ["x0", "x0=missing"]


def test_missing_numbers_where_none_were_missing_are_the_median():
    encoder = TableEncoder().fit([[1.0, 5.0], [2.0, 6.0], [9.0, 5.0]])
    found = encoder.transform([[np.nan, np.nan], [2.0, 5.0]])
    assert found.shape == (2, 2)
    assert np.array_equal(found[0], found[1])


def test_missing_numbers_without_a_mark():
    found = encoded([1.0, np.nan, 3.0], missing="fill")
    assert np.allclose(found, [[-1], [0], [1]])


def test_the_mark_is_as_large_as_a_category():
    assert np.allclose(
        encoded([1.0, np.nan, 3.0], category_scale=2.0)[:, 1], [-2 * HALF, 2 * HALF, -2 * HALF]
    )


def test_one_number_and_missing_ones_leave_the_mark():
    assert np.allclose(encoded([5.0, np.nan, 5.0]), [[-HALF], [HALF], [-HALF]])
    with pytest.raises(InputError, match="at least one column must tell rows apart"):
        encoded([5.0, np.nan, 5.0], missing="fill")


def test_small_codes_stay_numbers():
    encoder = TableEncoder().fit([[0], [1], [1], [2]])
    assert encoder.columns_[0].kind == "number"
    assert (
        TableEncoder(types={0: "category"}).fit([[0], [1], [1], [2]]).columns_[0].kind == "category"
    )


# --- written as text, and other types ------------------------------------------------------------


def test_numbers_as_text():
    values = ["3.5", " -1 ", "1e2", ".5", None]
    found = encoded(values)
    assert np.array_equal(found, encoded([3.5, -1.0, 100.0, 0.5, np.nan]))


def test_strays_among_numbers_are_missing():
    values = [str(i) for i in range(40)] + ["?"]
    frame = pd.DataFrame({"a": values})
    encoder = TableEncoder().fit(frame)
    assert encoder.columns_[0].strays == ("?",)
    assert encoder.notes_ == ("Column 'a' is of numbers as text; '?' there is read as missing.",)
    wanted = encoded([*map(float, range(40)), np.nan])
    assert np.array_equal(encoder.transform(frame), wanted)
    with pytest.raises(
        InputError, match="column 'a': every value must be a number; got '-' in row 1"
    ):
        encoder.transform(pd.DataFrame({"a": ["?", "-"]}))


@pytest.mark.parametrize(
    "values",
    [
        ["01234", "99999", "01234"],  # codes whose zeros count
        ["1,200", "3,400", "1,200"],
        ["nan", "inf", "nan"],
        ["1", "2", "?", "?"],
        ["1_000", "2_000", "1_000"],
    ],
)
def test_texts_that_are_not_numbers(values):
    encoder = TableEncoder(min_count=1).fit(pd.DataFrame({"a": values}))
    assert encoder.columns_[0].kind == "category"


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2, 4], dtype=np.int8),
        pd.array([1, 2, 4], dtype="Int64"),
        [Decimal(1), Decimal(2), Decimal(4)],
        pd.Series([1, 2.0, np.float32(4)], dtype=object),
        pd.to_timedelta([1, 2, 4], unit="s"),
        [datetime.timedelta(seconds=s) for s in (1, 2, 4)],
        ["1", "2", "4"],
    ],
)
def test_numbers_of_other_types(values):
    assert np.allclose(encoded(values), encoded([1.0, 2.0, 4.0]), rtol=1e-14)


def test_decimals_of_polars():
    frame = pl.DataFrame({"a": [Decimal("1.5"), None, Decimal("4.5")]})
    assert np.allclose(TableEncoder().fit_transform(frame), encoded([1.5, np.nan, 4.5]))


# --- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize("infinite", [np.inf, -np.inf, 10**400])
def test_infinite_numbers_are_refused(infinite):
    frame = pd.DataFrame({"a": pd.Series([1.0, 2.0, infinite], dtype=object), "b": [1, 2, 3]})
    with pytest.raises(
        InputError, match=r"column 'a': numbers must be finite or missing; got infinity in row 2"
    ):
        TableEncoder().fit(frame)
    encoder = TableEncoder().fit(frame[:2])
    with pytest.raises(InputError, match="column 'a': numbers must be finite"):
        encoder.transform(frame)


def test_numbers_far_beyond_those_of_the_fit_are_refused():
    encoder = TableEncoder().fit([[0.0], [1e-10]])
    with pytest.raises(InputError, match="column 'x0': values must be of a size like those of fit"):
        encoder.transform([[0.0], [1e308]])


def test_quartiles_that_nearly_coincide_are_no_scale():
    column = np.array([[0.0], [0.0], [0.0], [-1.5e-306], [-271.0]])
    found = TableEncoder(numbers="robust").fit_transform(column)
    assert np.isfinite(found).all()
    assert found[4, 0] == pytest.approx(-2.0 / np.sqrt(1 + (2.0 / 3.0) ** 2))


@pytest.mark.parametrize("numbers", ["standard", "rank", "robust"])
def test_numbers_too_small_to_divide_by_are_zero(numbers):
    column = np.array([[0.0, 0.0], [2e-311, 1.0], [0.0, 2.0]])
    encoder = TableEncoder(numbers=numbers).fit(column)
    assert encoder.columns_[0].codes == ()
    assert np.isfinite(encoder.transform(column)).all()
