"""``pucli compare``: methods on the same splits of one table or of several data sets, with tests and a verdict."""

from pucli.models.compare.run import ComparisonScores, compare
from pucli.models.compare.tasks import Task, declared_task, own_task
from pucli.models.compare.verdict import ComparisonVerdict, PairVerdict, judge

__all__ = [
    "ComparisonScores",
    "ComparisonVerdict",
    "PairVerdict",
    "Task",
    "compare",
    "declared_task",
    "judge",
    "own_task",
]
