"""The reference has every public name, and no other. `make docs` asks the same of the site."""

import importlib
import re
from pathlib import Path

import check_site
import pytest

REFERENCE = Path(check_site.__file__).parent / "reference"
NAME = re.compile(r"^   ([A-Za-z]\w*)$")


def names_of(page):
    """The names that a page of the reference lists, with their modules."""
    module, listing, found = "", False, []
    for line in page.read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.removeprefix(".. currentmodule:: ")
        elif line.startswith(".. py:data:: "):
            found.append(f"{module}.{line.removeprefix('.. py:data:: ')}")
        elif line.startswith(".. autosummary::"):
            listing = True
        elif line and not line.startswith(" "):
            listing = False
        elif listing and NAME.match(line):
            found.append(f"{module}.{line.strip()}")
    return found


LISTED = [name for page in sorted(REFERENCE.glob("*.rst")) for name in names_of(page)]


def test_every_public_name_is_there():
    assert set(check_site.public_names()) - set(LISTED) == set()


def test_no_name_is_there_twice():
    assert sorted(LISTED) == sorted(set(LISTED))


@pytest.mark.parametrize("name", LISTED)
def test_names_that_are_there_exist(name):
    module, _, last = name.rpartition(".")
    assert hasattr(importlib.import_module(module), last)
