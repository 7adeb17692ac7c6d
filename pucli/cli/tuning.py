"""Tuning with a progress display, for ``pucli tune`` and ``pucli train --tune``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pucli.cli.output import Output
from pucli.errors import UsageError

if TYPE_CHECKING:
    from pucli.data.training_rows import TrainingRows
    from pucli.tuning import TuneResult


def choose(
    out: Output,
    method: str,
    rows: TrainingRows,
    params: Mapping[str, Any],
    grid: Mapping[str, Any],
    *,
    seed: int,
    standardise: bool,
    **settings: Any,
) -> TuneResult:
    """Return the tuned choice and print its warnings. As in ``train``, features are scaled by the training rows.

    settings : of `pucli.tuning.tune`; by default the rule of the command line, repeated if the rows are few.
    """
    from pucli.tuning import tune
    from pucli.tuning.scorers import DEFAULT_REPEATS, DEFAULT_RULE, REPEATED_ROWS

    assert rows.y is not None
    X = rows.X
    settings.setdefault("rule", DEFAULT_RULE)
    if settings.get("cv_repeats") is None:
        settings["cv_repeats"] = DEFAULT_REPEATS if X.shape[0] <= REPEATED_ROWS else 1
    if standardise:
        from pucli.data.preprocessing import Standardiser

        X = Standardiser().fit_transform(X)
    out.if_interrupted = "Nothing was chosen; fewer --rows, a smaller --grid or fewer --cv folds are faster."
    try:
        with out.progress("tuning", lines=True) as bar:
            result = tune(
                method,
                X,
                rows.y,
                params=params,
                grid=grid,
                denominator=rows.denominator,
                seed=seed,
                progress=bar,
                route="stages",
                **settings,
            )
    except ValueError as error:
        raise UsageError(f"{method} cannot be tuned on {rows.title}: {error}") from error
    if result.how:
        out.remark(result.how)
    for note in result.notes:
        out.warn(note)
    return result
