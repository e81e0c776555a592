"""
The native core of mercer. Import mercer._native instead: it checks what it passes on.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Final, overload

import numpy
from numpy.typing import NDArray


def version() -> str:
    """The version of mercer this was compiled for."""

def isa() -> str:
    """
    The instruction set in use: 'baseline', 'avx2' or 'avx512'. MERCER_ISA forces one.
    """

MAX_THREADS: int = 1024

def num_threads() -> int:
    """How many threads native loops use."""

def set_num_threads(count: int) -> None:
    """Set how many threads native loops use from now on."""

MAX_REGISTERS: int = 16

MAX_TERMS: int = 8

class Panels32:
    """Points packed for the engine."""

    @overload
    @staticmethod
    def pack_sparse(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels32: ...

    @overload
    @staticmethod
    def pack_sparse(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels32: ...

    @overload
    @staticmethod
    def pack_sparse(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels32: ...

    @overload
    @staticmethod
    def pack_sparse(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels32: ...

    @overload
    @staticmethod
    def pack(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels32: ...

    @overload
    @staticmethod
    def pack(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels32: ...

    @property
    def bytes(self) -> int: ...

class Job32:
    """Statistics of packed points, and the program that uses them."""

    def __init__(self, rows: int, columns: int, same_points: bool, statistics: Sequence[int], left: Sequence[Panels32], right: Sequence[Panels32], weights: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], factors: Sequence[float], codes: Sequence[Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]], constants: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], left_vectors: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], right_vectors: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], externals: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]], exponents: Sequence[float] = []) -> None: ...

    def store(self, outs: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]], stop: Callable[[], bool] | None) -> bool:
        """The matrix of each program; False if `stop` said so."""

    def multiply(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """K v into out; False if `stop` said so."""

    def normal(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """K' W K v into out; False if `stop` said so."""

    def rows(self, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """Whole rows of K into out; False if `stop` said so."""

    def top(self, shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, columns: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], keys: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """The best columns of each row; False if `stop` said so."""

    @property
    def finite(self) -> bool:
        """Whether every kernel value computed so far was a finite number."""

class Answers32:
    """Answers for a few new rows, all else prepared."""

    def __init__(self, pattern: Job32, centres: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], scales: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None]) -> None: ...

    @overload
    def multiply(self, x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], vectors: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

    @overload
    def multiply(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], vectors: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
        """K(x, columns) v into out; False where something is not finite."""

    @overload
    def top(self, x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], vectors: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, columns: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], keys: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

    @overload
    def top(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], vectors: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, columns: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], keys: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
        """
        The best columns of each row of x; False where something is not finite.
        """

class Packed32:
    """A symmetric matrix, half of it kept."""

    @staticmethod
    def make(job: Job32, narrow: bool, most: int, stop: Callable[[], bool] | None) -> Packed32:
        """
        The matrix of a job on one collection of points; narrow keeps 16 bits per number. Blocks that do not fit `most` bytes are computed anew in every product.
        """

    @property
    def complete(self) -> bool: ...

    @property
    def bytes(self) -> int: ...

    @property
    def error(self) -> float: ...

    def multiply(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """K v into out; False if `stop` said so."""

    def rows(self, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """Whole rows of K into out."""

@overload
def normal_product(K: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool: ...

@overload
def normal_product(K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
    """K' W K v into out; False if `stop` said so."""

class Panels64:
    """Points packed for the engine."""

    @overload
    @staticmethod
    def pack_sparse(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels64: ...

    @overload
    @staticmethod
    def pack_sparse(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels64: ...

    @overload
    @staticmethod
    def pack_sparse(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels64: ...

    @overload
    @staticmethod
    def pack_sparse(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels64: ...

    @overload
    @staticmethod
    def pack(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels64: ...

    @overload
    @staticmethod
    def pack(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Panels64: ...

    @property
    def bytes(self) -> int: ...

class Job64:
    """Statistics of packed points, and the program that uses them."""

    def __init__(self, rows: int, columns: int, same_points: bool, statistics: Sequence[int], left: Sequence[Panels64], right: Sequence[Panels64], weights: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], factors: Sequence[float], codes: Sequence[Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]], constants: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], left_vectors: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], right_vectors: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], externals: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], exponents: Sequence[float] = []) -> None: ...

    def store(self, outs: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]], stop: Callable[[], bool] | None) -> bool:
        """The matrix of each program; False if `stop` said so."""

    def multiply(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """K v into out; False if `stop` said so."""

    def normal(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """K' W K v into out; False if `stop` said so."""

    def rows(self, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """Whole rows of K into out; False if `stop` said so."""

    def top(self, shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, columns: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], keys: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """The best columns of each row; False if `stop` said so."""

    @property
    def finite(self) -> bool:
        """Whether every kernel value computed so far was a finite number."""

class Answers64:
    """Answers for a few new rows, all else prepared."""

    def __init__(self, pattern: Job64, centres: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], scales: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None]) -> None: ...

    @overload
    def multiply(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], vectors: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

    @overload
    def multiply(self, x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], vectors: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
        """K(x, columns) v into out; False where something is not finite."""

    @overload
    def top(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], vectors: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, columns: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], keys: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

    @overload
    def top(self, x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], vectors: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, columns: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], keys: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
        """
        The best columns of each row of x; False where something is not finite.
        """

class Packed64:
    """A symmetric matrix, half of it kept."""

    @staticmethod
    def make(job: Job64, narrow: bool, most: int, stop: Callable[[], bool] | None) -> Packed64:
        """
        The matrix of a job on one collection of points; narrow keeps 16 bits per number. Blocks that do not fit `most` bytes are computed anew in every product.
        """

    @property
    def complete(self) -> bool: ...

    @property
    def bytes(self) -> int: ...

    @property
    def error(self) -> float: ...

    def multiply(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """K v into out; False if `stop` said so."""

    def rows(self, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """Whole rows of K into out."""

class Waves32:
    """Cosines and sines of the products of points with frequencies."""

    def __init__(self, frequencies: Panels32, amplitudes: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], phases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Frequencies are rows, in quarter turns; an empty array of phases asks for pairs.
        """

    @staticmethod
    def rotated(columns: int, size: int, signs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], radii: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], amplitudes: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], phases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Waves32:
        """
        The same with frequencies that are rows of products of Hadamard matrices.
        """

    def store(self, points: Panels32, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """The features into out; False if `stop` said so."""

    def multiply(self, points: Panels32, v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """Features times v into out; False if `stop` said so."""

    @property
    def width(self) -> int:
        """The number of features."""

class Waves64:
    """Cosines and sines of the products of points with frequencies."""

    def __init__(self, frequencies: Panels64, amplitudes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], phases: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Frequencies are rows, in quarter turns; an empty array of phases asks for pairs.
        """

    @staticmethod
    def rotated(columns: int, size: int, signs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], radii: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], amplitudes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], phases: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Waves64:
        """
        The same with frequencies that are rows of products of Hadamard matrices.
        """

    def store(self, points: Panels64, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """The features into out; False if `stop` said so."""

    def multiply(self, points: Panels64, v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """Features times v into out; False if `stop` said so."""

    @property
    def width(self) -> int:
        """The number of features."""

@overload
def column_slopes(left: Panels32, right: Panels32, slope: int, exponent: float, factors: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool: ...

@overload
def column_slopes(left: Panels64, right: Panels64, slope: int, exponent: float, factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
    """
    Sums of factors times coefficients times derivatives of a summand by the columns of points, which are packed column by column; False if `stop` said so.
    """

class BlockSolver32:
    """Solves parts of a quadratic problem in a box."""

    def __init__(self) -> None: ...

    def solve(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], kept: int, lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kink: float, offset: bool, split: bool, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], tol: float, max_iterations: int, stop: Callable[[], bool] | None, lazy: bool = False) -> tuple[str, int, float]:
        """
        Optimise b, and g with it, in place; how it ended, iterations, violation.
        """

    def polish(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], linear: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kink: float, offset: bool, split: bool, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], rounding: float, most: int, stop: Callable[[], bool] | None) -> tuple[bool, float, float]:
        """
        Move b of the problem solved last to its last digits; whether these were reached, the violation, and how much of it may be rounding.
        """

@overload
def add_rows(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def add_rows(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """g += weights' columns of rows, in place."""

class BlockSolver64:
    """Solves parts of a quadratic problem in a box."""

    def __init__(self) -> None: ...

    def solve(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], kept: int, lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kink: float, offset: bool, split: bool, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], tol: float, max_iterations: int, stop: Callable[[], bool] | None, lazy: bool = False) -> tuple[str, int, float]:
        """
        Optimise b, and g with it, in place; how it ended, iterations, violation.
        """

    def polish(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], linear: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kink: float, offset: bool, split: bool, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], rounding: float, most: int, stop: Callable[[], bool] | None) -> tuple[bool, float, float]:
        """
        Move b of the problem solved last to its last digits; whether these were reached, the violation, and how much of it may be rounding.
        """

@overload
def walk(K: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], roots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: float, count: float, rounding: float, drift: float, places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], rivals: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, int]: ...

@overload
def walk(K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], roots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: float, count: float, rounding: float, drift: float, places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], rivals: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, int]:
    """
    Visit points in turn; how many, up to one that is too close to tell, and mistakes.
    """

class PairJob:
    """A kernel of two collections of objects, pair by pair."""

    @property
    def lefts(self) -> int: ...

    @property
    def rights(self) -> int: ...

    def store(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], same: bool, first: int, last: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """
        k of the rows from first to last with all columns; False if `stop` said so.
        """

    def matched(self, i: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], j: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """k of the pairs (i, j); False if `stop` said so."""

def add_meetings(left_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], left_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], left_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], right_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], right_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, minimum: bool, same: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
    """
    Products, or minima, of the counts of common columns added to out; False if stopped.
    """

def merge_tokens(ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], kept: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
    """Put equal ids of each object together, in place; False if stopped."""

def pack_tokens(ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], kept: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], packed_ids: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], packed_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Copy the first `kept` tokens of every object to one place after another.
    """

def look_up(vocabulary: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
    """The place of each id in the vocabulary, or -1; False if stopped."""

class TokenSequences:
    """Sequences of codes, one after another."""

    def __init__(self, codes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def __len__(self) -> int: ...

class Automata:
    """The suffix automata of sequences of codes."""

    def __init__(self, codes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], decay: float) -> None: ...

    def __len__(self) -> int: ...

class SubsequenceJob(PairJob):
    """Common subsequences, by their span."""

    def __init__(self, left: TokenSequences, right: TokenSequences, decay: float, weights: Sequence[float]) -> None: ...

class SubstringJob(PairJob):
    """Common substrings, by their length."""

    def __init__(self, left: Automata, right: Automata) -> None: ...

def hash_subtrees(ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], hashes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], inner: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    For each node a hash of its subtree, and how many nodes there have children.
    """

class Forest:
    """Trees, their nodes grouped by what they are compared by."""

    def __init__(self, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], productions: bool) -> None: ...

    def __len__(self) -> int: ...

class SubsetTreeJob(PairJob):
    def __init__(self, left: Forest, right: Forest, decay: float) -> None: ...

class PartialTreeJob(PairJob):
    def __init__(self, left: Forest, right: Forest, decay: float, depth_decay: float) -> None: ...

class Tally:
    """How often each id occurs in each of many objects."""

    @property
    def total(self) -> int:
        """The number of different ids of all objects."""

    def store(self, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], ids: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Write the ids of each object, ascending, and their counts."""

def count_paths(node_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arc_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbours: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], stop: Callable[[], bool] | None) -> Tally | None:
    """
    Shortest paths of each graph by the codes of their ends and their length; None if stopped.
    """

def count_graphlets(node_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arc_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbours: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
    """Connected induced subgraphs of each graph by class; False if stopped."""

class WalkGraphs:
    """Graphs sorted by labels, for walks in two at once."""

    def __init__(self, node_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arc_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbours: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], node_codes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], arc_codes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], merge: bool = True) -> None: ...

    def __len__(self) -> int: ...

    LEAST_MARGIN: Final[float] = ...
    """(arg: object, /) -> float"""

    def mark_uniform(self, out: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Whether all nodes of a graph are alike, and all its edges."""

    def margins(self, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        1 - scale * rho of graphs multiplied with themselves, or less; -1 if not above 0.
        """

    def summarise(self, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Keep the spectra of uniform graphs, or their numbers of walks."""

class GeometricWalks(PairJob):
    def __init__(self, left: WalkGraphs, right: WalkGraphs) -> None: ...

class FiniteWalks(PairJob):
    def __init__(self, left: WalkGraphs, right: WalkGraphs, steps: int) -> None: ...

class NodeJob:
    """A kernel of graphs, given k(u, v) of all nodes u and v of a pair."""

    def store(self, lefts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], strides: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], stop: Callable[[], bool] | None) -> bool:
        """
        k of each pair, k(u, v) = values[start + u * stride + v]; False if `stop` said so.
        """

class PathLists:
    """The shortest paths of graphs, by length."""

    def __init__(self, node_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arc_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbours: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def __len__(self) -> int: ...

class NodePaths(NodeJob):
    def __init__(self, left: PathLists, right: PathLists) -> None: ...

class NodeWalks(NodeJob):
    def __init__(self, left: WalkGraphs, right: WalkGraphs, steps: int) -> None: ...

    ENDLESS: Final[int] = ...
    """(arg: object, /) -> int"""

    def margins(self, lefts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], strides: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        1 - scale * rho of the weighed product of each pair, or less; -1 if not above 0.
        """

class SeriesSet:
    """Series of one width, for their alignments."""

    def __init__(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, gamma: float) -> None:
        """
        values: series after series, each coordinate by coordinate; ends: in moments, from 0.
        """

    def __len__(self) -> int: ...

    @property
    def width(self) -> int: ...

    def measure(self, stop: Callable[[], bool] | None) -> bool:
        """Compute k(x, x) of every series; False if `stop` said so."""

    @property
    def parts(self) -> list[float]:
        """k(x, x) = parts 2**powers, once measured."""

    @property
    def powers(self) -> list[float]: ...

class AlignmentJob(PairJob):
    """All alignments of two series."""

    def __init__(self, left: SeriesSet, right: SeriesSet, normalize: bool) -> None: ...

class SvmlightRows:
    """Rows read from the text format of SVMlight."""

    def __init__(self) -> None: ...

    def read(self, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool:
        """Read a text up to the first mistake in it."""

    @property
    def rows(self) -> int: ...

    @property
    def entries(self) -> int: ...

    @property
    def lines(self) -> int: ...

    @property
    def zero_line(self) -> int:
        """The first with an index 0, or -1."""

    @property
    def highest(self) -> int:
        """The highest index, or -1."""

    @property
    def has_queries(self) -> bool: ...

    @property
    def mistake(self) -> tuple[str, int, int, int] | None:
        """What is wrong, in which line counted from 0, from which byte to which."""

    def take(self, labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], base: int) -> bool:
        """
        Copy what was read into arrays, with `base` taken from each index, and forget it.
        """
