"""Deep density estimation (Sansone 2018, chapter 4): networks, losses and the trainer behind the `[deep]` extra.

torch is imported only by `require_torch`, when a model is trained. Fitted models consist of NumPy arrays.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any


@functools.cache
def require_torch() -> Any:
    """Return the torch module; ImportError says how to install it."""
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise ImportError(
            "Training a deep model needs PyTorch, which is not installed. Install it with: pip install 'pucli[deep]'"
        ) from error
