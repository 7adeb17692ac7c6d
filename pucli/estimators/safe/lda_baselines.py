"""Semi-supervised linear discriminant analysis without a guarantee: expectation maximization and self-training."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.semi_supervised import SelfTrainingClassifier

from pucli.core.saved_state import Array, State
from pucli.estimators.base.parameters import FROM_ONE, NOT_NEGATIVE, Constraints, NumberIn
from pucli.estimators.safe.generative import GenerativeClassifier
from pucli.estimators.safe.mcpl import MCPLLDA
from pucli.solvers.result import Certificate
from pucli.solvers.safe.em import expectation_maximization


class EMLDA(GenerativeClassifier):
    """Linear discriminant analysis by expectation maximization, the baseline without a guarantee.

    Maximizes the log-likelihood of the observed data: labeled rows with their labels, and unlabeled rows as a mixture.
    The result is a local maximum, reached from the supervised fit.

    Parameters
    ----------
    ridge : float, default=0.0
        Variance added to every feature, in squared units of the features.
    tol : float, default=1e-8
        Stop when a step raises the log-likelihood by less than this, in nats per row.
    max_iter : int, default=1000
        Largest number of steps.

    Attributes
    ----------
    priors_, means_, covariance_, classes_, supervised_only_
        As in `MCPL`.
    soft_labels_ : ndarray of shape (M, K)
        Posteriors of the unlabeled rows.
    objective_ : float
        Log-likelihood of the observed data in the coordinates (x - center_) transform_; that in the units of X is
        greater by n ln |det transform_|.
    residual_ : float
        Last increase of `objective_`, in nats per row.
    dual_gap_, improvement_ : float
        NaN: neither optimality nor an improvement is certain.
    n_iter_, converged_ : int, bool

    References
    ----------
    Dempster, Laird, Rubin (1977).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import EMLDA
    >>> X, y = make_blobs(150, centers=3, random_state=1)
    >>> model = EMLDA().fit(X, np.where(np.arange(150) < 30, y, -1))
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    family = "gaussian-shared"

    def __init__(self, ridge: float = 0.0, tol: float = 1e-8, max_iter: int = 1000) -> None:
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
        K = len(self.classes_)
        inside, _, parameters = self._fit_supervised(X, codes)
        model = self._model(K, self._second_moment(inside))
        fit = expectation_maximization(
            model,
            parameters,
            inside[labeled],
            codes[labeled],
            inside[~labeled],
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.soft_labels_, self.improvement_ = fit.soft_labels, np.nan
        self._keep_certificate(fit)
        self._keep(fit.parameters, model)
        return self._finish(X, codes)


class SelfTrainingLDA(GenerativeClassifier):
    """Self-training: linear discriminant analysis that labels its most certain unlabeled rows and is fitted again.

    Every round maximizes the log-likelihood of the rows with a label so far; no overall objective is minimized. The
    rounds are those of scikit-learn's ``SelfTrainingClassifier``.

    Parameters
    ----------
    ridge : float, default=0.0
        Variance added to every feature, in squared units of the features.
    threshold : float in [0, 1), default=0.75
        Smallest posterior at which an unlabeled row gets its predicted label.
    max_iter : int, default=10
        Largest number of rounds.

    Attributes
    ----------
    priors_, means_, covariance_
        Parameters of the last supervised fit, as in `MCPL`.
    pseudo_codes_ : ndarray of shape (n,)
        Position in `classes_` of each row's final label, -1 for rows that stayed unlabeled.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether no further row reached the threshold.
    objective_, dual_gap_, improvement_ : float
        NaN.
    classes_, supervised_only_
        As in `MCPL`.

    References
    ----------
    Yarowsky (1995).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import SelfTrainingLDA
    >>> X, y = make_blobs(150, centers=3, random_state=1)
    >>> model = SelfTrainingLDA().fit(X, np.where(np.arange(150) < 30, y, -1))
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "ridge": [NOT_NEGATIVE],
        "threshold": [NumberIn(Real, 0, 1, closed="left")],
        "max_iter": [FROM_ONE],
    }
    family = "gaussian-shared"

    saved_state: ClassVar[State] = {
        "pseudo_codes_": Array("n", dtype="i8", low=-1),
    }

    def __init__(self, ridge: float = 0.0, threshold: float = 0.75, max_iter: int = 10) -> None:
        self.ridge = ridge
        self.threshold = threshold
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
        inner = MCPLLDA(ridge=self.ridge)
        if self.supervised_only_:
            inner.fit(X, codes)
            final, rounds, converged = codes, 1, True
        else:
            trainer = SelfTrainingClassifier(inner, threshold=self.threshold, max_iter=self.max_iter).fit(X, codes)
            inner, final = trainer.estimator_, trainer.transduction_
            rounds, converged = trainer.n_iter_, trainer.termination_condition_ != "max_iter"
        self.pseudo_codes_ = final
        for name in ("center_", "transform_", "jitter_", "theta_", "precision_", "priors_", "means_", "covariance_"):
            setattr(self, name, getattr(inner, name))
        self.improvement_ = np.nan
        self._keep_certificate(Certificate(objective=np.nan, n_iter=rounds, converged=converged))
        return self._finish(X, codes)

    def _warn_unless_converged(self) -> None:
        """Do not warn: the number of rounds is part of the method."""
