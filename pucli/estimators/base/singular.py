"""Advice on a linear system without a solution in double precision, in place of LAPACK's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


@contextmanager
def told_of_singular_system(estimator: Any) -> Iterator[None]:
    """Replace the message about a matrix that is singular or not positive definite."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"{type(estimator).__name__} cannot be fitted to these rows: its linear system is singular in double "
            "precision, because features are very large, very small or of very different size. Scale the features "
            "(for example to unit variance), or change the weights of the objective."
        ) from error
