"""``pucli advise``: which method of the GLPUAL family suits a data set, and why (Wang 2024, Figure 6.1)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pucli.cli import options as opt
from pucli.cli.output import Output, output_file
from pucli.cli.row_options import Rows
from pucli.cli.terminal import many
from pucli.core.errors import UsageError

if TYPE_CHECKING:
    from pucli.data.rows.training_rows import TrainingRows
    from pucli.models.advice import Advice
    from pucli.models.validation import HeldOut

TREES = 100
EXAMPLES = """
pucli advise --data customers.csv --label bought --positive yes
pucli advise --dataset wifi --label-frequency 0.25 --plot wifi.png
pucli advise --dataset hd --prior 0.4
"""


def command(
    out: Output,
    where: Rows,
    prior: Annotated[
        float | None,
        typer.Option("--prior", help="Class prior (share of positives among unlabeled rows), if you know it."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Write a t-SNE picture of the rows to this file (png, svg, pdf).")
    ] = None,
    verbose: opt.Verbose = False,
) -> None:
    """Suggest what to try first.

    `pucli auto` comes first: it needs no method and no class prior. On the 32 tasks of benchmark `quality`, a method of
    the papers at its defaults has the larger F1 on at most 6 tasks with a quarter of the positives labelled (e-glpual 6
    and bsvm 4), and on at most 4 with half of them, mostly by less than .04. Take such a method if `pucli compare auto
    METHOD` prefers it on your rows, or if you want one model with a proof.

    First, a forest and an SVC are cross-validated on at most 1,200 rows. If neither ranks held-out labelled rows above
    unlabeled ones by more than chance, a warning says so: no method may help then.

    Then `pucli advise` follows the flowchart of the GLPUAL thesis: are the positives in two parts around the negatives,
    are there many irrelevant features, is the class prior known? It answers from labelled and unlabeled rows alone.
    """
    from pucli.cli.text.columns import rows_to_learn_from, show_columns
    from pucli.data.rows.training_rows import FEW_LABELLED
    from pucli.models.advice import advise

    if where.columns:
        show_columns(out, where.source)
        return
    output_file("--plot", plot, *where.files)
    _check(prior, plot)
    why = "`pucli advise` uses labelled positives and unlabeled rows alone"
    rows = rows_to_learn_from(out, "pu", where.source, without_negatives=why)
    try:
        found = advise(rows.X, rows.labelled, prior, where.seed)
    except ValueError as error:
        raise UsageError(f"{rows.title}: {error}") from error
    if rows.n_labelled < FEW_LABELLED:
        out.warn(f"with {many(rows.n_labelled, 'labelled row')} the answers are little more than guesses.")
    ranked = _ranked(rows, where.seed)
    _warn_of_chance(out, ranked)
    auto_command = f"pucli auto {where.words}"
    words = where.words if found.rows is None or where.rows is not None else f"{where.words} --rows {found.rows}"
    next_command = f"pucli tune --method {found.method} {words}{_settings(found)}"
    drawn = len(rows.X) if plot is None else _picture(rows, plot, where.seed)
    irrelevant = [name for name, out_of_use in zip(rows.feature_names, found.irrelevant, strict=True) if out_of_use]
    out.document(
        {
            "data": rows.about,
            "trifurcated": found.trifurcated,
            "silhouette": found.silhouette,
            "between": found.between,
            "irrelevant": irrelevant,
            "prior": prior,
            "pu_auc": {name: checked.pu_auc for name, checked in ranked.items()},
            "method": found.method,
            "params": found.params,
            "grid": found.grid,
            "reasons": found.reasons,
            "auto": auto_command,
            "command": next_command,
            "plot": plot,
        }
    )
    out.text("Try auto first:")
    out.text(auto_command)
    out.text(f"Of the published methods, try {found.method}:")
    out.text(next_command)
    for reason in found.reasons:
        out.text(f"- {reason if verbose else reason.partition(' (')[0]}")
    if irrelevant and verbose:
        out.text(f"features that say nothing about the labels that the others do not: {', '.join(irrelevant)}")
    if words != where.words and found.rows is not None and rows.denominator == "all":
        drawn_labelled = round(rows.n_labelled * found.rows / len(rows.X))
        out.remark(
            f"--rows {found.rows} draws labelled rows in proportion: about {drawn_labelled} of {rows.n_labelled}."
        )
    _compare_with_auto(out, where, found.method, rows.n_labelled)
    if plot is not None:
        out.remark(f"written to {plot}" + (f", {drawn:,} of {len(rows.X):,} rows" if drawn < len(rows.X) else ""))


def _compare_with_auto(out: Output, where: Rows, method: str, labelled: int) -> None:
    """Say how a method stands to auto on public tasks, and which command compares them on these rows."""
    from pucli.models.advice import AHEAD_OF_AUTO
    from pucli.solvers.ensemble.estimates import FEW_LABELLED as ENOUGH_LABELLED

    shared = {name: getattr(type(where), name) for name in ("rows",)}  # not of `compare`
    same = replace(where, **shared).words
    if method in AHEAD_OF_AUTO:
        few, more = AHEAD_OF_AUTO[method]
        out.remark(
            f"{method} beat auto in F1 on {few} of 32 public tasks with a quarter of the positives labelled, on "
            f"{more} with half of them (defaults, benchmark `quality`)."
        )
    decides = f"pucli compare auto {method} {same} --tune"
    if labelled < ENOUGH_LABELLED:
        too_few = f"{many(labelled, 'labelled row')} cannot tell whether it beats auto"
        out.remark(f"{too_few}; {ENOUGH_LABELLED} or more can: {decides}")
    else:
        out.remark(f"To see whether it beats auto on these rows: {decides}")


def _ranked(rows: TrainingRows, seed: int) -> dict[str, HeldOut]:
    """Return the ranking of held-out rows by two quick classifiers; empty if there are too few rows."""
    from sklearn.ensemble import ExtraTreesClassifier

    from pucli.models.fitting import estimator_of
    from pucli.models.saved import make_pipeline
    from pucli.models.validation import held_out

    quick = {
        "extra-trees": ExtraTreesClassifier(TREES, min_samples_leaf=5, class_weight="balanced", random_state=seed),
        "svc-naive": estimator_of("svc-naive")(),
    }
    found = {}
    for name, estimator in quick.items():
        checked = held_out(make_pipeline(estimator, standardise=True), rows.X, rows.labelled, seed, rows.groups)
        if checked is not None:
            found[name] = checked
    return found


def _warn_of_chance(out: Output, ranked: dict[str, HeldOut]) -> None:
    from pucli.metrics.ranking import chance_limit

    limits = [chance_limit(checked.labelled, checked.unlabeled) for checked in ranked.values()]
    if ranked and all(checked.pu_auc <= limits[0] for checked in ranked.values()):
        areas = " and ".join(f"{checked.pu_auc:.2f} ({name})" for name, checked in ranked.items())
        out.warn(
            "there may be nothing to learn from these columns: two quick classifiers hardly rank held-out labelled "
            f"rows above unlabeled ones (PU-AUC {areas}; up to {limits[0]:.2f} may be chance)."
        )


def _check(prior: float | None, plot: Path | None) -> None:
    """Raise UsageError where an option has a value that it cannot have."""
    if prior is not None and not 0 < prior < 1:
        raise UsageError(f"--prior must be above 0 and below 1, not {prior}; `pucli prior` estimates it.")
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UsageError(f"--plot {plot}: the file's ending must be .png, .svg or .pdf.")


def _settings(found: Advice) -> str:
    return "".join(
        [f" --param {key}={value}" for key, value in found.params.items()]
        + [f" --grid {key}={values}" for key, values in found.grid.items()]
    )


def _picture(rows: TrainingRows, path: Path, seed: int) -> int:
    """Write the map of the rows; return how many it shows."""
    from pucli.report.figures.tsne_map import write_row_map

    return write_row_map(path, rows.X, rows.labelled, title=rows.title, seed=seed)
