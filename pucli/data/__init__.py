"""Data: the declared catalogue, download and cache, readers, generators, splits.

The names are imported on first use, so that the command line starts without numpy, pandas and scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "Dataset": "catalogue.datasets",
    "load_dataset": "catalogue.datasets",
    "data_sha256": "catalogue.datasets",
    "content_hash": "catalogue.datasets",
    "dataset_names": "catalogue.entries",
    "dataset_entry": "catalogue.entries",
    "dataset_key": "catalogue.entries",
    "load_catalogue": "catalogue.entries",
    "catalogue_schema": "catalogue.entries",
    "fetch": "catalogue.download",
    "to_fetch": "catalogue.download",
    "Standardizer": "features",
    "TableEncoder": "columns.encoder",
    "column_kinds": "columns.kinds",
    "label_positives": "rows.positives",
    "read_table": "rows.tables",
    "Split": "splits.scenarios",
    "case_control": "splits.scenarios",
    "single_training_set": "splits.scenarios",
    "make_split": "splits.scenarios",
    "repeated_splits": "splits.scenarios",
    "save_splits": "splits.saved_splits",
    "load_splits": "splits.saved_splits",
    "SCENARIOS": "splits.scenarios",
    "add_irrelevant_features": "catalogue.generators",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
