"""Models of and for other programs: LIBSVM's text files and ONNX.

>>> from mercer.convert import read_libsvm, write_libsvm
"""

from .libsvm.read import read_libsvm
from .libsvm.write import write_libsvm

__all__ = ["read_libsvm", "write_libsvm"]
