"""Dates and times: one number and points on circles, in any time zone."""

import datetime
import zoneinfo

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import InputError, TableEncoder

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
TIMES = [
    datetime.datetime(2024, 1, 1, 0),  # a Monday
    datetime.datetime(2024, 7, 2, 6),
    datetime.datetime(2023, 12, 31, 12),
    datetime.datetime(2023, 3, 26, 18),
]


def oracle(time):
    """The point of a time on each circle, by Python's own calendar."""
    start = datetime.datetime(time.year, 1, 1, tzinfo=time.tzinfo)
    days = (datetime.date(time.year + 1, 1, 1) - datetime.date(time.year, 1, 1)).days
    day = (time.hour * 3600 + time.minute * 60 + time.second) / 86400
    year = ((time.date() - start.date()).days + day) / days
    turns = (year, (time.weekday() + day) / 7, day)
    return [wave(2 * np.pi * turn) for turn in turns for wave in (np.sin, np.cos)]


def encode(values, **parameters):
    return TableEncoder(**parameters).fit_transform(pd.DataFrame({"t": values}))


def test_a_date_is_a_number_and_points_on_circles():
    encoder = TableEncoder()
    found = encoder.fit_transform(pd.DataFrame({"t": TIMES}))
    seconds = np.array([(time - datetime.datetime(1970, 1, 1)).total_seconds() for time in TIMES])
    assert np.allclose(found[:, 0], (seconds - seconds.mean()) / seconds.std(), atol=1e-12)
    assert np.allclose(found[:, 1:], [oracle(time) for time in TIMES], atol=1e-9)
    wanted = [f"t={period} {wave}" for period in ("year", "week", "day") for wave in ("sin", "cos")]
    assert encoder.get_feature_names_out().tolist() == ["t", *wanted]


def test_dates_before_1970():
    times = [datetime.datetime(1900, 3, 1, 6), datetime.datetime(1969, 12, 31, 23)]
    assert np.allclose(encode(times)[:, 1:], [oracle(time) for time in times], atol=1e-9)


def test_only_what_varies():
    days = [datetime.datetime(2024, 1, day) for day in (1, 2, 3)]
    assert encode(days).shape == (3, 3)  # the time and the week
    hours = [datetime.datetime(2024, 1, 1, hour) for hour in (1, 2, 3)]
    assert encode(hours).shape == (3, 3)  # the time and the day
    weeks = [datetime.datetime(2024, 1, day) for day in (1, 8)]
    assert encode(weeks).shape == (2, 1)
    assert encode(TIMES, dates="linear").shape == (4, 1)


def test_missing_dates():
    found = encode([*TIMES, None])
    assert np.allclose(found[-1, :-1], [np.median(found[:4, 0]), *[0] * 6])
    assert np.allclose(found[:, -1], np.sqrt(0.5) * np.array([-1, -1, -1, -1, 1]))


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(TIMES),
        np.array(TIMES, dtype="M8[ns]"),
        np.array(TIMES, dtype="M8[s]"),
        pd.Series(TIMES, dtype=object),
        pd.Series([pd.Timestamp(time) for time in TIMES], dtype=object),
        pd.Series(list(np.array(TIMES, dtype="M8[us]")), dtype=object),
        [time.isoformat() for time in TIMES],
        [str(time) for time in TIMES],
    ],
)
def test_dates_of_other_types(values):
    assert np.allclose(encode(values), encode(TIMES), rtol=0, atol=1e-12)


def test_days_and_times_of_day():
    days = [time.date() for time in TIMES]
    midnights = [datetime.datetime.combine(day, datetime.time()) for day in days]
    for values in (days, [day.isoformat() for day in days]):
        assert np.allclose(encode(values), encode(midnights), rtol=0, atol=1e-12)
    frame = pl.DataFrame({"t": days})
    for table in (frame, frame.to_arrow()):
        assert np.allclose(TableEncoder().fit_transform(table), encode(midnights), atol=1e-12)
    clock = encode([datetime.time(6), datetime.time(12), datetime.time(18)])
    assert np.allclose(clock[:, 1:], [[1, 0], [0, -1], [-1, 0]], atol=1e-12)


# --- time zones ----------------------------------------------------------------------------------


def zoned(hours):
    start = datetime.datetime(2024, 3, 30, tzinfo=datetime.UTC)
    return [(start + datetime.timedelta(hours=hour)).astimezone(BERLIN) for hour in hours]


def test_clocks_of_a_zone_tell_the_calendar_and_instants_the_time():
    times = zoned(range(0, 72, 5))  # summer time begins within
    found = encode(pd.Series(times).dt.tz_convert("Europe/Berlin"))
    wanted = [oracle(time) for time in times]
    assert np.allclose(found[:, 1:3], [row[2:4] for row in wanted], atol=1e-9)
    assert np.allclose(found[:, 3:], [row[4:] for row in wanted], atol=1e-9)
    assert np.allclose(np.diff(found[:, 0]), found[1, 0] - found[0, 0])  # no hour is lost


def test_zones_are_those_of_the_fit():
    berlin = pd.DataFrame({"t": pd.Series(zoned(range(0, 72, 5))).dt.tz_convert("Europe/Berlin")})
    encoder = TableEncoder().fit(berlin)
    assert encoder.columns_[0].zone == "Europe/Berlin"
    wanted = encoder.transform(berlin)
    for zone in ("UTC", "Asia/Tokyo"):
        assert np.array_equal(
            encoder.transform(berlin.assign(t=berlin.t.dt.tz_convert(zone))), wanted
        )
    lists = pl.DataFrame({"t": berlin.t.dt.tz_convert("UTC").dt.to_pydatetime().tolist()})
    for frame in (lists, lists.to_arrow()):
        assert np.array_equal(encoder.transform(frame), wanted)


def test_objects_with_offsets_and_texts_with_offsets():
    texts = ["2024-01-01T00:00:00+01:00", "2024-06-01T12:30:00+01:00", "2024-09-01T08:00:00+01:00"]
    times = [datetime.datetime.fromisoformat(text) for text in texts]
    assert np.allclose(encode(texts)[:, 1:], [oracle(time) for time in times], atol=1e-9)
    assert np.array_equal(encode(texts), encode(pd.Series(times, dtype=object)))
    mixed = [texts[0], texts[1].replace("+01", "+02"), texts[2].replace("+01:00", "Z")]
    utc = [datetime.datetime.fromisoformat(text).astimezone(datetime.UTC) for text in mixed]
    assert np.allclose(encode(mixed)[:, 1:], [oracle(time) for time in utc], atol=1e-9)


@pytest.mark.parametrize("aware", [False, True])
def test_dates_with_and_without_a_zone_are_told_apart(aware):
    plain = pd.DataFrame({"t": pd.to_datetime(TIMES)})
    other = plain.assign(t=plain.t.dt.tz_localize("UTC"))
    fit, new = (other, plain) if aware else (plain, other)
    word = "with" if aware else "without"
    with pytest.raises(
        InputError, match=f"column 't': dates must be {word} a time zone, as in fit"
    ):
        TableEncoder().fit(fit).transform(new)


def test_unknown_zones_and_mixtures_are_refused():
    odd = datetime.timezone(datetime.timedelta(hours=1), "somewhere")
    frame = pd.DataFrame(
        {"t": pd.Series([time.replace(tzinfo=odd) for time in TIMES], dtype=object)}
    )
    with pytest.raises(InputError, match="its time zone must be one that this system knows"):
        TableEncoder().fit(frame)
    mixed = pd.Series([TIMES[0], TIMES[1].replace(tzinfo=datetime.UTC)], dtype=object)
    with pytest.raises(InputError, match="got dates with and without a time zone in 't'"):
        TableEncoder().fit(pd.DataFrame({"t": mixed}))


@pytest.mark.parametrize("values", [[1.0, 2.0], ["2024-01-01", "soon"], [True, False]])
def test_what_is_not_a_date_is_refused(values):
    encoder = TableEncoder().fit(pd.DataFrame({"t": TIMES}))
    with pytest.raises(InputError, match="column 't': every value must be a date"):
        encoder.transform(pd.DataFrame({"t": values}))


def test_texts_like_dates_that_are_none_are_categories():
    values = ["2024-13-45", "2024-13-46"] * 2
    assert TableEncoder().fit(pd.DataFrame({"t": values})).columns_[0].kind == "category"
