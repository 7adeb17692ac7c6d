"""Reading of declared experiments, with errors that name the file, the path of the key and the remedy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pucli.core.declared_files import CATALOGUE, add_catalogue, experiment_file, experiment_files
from pucli.core.errors import CatalogueError, UsageError, did_you_mean, unknown
from pucli.core.plug_ins import add_module_folder, check_not_hidden
from pucli.core.validation_errors import explain
from pucli.core.yaml_files import read_yaml
from pucli.metrics import get_metric
from pucli.runner.experiment import EXPERIMENT_NAME, TRUE_ODDS, TRUE_PRIOR, Experiment, MethodEntry


def experiment_names() -> list[str]:
    """Return the names of the declared experiments."""
    return list(experiment_files())


def load_experiment(name_or_path: str | Path, *, check_methods: bool = True) -> Experiment:
    """Return the experiment with this name or in this .yaml or .yml file.

    Parameters
    ----------
    name_or_path : str or Path
        A name of `experiment_names`, or the path of a file.
    check_methods : bool
        Whether to check data sets against the catalogue, and parameters and grids against the constructors, which
        imports the estimators.

    Raises
    ------
    UsageError
        There is no such experiment, or the file is invalid; the message names the file and the path of the key.
    """
    text = str(name_or_path)
    own = text.endswith((".yaml", ".yml"))
    path = Path(name_or_path) if own else experiment_file(text)
    if path is None:
        raise unknown("experiment", text, experiment_files(), listing="pucli list experiments")
    if not re.search(EXPERIMENT_NAME, path.stem):
        raise UsageError(
            f"{path}: the results of an experiment are in a folder with the name of its file, which must begin with a "
            "letter, a digit or _ and have no \\ or control character; rename the file."
        )
    content = read_yaml(path, listing="`pucli list experiments` shows the declared ones")
    experiment = parse_experiment(content, file=path.name)
    experiment._name, experiment._path = path.stem, path
    if own:
        _take_what_lies_beside(experiment, path.resolve().parent)
    _check_metrics(experiment, path.name)
    if check_methods:
        _check_data(experiment, path.name)
        _check_methods(experiment, path.name)
    return experiment


def _take_what_lies_beside(experiment: Experiment, folder: Path) -> None:
    """Make the catalogue and the modules in the folder of an experiment file available."""
    if (folder / CATALOGUE).is_file():
        add_catalogue(folder / CATALOGUE)
    for entry in experiment.methods.values():
        module, colon, _ = entry.method.partition(":")
        if colon:
            add_module_folder(folder)
            check_not_hidden(module, folder)


def parse_experiment(content: Any, *, file: str) -> Experiment:
    """Validate the parsed `content` of a declared file; `file` is its name in messages."""
    if not isinstance(content, dict):
        raise UsageError(f"{file}: an experiment is a mapping with title, data, split and methods; see experiments/.")
    try:
        return Experiment.model_validate(content)
    except ValidationError as error:
        raise UsageError(explain(error, Experiment, content, start=file)) from None


def experiment_schema() -> dict[str, Any]:
    """Return the JSON schema of an experiment file, for editors."""
    schema = Experiment.model_json_schema()
    schema["title"] = "pucli experiment"
    # the method is a name of the list, or a class under the key estimator
    column = schema["$defs"]["MethodEntry"]
    column["properties"]["estimator"] = {"type": "string", "pattern": ":", "description": "module:Class"}
    column["required"] = [name for name in column["required"] if name != "method"]
    column["anyOf"] = [{"required": ["method"]}, {"required": ["estimator"]}]
    # `published` may also be a file name or a single mapping
    published = schema["properties"]["published"]
    one = published["items"]
    schema["properties"]["published"] = {
        "anyOf": [{"type": "string"}, one, {"type": "array", "items": {"anyOf": [{"type": "string"}, one]}}],
        "default": [],
        "description": published["description"],
    }
    return schema


def _check_data(experiment: Experiment, file: str) -> None:
    """Check the names of the data sets, and the parameters of a generator by drawing once."""
    from pucli.data import dataset_entry, load_dataset

    data = experiment.data
    try:
        for name in experiment.dataset_names:
            entry = dataset_entry(name)
            if bool(entry.generator) != bool(data.generate):
                raise UsageError(f"{name!r} is {'' if entry.generator else 'not '}a generated data set")
        if data.generate:
            first = {key: value[0] if isinstance(value, list) else value for key, value in data.parameters.items()}
            load_dataset(data.generate, parameters=first)
    except CatalogueError:
        raise
    except (UsageError, IndexError) as error:
        key = "generate" if data.generate else "names"
        raise UsageError(f"{file}: data.{key}: {error}") from None


def _check_metrics(experiment: Experiment, file: str) -> None:
    named = {f"metrics.{number}": name for number, name in enumerate(experiment.metrics)}
    named |= {f"published.{number}.metric": source.metric for number, source in enumerate(experiment.published)}
    named |= {f"notes.{number}.metric": note.metric for number, note in enumerate(experiment.notes) if note.metric}
    named |= {f"figures.{number}.metric": figure.metric for number, figure in enumerate(experiment.figures)}
    for key, name in named.items():
        try:
            get_metric(name)
        except UsageError as error:
            raise UsageError(f"{file}: {key}: {error}") from None


def _check_methods(experiment: Experiment, file: str) -> None:
    """Check method names, parameters and grids against the constructors, rules against `pucli.tuning.RULES`."""
    from pucli.tuning import RULES

    constructors: dict[str, list[str]] = {}
    for column, entry in experiment.methods.items():
        where = f"{file}: methods.{column}"
        if entry.method not in constructors:
            constructors[entry.method] = _parameters(entry.method, f"{where}.method", where)
        known = constructors[entry.method]
        _check_values(entry.method, where, entry.params, known, [*known, *MethodEntry.model_fields])
        for section, grid in (("grid", entry.grid), ("coarse_grid", entry.coarse_grid)):
            _check_values(entry.method, f"{where}.{section}", grid or {}, known, known, grid=True)
    for method, shared in experiment.defaults.items():
        _check_values(method, f"{file}: defaults.{method}", shared, constructors[method], constructors[method])
    rules: dict[str, str | None] = {"tuning.score": experiment.tuning.score}
    rules |= {f"methods.{column}.tuning.score": entry.tuning.score for column, entry in experiment.methods.items()}
    for key, rule in rules.items():
        if rule is not None and rule not in RULES:
            raise UsageError(f"{file}: {key}: {unknown('selection rule', rule, RULES)}")


def _parameters(name: str, key: str, column: str) -> list[str]:
    """Return the constructor parameters of a method; `key` and `column` locate errors in the file."""
    from pucli.methods import constructor_defaults, get_method

    place = key
    try:
        method = get_method(name)
        place = column
        return list(constructor_defaults(method))
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None
    except ImportError as error:
        extra = f"; install it with `pip install 'pucli[{method.extra}]'`" if method.extra else ""
        raise UsageError(f"{column}: the method {name!r} needs the package {error.name!r}{extra}.") from None


def _check_values(
    method: str, where: str, given: Mapping[str, Any], known: list[str], choices: list[str], *, grid: bool = False
) -> None:
    """Raise UsageError for a parameter, series or value that the constructor of the method does not accept.

    `known` are its parameters, the nearest of `choices` is the hint; values of a grid are lists or names of series.
    """
    from pucli.methods import check_value
    from pucli.tuning.grids import resolve

    for key, value in given.items():
        if key not in known:
            hint = did_you_mean(key, choices, 1) or f"{method} has {', '.join(known)}."
            raise UsageError(f"{where}.{key}: {method} has no such parameter; {hint}")
        try:
            values = resolve({key: value})[key] if grid else [value]
            check_value(method, key, *[v for v in values if key != "prior" or v not in (TRUE_PRIOR, TRUE_ODDS)])
        except UsageError as error:
            raise UsageError(f"{where}.{key}: {error}") from None
