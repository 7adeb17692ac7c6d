"""Workers that the tests of blocks share: each takes seconds to import what it needs."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    """Two processes on this machine."""
    distributed = pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers:
        yield workers
