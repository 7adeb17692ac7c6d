"""Warnings of options that have no effect with the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pucli.cli.options import Rows
from pucli.cli.output import Output


def warn_of_unused(out: Output, method: str, given: Collection[str], params: Mapping[str, Any]) -> None:
    """Warn of given parameters of a method that have no effect with all its `params`."""
    from pucli.used_only import without_effect

    for line in without_effect(method, given, params):
        out.warn(line)


def warn_of_scenario(out: Output, method: str, where: Rows) -> None:
    """Warn of a scenario that does not change a model of the user's own rows."""
    if where.data is not None and where.scenario != Rows.scenario:
        out.warn(
            f"--scenario {where.scenario} does not change how {method} is trained, only the PUF that `pucli evaluate` "
            "and `pucli tune` compute."
        )
