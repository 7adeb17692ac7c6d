"""Text output of ``pucli auto``: at most `LINES` lines of `WIDTH` characters."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pucli.cli.output import Output
from pucli.cli.terminal import filled, number, percent, print_error, span
from pucli.cli.text.items import INDENT, WIDTH, item
from pucli.cli.text.next_steps import CHECKED, next_steps, written_files
from pucli.cli.threshold_options import unknown_prior
from pucli.core.errors import shell_word

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.rows.training_rows import TrainingRows
    from pucli.models.auto import Ranking
    from pucli.models.auto.summary import AutoAnswer, Findings

# Lines, warnings among them; rows named, warnings shown, and lines that they may take together if there are several.
LINES = 14
TOP_ROWS, WARNINGS, WARNING_LINES = 5, 2, 4
# The first rows by score of which it is said how many positives they hold, where positives are rare.
FIRST_ROWS = 200
# Items that are left out first if there are too many lines; `--verbose` shows them.
LEFT_OUT = ("lift", "positives", "precision", "top rows")
# A smaller share of rows that differ is worth a note.
FEW_KINDS = 0.1
LONGEST_MARK = 24
# Columns named in which labeled rows differ.
NAMED = 3


def print_short(
    out: Output,
    title: str,
    found: Findings,
    answer: AutoAnswer,
    ranking: Ranking | None,
    *,
    verbose: bool = False,
) -> None:
    """Print the answer, what it rests on, and what to do next."""
    items = {
        "learned from": _learned_from(title, answer, None if ranking is None else ranking.rows),
        "flagged": _flagged(found, answer),
        **_estimates(found, answer),
        "top rows": _top_rows(None if ranking is None else ranking.scored),
    }
    concerns = _concerns(out, found, answer)
    if not verbose:  # which prints them below
        concerns += [*answer.notes, *few_kinds(answer)]
    shown = WARNINGS
    while shown > 1 and sum(len(filled(f"warning: {text}", WIDTH)) for text in concerns[:shown]) > WARNING_LINES:
        shown -= 1  # a long warning is printed whole, and the others later
    warned = [f"warning: {text}" for text in concerns[:shown]]
    if (more := len(concerns) - shown) > 0:
        warned.append(f"{more} more {'warnings or notes' if more > 1 else 'warning or note'}: add --verbose")
    written = item("written", ", ".join(written_files(answer))) if any(written_files(answer)) else []
    most = 10 * LINES if verbose else LINES
    room = most - sum(len(filled(text, WIDTH)) for text in warned) - len(written)
    lines = _shortened(items, room)
    for line in lines:
        out.text(line)
    if not out.as_json:
        for text in warned:
            print_error(text)
    following: list[str] = []
    for text in next_steps(answer, verbose):
        one = item("" if following else "next", text)
        if len(lines) + len(following) + len(one) <= room:
            following += one
    for line in (*following, *written):
        out.text(line)


def _shortened(items: Mapping[str, str], room: int) -> list[str]:
    """Return the lines of the items; those that have no room are named."""
    left_out: list[str] = []
    for name in (*LEFT_OUT, ""):
        lines = [line for one, text in items.items() if text and one not in left_out for line in item(one, text)]
        if len(lines) > room - bool(left_out) and items.get(name):
            left_out.append(name)
    return lines + (item("left out", f"{', '.join(left_out)}: add --verbose") if left_out else [])


def _learned_from(title: str, answer: AutoAnswer, rows: TrainingRows | None) -> str:
    positive, found_ids = "", tuple[str, ...]()
    if rows is not None:
        title = rows.title.rpartition(", label column ")[0] or rows.title
        positive, found_ids = rows.positive, rows.found_ids
    known = answer.known_negatives
    negative = f", {known:,} known negative ({answer.negatives})" if known else ""
    marked = f"{answer.labeled:,} labeled{f' ({positive})' if positive else ''}"
    names = textwrap.shorten(" and ".join(found_ids), 2 * LONGEST_MARK, placeholder=" ...")
    only_name = f"; {names} only name{'s' * (len(found_ids) == 1)} the rows" if found_ids else ""
    return f"{title}: {marked} of {answer.rows:,} rows{negative}{only_name}"


def _first(answer: AutoAnswer) -> dict[str, str]:
    """Return how many positives the first rows hold, if positives are rare."""
    of = [first for first in answer.first if first.rows <= FIRST_ROWS]
    if not of:
        return {}
    first = of[-1]
    about, low, high = (f"{getattr(first.positives, end):,.0f}" for end in ("value", "low", "high"))
    lift, least, most = (number(getattr(first.lift, end), 2) for end in ("value", "low", "high"))
    also = ", labeled ones included," if answer.scenario != "case-control" else ""
    text = f"hold about {about} positive{'s' * (about != '1')}{also} ({low} to {high}); lift {lift} ({least} to {most})"
    return {f"top {first.rows}": text}


def _flagged(found: Findings, answer: AutoAnswer) -> str:
    if answer.threshold.goal == "top" and answer.scenario == "case-control":
        flagged = answer.called_positive
        return f"the {f'{flagged:,} ' * (flagged != 1)}most likely of {answer.unlabeled:,} unlabeled rows"
    return f"{answer.called_positive:,} of {answer.unlabeled:,} unlabeled rows{found.goal}"


def prior_is_given(answer: AutoAnswer) -> bool:
    """Return whether --expected or a random sample of negatives gives the class prior."""
    from pucli.solvers.prior.known_negatives import FEWEST

    random = answer.negatives == "random" and answer.known_negatives >= FEWEST
    return answer.expected is not None or random


def why_unknown(answer: AutoAnswer) -> str:
    """Return why an estimate is unknown, in a few words."""
    if answer.leaks:
        return "no: a column leaks the label"
    if answer.repeated:
        return "no: labeled rows are repeated"
    return "cannot be told" if answer.ranks else "no: the order may be chance"


def _estimates(found: Findings, answer: AutoAnswer) -> dict[str, str]:
    """Return recall, lift, precision, number of positives and the ranks of known ones, and what they rest on."""
    estimates, whole = answer.estimates, answer.scenario != "case-control"
    recall, precision, prior = (estimates.recall, estimates.precision, estimates.prior)
    order = {} if answer.chance is None else {"order": answer.chance.words}
    why = why_unknown(answer)
    contradicted = why == "cannot be told" and not answer.sound
    reason = "labels do not look random" if contradicted else why.removeprefix("no: ")
    cannot = "cannot be told from these rows" if reason == why else f"cannot be told: {reason}"
    if not (answer.sound and answer.ranks) and answer.expected is None and not (precision.known or prior.known):
        if few_known(answer):
            cannot = "need more labeled rows"
        return {"estimates": f"recall, lift, precision and positives {cannot}", **order}
    also = ", labeled ones included" if whole else ""
    finds, lift = f"{cannot}: between {span(recall.low, recall.high, 'and')}", cannot
    if answer.labeling == "scar":  # with a model of the labels the value was mostly too high
        biased = "" if estimates.recall_odds_2 is None else f"; if biased, {of_share(estimates.recall_odds_2)}"
        ends = of_share(recall) + biased
        finds = f"about {percent(recall.value)}% of {'all' if whole else 'hidden'} positives ({ends})"
        times = estimates.lift
        if times is not None:
            value, low, high = (number(one, 3) for one in (times.value, times.low, times.high))
            lift = f"{value} times as many positives as among random rows ({low} to {high})"
    ends = span(precision.low, precision.high, "and")
    called = f"between {ends}{also}, perhaps {percent(precision.value)}%; check {CHECKED} rows to know"
    if precision.known:
        called = f"about {percent(precision.value)}% of the flagged rows are positive ({of_share(precision)}){also}"
    count = answer.rows if whole else answer.unlabeled
    fewest, most = math.floor(prior.low * count), math.ceil(prior.high * count)
    perhaps = f", perhaps {round(prior.value * count):,}"
    positives = f"between {fewest:,} and {most:,} of {count:,}{also}{perhaps}"
    if prior.known:
        pure = "" if prior_is_given(answer) or answer.labeling == "sar" else ", if nearly all top rows are positive"
        positives = f"about {round(prior.value * count):,}{also} ({fewest:,} to {most:,}){pure}"
    if answer.expected is not None:
        positives = f"{answer.expected:,} of {answer.unlabeled:,} unlabeled rows, as given by --expected"
    if not estimates.share.value:
        finds, lift, called = "", "", ""
    pairs = {"recall": finds, "lift": lift, "precision": called, "positives": positives}
    return {**_first(answer), **pairs, **order, "labels": _rests_on(answer)}


def few_known(answer: AutoAnswer) -> bool:
    """Return whether there are too few labeled rows for anything but an order."""
    from pucli.estimators.auto.chance import FEWEST

    return answer.labeled < FEWEST


def of_share(estimate: Any) -> str:
    """Return the interval of a share."""
    return span(estimate.low, estimate.high)


def _rests_on(answer: AutoAnswer) -> str:
    """Return what the estimates rest on, in one sentence or two."""
    if answer.labeling == "sar":
        return "90% intervals hold only if clear positives were labeled first, which the data cannot reveal."
    if not answer.sound:
        return ""
    verdict = answer.random_labeling.verdict
    test = f"{verdict[0].upper()}{verdict[1:]}{'' if verdict.endswith('?') else '.'}{differing(answer)}"
    which = "labels"
    if answer.expected is not None:
        which = "--expected is right and labels"
    elif prior_is_given(answer):
        which = "labels of both kinds"
    return f"90% intervals, if {which} are random. {test}"


def differing(answer: AutoAnswer) -> str:
    """Return the columns in which labeled rows differ from unlabeled rows that are ranked like them, as a sentence."""
    named = ", ".join(_cut_to(one.column, LONGEST_MARK) for one in answer.random_labeling.differing[:NAMED])
    return f" Labeled rows differ from unlabeled rows ranked like them in {named}." if named else ""


def _top_rows(rows: pd.DataFrame | None) -> str:
    """Return the identifiers of the most likely unlabeled rows."""
    if rows is None:
        return ""
    own = list(rows.columns[: list(rows.columns).index("labeled")])
    shown = own[1:] or own
    first = rows[rows["labeled"] == 0].head(TOP_ROWS).to_dict("records")
    if len(shown) == 1:
        return f"{shown[0]} {', '.join(_mark(row[shown[0]]) for row in first)}"
    return _cut_to("; ".join(_identifiers(row, shown) for row in first), 2 * (WIDTH - INDENT) - LONGEST_MARK)


def _identifiers(row: Mapping[Hashable, Any], shown: Sequence[str]) -> str:
    """Return the identifiers of a row, or its number."""
    return ", ".join(f"{name} {_mark(row[name])}" for name in shown)


def _mark(cell: Any) -> str:
    import pandas as pd

    if pd.isna(cell):
        return "(empty)"
    return textwrap.shorten(str(cell), LONGEST_MARK, placeholder="...")


def _cut_to(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _concerns(out: Output, found: Findings, answer: AutoAnswer) -> list[str]:
    """Return the warnings, the gravest first, each with what resolves it."""
    from pucli.estimators.auto.chance import p_text

    grave, later = [], []
    prior, test = found.model.estimates_["prior"], answer.random_labeling
    of_prior = unknown_prior(prior, found.model.ranks_)
    if found.leaks:
        named = re.match(r"column '(.*?)' ", found.leaks[0])
        name = named[1] if named else ""
        more = f" and {len(found.leaks) - 1} more" if len(found.leaks) > 1 else ""
        grave.append(
            f"column {name!r}{more} probably gives the label away; leave it out with --drop {shell_word(name)}"
            if named
            else found.leaks[0]
        )
    if found.repeated:
        count = found.repeated.partition(" are equal")[0]
        grave.append(f"{count} are equal to another labeled row, so results are too good; keep one row of each case")
    if found.model.labeling_ != found.model.labeling:
        from pucli.solvers.ensemble.sar import ODDS_RATIO

        grave.append(
            "clear positives were probably labeled first: labeled rows rank far above nearly all others; prior, "
            f"threshold and probabilities allow for it, the interval of the recall for {ODDS_RATIO:g}-fold odds"
        )
    if answer.labeling == "scar" and not (found.leaks or found.repeated or test.random):
        grave.append(
            f"random labeling is unlikely ({p_text(test.p_value)}).{differing(answer)} If clear positives were labeled "
            "first, add --labeling sar"
        )
    if few_known(answer):
        grave.append(f"{answer.labeled} labeled rows give an order, and nothing to judge it by; label more rows")
    elif not found.model.ranks_:
        grave.append("the order of the rows could be chance; label more rows or add columns")
    for text in out.held or []:
        if text in found.leaks or (found.repeated and text.startswith(found.repeated)):
            continue
        useless = text.startswith("AutoPU may be useless") and not found.model.ranks_
        if useless or (few_known(answer) and text.startswith("AutoPU predicts")):  # said above, or no longer so
            continue
        if text == of_prior:
            later.append(
                f"probabilities rest on a class prior between {span(prior.low, prior.high, 'and')}; use the order, or "
                "label more rows"
            )
            continue
        first = "label column" in text or "cannot be guaranteed" in text  # what the labels mean, what was asked in vain
        grave.insert(0 if first else len(grave), text)
    return [*grave, *later]


def few_kinds(answer: AutoAnswer) -> list[str]:
    """Return a note if most rows are duplicates, since a threshold takes all equal rows or none."""
    kinds = answer.rows - (answer.duplicate_rows or 0)
    if kinds > FEW_KINDS * answer.rows:
        return []
    return [
        f"only {kinds:,} of the {answer.rows:,} rows differ; a threshold takes all equal rows or none, so counts "
        "and shares of flagged rows can be far from what was asked for"
    ]
