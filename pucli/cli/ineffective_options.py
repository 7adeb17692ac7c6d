"""Warnings about options without effect, and about a class prior that the rows contradict."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from pucli.cli.output import Output
from pucli.cli.row_options import Rows
from pucli.cli.terminal import number

if TYPE_CHECKING:
    from pucli.data.rows.training_rows import TrainingRows


def warn_of_unused(out: Output, method: str, given: Collection[str], params: Mapping[str, Any]) -> None:
    """Warn about given parameters without effect.

    Parameters
    ----------
    out : Output
        Output of the command.
    method : str
        Name of the method.
    given : collection of str
        Names of the parameters that the user gave.
    params : mapping
        All parameters of the method, on which the effect depends.
    """
    from pucli.methods.effects import without_effect

    for line in without_effect(method, given, params):
        out.warn(line)


def warn_of_scenario(out: Output, method: str, where: Rows) -> None:
    """Warn if the given scenario does not change a model of the user's own rows.

    Parameters
    ----------
    out : Output
        Output of the command.
    method : str
        Name of the method.
    where : Rows
        The options that name the rows.
    """
    if where.files and where.scenario != Rows.scenario:
        out.warn(
            f"--scenario {where.scenario} does not change how {method} is trained, only the estimated class prior, the "
            "probabilities, and the scores by which `pucli tune` chooses."
        )


def warn_of_far_prior(out: Output, params: Mapping[str, Any], rows: TrainingRows, seed: int) -> None:
    """Warn if the rows clearly contradict the given class prior.

    Parameters
    ----------
    out : Output
        Output of the command.
    params : mapping
        Parameters of the method; nothing is checked unless `prior` is a number.
    rows : TrainingRows
        The training rows.
    seed : int
        Seed of the estimate to which the prior is compared.
    """
    from pucli.solvers.prior.estimate import contradicted

    prior = params.get("prior")
    if isinstance(prior, str) or not prior or rows.y is None:
        return
    try:
        found = contradicted(float(prior), rows.X, rows.y == 1, random_state=seed)
    except ValueError:  # rows of one kind or all equal: other checks report these
        return
    if found is not None:
        ends = f"{number(found.low, 2)} to {number(found.high, 2)}"
        out.warn(
            f"prior={number(float(prior), 3)} was given, but these rows point to one near {number(found.prior, 2)} "
            f"({ends}) if the labelled rows are a random sample of the positives. It means the class prior "
            "among the unlabeled rows; `pucli prior` estimates it."
        )
