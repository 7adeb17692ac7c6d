"""Linear discriminant analysis by the best labeled likelihood among the fits to all labelings (ICLDA)."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from pucli.core.arrays import Floats
from pucli.estimators.safe.generative import GenerativeClassifier
from pucli.solvers.result import Certificate
from pucli.solvers.safe.implicit_lda import implicitly_constrained
from pucli.solvers.safe.mcpl import gain_over_supervised
from pucli.solvers.safe.models import SharedGaussian


class ICLDA(GenerativeClassifier):
    """Implicitly constrained linear discriminant analysis: `ICLS` with the likelihood of LDA in place of squares.

    Maximizes the log-likelihood of the labeled rows over the fits to all rows that some labeling in the simplex leads
    to, the constraint set (4.25). The result is stationary, reached from the posteriors of the supervised fit. There is
    no guarantee: `improvement_`, the gain over supervised for the worst labeling, may be negative.

    Parameters
    ----------
    ridge : float, default=0.0
        Variance added to every feature, in squared units of the features.
    tol : float, default=1e-6
        Residual per labeled row at which to stop, in nats.
    max_iter : int, default=10000
        Largest number of projected gradient steps.

    Attributes
    ----------
    priors_, means_, covariance_, classes_, supervised_only_
        As in `MCPL`.
    soft_labels_ : ndarray of shape (M, K)
        Labels of the unlabeled rows whose fit this is.
    objective_ : float
        Log-likelihood of the labeled rows. It is at most that of the supervised fit, and equal to it if some labeling
        leads to the supervised fit.
    residual_ : float
        In nats, 0 at a stationary point: the largest slope of `objective_` toward other soft labels.
    dual_gap_ : float
        NaN: the problem need not be concave.
    improvement_ : float
        In nats. L(this) - L(supervised) on all rows is this for the worst labeling; 0 within rounding.
    n_iter_, converged_ : int, bool

    References
    ----------
    Krijthe & Loog 2014, Implicitly constrained semi-supervised linear discriminant analysis; Bertazzi 2018, section
    4.2.6.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import ICLDA
    >>> X, y = make_blobs(150, centers=3, random_state=1)
    >>> model = ICLDA().fit(X, np.where(np.arange(150) < 30, y, -1))
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    soft_labels_: Floats
    family = "gaussian-shared"

    def __init__(self, ridge: float = 0.0, tol: float = 1e-6, max_iter: int = 10_000) -> None:
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows, labeled and unlabeled.
        y : array-like of shape (n,)
            Labels, -1 for unlabeled rows.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of its range, X has NaN or infinite values, the labeled rows have fewer than two
            classes (or more than two, for a binary method), or the model cannot be fitted to the rows.

        Warns
        -----
        ConvergenceWarning
            If the tolerance is not reached.
        """
        X, codes = self._check_rows(X, y)
        labeled = codes >= 0
        inside, supervised_model, parameters = self._fit_supervised(X, codes)
        own, own_codes, others = inside[labeled], codes[labeled], inside[~labeled]
        self.soft_labels_, self.improvement_ = np.empty((0, len(self.classes_))), 0.0
        joint = supervised_model.log_joint(parameters, own)[np.arange(len(own)), own_codes]
        certificate = Certificate(objective=float(np.sum(joint)), residual=0.0, n_iter=1, converged=True)
        if not self.supervised_only_:
            model = SharedGaussian(self._second_moment(inside), self.jitter_)
            start = softmax(supervised_model.log_joint(parameters, others), axis=1)
            fit = implicitly_constrained(model, own, own_codes, others, start, tol=self.tol, max_iter=self.max_iter)
            gain = gain_over_supervised((supervised_model, parameters), (model, fit.parameters), own, own_codes, others)
            self.soft_labels_, self.improvement_ = fit.soft_labels, gain.worst
            certificate, parameters = fit, fit.parameters
        self._keep_certificate(certificate)
        self.objective_ += len(own) * float(np.linalg.slogdet(self.transform_)[1])
        self._keep(parameters, supervised_model)
        return self._finish(X, codes)
