"""pucli: learning with missing labels, run from declared experiments."""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name == "AutoPU":
        from pucli.auto.estimator import AutoPU

        return AutoPU
    raise AttributeError(f"module 'pucli' has no attribute {name!r}")
