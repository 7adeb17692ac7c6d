"""Generative classifiers that are never worse than supervised in likelihood: MCPL, MCPL-LDA, MCPL-QDA.

Bertazzi 2018, chapters 4 and 5; Loog 2016, Contrastive pessimistic likelihood estimation for semi-supervised
classification, for the LDA case.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import HasMethods

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.estimators.base.parameters import NOT_NEGATIVE, Constraints, one_of
from pucli.estimators.safe.generative import GenerativeClassifier, Model
from pucli.solvers.result import Certificate
from pucli.solvers.safe.mcpl import contrastive_pessimistic
from pucli.solvers.safe.models import Parameters

_LARGEST = 4000  # largest (K-1)(p+1) for which the Newton equations are solved densely
# Rounding of stored means, in standardized features, from which the guarantee allows for it.
_SHIFTED = 1e-10
# The same for the condition number of stored correlations times the mean absolute log-likelihood of a row.
_DEPENDENT = 1e11
FAMILIES = ("gaussian-shared", "gaussian-full", "gaussian-diagonal", "gaussian-fixed", "bernoulli", "poisson")


def _condition(covariance: Floats) -> float:
    """Return the largest condition number of the correlations of covariances (..., d, d)."""
    deviation = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    return float(np.linalg.cond(covariance / (deviation[..., None] * deviation[..., None, :])).max())


class MCPL(GenerativeClassifier):
    """Maximum contrastive pessimistic likelihood for class-conditional exponential families.

    Solves max over Psi, min over soft labels Q of L(Psi, Q) - L(Psi_sup, Q), (4.8): the log-likelihood of all rows is
    never below that of the supervised fit, whatever the labels of the unlabeled rows (Theorem 4.5).

    Parameters
    ----------
    family : str or object, default="gaussian-shared"
        "gaussian-shared" (LDA), "gaussian-full" (QDA), "gaussian-diagonal", "gaussian-fixed", "bernoulli" (features
        0 or 1), "poisson" (counts), or an object with the methods of
        `pucli.solvers.safe.families.ExponentialFamily`.
    covariance : {"identity", "supervised"} or array of shape (d, d) or (K, d, d), default="identity"
        Covariance of "gaussian-fixed", symmetric and positive definite; "supervised" is each class's supervised
        estimate.
    ridge : float, default=0.0
        Variance added to every feature in every covariance, in squared units of the features. The likelihood of the fit
        and of the guarantee is then averaged over noise of that variance.
    pseudo_rows : float, default=0.0
        For "bernoulli" and "poisson": weight of a conjugate prior on each class's means, centered at 1/2 or at the
        mean count of the labeled rows. Its log-density is added to the likelihood.
    tol : float, default=1e-7
        Saddle gap per row at which to stop, in nats.
    max_iter : int, default=200
        Largest number of Newton steps.

    Attributes
    ----------
    priors_ : ndarray of shape (K,)
    means_ : ndarray of shape (K, d)
    covariance_ : ndarray
        For Gaussian families: (d, d) if shared, (K, d, d), or (K, d) if diagonal.
    soft_labels_ : ndarray of shape (M, K)
        The most adversarial posteriors of the unlabeled rows, in their order.
    improvement_ : float
        In nats. L(this) - L(supervised) on all rows is at least this for every labeling. It is not negative and holds
        for the returned parameters, converged or not. A bound on the rounding error of the sums is subtracted; it is 0
        if rounding could explain the gain.
    dual_gap_ : float
        CL(Psi(Q), Q) - min over Q' of CL(Psi(Q), Q') >= 0; CL is within it of the saddle value. `gap_` is the same.
    objective_ : float
        CL(Psi, Q) in nats, with Psi = Psi(Q). If no improvement is guaranteed, the supervised parameters are returned
        instead, with improvement_ = objective_ = 0: CL is then 0 for all labels, so that any soft labels are equally
        adversarial, and the gap bounds its distance from the saddle value.
    n_iter_, converged_, classes_, supervised_only_
        As in `LeastSquares`.

    References
    ----------
    Bertazzi 2018, chapters 4 and 5; Loog 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import MCPL
    >>> X, y = make_blobs(150, centers=3, random_state=1)
    >>> model = MCPL("gaussian-diagonal").fit(X, np.where(np.arange(150) < 30, y, -1))
    >>> bool(model.improvement_ >= 0)
    True
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _safe = True
    _parameter_constraints: ClassVar[Constraints] = {
        **GenerativeClassifier._parameter_constraints,
        "family": [one_of(*FAMILIES), HasMethods(["statistics", "natural", "inverse_root", "log_carrier"])],
        "covariance": [one_of("identity", "supervised"), "array-like"],
        "pseudo_rows": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        family: Any = "gaussian-shared",
        covariance: str | AnyArray = "identity",
        ridge: float = 0.0,
        pseudo_rows: float = 0.0,
        tol: float = 1e-7,
        max_iter: int = 200,
    ) -> None:
        self.family = family
        self.covariance = covariance
        self.ridge = ridge
        self.pseudo_rows = pseudo_rows
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
        _check_counts(self.family, X)
        fit_contrastive(self, X, codes)
        return self._finish(X, codes)


class MCPLLDA(GenerativeClassifier):
    """Contrastive pessimistic linear discriminant analysis: `MCPL` with one covariance for all classes (5.2.2).

    Solves (4.8) with ``family="gaussian-shared"``: max over Psi, min over soft labels Q of L(Psi, Q) - L(Psi_sup, Q).

    Parameters
    ----------
    ridge : float, default=0.0
        Variance added to every feature, in squared units of the features.
    tol : float, default=1e-7
        Saddle gap per row at which to stop, in nats.
    max_iter : int, default=200
        Largest number of Newton steps.

    Attributes
    ----------
    priors_, means_, covariance_, soft_labels_, improvement_, objective_, dual_gap_, n_iter_, converged_, classes_
        As in `MCPL`.

    References
    ----------
    Bertazzi 2018, section 5.2.2; Loog 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import MCPLLDA
    >>> X, y = make_blobs(150, centers=3, random_state=1)
    >>> model = MCPLLDA().fit(X, np.where(np.arange(150) < 30, y, -1))
    >>> bool(model.improvement_ >= 0)
    True
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _safe = True
    family = "gaussian-shared"
    covariance = "identity"
    pseudo_rows = 0.0

    def __init__(self, ridge: float = 0.0, tol: float = 1e-7, max_iter: int = 200) -> None:
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
        fit_contrastive(self, X, codes)
        return self._finish(X, codes)


class MCPLQDA(GenerativeClassifier):
    """Contrastive pessimistic quadratic discriminant analysis: `MCPL` with a covariance per class (5.2.1).

    Solves (4.8) with ``family="gaussian-full"``: max over Psi, min over soft labels Q of L(Psi, Q) - L(Psi_sup, Q).

    Every class needs more labeled rows than features, or `ridge` > 0.

    Parameters
    ----------
    ridge : float, default=0.0
        Variance added to every feature, in squared units of the features.
    tol : float, default=1e-7
        Saddle gap per row at which to stop, in nats.
    max_iter : int, default=200
        Largest number of Newton steps.

    Attributes
    ----------
    priors_, means_, covariance_, soft_labels_, improvement_, objective_, dual_gap_, n_iter_, converged_, classes_
        As in `MCPL`.

    References
    ----------
    Bertazzi 2018, eq. (5.4)-(5.5).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from pucli import MCPLQDA
    >>> X, y = make_blobs(150, centers=3, random_state=1)
    >>> model = MCPLQDA().fit(X, np.where(np.arange(150) < 30, y, -1))
    >>> bool(model.improvement_ >= 0)
    True
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _safe = True
    family = "gaussian-full"
    covariance = "identity"
    pseudo_rows = 0.0

    def __init__(self, ridge: float = 0.0, tol: float = 1e-7, max_iter: int = 200) -> None:
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
        fit_contrastive(self, X, codes)
        return self._finish(X, codes)


def fit_contrastive(model: MCPL | MCPLLDA | MCPLQDA, X: Floats, codes: Ints) -> None:
    """Fit MCPL of any family and keep the result."""
    labeled = codes >= 0
    K = len(model.classes_)
    X, supervised_model, parameters = model._fit_supervised(X, codes)
    model.soft_labels_ = np.empty((0, K))
    model.improvement_ = 0.0
    certificate: Any = Certificate(objective=0.0, gap=0.0, n_iter=1, converged=True)
    if not model.supervised_only_:
        size = (K - 1) * supervised_model.features(X[:1]).shape[1]
        if size > _LARGEST:
            raise ValueError(
                f"{K} classes with {size // (K - 1)} parameters each are too many for the Newton equations "
                f"({size} > {_LARGEST}): use family='gaussian-shared' or 'gaussian-diagonal', or fewer features."
            )
        fit = contrastive_pessimistic(
            supervised_model,
            model._model(K, model._second_moment(X)),
            X[labeled],
            codes[labeled],
            X[~labeled],
            tol=model.tol,
            max_iter=model.max_iter,
        )
        parameters = fit.parameters
        model.soft_labels_, model.improvement_ = fit.soft_labels, fit.improvement
        certificate = fit
    model._keep_certificate(certificate)
    model._keep(parameters, supervised_model)
    if model.improvement_ > 0.0 and str(model.family).startswith("gaussian"):
        _allow_for_storing(model, X, parameters, supervised_model, certificate.supervised)
    model.gap_ = model.dual_gap_


def _allow_for_storing(fitted: Any, X: Floats, parameters: Parameters, model: Model, supervised: Parameters) -> None:
    """Lower the guarantee by what rounding `means_` and `covariance_` may cost.

    X (n, d) and `parameters` are standardized. Means that are many deviations from zero are stored with few digits:
    a class with a shifted mean has the density that it has without the shift at rows that are shifted back. Of a
    covariance of nearly dependent features, the inverse has few digits.
    """
    (n, d), lost = X.shape, 0.0
    own = model.log_joint(parameters, X)
    shift = (fitted.means_ - fitted.center_) @ fitted.transform_ - parameters.mean[:, :d]
    if np.abs(shift).max() >= _SHIFTED:
        shifted = np.array([model.log_joint(parameters, X - step)[:, k] for k, step in enumerate(shift)]).T
        lost += float(np.abs(own - shifted).max(axis=1).sum())
    sizes = float(np.abs(own).max(axis=1).sum())
    condition = 1.0 if fitted.family == "gaussian-diagonal" else _condition(fitted.covariance_)
    if condition * sizes >= _DEPENDENT * n:
        lost += float(np.finfo(float).eps) * condition * (sizes + n * d)
    if lost == 0.0:
        return
    fitted.improvement_ -= lost
    fitted.dual_gap_ += lost
    if fitted.improvement_ <= 0.0:
        fitted.improvement_, fitted.dual_gap_, fitted.objective_ = 0.0, max(fitted.objective_, 0.0) + lost, 0.0
        fitted._keep(supervised, model)


def _check_counts(family: Any, X: Floats) -> None:
    """Raise ValueError unless rows X (n, d) are the zeros and ones, or the counts, that a discrete family describes."""
    if family == "bernoulli" and not np.all((X == 0) | (X == 1)):
        raise ValueError("family='bernoulli' needs features that are 0 or 1; X has other values")
    if family == "poisson" and not np.all((X >= 0) & (np.floor(X) == X)):
        raise ValueError("family='poisson' needs counts 0, 1, 2, ...; X has negative or fractional values")
