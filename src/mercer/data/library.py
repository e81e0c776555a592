"""The package polars, which is loaded when a table is read or written."""

from __future__ import annotations

from ..checks import DataError, sentence


def require_polars(who: str) -> None:
    """Say how to install polars where it is missing."""
    try:
        import polars  # noqa: F401
    except ImportError:
        must, told = "tables need the package polars", 'Run: pip install "mercer[app]"'
        raise DataError(sentence(who, must, "none installed", told)) from None
