"""``pucli prior``: estimate the class prior, the share of positives among unlabeled rows, with an interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from pucli.cli import completion
from pucli.cli import options as opt
from pucli.cli.output import Output
from pucli.cli.row_options import RowOptions
from pucli.cli.terminal import many, number, percent, span
from pucli.core.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    from pucli.models.class_prior import GivenPrior, Priors
    from pucli.solvers.prior.estimate import PriorReport

ESTIMATORS = ("auto", "best-bin", "density-ratio", "bbe", "half-bbe", "km2", "tice", "all")
LIMITS = (
    "holds if labels are random (`pucli auto` tests this, and allows for clear positives labeled first) and some kind "
    "of rows is nearly all positive, which no data can confirm"
)
EXAMPLES = """
pucli prior customers.csv --label bought --positive yes
pucli prior customers.csv --label bought --positive yes --expected 300
pucli prior wifi --label-frequency 0.25
pucli prior wifi --estimator all --replicates 200 --json
"""


def command(
    out: Output,
    where: RowOptions,
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            "-e",
            help="auto, best-bin, density-ratio, bbe, half-bbe, km2, tice, or all of them. By default auto; half-bbe "
            "with a single labeled or unlabeled row, or more than 1,000 features.",
            autocompletion=completion.completer(*ESTIMATORS),
        ),
    ] = None,
    replicates: Annotated[
        int, typer.Option("--replicates", "-r", help="Bootstrap estimates behind the interval.", min=0)
    ] = 50,
    expected: Annotated[
        int | None,
        typer.Option(
            "--expected",
            metavar="N",
            help="Known number of positives among the unlabeled rows: show what follows and whether it fits.",
            min=1,
        ),
    ] = None,
) -> None:
    """Estimate the class prior of unlabeled rows.

    The class prior is the share of positives among the unlabeled rows. `--param prior` takes this share in both
    scenarios; `pucli auto --scenario single-training-set` prints the share among all rows, which is larger.

    The default estimator, auto, uses held-out scores of the ensemble of `pucli auto`, on at most 2,000 labeled and
    2,000 unlabeled rows. It has the smallest error (benchmark `prior`), and methods use it if no class prior is given.
    --estimator all adds the others and takes several times as long: best-bin and density-ratio (from the same scores),
    bbe (as published, on scores of kernel ridge regression), half-bbe (half of its confidence term, for wide tables),
    km2 (kernel mean embedding) and tice (tree induction). bbe, km2 and tice are too high where positives and negatives
    overlap. `pucli prior` recommends the value only if its interval is narrow and the estimators agree.

    The estimate holds if the labeled rows are a random sample of the positives and rows of some kind are nearly all
    positive: it is too high if every kind is mixed, too low if most rows are positive. `pucli auto --verbose` shows
    what follows at either end of the interval.
    """
    if estimator is not None:
        opt.choice("estimator", estimator, ESTIMATORS)
    where.check_there()
    from pucli.cli.text.columns import rows_to_learn_from
    from pucli.data.rows.training_rows import FEW_LABELED
    from pucli.models.class_prior import estimate_of
    from pucli.solvers.ensemble.class_prior import ENSEMBLE_METHODS

    why = "`pucli prior` uses labeled positives and unlabeled rows alone"
    rows = rows_to_learn_from(out, "pu", where.source, without_negatives=why)
    labeled = rows.labeled
    unlabeled = int((~labeled).sum())
    if expected is not None and expected >= unlabeled:
        raise UsageError(f"--expected {expected}: must be below the {unlabeled:,} unlabeled rows of {rows.title}.")
    names = _methods(estimator, labeled, rows.X.shape[1])
    if labeled.sum() < FEW_LABELED:
        out.warn(f"with {many(int(labeled.sum()), 'labeled row')} the estimates are little more than guesses.")
    if expected is not None and names[0] not in ENSEMBLE_METHODS:
        raise UsageError(f"--expected needs the scores of auto, and {names[0]} has none; leave out one of the two.")
    try:
        with out.progress("prior", "estimators") as bar:
            found = estimate_of(rows, names, replicates, expected, where.seed, bar)
    except ValueError as error:
        raise UsageError(f"{rows.title}: {error}") from error
    answer, report = found.answer, found.report
    out.document(answer)
    if answer.labeled_used + answer.unlabeled_used < len(labeled):
        out.remark(
            f"{names[0]} is estimated on {answer.labeled_used:,} labeled and {answer.unlabeled_used:,} unlabeled "
            "rows, drawn at random, where `pucli auto` takes all; the intervals count the error of the draw"
        )
    meaning = f"share of positives among the {many(unlabeled, 'unlabeled row')} of {rows.title}"
    _print(out, meaning, answer)
    if answer.given is None:
        _advise(out, report, replicates)
    else:
        _print_expected(out, answer, answer.given)
    out.remark(LIMITS)


def _methods(estimator: str | None, labeled: np.ndarray, features: int) -> tuple[str, ...]:
    """Return the names of the estimators, the first of which is recommended."""
    from pucli.solvers.ensemble.class_prior import ALL_METHODS, ENSEMBLE_METHODS, recommended

    if estimator != "all":
        return (estimator or recommended(labeled, features),)
    if min(labeled.sum(), (~labeled).sum()) < 2:  # the ensemble holds rows out
        return tuple(name for name in ALL_METHODS if name not in ENSEMBLE_METHODS)
    return ALL_METHODS


def _print_expected(out: Output, answer: Priors, given: GivenPrior) -> None:
    """Print what follows from a given number of positives, and whether it contradicts the estimate."""
    first, share, unlabeled = answer.estimates[0], number(given.prior, 3), answer.unlabeled
    out.text(
        f"--expected {given.expected:,}: class prior {share}, {given.called:,} of {unlabeled:,} unlabeled rows "
        f"flagged at the threshold for F1, recall {percent(given.recall)}%, precision {percent(given.precision)}%"
    )
    if given.fits is False:
        ends = f"{round(first.low * unlabeled):,} to {round(first.high * unlabeled):,}"
        out.warn(
            f"{given.expected:,} positive{' is' if given.expected == 1 else 's are'} outside the interval of "
            f"{first.method}, {ends}: the number is wrong, "
            "or labels are not random, or no kind of row is nearly all positive."
        )
    out.remark(f"to use it: pucli auto --expected {given.expected}, or --param prior={share}")


def _print(out: Output, meaning: str, answer: Priors) -> None:
    """Print the estimates."""
    from pucli.cli.text.items import item

    first = answer.estimates[0]
    level = "90% interval"
    if len(answer.estimates) == 1:
        interval = "no interval"
        if not math.isnan(first.low):
            interval = f"{level}: {span(first.low, first.high)}"
        named = first.method if first.method == "auto" else f"{first.method}, another than that of `pucli auto`"
        pairs = ("class prior", f"{percent(first.prior)}% ({interval})"), ("", meaning), ("estimator", named)
        for line in (line for name, text in pairs for line in item(name, text)):
            out.text(line)
    else:
        out.text(f"class prior: {meaning}")
        ends = ["-" if math.isnan(e.low) else span(e.low, e.high) for e in answer.estimates]
        rows = [[e.method, f"{percent(e.prior)}%", end] for e, end in zip(answer.estimates, ends, strict=True)]
        out.table(["estimator", "class prior", level], rows)
    if answer.share_in_test_set is not None:
        out.text(f"true share in the test set: {percent(answer.share_in_test_set)}%")


def _advise(out: Output, report: PriorReport, replicates: int) -> None:
    """Print advice on the use of the estimates."""
    from pucli.solvers.prior.estimate import LARGEST_DISAGREEMENT

    first = report.estimates[0]
    if limit := _chance(report):
        out.warn(
            f"labeled rows hardly rank above unlabeled ones (PU-AUC up to {limit:.2f} may be chance), so that this "
            "class prior may mean nothing. Label more rows, or add columns that tell positives from the rest."
        )
        return
    if report.reliable:
        out.remark(f"to use it: --param prior={number(first.prior, 3)}")
        return
    way_out = "Label more positives, give the class prior if it is known, or use a method that needs none."
    differ = report.disagreement > LARGEST_DISAGREEMENT
    if first.narrow and differ:
        out.warn(
            f"the estimators differ by {number(report.disagreement, 2)}: at least one of them is wrong, and the "
            f"data cannot reveal which. {way_out}"
        )
        return
    if first.narrow:
        out.warn(
            f"the class prior is between {span(first.low, first.high, 'and')}; check rows (`pucli review --for prior`) "
            f"to know. If you use it (--param prior={number(first.prior, 3)}), try both ends."
        )
        return
    reason = f"the interval of {first.method} is wide"
    if replicates == 0:
        reason = "without replicates there is no interval"
    also = f" and the estimators differ by {number(report.disagreement, 2)}" if differ else ""
    out.warn(f"the class prior cannot be told from these rows: {reason}{also}. {way_out}")


def _chance(report: PriorReport) -> float:
    """Return the PU-AUC that may be chance, if held-out labeled rows rank no higher; 0 if they do or it is unknown."""
    from pucli.metrics.ranking import auc, chance_limit

    if report.held_out is None:
        return 0.0
    positive, population = report.held_out
    limit = chance_limit(len(positive), len(population))
    return limit if float(auc(positive, population)) <= limit else 0.0
