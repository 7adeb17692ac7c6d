"""Text output of ``pucli auto --verbose``: all estimates, what they rest on, and the members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pucli.cli.output import Output
from pucli.cli.terminal import duration, filled, many, number
from pucli.cli.text.auto import few_kinds, prior_is_given, why_unknown
from pucli.cli.text.items import WIDTH, item
from pucli.cli.text.sensitivity import if_odds, if_prior

if TYPE_CHECKING:
    from pucli.models.auto.summary import AutoAnswer

# A smaller estimate is shown as 0.
LEAST = 1e-6
# Estimates whose names say too little.
TERMS = {
    "prior": "class prior",
    "share": "share flagged",
    "recall_odds_2": "recall, odds of 2",
    "new_share": "share of new rows",
    "new_recall": "recall of new rows",
    "new_lift": "lift of new rows",
}


def print_whole(out: Output, answer: AutoAnswer) -> None:
    """Print what the short answer leaves out: the limits of the estimates, all of them, and the members."""
    for note in (*answer.notes, *few_kinds(answer)):
        out.remark(f"note: {note}")
    out.text()
    for name, text in (
        ("duplicates", _duplicates(answer.duplicate_rows)),
        ("threshold", answer.threshold.why),
        ("precision", _precision_in_full(answer)),
        ("class prior", if_prior(answer.if_prior)),
        ("if biased", if_odds(answer.if_odds)),
        ("labels", f"random? {_labeling(answer)}"),
        ("time", f"{duration(answer.seconds)} of training"),
    ):
        for line in item(name, text) if text else []:
            out.text(line)
    out.text()
    scar = answer.labeling == "scar"
    rests = dict.fromkeys(
        vars(answer.estimates),
        "if nearly all top rows are positive" if scar else "if clear positives were labeled first",
    )
    rests |= dict.fromkeys(("share", "new_share"), "")
    if scar and prior_is_given(answer):
        rests |= dict.fromkeys(("precision", "f1", "auc"), "if labeled at random")
        rests["prior"] = "if negatives are random" if answer.expected is None else "given by --expected"
    if scar:
        rests |= dict.fromkeys(("recall", "new_recall", "lift", "new_lift"), "if labeled at random")
        rests["recall_odds_2"] = "if some were labeled twice as readily"
    unknown = why_unknown(answer)
    estimates = [
        [
            TERMS.get(name, name),
            *(number(end, 3) if end >= LEAST else "0" for end in (found.value, found.low, found.high)),
            rests[name] if found.known else unknown,
        ]
        for name, found in vars(answer.estimates).items()
        if found is not None
    ]
    out.table(["estimate", "value", "from", "to (90%)", "holds"], estimates)
    out.text()
    for line in filled(_limits(answer), WIDTH):
        out.text(line)
    out.text()
    board = [[line["name"], *(number(line[key], 3) for key in ("pu_auc", "auc", "f1"))] for line in answer.leaderboard]
    out.table(["model", "PU-AUC", "AUC", "F1"], board)
    loose = [words for name, words in (("auc", "AUC"), ("f1", "F1")) if not getattr(answer.estimates, name).known]
    if loose:
        out.text(f"{' and '.join(loose)} of the models cannot be told.")
    if answer.expected is not None:
        out.text("This AUC and F1 rest on the estimated class prior, not on --expected.")


def _duplicates(count: int | None) -> str:
    """Return how many rows are duplicates; "" where it is unknown, as of blocks."""
    return "" if count is None else many(count, "duplicate row") if count else "no duplicate rows"


def _limits(answer: AutoAnswer) -> str:
    """Return the limits of the estimates in full."""
    if answer.labeling != "scar":
        return (
            "The estimates hold only if the labeled rows were chosen by how clearly they are positive. Recall and "
            "AUC were mostly too high even then (benchmark `labeling`)."
        )
    few = f"With {answer.labeled} labeled rows, the class prior may also be too low. "
    rests = (
        " Class prior, precision, F1 and AUC also require that nearly all rows with the highest scores are positive. "
        "If even these are mixed, or the classes overlap, they are too high; if most rows are positive, the class "
        f"prior is too low. The data cannot reveal this. {few if answer.few_labeled else ''}"
    )
    if prior_is_given(answer):
        sample = "the known negatives are a random sample of the negatives"
        other = sample if answer.expected is None else "--expected is right"
        rests = f" Class prior, precision, F1 and AUC also require that {other}. The data cannot reveal this. "
    return (
        f"The estimates hold only if the labeled rows are a random sample of the positives.{rests}"
        "The class prior is the share of positives among "
        f"{'the unlabeled' if answer.scenario == 'case-control' else 'all'} rows. The share is that of training "
        "rows above the threshold, by models trained without them. Intervals are for these rows, unless they are "
        "said to be for new rows of the same kind."
    )


def _labeling(answer: AutoAnswer) -> str:
    """Return the verdict on random labeling, with the columns that speak against it."""
    test = answer.random_labeling
    named = ", ".join(f"{one.column} ({one.difference:+.1f} standard errors)" for one in test.differing)
    if not named or answer.labeling != "scar" or answer.leaks or answer.repeated:
        return test.verdict
    return f"{test.verdict}; labeled rows differ from unlabeled rows ranked like them in {named}"


def _precision_in_full(answer: AutoAnswer) -> str:
    """Return what the precision means for the flagged unlabeled rows, where it counts labeled ones, too."""
    if answer.scenario == "case-control" or not answer.estimates.precision.known:
        return ""
    return "unlabeled rows are positive less often than the precision says: it counts the labeled rows, too"
