"""Shell completion of methods, data sets, experiments, parameters and the values of options.

Each function returns all words that may stand there; Typer keeps those that begin as what is typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import typer


def methods() -> list[str]:
    """Return the names of all methods."""
    from pucli.methods import all_methods

    return list(all_methods())


def datasets() -> list[str]:
    """Return the names of all declared data sets."""
    from pucli.data import dataset_names

    return list(dataset_names())


def experiments() -> list[str]:
    """Return the names of all experiments."""
    from pucli.runner import experiment_names

    return experiment_names()


def _of_experiment(part: str) -> Callable[[typer.Context], list[str]]:
    """Return a completer of the names in a part of the experiment on the command line."""

    def complete(ctx: typer.Context) -> list[str]:
        from pucli.runner import load_experiment

        # the name is not parsed yet while an option is incomplete
        name = ctx.params.get("experiment") or next(iter(ctx.args), None)
        found: Iterable[str] = getattr(load_experiment(name, check_methods=False), part) if name else ()
        return list(found)

    return complete


columns, profiles = _of_experiment("methods"), _of_experiment("profiles")
experiment_datasets = _of_experiment("dataset_names")


def parameters(ctx: typer.Context) -> list[str]:
    """Return the parameters of the method on the command line, each followed by an equals sign."""
    from pucli.models.fitting import estimator_of

    name = ctx.params.get("method")
    return [f"{key}=" for key in estimator_of(name)._get_param_names()] if name else []


def completer(*choices: str) -> Callable[[], list[str]]:
    """Return a completer of fixed words."""
    return lambda: list(choices)


def scores() -> list[str]:
    """Return the names of the tuning scores."""
    from pucli.tuning import RULES

    return list(RULES)
