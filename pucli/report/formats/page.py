"""The report as a self-contained web page with tables, tests, ranks and figures."""

from __future__ import annotations

from pucli.report.model import Report


def page(report: Report) -> str:
    """Return table.html.

    Parameters
    ----------
    report : Report
        The report; its figures have already been written to its folder.

    Returns
    -------
    str
    """
    from pucli.report.site.render import experiment_page

    figures = []
    for path, title in report.figures:
        svg = (report.folder / path).with_suffix(".svg").read_text(encoding="utf-8")
        figures.append({"title": title, "drawing": svg[svg.index("<svg") :], "path": ""})
    return experiment_page(report, figures=figures, standalone=True)
