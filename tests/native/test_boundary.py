"""Bad input at the border of the native core: an exception with a sentence, never a crash."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from mercer import _native

pytestmark = pytest.mark.native

F32 = np.float32


def panels(n: int = 30, d: int = 4) -> Any:
    return _native.Panels32.pack(np.ones((n, d), dtype=F32), None, None)


def job(**changes: Any) -> Any:
    """A Gaussian of 30 points, with some arguments replaced."""
    points = panels()
    arguments: dict[str, Any] = {
        "rows": 30,
        "columns": 30,
        "same_points": True,
        "statistics": [1],
        "left": [points],
        "right": [points],
        "weights": [np.zeros(0, dtype=F32)],
        "factors": [1.0],
        "codes": [np.array([[1, 0, 0, 0], [13, 0, 0, 0]], dtype=np.int32)],
        "constants": [np.array([[0.0, 0.0], [-1.0, 0.0]])],
        "left_vectors": [],
        "right_vectors": [],
        "externals": [],
    }
    return _native.Job32(**(arguments | changes))


def codes(*steps: tuple[int, int, int, int]) -> dict[str, Any]:
    return {
        "codes": [np.array(steps, dtype=np.int32).reshape(-1, 4)],
        "constants": [np.zeros((len(steps), 2))],
    }


def test_what_is_right_works() -> None:
    out = np.zeros((30, 30), dtype=F32)
    assert job().store([out], None)
    assert np.array_equal(out, np.ones((30, 30)))


@pytest.mark.parametrize(
    "values",
    [
        np.ones((3, 2), dtype=np.int64),
        np.ones((3, 2), dtype=np.float16),
        np.ones((3, 2), dtype=complex),
        np.ones(3, dtype=F32),
        np.ones((3, 2, 2), dtype=F32),
        np.ones((3, 2), dtype=">f4"),
        [[1.0, 2.0]],
        None,
    ],
    ids=lambda values: f"{getattr(values, 'dtype', type(values))} {getattr(values, 'shape', '')}",
)
def test_panels_of_another_type_or_shape(values: Any) -> None:
    with pytest.raises(TypeError):
        _native.Panels32.pack(values, None, None)


def test_panels_take_any_stride_between_rows_but_none_within() -> None:
    wide = np.arange(40.0).reshape(5, 8)
    for kind in (_native.Panels32, _native.Panels64):
        assert kind.pack(wide[:, :3], None, None).bytes > 0
        assert kind.pack(wide[:0], None, None).bytes == 0
        with pytest.raises(ValueError, match="the numbers of a row must be adjacent"):
            kind.pack(wide[:, ::2], None, None)
        with pytest.raises(ValueError, match="nor rows overlap"):
            kind.pack(wide[::-1], None, None)
        with pytest.raises(ValueError, match="nor rows overlap"):
            kind.pack(np.broadcast_to(wide[0], (5, 8)), None, None)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows_must_hold_together(index: Any) -> None:
    pack = _native.Panels32.pack_sparse
    values, places, starts = np.ones(3), np.array([0, 1, 1], index), np.array([0, 1, 3], index)
    assert pack(values, places, starts, 2, None, None).bytes > 0
    wrong: list[tuple[Any, Any, Any, int, str]] = [
        (values, places + 1, starts, 2, "does not exist"),
        (values, places - 1, starts, 2, "does not exist"),
        (values, places, starts[::-1].copy(), 2, "must ascend"),
        (values, places, starts + 1, 2, "must ascend"),
        (values, places, starts - 1, 2, "must ascend"),
        (values[:2], places, starts, 2, "needs its column"),
        (values, places, starts[:0], 2, "every row its start"),
        (values, places, starts, -1, "negative"),
    ]
    for a, b, c, columns, told in wrong:
        with pytest.raises(ValueError, match=told):
            pack(a, b, c, columns, None, None)
    with pytest.raises(TypeError):
        pack(values, places.astype(np.int16), starts, 2, None, None)


def test_centre_and_scale_must_fit() -> None:
    X = np.ones((3, 2))
    with pytest.raises(ValueError, match="one centre per column"):
        _native.Panels64.pack(X, np.ones(3), None)
    with pytest.raises(ValueError, match="one scale per column"):
        _native.Panels64.pack(X, None, np.ones(1))
    with pytest.raises(TypeError):
        _native.Panels64.pack(X, np.ones(2, dtype=F32), None)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"rows": -1}, "sizes must not be negative"),
        ({"rows": 29}, "the points of a statistic must be those of the job"),
        ({"columns": 31}, "the points of a statistic must be those of the job"),
        ({"statistics": [9]}, "unknown statistic"),
        ({"statistics": [-1]}, "unknown statistic"),
        ({"statistics": [6]}, "one weight per column"),
        ({"statistics": []}, "come with left, right, weights and factors"),
        ({"exponents": [1.0, 2.0]}, "come with left, right, weights and factors"),
        ({"exponents": [0.0]}, "an exponent must be above 0"),
        ({"exponents": [float("nan")]}, "an exponent must be above 0"),
        ({"right": [panels(30, 5)]}, "both sides must have the same columns"),
        ({"left": [None]}, "every statistic needs its points"),
        ({"codes": []}, "codes come with constants"),
        ({"codes": [], "constants": []}, "there must be a program"),
        (codes(), "a program must not be empty"),
        (codes((20, 0, 0, 0)), "unknown instruction or register"),
        (codes((-1, 0, 0, 0)), "unknown instruction or register"),
        (codes((13, 16, 0, 0)), "unknown instruction or register"),
        (codes((13, 0, 16, 0)), "unknown register"),
        (codes((6, 0, 0, -1)), "unknown register"),
        (codes((0, 0, 1, 0)), "unknown statistic"),
        (codes((1, 0, -1, 0)), "unknown statistic"),
        (codes((2, 0, 0, 0)), "unknown block"),
        (codes((3, 0, 0, 0)), "unknown row vector"),
        (codes((4, 0, 0, 0)), "unknown column vector"),
        ({"left_vectors": [np.zeros(29, dtype=F32)]}, "a row vector has a wrong size"),
        ({"right_vectors": [np.zeros(31, dtype=F32)]}, "a column vector has a wrong size"),
        ({"externals": [np.zeros((30, 29), dtype=F32)]}, "an external block has a wrong size"),
        ({"left_vectors": [np.zeros(30, dtype=F32)] * 9}, "at most 8"),
        (
            {"codes": [np.zeros((2, 3), dtype=np.int32)], "constants": [np.zeros((2, 2))]},
            "four whole numbers and two",
        ),
    ],
)
def test_jobs_that_do_not_fit(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        job(**changes)


def test_outputs_must_fit() -> None:
    ready = job()
    with pytest.raises(ValueError, match="out must have the shape of the job"):
        ready.store([np.zeros((30, 29), dtype=F32)], None)
    with pytest.raises(ValueError, match="one matrix for each program"):
        ready.store([], None)
    with pytest.raises(TypeError):
        ready.store([np.zeros((30, 30))], None)
    with pytest.raises(TypeError):
        ready.store([np.zeros((30, 60), dtype=F32)[:, ::2]], None)
    frozen = np.zeros((30, 30), dtype=F32)
    frozen.flags.writeable = False
    with pytest.raises(TypeError):
        ready.store([frozen], None)
    with pytest.raises(ValueError, match="v and out must fit the job"):
        ready.multiply(np.zeros((29, 1)), np.zeros((30, 1)), None)
    with pytest.raises(ValueError, match="v and out must fit the job"):
        ready.multiply(np.zeros((30, 1)), np.zeros((30, 2)), None)
    for row in (-1, 30):
        with pytest.raises(ValueError, match="a chosen row must exist"):
            ready.rows(np.array([row]), np.zeros((1, 30), dtype=F32), None)
    with pytest.raises(ValueError, match="one row for each that was chosen"):
        ready.rows(np.array([0]), np.zeros((2, 30), dtype=F32), None)
    elsewhere = job(externals=[np.zeros((30, 30), dtype=F32)])
    with pytest.raises(ValueError, match="computed elsewhere"):
        elsewhere.rows(np.array([0]), np.zeros((1, 30), dtype=F32), None)
    columns, keys = np.zeros((30, 31), dtype=np.int64), np.zeros((30, 31))
    with pytest.raises(ValueError, match="from 1 to the number of columns"):
        ready.top(None, columns, keys, None)
    with pytest.raises(ValueError, match="one number per column"):
        ready.top(np.zeros(29), columns[:, :1].copy(), keys[:, :1].copy(), None)


def test_packed_matrices_refuse_what_does_not_fit() -> None:
    packed = _native.Packed32.make(job(), False, 2**62, None)
    out = np.zeros((1, 30), dtype=F32)
    for row in (-1, 30):
        with pytest.raises(ValueError, match="a row must be one of the points"):
            packed.rows(np.array([row]), out)
    with pytest.raises(ValueError, match="one row for each"):
        packed.rows(np.array([0, 1]), out)
    with pytest.raises(TypeError):
        packed.rows(np.array([0], dtype=np.int32), out)
    with pytest.raises(ValueError, match="must fit the matrix"):
        packed.multiply(np.zeros((29, 1)), np.zeros((29, 1)), None)
    with pytest.raises(ValueError, match="that of one collection"):
        _native.Packed32.make(job(same_points=False), False, 2**62, None)
    points = panels()
    unfit = _native.Panels32.pack(np.full((30, 4), np.inf, dtype=F32), None, None)
    held = job(left=[unfit], right=[unfit])
    narrow = _native.Packed32.make(held, True, 2**62, None)
    assert not held.finite  # 16 bits hold numbers only: a block with anything else is lost
    narrow.rows(np.array([0]), out)
    assert np.isnan(out).all()
    assert points.bytes > 0


def test_an_exception_while_asking_whether_to_stop_comes_through() -> None:
    X = np.random.default_rng(0).random((20_000, 60), dtype=F32)
    points = _native.Panels32.pack(X, None, None)
    ready = job(rows=20_000, columns=20_000, left=[points], right=[points])

    def stop() -> bool:
        raise LookupError("asked")

    with pytest.raises(LookupError, match="asked"):
        ready.multiply(np.zeros((20_000, 8)), np.zeros((20_000, 8)), stop)


def test_too_large_for_any_memory() -> None:
    huge = np.broadcast_to(np.float32(1), (1, 1))
    view = np.lib.stride_tricks.as_strided(huge, (2**40, 2**20), (2**22, 4), writeable=False)
    with pytest.raises(MemoryError):
        _native.Panels32.pack(view, None, None)


def test_every_native_name_is_documented() -> None:
    for name in ("Job32", "Packed32", "Panels32"):
        assert inspect.getdoc(getattr(_native, name))
