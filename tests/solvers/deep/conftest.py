"""Without PyTorch, which the extra [deep] installs, this folder is left out, and the summary says so in one line."""

from importlib.util import find_spec

import pytest

MISSING = find_spec("torch") is None
if MISSING:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True, scope="package")
def _one_thread() -> None:
    import torch  # here: a quick run has no test of this folder, and the import takes seconds

    torch.set_num_threads(1)


def pytest_terminal_summary(terminalreporter) -> None:
    if MISSING:
        terminalreporter.write_line("tests/deep is left out: PyTorch is missing (`pip install 'pucli[deep]'`)")
