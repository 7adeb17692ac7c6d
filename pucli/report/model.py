"""Content of a report, independent of the format in which it is written."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from pucli.metrics import MethodRanking
from pucli.report.tables.comparisons import Comparison
from pucli.report.tables.controls import Control
from pucli.report.tables.summary import SummaryLine
from pucli.report.tables.table import TableRow
from pucli.runner.run import RunSummary

# The figure that stands first in every report.
FIRST, FIRST_TITLE = "published", "Published and obtained means, with their standard deviations"


@dataclass
class Report:
    """Content of a report.

    Parameters
    ----------
    experiment, title, source, profile : str
        Name, title and source of the experiment, and the profile that was run.
    reductions : list of str
        Descriptions of what the profile leaves out.
    part : str
        How much of the publication the experiment declares; "" for all.
    cells : dict of str to int
        Cells by state: total, done, failed, missing.
    flags : dict of str to int
        Number of finished cells with each flag.
    errors : list of str
        Failed cells with their errors.
    remarks : list of str
        Remarks on the whole table.
    verdicts, causes : dict of str to int
        Number of rows with each verdict, whichever variant it names, and with each cause of disagreement.
    rows : list of TableRow
        The table.
    summary : list of SummaryLine
        Means over data sets.
    controls : list of Control
        How often the same fits agree with prints that are not theirs.
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

    experiment: str
    title: str
    source: str
    profile: str
    reductions: list[str]
    cells: dict[str, int]
    flags: dict[str, int]
    errors: list[str]
    remarks: list[str]
    verdicts: dict[str, int]
    causes: dict[str, int]
    rows: list[TableRow]
    summary: list[SummaryLine]
    controls: list[Control]
    comparisons: list[Comparison]
    rankings: list[MethodRanking]
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


@dataclass(frozen=True)
class OneReport:
    """The table of one experiment, and the number of its figures with each verdict."""

    verdicts: dict[str, int]
    report: Report


@dataclass(frozen=True)
class AllReports:
    """`pucli report --all`."""

    reports: list[Report]


@dataclass(frozen=True)
class Reproduced(OneReport):
    """The table after a run; `run` is None with --collect or --merge, `imported` without --merge."""

    run: RunSummary | None
    imported: int | None
