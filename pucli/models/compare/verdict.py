"""Tests, ranks, and the verdict on whether the methods differ.

On one table the repeats overlap and are no independent sample: the corrected resampled t-test (Nadeau and Bengio 2003)
compares two methods. Over several data sets, the data sets are the sample: Wilcoxon's signed-rank test compares two
methods, Friedman's test and Nemenyi's critical difference more of them (Demsar 2006). Holm's method adjusts the
p-values of several pairs. If both methods may be no better than chance, the verdict calls neither better.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from pucli.core.arrays import Floats
from pucli.core.json_values import OrNaN
from pucli.metrics import MethodRanking, corrected_resampled_t, get_metric, holm_adjusted, wilcoxon_paired
from pucli.models.compare.run import ComparisonScores

LEVEL = 0.05


@dataclass(frozen=True)
class PairVerdict:
    """Two methods: on how many blocks (data sets, or splits of one table) the first is better, and how sure.

    `difference` is the mean of the first less that of the second, in the unit of the metric; `p` is adjusted for the
    number of pairs. `of_use` is False if both may be no better than chance; `differ` says whether
    the methods differ significantly and one is better than chance.
    """

    a: str
    b: str
    wins: int
    ties: int
    losses: int
    difference: OrNaN
    p: OrNaN
    of_use: bool
    differ: bool


@dataclass(frozen=True)
class ComparisonVerdict:
    """Verdict on all methods, from their scores.

    Parameters
    ----------
    blocks : str
        "data sets", or "splits" of one table.
    test : str
        Name of the test between two methods.
    pairs : list of PairVerdict
        Verdict on each pair of methods.
    ranking : MethodRanking or None
        Average ranks over data sets, with Friedman's test of three or more methods.
    verdict : list of str
        Sentences for the user.
    """

    blocks: str
    test: str
    pairs: list[PairVerdict]
    ranking: MethodRanking | None
    verdict: list[str]


@dataclass(frozen=True)
class Values:
    """The metric of each method on each split of a data set, in the unit of the metric, and its published mean."""

    data: str
    values: dict[str, list[OrNaN]]
    printed: dict[str, OrNaN]


@dataclass(frozen=True)
class CompareAnswer(ComparisonVerdict):
    """Methods on the same splits, and how these were made."""

    metric: str
    methods: list[str]
    scores: list[Values]
    made: list[str]


def judge(scores: ComparisonScores) -> ComparisonVerdict:
    """Return tests and verdict of a comparison; splits or data sets on which a method failed are left out."""
    sign = 1.0 if get_metric(scores.metric).better == "higher" else -1.0
    several = len(scores.tasks) > 1
    if several:
        with np.errstate(all="ignore"):
            blocks = np.nanmean(np.where(np.isfinite(scores.values), scores.values, np.nan), axis=2)
    else:
        blocks = scores.values[0].T
    pairs = _pairs(scores, blocks, sign, several)
    ranking = MethodRanking.of(blocks, scores.methods, scores.metric, blocks="data sets") if several else None
    name = "Wilcoxon signed-rank test" if several else "corrected resampled t-test"
    found = ComparisonVerdict("data sets" if several else "splits", name, pairs, ranking, [])
    found.verdict.extend(_words(scores, found))
    return found


def _pairs(scores: ComparisonScores, blocks: Floats, sign: float, several: bool) -> list[PairVerdict]:
    """Return the tests of all pairs; `blocks` (n, methods) are means of data sets, or values of splits."""
    column = dict(zip(scores.methods, blocks.T, strict=True))
    pairs = [pair for pair in itertools.combinations(column, 2) if not scores.own or {*pair} & {*scores.own}]
    tests = [wilcoxon_paired(sign * column[a], sign * column[b]) for a, b in pairs]
    p_values = [test.p for test in tests]
    if not several:
        p_values = [corrected_resampled_t(column[a] - column[b], scores.test_shares[0]) for a, b in pairs]
    found = []
    for (a, b), test, p in zip(pairs, tests, holm_adjusted(p_values), strict=True):
        gain, of_use = sign * test.mean_difference, not {a, b} <= set(scores.useless)
        found.append(PairVerdict(a, b, test.wins, test.ties, test.losses, gain, float(p), of_use, of_use and p < LEVEL))
    return found


def _words(scores: ComparisonScores, found: ComparisonVerdict) -> list[str]:
    """Return the verdict as sentences, one or two for each finding."""
    if len(scores.useless) == len(scores.methods):
        none = f"Neither {scores.methods[0]} nor {scores.methods[1]}" if len(scores.methods) == 2 else "No method"
        return [f"{none} is shown to be better than chance, so none is called better; see the warnings."]
    if len(scores.methods) == 2:
        return [_pair_words(found.pairs[0], found, scores.metric)]
    lines = []
    if scores.useless:
        lines.append(f"Perhaps no better than chance, so not compared with each other: {', '.join(scores.useless)}.")
    if found.ranking is not None and math.isfinite(found.ranking.p):
        lines.append(_friedman_words(found.ranking))
    differing = [pair for pair in found.pairs if pair.differ]
    lines += [_pair_words(pair, found, scores.metric) for pair in differing]
    rest = sum(pair.of_use for pair in found.pairs) - len(differing)
    if rest:
        which = f"the other {rest} pair{'s' * (rest != 1)}" if differing else "all pairs"
        lines.append(
            f"The differences of {which} could be chance ({found.test}, adjusted for {len(found.pairs)} pairs)."
            + _too_few(len(scores.tasks), found)
        )
    return lines


def _pair_words(pair: PairVerdict, found: ComparisonVerdict, metric: str) -> str:
    a, b, wins, gain = pair.a, pair.b, pair.wins, get_metric(metric).gain(pair.difference)
    if pair.losses > pair.wins or (pair.losses == pair.wins and gain < 0):
        a, b, wins, gain = b, a, pair.losses, -gain
    of = pair.wins + pair.ties + pair.losses
    if pair.ties == of:
        return f"{a} and {b} are equal on all {of} {found.blocks}."
    ties = f" ({pair.ties} equal)" if pair.ties else ""
    head = f"{a} is better than {b} on {wins} of {of} {found.blocks}{ties}"
    head += f", by {gain:.2f} on average" if gain >= 0 else f", though {b} is by {-gain:.2f} on average"
    if math.isnan(pair.p):
        return f"{head}; too few {found.blocks} for a test."
    if pair.differ:
        return f"{head}; this is more than chance ({_p(pair.p)})."
    return f"{head}; this could be chance ({_p(pair.p)}).{_too_few(of, found)}"


def _too_few(blocks: int, found: ComparisonVerdict) -> str:
    """Return a sentence, after a blank, if even the least p of the signed-rank test of all pairs is no evidence."""
    least = min(1.0, len(found.pairs) * 2.0 ** (1 - blocks))
    if found.blocks != "data sets" or least < LEVEL:
        return ""
    test = "test of a pair" if len(found.pairs) > 1 else "test"
    return f" With {blocks} data sets, no {test} can find a difference: p is at least {p_text(least)}."


def _friedman_words(ranking: MethodRanking) -> str:
    best, ranks = min(ranking.ranks), list(zip(ranking.columns, ranking.ranks, strict=True))
    ahead = " and ".join(name for name, rank in ranks if math.isclose(rank, best))
    behind = ", ".join(name for name, rank in ranks if rank - best > ranking.critical_difference)
    test, leads = (
        f"(Friedman's test over {ranking.n} data sets, {_p(ranking.p)})",
        f"best average rank: {ahead} ({best:.2f})",
    )
    if ranking.p >= LEVEL:
        return f"The differences of the {len(ranks)} methods could be chance {test}; {leads}."
    differs = f"it differs from {behind}" if behind else "it could be equal to each of the others"
    return f"The methods differ {test}; {leads}; by Nemenyi's test {differs}."


def _p(p: float) -> str:
    """Return a p-value with its sign: p = .31, p < .001."""
    return "p " + ("" if p < 0.001 else "= ") + p_text(p)


def p_text(p: float) -> str:
    """Return a p-value as papers print it: .31, .049, < .001."""
    if math.isnan(p):
        return "–"
    if p < 0.001:
        return "< .001"
    text = f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
    return text.removeprefix("0")
