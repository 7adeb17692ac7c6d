"""The list of named faults fits the code, so that `python -m tests.mutation.run named` can start."""

from __future__ import annotations

from tests.mutation.run import named


def test_each_text_stands_once_in_its_file():
    faults = named()
    assert len({fault.kind for fault in faults}) == len(faults) > 10
