"""numba's `njit`, with types: numba has none of its own, and a function decorated by it would lose its signature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = TypeVar("Function", bound=Callable[..., Any])

    def njit(*, cache: bool, error_model: str = "python") -> Callable[[Function], Function]:
        """Compile a function when it is first called, and keep the machine code on disk where `cache` is true."""

else:
    from numba import njit

__all__ = ["njit"]
