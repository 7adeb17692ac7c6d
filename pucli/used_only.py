"""Parameters of methods that have an effect only with certain values of other parameters.

This is the one place where that is declared. `pucli train` and `pucli tune` warn of a parameter that is given in vain.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from pucli.methods import constructor_defaults, get_method

# Parameter -> conditions, one of which must hold; a condition holds if each of its parameters has one of the values.
Conditions = Mapping[str, tuple[Mapping[str, tuple[Any, ...]], ...]]

_RBF: Conditions = {"width": ({"kernel": ("rbf",)},)}
_MAPPED: Conditions = {**_RBF, "max_rank": ({"kernel": ("rbf",), "form": ("rkhs",)},)}
_WITHOUT_PRIOR: Conditions = {"prior_estimator": ({"prior": (None,)},)}
_GLOBAL_LOCAL: Conditions = {
    **_MAPPED,
    **dict.fromkeys(("lam", "sigma", "solver", "tol"), ({"form": ("rkhs",)},)),
    "mu": ({"solver": ("admm",)}, {"form": ("thesis",)}),
}
_ADMM: Conditions = {"mu": ({"solver": ("admm",)},)}
_SUPPORT: Conditions = {
    **_RBF,
    **_WITHOUT_PRIOR,
    "degree": ({"kernel": ("polynomial",)},),
    "coef0": ({"kernel": ("polynomial",)},),
}
_CONVEX = ("squared", "double-hinge")

USED_ONLY: Mapping[str, Conditions] = MappingProxyType(
    {
        "auto": {"wanted": ({"goal": ("recall", "precision", "share", "top")},)},
        "glpual": _GLOBAL_LOCAL,
        "gllc": {name: _GLOBAL_LOCAL[name] for name in ("width", "max_rank", "lam", "sigma")},
        "cpb-glpual": {**_GLOBAL_LOCAL, **_WITHOUT_PRIOR},
        "e-glpual": _ADMM,
        "ekf-glpual": _ADMM,
        "bsvm": _RBF,
        "blssvm": {**_RBF, "max_rank": ({"kernel": ("rbf",)},)},
        "svc-naive": {**_RBF, "prior_estimator": ({"prior": ("estimate",)},)},
        "upu": {
            **_WITHOUT_PRIOR,
            **dict.fromkeys(("lam", "kernel"), ({"loss": _CONVEX},)),
            **dict.fromkeys(("width", "max_rank"), ({"loss": _CONVEX, "kernel": ("rbf",)},)),
            **dict.fromkeys(("tol", "max_iter"), ({"loss": ("double-hinge",)},)),
            **dict.fromkeys(
                ("hidden", "n_epochs", "learning_rate", "weight_decay", "batch_size"), ({"loss": ("sigmoid",)},)
            ),
        },
        "nnpu": _WITHOUT_PRIOR,
        "usmo": _SUPPORT,
        "ramp-pu": _SUPPORT,
        "laplacian-svm": _RBF,
        "mcpl": {
            "covariance": ({"family": ("gaussian-fixed",)},),
            "pseudo_rows": ({"family": ("bernoulli", "poisson")},),
        },
        "classtering": dict.fromkeys(("max_components", "starts"), ({"n_components": ("auto",)},)),
    }
)


def without_effect(method: str, given: Collection[str], params: Mapping[str, Any]) -> list[str]:
    """Say which given parameters of a method have no effect, and why.

    Parameters
    ----------
    method : str
        Its name in the list of methods.
    given : collection of str
        The parameters to look at.
    params : mapping
        All parameters that are not at their defaults; a list, as in a grid, stands for each of its values.

    Returns
    -------
    list of str
        A sentence for each.

    Examples
    --------
    >>> without_effect("glpual", ["width"], {"width": 9.0})
    ['width has no effect: glpual uses it only with kernel=rbf, and kernel is linear.']
    >>> without_effect("glpual", ["width"], {"width": 9.0, "kernel": "rbf"})
    []
    """
    values = {**constructor_defaults(get_method(method)), **params}
    found = []
    for name in given:
        conditions = USED_ONLY.get(method, {}).get(name, ())
        if conditions and not any(_holds(condition, values) for condition in conditions):
            needed = " or ".join(_words(condition, values) for condition in conditions)
            others = dict.fromkeys(
                other for condition in conditions for other in condition if not _meets(condition, other, values)
            )
            present = ", ".join(f"{other} is {_text(values[other])}" for other in others)
            found.append(f"{name} has no effect: {method} uses it only with {needed}, and {present}.")
    return found


def _meets(condition: Mapping[str, tuple[Any, ...]], other: str, values: Mapping[str, Any]) -> bool:
    """Return whether the parameter `other`, or one of its values in a grid, is one that the condition asks for."""
    if other not in values:  # a method of a family that lacks it
        return True
    value = values[other]
    return any(one in condition[other] for one in (value if isinstance(value, list) else [value]))


def _holds(condition: Mapping[str, tuple[Any, ...]], values: Mapping[str, Any]) -> bool:
    return all(_meets(condition, other, values) for other in condition)


def _words(condition: Mapping[str, tuple[Any, ...]], values: Mapping[str, Any]) -> str:
    parts = []
    for other, allowed in condition.items():
        if other in values:
            parts.append(f"no {other}" if allowed == (None,) else f"{other}={' or '.join(map(str, allowed))}")
    return " and ".join(parts)


def _text(value: Any) -> str:
    return "not given" if value is None else str(value)
