"""The answer of ``pucli predict``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pucli.models.shift import Shift


@dataclass(frozen=True)
class Predictions:
    """Predictions, or log-likelihoods by a density model, printed or written to a file.

    Attributes
    ----------
    model : Path
        The model.
    data : Path or list of Path
        The rows.
    file : Path or None
        File of the predictions; None if they are printed.
    rows, written : int
        Numbers of rows that were read and written.
    counts : dict of str to int, or None
        Number of rows by predicted label; None of a density model.
    shift : Shift or None
        With --adapt: the comparison with the rows of training.
    predictions : list of dict, or None
        Each row: its number, the columns of --id, label, score and probability; None if they are in `file`.
    """

    model: Path
    data: Path | list[Path]
    file: Path | None
    rows: int
    written: int
    counts: dict[str, int] | None
    shift: Shift | None
    predictions: list[dict[str, Any]] | None
