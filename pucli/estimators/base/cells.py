"""Advice on empty cells of X, in place of scikit-learn's, which names its own estimators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def told_of_empty_cells(estimator: Any) -> Iterator[None]:
    """Replace scikit-learn's message about NaN in X."""
    try:
        yield
    except ValueError as error:
        if "does not accept missing values" not in str(error):
            raise
        name = type(estimator).__name__
        raise ValueError(
            f"Input X contains NaN: {name} takes no empty cells. pucli.data.TableEncoder fills and marks them: "
            f"make_pipeline(TableEncoder(), Standardiser(), {name}())."
        ) from None
