"""Mutations of model files: blind ones of their bytes, and forged ones whose digests are right."""

import copy
import json
import string

import numpy as np

from mercer.storage import container

# --- blind: nothing is known of the format -----------------------------------------------------


def _flip(data, draw, other):
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _set(data, draw, other):
    data[draw.randrange(len(data))] = draw.randrange(256)


def _flip_many(data, draw, other):
    for _ in range(draw.randrange(2, 20)):
        _flip(data, draw, other)


def _cut(data, draw, other):
    del data[draw.randrange(len(data)) :]


def _extend(data, draw, other):
    data += bytes(draw.randrange(256) for _ in range(draw.randrange(1, 40)))


def _delete(data, draw, other):
    start, stop = _range(data, draw)
    del data[start:stop]


def _double(data, draw, other):
    start, stop = _range(data, draw)
    data[stop:stop] = data[start:stop]


def _zero(data, draw, other):
    start, stop = _range(data, draw)
    data[start:stop] = bytes(stop - start)


def _swap(data, draw, other):
    (a, b), size = _range(data, draw), draw.randrange(1, 33)
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


def _splice(data, draw, other):
    start, stop = _range(data, draw)
    data[start:stop] = other[start:stop]


def _join(data, draw, other):
    place = draw.randrange(len(data))
    data[place:] = other[min(place, len(other)) :]


def _header_of_other(data, draw, other):
    length, theirs = _header(data), _header(other)
    data[:length] = other[:theirs]


def _digit(data, draw, other):
    """Change a digit of the header, as a careful edit by hand would."""
    places = [i for i in range(8, min(_header(data), len(data))) if chr(data[i]).isdigit()]
    data[draw.choice(places)] = ord(draw.choice(string.digits))


def _upper(data, draw, other):
    start, stop = 35, _header(data)
    data[start:stop] = bytes(data[start:stop]).swapcase()


def _header(data):
    return 8 + int.from_bytes(data[:8], "little")


def _range(data, draw):
    start = draw.randrange(len(data))
    return start, min(len(data), start + draw.choice((1, 2, 8, 64, 1000)))


BLIND = (
    _flip,
    _flip,
    _flip_many,
    _set,
    _cut,
    _extend,
    _delete,
    _double,
    _zero,
    _swap,
    _splice,
    _join,
    _header_of_other,
    _digit,
    _upper,
)


def blind(data, draw, other):
    """A file with something changed somewhere; other: another file to take pieces from."""
    changed = bytearray(data)
    draw.choice(BLIND)(changed, draw, other)
    return bytes(changed)


# --- forged: the format is known, the digests are right -----------------------------------------

HUGE = (0, 1, -1, 2, 3, 7, 1000, 2**31, 2**53, -(2**53), 2**63, 2**70)
REALS = (0.0, -1.0, 0.5, 1e-300, 1e300, -1e300, 1.7976931348623157e308, 5e-324)
WORDS = ("", "auto", "scale", "linear", "precomputed", "KernelRidge", "SVC", "é", "#0", "a" * 300)


def _any_value(draw):
    kind = draw.randrange(8)
    if kind == 0:
        return draw.choice(HUGE)
    if kind == 1:
        return draw.choice(REALS)
    if kind == 2:
        return draw.choice(WORDS)
    if kind == 3:
        return draw.choice(([], {}, [1], [None], {"type": "tuple", "items": []}, [[1.0]], [True]))
    if kind == 4:
        return {"type": "item", "column": {"kind": "none"}}
    return draw.choice((None, True, False))


def places(data, path=()):
    """Where values are in JSON data."""
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in inner:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def _at(data, path):
    for key in path:
        data = data[key]
    return data


def _near(value, draw):
    """A value of the same kind that is another one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return draw.choice((value + 1, value - 1, -value, 0, *HUGE))
    if isinstance(value, float):
        return draw.choice((value * 2, -value, 0.0, *REALS))
    if isinstance(value, str):
        return draw.choice((value + "x", value[:-1], value.swapcase(), *WORDS))
    return _any_value(draw)


def _change_json(manifest, draw, theirs):
    """Change the manifest in one place."""
    found = [path for path in places(manifest) if path[0] != "tensors"]
    path = draw.choice(found)
    parent, key = _at(manifest, path[:-1]), path[-1]
    kind = draw.randrange(9)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[draw.choice((f"{key}x", key[:-1], "coef_", "_posterior"))] = parent.pop(key)
    elif kind == 2 and isinstance(parent, list):
        parent.insert(draw.randrange(len(parent) + 1), copy.deepcopy(parent[key]))
    elif kind == 3:
        other = draw.choice(found)
        parent[key] = copy.deepcopy(_at(manifest, other))
    elif kind == 4:
        parent[key] = copy.deepcopy(_at(theirs, draw.choice(list(places(theirs)))))
    elif kind == 5:
        parent[key] = _any_value(draw)
    elif kind == 6 and isinstance(parent, dict) and key in parent:
        # A part of another model in the same place.
        with_same = [p for p in places(theirs) if p[-1] == key]
        if with_same:
            parent[key] = copy.deepcopy(_at(theirs, draw.choice(with_same)))
    else:
        parent[key] = _near(parent[key], draw)


def _spoil(array, draw):
    """Values of another size, kind or range."""
    flat = array.reshape(-1).copy()
    kind = array.dtype.kind
    if len(flat):
        place = draw.randrange(len(flat))
        if kind == "f":
            flat[place] = draw.choice((np.nan, np.inf, -np.inf, 1e300, -1.0, 0.0, 1e-300))
        elif kind == "b":
            flat[place] = not flat[place]
        else:
            info = np.iinfo(array.dtype)
            flat[place] = draw.choice((info.max, info.min, 0, 1, info.max // 2))
    return flat.reshape(array.shape)


def _change_tensor(tensors, draw, theirs):
    """Change one tensor."""
    name = draw.choice(sorted(tensors))
    array = tensors[name]
    kind = draw.randrange(12)
    with np.errstate(all="ignore"):
        if kind == 0:
            array = array.reshape(-1)
        elif kind == 1:
            array = array.T
        elif kind == 2:
            array = array.astype(draw.choice(list(container.DTYPES.values())))
        elif kind == 3:
            array = array[: draw.randrange(len(array) + 1)] if array.ndim else array
        elif kind == 4:
            array = np.concatenate([array, array]) if array.ndim else array
        elif kind == 5:
            array = array[..., None]
        elif kind == 6:
            array = draw.choice((np.zeros_like(array), np.ones_like(array), array[:0], array * 0))
        elif kind == 7:
            array = -array if array.dtype.kind in "if" else array
        elif kind == 8:
            other = draw.choice(sorted(tensors))
            tensors[other], array = array, tensors[other]
        elif kind == 9 and theirs:
            array = theirs[draw.choice(sorted(theirs))]
        elif kind == 10 and array.ndim:
            array = array[::-1]
        else:
            array = _spoil(array, draw)
    tensors[name] = array


def forged(text, tensors, draw, theirs):
    """A file with right digests in which one to three things are changed.

    text: the manifest as JSON. theirs: text and tensors of another model.
    """
    manifest, tensors, other = json.loads(text), dict(tensors), json.loads(theirs[0])
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        if tensors and draw.random() < 0.5:
            _change_tensor(tensors, draw, theirs[1])
        else:
            _change_json(manifest, draw, other)
    rest = {key: value for key, value in manifest.items() if key != "tensors"}
    tensors = {
        key: np.ascontiguousarray(one).reshape(one.shape).astype(one.dtype.newbyteorder("<"))
        for key, one in tensors.items()
    }
    header = container.make_header(rest, tensors)
    parts = [container.as_bytes(array).tobytes() for array in tensors.values()]
    return len(header).to_bytes(8, "little") + header + b"".join(parts)
