"""Reports from stored cells: published and obtained figures, verdicts, tests between methods, plots, provenance."""

from pucli.report.all_experiments import report_all
from pucli.report.build import assemble, build_report, collect
from pucli.report.formats.render import FORMATS, table_csv
from pucli.report.gathering import largest_profile
from pucli.report.model import Report
from pucli.report.status import Failure, Status, status
from pucli.report.tables.comparisons import Comparison
from pucli.report.tables.table import TableRow

__all__ = [
    "FORMATS",
    "Comparison",
    "Failure",
    "Report",
    "Status",
    "TableRow",
    "assemble",
    "build_report",
    "collect",
    "largest_profile",
    "report_all",
    "status",
    "table_csv",
]
