"""The table as LaTeX (booktabs, longtable), with one row per data set and setting and one column per method."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from pucli.metrics import get_metric
from pucli.report.formats.markdown import with_sd
from pucli.report.tables.verdict import AS_OFTEN, COMPARED, STYLES, plain

if TYPE_CHECKING:
    from pucli.report.model import Report
    from pucli.report.tables.table import TableRow

_SPECIAL = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
            "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
            "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}  # fmt: skip
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"


def latex(report: Report) -> str:
    r"""Return table.tex, to be included with \input; it needs the packages booktabs and longtable."""
    made = " ".join(f"{report.experiment}, profile {report.profile}".split())  # a line end would end the comment
    parts = ["% Needs \\usepackage{booktabs,longtable}.", f"% {made}"]
    for metric in dict.fromkeys(row.metric for row in report.rows):
        parts.append(_table(report, metric))
    return "\n".join(parts) + "\n"


def _table(report: Report, metric: str) -> str:
    rows = [row for row in report.rows if row.metric == metric]
    columns = list(dict.fromkeys(row.column for row in rows))
    several = len({row.setting for row in rows}) > 1
    cells = {(row.dataset, row.setting, row.column): row for row in rows}
    with_puf = any(not math.isnan(row.puf_mean) for row in rows)
    unit = f"{metric} in per cent" if get_metric(metric).unit == "%" else metric
    caption = (
        f"{report.title}: {unit}, obtained mean {PLUS_MINUS} standard deviation, published below it"
        f"{', then PUF of the same predictions' if with_puf else ''}. "
        f"Profile {report.profile}: {report.extent}; {report.cells['done']} of {report.cells['total']} runs. "
        "Mark: = reproduced, v by a variant, + better, - worse, ? inconclusive, 1 degenerate, n not reproduced"
        + (", a agrees as often with another print" if any(row.verdict.startswith(AS_OFTEN) for row in rows) else "")
        + (", o not judged" if any(row.verdict == "not judged" for row in rows) else "")
        + (", c compared with another method." if any(row.verdict.startswith(COMPARED) for row in rows) else ".")
        + "".join(f" {remark}" for remark in report.remarks)
    )
    head = " & ".join(["Data set", *(["Setting"] if several else []), *map(escape, columns)])
    label = re.sub("[^A-Za-z0-9.-]", "-", f"tab:{report.experiment}-{metric}").replace("tab-", "tab:", 1)
    lines = [
        f"\\begin{{longtable}}{{l{'l' if several else ''}{'r' * len(columns)}}}",
        f"\\caption{{{escape(caption)}}}\\label{{{label}}}\\\\",
        f"\\toprule {head} \\\\ \\midrule \\endhead \\bottomrule \\endfoot",
    ]
    for dataset, setting in dict.fromkeys((row.dataset, row.setting) for row in rows):
        own = [cells.get((dataset, setting, column)) for column in columns]
        names = [escape(dataset), *([escape(setting)] if several else [])]
        blank = [""] * (len(names) - 1)
        block = [[*names, *map(_obtained, own)], ["", *blank, *(_small(row, "published", metric) for row in own)]]
        if with_puf:
            block.append([r"{\small PUF}", *blank, *(_small(row, "puf", "puf") for row in own)])
        lines += [" & ".join(line) + r" \\*" for line in block[:-1]]
        lines.append(" & ".join(block[-1]) + r" \\")
    return "\n".join([*lines, "\\end{longtable}"]).replace(PLUS_MINUS, "$\\pm$")


def _obtained(row: TableRow | None) -> str:
    if row is None or math.isnan(row.obtained_mean):
        return "--"
    look = STYLES.get(plain(row.verdict))
    mark = f"$^{{{look.latex}}}$" if look and look.latex else ""
    return with_sd(row.obtained_mean, row.obtained_sd, row.metric) + mark


def _small(row: TableRow | None, figure: str, metric: str) -> str:
    """Return the mean `figure`_mean of a row with its standard deviation in small print; "" without one."""
    text = with_sd(getattr(row, f"{figure}_mean"), getattr(row, f"{figure}_sd"), metric) if row is not None else ""
    return f"{{\\small {text}}}" if text else ""


def escape(text: str) -> str:
    """Return `text` as one line with the special characters of LaTeX escaped."""
    return "".join(_SPECIAL.get(c, c) for c in " ".join(text.split()) if c.isprintable())
