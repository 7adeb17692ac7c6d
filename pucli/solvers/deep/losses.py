"""The losses of the deep models: Plummer-kernel discrepancies (Sansone 2018, eq. 4.2; Unterthiner et al. 2018).

The kernel is k(z, z') = (|z - z'|^2 + eps)^(-1/2). `_plummer_discrepancy` is the unbiased estimate of the squared
maximum mean discrepancy in (4.2), whose three sums leave out i = j. Its gradient is written out. On a GPU it costs one
matrix product, a fraction of automatic differentiation of the kernel matrices. On the processor, value and gradient
come from one compiled pass (`pucli.solvers.kernels.plummer`), because batches are too small for separate tensor
operations.
"""

from __future__ import annotations

import functools
from typing import Any

from pucli.solvers.deep import require_torch

# Up to this many features, squared distances are summed from differences, at two passes per feature.
_FEW = 16


def _plummer_kernel(a: Any, b: Any, eps: float) -> Any:
    """Return the matrix (n, m) of k(a_i, b_j), for a (n, h) and b (m, h).

    For codes, distances come from differences: the kernel of near pairs is up to eps^(-1/2), and cancellation in inner
    products would change it. For rows of many features, distances come from inner products; only the Coulomb GAN needs
    them, with eps = 1, against which their rounding is small.
    """
    torch = require_torch()
    if a.shape[1] > _FEW:
        squares = torch.addmm((a * a).sum(1)[:, None] + (b * b).sum(1), a, b.T, alpha=-2.0).clamp_(min=0.0)
        return squares.add_(eps).rsqrt_()
    squares = torch.full((len(a), len(b)), eps, dtype=a.dtype, device=a.device)
    for column in range(a.shape[1]):
        difference = a[:, column, None] - b[:, column]
        squares.addcmul_(difference, difference)
    return squares.rsqrt_()


@functools.cache
def _discrepancy() -> tuple[dict[str, Any], Any]:
    """Return the differentiable discrepancies: by type of device, and for all other devices."""
    torch = require_torch()
    Function: Any = torch.autograd.Function

    class OnProcessor(Function):  # type: ignore[misc]  # torch may be missing
        @staticmethod
        def forward(ctx: Any, codes: Any, prior: Any, eps: float) -> Any:
            from pucli.solvers.kernels.plummer import discrepancy_and_gradient

            value, gradient = discrepancy_and_gradient(codes.detach().numpy(), prior.numpy(), eps)
            ctx.save_for_backward(torch.from_numpy(gradient))
            return codes.new_tensor(value)

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> tuple[Any, None, None]:
            (gradient,) = ctx.saved_tensors
            return grad_output * gradient, None, None

    class OnDevice(Function):  # type: ignore[misc]  # torch may be missing
        @staticmethod
        def forward(ctx: Any, codes: Any, prior: Any, eps: float) -> Any:
            n = len(codes)
            points = torch.cat([codes, prior])
            k = _plummer_kernel(codes, points, eps)
            k[:, :n].fill_diagonal_(0.0)
            k[:, n:].fill_diagonal_(0.0)
            of_prior = _plummer_kernel(prior, prior, eps).fill_diagonal_(0.0)
            ctx.save_for_backward(points, k)
            totals = k.sum(0)
            return (totals[:n].sum() - 2.0 * totals[n:].sum() + of_prior.sum()) / (n * (n - 1))

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> tuple[Any, None, None]:
            points, k = ctx.saved_tensors
            n = len(points) // 2
            # d k(z, z') / dz = -k^3 (z - z'); both orders of a pair are in the sums, codes push and the prior pulls
            sign = torch.ones((2 * n, 1), dtype=points.dtype, device=points.device)
            sign[n:] = -1.0
            moments = (k * k * k) @ torch.cat([sign * points, sign], dim=1)
            gradient = moments[:, :-1] - moments[:, -1:] * points[:n]
            return grad_output * (2.0 / (n * (n - 1))) * gradient, None, None

    return {"cpu": OnProcessor.apply}, OnDevice.apply


def _plummer_discrepancy(codes: Any, prior: Any, eps: float) -> Any:
    """Return the unbiased squared MMD of (4.2) of codes and prior draws (N, h), differentiable in `codes` alone."""
    by_device, otherwise = _discrepancy()
    return by_device.get(codes.device.type, otherwise)(codes, prior, eps)


def reconstruction_error(X: Any, Y: Any) -> Any:
    """Return the mean over rows of |x - y|^2 for tensors (N, d)."""
    return (X - Y).square().sum() / len(X)


def plummer_autoencoder_loss(X: Any, Y: Any, codes: Any, prior: Any, lam: float, eps: float) -> Any:
    """Return the objective (4.2) on one batch."""
    return reconstruction_error(X, Y) + lam * _plummer_discrepancy(codes, prior, eps)


def coulomb_potential(points: Any, real: Any, fake: Any, eps: float) -> Any:
    """Return the potential (n,) at points: the mean Plummer kernel to real rows minus that to fake rows."""
    return _plummer_kernel(points, real, eps).mean(1) - _plummer_kernel(points, fake, eps).mean(1)
