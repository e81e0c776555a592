"""Tables as Parquet, by polars."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from ..pieces import Piece
from .tables import TableReader

if TYPE_CHECKING:
    import polars

_Result = TypeVar("_Result")


class ParquetReader(TableReader):
    """Reads Parquet: from a path some rows at a time, else from memory."""

    def pieces(self) -> Iterator[Piece]:
        """Yield the rows as frames."""
        import polars

        source: str | bytes
        if self.source.path is not None and self.source.packing is None:
            self.source.drain()  # for the digest: polars finds its own way through the file
            source = str(self.source.path)
        else:
            source = self.source.read_all()
        scan = self._tried(lambda: _scan(source))
        count = self._tried(lambda: int(scan.select(polars.len()).collect().item()))
        if count == 0:
            raise self.source.fail("there must be rows of data", "a table without rows")
        step = self.options.rows or self.options.max_rows or count
        for start in range(0, count, step):
            yield Piece(X=self._slice(scan, start, step))

    def _slice(self, scan: polars.LazyFrame, start: int, count: int) -> polars.DataFrame:
        return self._tried(lambda: scan.slice(start, count).collect())

    def _tried(self, work: Callable[[], _Result]) -> _Result:
        import polars

        try:
            return work()
        except (polars.exceptions.PolarsError, OSError) as error:
            raise self._broken(error) from None
        except BaseException as error:  # a panic of polars over damaged bytes is no Exception
            if type(error).__name__ != "PanicException":
                raise
            raise self._broken(error) from None

    def _broken(self, error: BaseException) -> Exception:
        got = str(error).partition("\n")[0].rstrip(".")
        return self.source.fail("it must be a whole Parquet file", got, "Copy or write it again.")


def _scan(source: str | bytes) -> polars.LazyFrame:
    import polars

    if isinstance(source, bytes):
        return polars.scan_parquet(io.BytesIO(source))
    return polars.scan_parquet(source, glob=False)
