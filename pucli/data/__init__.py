"""Data: the declared catalogue, download and cache, readers, generators, splits.

The names are imported on first use, so that the command line starts without numpy, pandas and scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "Dataset": "datasets",
    "load_dataset": "datasets",
    "data_sha256": "datasets",
    "content_hash": "datasets",
    "dataset_names": "catalogue",
    "dataset_entry": "catalogue",
    "dataset_key": "catalogue",
    "load_catalogue": "catalogue",
    "catalogue_schema": "catalogue",
    "fetch": "download",
    "cache_folder": "download",
    "TableEncoder": "encoding",
    "column_kinds": "columns",
    "read_table": "tables",
    "read_labelled": "tables",
    "table_notes": "tables",
    "Split": "splits",
    "SavedSplits": "saved_splits",
    "case_control": "splits",
    "single_training_set": "splits",
    "make_split": "splits",
    "repeated_splits": "splits",
    "save_splits": "saved_splits",
    "load_splits": "saved_splits",
    "SCENARIOS": "splits",
    "add_irrelevant_features": "generators",
    "two_gaussians": "generators",
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
