"""Base of the generative classifiers: a model of the labeled rows, one of all rows, and posteriors by Bayes' rule."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.saved_state import Array, Plain, State
from pucli.estimators.base.parameters import FROM_ONE, NOT_NEGATIVE, POSITIVE, Constraints
from pucli.estimators.base.semi_supervised import SemiSupervisedClassifier
from pucli.solvers.safe.families import Bernoulli, DiagonalGaussian, FixedGaussian, FullGaussian, Poisson
from pucli.solvers.safe.models import Parameters, SeparateModel, SharedGaussian

_SINGULAR = 1e-10  # smallest eigenvalue of a supervised covariance, in standardized features
_FARTHEST = 3e7  # from this many deviations of the labeled rows, an unlabeled row hides them: eps^(-1/2) and a margin


Model: TypeAlias = SharedGaussian | SeparateModel


# Unlabeled rows are far away if, along an axis, the spread of the labeled rows is below the first share of that of all
# rows, but above rounding.
_FAR_SHARE, _ROUNDING_SHARE = 1e-2, 1e-9


def _covariance(model: Model, k: int, mean: Floats) -> Floats:
    """Return the covariance of Gaussian class k whose sufficient statistics have the mean `mean` (p,)."""
    assert isinstance(model, SeparateModel)
    family = model.families[k]
    assert isinstance(family, FullGaussian | DiagonalGaussian | FixedGaussian)
    return family.covariance(mean)


def _check_positive_definite(given: Floats) -> None:
    """Raise ValueError unless `given` (..., d, d) is finite, symmetric and positive definite."""
    wanted = "the covariance of 'gaussian-fixed' must be symmetric and positive definite, in squared units of the data"
    if not np.isfinite(given).all():
        raise ValueError(f"{wanted}; the given one has NaN or infinite entries")
    if np.abs(given - np.swapaxes(given, -1, -2)).max() > 1e-10 * np.abs(given).max():
        raise ValueError(f"{wanted}; the given one is not symmetric: use (S + S') / 2")
    smallest = np.linalg.eigvalsh(given)[..., 0].min()
    try:
        np.linalg.cholesky(given)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"{wanted}; the given one has the eigenvalue {smallest:.3g}") from error


class _SingularCovarianceError(ValueError):
    """A covariance of labeled rows is singular in the standardized features."""


def spread(X: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Return the standard deviation of each feature, 0 if it is rounding, and the scale to divide by, both (d,).

    The scale is at least the root of the ridge. That of a constant feature is its size, so that units do not matter.
    """
    deviation, largest = X.std(axis=0), np.maximum(np.abs(X.max(axis=0)), np.abs(X.min(axis=0)))
    deviation[deviation <= 1e-12 * largest] = 0.0
    scale = np.maximum(deviation, np.sqrt(ridge))
    return deviation, np.where(scale > 0.0, scale, np.where(largest > 0.0, largest, 1.0))


class GenerativeClassifier(SemiSupervisedClassifier):
    """A generative classifier: one model for the labeled rows, the same for all rows, posteriors by Bayes' rule."""

    _unit = "nats of the log-likelihood of all rows"

    family: Any  # a name, or an object with the methods of an exponential family
    covariance: str | AnyArray
    pseudo_rows: float
    ridge: float
    pseudo_mean_: Floats
    fixed_covariance_: Floats

    _column_matrices = 8
    _instead = "use fewer columns, or LeastSquares or CPLS, whose memory is linear in the columns"

    _parameter_constraints: ClassVar[Constraints] = {
        "ridge": [NOT_NEGATIVE],
        "tol": [POSITIVE],
        "max_iter": [FROM_ONE],
    }

    saved_state: ClassVar[State] = {
        "center_": Array("m"),
        "transform_": Array("m", "m"),
        "jitter_": Array("m", "m"),
        "theta_": Array("K", "t"),
        "precision_": Array("p", "p"),
        "priors_": Array("K", low=0.0, high=1.0 + 1e-9),
        "means_": Array("K", "m"),
        "covariance_": Plain(),
        "pseudo_mean_": Array("m"),
        "fixed_covariance_": Array("K", "m", "m"),
    }

    def _standardize(self, X: Floats) -> None:
        """Choose, from the rows of X, the affine map that makes the Newton equations well conditioned.

        Sets `center_` (d,), `transform_` (d, d), and `jitter_` (d, d), the ridge in the new coordinates. Likelihoods
        stay in the original coordinates.
        """
        d = X.shape[1]
        self.center_, self.transform_ = np.zeros(d), np.eye(d)
        if self.family in ("bernoulli", "poisson") or not isinstance(self.family, str):
            self.jitter_ = np.zeros((d, d))
            return
        self.center_ = X.mean(axis=0)
        if self.family != "gaussian-fixed":
            deviation, scale = spread(X, self.ridge)
            self.transform_ = np.diag(1.0 / scale)
            if self.family != "gaussian-diagonal":
                standardized = (X - self.center_) / scale
                correlation = standardized.T @ standardized / len(X)
                correlation[np.diag_indices(d)] += 1.0 - (deviation / scale) ** 2  # if the ridge or rounding dominates
                variances, axes = np.linalg.eigh(correlation)
                self.transform_ = (axes / np.sqrt(np.maximum(variances, 1e-6))) / scale[:, None]
        self.jitter_ = self.ridge * self.transform_.T @ self.transform_

    def _fit_supervised(self, X: Floats, codes: Ints, by_all_rows: bool = True) -> tuple[Floats, Model, Parameters]:
        """Return the standardized rows, the model of the labeled rows, and the supervised fit.

        The features are standardized by all rows, or by the labeled rows alone if unlabeled rows are so far away that
        the labeled rows would almost coincide.
        """
        labeled = codes >= 0
        self._standardize(X if by_all_rows else X[labeled])
        inside = self._transform(X)
        if by_all_rows and self._has_far_rows(inside, labeled):
            self.center_ = X[labeled].mean(axis=0)
            inside = self._transform(X)
        if self._safe:
            self._prepare(inside[labeled], codes[labeled])
        model = self._model(len(self.classes_), self._second_moment(inside[labeled]))
        try:
            supervised = self._supervised(model, inside[labeled], codes[labeled])
        except _SingularCovarianceError:
            if not by_all_rows or labeled.all():
                raise
            return self._fit_supervised(X, codes, by_all_rows=False)
        if not by_all_rows:
            self._check_reach(inside)
        return inside, model, supervised

    def _prepare(self, X: Floats, codes: Ints) -> None:
        """Set `pseudo_mean_` (d,), and `fixed_covariance_` (K, d, d) for "gaussian-fixed"."""
        mean = X.mean(axis=0) if self.family == "poisson" else 0.5
        self.pseudo_mean_ = np.maximum(mean, 1.0 / len(X)) * np.ones(X.shape[1])
        if self.family != "gaussian-fixed":
            return
        K, d = len(self.classes_), X.shape[1]
        if isinstance(self.covariance, str) and self.covariance == "supervised":
            covariances = np.array([np.cov(X[codes == k].T, bias=True).reshape(d, d) for k in range(K)])
            covariances = covariances + self.jitter_
            scale = spread(X + self.center_, self.ridge)[1]
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

    def _transform(self, X: Floats) -> Floats:
        return (X - self.center_) @ self.transform_

    def _model(self, K: int, second_moment: Floats | None = None) -> Model:
        """Return the model of K classes in standardized features."""
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

    def _second_moment(self, X: Floats) -> Floats:
        return X.T @ X + len(X) * self.jitter_

    def _supervised(self, model: Model, X: Floats, codes: Ints) -> Parameters:
        """Return the supervised maximum likelihood fit; raise ValueError with a way out if it does not exist."""
        K = len(self.classes_)
        Z = np.eye(K)[codes].T @ model.features(X)
        if self.family in ("gaussian-full", "gaussian-diagonal"):
            for k, mean in enumerate(Z[:, 1:] / Z[:, :1]):
                self._check_regular(_covariance(model, k, mean), f"class {self.classes_[k].item()!r}", int(Z[k, 0]))
        elif isinstance(model, SharedGaussian):
            self._check_regular(model.covariance(Z, Z[:, 1:] / Z[:, :1]), "the classes (shared)", len(X))
        try:
            return model.fit(Z)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "the supervised fit does not exist: a class's labeled rows have a feature without variation. "
                "Set pseudo_rows > 0."
            ) from error

    def _has_far_rows(self, inside: Floats, labeled: Bools) -> bool:
        """Return whether unlabeled rows are so far away that moments about the mean of all rows lose digits."""
        if not isinstance(self.family, str) or self.family in ("bernoulli", "poisson") or labeled.all():
            return False
        all_rows, own = inside.std(axis=0), inside[labeled].std(axis=0)
        return bool(np.any((own < _FAR_SHARE * all_rows) & (own > _ROUNDING_SHARE * all_rows)))

    def _check_reach(self, inside: Floats) -> None:
        """Raise ValueError if a row is so many deviations from the labeled rows that its square hides them."""
        distance = np.abs(inside).max(axis=1)
        farthest = int(distance.argmax())
        if not distance[farthest] < _FARTHEST:
            raise ValueError(
                f"row {farthest} is unlabeled and {distance[farthest]:.2g} standard deviations away from the labeled "
                "rows, more orders of magnitude than double precision resolves: correct or leave out that "
                "row."
            )

    def _check_regular(self, covariance: Floats, whose: str, n_rows: int) -> None:
        smallest = np.linalg.eigvalsh(covariance)[0] if covariance.ndim == 2 else covariance.min()
        if not smallest > _SINGULAR:
            raise _SingularCovarianceError(
                f"the covariance of {whose} is singular on {n_rows} labeled rows of {self.n_features_in_} features: "
                "set ridge > 0 (a variance added to every feature), drop constant or repeated features, or label more "
                "rows."
            )

    def _keep(self, parameters: Parameters, model: Model) -> None:
        """Keep a fit as plain arrays, with means and covariances in the units of the data."""
        self.theta_, self.precision_ = parameters.theta, parameters.precision
        self.priors_ = parameters.prior
        d = len(self.center_)
        back = np.linalg.inv(self.transform_)
        if not isinstance(self.family, str) or self.family in ("bernoulli", "poisson"):
            self.means_ = parameters.mean
            return
        self.means_ = parameters.mean[:, :d] @ back + self.center_
        if self.family == "gaussian-shared":
            self.covariance_ = back.T @ np.linalg.inv(parameters.precision) @ back
        elif self.family == "gaussian-diagonal":
            variances = [_covariance(model, k, mean) for k, mean in enumerate(parameters.mean)]
            self.covariance_ = np.array(variances) * np.diag(back) ** 2
        else:
            inside = [_covariance(model, k, mean) for k, mean in enumerate(parameters.mean)]
            self.covariance_ = np.array([back.T @ S @ back for S in inside])

    def log_joint(self, X: ArrayLike) -> Floats:
        """Return log pi_k p_k(x) for each row of X (n, d) and each class, shape (n, K), in nats."""
        inside = self._transform(self._validate_predict(X))
        model = self._model(len(self.classes_))
        result: Floats = model.log_joint(self._parameters(), inside) + np.linalg.slogdet(self.transform_)[1]
        return result

    def _parameters(self) -> Parameters:
        return Parameters(self.priors_, np.empty(0), self.theta_, self.precision_)

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return log posterior probabilities of the classes for each row of X (n, d), (n, K)."""
        joint = self.log_joint(X)
        result: Floats = joint - logsumexp(joint, axis=1, keepdims=True)
        return result

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return posterior probabilities of the classes for each row of X (n, d), (n, K)."""
        return np.exp(self.predict_log_proba(X))

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return log pi_k p_k(x), (n, K); for two classes the log odds of the second, (n,)."""
        joint = self.log_joint(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return the most probable class of each row of X (n, d), shape (n,)."""
        best = self.log_joint(X).argmax(axis=1)
        result: AnyArray = self.classes_[best]
        return result

    def log_likelihood(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the sum over rows of log pi_y p_y(x), the measure in which MCPL is safe; y (n,) has no -1.

        With `ridge` > 0 it is averaged over Gaussian noise of variance `ridge` in every feature, which subtracts
        ridge/2 times the trace of the class's precision per row. With `pseudo_rows` > 0 the pseudo rows count once.
        """
        joint = self.log_joint(X)
        pseudo = self._model(len(self.classes_)).log_prior(self._parameters())
        return float(np.sum(joint[np.arange(len(joint)), self._codes_of(y, len(joint))]) + pseudo)

    def own_loss(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return minus `log_likelihood`, in nats."""
        return -self.log_likelihood(X, y)
