"""Scores of one prediction, and tests for differences between methods."""

from pucli.metrics.classification import FRACTIONS, HIGHER_IS_BETTER, classification_scores, puf
from pucli.metrics.comparison import (
    FriedmanNemenyi,
    PairedTest,
    adjust_p_values,
    friedman_nemenyi,
    wilcoxon_paired,
)

__all__ = [
    "FRACTIONS",
    "HIGHER_IS_BETTER",
    "FriedmanNemenyi",
    "PairedTest",
    "adjust_p_values",
    "classification_scores",
    "friedman_nemenyi",
    "puf",
    "wilcoxon_paired",
]
