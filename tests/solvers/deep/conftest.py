"""One thread for the tests of this folder."""

import pytest


@pytest.fixture(autouse=True, scope="package")
def _one_thread() -> None:
    import torch  # here: a quick run has no test of this folder, and the import takes seconds

    torch.set_num_threads(1)
