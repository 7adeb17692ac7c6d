"""What ``pucli tune`` and ``pucli train`` share: tuning with a progress display, and a warning of the class prior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pucli.cli.output import Output
from pucli.cli.terminal import number
from pucli.core.errors import UsageError

if TYPE_CHECKING:
    from pucli.data.rows.training_rows import TrainingRows
    from pucli.tuning import TuneResult


def choose(
    out: Output,
    method: str,
    rows: TrainingRows,
    params: Mapping[str, Any],
    grid: Mapping[str, Any],
    *,
    seed: int,
    standardize: bool,
    **settings: Any,
) -> TuneResult:
    """Return the tuned parameters and print the warnings of the tuning."""
    from pucli.tuning import tune
    from pucli.tuning.folds import COPIES

    assert rows.y is not None
    X = rows.X
    if standardize:
        from pucli.data.features import Standardizer

        X = Standardizer().fit_transform(X)
    out.if_interrupted = "Nothing was chosen; fewer --rows, or `pucli tune` with a smaller --grid or --cv, are faster."
    try:
        with out.progress("tuning", "points") as bar:
            result = tune(
                method,
                X,
                rows.y,
                params=params,
                grid=grid,
                denominator=rows.denominator,
                groups=COPIES if rows.groups is None else rows.groups,
                seed=seed,
                progress=bar,
                route="stages",
                **settings,
            )
    except ValueError as error:
        raise UsageError(f"{method} cannot be tuned on {rows.title}: {error}") from error
    if result.how:
        out.remark(result.how)
    if params.get("prior") is None and "prior" not in grid and result.params.get("prior") is not None:
        out.remark(f"no class prior was given: all fits take the estimate {number(result.params['prior'], 3)}")
    for note in result.notes:
        out.warn(note)
    return result


def far_prior_warning(params: Mapping[str, Any], rows: TrainingRows, seed: int) -> str:
    """Return a warning if the rows clearly contradict the given class prior, else ""."""
    from pucli.solvers.prior.estimate import contradicted

    prior = params.get("prior")
    if isinstance(prior, str) or not prior or rows.y is None:
        return ""
    try:
        found = contradicted(float(prior), rows.X, rows.y == 1, random_state=seed, groups=rows.groups)
    except ValueError:  # rows of one kind or all equal: other checks report these
        return ""
    if found is None:
        return ""
    return (
        f"prior={number(float(prior), 3)} was given, but these rows point to one near {number(found.prior, 2)} "
        f"({number(found.low, 2)} to {number(found.high, 2)}) if the labeled rows are a random sample of the "
        "positives. It means the class prior among the unlabeled rows; `pucli prior` estimates it."
    )


def how_chosen(result: TuneResult) -> str:
    """Describe how the choice was made."""
    if result.rule not in ("f1", "pu-auc"):
        return f"chosen for the highest {result.rule} on held-out rows, {number(result.score, 3)}"
    best, score = ("estimated F1", result.f1) if result.rule == "f1" else ("PU-AUC", result.score)
    return (
        f"chosen for the highest {best} on held-out rows, {number(score, 3)}; F1 is estimated as if labeled at "
        "random, and far too high if the classes overlap"
    )
