"""Generative classifiers that are never worse than supervised in likelihood: MCPL, MCPL-LDA, MCPL-QDA.

Bertazzi 2018, chapters 4 and 5; Loog 2016, Contrastive pessimistic likelihood estimation for semi-supervised
classification, for the LDA case.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy.special import logsumexp
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from pucli.estimators.base.semi_supervised import SemiSupervisedClassifier
from pucli.solvers.safe.families import Bernoulli, DiagonalGaussian, FixedGaussian, FullGaussian, Poisson
from pucli.solvers.safe.mcpl import contrastive_pessimistic
from pucli.solvers.safe.models import Parameters, SeparateModel, SharedGaussian

_SINGULAR = 1e-10  # smallest eigenvalue of a supervised covariance, in standardised features
_FARTHEST = 3e7  # deviations of the labelled rows from which on an unlabeled row hides them: eps^(-1/2), with room
_LARGEST = 4000  # largest (K-1)(p+1) whose Newton equations are still solved densely


class _SingularCovarianceError(ValueError):
    """A covariance of labelled rows is singular in the features as they are standardised."""


def _spread(X, ridge) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard deviation per feature, 0 where it is rounding, and the scale in which to compute, both (d,).

    The scale is not below the root of the ridge, and that of a constant feature its size: no unit is preferred.
    """
    deviation, largest = X.std(axis=0), np.maximum(np.abs(X.max(axis=0)), np.abs(X.min(axis=0)))
    deviation[deviation <= 1e-12 * largest] = 0.0
    scale = np.maximum(deviation, np.sqrt(ridge))
    return deviation, np.where(scale > 0.0, scale, np.where(largest > 0.0, largest, 1.0))


class GenerativeClassifier(SemiSupervisedClassifier):
    """A generative classifier: one model for the labelled rows, the same for all rows, posteriors by Bayes' rule."""

    _unit = "nats of the log-likelihood of all rows"

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        "ridge": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def _standardise(self, X) -> None:
        """Choose the affine map, by the rows of X, that makes the Newton equations well conditioned.

        Sets `centre_` (d,), `transform_` (d, d), and `jitter_` (d, d), the ridge in the new coordinates. Likelihoods
        keep theirs.
        """
        d = X.shape[1]
        self.centre_, self.transform_ = np.zeros(d), np.eye(d)
        if self.family in ("bernoulli", "poisson") or not isinstance(self.family, str):
            self.jitter_ = np.zeros((d, d))
            return
        self.centre_ = X.mean(axis=0)
        if self.family != "gaussian-fixed":
            deviation, scale = _spread(X, self.ridge)
            self.transform_ = np.diag(1.0 / scale)
            if self.family != "gaussian-diagonal":
                standardised = (X - self.centre_) / scale
                correlation = standardised.T @ standardised / len(X)
                correlation[np.diag_indices(d)] += 1.0 - (deviation / scale) ** 2  # where the ridge or rounding rules
                variances, axes = np.linalg.eigh(correlation)
                self.transform_ = (axes / np.sqrt(np.maximum(variances, 1e-6))) / scale[:, None]
        self.jitter_ = self.ridge * self.transform_.T @ self.transform_

    def _fit_supervised(self, X, codes, by_all_rows=True):
        """Return the rows in standardised features, the model of the labelled ones and their supervised fit.

        The features are standardised by all rows; by the labelled ones where unlabeled rows are so far away that the
        labelled rows would all but coincide.
        """
        labelled = codes >= 0
        self._standardise(X if by_all_rows else X[labelled])
        inside = self._transform(X)
        self._prepare(inside[labelled], codes[labelled])
        model = self._model(len(self.classes_), self._second_moment(inside[labelled]))
        try:
            supervised = self._supervised(model, inside[labelled], codes[labelled])
        except _SingularCovarianceError:
            if not by_all_rows or labelled.all():
                raise
            return self._fit_supervised(X, codes, by_all_rows=False)
        if not by_all_rows:
            self._check_reach(inside)
        return inside, model, supervised

    def _prepare(self, X, codes) -> None:
        """Set what `_model` needs of the labelled rows."""

    def _transform(self, X) -> np.ndarray:
        return (X - self.centre_) @ self.transform_

    def _model(self, K, second_moment=None):
        """Return the model of K classes in standardised features."""
        if self.family == "gaussian-shared":
            d = len(self.jitter_)
            return SharedGaussian(np.eye(d) if second_moment is None else second_moment, self.jitter_)
        if not isinstance(self.family, str):
            return SeparateModel([self.family] * K)
        if self.family == "gaussian-full":
            return SeparateModel([FullGaussian(self.jitter_) for _ in range(K)])
        if self.family == "gaussian-diagonal":
            return SeparateModel([DiagonalGaussian(np.diag(self.jitter_)) for _ in range(K)])
        if self.family == "gaussian-fixed":
            return SeparateModel([FixedGaussian(S) for S in self.fixed_covariance_])
        family = Bernoulli() if self.family == "bernoulli" else Poisson()
        return SeparateModel([family] * K, self.pseudo_rows, self.pseudo_mean_)

    def _second_moment(self, X) -> np.ndarray:
        return X.T @ X + len(X) * self.jitter_

    def _supervised(self, model, X, codes) -> Parameters:
        """Return the supervised maximum likelihood fit; an error that a user can act on where there is none."""
        K = len(self.classes_)
        Z = np.eye(K)[codes].T @ model.features(X)
        if self.family in ("gaussian-full", "gaussian-diagonal"):
            for k, mean in enumerate(Z[:, 1:] / Z[:, :1]):
                self._check_regular(
                    model.families[k].covariance(mean), f"class {self.classes_[k].item()!r}", int(Z[k, 0])
                )
        elif self.family == "gaussian-shared":
            self._check_regular(model.covariance(Z, Z[:, 1:] / Z[:, :1]), "the classes (shared)", len(X))
        try:
            return model.fit(Z)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "the supervised fit does not exist: a class's labelled rows have a feature without variation. "
                "Set pseudo_rows > 0."
            ) from error

    def _check_reach(self, inside) -> None:
        """Raise where a row is so far from the labelled ones, in their deviations, that its square hides them."""
        distance = np.abs(inside).max(axis=1)
        farthest = int(distance.argmax())
        if not distance[farthest] < _FARTHEST:
            raise ValueError(
                f"row {farthest} is unlabeled and {distance[farthest]:.2g} standard deviations of the labelled rows "
                "away from them, more orders of magnitude than double precision resolves: correct or leave out that "
                "row."
            )

    def _check_regular(self, covariance, whose, n_rows) -> None:
        smallest = np.linalg.eigvalsh(covariance)[0] if covariance.ndim == 2 else covariance.min()
        if not smallest > _SINGULAR:
            raise _SingularCovarianceError(
                f"the covariance of {whose} is singular on {n_rows} labelled rows of {self.n_features_in_} features: "
                "set ridge > 0 (a variance added to every feature), drop constant or repeated features, or label more "
                "rows."
            )

    def _keep(self, parameters: Parameters, model) -> None:
        """Keep a fit as plain arrays, means and covariances in the units of the data."""
        self.theta_, self.precision_ = parameters.theta, parameters.precision
        self.priors_ = parameters.prior
        d = len(self.centre_)
        back = np.linalg.inv(self.transform_)
        if not isinstance(self.family, str) or self.family in ("bernoulli", "poisson"):
            self.means_ = parameters.mean
            return
        self.means_ = parameters.mean[:, :d] @ back + self.centre_
        if self.family == "gaussian-shared":
            self.covariance_ = back.T @ np.linalg.inv(parameters.precision) @ back
        elif self.family == "gaussian-diagonal":
            variances = [f.covariance(m) for f, m in zip(model.families, parameters.mean, strict=True)]
            self.covariance_ = np.array(variances) * np.diag(back) ** 2
        else:
            inside = [f.covariance(m) for f, m in zip(model.families, parameters.mean, strict=True)]
            self.covariance_ = np.array([back.T @ S @ back for S in inside])

    def log_joint(self, X) -> np.ndarray:
        """Return log pi_k p_k(x) for each row of X (n, d) and class, (n, K), in nats."""
        X = self._transform(self._validate_predict(X))
        model = self._model(len(self.classes_))
        return model.log_joint(self._parameters(), X) + np.linalg.slogdet(self.transform_)[1]

    def _parameters(self) -> Parameters:
        return Parameters(self.priors_, np.empty(0), self.theta_, self.precision_)

    def predict_log_proba(self, X):
        """Return log posterior probabilities of the classes for each row of X (n, d), (n, K)."""
        joint = self.log_joint(X)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X):
        """Return posterior probabilities of the classes for each row of X (n, d), (n, K)."""
        return np.exp(self.predict_log_proba(X))

    def decision_function(self, X):
        """Return log pi_k p_k(x), (n, K); for two classes the log odds of the second, (n,)."""
        joint = self.log_joint(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    def predict(self, X):
        """Return the most probable class of each row of X (n, d), shape (n,)."""
        best = self.log_joint(X).argmax(axis=1)
        return self.classes_[best]

    def log_likelihood(self, X, y) -> float:
        """Return the sum over rows of log pi_y p_y(x), the measure in which MCPL is safe; y (n,) has no -1.

        With `ridge` > 0 it is averaged over a Gaussian disturbance of variance `ridge` of every feature, which
        subtracts ridge/2 times the trace of the class's precision per row. With `pseudo_rows` > 0 the pseudo rows are
        counted once.
        """
        joint = self.log_joint(X)
        pseudo = self._model(len(self.classes_)).log_prior(self._parameters())
        return float(np.sum(joint[np.arange(len(joint)), self._codes_of(y, len(joint))]) + pseudo)

    def own_loss(self, X, y) -> float:
        """Return minus `log_likelihood`, in nats."""
        return -self.log_likelihood(X, y)


def _check_positive_definite(given) -> None:
    """Raise ValueError unless `given` (..., d, d) is finite, symmetric and positive definite."""
    wanted = "the covariance of 'gaussian-fixed' must be symmetric and positive definite, in squared units of the data"
    if not np.isfinite(given).all():
        raise ValueError(f"{wanted}; the one given has entries that are NaN or infinite")
    if np.abs(given - np.swapaxes(given, -1, -2)).max() > 1e-10 * np.abs(given).max():
        raise ValueError(f"{wanted}; the one given is not symmetric: give (S + S') / 2")
    smallest = np.linalg.eigvalsh(given)[..., 0].min()
    try:
        np.linalg.cholesky(given)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"{wanted}; the one given has the eigenvalue {smallest:.3g}") from error


class MCPL(GenerativeClassifier):
    """Maximum contrastive pessimistic likelihood for class-conditional exponential families.

    Solves max over Psi, min over soft labels Q of L(Psi, Q) - L(Psi_sup, Q), (4.8): the log-likelihood of all rows is
    never below that of the supervised fit, whatever the labels of the unlabeled rows (Theorem 4.5).

    Parameters
    ----------
    family : default "gaussian-shared"
        "gaussian-shared" (LDA), "gaussian-full" (QDA), "gaussian-diagonal", "gaussian-fixed", "bernoulli" (features
        0 or 1), "poisson" (counts), or an object with the methods of
        `pucli.solvers.safe.families.ExponentialFamily`.
    covariance : default "identity"
        The covariance of "gaussian-fixed": "identity", "supervised" (each class keeps its supervised one), or an
        array (d, d) or (K, d, d), symmetric and positive definite.
    ridge : float, default 0.0
        Variance added to every feature in every covariance, in squared units of the features. The likelihood in
        which fit and guarantee are measured is then averaged over a disturbance of that variance.
    pseudo_rows : float, default 0.0
        For "bernoulli" and "poisson": weight of a conjugate prior on each class's means, centred at 1/2 or at the
        mean count of the labelled rows. Their log-likelihood is part of the measure.
    tol : float, default 1e-7
        Saddle gap per row at which to stop, in nats.
    max_iter : int, default 200
        Largest number of Newton steps.

    Attributes
    ----------
    priors_ : (K,); means_ : (K, d); for Gaussian families covariance_ : (d, d) shared, (K, d, d) or, diagonal, (K, d).
    soft_labels_ : (M, K), the most adversarial posteriors of the unlabeled rows, in their order.
    improvement_ : float >= 0, in nats
        L(this) - L(supervised) on all rows is at least this for every labelling, for the returned parameters,
        converged or not. A bound on the rounding of the sums in double precision is subtracted; 0 where rounding could
        explain the gain.
    gap_ = dual_gap_ : float, CL(Psi(Q), Q) - min over Q' of CL(Psi(Q), Q') >= 0; CL is within it of the saddle value.
    objective_ : float, CL(Psi, Q) in nats, Psi = Psi(Q) unless the fit fell back: where no improvement is certain,
        the supervised parameters are returned, with improvement_ = objective_ = 0, and gap_ still bounds the distance
        to the saddle value. CL is then 0 for all labels, so that the soft labels found are as adversarial as any.
    n_iter_, converged_, classes_, supervised_only_.

    References
    ----------
    Bertazzi 2018, chapters 4 and 5; Loog 2016.
    """

    _parameter_constraints = {  # noqa: RUF012 (scikit-learn's own convention)
        **GenerativeClassifier._parameter_constraints,
        "family": [
            StrOptions(
                {"gaussian-shared", "gaussian-full", "gaussian-diagonal", "gaussian-fixed", "bernoulli", "poisson"}
            ),
            HasMethods(["statistics", "natural", "inverse_root", "log_carrier"]),
        ],
        "covariance": [StrOptions({"identity", "supervised"}), "array-like"],
        "pseudo_rows": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self, family="gaussian-shared", covariance="identity", ridge=0.0, pseudo_rows=0.0, tol=1e-7, max_iter=200
    ):
        self.family = family
        self.covariance = covariance
        self.ridge = ridge
        self.pseudo_rows = pseudo_rows
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit to X (n, d) and labels y (n,), -1 for unlabeled rows.

        Raises ValueError where the supervised fit does not exist (singular covariance: set `ridge`), for values
        outside the family's range, a given covariance that is none, an unlabeled row too far away for double precision,
        fewer than two classes, or no labelled row; warns (ConvergenceWarning) when the gap stays above tol per row.
        """
        X, codes = self._validate_fit(X, y)
        self._check_range(X)
        labelled = codes >= 0
        K = len(self.classes_)
        X, supervised_model, parameters = self._fit_supervised(X, codes)
        self.soft_labels_ = np.empty((0, K))
        self.objective_ = self.improvement_ = self.gap_ = 0.0
        self.n_iter_, self.converged_ = 1, True
        if not self.supervised_only_:
            size = (K - 1) * supervised_model.features(X[:1]).shape[1]
            if size > _LARGEST:
                raise ValueError(
                    f"{K} classes with {size // (K - 1)} parameters each are too many for the Newton equations "
                    f"({size} > {_LARGEST}): use family='gaussian-shared' or 'gaussian-diagonal', or fewer features."
                )
            fit = contrastive_pessimistic(
                supervised_model,
                self._model(K, self._second_moment(X)),
                X[labelled],
                codes[labelled],
                X[~labelled],
                tol=self.tol,
                max_iter=self.max_iter,
            )
            parameters = fit.parameters
            self.soft_labels_, self.objective_, self.improvement_ = fit.soft_labels, fit.objective, fit.improvement
            self.gap_, self.n_iter_, self.converged_ = fit.gap, fit.n_iter, fit.converged
        self.dual_gap_ = self.gap_
        self._keep(parameters, supervised_model)
        self._warn_unless_converged()
        return self

    def _fell_back(self) -> bool:
        return self.improvement_ == 0.0 and not self.supervised_only_

    def _check_range(self, X) -> None:
        if self.family == "bernoulli" and not np.all((X == 0) | (X == 1)):
            raise ValueError("family='bernoulli' takes features that are 0 or 1; X has other values")
        if self.family == "poisson" and not np.all((X >= 0) & (np.floor(X) == X)):
            raise ValueError("family='poisson' takes counts 0, 1, 2, ...; X has negative or fractional values")

    def _prepare(self, X, codes) -> None:
        """Set `pseudo_mean_` (d,), and `fixed_covariance_` (K, d, d) for "gaussian-fixed"."""
        mean = X.mean(axis=0) if self.family == "poisson" else 0.5
        self.pseudo_mean_ = np.maximum(mean, 1.0 / len(X)) * np.ones(X.shape[1])
        if self.family != "gaussian-fixed":
            return
        K, d = len(self.classes_), X.shape[1]
        if isinstance(self.covariance, str) and self.covariance == "supervised":
            covariances = np.array([np.cov(X[codes == k].T, bias=True).reshape(d, d) for k in range(K)])
            covariances = covariances + self.jitter_
            scale = _spread(X + self.centre_, self.ridge)[1]
            for k in range(K):
                self._check_regular(
                    covariances[k] / np.outer(scale, scale),
                    f"class {self.classes_[k].item()!r}",
                    int(np.sum(codes == k)),
                )
        else:
            given = np.eye(d) if isinstance(self.covariance, str) else np.asarray(self.covariance, dtype=float)
            if given.shape not in ((d, d), (K, d, d)):
                raise ValueError(f"covariance has shape {given.shape}; it must be {(d, d)} or {(K, d, d)}")
            _check_positive_definite(given)
            covariances = np.broadcast_to(given, (K, d, d))
        self.fixed_covariance_ = np.array(covariances)


class MCPLLDA(MCPL):
    """Contrastive pessimistic linear discriminant analysis: `MCPL` with one covariance for all classes (5.2.2).

    Parameters, attributes and the guarantee are those of `MCPL` with ``family="gaussian-shared"``.
    """

    _parameter_constraints = GenerativeClassifier._parameter_constraints
    family = "gaussian-shared"
    covariance = "identity"
    pseudo_rows = 0.0

    def __init__(self, ridge=0.0, tol=1e-7, max_iter=200):
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter


class MCPLQDA(MCPL):
    """Contrastive pessimistic quadratic discriminant analysis: `MCPL` with a covariance per class (5.2.1).

    Parameters, attributes and the guarantee are those of `MCPL` with ``family="gaussian-full"``. Every class needs
    more labelled rows than features, or `ridge` > 0.
    """

    _parameter_constraints = GenerativeClassifier._parameter_constraints
    family = "gaussian-full"
    covariance = "identity"
    pseudo_rows = 0.0

    def __init__(self, ridge=0.0, tol=1e-7, max_iter=200):
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter
