"""Reports from stored cells: published and obtained figures, verdicts, tests between methods, plots, provenance."""

from pucli.report.all_experiments import report_all
from pucli.report.build import assemble, build_report, collect
from pucli.report.gathering import Gathered, gather
from pucli.report.model import Report
from pucli.report.status import Failure, Status, status
from pucli.report.tables.comparisons import Comparison
from pucli.report.tables.table import TableRow

__all__ = [
    "Comparison",
    "Failure",
    "Gathered",
    "Report",
    "Status",
    "TableRow",
    "assemble",
    "build_report",
    "collect",
    "gather",
    "report_all",
    "status",
]
