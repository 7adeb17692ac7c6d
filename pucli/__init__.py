"""pucli: learning with missing labels, run from declared experiments.

The most common names are here, each imported on first use:

>>> import numpy as np
>>> from pucli import GLPUAL
>>> rng = np.random.default_rng(0)
>>> X = np.vstack([rng.normal(1, 1, (40, 2)), rng.normal(-1, 1, (80, 2))])
>>> labeled = np.arange(120) < 20
>>> model = GLPUAL().fit(X, labeled)
>>> bool(model.converged_)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pucli.core.version import __version__

__all__ = [
    "AutoPU",
    "CalibratedPU",
    "__version__",
    "load_dataset",
    "load_model",
    "save_model",
    "show_versions",
    "split",
    "tune",
]

if TYPE_CHECKING:
    from pucli.data.catalogue.datasets import load_dataset
    from pucli.data.splits.scenarios import make_split as split
    from pucli.estimators.auto.auto_pu import AutoPU
    from pucli.models.calibrated import CalibratedPU
    from pucli.models.saved import load_model, save_model
    from pucli.runner.versions import show_versions
    from pucli.tuning.search import tune

_HOME = {
    "CalibratedPU": "pucli.models.calibrated:CalibratedPU",
    "AutoPU": "pucli.estimators.auto.auto_pu:AutoPU",
    "load_dataset": "pucli.data:load_dataset",
    "load_model": "pucli.models.saved:load_model",
    "save_model": "pucli.models.saved:save_model",
    "show_versions": "pucli.runner.versions:show_versions",
    "split": "pucli.data.splits.scenarios:make_split",
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
