"""Functions shared by protocols: planning of cells, data, seeds, standardization, estimators and timing."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.errors import UsageError
from pucli.core.seeding import seed_sequence
from pucli.runner.cells import Cell, Context, canonical_json
from pucli.runner.experiment import Experiment
from pucli.runner.profiles import Scope

if TYPE_CHECKING:
    from pucli.data.catalogue.datasets import Dataset


@dataclass(frozen=True)
class Planner:
    """Planner of the cells of a protocol."""

    experiment: Experiment
    scope: Scope
    options: Any  # the validated options of the protocol
    steps: Any  # the protocol
    _identities: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def cell(  # noqa: PLR0913
        self,
        dataset: str,
        column: str,
        repeat: int,
        method: Mapping[str, Any],
        *,
        setting: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        split: Mapping[str, Any] | None = None,
        shares: Sequence[str] = ("data", "split"),
        n_fits: int = 1,
        open_ended: bool = False,
        **more: Any,
    ) -> Cell:
        """Return a cell; its key covers all arguments and the identity of the data set and the method."""
        scaled = {"standardize": self.experiment.data.standardize} if self.steps.scales else {}
        declared: dict[str, Any] = {
            "protocol": self.steps.identity(),
            "data": {"name": dataset, "sha256": self._identity(dataset), **scaled, **(data or {})},
            "method": method,
            **more,
        }
        if split is not None:
            declared["split"] = {"seed": self.experiment.split.seed, "repeat": repeat, **split}
        group = canonical_json([declared[part] for part in shares])
        return Cell(dataset, setting or {}, repeat, column, declared, group, n_fits, open_ended)

    def _identity(self, dataset: str) -> str:
        from pucli.data import data_sha256, dataset_entry

        if dataset not in self._identities:
            if not self.steps.keeps_groups and dataset_entry(dataset).groups is not None:
                raise UsageError(
                    f"{self.experiment.name}: {dataset} declares groups, and the protocol {self.steps.name} does not "
                    "keep them together; take the protocol pu, or an entry without groups."
                )
            self._identities[dataset] = data_sha256(dataset)
        return self._identities[dataset]


def declared_method(
    experiment: Experiment,
    column: str,
    *,
    changes: Mapping[str, Any] | None = None,
    given: Collection[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """Return name, version and declared parameters of the method of a column, as part of the key of a cell.

    The version stands for what is not declared: it is raised when a default of the constructor changes. No test checks
    this for methods of other packages, so their keys include the defaults.
    """
    from pucli.methods import constructor_defaults, get_method, identity
    from pucli.solvers.ensemble.class_prior import VERSION

    entry = experiment.methods[column]
    method = get_method(entry.method)
    present = constructor_defaults(method)
    defaults = {**(present if method.package else {}), **experiment.defaults.get(method.name, {})}
    irrelevant = {"random_state", *given, *more.get("grid", ())}
    params = {
        **{name: value for name, value in defaults.items() if name not in irrelevant},
        **method.params,
        **entry.params,
        **(changes or {}),
    }
    _check_writable(column, params)
    # the version of "bbe" is that of the published rule
    of = {**present, **params}
    estimated = of.get("prior") in (None, "estimate") and "prior" not in given
    by = of.get("prior_estimator")
    prior = {"prior_version": VERSION} if by == "auto" else {"prior_version": 2} if estimated and by == "bbe" else {}
    return {"name": method.name, "version": method.version, **identity(method), "params": params, **prior, **more}


def _check_writable(column: str, params: Mapping[str, Any]) -> None:
    """Raise UsageError for a parameter that cannot be part of a key, or that is required but not given."""
    for name, value in params.items():
        if value is inspect.Parameter.empty:
            raise UsageError(f"methods.{column}.{name}: the constructor needs this parameter; give it a value.")
        try:
            canonical_json(value)
        except (TypeError, ValueError):
            raise UsageError(
                f"methods.{column}.{name}: its default, {value!r}, cannot be stored; give it a number, text, "
                "list or mapping, or null."
            ) from None


def make(method: Mapping[str, Any], params: Mapping[str, Any] | None = None, **given: Any) -> Any:
    """Return an unfitted estimator of the method of a cell."""
    from pucli.methods import make_estimator

    return make_estimator(method["name"], **{**(method["params"] if params is None else params), **given})


def seed_of(cell: Cell, purpose: str) -> int:
    """Return a seed for a data set, setting and repeat, the same for all methods."""
    split = cell.declared["split"]
    # committed cells were seeded when this condition was spelled so; another spelling draws other numbers
    setting = {"labelling" if name == "labeling" else name: value for name, value in cell.setting.items()}
    return int(seed_sequence(split["seed"], purpose, cell.dataset, setting, cell.repeat)[0])


def read_dataset(name: str, context: Context, *, multiclass: bool = False) -> Dataset:
    """Return a declared data set, which is read once per process."""
    return _read(name, multiclass, context.mirror, context.offline)


def read_rows(name: str, context: Context, *, multiclass: bool = False) -> tuple[Floats, AnyArray]:
    """Return the read-only X (n, m) and y (n,) of a declared data set."""
    found = read_dataset(name, context, multiclass=multiclass)
    return found.X, found.y


def read_groups(name: str, context: Context) -> Ints | None:
    """Return the group (n,) of each row of a declared data set, None if its entry declares no groups."""
    from pucli.data import dataset_entry

    return None if dataset_entry(name).groups is None else read_dataset(name, context).groups


def check_two_classes(name: str, y: AnyArray, way_out: str = "name them in datasets.yaml (target)") -> None:
    """Raise UsageError if `y` of the data set `name` does not have a positive and a negative class."""
    if set(np.unique(y)) != {-1, 1}:
        raise UsageError(f"{name} has no positive and negative class; {way_out}.")


def scaling(how: str, X_train: Floats) -> Callable[[Floats], Floats]:
    """Return the function that standardizes rows by the training rows, or leaves them as they are."""
    if how == "none":
        return lambda X: X
    from pucli.data.features import Standardizer

    return Standardizer().fit(X_train).transform


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Add the time of the context to `seconds[name]`."""
    started = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - started


@functools.lru_cache(maxsize=6)  # a data set of presence_only is three tables
def _read(name: str, multiclass: bool, mirror: str | None, offline: bool | None) -> Dataset:
    from pucli.data import load_dataset

    dataset: Dataset = load_dataset(name, multiclass=multiclass, mirror=mirror, offline=offline)
    return dataset
