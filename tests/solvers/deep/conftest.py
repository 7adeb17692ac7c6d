"""Without PyTorch, which the extra [deep] installs, this folder is left out, and the summary says so in one line."""

try:
    import torch
except ImportError:
    torch = None

if torch is None:
    collect_ignore_glob = ["test_*.py"]
else:
    torch.set_num_threads(1)


def pytest_terminal_summary(terminalreporter) -> None:
    if torch is None:
        terminalreporter.write_line("tests/deep is left out: PyTorch is missing (`pip install 'pucli[deep]'`)")
