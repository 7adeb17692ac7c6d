"""A comparison as a page for a browser, and as LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pucli.metrics import get_metric
from pucli.models.compare.run import ComparisonScores
from pucli.models.compare.verdict import ComparisonVerdict, p_text
from pucli.report.formats.latex import escape
from pucli.report.site.render import render


def lines_of(scores: ComparisonScores) -> list[tuple[str, list[tuple[float, float]]]]:
    """Return name and (mean, standard deviation) of each method, for each task."""
    found = []
    for task, values in zip(scores.tasks, scores.values, strict=True):
        cells = []
        for row in values:
            there = row[np.isfinite(row)]
            mean = float(there.mean()) if len(there) else math.nan
            cells.append((mean, float(there.std(ddof=1)) if len(there) > 1 else math.nan))
        found.append((task, cells))
    return found


def _text(mean: float, sd: float, sign: str = "±") -> str:
    """Return a mean and a standard deviation, without which it stands alone; a dash if the mean is NaN."""
    if math.isnan(mean):
        return "–"
    return f"{mean:.2f}" if math.isnan(sd) else f"{mean:.2f} {sign} {sd:.2f}"


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
        lines=[(name, [_text(*cell) for cell in cells]) for name, cells in lines_of(scores)],
        p_text=p_text,
        made=made,
    )


def comparison_latex(scores: ComparisonScores, judgment: ComparisonVerdict, made: Sequence[str]) -> str:
    r"""Return the table for \input; it needs the package booktabs. The best mean of a line is bold."""
    better = get_metric(scores.metric).better
    rows = []
    for name, cells in lines_of(scores):
        means = [mean for mean, _ in cells]
        best = (np.nanmax if better == "higher" else np.nanmin)(means) if np.isfinite(means).any() else math.nan
        texts = [_text(*cell, sign="$\\pm$").replace("–", "--") for cell in cells]
        texts = [f"\\textbf{{{text}}}" if cell[0] == best else text for text, cell in zip(texts, cells, strict=True)]
        rows.append(" & ".join([escape(name), *texts]) + r" \\")
    if judgment.ranking is not None:
        ranks = [f"{rank:.2f}" for rank in judgment.ranking.ranks]
        rows.append("\\midrule average rank & " + " & ".join(ranks) + r" \\")
    caption = escape(f"{get_metric(scores.metric).heading}. {' '.join(judgment.verdict)} {'; '.join(made)}.")
    lines = [
        "% Needs \\usepackage{booktabs}.",
        "\\begin{table}\\centering",
        f"\\caption{{{caption}}}",
        f"\\begin{{tabular}}{{l{'r' * len(scores.methods)}}}",
        "\\toprule & " + " & ".join(map(escape, scores.methods)) + r" \\ \midrule",
        *rows,
        "\\bottomrule",
        "\\end{tabular}\\end{table}",
    ]
    return "\n".join(lines) + "\n"
