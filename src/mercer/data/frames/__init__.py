"""Tables: CSV, JSON lines and Parquet as data frames of polars, with types by one rule."""

from .delimited import DelimitedReader
from .jsonlines import JsonLinesReader
from .parquet import ParquetReader

__all__ = ["DelimitedReader", "JsonLinesReader", "ParquetReader"]
