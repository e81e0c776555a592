"""A table of flats to rent, made up: the data of `mercer demo`."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .. import checks

_Item = TypeVar("_Item")

# Euros per square metre of a flat of 60, for a typical flat of each district.
DISTRICTS = {
    "Old Town": 15.5,
    "Harbour": 14.0,
    "University": 13.5,
    "South Slope": 12.5,
    "Garden City": 11.0,
    "Station": 10.5,
    "North End": 9.5,
    "Works": 8.0,
}
HEATING = {"gas": 1.0, "district heating": 1.02, "heat pump": 1.06, "oil": 0.96}
REMARKS = {
    "Newly renovated with an oak floor": 1.10,
    "Needs renovation, and is let as it stands": 0.88,
    "Looks out on a quiet courtyard": 1.04,
    "Faces a busy street with a tram line": 0.94,
    "Bright rooms with large windows": 1.03,
    "The kitchen is to be bought from the former tenant": 0.98,
    "Cellar and bicycle room in the house": 1.01,
    "Pets on request": 1.00,
    "Viewing on Saturdays by appointment": 1.00,
    "Families with children are welcome": 1.00,
}
FIRST_DAY, DAYS = datetime.date(2023, 1, 1), 730
NOISE = 0.07  # standard deviation of the logarithm of the rent


def flats(n: int = 1200, seed: int = 0) -> dict[str, list[Any]]:
    """Return a table of flats to rent, which is synthetic: no flat of it exists.

    It has what real tables have: numbers, categories, truth values, a date, remarks in words,
    missing values (None), and a column that says nothing, "agent". The column "rent", in euros,
    is to be predicted. It depends on most of the others, not linearly and not on each by itself:
    a high floor is worth more with a lift and less without one. The logarithm of the rent has a
    noise of standard deviation 0.07, below which no model can come. The same n and seed give the
    same table on every machine.

    Parameters
    ----------
    n : int, default=1200
        The number of flats.
    seed : int, default=0
        Which table.

    Returns
    -------
    dict of list
        By name, the values of the 13 columns; polars and pandas make a data frame of it.

    Examples
    --------
    >>> import polars
    >>> from mercer.data import flats
    >>> table = polars.DataFrame(flats(100))
    >>> table.shape
    (100, 13)
    >>> table["district"].n_unique()
    8
    """
    count = checks.whole("flats", "n", n, least=1)
    # Python promises the sequence of random() for a seed; nothing else is drawn from.
    draw = random.Random(checks.whole("flats", "seed", seed, least=0)).random
    rows = [_flat(_Draws(draw)) for _ in range(count)]
    return {name: [row[name] for row in rows] for name in rows[0]}


class _Draws:
    """Random values that are the same everywhere: sums and products of what `random` gives."""

    def __init__(self, draw: Callable[[], float]) -> None:
        self.uniform = draw

    def normal(self) -> float:
        """Return a nearly normal number: a sum of twelve, of mean 0 and variance 1."""
        return sum(self.uniform() for _ in range(12)) - 6.0

    def chance(self, share: float) -> bool:
        """Return True in such a share of cases."""
        return self.uniform() < share

    def one_of(self, items: Sequence[_Item]) -> _Item:
        """Return one of some items, each as likely."""
        return items[int(self.uniform() * len(items))]

    def below(self, count: int) -> int:
        """Return a whole number from 0 on."""
        return int(self.uniform() * count)


def _flat(draws: _Draws) -> dict[str, Any]:
    district = draws.one_of(tuple(DISTRICTS))
    area = round(min(max(62.0 + 24.0 * draws.normal(), 18.0), 180.0), 1)
    year = 1890 + draws.below(134) if draws.chance(0.7) else 1955 + draws.below(25)
    flat: dict[str, Any] = {
        "area": area,
        "rooms": max(1.0, round(area / 13.0 + 0.6 * draws.normal()) / 2.0),
        "floor": draws.below(7),
        "year": year,
        "district": district,
        "heating": draws.one_of(tuple(HEATING)),
        "lift": draws.chance(0.75 if year >= 1970 else 0.25),
        "balcony": draws.chance(0.6),
        "station": round(100.0 + 2400.0 * draws.uniform() * draws.uniform()),
        "listed": FIRST_DAY + datetime.timedelta(days=draws.below(DAYS)),
        "remark": f"{draws.one_of(tuple(REMARKS))}. {draws.one_of(tuple(REMARKS))}.",
        "agent": f"A{draws.below(900) + 100}",
    }
    flat["rent"] = round(_typical_rent(flat) * math.exp(NOISE * draws.normal()))
    for name, share in (("floor", 0.05), ("year", 0.12), ("heating", 0.08), ("remark", 0.06)):
        if draws.chance(share):  # after the rent was fixed: the landlord knew
            flat[name] = None
    return flat


def _typical_rent(flat: dict[str, Any]) -> float:
    """Return the rent without noise."""
    price: float = DISTRICTS[flat["district"]] * 60.0 * (flat["area"] / 60.0) ** 0.85
    for factor in (
        _age_factor(flat["year"], flat["district"]),
        _floor_factor(flat["floor"], flat["lift"]),
        HEATING[flat["heating"]],
        1.06 if flat["balcony"] else 1.0,
        0.92 + 0.16 * math.exp(-flat["station"] / 500.0),
        _season_factor(flat["listed"], flat["district"]),
        *(REMARKS[part] for part in flat["remark"].rstrip(".").split(". ")),
    ):
        price *= factor
    return price


def _age_factor(year: int, district: str) -> float:
    """Return what the age is worth: least about 1965, and much of it in the old town."""
    old = 1.10 if year < 1919 and district in ("Old Town", "South Slope") else 1.0
    return old * (0.9 + 0.18 * min(((year - 1965) / 60.0) ** 2, 1.0))


def _floor_factor(floor: int, has_lift: bool) -> float:
    """Return what the floor is worth: with a lift the view counts, without one the stairs."""
    if floor == 0:
        return 0.95
    return 1.0 + 0.02 * floor if has_lift else 1.02 - 0.025 * max(floor - 2, 0)


def _season_factor(day: datetime.date, district: str) -> float:
    """Return what the date is worth: a rise by the year, and students who come in autumn."""
    years = (day - FIRST_DAY).days / 365.25
    autumn = math.exp(-(((day.timetuple().tm_yday - 265) / 30.0) ** 2))
    return (1.0 + 0.05 * years) * (1.0 + (0.10 if district == "University" else 0.02) * autumn)
