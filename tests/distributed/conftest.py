"""A cluster of two processes on this machine, which all tests of this folder share.

The simulation of clusters can be imported by its name.
"""

import sys
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "benchmarks"))
# Workers are other processes, whose sockets end with them.
QUIET = ["ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"]


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            for rule in QUIET:
                item.add_marker(pytest.mark.filterwarnings(rule))


@pytest.fixture(scope="session")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as found:
        yield found


@pytest.fixture
def client(cluster):
    with Client(cluster) as found:
        yield found
