"""Rules about what fitted feature maps are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..grams.maps.waves import PlainWaves, RotatedWaves, Waves
from .rules import Context, Rule, numbers


def _waves(value: Any, context: Context) -> bool:
    if type(value) not in (PlainWaves, RotatedWaves):
        return False
    count = numbers("frequencies")
    phases = len(value.phases) == 0 or count.holds(value.phases, context)
    common = (
        count.holds(value.amplitudes, context)
        and len(value.amplitudes) > 0
        and numbers("columns").holds(value.centre, context)
        and phases
        and value.phases.dtype == np.float64
    )
    return common and _frequencies(value, context)


def _frequencies(value: Waves, context: Context) -> bool:
    if not isinstance(value, RotatedWaves):
        return numbers("frequencies", "columns").holds(value.frequencies, context)
    signs, size = value.signs, value.signs.shape[2]
    groups = -(-len(value.radii) // size)
    return (
        numbers("frequencies").holds(value.radii, context)
        and numbers("columns").holds(value.scale, context)
        and signs.dtype == np.int8
        and signs.shape == (groups, 3, size)
        and bool((np.abs(signs) == 1).all())
        and size & (size - 1) == 0
        and size >= 8
        and size >= context.sizes["columns"]
    )


WAVES = Rule("waves whose frequencies fit the columns of the points", _waves)
