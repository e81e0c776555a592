"""What tests of the drop-in classes share."""

import logging

import pytest

from mercer.sklearn import serving
from mercer.sklearn.patching import patch_sklearn, unpatch_sklearn


@pytest.fixture
def engine(monkeypatch):
    """Let the engine serve small problems, too."""
    monkeypatch.setattr(serving, "ALWAYS", True)


@pytest.fixture
def fallbacks(caplog):
    """The log lines that say that scikit-learn's own code ran; call it for those so far."""
    caplog.set_level(logging.DEBUG, logger="mercer")
    return lambda: [text for text in caplog.messages if "scikit-learn's own code" in text]


@pytest.fixture
def patched():
    """Have scikit-learn patched during a test."""
    patch_sklearn()
    yield
    unpatch_sklearn()
