"""Class-balanced kernel ridge regression with exact held-out scores.

It is the least-squares problem of BLS-SVM and GLLC (Ke et al. 2018) without the graph.

With features Z (n, r) of the kernel, weights W and targets y = +-1, it minimizes |W^(1/2) (y - Z c)|^2 + ridge |c|^2.
One eigendecomposition of Z'WZ gives the solutions for all ridges. With A = W^(1/2) Z and the hat matrix
H = A (A'A + ridge)^(-1) A', the residuals of a held-out fold b are (I - H_b)^(-1) (y_b - f_b), times W_b^(1/2) (Allen
1974, for one row).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, solve_triangular
from scipy.spatial.distance import cdist

from pucli.core.arrays import Floats
from pucli.core.saved_state import ABOVE_ZERO, Array, Scalar, State, TextValue
from pucli.core.seeding import sample_of_each_kind
from pucli.metrics.ranking import pu_auc
from pucli.solvers.ensemble.rows import balanced_weights

# The most landmarks, which are rows that span the kernel's features.
LANDMARKS = 400
# The most rows that are all used to choose width and ridge.
CHOOSING_ROWS = 2000
# Of more rows so many choose, with so many landmarks. The final fit has more landmarks: as many as this number of
# products per sum over rows allows.
SAMPLE_ROWS, SAMPLE_LANDMARKS = 1000, 300
MOST_LANDMARKS, FINAL_OPERATIONS = 600, 3e9
# Rows per feature from which on `WeightedLeastSquares.by_ridge` needs no eigendecomposition.
MANY_ROWS = 3
# Length scales in units of the median distance, and ridges per unit weight.
WIDTHS = {"gaussian": (0.25, 0.5, 1.0, 2.0), "laplace": (0.25, 0.5, 1.0, 2.0, 4.0)}
RIDGES = tuple(10.0 ** np.arange(-2.0, 3.0))
# With more rows the ridge is chosen again, among these multiples of the one chosen on `CHOOSING_ROWS`.
MULTIPLES = (3.0, 1.0, 0.3, 0.1, 0.03)
# Digits of held-out scores: rounding errors must not distinguish equal rows, because they depend on the labels.
DIGITS = 9
_CHUNK_ENTRIES = 8_000_000
_JITTER = 1e-9


class WeightedLeastSquares:
    """Ridge regression for any ridge, by one eigendecomposition.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Features.
    targets : ndarray of shape (n,)
        Values to fit.
    weights : ndarray of shape (n,)
        Weights of the rows.
    """

    def __init__(self, Z: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None:
        self.root = np.sqrt(weights)
        self.Z = Z * self.root[:, None]
        self.y = self.root * targets

    @cached_property
    def _rotated(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The eigenvalues (r,) and axes (r, r) of Z'WZ, the features along the axes, and their moment (r,)."""
        values, axes = eigh(self.Z.T @ self.Z, overwrite_a=True, check_finite=False)
        A = self.Z @ axes
        return np.maximum(values, 0.0), axes, A, A.T @ self.y

    def coefficients(self, ridge: float) -> np.ndarray:
        """Return the coefficients c (r,) of the features."""
        values, axes, _, moment = self._rotated
        result: np.ndarray = axes @ (moment / (values + ridge))
        return result

    def by_ridge(self, ridges: Sequence[float], folds: np.ndarray) -> np.ndarray:
        """Return the mean of `held_out` over `folds` (d, n) for k ridges, (k, n).

        Large folds take a Cholesky decomposition for each fold and ridge, whose last digits differ.
        """
        if len(self.y) < MANY_ROWS * self.Z.shape[1]:
            return np.stack([np.mean([self.held_out(ridge, fold) for fold in folds], axis=0) for ridge in ridges])
        gram, moment, found = self.Z.T @ self.Z, self.Z.T @ self.y, np.empty((len(folds), len(ridges), len(self.y)))
        for scores, fold in zip(found, folds, strict=True):
            for b in np.unique(fold):
                own = self.Z[fold == b]
                without = gram - own.T @ own, moment - own.T @ self.y[fold == b]
                scores[:, fold == b] = _solutions(*without, ridges) @ own.T
        mean: np.ndarray = np.round(found / self.root, DIGITS).mean(axis=0)
        return mean

    def held_out(self, ridge: float, fold: np.ndarray) -> np.ndarray:
        """Return the score of each row by the regression on the rows of the other folds, shape (n,)."""
        values, _, whole, total = self._rotated
        out = np.empty(len(self.y))
        inverse = 1.0 / (values + ridge)
        fitted = whole @ (inverse * total)
        for b in np.unique(fold):
            rows = np.flatnonzero(fold == b)
            A = whole[rows]
            if len(rows) <= A.shape[1]:
                left = -(A * inverse) @ A.T
                left[np.diag_indices_from(left)] += 1.0
                residual = cho_solve(cho_factor(left, check_finite=False), self.y[rows] - fitted[rows])
                out[rows] = self.y[rows] - residual
            else:
                left = -A.T @ A
                left[np.diag_indices_from(left)] += values + ridge
                moment = total - A.T @ self.y[rows]
                out[rows] = A @ cho_solve(cho_factor(left, check_finite=False), moment)
        result: np.ndarray = np.round(out / self.root, DIGITS)
        return result


@dataclass
class KernelRidge:
    """A fitted kernel ridge regression."""

    kernel: str  # "gaussian" or "laplace", as in `kernel_matrix`
    width: float  # length scale of the kernel
    landmarks: np.ndarray  # (r, m), centers of the kernel
    weights: np.ndarray  # (r,), coefficients of the centers
    constant: float  # constant term
    saved_state: ClassVar[State] = {
        "kernel": TextValue("gaussian", "laplace"),
        "width": ABOVE_ZERO,
        "landmarks": Array("r", "m"),
        "weights": Array("r"),
        "constant": Scalar(),
    }

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the scores of the rows of X (n, m), shape (n,)."""
        parts = [self.values(part) @ self.weights for part in _chunks(X, len(self.landmarks))]
        return np.concatenate(parts) + self.constant

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the kernel values of the rows of X (n, m) and the landmarks, (n, r)."""
        return kernel_matrix(self.kernel, self.width, X, self.landmarks)

    def factor(self) -> np.ndarray:
        """Return `_factor` of the landmarks."""
        return _factor(self.values(self.landmarks))

    def with_coefficients(self, factor: np.ndarray, coefficients: np.ndarray) -> KernelRidge:
        """Return the model with other coefficients of the features of `_features`."""
        weights = solve_triangular(factor, coefficients[:-1], lower=True, trans=1, check_finite=False)
        return replace(self, weights=weights, constant=float(coefficients[-1]))


def kernel_matrix(kernel: str, width: float, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the kernel matrix of two sets of rows."""
    return _of_distances(kernel, width, _distances(kernel, X, Y))


def _distances(kernel: str, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return squared Euclidean or city block distances, shape (n, p)."""
    if kernel == "laplace":
        result: np.ndarray = cdist(X, Y, "cityblock")
        return result
    squares: np.ndarray = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", Y, Y) - 2.0 * (X @ Y.T)
    np.maximum(squares, 0.0, out=squares)
    return squares


def _of_distances(kernel: str, width: float, D: np.ndarray) -> np.ndarray:
    return np.exp(D * (-1.0 / width if kernel == "laplace" else -0.5 / width**2))


def _chunks(X: np.ndarray, columns: int) -> list[np.ndarray]:
    step = max(1, _CHUNK_ENTRIES // max(columns, 1))
    return [X[i : i + step] for i in range(0, max(len(X), 1), step)]


def pick_landmarks(labeled: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return the ascending indices of randomly chosen landmarks."""
    if len(labeled) <= most:
        return np.arange(len(labeled))
    count = int(np.count_nonzero(labeled))
    n_positive = max(min(count, most // 2), most - (len(labeled) - count))
    return sample_of_each_kind(labeled, rng, n_positive, most - n_positive)


def landmarks_for(n: int) -> int:
    """Return the number of landmarks of a final fit to n rows: the more rows, the fewer a sum over all can afford."""
    return int(np.clip(np.sqrt(FINAL_OPERATIONS / n), SAMPLE_LANDMARKS, MOST_LANDMARKS))


def fit_kernel_ridge(
    X: np.ndarray, labeled: np.ndarray, folds: np.ndarray, kernel: str, rng: np.random.Generator
) -> tuple[KernelRidge, np.ndarray, dict[str, float]]:
    """Fit kernel ridge regression with the width and the ridge that have the largest PU-AUC of held-out scores.

    Of more than `CHOOSING_ROWS` rows, `SAMPLE_ROWS` choose. The ridge is then chosen again on all rows, as the best
    ridge per row becomes smaller with more of them.
    """
    small = len(X) <= CHOOSING_ROWS
    rows = np.arange(len(X)) if small else pick_landmarks(labeled, SAMPLE_ROWS, rng)
    X_choose, s, weights = X[rows], labeled[rows], balanced_weights(labeled[rows])
    landmarks = X_choose[pick_landmarks(s, LANDMARKS if small else SAMPLE_LANDMARKS, rng)]
    D_landmarks, D = _distances(kernel, landmarks, landmarks), _distances(kernel, X_choose, landmarks)
    unit = _typical(D_landmarks) ** (1.0 if kernel == "laplace" else 0.5)
    best, chosen = -1.0, None
    targets = np.where(s, 1.0, -1.0)
    for factor in WIDTHS[kernel]:
        factor_L = _factor(_of_distances(kernel, factor * unit, D_landmarks))
        problem = WeightedLeastSquares(_features(_of_distances(kernel, factor * unit, D), factor_L), targets, weights)
        for ridge, scores in zip(RIDGES, problem.by_ridge(RIDGES, folds[:, rows]), strict=True):
            auc = pu_auc(scores, s)
            if auc > best:
                best, chosen = auc, (factor, ridge, factor_L, problem)
    assert chosen is not None
    factor, ridge, factor_L, problem = chosen
    held_out = np.mean([problem.held_out(ridge, fold[rows]) for fold in folds], axis=0)
    model = KernelRidge(kernel, float(factor * unit), landmarks, np.empty(0), 0.0)
    model = model.with_coefficients(factor_L, problem.coefficients(ridge))
    if not small:
        model = replace(model, landmarks=X_choose[pick_landmarks(s, landmarks_for(len(X)), rng)])
        model, held_out, ridge = _chosen_on_all(model, X, labeled, folds[0], ridge * CHOOSING_ROWS / len(rows))
    return model, held_out, {"width": float(factor), "ridge": float(ridge)}


def fit_targets(model: KernelRidge, X: Floats, targets: Floats, weights: Floats, ridge: float) -> KernelRidge:
    """Fit other rows and targets with the landmarks and the width of a model."""
    factor, root = model.factor(), np.sqrt(weights)
    A = _features(model.values(X), factor) * root[:, None]
    system = A.T @ A
    system[np.diag_indices_from(system)] += ridge
    found = cho_solve(cho_factor(system, overwrite_a=True, check_finite=False), A.T @ (root * targets))
    return model.with_coefficients(factor, found)


def refit_kernel_ridge(
    model: KernelRidge, X: np.ndarray, labeled: np.ndarray, targets: np.ndarray, fold: np.ndarray, ridge: float
) -> tuple[KernelRidge, np.ndarray]:
    """Fit other targets with the landmarks and the width of a model."""
    factor, weights = model.factor(), balanced_weights(labeled)
    if len(X) <= CHOOSING_ROWS:
        problem = WeightedLeastSquares(_features(model.values(X), factor), targets, weights)
        return model.with_coefficients(factor, problem.coefficients(ridge)), problem.held_out(ridge, fold)
    coefficients, held_out = _in_chunks(X, targets, weights, fold, model, factor, (ridge,))
    return model.with_coefficients(factor, coefficients[0]), held_out[0]


def _chosen_on_all(
    model: KernelRidge, X: np.ndarray, labeled: np.ndarray, fold: np.ndarray, ridge: float
) -> tuple[KernelRidge, np.ndarray, float]:
    """Fit to all rows with the multiple of the ridge that has the largest PU-AUC; return it and the held-out scores."""
    ridges = tuple(multiple * ridge for multiple in MULTIPLES)
    factor, targets, weights = model.factor(), np.where(labeled, 1.0, -1.0), balanced_weights(labeled)
    coefficients, held_out = _in_chunks(X, targets, weights, fold, model, factor, ridges)
    best = int(np.argmax([pu_auc(scores, labeled) for scores in held_out]))
    return model.with_coefficients(factor, coefficients[best]), held_out[best], ridges[best]


def solve_sums(model: KernelRidge, gram: np.ndarray, moment: np.ndarray, ridge: float) -> np.ndarray:
    """Return the weights of the landmarks and the constant that minimize the objective, given sums over the rows."""
    inverse = _to_features(model.factor())
    system = inverse @ gram @ inverse.T
    system[np.diag_indices(len(gram))] += ridge
    result: np.ndarray = inverse.T @ cho_solve(cho_factor(system, check_finite=False), inverse @ moment)
    return result


def _typical(D: np.ndarray) -> float:
    """Return the median of the distances that are not zero, or 1.0 if all are zero."""
    positive = D[D > 0]
    return float(np.median(positive)) if positive.size else 1.0


def _factor(K: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of the landmarks' kernel matrix, with a shift that makes up for rounding."""
    K[np.diag_indices_from(K)] += _JITTER * len(K)
    result: np.ndarray = cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    return result


def _features(K: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Return the features (n, r + 1) whose inner products are the kernel, from K (n, r); the last one is constant."""
    Z = solve_triangular(factor, K.T, lower=True, check_finite=False).T
    return np.hstack([Z, np.ones((len(K), 1))])


def _to_features(factor: np.ndarray) -> np.ndarray:
    """Return the matrix (r + 1, r + 1) that turns sums of kernel values, the last of one, into those of features."""
    r = len(factor) + 1
    whole = np.eye(r)
    whole[:-1, :-1] = factor
    inverse: np.ndarray = solve_triangular(whole, np.eye(r), lower=True, check_finite=False)
    return inverse


def _solutions(system: np.ndarray, right: np.ndarray, shifts: Sequence[float]) -> np.ndarray:
    """Return the solutions (k, r) of a system (r, r) with each of k shifts on its diagonal."""
    found = []
    for shift in shifts:
        shifted = system.copy()
        shifted[np.diag_indices_from(shifted)] += shift
        found.append(cho_solve(cho_factor(shifted, overwrite_a=True, check_finite=False), right))
    return np.stack(found)


def _in_chunks(
    X: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    fold: np.ndarray,
    model: KernelRidge,
    factor: np.ndarray,
    ridges: tuple[float, ...],
) -> tuple[np.ndarray, np.ndarray]:
    """Fit on all rows, in chunks of rows; return the coefficients (k, r + 1) and the held-out scores (k, n).

    ridges : k values for `CHOOSING_ROWS` rows; they grow in proportion for more rows.
    """
    shifts = [ridge * len(X) / CHOOSING_ROWS for ridge in ridges]
    n_folds, r = int(fold.max()) + 1, len(model.landmarks) + 1
    gram, moment = np.zeros((n_folds, r, r)), np.zeros((n_folds, r))
    step = max(1, _CHUNK_ENTRIES // r)
    folds = [np.flatnonzero(fold == b) for b in range(n_folds)]
    parts = [(b, rows[k : k + step]) for b, rows in enumerate(folds) for k in range(0, len(rows), step)]

    def kernel(rows: np.ndarray) -> np.ndarray:
        K = np.ones((len(rows), r))
        K[:, :-1] = model.values(X[rows])
        return K

    for b, rows in parts:
        root = np.sqrt(weights[rows])
        K = kernel(rows) * root[:, None]
        gram[b] += K.T @ K
        moment[b] += K.T @ (root * targets[rows])
    # sums over rows are taken of kernel values and then turned into features: r triangular solves instead of n
    inverse = _to_features(factor)

    def solutions(without: int | None) -> np.ndarray:
        kept = [b for b in range(n_folds) if b != without]
        return _solutions(inverse @ gram[kept].sum(axis=0) @ inverse.T, inverse @ moment[kept].sum(axis=0), shifts)

    by_fold = [inverse.T @ solutions(b).T for b in range(n_folds)]
    held_out = np.empty((len(shifts), len(X)))
    for b, rows in parts:
        held_out[:, rows] = (kernel(rows) @ by_fold[b]).T
    return solutions(None), np.round(held_out, DIGITS)
