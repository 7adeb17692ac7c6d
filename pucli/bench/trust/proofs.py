"""Proven gaps on generated problems: no point is better than a gap allows, and no fit hides that it stopped.

The objective that is documented is computed in extended precision, at the solution and at points that search for a
better one: the best constants, a general minimiser in standardised features, and the same method on rows that are
scaled by a power of two, at a hundredth of the tolerance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pucli.arrays import Bools, Floats
from pucli.bench.trust._lines import Line

SEED = 21
COUNTS = (100, 10_000)
# Rounding of an objective, as a share of its size, that a gap may ignore; it is in the note of each line.
ROUNDING = 1e-10
Long = NDArray[np.longdouble]
# Terms of scores (n,), labelled rows and weights: their sum, and its slope by each score.
Terms = Callable[[Long, Bools, dict[str, float]], tuple[Any, Long]]


class Family(NamedTuple):
    """A method with a linear model: name, fixed parameters, random weights, weight of |w|^2, terms, whether f'Rf."""

    method: str
    fixed: dict[str, Any]
    weights: tuple[str, ...]
    ridge: Callable[[dict[str, float]], float]
    terms: Terms
    graph: bool = False


def _hinges(f: Long, p: Bools, c: dict[str, float]) -> tuple[Any, Long]:
    weight, sign = np.where(p, c["c_p"], c["c_u"]), np.where(p, 1.0, -1.0)
    inside = 1.0 - sign * f
    return (weight * np.maximum(inside, 0)).sum(), np.where(inside > 0, -sign * weight, 0)


def _squares(f: Long, p: Bools, c: dict[str, float]) -> tuple[Any, Long]:
    weight, sign = np.where(p, c["c_p"], c["c_u"]), np.where(p, 1.0, -1.0)
    return (weight * (1.0 - sign * f) ** 2).sum(), -2.0 * weight * sign * (1.0 - sign * f)


def _hinge_and_squares(f: Long, p: Bools, c: dict[str, float]) -> tuple[Any, Long]:
    value = c["c_p"] * np.maximum(1.0 - f[p], 0).sum() + c["c_u"] * ((1.0 + f[~p]) ** 2).sum()
    return value, np.where(p, np.where(f < 1.0, -c["c_p"], 0), 2.0 * c["c_u"] * (1.0 + f))


def _usmo(f: Long, p: Bools, c: dict[str, float]) -> tuple[Any, Long]:
    c1, c2 = c["prior"] / (2 * c["lam"] * p.sum()), 1.0 / (2 * c["lam"] * (~p).sum())
    value = -c1 * f[p].sum() + c2 * np.maximum(np.maximum(0, 0.5 + 0.5 * f[~p]), f[~p]).sum()
    return value, np.where(p, -c1, c2 * np.where(f > 1, 1.0, np.where(f > -1, 0.5, 0.0)))


def _upu_hinge(f: Long, p: Bools, c: dict[str, float]) -> tuple[Any, Long]:
    a, b = c["prior"] / p.sum(), 1.0 / (~p).sum()
    value = -a * f[p].sum() + b * np.maximum(np.maximum(0, 0.5 + 0.5 * f[~p]), f[~p]).sum()
    return value, np.where(p, -a, b * np.where(f > 1, 1.0, np.where(f > -1, 0.5, 0.0)))


def _upu_square(f: Long, p: Bools, c: dict[str, float]) -> tuple[Any, Long]:
    a, b = c["prior"] / p.sum(), 1.0 / (~p).sum()
    return -a * f[p].sum() + b * ((1.0 + f[~p]) ** 2 / 4).sum(), np.where(p, -a, b * (1.0 + f) / 2)


_BOTH = ("lam", "c_p", "c_u")
FAMILIES = (
    Family("bsvm", {}, _BOTH, lambda c: c["lam"], _hinges),
    Family("blssvm", {}, _BOTH, lambda c: c["lam"], _squares),
    Family("glpual", {"sigma": 1.0}, _BOTH, lambda c: c["lam"], _hinge_and_squares, True),
    Family("gllc", {"sigma": 1.0}, _BOTH, lambda c: c["lam"], _squares, True),
    Family("usmo", {"kernel": "linear", "random_state": 0}, ("lam", "prior"), lambda c: 1.0, _usmo),
    Family("upu", {"loss": "double-hinge"}, ("lam", "prior"), lambda c: c["lam"], _upu_hinge),
    Family("upu", {"loss": "squared"}, ("lam", "prior"), lambda c: c["lam"], _upu_square),
)


def lines(full: bool) -> list[Line]:
    """Return a line for each family of solvers."""
    found = []
    for family in FAMILIES:
        loss = family.fixed.get("loss")
        line = Line(f"gaps of {family.method}" + (f" ({loss})" if loss else ""))
        refused = 0
        for number in range(COUNTS[full]):
            rng = np.random.default_rng([SEED, number])
            what, X, labelled, weights = problem(rng, family)
            problem_found = _judge(family, X, labelled, weights)
            refused += problem_found == "refused"
            line.count(f"{number} {what}", "" if problem_found == "refused" else problem_found)
        line.note = f"rounding of {ROUNDING:g} of the objective is allowed"
        line.note += f"; {refused} were refused with a reason" if refused else ""
        found.append(line)
    return found


def problem(rng: np.random.Generator, family: Family) -> tuple[str, Floats, Bools, dict[str, float]]:
    """Return a kind of problem, rows, labelled rows and weights."""
    n, m = int(rng.integers(6, 40)), int(rng.integers(1, 6))
    kinds = ("plain", "scale", "offset", "duplicates", "one labelled", "rank 1", "n < m", "constant", "weights", "all")
    kind = kinds[int(rng.integers(0, len(kinds)))]
    every = kind == "all"
    if kind == "n < m" or (every and rng.random() < 0.3):
        m = n + int(rng.integers(1, 20))
    labelled = np.zeros(n, bool)
    labelled[rng.permutation(n)[: 1 if kind == "one labelled" else int(rng.integers(1, n - 1))]] = True
    X = rng.normal(size=(n, m)) + np.outer(labelled, rng.normal(size=m))
    if kind == "duplicates" or (every and rng.random() < 0.3):
        X = X[rng.integers(0, max(n // 3, 1), n)]
    if kind == "rank 1" or (every and rng.random() < 0.3):
        X = np.outer(X[:, 0], rng.normal(size=m))
    if kind == "constant" or (every and rng.random() < 0.3):
        X[:, 0] = float(rng.integers(-3, 4))
    if kind == "scale" or (every and rng.random() < 0.5):
        X = X * 10.0 ** float(rng.uniform(-30, 30))
    if kind == "offset" or (every and rng.random() < 0.3):
        X = X + np.abs(X).max() * 10.0 ** float(rng.uniform(0, 8))
    weights = {name: 10.0 ** float(rng.uniform(-1, 1)) for name in family.weights}
    if kind == "weights" or every:
        weights = {name: 10.0 ** float(rng.uniform(-6, 6)) for name in family.weights}
    if "prior" in weights:
        weights["prior"] = float(rng.uniform(0.05, 0.95))
    return kind, X, labelled, weights


class _Objective:
    """The documented objective of a family, in extended precision."""

    def __init__(self, family: Family, X: Floats, labelled: Bools, weights: dict[str, float]) -> None:
        self.family, self.labelled, self.weights = family, labelled, weights
        self.X = X.astype(np.longdouble)
        self.ridge = np.longdouble(family.ridge(weights))
        self.edges: Any = None
        if family.graph:
            from pucli.kernels.graph import mutual_knn

            self.edges = mutual_knn(X, 5).edges(1.0)

    def __call__(self, w: Any, b: Any) -> tuple[Any, Long, Any]:
        """Return the value and its slopes by w and by b."""
        w = np.asarray(w, dtype=np.longdouble)
        f = self.X @ w + np.longdouble(b)
        value, slope = self.family.terms(f, self.labelled, self.weights)
        if self.edges is not None:
            i, j, edge = self.edges
            difference = f[i] - f[j]
            value = value + (edge * difference**2).sum()
            slope = slope.astype(np.longdouble)
            np.add.at(slope, i, 2 * edge * difference)
            np.add.at(slope, j, -2 * edge * difference)
        return value + 0.5 * self.ridge * (w @ w), slope @ self.X + self.ridge * w, slope.sum()


def _judge(family: Family, X: Floats, labelled: Bools, weights: dict[str, float]) -> str:
    """Return what is wrong with a fit, "" if nothing, "refused" if the method raised an error."""
    from sklearn.exceptions import ConvergenceWarning

    from pucli.methods import make_estimator

    model = make_estimator(family.method, **family.fixed, **weights)
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            model.fit(X, labelled.astype(int))
        except ValueError as error:
            return "refused" if len(str(error)) > 40 else f"ValueError: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    warned = any(isinstance(item.message, ConvergenceWarning) for item in caught)
    if not model.converged_:
        return "" if warned else "did not converge and did not warn"
    if not np.isfinite(model.objective_) or np.isnan(model.dual_gap_):
        return f"converged with objective {model.objective_}, gap {model.dual_gap_}"
    with np.errstate(all="ignore"):
        objective = _Objective(family, X, labelled, weights)
        own = objective(model.coef_, model.intercept_)[0]
        best, by = _best(objective, family, X, labelled, weights, model)
    size = max(abs(float(own)), abs(model.objective_), abs(float(objective(0 * model.coef_, 0.0)[0])))
    slack = model.dual_gap_ + ROUNDING * size
    if float(own) - model.objective_ > slack:
        return f"the objective is {float(own):.9g}, not {model.objective_:.9g} (gap {model.dual_gap_:.2g})"
    if model.objective_ - float(best) > slack:
        return f"gap {model.dual_gap_:.3g}, but {by} is {model.objective_ - float(best):.3g} lower (size {size:.3g})"
    return ""


def _best(
    objective: _Objective, family: Family, X: Floats, labelled: Bools, weights: dict[str, float], model: Any
) -> tuple[Any, str]:
    """Return the least value of the objective that was found, and the method that found it."""
    zero = np.zeros(X.shape[1])
    found = [(objective(zero, constant)[0], "a constant") for constant in (-1.0, 0.0, 1.0)]
    centre, scale = X.mean(axis=0), float(np.abs(X - X.mean(axis=0)).max()) or 1.0
    w, b = np.asarray(model.coef_, dtype=np.longdouble), np.longdouble(model.intercept_)
    start = np.append(np.asarray(w * scale, dtype=float), float(b + centre.astype(np.longdouble) @ w))
    if np.isfinite(start).all():
        found.append((_minimised(objective, centre, scale, start), "a general minimiser"))
    found += _again(objective, family, X, labelled, weights)
    finite = [pair for pair in found if np.isfinite(pair[0])]
    return min(finite, key=lambda pair: float(pair[0]))


def _minimised(objective: _Objective, centre: Floats, scale: float, start: Floats) -> Any:
    """Return the least value by L-BFGS over (scale w, b + centre'w)."""
    from scipy.optimize import minimize

    far = centre.astype(np.longdouble) / scale

    def value(point: Floats) -> tuple[float, Floats]:
        v = point[:-1].astype(np.longdouble)
        found, by_w, by_b = objective(v / scale, np.longdouble(point[-1]) - far @ v)
        return float(found), np.append(np.asarray(by_w / scale - by_b * far, dtype=float), float(by_b))

    done = minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": 60})
    v = done.x[:-1].astype(np.longdouble)
    return objective(v / scale, np.longdouble(done.x[-1]) - far @ v)[0]


def _again(
    objective: _Objective, family: Family, X: Floats, labelled: Bools, weights: dict[str, float]
) -> list[tuple[Any, str]]:
    """Return the value that the method reaches at a hundredth of its tolerance on rows near one."""
    from pucli.methods import make_estimator

    largest = float(np.abs(X).max())
    if family.graph or family.method == "usmo" or not 0.0 < largest < np.inf:  # their other terms have units too
        return []
    factor = float(2.0 ** -np.round(np.log2(largest)))
    lam = weights["lam"] * factor**2
    if not 1e-300 < lam < 1e300:
        return []
    model = make_estimator(family.method, **family.fixed, **{**weights, "lam": lam})
    if "tol" in model.get_params():
        model.set_params(tol=model.get_params()["tol"] / 100)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X * factor, labelled.astype(int))
    except Exception:  # a failure here proves nothing
        return []
    return [(objective(np.asarray(model.coef_, dtype=np.longdouble) * factor, model.intercept_)[0], "rescaled rows")]
