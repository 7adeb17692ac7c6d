"""What a report says, before it is written as Markdown, CSV, LaTeX or a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pucli.report.comparisons import Comparison, Ranking
from pucli.report.summary import SummaryLine, count_causes, count_verdicts
from pucli.report.table import TableRow
from pucli.runner.cells import json_values


@dataclass
class Report:
    """What a report says; `to_json` for --json.

    Parameters
    ----------
    name, title, source, profile : str
        Of the experiment, and the profile that was run.
    reductions : list of str
        What the profile leaves out, in words.
    counts : dict of str to int
        Cells by state: total, done, failed, missing.
    flags : dict of str to int
        Flag -> number of finished cells that carry it.
    errors : list of str
        Failed cells with their errors.
    remarks : list of str
        What a reader of the whole table must know.
    rows : list of TableRow
        The table.
    summary : list of SummaryLine
        Means over data sets.
    comparisons, rankings : list
        Tests between methods.
    folder : Path
        Where the files are.
    figures, texts : list of (str, str)
        Path in the folder and title of the figures, and of texts that the protocol adds.
    kept : list of str
        Those of them that were not made anew: cells.csv has not what they need.
    files : list of Path
        What was written.
    """

    name: str
    title: str
    source: str
    profile: str
    reductions: list[str]
    counts: dict[str, int]
    flags: dict[str, int]
    errors: list[str]
    remarks: list[str]
    rows: list[TableRow]
    summary: list[SummaryLine]
    comparisons: list[Comparison]
    rankings: list[Ranking]
    folder: Path
    figures: list[tuple[str, str]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    @property
    def verdicts(self) -> dict[str, int]:
        """How often each verdict was given, variants not told apart."""
        return count_verdicts(self.rows)

    @property
    def causes(self) -> dict[str, int]:
        """How often each cause of a disagreement was given."""
        return count_causes(self.rows)

    def markdown(self) -> str:
        """Return the text of table.md."""
        from pucli.report.markdown import markdown

        return markdown(self)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "experiment": self.name,
            "title": self.title,
            "source": self.source,
            "profile": self.profile,
            "reductions": self.reductions,
            "cells": self.counts,
            "flags": self.flags,
            "errors": self.errors,
            "remarks": self.remarks,
            "verdicts": self.verdicts,
            "causes": self.causes,
            "rows": [row.to_json() for row in self.rows],
            "summary": [line.to_json() for line in self.summary],
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "rankings": [ranking.to_json() for ranking in self.rankings],
            "folder": str(self.folder),
            "figures": json_values(self.figures),
            "kept": self.kept,
            "files": [str(path) for path in self.files],
        }
