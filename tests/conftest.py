"""Settings of the tests. Hypothesis draws the same examples every time and leaves nothing here."""

import gc
import tempfile

from hypothesis import HealthCheck, configuration, settings

_home = tempfile.TemporaryDirectory(prefix="mercer-hypothesis-")
configuration.set_hypothesis_home_dir(_home.name)
settings.register_profile(
    "mercer",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],  # it asserts a time
)
settings.register_profile("thorough", settings.get_profile("mercer"), max_examples=1000)
settings.load_profile("mercer")


def pytest_collection_finish():
    """Leave the tests themselves out of what the garbage collector looks through ever again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    _home.cleanup()
