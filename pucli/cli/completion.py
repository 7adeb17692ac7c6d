"""Shell completion of methods, data sets, experiments, parameters and the values of options."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pucli.runner import Experiment


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def methods(incomplete: str) -> list[str]:
    """Return the methods whose names begin with `incomplete`."""
    from pucli.methods import all_methods

    return _starting(incomplete, all_methods())


def datasets(incomplete: str) -> list[str]:
    """Return the declared data sets whose names begin with `incomplete`."""
    from pucli.data import dataset_names

    return _starting(incomplete, dataset_names())


def experiments(incomplete: str) -> list[str]:
    """Return the experiments whose names begin with `incomplete`."""
    from pucli.runner import experiment_names

    return _starting(incomplete, experiment_names())


def _experiment(ctx: typer.Context) -> Experiment | None:
    """Return the experiment on the command line; its name is not parsed yet while an option is incomplete."""
    from pucli.runner import load_experiment

    name = ctx.params.get("experiment") or next(iter(ctx.args), None)
    return load_experiment(name, check_methods=False) if name else None


def columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the methods of the experiment on the command line."""
    experiment = _experiment(ctx)
    return _starting(incomplete, experiment.methods) if experiment else []


def experiment_datasets(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the data sets of the experiment on the command line."""
    experiment = _experiment(ctx)
    return _starting(incomplete, experiment.dataset_names) if experiment else []


def profiles(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the profiles of the experiment on the command line."""
    experiment = _experiment(ctx)
    return _starting(incomplete, experiment.profiles) if experiment else []


def parameters(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the parameters of the method on the command line, each followed by an equals sign."""
    from pucli.models.fitting import estimator_of

    name = ctx.params.get("method")
    return _starting(incomplete, [f"{key}=" for key in estimator_of(name)._get_param_names()]) if name else []


def words(*choices: str) -> Callable[[str], list[str]]:
    """Return a completer of fixed words."""

    def complete(incomplete: str) -> list[str]:
        return _starting(incomplete, choices)

    return complete


def schemas(incomplete: str) -> list[str]:
    """Return the declared files and commands, whose names begin with `incomplete`, that have a JSON schema."""
    from pucli.cli.documents.schema import FORMS

    return _starting(incomplete, ["experiment", "datasets", *FORMS])


def scores(incomplete: str) -> list[str]:
    """Return the tuning scores whose names begin with `incomplete`."""
    from pucli.tuning import RULES

    return _starting(incomplete, RULES)
