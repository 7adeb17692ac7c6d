"""Choosing hyper-parameters from positive and unlabeled rows alone."""

from pucli.tuning.scorers import RULES
from pucli.tuning.search import Trials, TuneResult, tune

__all__ = ["RULES", "Trials", "TuneResult", "tune"]
