"""Runs of every method on every split: tuned or with defaults, fitted once, scored on the held-out rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np

from pucli.core.arrays import Floats
from pucli.core.errors import UsageError
from pucli.core.processes import in_workers
from pucli.core.seeding import seed_sequence
from pucli.data.features import Standardizer
from pucli.estimators.base.pu import has_own_probabilities
from pucli.methods import get_method, make_estimator
from pucli.metrics import compute, get_metric, pu_counts
from pucli.models.certificates import watched
from pucli.models.compare.chance import Ranked, all_positive, why_useless
from pucli.models.compare.tasks import Division, Task
from pucli.models.fitting import estimator_of, seeded, taken_groups
from pucli.models.scores import decision_values


@dataclass(frozen=True)
class ComparisonScores:
    """Results of a comparison.

    Parameters
    ----------
    methods, tasks : list of str
        Names.
    metric : str
        Its name in the list of metrics.
    values : array of shape (tasks, methods, repeats)
        In the unit of tables; NaN where a method failed.
    test_shares : list of float
        For each task, test rows over training rows.
    remarks : list of str
        Fits that failed or did not converge, and methods that may be no better than chance on a task.
    useless : list of str
        Methods that may be no better than chance on every task, see `pucli.models.compare.chance`.
    own : list of str
        Methods of which each pair that is tested has one; if there are none, all pairs are tested.
    printed : mapping of (str, str) to float
        Published mean by task and method, in the unit of tables.
    """

    methods: list[str]
    tasks: list[str]
    metric: str
    values: Floats
    test_shares: list[float]
    remarks: list[str]
    useless: list[str] = field(default_factory=list)
    own: Sequence[str] = ()
    printed: Mapping[tuple[str, str], float] = field(default_factory=dict)


class SplitScores(NamedTuple):
    """Results on one split: metric and ranking of each method, and the metric of calling every row positive."""

    task: int
    repeat: int
    values: list[float]
    ranked: list[Ranked]
    rival: float
    remarks: list[str]


@dataclass(frozen=True)
class _Plan:
    methods: tuple[str, ...]
    metric: str
    seed: int
    label_frequency: float
    tune: bool
    repeats: int


def compare(  # noqa: PLR0913
    methods: Sequence[str],
    tasks: Sequence[Task],
    *,
    metric: str = "",
    repeats: int = 10,
    seed: int = 0,
    label_frequency: float = 0.5,
    tune: bool = False,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> ComparisonScores:
    """Run methods on the same splits.

    Parameters
    ----------
    methods : sequence of str
        Two or more PU methods.
    tasks : sequence of Task
        Tasks to run them on; either all have known classes, or none has.
    metric : str, optional
        Name in the list of metrics, with a better side. Default: f1, or puf if classes are not known.
    repeats : int, default=10
        Splits of each task.
    seed : int, default=0
        Seed of splits, folds and methods.
    label_frequency : float, default=0.5
        Share of the training positives that is labeled, if classes are known.
    tune : bool, default=False
        Whether parameters are chosen on each training set, by the method's own grid; else they are the defaults.
    n_jobs : int, default=1
        Worker processes; results do not depend on it.
    progress : callable, optional
        Called with the numbers of finished and of all splits.

    Raises
    ------
    UsageError
        Fewer than two methods, one of another kind, or a metric that cannot be had or has no better side.

    Examples
    --------
    >>> from pucli.models.compare import compare, declared_task
    >>> scores = compare(["gllc", "blssvm"], [declared_task("breast-cancer")], repeats=2)
    >>> scores.values.shape
    (1, 2, 2)
    """
    if len(methods) < 2:
        raise UsageError("name at least two methods to compare; `pucli list methods` shows them.")
    known = {task.known for task in tasks}
    if len(known) != 1:
        raise UsageError("tasks with known classes and tasks without cannot be compared together.")
    metric = metric or ("f1" if known.pop() else "puf")
    check(methods, metric)
    if repeats < 2:
        raise UsageError(f"--repeats {repeats}: a test needs at least two.")
    plan = _Plan(tuple(methods), metric, seed, label_frequency, tune, repeats)
    jobs = [(number, repeat) for number in range(len(tasks)) for repeat in range(repeats)]
    work = ((tasks[number], number, repeat, plan) for number, repeat in jobs)
    results = starmap(_one, work) if n_jobs == 1 else in_workers(_one, work, n_jobs, ordered=False)
    splits = []
    for split in results:
        splits.append(split)
        if progress is not None:
            progress(len(splits), len(jobs))
    shares = {task.name: task.test_share(label_frequency, repeats) for task in tasks}
    return collected(sorted(splits, key=lambda split: split[:2]), methods, shares, metric)


def collected(
    splits: Sequence[SplitScores], methods: Sequence[str], shares: Mapping[str, float], metric: str
) -> ComparisonScores:
    """Return the results of splits sorted by task and repeat; `shares` has test rows over training rows by task."""
    scale, shape = get_metric(metric).scale, (len(shares), -1, len(methods))
    values = scale * np.array([split.values for split in splits]).reshape(shape).transpose(0, 2, 1)
    rivals = scale * np.array([split.rival for split in splits]).reshape(len(shares), -1)
    said = Counter(remark for split in splits for remark in split.remarks)
    remarks = [f"{remark} ({count} of {len(splits)} splits)" for remark, count in sorted(said.items())]
    useless = []
    for m, name in enumerate(methods):
        faults = 0
        for number, (task, share) in enumerate(shares.items()):
            ranked = [split.ranked[m] for split in splits if split.task == number]
            why = why_useless(values[number, m], ranked, rivals[number], metric, share)
            if why:
                faults += 1
                remarks.append(f"{name} may be useless on {task}: {why}")
        if faults == len(shares):
            useless.append(name)
    return ComparisonScores(list(methods), list(shares), metric, values, list(shares.values()), remarks, useless)


def check(methods: Sequence[str], metric: str) -> None:
    """Raise UsageError for a method that is named twice, or is no PU method, and for a metric without a better side."""
    if get_metric(metric).better is None:
        raise UsageError(f"the metric {metric} has no better side; `pucli list metrics` shows which have.")
    for name in methods:
        if methods.count(name) > 1:
            raise UsageError(f"{name} is named twice; name another method.")
        if get_method(name).kind != "pu":
            raise UsageError(f"{name} is {get_method(name).kind}; `compare` takes pu methods (`pucli list methods`).")
        estimator_of(name)


def _one(task: Task, number: int, repeat: int, plan: _Plan) -> SplitScores:
    """Return the results of one split, NaN where a method failed."""
    how = {"seed": plan.seed, "label_frequency": plan.label_frequency, "repeats": plan.repeats}
    division = task.division(repeat, **how)  # type: ignore[arg-type]
    scaler = Standardizer().fit(division.X_train)
    X_train, X_test = scaler.transform(division.X_train), scaler.transform(division.X_test)
    division = replace(division, X_train=X_train, X_test=X_test)
    scored, ranked, said = [], [], []
    for name in plan.methods:
        seed = int(seed_sequence(plan.seed, "fit", task.name, {}, repeat)[0])
        with watched() as seen:
            try:
                value, ranking = _score(name, division, task, plan, seed)
            except UsageError:
                raise
            except Exception as error:  # a method that fails on one split leaves the others
                value, ranking = float("nan"), Ranked.of(division.truth, None)
                said.append(f"{name} failed on {task.name}: {' '.join(str(error).split())[:160]}")
        scored.append(value)
        ranked.append(ranking)
        if seen["not converged"]:
            said.append(f"{name} did not converge on {task.name}")
    rival = all_positive(plan.metric, division.truth, task.known, task.denominator)
    return SplitScores(number, repeat, scored, ranked, rival, said)


def _score(name: str, division: Division, task: Task, plan: _Plan, seed: int) -> tuple[float, Ranked]:
    from pucli.tuning import tune

    params = seeded(name, get_method(name).params, seed)
    if "scenario" in signature(estimator_of(name)).parameters:
        params = {**params, "scenario": task.scenario}
    if plan.tune and get_method(name).grid:
        how = {"denominator": task.denominator, "seed": seed, "groups": division.groups}  # of a file, copies are groups
        params = tune(name, division.X_train, division.s, params=params, **how).params  # type: ignore[arg-type]
    model = make_estimator(name, **params)
    model.fit(division.X_train, division.s, **taken_groups(model, division.groups))
    predictions = np.asarray(model.predict(division.X_test) == model.classes_[-1]).astype(int)
    decision = decision_values(model, division.X_test)
    given: dict[str, Any]
    if task.known:
        given = {"truth": division.truth, "predictions": predictions, "positive": 1, "decision": decision}
        if has_own_probabilities(model):
            given["probability"] = np.asarray(model.predict_proba(division.X_test))[:, -1]
    else:
        given = {"counts": pu_counts(division.truth, predictions, 1), "denominator": task.denominator}
        given |= {"labeled": division.truth == 1, "decision": decision}
    found = compute(given, [plan.metric])
    if plan.metric not in found:
        names = [metric for metric in found if get_metric(metric).better is not None]
        there = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        why = "cannot be computed of these methods" if task.known else "needs true labels, which these rows do not have"
        raise UsageError(f"--metric {plan.metric} {why}; use {there}.")
    return found[plan.metric], Ranked.of(division.truth, decision)
