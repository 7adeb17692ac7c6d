"""Metrics by name, and tests for differences between methods."""

from pucli.metrics.clustering import in_group_proportion
from pucli.metrics.comparison import (
    FriedmanNemenyi,
    MethodRanking,
    PairedTest,
    adjust_p_values,
    corrected_resampled_t,
    friedman_nemenyi,
    holm_adjusted,
    wilcoxon_paired,
)
from pucli.metrics.gains import GainsCurveDisplay
from pucli.metrics.metric import Metric
from pucli.metrics.pu import pu_counts, puf
from pucli.metrics.registry import METRICS, all_metrics, classification_scores, computable, compute, get_metric
from pucli.metrics.scorers import MetricScorer, PUScorer, pu_auc_scorer, puf_score, puf_scorer, scorer

__all__ = [
    "METRICS",
    "FriedmanNemenyi",
    "GainsCurveDisplay",
    "MethodRanking",
    "Metric",
    "MetricScorer",
    "PUScorer",
    "PairedTest",
    "adjust_p_values",
    "all_metrics",
    "classification_scores",
    "computable",
    "compute",
    "corrected_resampled_t",
    "friedman_nemenyi",
    "get_metric",
    "holm_adjusted",
    "in_group_proportion",
    "pu_auc_scorer",
    "pu_counts",
    "puf",
    "puf_score",
    "puf_scorer",
    "scorer",
    "wilcoxon_paired",
]
