"""A comparison as a page for a browser, and as LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from pucli.metrics import get_metric
from pucli.models.compare.run import ComparisonScores
from pucli.models.compare.verdict import ComparisonVerdict, p_text
from pucli.report.formats.latex import escape
from pucli.report.formats.markdown import with_sd
from pucli.report.site.render import render
from pucli.report.tables.samples import sample


def lines_of(
    scores: ComparisonScores, text: Callable[[float, float], str] | None = None
) -> list[tuple[str, list[tuple[float, str]]]]:
    """Return name, and mean and text of each method, for each task; without a mean, the text is a dash.

    `text` writes a mean and a standard deviation, by default in the digits of the metric, and "" for NaN; the published
    mean follows in brackets if there is one.
    """
    text = text or partial(with_sd, metric=scores.metric)
    found = []
    for task, values in zip(scores.tasks, scores.values, strict=True):
        cells = []
        for name, row in zip(scores.methods, values, strict=True):
            of, printed = sample(row[np.isfinite(row)].tolist()), text(scores.printed.get((task, name), np.nan), np.nan)
            cells.append((of.mean, (text(of.mean, of.sd) or "–") + f" ({printed})" * bool(printed)))
        found.append((task, cells))
    return found


def comparison_page(scores: ComparisonScores, judgment: ComparisonVerdict, made: Sequence[str]) -> str:
    """Return the page; it needs no network and no other file."""
    names = " and ".join(scores.methods) if len(scores.methods) < 4 else f"{len(scores.methods)} methods"
    return render(
        "compare.html",
        standalone=True,
        comparison=True,
        title=f"{names} compared",
        judgment=judgment,
        heading=get_metric(scores.metric).heading,
        repeats=scores.values.shape[2],
        first="Data set" if len(scores.tasks) > 1 else "Table",
        methods=scores.methods,
        lines=[(name, [text for _, text in cells]) for name, cells in lines_of(scores)],
        p_text=p_text,
        made=made,
    )


def comparison_latex(scores: ComparisonScores, judgment: ComparisonVerdict, made: Sequence[str], name: str) -> str:
    r"""Return the table for \input, with the label tab:`name`; the best mean of a line is bold."""
    better = get_metric(scores.metric).better
    rows = []
    for task, cells in lines_of(scores):
        means = [mean for mean, _ in cells]
        best = (np.nanmax if better == "higher" else np.nanmin)(means) if np.isfinite(means).any() else math.nan
        texts = [text.replace("±", "$\\pm$").replace("–", "--") for _, text in cells]
        texts = [f"\\textbf{{{text}}}" if mean == best else text for text, mean in zip(texts, means, strict=True)]
        rows.append(" & ".join([escape(task), *texts]) + r" \\")
    if judgment.ranking is not None:
        ranks = [f"{rank:.2f}" for rank in judgment.ranking.ranks]
        rows.append("\\midrule average rank & " + " & ".join(ranks) + r" \\")
    heading, label = get_metric(scores.metric).heading, re.sub("[^A-Za-z0-9.-]", "-", name)
    caption = escape(f"{heading}, mean and standard deviation over {scores.values.shape[2]} splits.")
    lines = [
        "% Needs \\usepackage{booktabs}.",
        *(f"% {' '.join(line.split())}" for line in (*judgment.verdict, f"{judgment.test}; {'; '.join(made)}")),
        "\\begin{table}\\centering",
        f"\\caption{{{caption}}}\\label{{tab:{label}}}",
        f"\\begin{{tabular}}{{l{'r' * len(scores.methods)}}}",
        "\\toprule & " + " & ".join(map(escape, scores.methods)) + r" \\ \midrule",
        *rows,
        "\\bottomrule",
        "\\end{tabular}\\end{table}",
    ]
    return "\n".join(lines) + "\n"
