"""The examples in the docstrings of functions that a reader of the documentation meets."""

import doctest
import importlib

import pytest

MODULES = [
    "pucli.metrics.comparison",
    "pucli.metrics.registry",
    "pucli.models.compare.run",
    "pucli.methods.effects",
    "pucli.protocols.classtering.report",
    "pucli.report.figures.style",
]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_run(module):
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0 and result.failed == 0
