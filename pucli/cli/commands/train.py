"""``pucli train``: train one model on a declared data set or on the user's own file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pucli.cli import options as opt
from pucli.cli.assignments import method_parameters
from pucli.cli.block_training import Backend, train_in_blocks
from pucli.cli.output import Output, output_files
from pucli.cli.row_options import OWN_TABLE, SplitRowOptions
from pucli.cli.tuning import choose, far_prior_warning, how_chosen
from pucli.core.errors import UsageError, shell_word

if TYPE_CHECKING:
    from pucli.data.rows.training_rows import TrainingRows
    from pucli.methods import Method
    from pucli.models.fitting import Fitted
    from pucli.models.validation import HeldOutResults

# Folds of --tune.
FOLDS = 4
# Options that name rows, of methods that learn from classes, and of other kinds of method.
CLASSES = "--data FILE --label COLUMN"
OWN_ROWS = {"pu": OWN_TABLE, "density": "--data FILE"}
EXAMPLES = """
pucli train --method glpual
pucli train wifi --method glpual
pucli train customers.csv --method glpual --label bought --positive yes --model bought.model
pucli train wifi --method glpual --param kernel=rbf --param width=2 --param lam=0.1
pucli train wifi --method gllc --split wifi-splits.json --repeat 3 --tune
pucli train --method blssvm --data 'folder/*.parquet' --label bought --backend dask --model bought.model
"""


def command(
    out: Output,
    method: opt.MethodName,
    where: SplitRowOptions,
    backend: Backend,
    param: opt.Parameters = None,
    model: opt.ModelOut = None,
    tune: Annotated[bool, typer.Option("--tune", help="First choose parameters as `pucli tune` does.")] = False,
    standardize: opt.Standardize = True,
) -> None:
    """Train a method and report the quality of the fit.

    With --data, the label column of your file marks the labeled positives; other rows are unlabeled. For
    semi-supervised methods, it holds the class, or an empty cell or -1 if the class is unknown. Density models need no
    labels. With --dataset, labels of a declared data set are hidden at random (see `pucli split`), and held-out rows
    are scored with their true labels. Without either, the data set is breast-cancer, which needs no download.
    """
    from pucli.methods import get_method

    entry = get_method(method)
    _check_kind(entry, tune)
    where.check_there()
    from pucli.cli.compiling import announce_compiling
    from pucli.methods.effects import without_effect
    from pucli.models.fitting import check_storable, prior_warning, seeded

    given = method_parameters(method, param)
    where = where if backend.in_blocks else where.or_example(out, OWN_ROWS.get(entry.kind, CLASSES))
    if where.files and where.scenario != SplitRowOptions.scenario:
        out.warn(
            f"--scenario {where.scenario} does not change how {method} is trained, only the estimated class prior, the "
            "probabilities, and the scores by which `pucli tune` chooses."
        )
    for line in without_effect(method, given, {**entry.params, **given}):
        out.warn(line)
    params = seeded(method, {**entry.params, **given}, where.seed)
    checkpoint = params.get("checkpoint")
    files = {"--model": model, "--param checkpoint": None if checkpoint is None else Path(str(checkpoint))}
    output_files(files, *where.files, where.split)
    if backend.in_blocks:
        folds = FOLDS if tune else None
        train_in_blocks(out, entry, where, params, backend, folds=folds, standardize=standardize, model=model)
        return
    rows = _rows(out, entry, where, sparse=not tune)
    if model is not None:
        check_storable(method, params, rows)
    notes = list(rows.notes)
    _warn_of_poor_rows(out, rows)
    own_prior = "prior" not in params
    announce_compiling(out)
    if tune:
        params, remarks = _tuned(out, entry, rows, params, where.seed, standardize)
        notes += remarks
    fitted = _fit(out, method, params, rows, standardize)
    out.warn(prior_warning(method, params))
    out.warn(far_prior_warning(given, rows, where.seed))
    if model is not None:
        fitted.save(model)
        out.if_interrupted = f"The model {model} is written, without probabilities."
    fitted, checked = _judged(entry, fitted, where.seed, prior_estimated=tune and own_prior)
    if model is not None and fitted.probability:
        fitted.save(model)
        out.if_interrupted = f"The model {model} is written."
    _report(out, fitted, notes, model, checked)
    _say_not_judged(out, entry, checked)
    options = [f"--param {shell_word(value)}" for value in param or ()]
    options += ["--tune"] * tune + ["--raw"] * (not standardize)
    _say_what_next(out, entry, where, options, model)


def _check_kind(entry: Method, tune: bool) -> None:
    if entry.kind == "clustering":
        raise UsageError(
            f"{entry.name} finds clusters and predicts no labels; use {entry.estimator.partition(':')[2]} from Python, "
            "or run `pucli reproduce classtering-clustering --profile quick`, a table of such methods."
        )
    if tune and entry.kind == "density":
        raise UsageError(f"--tune needs labels, and {entry.name} models a density without any; leave --tune out.")
    if tune and entry.kind != "pu":
        raise UsageError(
            f"--tune chooses by labeled positives and unlabeled rows, but {entry.name} learns from classes; leave "
            "--tune out and give parameters with --param."
        )


def _rows(out: Output, entry: Method, where: SplitRowOptions, *, sparse: bool) -> TrainingRows:
    from pucli.cli.text.columns import rows_to_learn_from
    from pucli.data.rows.training_rows import density_rows
    from pucli.models.fitting import takes_missing

    if entry.kind == "density":
        return density_rows(entry.name, where.source, allow_missing=takes_missing(entry.name))
    why = entry.without_negatives or ("" if sparse else "--tune does not use known negatives")
    return rows_to_learn_from(out, entry.kind, where.source, sparse=sparse, without_negatives=why)


def _warn_of_poor_rows(out: Output, rows: TrainingRows) -> None:
    from pucli.data.features import constant_features
    from pucli.data.rows.training_rows import FEW_LABELED

    if len(constant_features(rows.X, rows.feature_names)) == rows.X.shape[1]:
        out.warn("every feature is constant: no model can distinguish these rows.")
    if rows.y is not None and rows.n_labeled < FEW_LABELED:
        out.warn(
            f"only {rows.n_labeled} labeled row{'s' * (rows.n_labeled != 1)}: another sample of them may give a "
            "very different model."
        )


def _tuned(
    out: Output, entry: Method, rows: TrainingRows, params: dict[str, Any], seed: int, standardize: bool
) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters chosen as `pucli tune` does, and its warnings."""
    from pucli.tuning import TuningInterrupted

    grid = {key: values for key, values in entry.grid.items() if key not in params}
    if not grid:
        why = "--param fixes every parameter of its grid" if entry.grid else "it has no grid"
        raise UsageError(f"--tune has nothing to choose for {entry.name}: {why}; leave --tune out.")
    try:
        result = choose(out, entry.name, rows, params, grid, folds=FOLDS, seed=seed, standardize=standardize)
    except TuningInterrupted as stop:
        if stop.so_far is not None:
            chosen = " ".join(f"--param {key}={stop.so_far.params[key]}" for key in grid)
            done = f" ({stop.so_far.done})" if stop.so_far.done else ""
            out.if_interrupted = f"Nothing was trained. Best choice among the points tried so far{done}: {chosen}"
        raise
    out.remark(how_chosen(result))
    return result.params, list(result.notes)


def _fit(out: Output, method: str, params: dict[str, Any], rows: TrainingRows, standardize: bool) -> Fitted:
    """Fit the method and show its progress; on Ctrl-C, name the checkpoint if there is one."""
    from pucli.methods import constructor_defaults, get_method
    from pucli.models.fitting import fit

    known = {**constructor_defaults(get_method(method)), **params}
    total, checkpoint = known.get("n_iterations"), known.get("checkpoint")

    def name_checkpoint() -> None:
        if checkpoint is not None and Path(str(checkpoint)).is_file():
            out.if_interrupted = f"The checkpoint {checkpoint} is kept; run the same command again to continue."

    name_checkpoint()
    with out.progress(f"train {method}", "steps") as show:

        def report(done: int, value: float) -> None:
            name_checkpoint()
            show(done, total, text=f"objective {value:.4g}")

        return fit(method, params, rows, standardize=standardize, report=report)


def _judged(entry: Method, fitted: Fitted, seed: int, *, prior_estimated: bool) -> tuple[Fitted, HeldOutResults | None]:
    """Cross-validate a model without probabilities on some of the rows, to judge and to calibrate it."""
    from pucli.estimators.base.parameters import number_given
    from pucli.estimators.base.pu import has_own_probabilities

    rows = fitted.rows
    if rows.y is None or has_own_probabilities(fitted.estimator):
        return fitted, None
    from pucli.models.calibration import class_curve, in_its_scale, probability_curve
    from pucli.models.validation import held_out_classes, held_out_scores, judged

    if entry.kind != "pu":
        found = held_out_classes(fitted.pipeline, rows.X, rows.y, rows.labeled, seed, rows.groups)
        return fitted if found is None else replace(fitted, probability=class_curve(*found).record()), None
    scores = held_out_scores(fitted.pipeline, rows.X, rows.y == 1, seed, rows.groups)
    if scores is None:
        return fitted, None
    checked, given = judged(scores), None if prior_estimated else fitted.params.get("prior")
    one_sample = (rows.n_labeled, len(rows.y) - rows.n_labeled) if rows.denominator == "all" else None
    scores = in_its_scale(scores, fitted.pipeline, rows.X, rows.labeled, seed)
    curve = probability_curve(scores, rows.X, number_given(given), one_sample, seed)
    known = {**curve.record(), "ranks": checked.ranks}
    return replace(fitted, doubt=rows.repeated or checked.warning, probability=known), checked


def _say_not_judged(out: Output, entry: Method, checked: HeldOutResults | None) -> None:
    if checked is None and entry.kind == "pu" and entry.name != "auto":
        out.remark(
            "The model was not judged on held-out rows, and `pucli predict` gives no probability: there are too few "
            "rows of a kind, or weights are set for more than 5,000 rows."
        )


def _say_what_next(out: Output, entry: Method, where: SplitRowOptions, options: list[str], model: Path | None) -> None:
    """Name the command that saves the model, or the one that scores it on held-out rows."""
    if model is None:
        words = " ".join(filter(None, [where.words, *options, f"--model {entry.name}.model"]))
        out.remark(f"The model was not saved. To save it: pucli train --method {entry.name} {words}")
    elif where.dataset is not None:
        command = "show" if entry.kind == "density" else "evaluate --model"
        out.remark(f"Next: pucli {command} {shell_word(model)}")


def _report(out: Output, fitted: Fitted, notes: list[str], model: Path | None, checked: HeldOutResults | None) -> None:
    from pucli.cli.text.train import print_model
    from pucli.models.trained import trained

    if checked is not None and checked.warning:
        tunes = "" if fitted.params.get("threshold") is not None else "--tune chooses parameters; "
        out.warn(f"{checked.warning}. {tunes}`pucli auto` chooses everything.")
    answer = trained(fitted, model, notes, checked)
    out.document(answer)
    for note in fitted.rows.notes:
        out.remark(f"note: {note}")
    print_model(out, answer, fitted)
