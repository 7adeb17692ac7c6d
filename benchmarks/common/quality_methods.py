"""The methods of benchmark `quality`: the automatic classifier, plain baselines, and other libraries if installed.

Each method takes a `Problem` and returns a `Prediction`. "SVC, true prior", "auto, true prior", "no hidden positives"
and "true labels" use what is unknown in practice; they show how much a known prior and known labels would help.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.common.sar_em import sar_em as fit
from pucli.core.seeding import stream
from pucli.estimators.auto.auto_pu import AutoPU
from pucli.methods import estimator_class, get_method
from pucli.metrics.ranking import pu_auc
from pucli.models.fitting import seeded
from pucli.solvers.ensemble.ensemble import fit_members
from pucli.solvers.ensemble.members import MEMBERS, make_views
from pucli.solvers.folds import number_of_folds, stratified_folds


@dataclass(frozen=True)
class Problem:
    """Training rows X (n, m), which are labeled (n,), test rows X_test; y and true_prior are for the ceilings only."""

    X: np.ndarray
    labeled: np.ndarray
    X_test: np.ndarray
    y: np.ndarray
    true_prior: float
    scenario: str
    seed: int


@dataclass(frozen=True)
class Prediction:
    """Scores of the test rows, which of them are predicted positive, and the method's own estimates."""

    scores: np.ndarray
    positive: np.ndarray
    prior: float | None = None
    intervals: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    probabilities: np.ndarray | None = None


def auto(problem: Problem, **how: Any) -> Prediction:
    """Fit `AutoPU` with the labeling scenario as its only information, or with further parameters."""
    model = AutoPU(scenario=problem.scenario, random_state=problem.seed, **how).fit(problem.X, problem.labeled)
    scores = model.decision_function(problem.X_test)
    # the test rows are new ones
    estimates = {name.removeprefix("new_"): found for name, found in model.estimates_.items()}
    intervals = {name: (found.value, found.low, found.high) for name, found in estimates.items()}
    return Prediction(scores, scores > 0, model.prior_, intervals, model.predict_proba(problem.X_test)[:, 1])


def naive_svc(problem: Problem) -> Prediction:
    """Fit a class-balanced SVC that treats unlabeled rows as negative, with the threshold at zero."""
    scores = _svc_scores(problem)
    return Prediction(scores, scores > 0)


def sar_em(problem: Problem) -> Prediction:
    """Fit SAR-EM (Bekker et al. 2019) to standardized features."""
    scaler = StandardScaler().fit(problem.X)
    found = fit(scaler.transform(problem.X), problem.labeled)
    scores = scaler.transform(problem.X_test) @ found.classifier[:-1] + found.classifier[-1]
    population = ~problem.labeled if problem.scenario == "case-control" else slice(None)
    return Prediction(scores, scores > 0, float(found.posterior[population].mean()))


def svc_true_prior(problem: Problem) -> Prediction:
    """Fit the same SVC, with the threshold set so that a share of the test rows equal to the true prior is above."""
    scores = _svc_scores(problem)
    return Prediction(scores, scores > np.quantile(scores, 1.0 - problem.true_prior))


def auto_true_prior(problem: Problem) -> Prediction:
    """Fit `AutoPU`, with the threshold at the share of its held-out scores that is the true prior."""
    model = AutoPU(scenario=problem.scenario, random_state=problem.seed, goal="share", wanted=problem.true_prior)
    scores = model.fit(problem.X, problem.labeled).decision_function(problem.X_test)
    return Prediction(scores, scores > 0)


def true_labels(problem: Problem) -> Prediction:
    """Fit the ensemble of `AutoPU` to true labels; its threshold has the largest F1 of held-out scores."""
    known = problem.y == 1
    return _ensemble(problem, problem.X, known, float(known.mean()))


def without_hidden(problem: Problem) -> Prediction:
    """Fit the ensemble of `AutoPU` to labeled rows and negatives alone; the F1 at the true prior sets its threshold.

    It is the ensemble of AutoPU, without its refit, if the hidden positives had been taken out of the unlabeled rows.
    """
    kept = problem.labeled | (problem.y == 0)
    return _ensemble(problem, problem.X[kept], problem.labeled[kept], problem.true_prior)


def _ensemble(problem: Problem, X: np.ndarray, positive: np.ndarray, prior: float) -> Prediction:
    """Fit the ensemble to rows X (n, m) of known classes; the threshold has the largest F1 of held-out scores."""
    folds = stratified_folds(positive, number_of_folds(positive), stream(problem.seed, "folds"))[None]
    population = np.ones(len(positive), bool)
    with threadpool_limits(1):
        fitted = fit_members(MEMBERS, make_views(X), X, positive, population, folds, problem.seed, 1)
        scores, held_out = fitted[0].score(problem.X_test), fitted[1].mean(axis=0)
    thresholds = np.unique(held_out)
    recall, taken = (
        np.array([(held_out[of] > threshold).mean() for threshold in thresholds]) for of in (positive, ~positive)
    )
    f1 = 2.0 * prior * recall / (prior * recall + (1.0 - prior) * taken + prior)
    return Prediction(scores, scores > thresholds[int(np.argmax(f1))])


def lightgbm(problem: Problem) -> Prediction:
    """Fit class-balanced LightGBM that treats unlabeled rows as negative."""
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(class_weight="balanced", random_state=problem.seed, verbose=-1, n_jobs=1)
    scores = np.asarray(model.fit(problem.X, problem.labeled).predict_proba(problem.X_test))[:, 1]
    return Prediction(scores, scores > 0.5)


def lightgbm_bags(problem: Problem) -> Prediction:
    """Fit ten LightGBM to all labeled rows and four times as many others each; the true prior sets the threshold."""
    from lightgbm import LGBMClassifier

    known, others = np.flatnonzero(problem.labeled), np.flatnonzero(~problem.labeled)
    random = stream(problem.seed, "bags")
    scores = np.zeros(len(problem.X_test))
    for k in range(10):
        rows = np.sort(np.concatenate([known, random.permutation(others)[: 4 * len(known)]]))
        model = LGBMClassifier(class_weight="balanced", random_state=k, verbose=-1, n_jobs=1)
        scores += np.asarray(model.fit(problem.X[rows], problem.labeled[rows]).predict(problem.X_test, raw_score=True))
    return Prediction(scores, scores > np.quantile(scores, 1.0 - problem.true_prior))


def pulearn_bagging(problem: Problem) -> Prediction:
    """Fit pulearn's bagging of decision trees (Mordelet and Vert 2014)."""
    from pulearn import BaggingPuClassifier

    model = BaggingPuClassifier(
        DecisionTreeClassifier(),
        n_estimators=100,
        max_samples=int(problem.labeled.sum()),
        random_state=problem.seed,
    ).fit(problem.X, problem.labeled.astype(int))
    scores = model.predict_proba(problem.X_test)[:, 1]
    return Prediction(scores, scores > 0.5)


def pulearn_elkanoto(problem: Problem) -> Prediction:
    """Fit pulearn's weighted Elkan-Noto classifier on an SVC with probabilities."""
    from pulearn import WeightedElkanotoPuClassifier

    base = make_pipeline(StandardScaler(), SVC(probability=True, random_state=problem.seed))
    labeled = int(problem.labeled.sum())
    model = WeightedElkanotoPuClassifier(
        base, labeled=labeled, unlabeled=len(problem.X) - labeled, hold_out_ratio=0.2, random_state=problem.seed
    ).fit(problem.X, problem.labeled.astype(int))
    scores = np.asarray(model.predict_proba(problem.X_test))[:, 1]
    return Prediction(scores, scores > 0.5)


def toolbox_upu(problem: Problem) -> Prediction:
    """Fit pu-toolbox's uPU with its KM2 estimate of the prior; width and ridge by the PU-AUC of four folds."""
    from pu_toolbox import KernelMeanPriorEstimator, UPUClassifier

    scaler = StandardScaler().fit(problem.X)
    X, s = scaler.transform(problem.X), problem.labeled.astype(int)
    found = KernelMeanPriorEstimator(variant="km2", random_state=problem.seed).fit(X, s)
    prior = float(np.clip(next(v for k, v in vars(found).items() if k.endswith("prior_")), 0.02, 0.98))
    best, chosen = -1.0, (1.0, 1e-3)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=problem.seed).split(X, s))
    width = float(np.sqrt(X.shape[1]))
    for factor in (0.5, 1.0, 2.0):
        for ridge in (1e-3, 1e-2, 1e-1):
            parts = [_upu(UPUClassifier, prior, width * factor, ridge, X[a], s[a], X[b]) for a, b in folds]
            auc = float(np.mean([pu_auc(part, s[b] == 1) for part, (_, b) in zip(parts, folds, strict=True)]))
            if auc > best:
                best, chosen = auc, (width * factor, ridge)
    scores = _upu(UPUClassifier, prior, *chosen, X, s, scaler.transform(problem.X_test))
    return Prediction(scores, scores > 0, _in_population(problem, prior))


def _upu(
    kind: type[Any], prior: float, width: float, ridge: float, X: np.ndarray, s: np.ndarray, X_test: np.ndarray
) -> np.ndarray:
    model = kind(class_prior=prior, basis="rbf", kernel_width=width, reg_lambda=ridge, random_state=0)
    return np.ravel(model.fit(X, s).decision_function(X_test))


def _svc_scores(problem: Problem) -> np.ndarray:
    model = make_pipeline(StandardScaler(), SVC(class_weight="balanced"))
    return np.asarray(model.fit(problem.X, problem.labeled).decision_function(problem.X_test))


def _ours(name: str) -> Callable[[Problem], Prediction]:
    """Return the method `name` of our own at its defaults, as `pucli train` fits it."""

    def method(problem: Problem) -> Prediction:
        from pucli.models.saved import make_pipeline

        estimator = estimator_class(get_method(name))(**seeded(name, {}, problem.seed))
        model = make_pipeline(estimator, standardize=True).fit(problem.X, problem.labeled)
        scores = model.decision_function(problem.X_test)
        share = getattr(model[-1], "prior_", None)
        return Prediction(scores, scores > 0, None if share is None else _in_population(problem, share))

    return method


def _in_population(problem: Problem, share: float) -> float:
    """Return the share of positives in the population, given that in the unlabeled rows, which methods estimate."""
    if problem.scenario == "case-control":
        return share
    labeled = float(problem.labeled.mean())
    return labeled + (1.0 - labeled) * share


# Our methods that run; the quadratic surface of ekf-glpual takes too long on wide tasks.
OURS = ("glpual", "gllc", "bsvm", "blssvm", "e-glpual", "cpb-glpual", "upu", "nnpu", "usmo", "ramp-pu")
# What benchmark `labeling` puts beside them.
BASELINES = ("auto", "SVC, unlabeled as negative", "SVC, true prior")
# Further ceilings, on labels that are given case-control only.
CASE_CONTROL_ONLY = ("auto, true prior", "no hidden positives")
# What models labels that are not random; benchmark `labeling` compares them.
OF_LABELING = ("auto, labeling sar", "SAR-EM")

# Name in the table -> function, and the package that it needs.
METHODS: dict[str, tuple[Callable[[Problem], Prediction], str]] = {
    "auto": (auto, ""),
    "auto, labeling sar": (partial(auto, labeling="sar"), ""),
    "SAR-EM": (sar_em, ""),
    "SVC, unlabeled as negative": (naive_svc, ""),
    "SVC, true prior": (svc_true_prior, ""),
    "auto, true prior": (auto_true_prior, ""),
    "no hidden positives": (without_hidden, ""),
    "true labels": (true_labels, ""),
    "LightGBM, unlabeled as negative": (lightgbm, "lightgbm"),
    "LightGBM, ten bags, true prior": (lightgbm_bags, "lightgbm"),
    "pulearn bagging": (pulearn_bagging, "pulearn"),
    "pulearn Elkan-Noto": (pulearn_elkanoto, "pulearn"),
    "pu-toolbox uPU, tuned": (toolbox_upu, "pu_toolbox"),
    **{name: (_ours(name), "") for name in OURS},
}


def installed() -> list[str]:
    """Return the names of the methods whose package is installed."""
    return [name for name, (_, package) in METHODS.items() if not package or importlib.util.find_spec(package)]


def predict(name: str, problem: Problem) -> Prediction | None:
    """Return the prediction of a method, or None, with a warning, if another library's method fails."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return METHODS[name][0](problem)
    except Exception as error:  # other libraries may raise anything; errors of our methods are not caught
        if not METHODS[name][1]:
            raise
        warnings.warn(f"{name} failed: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)
        return None
