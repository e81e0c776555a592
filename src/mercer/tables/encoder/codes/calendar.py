"""What calendars and clocks say of times given as seconds since 1970, on circles."""

from __future__ import annotations

import datetime
import math
import re
import zoneinfo
from dataclasses import dataclass

import numpy as np

from ....checks import Array
from .sound import is_texts, require

PERIODS = ("year", "week", "day")
DAY = 86400.0
MONTH = 31 * DAY
_THURSDAY = 3  # the first day of 1970, where Monday is 0
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d\d):?(\d\d)")


@dataclass(frozen=True, kw_only=True, eq=False)
class CalendarCode:
    """Where a time stands in the year, the week and the day: points on circles of radius 1.

    zone: whose clocks tell it; None: the times are those of a clock. A missing time is the centre.
    """

    periods: tuple[str, ...]
    zone: str | None

    def __post_init__(self) -> None:
        known = is_texts(self.periods) and set(self.periods) <= set(PERIODS)
        require(known and len(self.periods) > 0, "periods must be some of a few")
        named = self.zone is None or (isinstance(self.zone, str) and is_zone(self.zone))
        require(named, "zone must be one that this system knows")

    @property
    def width(self) -> int:
        return 2 * len(self.periods)

    def names(self, label: str) -> list[str]:
        return [f"{label}={period} {wave}" for period in self.periods for wave in ("sin", "cos")]

    def encode(self, values: Array) -> Array:
        known = ~np.isnan(values)
        found = np.zeros((len(values), self.width))
        turns = phases(values[known], self.zone)
        for place, period in enumerate(self.periods):
            angle = 2.0 * math.pi * turns[period]
            found[known, 2 * place] = np.sin(angle)
            found[known, 2 * place + 1] = np.cos(angle)
        return found


def phases(seconds: Array, zone: str | None) -> dict[str, Array]:
    """Return for each period which part of it has passed, from 0 to 1, by the clocks of a zone."""
    wall = seconds if zone is None else seconds + offsets(seconds, zone)
    days = wall / DAY
    dates = np.floor(days).astype(np.int64).astype("M8[D]")
    years = dates.astype("M8[Y]")
    start = years.astype("M8[D]").astype(np.int64)
    length = (years + 1).astype("M8[D]").astype(np.int64) - start
    return {
        "year": (days - start) / length,
        "week": np.mod(days + _THURSDAY, 7.0) / 7.0,
        "day": np.mod(days, 1.0),
    }


def varying(seconds: Array, zone: str | None) -> tuple[str, ...]:
    """Return the periods in which times differ: by the month, the day of the week, the time.

    Within a month the year says nothing that the time itself does not.
    """
    turns = phases(seconds, zone)
    steps = {"year": 12, "week": 7, "day": 24 * 60 * 60}
    some = PERIODS if np.ptp(seconds) > MONTH else PERIODS[1:]
    return tuple(
        period for period in some if np.ptp(np.floor(turns[period] * steps[period] + 1e-9)) > 0
    )


def offsets(seconds: Array, zone: str) -> Array:
    """Return by how many seconds the clocks of a zone are ahead of UTC at each time."""
    rules = zone_rules(zone)
    quarters, places = np.unique(np.floor(seconds / 900.0), return_inverse=True)
    found = np.empty(len(quarters))
    for place, quarter in enumerate(quarters.tolist()):  # clocks change at none but these
        ahead = rules.utcoffset(_date(quarter * 900.0, rules))
        found[place] = 0.0 if ahead is None else ahead.total_seconds()
    return found[places]


def _date(seconds: float, rules: datetime.tzinfo) -> datetime.datetime:
    """Return a time as a date, which of one beyond the calendar of Python is its last day."""
    span = datetime.timedelta(seconds=min(max(seconds, -6e10), 2.5e11))
    return (datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + span).astimezone(rules)


def is_zone(zone: str) -> bool:
    """Return whether this system knows a zone."""
    try:
        zone_rules(zone)
    except (KeyError, ValueError, OSError):
        return False
    return True


def zone_rules(zone: str) -> datetime.tzinfo:
    """Return the rules of a zone given by its name or its distance from UTC, such as "+02:00"."""
    offset = _OFFSET.fullmatch(zone)
    if offset:
        span = datetime.timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return datetime.timezone(-span if offset[1] == "-" else span)
    return datetime.UTC if zone == "UTC" else zoneinfo.ZoneInfo(zone)
