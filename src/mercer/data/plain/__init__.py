"""Matrices of numbers, strings, trees and graphs, which need no data frame."""

from .arrays import ArchiveReader, ArrayReader
from .graphs import read_folder
from .svmlight import SvmlightReader
from .texts import FastaReader, TreesReader

__all__ = [
    "ArchiveReader",
    "ArrayReader",
    "FastaReader",
    "SvmlightReader",
    "TreesReader",
    "read_folder",
]
