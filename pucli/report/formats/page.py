"""The report as a self-contained web page with tables, tests, ranks and figures."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

from pucli.report.model import Report


def page(report: Report) -> str:
    """Return table.html of a report whose figures have already been written to its folder."""
    from pucli.report.site.render import experiment_page

    figures = [_figure(report.folder / path, title) for path, title in report.figures]
    return experiment_page(report, figures=figures, standalone=True)


def _figure(path: Path, title: str) -> dict[str, str]:
    """Return a figure as a part of the page: SVG as it is, PNG as a data URL."""
    if path.suffix == ".svg":
        svg = path.read_text(encoding="utf-8")
        return {"title": title, "drawing": svg[svg.index("<svg") :], "path": ""}
    return {"title": title, "drawing": "", "path": f"data:image/png;base64,{b64encode(path.read_bytes()).decode()}"}
