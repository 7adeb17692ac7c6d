"""Proven gaps on generated problems: no point is better than a gap allows, and no fit hides that it stopped.

The documented objective is computed in extended precision, at the solution and at points that search for a better one:
constants, a general minimizer, Clarabel, and the same method on rows that are scaled by a power of two, at a hundredth
of the tolerance. A method that is not convex states how far its convex majorant may fall; this is checked likewise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from pucli.methods import make_estimator
from pucli.solvers.kernels.graph import mutual_knn
from pucli.solvers.kernels.low_rank import rbf_map
from tests.trust import objectives
from tests.trust.fits import Cases, fitted
from tests.trust.objectives import LossesAt, Objective, linear_objective, sum_objective, surface_objective
from tests.trust.problems import Problem, problem

SEED = 21
COUNTS = (100, 10_000)
# Of problems that take a second each, and of problems with many rows, fewer are tried.
SLOW, FEW = (20, 10_000), (6, 300)
MANY_ROWS = (4001, 4400)
# Share of the rows whose weight is zero, where rows have weights of their own.
NO_WEIGHT = 0.05
# Rounding of an objective, as a share of its size, that a gap may ignore; it is in the note of each line.
ROUNDING = 1e-10


class Family(NamedTuple):
    """A method: its fixed parameters, random weights, losses, the weight of |w|^2 / 2, and whether f'Rf is added.

    `rows` is the interval of the number of rows, `features` the usual largest number of features, and `tries` the
    number of problems by default and with --full. With `weighted`, each row has a weight of its own.
    """

    method: str
    fixed: dict[str, Any]
    weights: tuple[str, ...]
    losses: LossesAt
    ridge: Callable[[dict[str, float]], float] = lambda c: c["lam"]
    graph: bool = False
    rows: tuple[int, int] = (6, 40)
    features: int = 5
    tries: tuple[int, int] = COUNTS
    weighted: bool = False

    @property
    def name(self) -> str:
        """Return the method and what sets the family apart."""
        kept = [str(self.fixed[key]) for key in ("loss", "kernel") if key in self.fixed]
        many = [f"over {self.rows[0] - 1} rows"] if self.rows == MANY_ROWS else []
        weighted = ["weights of rows"] if self.weighted else []
        found = ", ".join(kept + many + weighted)
        return f"{self.method} ({found})" if found else self.method


def _one(c: dict[str, float]) -> float:
    return 1.0


def _second(c: dict[str, float]) -> float:
    return c["lam2"]


_LINEAR, _RBF, _POLYNOMIAL = {"kernel": "linear"}, {"kernel": "rbf"}, {"kernel": "polynomial", "degree": 2}
# A fit that is still above its tolerance then must say so; more steps would take minutes for a problem in a thousand.
_STEPS = {"max_iter": 20_000}
_BOTH, _ELASTIC, _PRIOR = ("lam", "c_p", "c_u"), ("lam1", "lam2", "c_p", "c_u"), ("lam", "prior")
_WIDE, _PRIOR_WIDE = (*_BOTH, "width"), (*_PRIOR, "width")
_GRAPH, _SEED, _HINGE = {"sigma": 1.0}, {"random_state": 0}, {"loss": "double-hinge"}
FAMILIES = (
    Family("bsvm", {**_STEPS, **_LINEAR}, _BOTH, objectives.hinges),
    Family("bsvm", {**_STEPS, **_RBF}, _WIDE, objectives.hinges),
    Family("blssvm", _LINEAR, _BOTH, objectives.squares),
    Family("blssvm", _RBF, _WIDE, objectives.squares),
    Family("glpual", {**_GRAPH, **_LINEAR}, _BOTH, objectives.hinge_and_squares, graph=True),
    Family("glpual", {**_GRAPH, **_RBF}, _WIDE, objectives.hinge_and_squares, graph=True),
    Family("gllc", {**_GRAPH, **_LINEAR}, _BOTH, objectives.squares, graph=True),
    Family("gllc", {**_GRAPH, **_RBF}, _WIDE, objectives.squares, graph=True),
    Family("e-glpual", _GRAPH, _ELASTIC, objectives.hinge_and_squares, _second, graph=True),
    Family("ekf-glpual", _GRAPH, _ELASTIC, objectives.hinge_and_squares, _second, graph=True, features=3, tries=SLOW),
    Family("usmo", {**_SEED, **_LINEAR}, _PRIOR, objectives.usmo, _one),
    Family("usmo", {**_SEED, **_RBF}, _PRIOR_WIDE, objectives.usmo, _one),
    Family("upu", {**_HINGE, **_LINEAR}, _PRIOR, objectives.upu_hinge),
    Family("upu", {**_HINGE, **_RBF}, _PRIOR_WIDE, objectives.upu_hinge),
    Family("upu", {"loss": "squared"}, _PRIOR, objectives.upu_square),
    Family("cpb-glpual", {**_GRAPH, **_LINEAR}, _PRIOR, objectives.cpb, graph=True),
    Family("cpb-glpual", {**_GRAPH, **_RBF}, _PRIOR_WIDE, objectives.cpb, graph=True),
    Family("ramp-pu", _LINEAR, _PRIOR, objectives.ramp, _one),
    Family("ramp-pu", _RBF, _PRIOR_WIDE, objectives.ramp, _one),
    Family("usmo", {**_SEED, **_POLYNOMIAL}, _PRIOR, objectives.usmo, _one),
    Family("ramp-pu", _POLYNOMIAL, _PRIOR, objectives.ramp, _one, tries=SLOW),
    Family("svc-naive", _LINEAR, ("C",), objectives.balanced_hinges, _one),
    Family("svc-naive", _RBF, ("C", "width"), objectives.balanced_hinges, _one),
    Family("bsvm", {**_STEPS, **_LINEAR}, _BOTH, objectives.hinges, weighted=True),
    Family("bsvm", {**_STEPS, **_RBF}, _WIDE, objectives.hinges, weighted=True),
    Family("blssvm", _LINEAR, _BOTH, objectives.squares, weighted=True),
    Family("blssvm", _RBF, _WIDE, objectives.squares, weighted=True),
    Family("bsvm", {**_STEPS, **_LINEAR}, _BOTH, objectives.hinges, rows=MANY_ROWS, features=3, tries=FEW),
    Family("upu", {**_HINGE, **_LINEAR}, _PRIOR, objectives.upu_hinge, rows=MANY_ROWS, features=3, tries=FEW),
    Family(
        "cpb-glpual", {**_GRAPH, **_LINEAR}, _PRIOR, objectives.cpb, graph=True, rows=MANY_ROWS, features=3, tries=FEW
    ),
)
# Where a loss is concave with a kink and a score is on it, any tangent will do: moves of labeled and unlabeled rows.
_MOVES = [(0, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)]
_NOT_CONVEX = (objectives.cpb, objectives.ramp)
# A sum of kernels at rows; the others are linear in low-rank features of the kernel.
_SUMS = {"bsvm", "usmo", "ramp-pu", "svc-naive"}


def cases() -> list[Cases]:
    note = f"rounding of {ROUNDING:g} of the objective is allowed"
    return [Cases(f"gaps of {family.name}", family.tries, partial(_judged, family), note) for family in FAMILIES]


def _judged(family: Family, number: int) -> tuple[str, str]:
    task = generated(family, number)
    return task.kind, judged(family, task)


def generated(family: Family, number: int, seed: int = SEED) -> Problem:
    task = problem(np.random.default_rng([seed, number]), family.weights, family.rows, family.features)
    if not family.weighted:
        return task
    rng = np.random.default_rng([seed, number, 1])
    own = 10.0 ** rng.uniform(-6, 6, len(task.X)) * (rng.random(len(task.X)) > NO_WEIGHT)
    return task._replace(own=own)


def judged(family: Family, task: Problem) -> str:
    """Return what is wrong with a fit, "" if nothing, "refused" if the method refused the rows with a reason."""
    model = make_estimator(family.method, **family.fixed, **task.weights)
    more = {} if task.own is None else {"sample_weight": task.own}
    if wrong := fitted(model, task.X, task.labeled.astype(int), **more):
        return wrong
    if task.own is not None:  # a row without weight is not there
        kept = task.own > 0.0
        task = task._replace(X=task.X[kept], labeled=task.labeled[kept], own=task.own[kept])
    bound = model.residual_ if np.isnan(model.dual_gap_) else model.dual_gap_
    if not np.isfinite(model.objective_) or not np.isfinite(bound):
        return f"converged with objective {model.objective_}, gap {bound}" if model.converged_ else ""
    model = _as_ours(model) if hasattr(model, "svc_") else model
    with np.errstate(all="ignore"):
        close = 1e-9 + 4 * np.finfo(float).eps * (abs(model._intercept) + _size_of_sums(family, task, model))
        moves = _MOVES if family.losses in _NOT_CONVEX else _MOVES[:1]
        wrong = ""
        for move in moves:
            wrong = _wrong(family, task, model, float(bound), close * np.where(task.labeled, *move))
            if not wrong:
                break
        return wrong


def _size_of_sums(family: Family, task: Problem, model: Any) -> float:
    """Return the size of the terms of a score that is a sum of kernels; the rounding of a score is a share of it."""
    if family.fixed.get("kernel", "linear") == "linear" or family.method not in _SUMS:
        return 0.0
    degree = None if family.fixed["kernel"] == "rbf" else family.fixed["degree"]
    largest = float(objectives.kernel(task.X, model.width_, degree).max())
    return largest * float(np.abs(_at_rows(task.X, model)).sum())


def _as_ours(model: Any) -> SimpleNamespace:
    """Return the point of a fit by scikit-learn's SVC under the names that our own methods have."""
    svc = model.svc_
    linear = {"_coef": svc.coef_[0]} if model.kernel == "linear" else {}
    return SimpleNamespace(
        objective_=model.objective_,
        _intercept=float(svc.intercept_[0]),
        support_vectors_=svc.support_vectors_,
        dual_coef_=svc.dual_coef_[0],
        support_=svc.support_,
        width_=model.width,
        **linear,
    )


def _wrong(family: Family, task: Problem, model: Any, bound: float, moved: Any) -> str:
    """Return what is wrong with the objective or the bound of a fit, "" if nothing; tangents are at f + `moved`."""
    objective, theta, b = _documented(family, task, model, moved)
    own = objective.at(theta, b)[0]
    best, by = objective.lowest(theta, b)
    for value in _again(objective, family, task):
        best, by = min((best, by), (value, "rescaled rows"), key=lambda pair: float(pair[0]))
    size = max(abs(float(own)), abs(model.objective_), abs(float(objective.at(0 * theta, np.longdouble(0))[0])))
    slack = bound + ROUNDING * size
    if float(own) - model.objective_ > slack:
        return f"the objective is {float(own):.9g}, not {model.objective_:.9g} (gap {bound:.2g})"
    if model.objective_ - float(best) > slack:
        return f"gap {bound:.3g}, but {by} is {model.objective_ - float(best):.3g} lower (size {size:.3g})"
    return ""


def _documented(family: Family, task: Problem, model: Any, moved: Any = 0.0) -> tuple[Objective, Any, Any]:
    """Return the documented objective of a family, and the point of a fit."""
    X, b = task.X, np.longdouble(model._intercept)
    edges = mutual_knn(X, 5).edges(1.0) if family.graph else None
    ridge = np.longdouble(family.ridge(task.weights))
    kernel = family.fixed.get("kernel", "linear")
    none = _losses(family, task, np.zeros(len(X), np.longdouble))
    if kernel != "linear" and family.method in _SUMS:
        degree = None if kernel == "rbf" else family.fixed["degree"]
        objective = sum_objective(objectives.kernel(X, model.width_, degree), none, ridge)
        theta = _at_rows(X, model).astype(np.longdouble)
    elif family.method == "ekf-glpual":
        objective = surface_objective(X, none, ridge, edges, np.longdouble(task.weights["lam1"]))
        upper = np.triu_indices(X.shape[1])
        theta = np.concatenate([model.quadratic_[upper], model._coef]).astype(np.longdouble)
    else:
        features = rbf_map(X, model.width_, None).L if kernel == "rbf" else X
        objective, center = linear_objective(features, none, ridge, edges)
        theta = np.asarray(model._coef, dtype=np.longdouble)
        b = b + center @ theta
        if family.method == "e-glpual":
            each = [np.array([j]) for j in range(X.shape[1])]
            objective = objective._replace(lasso=np.longdouble(task.weights["lam1"]), groups=each)
    return objective._replace(losses=_losses(family, task, objective.F @ theta + b + moved)), theta, b


def _losses(family: Family, task: Problem, f: Any) -> objectives.Losses:
    found = family.losses(task.labeled, task.weights, f)
    return found if task.own is None else found.times(task.own)


def _at_rows(X: Any, model: Any) -> Any:
    """Return the weights of the support vectors at the rows they are, (n,)."""
    weights = np.zeros(len(X))
    if hasattr(model, "support_"):
        weights[model.support_] = model.dual_coef_
        return weights
    place = 0
    for vector, weight in zip(model.support_vectors_, model.dual_coef_, strict=True):
        while not np.array_equal(X[place], vector):
            place += 1
        weights[place] = weight
        place += 1
    return weights


def _again(objective: Objective, family: Family, task: Problem) -> list[Any]:
    """Return the value that the method reaches at a hundredth of its tolerance on rows near one."""
    largest = float(np.abs(task.X).max())
    if (
        family.fixed.get("kernel", "linear") != "linear"
        or family.graph
        or "lam" not in task.weights
        or family.ridge is _one
        or not 0.0 < largest < np.inf
    ):
        return []  # their other terms have units too
    factor = float(2.0 ** -np.round(np.log2(largest)))
    lam = task.weights["lam"] * factor**2
    if not 1e-300 < lam < 1e300:
        return []
    model = make_estimator(family.method, **family.fixed, **{**task.weights, "lam": lam})
    if "tol" in model.get_params():
        model.set_params(tol=model.get_params()["tol"] / 100)
    more = {} if task.own is None else {"sample_weight": task.own}
    try:
        with warnings.catch_warnings(action="ignore"):
            model.fit(task.X * factor, task.labeled.astype(int), **more)
    except Exception:  # a failure here proves nothing
        return []
    w = np.asarray(model._coef, dtype=np.longdouble) * factor
    center = task.X.mean(axis=0).astype(np.longdouble)
    return [value for value in [objective.at(w, model._intercept + center @ w)[0]] if np.isfinite(value)]
