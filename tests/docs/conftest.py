"""The scripts and the extensions of the documentation can be imported by their names."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path[:0] = [str(DOCS), str(DOCS / "extensions")]
