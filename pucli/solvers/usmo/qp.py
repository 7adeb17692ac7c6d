"""The dual of the double-hinge problem by a general interior-point solver, Clarabel (Goulart and Chen 2024).

It computes the n x n kernel matrix, as the method of du Plessis et al. (2015) does, and is a reference for USMO.
"""

from __future__ import annotations

import numpy as np

from pucli.core.arrays import Floats
from pucli.solvers.row_losses.losses import restore_total
from pucli.solvers.usmo.problem import DoubleHingeProblem

# Above this many unlabeled rows the kernel matrix and its factor would take gigabytes.
LARGEST = 5000


def solve_qp(problem: DoubleHingeProblem, *, tol: float = 1e-8) -> Floats:
    """Return sigma (n,), feasible, from the dual (6) of Sansone et al. in sigma and t = delta / 2.

    It is min 1/2 sigma'K sigma - a(X)'sigma - 1't subject to 1'sigma = c1 p, t <= sigma, t <= c2 - sigma, t >= 0, with
    all variables scaled to [0, 1]. With the linear kernel and m < n features, v = X'sigma is a variable and K is not
    formed. `tol` is Clarabel's tolerance on gap and feasibility.
    """
    try:
        import clarabel  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError(
            "solver='qp' needs Clarabel: `pip install 'pucli[bench]'`, or use solver='usmo', which solves the same "
            "problem."
        ) from error
    from scipy import sparse

    n, m = problem.X_u.shape
    if n > LARGEST:
        raise ValueError(
            f"solver='qp' forms the {n} x {n} kernel matrix; it is meant for at most {LARGEST} unlabeled rows. "
            "Use solver='usmo', which solves the same problem with linear memory."
        )
    c2 = problem.c2
    extra = m if problem.kernel.name == "linear" and m < n else 0
    identity, zero = sparse.identity(n, format="csc"), sparse.csc_matrix((n, n))
    if extra:
        P = sparse.block_diag([sparse.csc_matrix((2 * n, 2 * n)), sparse.identity(m)], format="csc")
        definition = np.sqrt(c2) * sparse.csc_matrix(problem.X_u.T)
        defining = [sparse.hstack([definition, sparse.csc_matrix((m, n)), -sparse.identity(m)])]
    else:
        K = problem.kernel.matrix(problem.X_u, problem.X_u)
        P = sparse.block_diag([sparse.csc_matrix(np.triu(c2 * K)), zero], format="csc")
        defining = []
    total = sparse.csc_matrix(np.concatenate([np.ones(n), np.zeros(n + extra)])[None, :])
    pad = sparse.csc_matrix((n, extra))
    corners = [[-identity, identity, pad], [identity, identity, pad], [zero, -identity, pad]]
    A = sparse.vstack([total, *defining, *(sparse.hstack(blocks) for blocks in corners)], format="csc")
    b = np.concatenate([[problem.total / c2], np.zeros(extra), np.zeros(n), np.ones(n), np.zeros(n)])
    q = np.concatenate([-problem.a_X, -np.ones(n), np.zeros(extra)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.direct_solve_method = "faer"
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    cones = [clarabel.ZeroConeT(1 + extra), clarabel.NonnegativeConeT(3 * n)]
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    sigma = c2 * np.clip(np.asarray(solution.x)[:n], 0.0, 1.0)
    return restore_total(sigma, problem.losses, problem.total)
