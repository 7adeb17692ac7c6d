"""What protocols do alike: plan cells, read data, seed, standardise, make estimators, take times."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pucli.arrays import AnyArray, Floats
from pucli.errors import UsageError
from pucli.runner.cells import Cell, Context, canonical_json
from pucli.runner.experiment import Experiment
from pucli.seeding import seed_words


@dataclass(frozen=True)
class Planner:
    """Makes the cells of one protocol.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    protocol : str
        Name of the protocol.
    version : int
        Raised when the protocol changes what a cell computes.
    """

    experiment: Experiment
    protocol: str
    version: int
    _identities: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def cell(
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
        """Return one cell; its key covers all that is given here, and the data set's and the method's identity.

        Parameters
        ----------
        dataset, column : str
            Names of the data set and of the experiment's column.
        repeat : int
            Counted from 0.
        method : mapping
            What `declared_method` returned for the column.
        setting : mapping, optional
            Scenario parameters, for the table.
        data : mapping, optional
            What the protocol declares about the data.
        split : mapping, optional
            What it declares about the division into training and test rows, beside seed and repeat; None where rows
            are not divided.
        shares : sequence of str, default=("data", "split")
            Parts of the key that cells of one group have in common.
        n_fits : int, default=1
            Fits that the cell takes.
        open_ended : bool, default=False
            Whether more may follow.
        **more
            Further parts of the key.

        Returns
        -------
        Cell
            The cell.
        """
        declared: dict[str, Any] = {
            "protocol": [self.protocol, self.version],
            "data": {"name": dataset, "sha256": self._identity(dataset), **(data or {})},
            "method": method,
            **more,
        }
        if split is not None:
            declared["split"] = {"seed": self.experiment.split.seed, "repeat": repeat, **split}
        group = canonical_json([declared[part] for part in shares])
        return Cell(dataset, setting or {}, repeat, column, declared, group, n_fits, open_ended)

    def _identity(self, dataset: str) -> str:
        from pucli.data import data_sha256

        if dataset not in self._identities:
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
    """Return name, version and parameters of a column's method as a cell's key has them.

    Parameters
    ----------
    experiment : Experiment
        The declared experiment.
    column : str
        Name of the column.
    changes : mapping, optional
        Parameters that stand over those of the column.
    given : collection of str, default=()
        Parameters that the protocol gives each fit itself; a grid's and ``random_state`` are always among them.
    **more
        Further entries, e.g. ``grid``.

    Returns
    -------
    dict
        ``name``, ``version``, ``params`` and `more`.
    """
    from pucli.methods import constructor_defaults, get_method, identity

    entry = experiment.methods[column]
    method = get_method(entry.method)
    params = key_params(
        {**method.params, **entry.params, **(changes or {})},
        experiment.defaults.get(method.name, {}),
        constructor_defaults(method),
        method.former_defaults,
        {"random_state", *given, *more.get("grid", ())},
    )
    _check_writable(column, params)
    return {"name": method.name, "version": method.version, **identity(method), "params": params, **more}


def _check_writable(column: str, params: Mapping[str, Any]) -> None:
    """Raise UsageError for a parameter that a cell's key cannot hold, or that the constructor needs and has not got."""
    for name, value in params.items():
        if value is inspect.Parameter.empty:
            raise UsageError(f"methods.{column}.{name}: the constructor needs this parameter; give it a value.")
        try:
            canonical_json(value)
        except (TypeError, ValueError):
            raise UsageError(
                f"methods.{column}.{name}: its default, {value!r}, cannot be written down; give it a number, text, "
                "list or mapping, or null."
            ) from None


def key_params(
    declared: Mapping[str, Any],
    defaults: Mapping[str, Any],
    present: Mapping[str, Any],
    former: Mapping[str, Any],
    given: Collection[str] = (),
) -> dict[str, Any]:
    """Return the parameters that a key needs, so that with `former` they say every parameter of the fit.

    Those that a column declares are always among them. Any other is when its value is not the former default, or when
    it has none. So two different sets of parameters never have the same key, whatever defaults become, and a key that
    was made from former defaults stays.

    Parameters
    ----------
    declared : mapping
        Parameters of the column.
    defaults : mapping
        Those that the experiment declares for all columns of the method.
    present : mapping
        The constructor's defaults today.
    former : mapping
        The method's former defaults, see `pucli.former_defaults`.
    given : collection of str, default=()
        Parameters that are set for each fit: what they are otherwise plays no part.

    Returns
    -------
    dict
        Parameter -> value.

    Examples
    --------
    >>> key_params({"lam": 1.0}, {"tol": 1e-6}, {"lam": 0.5, "tol": 1e-3, "width": "auto"}, {"tol": 1e-6, "width": 1.0})
    {'lam': 1.0, 'width': 'auto'}
    """
    implied = {
        name: value
        for name, value in {**present, **defaults}.items()
        if name not in declared
        and name not in given
        and (name not in former or canonical_json(value) != canonical_json(former[name]))
    }
    return {**declared, **implied}


def make(method: Mapping[str, Any], params: Mapping[str, Any] | None = None, **given: Any) -> Any:
    """Return an unfitted estimator of a cell's method.

    Parameters
    ----------
    method : mapping
        What `declared_method` returned.
    params : mapping, optional
        Parameters in place of those of the key, which are among them.
    **given
        Parameters that stand over all others.

    Returns
    -------
    estimator
        With every parameter of the constructor as it was declared, whatever its defaults are today.
    """
    from pucli.methods import complete_params, make_estimator

    own = method["params"] if params is None else params
    return make_estimator(method["name"], **{**complete_params(method["name"], own), **given})


def check_unscaled(experiment: Experiment) -> None:
    """Raise UsageError where features would be scaled by a protocol that takes them as they come."""
    if experiment.data.standardise != "none":
        raise UsageError(
            f"{experiment.name}: the protocol {experiment.protocol} takes features as they come; add "
            "data.standardise: none."
        )


def takes_seed(name: str) -> bool:
    """Return whether the estimator of the method `name` has a `random_state`."""
    from pucli.methods import constructor_defaults, get_method

    return "random_state" in constructor_defaults(get_method(name))


def seed_of(cell: Cell, purpose: str) -> int:
    """Return a seed for a data set, setting and repeat, the same for all methods."""
    split = cell.declared["split"]
    return int(seed_words(split["seed"], purpose, cell.dataset, dict(cell.setting), cell.repeat)[0])


def read_rows(name: str, context: Context, *, multiclass: bool = False) -> tuple[Floats, AnyArray]:
    """Return X and y of a declared data set, read once in a process; neither may be written to.

    Parameters
    ----------
    name : str
        The data set.
    context : Context
        Where its files may come from.
    multiclass : bool, default=False
        Whether y has the classes of the source instead of -1 and +1.

    Returns
    -------
    X : array of shape (n_rows, n_features)
        Features.
    y : array of shape (n_rows,)
        Classes.
    """
    return _read(name, multiclass, context.mirror, context.offline)


def check_two_classes(name: str, y: AnyArray, way_out: str = "name them in datasets.yaml (target)") -> None:
    """Raise UsageError where `y` of the data set `name` does not hold a positive and a negative class."""
    if set(np.unique(y)) != {-1, 1}:
        raise UsageError(f"{name} has no positive and negative class; {way_out}.")


def standardised(how: str, X_train: Floats, *others: Floats) -> list[Floats]:
    """Return training and other rows as the key `standardise` says: by the training rows, or as they are."""
    if how == "none":
        return [X_train, *others]
    from pucli.data.preprocessing import Standardiser

    scaler = Standardiser().fit(X_train)
    return [scaler.transform(X) for X in (X_train, *others)]


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Add the seconds that the block takes to `seconds[name]`."""
    started = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - started


@functools.lru_cache(maxsize=4)
def _read(name: str, multiclass: bool, mirror: str | None, offline: bool | None) -> tuple[Floats, AnyArray]:
    from pucli.data import load_dataset

    dataset = load_dataset(name, multiclass=multiclass, mirror=mirror, offline=offline)
    return dataset.X, dataset.y
