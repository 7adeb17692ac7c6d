"""Metrics by name, and tests for differences between methods."""

from pucli.metrics.comparison import (
    FriedmanNemenyi,
    PairedTest,
    adjust_p_values,
    friedman_nemenyi,
    wilcoxon_paired,
)
from pucli.metrics.pu import pu_counts, puf
from pucli.metrics.registry import METRICS, Metric, all_metrics, classification_scores, compute, get_metric

__all__ = [
    "METRICS",
    "FriedmanNemenyi",
    "Metric",
    "PairedTest",
    "adjust_p_values",
    "all_metrics",
    "classification_scores",
    "compute",
    "friedman_nemenyi",
    "get_metric",
    "pu_counts",
    "puf",
    "wilcoxon_paired",
]
