"""The perceptron's walk in the compiled core: where it stops, and what it refuses."""

import numpy as np
import pytest

from mercer import _native

pytestmark = pytest.mark.native


def walk(K, order, codes, /, **changes):
    """Walk in the core over points without votes; rounding is given, or nothing is too close."""
    n, k = len(codes), 3
    given = {
        "K": K,
        "order": np.array(order),
        "codes": np.array(codes),
        "scores": np.zeros((k, n)),
        "offset": np.zeros(k),
        "roots": np.ones(n),
        "length": 0.0,
        "count": 0.0,
        "rounding": 0.0,
        "drift": 0.0,
        "places": np.full(len(order), -1),
        "rivals": np.full(len(order), -1),
    } | changes
    return _native.walk(**given), given


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_core_stops_where_it_cannot_tell(dtype):
    K, codes = np.eye(4, dtype=dtype), [0, 1, 2, 0]
    assert walk(K, [0, 1, 2, 3], codes)[0] == (0, 0)  # all scores are 0
    offset = np.array([0.0, -1.0, 1.0])
    done, given = walk(K, [3, 2, 1, 0], codes, offset=offset)
    # 3 loses to class 2, offsets (1, -1, 0); 2 loses to class 0, (0, -1, 1); 1 loses to class 2,
    # (0, 0, 0); 0 has nothing but ties.
    assert done == (3, 3)
    assert given["places"].tolist() == [0, 1, 2, -1]
    assert given["rivals"].tolist() == [2, 0, 2, -1]
    assert given["scores"].T.tolist() == [[0, 0, 0], [0, 1, -1], [-1, 0, 1], [1, 0, -1]]
    assert offset.tolist() == [0, 0, 0]
    scores = np.array([[5.0, 0, 0, 5], [0, 5.0, 0, 0], [0, 0, 5.0, 0]])
    assert walk(K, [0, 1, 2, 3], codes, scores=scores)[0] == (4, 0)
    far = {"scores": scores, "count": 1.0, "length": 1.0}
    assert walk(K, [0, 1, 2, 3], codes, rounding=2.6, **far)[0] == (0, 0)  # 2.6 (1 + 1) > 5
    assert walk(K, [0, 1, 2, 3], codes, rounding=1.0, drift=1.6, **far)[0] == (0, 0)
    assert walk(K, [0, 1, 2, 3], codes, rounding=1.0, drift=1.4, **far)[0] == (4, 0)
    scores[0, 2] = np.nan
    assert walk(K, [0, 1, 2, 3], codes, scores=scores)[0][0] < 4


@pytest.mark.parametrize(
    ("changes", "error", "told"),
    [
        ({"K": np.eye(3)}, ValueError, "a row and a column per point"),
        ({"order": np.array([0, 4])}, IndexError, "no such point"),
        ({"order": np.array([0, -1])}, IndexError, "no such point"),
        ({"codes": np.array([0, 3, 0, 0])}, IndexError, "no such class"),
        ({"codes": np.array([0, 1])}, ValueError, "a code and a root per point"),
        ({"roots": np.ones(3)}, ValueError, "a code and a root per point"),
        ({"offset": np.zeros(2)}, ValueError, "an offset per class"),
        ({"scores": np.zeros((1, 4)), "offset": np.zeros(1)}, ValueError, "at least two classes"),
        ({"places": np.zeros(1, dtype=int)}, ValueError, "room for one mistake per visit"),
        ({"rivals": np.zeros(1, dtype=int)}, ValueError, "room for one mistake per visit"),
    ],
)
def test_the_core_checks_sizes(changes, error, told):
    offset = {"offset": np.array([1.0, 0.0, 0.0])} if "offset" not in changes else {}
    with pytest.raises(error, match=told):
        walk(np.eye(4), [0, 1], [0, 1, 2, 0], **(offset | changes))
