"""Every test of the plots checks that no setting of matplotlib was changed."""

import matplotlib
import pytest
from matplotlib import _pylab_helpers

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def no_global_state():
    settings, backend = dict(matplotlib.rcParams), matplotlib.get_backend()
    figures = set(_pylab_helpers.Gcf.figs)
    yield
    assert dict(matplotlib.rcParams) == settings
    assert matplotlib.get_backend() == backend
    assert set(_pylab_helpers.Gcf.figs) == figures
