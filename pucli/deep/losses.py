"""The losses of the deep models: Plummer-kernel discrepancies (Sansone 2018, eq. 4.2; Unterthiner et al. 2018).

k(z, z') = (|z - z'|^2 + eps)^(-1/2). `plummer_discrepancy` is the unbiased estimate of the squared maximum mean
discrepancy in (4.2), whose three sums leave out i = j. Its gradient is written out: it costs two matrix products, a
fraction of what automatic differentiation of the kernel matrices takes.
"""

from __future__ import annotations

import functools
from typing import Any

from pucli.deep import require_torch


def plummer_kernel(a: Any, b: Any, eps: float) -> Any:
    """Return k(a_i, b_j), (len(a), len(b)), for tensors a (n, h) and b (m, h).

    Distances come from inner products, in double precision: near pairs have weight up to eps^(-1/2), and the rounding
    of single precision would move them.
    """
    x, y = a.double(), b.double()
    squares = require_torch().addmm((x * x).sum(1)[:, None] + (y * y).sum(1), x, y.T, alpha=-2.0)
    return squares.clamp_(min=0.0).to(a.dtype).add_(eps).rsqrt_()


@functools.cache
def _discrepancy() -> Any:
    torch = require_torch()
    Function: Any = torch.autograd.Function

    class PlummerDiscrepancy(Function):
        @staticmethod
        def forward(ctx, codes, prior, eps):
            n = len(codes)
            points = torch.cat([codes, prior])
            k = plummer_kernel(points, points, eps)
            k.fill_diagonal_(0.0)
            k[:n, n:].fill_diagonal_(0.0)
            k[n:, :n].fill_diagonal_(0.0)
            # codes count positive, the prior negative: the three sums of (4.2) are sign' k sign
            sign = torch.ones(2 * n, dtype=codes.dtype, device=codes.device)
            sign[n:] = -1.0
            ctx.save_for_backward(points, sign, k)
            return sign @ (k @ sign) / (n * (n - 1))

        @staticmethod
        def backward(ctx, grad_output):
            points, sign, k = ctx.saved_tensors
            n = len(points) // 2
            # d k(z, z') / dz = -k^3 (z - z'); both orders of a pair are in the sums
            pull = k[:n] * k[:n]
            pull *= k[:n]
            gradient = pull @ (sign[:, None] * points) - (pull @ sign)[:, None] * points[:n]
            return grad_output * (2.0 / (n * (n - 1))) * gradient, None, None

    return PlummerDiscrepancy.apply


def plummer_discrepancy(codes: Any, prior: Any, eps: float) -> Any:
    """Return the unbiased squared MMD of (4.2) between `codes` and `prior`, both (N, h), N >= 2.

    Differentiable in `codes` alone.
    """
    return _discrepancy()(codes, prior, eps)


def reconstruction_error(X: Any, Y: Any) -> Any:
    """Return the mean over rows of |x - y|^2 for tensors (N, d)."""
    return (X - Y).square().sum() / len(X)


def plummer_autoencoder_loss(X: Any, Y: Any, codes: Any, prior: Any, lam: float, eps: float) -> Any:
    """Return (4.2) on one batch: rows X (N, d), reconstructions Y (N, d), their codes and codes of the prior (N, h)."""
    return reconstruction_error(X, Y) + lam * plummer_discrepancy(codes, prior, eps)


def coulomb_potential(points: Any, real: Any, fake: Any, eps: float) -> Any:
    """Return the potential (n,) at `points`: mean Plummer kernel to the `real` rows minus that to the `fake` ones."""
    return plummer_kernel(points, real, eps).mean(1) - plummer_kernel(points, fake, eps).mean(1)
