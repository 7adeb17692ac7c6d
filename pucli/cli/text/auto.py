"""Text output of ``pucli auto``: at most `LINES` lines of `WIDTH` characters."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pucli.cli.output import Output
from pucli.cli.terminal import filled, number, percent, percents, print_error
from pucli.cli.text.items import INDENT, WIDTH, item
from pucli.cli.text.next_steps import next_steps, written_files
from pucli.cli.threshold_options import unknown_prior
from pucli.core.errors import shell_word

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.rows.training_rows import TrainingRows
    from pucli.models.auto import Ranking
    from pucli.models.auto.summary import AutoAnswer, Findings

LINES = 22
# Rows shown, warnings shown, and lines that they may take together if there are several.
LIKELIEST, WARNINGS, WARNING_LINES = 5, 2, 5
# Rows shown where positives are rare, and the first rows by score of which it is said how many positives they hold.
FEWER_LIKELIEST, FIRST_ROWS = 3, 200
# A smaller share of rows that differ is worth a note.
FEW_KINDS = 0.1
LONGEST_MARK = 24


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
    lines = [
        *item("learned from", _learned_from(title, answer, None if ranking is None else ranking.rows)),
        *_first(answer),
        *item("called", _called(found, answer)),
        *_estimates(found, answer),
        *_likeliest(None if ranking is None else ranking.scored, found, FEWER_LIKELIEST if answer.first else LIKELIEST),
    ]
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
    room = LINES - len(lines) - sum(len(filled(text, WIDTH)) for text in warned) - len(written)
    for line in lines:
        out.text(line)
    if not out.as_json:
        for text in warned:
            print_error(text)
    following: list[str] = []
    for text in next_steps(answer, verbose):
        one = item("" if following else "next", text)
        if len(following) + len(one) <= room:
            following += one
    for line in (*following, *written):
        out.text(line)


def _learned_from(title: str, answer: AutoAnswer, rows: TrainingRows | None) -> str:
    positive, found_ids = "", tuple[str, ...]()
    if rows is not None:
        title = rows.title.rpartition(", label column ")[0] or rows.title
        positive, found_ids = f"{rows.label_column} = {rows.words['1']}", rows.found_ids
    known = answer.known_negatives
    negative = f", {known:,} known negative ({answer.negatives})" if known else ""
    marked = f"{answer.labeled:,} labeled{f' ({positive})' if positive else ''}"
    names = textwrap.shorten(" and ".join(found_ids), 2 * LONGEST_MARK, placeholder=" ...")
    only_name = f"; {names} only name{'s' * (len(found_ids) == 1)} the rows" if found_ids else ""
    return f"{title}: {answer.rows:,} rows, {marked}, {answer.unlabeled:,} unlabeled{negative}{only_name}"


def _first(answer: AutoAnswer) -> list[str]:
    """Return how many positives the first rows hold, if positives are rare."""
    of = [first for first in answer.first if first.rows <= FIRST_ROWS]
    if not of:
        return []
    first = of[-1]
    about, low, high = (f"{getattr(first.positives, end):,.0f}" for end in ("value", "low", "high"))
    lift, least, most = (number(getattr(first.lift, end), 2) for end in ("value", "low", "high"))
    also = ", labeled ones included," if answer.scenario != "case-control" else ""
    return item(
        f"top {first.rows}",
        f"about {about} positive{'s' * (about != '1')} among the {first.rows} likeliest rows{also} ({low} to "
        f"{high}), {lift} times as many as among random rows ({least} to {most})",
    )


def _called(found: Findings, answer: AutoAnswer) -> str:
    if answer.threshold.goal == "top" and answer.scenario == "case-control":
        called = answer.called_positive
        return f"the {f'{called:,} ' * (called != 1)}likeliest of {answer.unlabeled:,} unlabeled rows"
    return f"{answer.called_positive:,} of {answer.unlabeled:,} unlabeled rows positive, {found.goal}"


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


def _estimates(found: Findings, answer: AutoAnswer) -> list[str]:
    """Return the lines of recall, lift, precision and number of positives, and what they rest on."""
    estimates, whole = answer.estimates, answer.scenario != "case-control"
    recall, precision, prior = (estimates.recall, estimates.precision, estimates.prior)
    why = why_unknown(answer)
    contradicted = why == "cannot be told" and not answer.sound
    reason = "labels do not look random" if contradicted else why.removeprefix("no: ")
    cannot = "cannot be told from these rows" if reason == why else f"cannot be told: {reason}"
    also = ", labeled ones included" if whole else ""
    sound = answer.sound and answer.ranks

    def between(low: float, high: float) -> str:
        return percents(low if low >= 0.001 else 0.0, high)

    finds = lift = called = positives = cannot
    if sound:
        finds = f"{cannot}: anything from {between(recall.low, recall.high)}"
        ends = between(precision.low, precision.high)
        called = f"cannot be told: perhaps {percent(precision.value)} %, anything from {ends}{also}"
    if sound and answer.labeling == "scar":  # with a model of the labels the value was mostly too high
        ends = between(recall.low, recall.high)
        biased = estimates.recall_odds_2
        ends += f"; if biased, {between(biased.low, biased.high)}" if biased is not None else ""
        finds = f"{percent(recall.value)} % of {'all' if whole else 'the hidden'} positives ({ends})"
        times = estimates.lift
        if times is not None:
            value, low, high = (number(one, 3) for one in (times.value, times.low, times.high))
            lift = f"{value} times as many positives as among random rows ({low} to {high})"
    if precision.known:
        ends = between(precision.low, precision.high)
        called = f"{percent(precision.value)} % of the called rows are positive ({ends}){also}"
    count = answer.rows if whole else answer.unlabeled
    fewest, most = math.floor(prior.low * count), math.ceil(prior.high * count)
    of = f"of {count:,} {'rows' if whole else 'unlabeled rows'}"
    if sound:
        perhaps = round(prior.value * count)
        positives = f"cannot be told: perhaps {perhaps:,}, anything from {fewest:,} to {most:,} {of}{also}"
    if prior.known:
        positives = f"{round(prior.value * count):,} {of} ({fewest:,} to {most:,}){also}"
    if answer.expected is not None:
        positives = f"{answer.expected:,} of {answer.unlabeled:,} unlabeled rows, as given by --expected"
    if {finds, lift, called, positives} == {cannot}:
        return item("estimates", f"finds, lift, precision and positives {cannot}")
    if not estimates.share.value:
        finds, lift, called = "nothing: no row is called", "", ""
    pairs = (("finds", finds), ("lift", lift), ("precision", called), ("positives", positives))
    lines = [line for name, text in pairs if text for line in item(name, text)]
    rests_on = _rests_on(answer)
    return [*lines, *(item("", rests_on) if rests_on else [])]


def _rests_on(answer: AutoAnswer) -> str:
    """Return what the estimates rest on, in one sentence or two."""
    if answer.labeling == "sar":
        return (
            "90 % intervals; they hold only if labels were given by how clearly a row is positive, which the data "
            "cannot reveal."
        )
    if not answer.sound:
        return ""
    verdict = answer.random_labeling.verdict
    test = f"{verdict[0].upper()}{verdict[1:]}{'' if verdict.endswith('?') else '.'}"
    if answer.expected is not None:
        return f"90 % intervals, if --expected is right and rows were labeled at random. {test}"
    if prior_is_given(answer):
        return f"90 % intervals, if positives and negatives were labeled at random. {test}"
    return (
        "90 % intervals, if the labeled rows are a random sample of the positives; precision and positives also need "
        f"nearly all top rows to be positive. {test}"
    )


def _chance(row: Mapping[Any, Any]) -> str:
    """Return the probability in words, with its range unless that is the same to two places, as with a known prior."""
    value, low, high = (f"{row[name]:.2f}" for name in ("probability", "probability_low", "probability_high"))
    return f"probability {value}" if low == high else f"probability {value} ({low} to {high})"


def _likeliest(rows: pd.DataFrame | None, found: Findings, most: int) -> list[str]:
    """Return a line for each of the `most` likeliest unlabeled rows."""
    if rows is None:
        return []
    known, ranks = found.known["prior"], not (found.leaks or found.repeated) and found.model.ranks_
    own = list(rows.columns[: list(rows.columns).index("labeled")])
    shown = own[1:] or own
    first = rows[rows["labeled"] == 0].head(most).to_dict("records")
    chances = [_chance(row) for row in first]
    if not known or len({*chances}) == 1 < len(first):  # each has nearly the same range
        named = "; ".join(_identifiers(row, shown) for row in first)
        if len(shown) == 1:
            named = f"{shown[0]} {', '.join(_mark(row[shown[0]]) for row in first)}"
        if known:
            return item("likeliest", f"{named}: {chances[0]} each")
        return item("likeliest", f"{named} (probabilities cannot be told, the order can)" if ranks else named)
    lines: list[str] = []
    for row, chance in zip(first, chances, strict=True):
        marks = _cut_to(_identifiers(row, shown), WIDTH - INDENT - len(chance) - 2)
        lines.append(f"{'' if lines else 'likeliest':<{INDENT}}{marks}: {chance}")
    return lines


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
            "labeled rows rank far above nearly all others: clear positives were probably labeled first; prior, "
            f"threshold and probabilities allow for it, and the interval of the recall for {ODDS_RATIO:g}-fold odds of "
            "being labeled"
        )
    if answer.labeling == "scar" and not (found.leaks or found.repeated or test.random):
        grave.append(
            f"random labeling is unlikely (p = {test.p_value:.2g}; most different: "
            f"{textwrap.shorten(str(test.differs_most), LONGEST_MARK, placeholder='...')}); if clear positives were "
            "labeled first, add --labeling sar"
        )
    if not found.model.ranks_:
        grave.append("the order of the rows could be chance; label more rows or add columns")
    for text in out.held or []:
        if text in found.leaks or (found.repeated and text.startswith(found.repeated)):
            continue
        if text.startswith("AutoPU may be useless") and not found.model.ranks_:  # said above
            continue
        if text == of_prior:
            later.append(
                "probabilities rest on a class prior that is anything from "
                f"{percents(prior.low, prior.high)}; use their order only, or label more rows"
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
        "and shares of predicted positives can be far from what was asked for"
    ]
