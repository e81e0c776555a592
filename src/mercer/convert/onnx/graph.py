"""An ONNX graph while it is written: tensors are names, operators are calls.

Only `finished` needs the package onnx.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array, InputError, PackageError, bytes_text, sentence, whole

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, ValueInfoProto

WHO = "to_onnx"
LEAST_OPSET = 18  # where all reductions take their axes as an input
LARGEST = 2**31 - 2**20  # bytes of constants: a message of Protocol Buffers ends at 2 GB
ROWS = "N"  # the name of the number of rows, which is free


@dataclass(frozen=True, kw_only=True)
class Output:
    """A tensor that the graph gives away: its name, its kind and its columns; None: a vector."""

    name: str
    tensor: str
    dtype: np.dtype[Any]
    columns: int | None


@dataclass(frozen=True, kw_only=True)
class _Call:
    op: str
    inputs: tuple[str, ...]
    output: str
    attributes: tuple[tuple[str, int], ...]


class Graph:
    """Operators and constants in one precision; what is the same is written once."""

    def __init__(self, dtype: np.dtype[Any], columns: int) -> None:
        self.dtype, self.columns = dtype, columns
        self.X = "X"
        self.constants: dict[str, Array] = {}
        self.calls: list[_Call] = []
        self._known: dict[Any, str] = {}

    def call(self, op: str, *inputs: str, **attributes: int) -> str:
        """Return the result of an operator."""
        key = (op, inputs, tuple(sorted(attributes.items())))
        if key not in self._known:
            self._known[key] = f"{op.lower()}_{len(self.calls)}"
            made = _Call(op=op, inputs=inputs, output=self._known[key], attributes=key[2])
            self.calls.append(made)
        return self._known[key]

    def constant(self, values: Array) -> str:
        """Return an array as a constant of its kind."""
        held = np.ascontiguousarray(values).reshape(values.shape)
        text = "\0".join(held.ravel().tolist()).encode() if held.dtype.kind in "UO" else held.data
        key = (held.dtype.str, held.shape, hashlib.sha256(text).digest())
        if key not in self._known:
            self._known[key] = f"constant_{len(self.constants)}"
            self.constants[self._known[key]] = held
        return self._known[key]

    def floats(self, values: Any) -> str:
        """Return numbers as a constant in the precision of the graph."""
        given = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore"):
            held = given.astype(self.dtype)
        if not np.isfinite(held).all():
            worst = float(given[~np.isfinite(held)].flat[0])
            must = f"the numbers of the model must fit {self.dtype}"
            raise InputError(sentence(WHO, must, f"{worst:g}", 'Write it with dtype="float64".'))
        return self.constant(held)

    def wholes(self, values: Any) -> str:
        """Return whole numbers as a constant: positions, axes, shapes."""
        return self.constant(np.asarray(values, dtype=np.int64))

    # --- a few operators together ---------------------------------------------------------------

    def affine(self, a: str, x: float, y: float) -> str:
        """Return x a + y."""
        if x != 1.0:
            a = self.call("Mul", a, self.floats(x))
        return a if y == 0.0 else self.call("Add", a, self.floats(y))

    def total(self, terms: Sequence[str]) -> str:
        """Return the sum of some tensors."""
        return terms[0] if len(terms) == 1 else self.call("Sum", *terms)

    def sum_over(self, a: str, axis: int, *, keep: bool = False) -> str:
        """Return sums along an axis."""
        return self.call("ReduceSum", a, self.wholes([axis]), keepdims=int(keep))

    def ones(self) -> str:
        """Return a column of ones, one per row of X."""
        rows = self.call("Shape", self.X, start=0, end=1)
        shape = self.call("Concat", rows, self.wholes([1]), axis=0)
        return self.call("Expand", self.floats([[1.0]]), shape)

    def cast(self, a: str) -> str:
        """Return a tensor in the precision of the graph."""
        return self.call("Cast", a, to=_code(self.dtype))

    def as_wholes(self, a: str) -> str:
        """Return a tensor as whole numbers."""
        return self.call("Cast", a, to=_code(np.dtype(np.int64)))

    # --- the whole ------------------------------------------------------------------------------

    def finished(
        self, outputs: Sequence[Output], opset: int | None, notes: Mapping[str, str]
    ) -> bytes:
        """Return the graph as the bytes of an ONNX file, checked."""
        size = sum(int(one.nbytes) for one in self.constants.values())
        if size > LARGEST:
            must = f"the numbers of the model must fit a file of {bytes_text(LARGEST)}"
            advice = "Make it smaller with mercer.compress first."
            raise InputError(sentence(WHO, must, bytes_text(size), advice))
        return _serialised(self, outputs, opset, notes)


# The codes of onnx.TensorProto.DataType, which are those of the file format.
_CODES = {"f4": 1, "i8": 7, "b1": 9, "f8": 11}
_TEXT = 8


def _code(dtype: np.dtype[Any]) -> int:
    return _TEXT if dtype.kind in "UO" else _CODES[dtype.str[1:]]


def require_onnx() -> None:
    """Refuse to go on without the package onnx, and say how to get it."""
    try:
        import onnx  # noqa: F401
    except ModuleNotFoundError:
        advice = 'Install it: pip install "mercer[onnx]".'
        text = sentence(WHO, "the package onnx must be installed", "none", advice)
        raise PackageError(text) from None


def checked_opset(opset: Any) -> int:
    """Return the version of ONNX's operators to be used."""
    from onnx.defs import onnx_opset_version

    if opset is None:
        return LEAST_OPSET
    return whole(WHO, "opset", opset, least=LEAST_OPSET, most=onnx_opset_version())


def _serialised(
    graph: Graph, outputs: Sequence[Output], opset: int | None, notes: Mapping[str, str]
) -> bytes:
    import onnx
    from onnx import helper, numpy_helper

    calls = [_node(one) for one in graph.calls]
    calls += [helper.make_node("Identity", [one.tensor], [one.name]) for one in outputs]
    constants = [
        numpy_helper.from_array(_stored(values), name) for name, values in graph.constants.items()
    ]
    entry = _described("X", graph.dtype, graph.columns)
    leaving = [_described(one.name, one.dtype, one.columns) for one in outputs]
    made = helper.make_graph(calls, "mercer", [entry], leaving, initializer=constants)
    wanted = helper.make_opsetid("", checked_opset(opset))
    model: ModelProto = helper.make_model(
        made,
        opset_imports=[wanted],
        ir_version=helper.find_min_ir_version_for([wanted]),
        producer_name="mercer",
        producer_version=version("mercer"),
    )
    helper.set_model_props(model, dict(notes))
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _node(call: _Call) -> NodeProto:
    from onnx import helper

    given: dict[str, Any] = dict(call.attributes)
    return helper.make_node(call.op, list(call.inputs), [call.output], **given)


def _stored(values: Array) -> Array:
    return values.astype(object) if values.dtype.kind == "U" else values


def _described(name: str, dtype: np.dtype[Any], columns: int | None) -> ValueInfoProto:
    from onnx import helper

    shape: list[str | int | None] = [ROWS] if columns is None else [ROWS, columns]
    return helper.make_tensor_value_info(name, _code(dtype), shape)
