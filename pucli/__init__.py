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

from pucli.core.version import __version__ as __version__

if TYPE_CHECKING:
    from pucli.data.catalogue.datasets import load_dataset as load_dataset
    from pucli.data.columns.encoder import TableEncoder as TableEncoder
    from pucli.data.features import Standardizer as Standardizer
    from pucli.data.splits.scenarios import make_split as split  # noqa: F401
    from pucli.estimators import *  # noqa: F403
    from pucli.methods import Method as Method
    from pucli.metrics import GainsCurveDisplay as GainsCurveDisplay
    from pucli.metrics import Metric as Metric
    from pucli.metrics import classification_scores as classification_scores
    from pucli.metrics.scorers import scorer as scorer
    from pucli.models.calibrated import CalibratedPU as CalibratedPU
    from pucli.models.compare import compare as compare
    from pucli.models.compare import declared_task as declared_task
    from pucli.models.compare import judge as judge
    from pucli.models.saved import load_model as load_model
    from pucli.models.saved import save_model as save_model
    from pucli.models.shift import shift_of as shift_of
    from pucli.report import collect as collect
    from pucli.runner import load_experiment as load_experiment
    from pucli.runner import run as run
    from pucli.runner.versions import show_versions as show_versions
    from pucli.solvers.ensemble.class_prior import estimate_priors as estimate_priors
    from pucli.solvers.prior.labeling_odds import odds_between as odds_between
    from pucli.solvers.prior.labeling_odds import with_odds as with_odds
    from pucli.solvers.prior.review import share_of as share_of
    from pucli.solvers.prior.shift import adapted as adapted
    from pucli.tuning.search import tune as tune

_HOME = {
    "CalibratedPU": "pucli.models.calibrated:CalibratedPU",
    "GainsCurveDisplay": "pucli.metrics:GainsCurveDisplay",
    "Method": "pucli.methods:Method",
    "Metric": "pucli.metrics:Metric",
    "Standardizer": "pucli.data.features:Standardizer",
    "TableEncoder": "pucli.data:TableEncoder",
    "adapted": "pucli.solvers.prior.shift:adapted",
    "classification_scores": "pucli.metrics:classification_scores",
    "collect": "pucli.report:collect",
    "compare": "pucli.models.compare:compare",
    "declared_task": "pucli.models.compare:declared_task",
    "estimate_priors": "pucli.solvers.ensemble.class_prior:estimate_priors",
    "judge": "pucli.models.compare:judge",
    "load_dataset": "pucli.data:load_dataset",
    "load_experiment": "pucli.runner:load_experiment",
    "load_model": "pucli.models.saved:load_model",
    "odds_between": "pucli.solvers.prior.labeling_odds:odds_between",
    "run": "pucli.runner:run",
    "save_model": "pucli.models.saved:save_model",
    "scorer": "pucli.metrics:scorer",
    "share_of": "pucli.solvers.prior.review:share_of",
    "shift_of": "pucli.models.shift:shift_of",
    "show_versions": "pucli.runner.versions:show_versions",
    "split": "pucli.data.splits.scenarios:make_split",
    "tune": "pucli.tuning:tune",
    "with_odds": "pucli.solvers.prior.labeling_odds:with_odds",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module, _, attribute = _HOME[name].partition(":")
        return getattr(import_module(module), attribute)
    if name == "__all__":  # for `import *`
        return __dir__()
    if name[:1].isupper():
        try:
            return getattr(import_module("pucli.estimators"), name)
        except AttributeError:
            pass
    raise AttributeError(f"module 'pucli' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(["__version__", *_HOME, *dir(import_module("pucli.estimators"))])
