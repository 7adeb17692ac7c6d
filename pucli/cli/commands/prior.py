"""``pucli prior``: estimate the class prior, the share of positives among unlabeled rows, with an interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.output import Output
from pucli.cli.terminal import many, number
from pucli.core.errors import UsageError

if TYPE_CHECKING:
    from pucli.solvers.prior.estimate import PriorReport

LIMITS = (
    "The estimates hold only if the labelled rows are a random sample of the positives, and rows of some kind are "
    "nearly all positive. If every kind is mixed, they are too high; if most rows are positive, too low. The data "
    "cannot reveal this."
)
SHORT_LIMITS = "holds if labels are random and some kind of rows is nearly all positive; details: --verbose"
EXAMPLES = """
pucli prior --data customers.csv --label bought --positive yes
pucli prior --dataset wifi --label-frequency 0.25
pucli prior --dataset wifi --estimator all --replicates 200 --json
"""


def command(
    out: Output,
    where: opt.Rows,
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            "-e",
            help="auto, best-bin, density-ratio, bbe, km2, tice, or all of them. By default auto; bbe with a single "
            "labelled or unlabeled row, or more than 1,000 features.",
            show_default=False,
            autocompletion=completion.words("auto", "best-bin", "density-ratio", "bbe", "km2", "tice", "all"),
        ),
    ] = None,
    replicates: Annotated[
        int, typer.Option("--replicates", "-r", help="Bootstrap estimates behind the interval.", min=0)
    ] = 50,
    confidence: Annotated[float, typer.Option("--confidence", help="Confidence of the interval.")] = 0.9,
    verbose: opt.Verbose = False,
) -> None:
    """Estimate the class prior of unlabeled rows.

    The class prior is their share of positives, which `--param prior` takes in both scenarios. `pucli auto --scenario
    single-training-set` prints that among all rows, which is larger.

    The estimator is auto, that of `pucli auto`, from held-out scores of its ensemble: it has the smallest error
    (benchmark `prior`) and is what methods take if no class prior is given. --estimator all adds the others and takes
    several times as long: best-bin and density-ratio use one idea each on the same scores; bbe takes best bins of one
    kernel ridge regression; km2 (kernel mean embedding) and tice (tree induction) are too high where positives and
    negatives overlap. The value is recommended only where its interval is narrow and the estimators agree. With a
    declared data set, split case-control, the true share is printed beside the estimates.
    """
    from pucli.cli.text.columns import rows_to_learn_from, show_columns
    from pucli.data.rows.training_rows import FEW_LABELLED
    from pucli.solvers.ensemble.class_prior import (
        ALL_METHODS,
        ENSEMBLE_METHODS,
        estimate_priors,
        recommended,
        rows_of_each_kind,
    )
    from pucli.solvers.prior.estimate import LARGEST_SAMPLE

    if where.columns:
        show_columns(out, where.source)
        return
    if not 0 < confidence < 1:
        raise UsageError(f"--confidence must be above 0 and below 1, not {confidence}; 0.9 is usual.")
    if estimator is not None:
        opt.choice("estimator", estimator, (*ALL_METHODS, "all"))
    why = "`pucli prior` uses labelled positives and unlabeled rows alone"
    rows = rows_to_learn_from(out, "pu", where.source, without_negatives=why)
    labelled = rows.labelled
    names: tuple[str, ...] = (
        ALL_METHODS if estimator == "all" else (estimator or recommended(labelled, rows.X.shape[1]),)
    )
    if labelled.sum() < FEW_LABELLED:
        rows_of = "row" if labelled.sum() == 1 else "rows"
        out.warn(f"with {labelled.sum()} labelled {rows_of} the estimates are little more than guesses.")
    if estimator == "all" and min(labelled.sum(), (~labelled).sum()) < 2:
        names = tuple(name for name in ALL_METHODS if name not in ENSEMBLE_METHODS)  # which hold rows out
    try:
        with out.progress("prior", "estimators") as bar:
            report = estimate_priors(
                rows.X,
                labelled,
                names,
                replicates=replicates,
                confidence=confidence,
                random_state=where.seed,
                progress=bar,
                groups=rows.groups,
            )
    except ValueError as error:
        raise UsageError(f"{rows.title}: {error}") from error
    document = {
        "data": rows.about,
        "labelled": int(labelled.sum()),
        "unlabeled": int((~labelled).sum()),
        "estimates": [estimate._asdict() for estimate in report.estimates],
        "disagreement": report.disagreement,
        "reliable": report.reliable,
    }
    # the unlabeled rows of the test set are a sample of the same population
    truth = None
    if rows.y_test is not None and rows.about.get("scenario") == "case-control":
        truth = float((rows.y_test == 1).mean())
        document["share_in_test_set"] = truth
    most = rows_of_each_kind(rows.X.shape[1]) if names[0] in ENSEMBLE_METHODS else LARGEST_SAMPLE
    sampled = [min(int(kind.sum()), most) for kind in (labelled, ~labelled)]
    document["labelled_used"], document["unlabeled_used"] = sampled
    out.document(document)
    if sum(sampled) < len(labelled):
        out.remark(
            f"{names[0]} is estimated on {sampled[0]} labelled and {sampled[1]} unlabeled rows, drawn at random; the "
            "intervals count the error of the draw"
        )
    unlabeled = f"share of positives among the {many(int((~labelled).sum()), 'unlabeled row')} of {rows.title}"
    _print(out, unlabeled, report, confidence, replicates, truth)
    out.remark(LIMITS if verbose else SHORT_LIMITS)


def _print(
    out: Output, meaning: str, report: PriorReport, confidence: float, replicates: int, truth: float | None
) -> None:
    """Print the estimates and advice on their use."""
    from pucli.solvers.prior.estimate import FOLD, LARGEST_DISAGREEMENT

    first = report.estimates[0]
    level = f"{100 * confidence:g} % interval"
    if len(report.estimates) == 1:
        interval = "no interval" if math.isnan(first.low) else f"{level} {number(first.low)} to {number(first.high)}"
        out.fields([("class prior", f"{number(first.prior)} ({interval})"), ("", meaning), ("estimator", first.method)])
    else:
        out.text(f"class prior: {meaning}")
        rows = [[e.method, e.prior, f"{number(e.low)} to {number(e.high)}"] for e in report.estimates]
        out.table(["estimator", "class prior", level], rows)
    if truth is not None:
        out.text(f"true share in the test set: {number(truth, 3)}")
    differ = report.disagreement > LARGEST_DISAGREEMENT
    if report.reliable:
        if first.high > FOLD * first.low:
            out.warn(
                f"these rows do not determine the class prior: anything from {number(first.low, 2)} to "
                f"{number(first.high, 2)} fits. If you use it (--param prior={number(first.prior, 3)}), see what both "
                "ends give."
            )
        else:
            out.remark(f"to use it: --param prior={number(first.prior, 3)}")
        return
    way_out = "Label more positives, give the class prior if it is known, or use a method that needs none."
    if first.narrow:
        out.warn(
            f"the estimators differ by {number(report.disagreement, 2)}: at least one of them is wrong, and the "
            f"data cannot reveal which. {way_out}"
        )
        return
    reason = f"the interval of {first.method} is wide"
    if replicates == 0:
        reason = "without replicates there is no interval"
    also = f" and the estimators differ by {number(report.disagreement, 2)}" if differ else ""
    out.warn(f"these rows do not determine the class prior: {reason}{also}. {way_out}")
