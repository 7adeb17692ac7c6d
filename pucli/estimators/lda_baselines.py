"""Semi-supervised linear discriminant analysis without a guarantee: expectation maximisation and self-training."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils._param_validation import Interval

from pucli.estimators.mcpl import MCPLLDA, GenerativeClassifier
from pucli.solvers.safe.em import expectation_maximisation


class EMLDA(GenerativeClassifier):
    """Linear discriminant analysis by expectation maximisation, the baseline without a guarantee.

    Maximises the log-likelihood of the observed data, labelled rows with their labels and unlabeled ones as a
    mixture, from the supervised fit; a local maximum.

    Parameters
    ----------
    ridge : float, default 0.0, as in `MCPL`.
    tol : float, default 1e-8
        Rise of the log-likelihood per row, in nats, at which to stop.
    max_iter : int, default 1000

    Attributes
    ----------
    priors_, means_, covariance_, soft_labels_ (posteriors of the unlabeled rows, (M, K)), classes_, supervised_only_.
    objective_ : float, log-likelihood of the observed data; residual_ : its last rise; dual_gap_, improvement_ : NaN.
    n_iter_, converged_.
    """

    family = "gaussian-shared"

    def __init__(self, ridge=0.0, tol=1e-8, max_iter=1000):
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to X (n, d) and labels y (n,), -1 for unlabeled rows; errors as in `MCPL.fit`."""
        X, codes = self._validate_fit(X, y)
        labelled = codes >= 0
        K = len(self.classes_)
        X, _, parameters = self._fit_supervised(X, codes)
        model = self._model(K, self._second_moment(X))
        fit = expectation_maximisation(
            model, parameters, X[labelled], codes[labelled], X[~labelled], tol=self.tol, max_iter=self.max_iter
        )
        self.soft_labels_, self.objective_, self.residual_ = fit.soft_labels, fit.objective, fit.residual
        self.n_iter_, self.converged_ = fit.n_iter, fit.converged
        self.dual_gap_ = self.improvement_ = np.nan
        self._keep(fit.parameters, model)
        self._warn_unless_converged()
        return self


class SelfTrainingLDA(GenerativeClassifier):
    """Linear discriminant analysis that labels its most certain unlabeled rows and fits again, by scikit-learn.

    Parameters
    ----------
    ridge : float, default 0.0, as in `MCPL`.
    threshold : float, default 0.75
        Posterior from which on an unlabeled row takes its predicted label.
    max_iter : int, default 10
        Largest number of rounds.

    Attributes
    ----------
    priors_, means_, covariance_ : of the last supervised fit.
    pseudo_codes_ : (n,), position in `classes_` of each row's label at the end, -1 for those that stayed unlabeled.
    n_iter_ : rounds; converged_ : whether no further row reached the threshold; classes_, supervised_only_.
    objective_, dual_gap_, improvement_ : NaN, nothing is minimised.
    """

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "ridge": GenerativeClassifier._parameter_constraints["ridge"],
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "max_iter": GenerativeClassifier._parameter_constraints["max_iter"],
    }
    family = "gaussian-shared"

    def __init__(self, ridge=0.0, threshold=0.75, max_iter=10):
        self.ridge = ridge
        self.threshold = threshold
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to X (n, d) and labels y (n,), -1 for unlabeled rows; errors as in `MCPL.fit`."""
        X, codes = self._validate_fit(X, y)
        inner = MCPLLDA(ridge=self.ridge)
        if self.supervised_only_:
            inner.fit(X, codes)
            final, self.n_iter_, self.converged_ = codes, 1, True
        else:
            trainer = SelfTrainingClassifier(inner, threshold=self.threshold, max_iter=self.max_iter).fit(X, codes)
            inner, final = trainer.estimator_, trainer.transduction_
            self.n_iter_ = max(1, trainer.n_iter_)
            self.converged_ = trainer.termination_condition_ != "max_iter"
        self.pseudo_codes_ = final
        for name in ("centre_", "transform_", "jitter_", "theta_", "precision_", "priors_", "means_", "covariance_"):
            setattr(self, name, getattr(inner, name))
        self.objective_ = self.dual_gap_ = self.improvement_ = np.nan
        return self
