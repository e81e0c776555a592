"""Models of and for other programs: LIBSVM's text files and ONNX.

>>> from mercer.convert import read_libsvm, to_onnx, write_libsvm, write_onnx
"""

from .libsvm.read import read_libsvm
from .libsvm.write import write_libsvm
from .onnx.write import to_onnx, write_onnx

__all__ = ["read_libsvm", "to_onnx", "write_libsvm", "write_onnx"]
