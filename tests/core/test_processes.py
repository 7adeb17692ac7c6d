"""Worker processes that are interrupted."""

from __future__ import annotations

import contextlib
import gc
import time
import warnings

import pytest

from pucli.core import processes


# joblib's manager of workers, told to kill them, forgets the jobs that wait but not their numbers, which it may look up
# once more; its thread then ends by a KeyError instead of a return
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.slow
def test_ctrl_c_while_workers_start_ends_them_without_a_word(monkeypatch):
    @contextlib.contextmanager
    def interrupted():
        yield
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "interrupts_held_back", interrupted)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(KeyboardInterrupt):
            list(processes.in_workers(time.sleep, [(0.2,)] * 8, 2))
        gc.collect()
    assert not [str(one.message) for one in caught if "tasks" in str(one.message)]
