"""Content of a report, independent of the format in which it is written."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pucli.core.json_values import json_values
from pucli.metrics import Ranking
from pucli.report.tables.comparisons import Comparison
from pucli.report.tables.summary import SummaryLine
from pucli.report.tables.table import TableRow
from pucli.report.tables.verdict import counted

# The figure that stands first in every report.
FIRST, FIRST_TITLE = "published", "Published and obtained means, with their standard deviations"


@dataclass
class Report:
    """Content of a report.

    Parameters
    ----------
    name, title, source, profile : str
        Name, title and source of the experiment, and the profile that was run.
    reductions : list of str
        Descriptions of what the profile leaves out.
    part : str
        How much of the publication the experiment declares; "" for all.
    counts : dict of str to int
        Cells by state: total, done, failed, missing.
    flags : dict of str to int
        Number of finished cells with each flag.
    errors : list of str
        Failed cells with their errors.
    remarks : list of str
        Remarks on the whole table.
    rows : list of TableRow
        The table.
    summary : list of SummaryLine
        Means over data sets.
    comparisons, rankings : list
        Tests between methods.
    folder : Path
        Folder of the files.
    figures, texts : list of (str, str)
        Path in the folder and title of the figures and of the texts that the protocol adds.
    kept : list of str
        Figures and texts that were not made again because cells.csv.gz lacks the data.
    files : list of Path
        Files written.
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
    part: str = ""

    @property
    def extent(self) -> str:
        """Describe how much of the experiment was run, and how much of the publication it covers."""
        run = f"reduced to {'; '.join(self.reductions)}" if self.reductions else ""
        return f"{run or 'the whole'} of our experiment: {self.part}" if self.part else run or "the whole experiment"

    @property
    def published(self) -> bool:
        """Return whether any figure of the table was published."""
        return any(math.isfinite(row.published_mean) for row in self.rows)

    @property
    def verdicts(self) -> dict[str, int]:
        """Return the number of rows with each verdict, whichever variant it names."""
        return counted(row.verdict for row in self.rows)

    @property
    def causes(self) -> dict[str, int]:
        """Return the number of rows with each cause of disagreement, the most frequent first."""
        return dict(Counter(row.cause for row in self.rows if row.cause).most_common())

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
