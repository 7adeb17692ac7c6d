"""Choosing hyper-parameters from positive and unlabeled rows alone."""

from pucli.tuning.scorers import RULES
from pucli.tuning.search import TuneResult, TuningInterrupted, tune
from pucli.tuning.trials import Trials

__all__ = ["RULES", "Trials", "TuneResult", "TuningInterrupted", "tune"]
