"""Methods that model a density, on the command line: training on rows without labels, and log-likelihoods of rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.cli import options as opt
from pucli.cli.output import Output
from pucli.errors import RunError, UsageError
from pucli.methods import Method

if TYPE_CHECKING:
    from pucli.cli.training_rows import DataOptions

TRAIN_SHARE = 0.7  # of the rows of a declared data set
# What an estimator may say about its own solution.
SAID = ("objective", "residual", "n_iter", "converged", "guarantee", "improvement", "pattern", "n_complete")


def density_rows(
    method: Method, options: DataOptions
) -> tuple[np.ndarray, np.ndarray | None, list[str], dict[str, Any]]:
    """Return the training rows, held-out rows (None for a file), feature names, and where the rows come from."""
    if options.label is not None or options.positive is not None or options.split is not None:
        raise UsageError(
            f"{method.name} models a density and learns from no labels: leave --label, --positive and --split out; "
            "the file must hold the features alone."
        )
    if (options.dataset is None) == (options.data is None):
        raise UsageError("say which rows: either --dataset NAME (`pucli list datasets`) or --data FILE.")
    if options.data is not None:
        from pucli.data import read_table

        X, _, names = read_table(options.data, allow_missing=takes_missing(opt.estimator(method.name)()))
        return X, None, names, {"file": str(options.data)}
    from pucli.data import load_dataset

    dataset = load_dataset(str(options.dataset), mirror=options.mirror, offline=options.offline or None)
    order = np.random.default_rng([options.seed, options.repeat]).permutation(len(dataset.X))
    held = order[round(TRAIN_SHARE * len(order)) :]
    train = np.sort(order[: len(order) - len(held)])
    about = {"dataset": dataset.name, "content_sha256": dataset.content_sha256}
    about |= {"seed": options.seed, "repeat": options.repeat}
    return dataset.X[train], dataset.X[np.sort(held)], list(dataset.feature_names), about


def takes_missing(estimator: Any) -> bool:
    """Return whether an estimator takes NaN for missing cells."""
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).input_tags.allow_nan)


def train_density(
    out: Output, method: Method, params: dict[str, Any], options: DataOptions, *, standardise: bool, model: Path | None
) -> None:
    """Train a density, print what it says about itself, and keep it in the file `model` if one is given."""
    from pucli.cli.training_rows import shape_remarks
    from pucli.persistence import SavedModel, make_pipeline, save_model

    X, held, names, about = density_rows(method, options)
    estimator = opt.estimator(method.name)(**params)
    known = estimator.get_params()
    if "random_state" in known and "random_state" not in params:
        estimator.set_params(random_state=options.seed)
    pipeline = make_pipeline(estimator, standardise=standardise)
    started = time.perf_counter()
    with out.progress(f"train {method.name}", lines=True) as show:
        if "report" in known:
            total, checkpoint = known["n_iterations"], known.get("checkpoint")

            def report(done: int, value: float) -> None:
                _say_how_to_go_on(out, checkpoint)
                show(done, total, text=f"objective {value:.4g}")

            _say_how_to_go_on(out, checkpoint)
            estimator.set_params(report=report)
        try:
            pipeline.fit(X)
        except ImportError as error:
            raise UsageError(str(error)) from error
        except FloatingPointError as error:
            raise RunError(f"{method.name}: {error}") from error
        except ValueError as error:
            raise UsageError(f"{method.name} cannot be trained on {_what(X, names, options)}: {error}") from error
    if "report" in known:
        estimator.set_params(report=None)
    seconds = time.perf_counter() - started
    said = {name: getattr(estimator, f"{name}_", None) for name in SAID}
    test = None if held is None else {"rows": len(held), "log_likelihood": float(log_density(pipeline, held).mean())}
    where = options.dataset or options.data
    document = {
        "method": method.name,
        "params": {key: value for key, value in estimator.get_params().items() if value is not None},
        "data": about,
        "rows": len(X),
        "features": X.shape[1],
        "missing_cells": int(np.isnan(X).sum()),
        **shape_remarks(X, names),
        "standardised": standardise,
        **said,
        "seconds": seconds,
        "test": test,
        "model": model,
    }
    if model is not None:
        metadata = {"kind": method.kind, "data": about, "preprocessing": "standardise" if standardise else "none"}
        save_model(model, SavedModel(pipeline, method.name, names, metadata))
    out.document(document)
    out.text(f"{method.name} on {where}")
    out.fields(
        [
            ("rows", str(len(X))),
            ("features", f"{X.shape[1]}, {'standardised' if standardise else 'as they are'}"),
            ("missing cells", _pattern(document) or None),
            ("objective", said["objective"]),
            ("guarantee", said["guarantee"]),
            ("converged", f"{'yes' if said['converged'] else 'NO'}, {said['n_iter']} iterations"),
            ("training time", f"{seconds:.3f} s"),
            ("test", f"mean log-likelihood {test['log_likelihood']:.4g} of {test['rows']} rows" if test else None),
            ("model", model),
        ]
    )


def _say_how_to_go_on(out: Output, checkpoint: Any) -> None:
    """Have Ctrl-C name the checkpoint of the training, once there is one."""
    if checkpoint is not None and Path(str(checkpoint)).is_file():
        out.if_interrupted = f"The checkpoint {checkpoint} is kept; run the same command again to go on."


def _pattern(document: dict[str, Any]) -> str:
    """Return the missing cells in words, "" if there are none."""
    if not document["missing_cells"]:
        return ""
    pattern, complete = document["pattern"], document["n_complete"]
    return f"{document['missing_cells']}, in {'one block' if pattern == 'one block' else 'a monotone pattern'}; " + (
        f"{complete} of {document['rows']} rows are complete"
    )


def _what(X: np.ndarray, names: list[str], options: DataOptions) -> str:
    """Return where the rows come from, and which two clash if their missing cells follow no pattern."""
    from pucli.solvers.safe.gaussian import clashing_rows

    where = str(options.dataset or options.data)
    clash = clashing_rows(np.isnan(X))
    if clash is None:
        return where
    lacking = [", ".join(np.array(names)[np.isnan(X[row])]) for row in clash]
    return f"{where}, of which data row {clash[0] + 1} lacks {lacking[0]} and data row {clash[1] + 1} {lacking[1]}"


def log_density(pipeline: Any, X: np.ndarray) -> np.ndarray:
    """Return the log-density (n,) of rows X (n, d) in their own units, in nats; of what is there, where cells miss."""
    scale = getattr(pipeline[0], "scale_", None)
    change_of_units = 0.0 if scale is None else ~np.isnan(X) @ np.log(scale)
    return pipeline.score_samples(X) - change_of_units


def imputed(pipeline: Any, X: np.ndarray) -> np.ndarray:
    """Return rows X (n, d) in their own units with each missing cell at its mean given the others of its row."""
    if len(pipeline) == 1:
        return pipeline[-1].impute(X)
    scaler, model = pipeline[0], pipeline[-1]
    completed = scaler.inverse_transform(model.impute(scaler.transform(X)))
    return np.where(np.isnan(X), completed, X)
