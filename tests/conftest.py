"""Settings of the tests. Hypothesis draws the same examples every time and leaves nothing here."""

import tempfile

from hypothesis import HealthCheck, configuration, settings

_home = tempfile.TemporaryDirectory(prefix="mercer-hypothesis-")
configuration.set_hypothesis_home_dir(_home.name)
settings.register_profile(
    "mercer",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow],  # it asserts a time
)
settings.load_profile("mercer")


def pytest_unconfigure():
    _home.cleanup()
