"""Methods without a proven gap: the objective and the residual they state, computed in extended precision.

A network that is trained for a number of epochs has the risk and the gradient that it states, a mixture the likelihood
or the bound, which may never fall; and a fit that stopped too early says so.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pucli.core.arrays import Floats
from pucli.methods import make_estimator
from tests.trust.fits import Cases, fitted
from tests.trust.likelihoods import stored_gaussians
from tests.trust.objectives import Long
from tests.trust.problems import Problem, partly_labeled, problem

SEED = 27
COUNTS, SLOW = (100, 10_000), (20, 10_000)
# Rounding of an objective, as a share of the size of its terms; scores have that of theirs, too.
ROUNDING, OF_SCORES = 1e-10, 64 * np.finfo(float).eps
NETWORKS: dict[str, dict[str, Any]] = {"nnpu": {}, "upu": {"loss": "sigmoid"}}
SMALL: dict[str, Any] = {"hidden": 8, "n_epochs": 20, "batch_size": 16, "random_state": 0}
# Few steps, so that some fits stop too early.
BOUNDED: dict[str, Any] = {"n_components": 2, "max_iter": 40, "random_state": 0}


def cases() -> list[Cases]:
    note = "rounding of the scores is allowed"
    return [
        *(Cases(f"risk and gradient of {name} (network)", COUNTS, partial(_network, name), note) for name in NETWORKS),
        Cases("likelihood of em-lda", COUNTS, _mixture),
        Cases("bound of classtering", SLOW, _bound),
    ]


def _network(method: str, number: int) -> tuple[str, str]:
    task = problem(np.random.default_rng([SEED, number]), ("prior",))
    return task.kind, judged_network(method, task)


def judged_network(method: str, task: Problem) -> str:
    """Return what is wrong with a network, "" if nothing, "refused" if the method refused the rows with a reason."""
    model = make_estimator(method, **NETWORKS[method], **SMALL, **task.weights)
    if wrong := fitted(model, task.X, task.labeled.astype(int)):
        return wrong
    if not np.isfinite(model.objective_) or not np.isfinite(model.residual_):
        return f"converged with risk {model.objective_}, residual {model.residual_}" if model.converged_ else ""
    with np.errstate(all="ignore"):
        return _wrong_network(model, task, method == "nnpu")


def _wrong_network(model: Any, task: Problem, non_negative: bool) -> str:
    X, p, prior = task.X.astype(np.longdouble), task.labeled, np.longdouble(task.weights["prior"])
    W, b, v, c = (np.asarray(part, dtype=np.longdouble) for part in model.network_)
    hidden = X @ W + b
    f = np.maximum(hidden, 0) @ v + c[0]
    unsure = OF_SCORES * (np.abs(X) @ np.abs(W) + np.abs(b))  # rounding of the hidden values
    moved = unsure @ np.abs(v) + OF_SCORES * (np.abs(f) + np.maximum(hidden, 0) @ np.abs(v))
    down, up = 1 / (1 + np.exp(f)), 1 / (1 + np.exp(-f))
    positive, negative = prior * down[p].mean(), up[~p].mean() - prior * up[p].mean()
    slope = np.minimum(up * down + moved, 0.25)  # the steepest slope near each score
    weight = np.where(p, prior / p.sum(), 1 / (~p).sum())
    cost = float((2 * weight * np.minimum(slope * moved, 1)).sum()) + ROUNDING
    risk = positive + (max(negative, 0) if non_negative else negative)
    if abs(float(risk) - model.objective_) > cost:
        return f"the risk is {float(risk):.12g}, not {model.objective_:.12g}"
    if abs(float(negative) - model.negative_risk_) > cost:
        return f"the negative risk is {float(negative):.12g}, not {model.negative_risk_:.12g}"
    if (np.abs(hidden) <= unsure).any() and float(unsure.max()) > ROUNDING:
        return ""  # a unit may be on or off, by rounding
    if non_negative and abs(float(negative)) <= cost:
        return ""  # and so may the correction
    return _wrong_residual(model, task, (W, b, v, c), (hidden, up * down, moved), non_negative and negative < 0)


def _wrong_residual(model: Any, task: Problem, network: Any, scores: Any, corrected: bool) -> str:
    """Return what is wrong with the largest entry of the gradient, weight decay included."""
    (W, b, v, c), (hidden, slope, moved) = network, scores
    X, p, prior = task.X.astype(np.longdouble), task.labeled, np.longdouble(task.weights["prior"])
    by_positive = np.where(p, -prior / p.sum(), 0) * slope
    by_negative = np.where(p, -prior / p.sum(), 1 / np.longdouble((~p).sum())) * slope
    by_score = -by_negative if corrected else by_positive + by_negative
    back = np.where(hidden > 0, by_score[:, None] * v, 0)
    decay = np.longdouble(model.weight_decay)
    parts = X.T @ back + decay * W, back.sum(axis=0) + decay * b, np.maximum(hidden, 0).T @ by_score + decay * v
    residual = max(*(float(np.abs(part).max()) for part in parts), float(abs(by_score.sum() + decay * c[0])))
    # a slope of the loss is off by at most the error of the score
    error = np.abs(by_score) * (OF_SCORES + np.minimum(moved, 1)) + OF_SCORES * np.abs(by_positive)
    reach = max(float(np.abs(X).max()) * float(np.abs(v).max()), float(np.abs(hidden).max()), 1.0)
    allowed = ROUNDING * max(residual, 1.0) + reach * float(error.sum()) + OF_SCORES * reach * float(np.abs(back).sum())
    if abs(residual - model.residual_) > allowed:
        return f"the gradient is {residual:.9g}, not {model.residual_:.9g}"
    return ""


def _mixture(number: int) -> tuple[str, str]:
    kind, X, y = partly_labeled(np.random.default_rng([SEED, number, 1]))
    model = make_estimator("em-lda", max_iter=200)
    if wrong := fitted(model, X, y):
        return kind, wrong
    rows = X.astype(np.longdouble)
    center = rows.mean(axis=0)
    scale = np.abs(rows - center).max(axis=0)
    scale = np.where(scale > 0, scale, 1)
    try:
        with np.errstate(all="ignore"):
            joint = stored_gaussians(model, center, scale, model.family).log_joint((rows - center) / scale)
    except np.linalg.LinAlgError:
        return kind, "the covariance is singular" if model.converged_ else ""
    # in the coordinates of the fit
    joint -= np.log(scale).sum() + np.linalg.slogdet(model.transform_)[1]
    largest = joint.max(axis=1)
    both = largest + np.log(np.exp(joint - largest[:, None]).sum(axis=1))
    own = np.where(y >= 0, joint[np.arange(len(y)), np.searchsorted(model.classes_, np.maximum(y, 0))], both)
    size = float(np.abs(joint).max(axis=1).sum())
    far = float((np.abs(center) / np.sqrt(np.diag(model.covariance_))).max())
    slack = (ROUNDING + np.finfo(float).eps * (far + 1.0) * _condition(model.covariance_)) * (size + len(y))
    if abs(float(own.sum()) - model.objective_) > slack:
        return kind, f"the log-likelihood is {float(own.sum()):.12g}, not {model.objective_:.12g}"
    return kind, ""


def _condition(covariance: Floats) -> float:
    deviation = np.sqrt(np.diag(covariance))
    return float(np.linalg.cond(covariance / np.outer(deviation, deviation)))


def _bound(number: int) -> tuple[str, str]:
    kind, X, y = partly_labeled(np.random.default_rng([SEED, number, 2]), least=1)
    model = make_estimator("classtering", **BOUNDED)
    if wrong := fitted(model, X, y):
        return kind, wrong
    values: Long = np.asarray(model.lower_bound_, dtype=np.longdouble)
    if not np.isfinite(values).all() or model.objective_ != values[-1]:
        return kind, f"bound {model.objective_}, last value {values[-1]}"
    fall = float(np.max(-np.diff(values), initial=0.0))
    return kind, f"the bound falls by {fall:.3g} nats" if fall > ROUNDING * float(np.abs(values).max()) else ""
