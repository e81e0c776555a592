"""What the tests of data files share."""

import pytest

from mercer.checks import DataError
from mercer.data import read


@pytest.fixture
def put(tmp_path):
    """A function that writes a file and returns its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def refusal(put):
    """A function that writes a file, and returns what `read` says against it, without the path."""

    def read_and_fail(name, content, **options):
        path = put(name, content)
        with pytest.raises(DataError) as caught:
            read(path, **options)
        who = f"read({str(path)!r}): "
        assert str(caught.value).startswith(who)
        return str(caught.value).removeprefix(who)

    return read_and_fail
