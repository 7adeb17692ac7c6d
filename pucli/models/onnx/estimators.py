"""The scores of fitted estimators in a graph: linear models, kernels, a hidden layer, Gaussian classes, and `auto`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from pucli.core.arrays import Floats
from pucli.core.errors import UsageError
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.estimators.global_local.cpb import CPBGLPUAL
from pucli.estimators.global_local.elastic import EKFGLPUAL, ElasticGLPUAL
from pucli.estimators.global_local.glpual import GLLC, GLPUAL
from pucli.estimators.global_local.svm import BLSSVM, BSVM
from pucli.estimators.safe.dress import DRESS
from pucli.estimators.safe.implicit_lda import ICLDA
from pucli.estimators.safe.lda_baselines import EMLDA, SelfTrainingLDA
from pucli.estimators.safe.least_squares import CPLS, ICLS, LeastSquares
from pucli.estimators.safe.mcpl import MCPL, MCPLLDA, MCPLQDA
from pucli.estimators.semi_supervised.laplacian_svm import LaplacianSVM
from pucli.estimators.unbiased.naive_svc import NaiveSVC
from pucli.estimators.unbiased.ramp import RampPU
from pucli.estimators.unbiased.upu import NNPU, UPU
from pucli.estimators.unbiased.usmo import USMO
from pucli.models.onnx.ensemble import auto_scores
from pucli.models.onnx.graph import OnnxGraph
from pucli.solvers.kernels.functions import Kernel
from pucli.solvers.safe.families import FixedGaussian


class Answer(NamedTuple):
    """Outputs of a graph for each row."""

    values: str  # scores (rows, 1), positive for the last of two classes, or those of all classes (rows, K)
    # probability (rows, 1) of the last of two classes, or of the predicted class; "" if the estimator has none
    probability: str = ""


def answer(graph: OnnxGraph, model: Any, method: str, x: str) -> Answer:
    """Return scores and probabilities of a fitted estimator."""
    if isinstance(model, AutoPU):
        return Answer(*auto_scores(graph, model, x))
    if type(model) in GENERATIVE and isinstance(model.family, str):
        return _generative(graph, model, x)
    if type(model) is DRESS:
        odds = _linear(graph, model, x)
        return Answer(odds, graph.add("Sigmoid", odds))
    if type(model) not in SCORES:
        raise UsageError(
            f"a model of {method} has no ONNX form: linear and kernel models, Gaussian classes and auto have one, "
            "but no clusters, no densities and no methods of other packages. Score with `pucli predict`."
        )
    values = SCORES[type(model)](graph, model, x)
    threshold = getattr(model, "threshold", None)
    return Answer(graph.add("Sub", values, graph.constant(threshold)) if threshold else values)


def _linear(graph: OnnxGraph, model: Any, x: str) -> str:
    return graph.linear(x, np.asarray(model._coef, dtype=np.float64)[:, None], model._intercept)


def _features(graph: OnnxGraph, model: Any, x: str) -> str:
    """Return the score of a model that is linear in x, in kernel features, or in kernel values (form "thesis")."""
    if model.kernel == "linear":
        return _linear(graph, model, x)
    weights = model._coef
    if getattr(model, "form", "rkhs") != "thesis":
        weights = solve_triangular(model.landmark_factor_, weights, lower=True, trans=1)
    return graph.linear(graph.gaussian(x, model.landmarks_, model.width_), weights[:, None], model._intercept)


def _kernel(graph: OnnxGraph, kernel: Kernel, centers: Floats, x: str) -> str:
    """Return kernel values (rows, p) of rows and centers (p, m)."""
    if kernel.name == "rbf":
        return graph.gaussian(x, centers, kernel.width)
    inner = graph.add("MatMul", x, graph.constant(centers.T))
    if kernel.name == "linear":
        return inner
    moved = graph.add("Add", inner, graph.constant(kernel.coef0))
    return graph.add("Pow", moved, graph.constant(kernel.degree))


def _support(graph: OnnxGraph, model: Any, x: str) -> str:
    """Return the score of a model that is a sum of kernels of training rows, or linear."""
    if model.kernel == "linear":
        return _linear(graph, model, x)
    given = {"degree": model.degree, "coef0": model.coef0} if hasattr(model, "degree") else {}
    values = _kernel(graph, Kernel(model.kernel, getattr(model, "width_", 1.0), **given), model.support_vectors_, x)
    return graph.linear(values, model.dual_coef_[:, None], model._intercept)


def _network(graph: OnnxGraph, model: Any, x: str) -> str:
    W, b, v, c = model.network_
    return graph.linear(graph.add("Relu", graph.linear(x, W, b)), v[:, None], c)


def _surface(graph: OnnxGraph, model: Any, x: str) -> str:
    """Return x'Ax / 2 + x'beta + intercept."""
    half = graph.add("MatMul", x, graph.constant(0.5 * model.quadratic_))
    square = graph.add("ReduceSum", graph.add("Mul", half, x), graph.constant([1], np.int64))
    return graph.add("Add", square, _linear(graph, model, x))


def _naive(graph: OnnxGraph, model: Any, x: str) -> str:
    if not hasattr(model, "svc_"):
        score = _features(graph, model, x)
    elif model.kernel == "linear":
        score = graph.linear(x, model.svc_.coef_.T, model.svc_.intercept_)
    else:
        width = float(np.sqrt(0.5 / model.svc_._gamma))
        values = graph.gaussian(x, model.svc_.support_vectors_, width)
        score = graph.linear(values, model.svc_.dual_coef_.T, model.svc_.intercept_)
    return graph.add("Sub", score, graph.constant(model.threshold_)) if model.threshold_ else score


def _least_squares(graph: OnnxGraph, model: Any, x: str) -> str:
    return graph.linear(x, model._coef[:, None], model._intercept - 0.5)


def _machines(graph: OnnxGraph, model: Any, x: str) -> str:
    values = _kernel(graph, Kernel(model.kernel, model.width), model._X, x)
    return graph.linear(values, model.dual_coef_.T, model.intercept_)


def _generative(graph: OnnxGraph, model: Any, x: str) -> Answer:
    """Return log pi_k p_k(x) up to what all classes share, as log odds for two classes, and the posterior."""
    moved = graph.add("Sub", x, graph.constant(model.center_))
    inside = graph.add("MatMul", moved, graph.constant(model.transform_))
    features, d = inside, len(model.center_)
    if model.family == "gaussian-full":
        i, j = np.triu_indices(d)
        pairs = [graph.add("Gather", inside, graph.constant(one, np.int64), axis=1) for one in (i, j)]
        second = graph.add("Add", graph.add("Mul", *pairs), graph.constant(model.jitter_[i, j]))
        features = graph.add("Concat", inside, second, axis=1)
    elif model.family == "gaussian-diagonal":
        second = graph.add("Add", graph.add("Mul", inside, inside), graph.constant(np.diag(model.jitter_)))
        features = graph.add("Concat", inside, second, axis=1)
    joint = graph.linear(features, model.theta_[:, 1:].T, model.theta_[:, 0])
    if model.family == "gaussian-fixed":
        joint = graph.add("Add", joint, _carriers(graph, model, inside))
    shares = graph.add("Softmax", joint, axis=1)
    if len(model.classes_) > 2:
        return Answer(joint, graph.add("ReduceMax", shares, graph.constant([1], np.int64)))
    first, last = (graph.add("Gather", joint, graph.constant([k], np.int64), axis=1) for k in (0, 1))
    probability = graph.add("Gather", shares, graph.constant([1], np.int64), axis=1)
    return Answer(graph.add("Sub", last, first), probability)


def _carriers(graph: OnnxGraph, model: Any, inside: str) -> str:
    """Return the densities' factors without the mean, (rows, K), of classes with a given covariance each."""
    parts = []
    for covariance in model.fixed_covariance_:
        inverse = FixedGaussian(covariance).inverse
        white = graph.add("MatMul", inside, graph.constant(inverse.T))
        square = graph.add("ReduceSum", graph.add("Mul", white, white), graph.constant([1], np.int64))
        half = graph.add("Mul", square, graph.constant(-0.5))
        parts.append(graph.add("Add", half, graph.constant(np.sum(np.log(np.diag(inverse))))))
    return graph.add("Concat", *parts, axis=1)


# Scores by exact class: a subclass may score in another way.
SCORES: dict[type, Callable[[OnnxGraph, Any, str], str]] = {
    **dict.fromkeys((GLPUAL, GLLC, BLSSVM, CPBGLPUAL), _features),
    **dict.fromkeys((BSVM, USMO, RampPU), _support),
    **dict.fromkeys((LeastSquares, ICLS, CPLS), _least_squares),
    ElasticGLPUAL: _linear,
    EKFGLPUAL: _surface,
    UPU: lambda graph, model, x: (_network if model.loss == "sigmoid" else _features)(graph, model, x),
    NNPU: _network,
    NaiveSVC: _naive,
    LaplacianSVM: _machines,
}
GENERATIVE = frozenset({MCPL, MCPLLDA, MCPLQDA, ICLDA, EMLDA, SelfTrainingLDA})
