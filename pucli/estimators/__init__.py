"""The scikit-learn estimators, one family per file, each imported on first use."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from pucli.methods import METHODS, estimator_class

    if name == "__all__":  # for `import *`
        return __dir__()
    for method in METHODS.values():
        if method.estimator.endswith(f":{name}"):
            return estimator_class(method)
    raise AttributeError(f"module 'pucli.estimators' has no attribute {name!r}")


def __dir__() -> list[str]:
    from pucli.methods import METHODS

    return sorted({method.estimator.split(":")[1] for method in METHODS.values()})
