"""What a result was made with: versions, processor, commit, threads. No paths, no names of machines or users."""

from __future__ import annotations

import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ["numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl"]


def provenance(*, n_jobs: int, backend: str, seed: int) -> dict[str, Any]:
    """Return the description that is stored with each cell."""
    import pucli

    versions = {"pucli": pucli.__version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "blas": blas(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_name(),
        "commit": commit(),
        "seed": seed,
        "processes": n_jobs,
        "threads_per_process": 1,
        "backend": "in this process" if backend == "loky" and n_jobs == 1 else backend,
    }


def cpu_name() -> str:
    """Return the processor's name as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def blas() -> str:
    """Return the linear algebra libraries in use, e.g. "openblas 0.3.29"."""
    import scipy.linalg  # noqa: F401  loads its own copy
    from threadpoolctl import threadpool_info

    loaded = [item for item in threadpool_info() if item["user_api"] == "blas"]
    found = {f"{item['internal_api']} {item.get('version') or ''}".strip() for item in loaded}
    return ", ".join(sorted(found)) or "unknown"


def commit() -> str:
    """Return the commit of the checkout that the package lies in, "+changes" where files differ from it."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return "not a checkout"
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD")
        # results are what a run writes, so they do not count as changes
        changed = _git(root, "status", "--porcelain", "--", "pucli", "datasets.yaml", "experiments")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return head + ("+changes" if changed else "")


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()
