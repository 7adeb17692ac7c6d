"""Fitting of methods on rows."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from pucli.core.arrays import Ints
from pucli.core.errors import RunError, UsageError
from pucli.core.memory import check_memory
from pucli.data.rows.row_hashes import row_fingerprints, row_hashes
from pucli.methods import METHODS, estimator_class, get_method
from pucli.models.reasons import explainer_of, without_looked_at
from pucli.models.saved import SavedModel, make_pipeline, model_bytes, save_model

if TYPE_CHECKING:
    from pucli.data.rows.training_rows import TrainingRows

# Attributes of estimators that describe their solutions; a method has some of them.
STATEMENTS = (
    "objective", "dual_gap", "residual", "n_iter", "converged", "guarantee", "improvement", "pattern", "n_complete",
    "prior", "n_components", "positive_share", "labeled_recall", "graph_recall", "kernel_residual",
)  # fmt: skip


# Approximate number of copies of the rows in a fit: standardized rows, rows of each kind, and working arrays.
FIT_COPIES = 3

# The label of known negatives; labeled positives have 1 and unlabeled rows 0.
NEGATIVE = -1

# Number of rows of each kind on which a method of another package is fitted to check that its model can be saved.
REHEARSED = 50


@dataclass(frozen=True)
class Fitted:
    """A fitted model."""

    method: str  # its name in the list of methods
    pipeline: Pipeline  # fitted preprocessing and estimator
    rows: TrainingRows
    standardized: bool  # whether features were scaled
    seconds: float  # time of the fit
    doubt: str = ""  # reason why the model may be useless, for those who apply it; "" if there is none
    # probabilities by score for a method that has none of its own (`pucli.models.calibration`); empty if unknown
    probability: dict[str, Any] = field(default_factory=dict)

    @property
    def estimator(self) -> Any:
        """Return the fitted estimator without its preprocessing."""
        return self.pipeline[-1]

    @property
    def params(self) -> dict[str, Any]:
        """Return the constructor parameters that are not None."""
        return {key: value for key, value in self.estimator.get_params().items() if value is not None}

    @property
    def statements(self) -> dict[str, Any]:
        """Return the attributes of the estimator that describe its solution, None if missing."""
        return {name: getattr(self.estimator, f"{name}_", None) for name in STATEMENTS}

    def save(self, path: Path) -> None:
        """Write the model to a file."""
        try:
            save_model(path, self.to_save())
        except TypeError as error:
            raise UsageError(f"the model of {self.method} cannot be saved: {error}") from error

    def to_save(self) -> SavedModel:
        """Return the model with everything needed to apply it."""
        rows = self.rows
        if rows.encoder is not None and rows.y is not None:
            rows.encoder.remember(*without_looked_at(rows))
        metadata = {
            "kind": get_method(self.method).kind,
            "label_column": rows.label_column,
            "words": rows.words,
            "data": {**rows.about, **row_fingerprints(row_hashes(rows.X, rows.labeled))},
            "id_columns": list(rows.id_columns),
            "found_ids": list(rows.found_ids),
            "leaks": list(rows.leaks),
            "doubt": self.doubt,
            "probability": self.probability,
            "denominator": rows.denominator,
            "labeled": rows.n_labeled,
            "unlabeled": int(without_looked_at(rows)[1].sum()),
            "preprocessing": "standardize" if self.standardized else "none",
            "reading": rows.reading.record(),
        }
        if hasattr(self.estimator, "ensemble_") and rows.encoder is not None and not rows.encoder.sparse_:
            explainer, _ = explainer_of(self.estimator, rows)
            metadata["known"] = explainer.known.record() if explainer.known else {}
        return SavedModel(self.pipeline, self.method, rows.feature_names, metadata, encoder=rows.encoder)


def estimator_of(method: str) -> type[Any]:
    """Return the estimator class of `method`."""
    entry = get_method(method)
    try:
        return estimator_class(entry)
    except ImportError as error:
        if not entry.extra:
            raise
        raise UsageError(
            f"method {method!r} needs {error.name!r}, which is not installed; `pip install 'pucli[{entry.extra}]'`."
        ) from error


def seeded(method: str, params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return a copy of `params` with `random_state` set, if the method has this parameter and it is not given."""
    if "random_state" in params or "random_state" not in inspect.signature(estimator_of(method)).parameters:
        return dict(params)
    return {**params, "random_state": seed}


def prior_warning(method: str, given: Container[str]) -> str:
    """Return a warning of the default class prior; "" if it is given, unused or estimated: the estimator then warns."""
    parameter = inspect.signature(estimator_of(method)).parameters.get("prior")
    if parameter is None or parameter.default is None or "prior" in given:
        return ""
    return (
        f"{method} was given no class prior and takes its default, {parameter.default}; `pucli prior` estimates it, "
        "--param prior=VALUE sets it."
    )


def takes_missing(method: str) -> bool:
    """Return whether the method accepts rows with missing cells (NaN)."""
    return bool(get_tags(estimator_of(method)()).input_tags.allow_nan)


def fit(
    method: str,
    params: Mapping[str, Any],
    rows: TrainingRows,
    *,
    standardize: bool,
    report: Callable[[int, float], None] | None = None,
) -> Fitted:
    """Fit a method."""
    estimator = estimator_of(method)(**params)
    if not isinstance(rows.X, np.ndarray) and not _keeps_sparse(estimator):
        n, m = rows.X.shape
        raise UsageError(
            f"{method} with these parameters needs dense rows, and {rows.title} has {n} x {m} cells, "
            f"{8 * n * m / 1e9:.3g} GB; {keep_sparse()} keep rows sparse."
        )
    reports = report is not None and "report" in estimator.get_params()
    if reports:
        estimator.set_params(report=report)
    if isinstance(rows.X, np.ndarray):
        _check_fit(method, rows)
    if hasattr(estimator, "_encoded_by"):
        estimator._encoded_by = rows.encoder
    pipeline = make_pipeline(estimator, standardize=standardize)
    y = rows.y
    if y is not None and rows.negative is not None:
        estimator.set_params(neg_label=NEGATIVE)
        y = np.where(rows.negative, NEGATIVE, y)
    started = time.perf_counter()
    try:
        pipeline.fit(rows.X) if rows.y is None else pipeline.fit(rows.X, y, **taken_groups(pipeline, rows.groups))
    except ImportError as error:
        raise UsageError(str(error)) from error
    except FloatingPointError as error:
        raise RunError(f"{method}: {error}") from error
    except ValueError as error:
        raise UsageError(f"{method} cannot be trained on {rows.title}: {_reason(rows, error)}") from error
    if reports:
        estimator.set_params(report=None)
    return Fitted(method, pipeline, rows, standardize, time.perf_counter() - started)


def taken_groups(model: Any, groups: Ints | None) -> dict[str, Any]:
    """Return the groups of the rows, if any, as arguments of the fit, if the method makes folds of its own."""
    name, estimator = model.steps[-1] if hasattr(model, "steps") else ("", model)
    takes = groups is not None and "groups" in inspect.signature(estimator.fit).parameters
    return {f"{name}__groups" if name else "groups": groups} if takes else {}


def _check_fit(method: str, rows: TrainingRows) -> None:
    """Raise UsageError if a fit to these rows needs more memory than there is."""
    n, m = rows.X.shape
    copies = 8.0 * FIT_COPIES * n * m
    whole = 8.0 * get_method(method).kernel_copies * n * n
    try:
        check_memory(copies + whole, f"{method} on {n} x {m} numbers", "use fewer rows, e.g. --rows 10000, or columns")
    except ValueError as error:
        raise UsageError(str(error)) from error


def keep_sparse() -> str:
    """Return the options of `pucli train` with which methods compute on sparse rows."""
    forms = [
        " ".join([name, *(f"--param {key}={value}" for key, value in method.sparse.items())])
        for name, method in METHODS.items()
        if method.sparse is not None
    ]
    return f"--method {', '.join(forms[:-1])} and {forms[-1]}"


def _keeps_sparse(estimator: Any) -> bool:
    """Return whether an estimator computes with sparse rows; those of pucli also take them by making them dense."""
    return bool(getattr(estimator, "_sparse_format", get_tags(estimator).input_tags.sparse))


def _reason(rows: TrainingRows, error: ValueError) -> str:
    if rows.unlabeled != 0 and len(rows.words) == 1:  # the estimator knows the class by its number
        (only,) = rows.words.values()
        return f"every labeled row is of the class {only!r}; each class needs at least one."
    return str(error)


def check_storable(method: str, params: Mapping[str, Any], rows: TrainingRows) -> None:
    """Raise UsageError if a model of `method` cannot be saved, before tuning and training.

    Methods of other packages are fitted to a few rows for this check, which is skipped if the fit fails. All methods of
    pucli can be saved.
    """
    if ":" in method:
        raise UsageError(
            f"a model of {method} cannot be saved, because only methods of the list can be loaded; `pucli new "
            "method` makes a method of your class. Leave --model out."
        )
    if estimator_of(method).__module__.startswith(("pucli.", "sklearn.")):
        return
    few = np.sort(np.concatenate([np.flatnonzero(rows.labeled)[:REHEARSED], np.flatnonzero(~rows.labeled)[:REHEARSED]]))
    part = replace(rows, X=rows.X[few], y=None if rows.y is None else rows.y[few], groups=None, negative=None)
    with warnings.catch_warnings(action="ignore"):
        try:
            fitted = fit(method, params, part, standardize=False)
        except Exception:  # an estimator of another package may fail on few rows in any way
            return
    try:
        model_bytes(fitted.to_save())
    except TypeError as error:
        raise UsageError(
            f"a model of {method} cannot be saved: {error} Leave --model out, or use only numbers, text, "
            "lists, dicts and arrays as attributes of the estimator."
        ) from error
