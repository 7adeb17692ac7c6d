"""pucli: learning with missing labels, run from declared experiments.

The most common names are here, each imported on first use:

>>> import numpy as np
>>> from pucli import GLPUAL
>>> rng = np.random.default_rng(0)
>>> X = np.vstack([rng.normal(1, 1, (40, 2)), rng.normal(-1, 1, (80, 2))])
>>> labelled = np.arange(120) < 20
>>> model = GLPUAL().fit(X, labelled)
>>> bool(model.converged_)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"
__all__ = ["AutoPU", "load_dataset", "load_model", "save_model", "show_versions", "split", "tune"]

if TYPE_CHECKING:
    from pucli.auto.estimator import AutoPU
    from pucli.data.datasets import load_dataset
    from pucli.data.splits import make_split as split
    from pucli.persistence import load_model, save_model
    from pucli.tuning.search import tune
    from pucli.versions import show_versions

_HOME = {
    "AutoPU": "pucli.auto.estimator:AutoPU",
    "load_dataset": "pucli.data:load_dataset",
    "load_model": "pucli.persistence:load_model",
    "save_model": "pucli.persistence:save_model",
    "show_versions": "pucli.versions:show_versions",
    "split": "pucli.data.splits:make_split",
    "tune": "pucli.tuning:tune",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module, _, attribute = _HOME[name].partition(":")
        return getattr(import_module(module), attribute)
    if name[:1].isupper():
        try:
            return getattr(import_module("pucli.estimators"), name)
        except AttributeError:
            pass
    raise AttributeError(f"module 'pucli' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, *dir(import_module("pucli.estimators"))])
