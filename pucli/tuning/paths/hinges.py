"""The path-wise route of the biased SVM on features: along the ridges, each fit starts from the one before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pucli.solvers.row_losses.linear import solve_linear
from pucli.solvers.row_losses.losses import Scale
from pucli.solvers.svm.hinge import hinge_losses
from pucli.tuning.paths.base import GridPosition, PathRoute, in_order
from pucli.tuning.routes import Outcomes, Point

# Largest number of Newton steps of a fit; 40 are usual.
MOST_STEPS = 2000


class BSVMPath(PathRoute):
    """The route of bsvm with the linear kernel; a gap is relative to the objective, as in the estimator."""

    @staticmethod
    def supports(params: Point) -> bool:
        """Return whether the kernel is linear."""
        return bool(params.get("kernel", "linear") == "linear")

    def fold_outcomes(self, points: Sequence[Point], place: GridPosition) -> Outcomes:
        """Return the counts or the scores of complete points on one fold."""
        train, valid = self.fold(place)
        X, X_valid, labeled = self.X[train], self.X[valid], self.s[train] == 1
        signs, zeros = np.where(labeled, 1.0, -1.0), np.zeros(X.shape[1])
        result = self.empty(len(points), len(valid))
        # the last dual variables, times their ridge: slopes of the losses
        weights, slopes = None, None
        for p in in_order(points, _path_order):
            point = points[p]
            lam = float(point["lam"])
            if weights != (point["c_u"], point["c_p"]):
                weights, slopes = (point["c_u"], point["c_p"]), None
            loss = np.where(labeled, float(point["c_p"]), float(point["c_u"])) / lam
            constant = float(loss[labeled].sum())  # the solver's objective leaves it out
            best_constant = 2.0 * min(constant, float(loss[~labeled].sum()))
            fitted = solve_linear(
                X, hinge_losses(signs, loss), 0.0, zeros, tol=float(point["tol"]), max_iter=MOST_STEPS,
                scale=Scale(best_constant, constant), start=None if slopes is None else slopes / lam,
            )  # fmt: skip
            slopes = lam * fitted.dual
            result[p] = self.seen(X_valid @ fitted.coef + fitted.intercept, self.s[valid])
        return result


def _path_order(point: Point) -> tuple[float, float, float]:
    return float(point["c_u"]), float(point["c_p"]), -float(point["lam"])
