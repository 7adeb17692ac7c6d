"""Fully connected networks (Sansone 2018, tables B.1, B.2 and B.4): trained in torch, stored and applied in NumPy.

A trained network is a list of weights and offsets. A fitted model can therefore be pickled, stored and applied without
torch, in float64, and the output for a row does not depend on the other rows of its batch.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from pucli.core.arrays import Floats
from pucli.solvers.deep import require_torch

OUTPUTS = ("linear", "tanh", "sigmoid")
HIDDEN = ("relu", "elu")


class Network(NamedTuple):
    """A trained multilayer perceptron."""

    # (n_out, n_in) and (n_out,), of each layer
    weights: list[Floats]
    offsets: list[Floats]
    hidden: str  # activation of the hidden layers: "relu" or "elu"
    output: str  # activation of the last layer: "linear", "tanh" or "sigmoid"

    def __call__(self, X: Floats) -> Floats:
        """Return the outputs (n, n_out) for rows X (n, n_in)."""
        for weight, offset in zip(self.weights[:-1], self.offsets[:-1], strict=True):
            X = X @ weight.T + offset
            X = np.maximum(X, 0.0) if self.hidden == "relu" else np.where(X > 0.0, X, np.expm1(np.minimum(X, 0.0)))
        X = X @ self.weights[-1].T + self.offsets[-1]
        if self.output == "tanh":
            X = np.tanh(X)
        elif self.output == "sigmoid":
            X = expit(X)
        return X


@functools.cache
def _mixed_sequential() -> Any:
    """Return a torch.nn.Sequential whose hidden layers multiply in bfloat16; weights and last layer are float32."""
    torch = require_torch()
    Sequential: Any = torch.nn.Sequential

    class MixedSequential(Sequential):  # type: ignore[misc]  # torch may be missing
        def forward(self, X: Any) -> Any:
            layers = list(self)
            last = max(k for k, layer in enumerate(layers) if isinstance(layer, torch.nn.Linear))
            with torch.autocast(X.device.type, dtype=torch.bfloat16):
                for layer in layers[:last]:
                    X = layer(X)
            X = X.float()  # codes that differ by less than bfloat16 shows would repel each other as if they were one
            for layer in layers[last:]:
                X = layer(X)
            return X

    return MixedSequential


def perceptron(
    sizes: Sequence[int],
    *,
    hidden: str = "relu",
    output: str = "linear",
    batch_norm: bool = False,
    precision: str = "float32",
) -> Any:
    """Return a torch.nn.Sequential."""
    nn = require_torch().nn
    layers: list[Any] = []
    for n_in, n_out in itertools.pairwise(sizes[:-1]):
        layers.append(nn.Linear(n_in, n_out))
        if batch_norm:
            layers.append(nn.BatchNorm1d(n_out))
        layers.append(nn.ReLU() if hidden == "relu" else nn.ELU())
    layers.append(nn.Linear(sizes[-2], sizes[-1]))
    if output != "linear":
        layers.append(nn.Tanh() if output == "tanh" else nn.Sigmoid())
    return (_mixed_sequential() if precision == "bfloat16" else nn.Sequential)(*layers)


def exported(module: Any, *, hidden: str, output: str) -> Network:
    """Return the NumPy network of a `perceptron`; batch normalization is folded into the layer before it."""
    nn = require_torch().nn
    weights: list[Floats] = []
    offsets: list[Floats] = []
    for layer in module:
        if isinstance(layer, nn.Linear):
            weights.append(array(layer.weight))
            offsets.append(array(layer.bias))
        elif isinstance(layer, nn.BatchNorm1d):
            scale = array(layer.weight) / np.sqrt(array(layer.running_var) + layer.eps)
            weights[-1] = weights[-1] * scale[:, None]
            offsets[-1] = (offsets[-1] - array(layer.running_mean)) * scale + array(layer.bias)
    return Network(weights, offsets, hidden, output)


def array(tensor: Any) -> Floats:
    """Return a torch tensor as a float64 array."""
    values: Floats = tensor.detach().cpu().numpy().astype(np.float64)
    return values
