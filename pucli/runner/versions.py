"""Versions and hardware, for a bug report."""

from __future__ import annotations

import platform

from pucli.runner.provenance import blas, cpu_name, package_versions

# packages that affect results and error messages; missing optional packages are shown as such
PACKAGES = (
    "numpy", "scipy", "scikit-learn", "numba", "pandas", "joblib", "typer", "rich", "pydantic", "matplotlib",
    "threadpoolctl", "torch", "dask", "pyarrow",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Return the versions of pucli, Python and the packages, with the processor and the linear algebra library.

    No path and no name of a machine or a user is among them.
    """
    there = package_versions(PACKAGES)
    found = {name: there.get(name, "not installed") for name in ("pucli", "python", *PACKAGES)}
    return {**found, "system": f"{platform.system()} {platform.machine()}", "cpu": cpu_name(), "blas": blas()}


def show_versions() -> None:
    """Print `versions`, one per line, for a bug report.

    Examples
    --------
    >>> import pucli
    >>> pucli.show_versions()  # doctest: +ELLIPSIS
    pucli ...
    """
    found = versions()
    width = max(map(len, found))
    for name, version in found.items():
        print(f"{name:<{width}}  {version}")
