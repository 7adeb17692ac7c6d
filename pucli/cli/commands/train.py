"""``pucli train``: one model on a declared data set or on the user's own file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import options as opt
from pucli.cli.output import Output, number
from pucli.errors import UsageError

if TYPE_CHECKING:
    from pucli.cli.training_rows import TrainingRows

EXAMPLES = """
pucli train --method glpual --dataset wifi
pucli train --method glpual --data customers.csv --label bought --positive yes --model bought.model
pucli train --method glpual --dataset wifi --param kernel=rbf --param width=2 --param lam=0.1
pucli train --method gllc --dataset wifi --split wifi-splits.json --repeat 3 --tune
"""


def command(
    out: Output,
    method: opt.MethodName,
    dataset: opt.DatasetName = None,
    data: opt.DataFile = None,
    label: opt.LabelColumn = None,
    positive: opt.PositiveValue = None,
    param: opt.Parameters = None,
    model: Annotated[
        Path | None, typer.Option("--model", help="File to keep the model in, e.g. model.model.", show_default=False)
    ] = None,
    scenario: opt.Scenario = "case-control",
    label_frequency: opt.LabelFrequency = 0.5,
    seed: opt.Seed = 0,
    split: opt.SplitFile = None,
    repeat: opt.Repeat = 0,
    tune: Annotated[
        bool, typer.Option("--tune", help="First choose parameters as `pucli tune` does, those of --param fixed.")
    ] = False,
    folds: opt.Folds = 4,
    standardise: opt.Standardise = True,
    mirror: opt.Mirror = None,
    offline: opt.Offline = False,
) -> None:
    """Train a method and say how good the fit is.

    With --dataset, labels of a declared data set are hidden at random (see `pucli split`) and the rows that are held
    out are scored with their true labels. With --data, the label column of your file says which rows are labelled
    positives; all others count as unlabeled. For a method that learns from classes it holds the class, and an empty
    cell or -1 where it is not known. A method that models a density takes rows without labels.
    """
    from pucli.methods import get_method

    entry = get_method(method)
    params = {**entry.params, **opt.method_parameters(method, param)}
    if model is not None:
        from pucli.persistence import check_destination

        opt.keep_inputs("--model", model, data, split)
        check_destination(model)
    from pucli.cli.training_rows import FEW_LABELLED, DataOptions, shape_remarks, training_rows

    where = DataOptions(dataset, data, label, positive, scenario, label_frequency, seed, split, repeat, mirror, offline)
    if entry.kind == "density":
        from pucli.cli.density import train_density

        if tune:
            raise UsageError(f"--tune chooses by labels, and {method} models a density and learns from none.")
        train_density(out, entry, params, where, standardise=standardise, model=model)
        return
    rows = training_rows(entry, where)
    shape = shape_remarks(rows.X, rows.feature_names)
    if len(shape["constant_features"]) == rows.X.shape[1]:
        out.warn("every feature is constant: no model can tell these rows apart.")
    if rows.n_labelled < FEW_LABELLED:
        out.warn(f"{rows.n_labelled} labelled rows are few: another choice of them may give quite another model.")
    notes: list[str] = []
    if tune:
        params, notes = _tuned(out, method, rows, params, folds, seed, standardise)
    pipeline, seconds = _fit(method, params, rows, standardise)
    certificate = _certificate(pipeline[-1])
    test = _test_scores(pipeline, rows)
    document = {
        "method": method,
        "params": {key: value for key, value in pipeline[-1].get_params().items() if value is not None},
        "data": rows.about,
        "rows": len(rows.y),
        "labelled": rows.n_labelled,
        "unlabeled": len(rows.y) - rows.n_labelled,
        "features": rows.X.shape[1],
        **shape,
        "standardised": standardise,
        **certificate,
        "prior": getattr(pipeline[-1], "prior_", None),
        "components": getattr(pipeline[-1], "n_components_", None),
        "seconds": seconds,
        "test": test,
        "model": model,
        "notes": [*rows.notes, *notes],
    }
    if model is not None:
        _save(model, pipeline, method, rows, standardise)
    out.document(document)
    for note in document["notes"]:
        out.remark(f"note: {note}")
    _print(out, document, rows, param)
    if model is None:
        out.remark("The model was not kept; add --model FILE to keep it and to apply it with `pucli predict`.")


def _tuned(
    out: Output,
    method: str,
    rows: TrainingRows,
    params: dict[str, Any],
    folds: int,
    seed: int,
    standardise: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters that `pucli tune` would choose, and its notes."""
    from pucli.cli.commands.tune import choose
    from pucli.methods import get_method

    grid = {key: values for key, values in get_method(method).grid.items() if key not in params}
    if not grid:
        why = "every parameter of its grid is given by --param" if get_method(method).grid else "it has no grid"
        raise UsageError(f"--tune has nothing to choose for {method}: {why}; leave --tune out.")
    result = choose(out, method, rows, params, grid, folds=folds, seed=seed, standardise=standardise)
    for note in result.notes:
        out.warn(note)
    return result.params, list(result.notes)


def _fit(method: str, params: dict[str, Any], rows: TrainingRows, standardise: bool) -> tuple[Any, float]:
    """Return the fitted pipeline and the seconds that fitting took."""
    import time

    from pucli.persistence import make_pipeline

    pipeline = make_pipeline(opt.estimator(method)(**params), standardise=standardise)
    started = time.perf_counter()
    try:
        pipeline.fit(rows.X, rows.y)
    except ValueError as error:
        reason = str(error)
        if rows.unlabeled != 0 and len(rows.words) == 1:  # the estimator knows the class by its number
            (only,) = rows.words.values()
            reason = f"every labelled row is of the class {only!r}; each class needs at least one."
        raise UsageError(f"{method} cannot be trained on {rows.title}: {reason}") from error
    return pipeline, time.perf_counter() - started


def _certificate(estimator: Any) -> dict[str, Any]:
    """Return what the estimator says about its own solution."""
    return {
        name: getattr(estimator, f"{name}_", None)
        for name in ("objective", "dual_gap", "residual", "n_iter", "converged", "guarantee", "improvement")
    }


def _test_scores(pipeline: Any, rows: TrainingRows) -> dict[str, Any] | None:
    """Return the scores on the held-out rows, None where there are none."""
    if rows.X_test is None or rows.y_test is None:
        return None
    from pucli.cli.scores import true_label_scores

    return {"rows": len(rows.y_test), **true_label_scores(pipeline, rows.X_test, rows.y_test)}


def _save(path: Path, pipeline: Any, method: str, rows: TrainingRows, standardise: bool) -> None:
    from pucli.methods import get_method
    from pucli.persistence import SavedModel, save_model

    metadata = {
        "kind": get_method(method).kind,
        "label_column": rows.label_column,
        "words": rows.words,
        "data": rows.about,
        "denominator": rows.denominator,
        "preprocessing": "standardise" if standardise else "none",
    }
    save_model(path, SavedModel(pipeline, method, rows.feature_names, metadata))


def _print(out: Output, document: dict[str, Any], rows: TrainingRows, param: list[str] | None) -> None:
    """Print the summary that a person reads."""
    constant, repeated = document["constant_features"], document["duplicate_rows"]
    test = document["test"]
    out.text(f"{document['method']} on {rows.title}")
    out.fields(
        [
            ("rows", f"{document['rows']}: {document['labelled']} labelled, {document['unlabeled']} unlabeled"),
            ("features", f"{document['features']}, {'standardised' if document['standardised'] else 'as they are'}"),
            ("constant features", ", ".join(constant) or None),
            ("duplicate rows", repeated or None),
            ("parameters", ", ".join(f"{key}={number(value)}" for key, value in document["params"].items())),
            ("components", document["components"]),
            ("prior estimated", None if "prior" in document["params"] else document["prior"]),
            ("objective", _finite(document["objective"])),
            ("certificate", certificate_text(document)),
            ("guarantee", document["guarantee"]),
            ("converged", f"{'yes' if document['converged'] else 'NO'}, {document['n_iter']} iterations"),
            ("training time", f"{document['seconds']:.3f} s"),
            ("test", f"{test['rows']} rows with true labels" if test else None),
            *((f"  {name}", value) for name, value in (test or {}).items() if isinstance(value, float)),
            ("model", document["model"]),
        ]
    )


def certificate_text(document: dict[str, Any]) -> str:
    """Return the certificate of a fit in words."""
    gap, residual = _finite(document["dual_gap"]), _finite(document["residual"])
    if gap is not None:
        return f"within {gap:.2g} of the optimum, proven"
    if residual is not None:
        return f"none (not convex, or no fixed objective); residual {residual:.2g}"
    return "none"


def _finite(value: Any) -> Any:
    import math

    return value if isinstance(value, (int, float)) and math.isfinite(value) else None
