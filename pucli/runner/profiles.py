"""Profiles, which are declared reductions of an experiment that the table names.

In coarse grids, every parameter with more than three values keeps the first, the middle and the last, in declared
order; a method with a `coarse_grid` uses that instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pucli.core.errors import unknown
from pucli.runner.experiment import Experiment, MethodEntry, Profile, base_name

COARSE_VALUES = 3


def coarse(values: list[Any]) -> list[Any]:
    """Return the first, the middle and the last of `values`, or all if there are at most three."""
    if len(values) <= COARSE_VALUES:
        return list(values)
    last = len(values) - 1
    return [values[round(i * last / (COARSE_VALUES - 1))] for i in range(COARSE_VALUES)]


def resolved_grid(entry: MethodEntry, profile: Profile) -> dict[str, list[Any]]:
    """Return the grid of a method under a profile, with named series replaced by their values."""
    from pucli.methods import get_method
    from pucli.tuning.grids import resolve

    declared = entry.grid if entry.grid is not None else dict(get_method(entry.method).grid)
    if profile.grid == "full":
        return resolve(declared)
    if entry.coarse_grid is not None:
        return resolve(entry.coarse_grid)
    return {key: coarse(values) for key, values in resolve(declared).items()}


@dataclass(frozen=True)
class Scope:
    """An experiment under a profile, restricted to some methods and data sets."""

    profile_name: str
    profile: Profile
    datasets: list[str]
    methods: list[str]
    parameters: dict[str, Any]
    label_frequencies: list[float]
    repeats: int
    reductions: list[str] = field(default_factory=list)
    narrowed: bool = False  # restricted to named data sets


def scope(
    experiment: Experiment, profile: str, methods: Sequence[str] | None = None, datasets: Sequence[str] | None = None
) -> Scope:
    """Return the scope of `experiment` under `profile`, restricted to `methods` (columns or names) and `datasets`."""
    if profile not in experiment.profiles:
        raise unknown("profile", profile, experiment.profiles, of=experiment.name)
    chosen, split = experiment.profiles[profile], experiment.split
    everything = experiment.dataset_names + _generated(experiment)
    data = list(chosen.data) if chosen.data is not None else experiment.dataset_names
    if datasets:
        data = [_dataset(experiment, name) for name in datasets]
    columns = [column for column in experiment.methods if chosen.methods is None or column in chosen.methods]
    if methods:
        columns = _columns(experiment, methods)
    frequencies = list(chosen.label_frequencies or split.label_frequencies)
    repeats = chosen.repeats or split.repeats
    parameters = {**experiment.data.parameters, **chosen.parameters}
    reductions = []
    if len(data) < len(everything if datasets else experiment.dataset_names):
        reductions.append(f"{len(data)} of {len(everything)} data sets ({', '.join(data)})")
    for key, values in chosen.parameters.items():
        if values != experiment.data.parameters[key]:
            reductions.append(f"{key} in {_listed(values)} instead of {_listed(experiment.data.parameters[key])}")
    if len(frequencies) < len(split.label_frequencies):
        reductions.append(f"label frequencies {_listed(frequencies)} of {_listed(split.label_frequencies)}")
    if repeats < split.repeats:
        reductions.append(f"{repeats} of {split.repeats} repeats")
    elif repeats > split.repeats:
        reductions.append(f"{repeats} repeats instead of {split.repeats}")
    if len(columns) < len(experiment.methods):
        reductions.append(f"methods {', '.join(columns)} of {', '.join(experiment.methods)}")
    reductions += _reduced_tuning(experiment, chosen)
    reductions += [f"{key} = {_listed(value) or 'none'}" for key, value in chosen.options.items()]
    return Scope(profile, chosen, data, columns, parameters, frequencies, repeats, reductions, bool(datasets))


def _reduced_tuning(experiment: Experiment, chosen: Profile) -> list[str]:
    reductions = []
    if chosen.grid == "coarse":
        reductions.append(f"coarse grids (declared ones, else {COARSE_VALUES} values for each parameter)")
    if chosen.folds is not None and chosen.folds != experiment.tuning.folds:
        reductions.append(f"{chosen.folds} folds instead of {experiment.tuning.folds}")
    if chosen.cv_repeats is not None and chosen.cv_repeats != experiment.tuning.cv_repeats:
        reductions.append(f"{chosen.cv_repeats} cross-validations instead of {experiment.tuning.cv_repeats}")
    if not chosen.greedy:
        reductions.append("no greedy refinement")
    return reductions


def tuning_settings(
    experiment: Experiment, entry: MethodEntry, profile: Profile, grid: Mapping[str, list[Any]]
) -> dict[str, Any]:
    """Return the tuning settings of one method under a profile, as plain JSON values.

    If a refinement follows, `stay_on_grid` has the values of `grid` that the entry of the method or the profile keeps.
    """
    own = entry.tuning
    tuning = experiment.tuning
    greedy = own.greedy if own.greedy is not None else tuning.greedy
    by_scenario = "unlabeled" if experiment.split.scenario == "case-control" else "all"
    settings = {
        # a reduction by the profile overrides the setting of the method
        "folds": profile.folds or tuning.folds,
        "cv_repeats": profile.cv_repeats or own.cv_repeats or tuning.cv_repeats,
        "rule": own.score or tuning.score,
        "denominator": tuning.denominator or by_scenario,
        "greedy_step": greedy.step if greedy and profile.greedy else None,
        "route": own.route or tuning.route,
    }
    if own.score_error:  # unused, it does not change the key
        settings["score_error"] = own.score_error
    held = {**own.stay_on_grid, **profile.stay_on_grid}
    stay = {name: [value for value in values if value in held.get(name, ())] for name, values in grid.items()}
    if settings["greedy_step"] and any(stay.values()):
        settings["stay_on_grid"] = {name: values for name, values in stay.items() if values}
    return settings


def data_settings(parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one dict per combination of the listed `parameters`; single values are part of all of them."""
    settings: list[dict[str, Any]] = [{}]
    for key, values in parameters.items():
        values = values if isinstance(values, list) else [values]
        settings = [{**setting, key: value} for setting in settings for value in values]
    return settings


def _dataset(experiment: Experiment, name: str) -> str:
    folded = {known.lower(): known for known in experiment.dataset_names + _generated(experiment)}
    if name.lower() not in folded:
        raise unknown("data set", name, list(folded.values()), of=experiment.name)
    return folded[name.lower()]


def _generated(experiment: Experiment) -> list[str]:
    """Return the generated data sets named in the options of a protocol, in addition to the declared ones."""
    named = experiment.options.get("generated", [])
    return list(named) if isinstance(named, list) else []  # in the protocol deep, it is a number


def _columns(experiment: Experiment, names: Sequence[str]) -> list[str]:
    """Return the columns for `names`, each of which is a column or the name of all its variants."""
    known = dict.fromkeys([*experiment.methods, *map(base_name, experiment.methods)])
    for name in names:
        if name not in known:
            raise unknown("method", name, known, of=experiment.name)
    return [column for column in experiment.methods if column in names or base_name(column) in names]


def _listed(values: Any) -> str:
    items = values if isinstance(values, list) else [values]
    return ", ".join(f"{item:g}" if isinstance(item, float) else str(item) for item in items)
