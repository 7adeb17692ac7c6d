"""The ranking of a user's rows by `AutoPU`, what is known about it, and its page."""

from __future__ import annotations

from pucli.models.auto.ranking import Options, Ranking, rank

__all__ = ["Options", "Ranking", "rank"]
