"""pucli: learning with missing labels, run from declared experiments."""

from importlib import import_module

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name == "AutoPU":
        return import_module("pucli.auto.estimator").AutoPU
    raise AttributeError(f"module 'pucli' has no attribute {name!r}")
