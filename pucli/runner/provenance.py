"""Provenance of results: versions, processor, source, threads; without paths and names of machines or users."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from pucli.core.declared_files import CATALOGUE, offered_folders
from pucli.core.errors import UsageError
from pucli.core.plug_ins import plug_ins
from pucli.core.version import __version__
from pucli.metrics import METRICS
from pucli.runner.cells import PROTOCOLS, canonical_json
from pucli.runner.experiment import Experiment

_PACKAGES = ["numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl"]
_PACKAGE = Path(__file__).resolve().parents[1]
# what a table depends on; results are written by runs, so they do not count as changes
_SOURCES = ("pucli", "datasets.yaml", "experiments")


def provenance(experiment: Experiment, *, n_jobs: int, backend: str) -> dict[str, Any]:
    """Return the description that is stored with each cell."""
    return {
        "versions": {**package_versions(_PACKAGES), **foreign(experiment)},
        "blas": blas(),
        "instructions": instructions(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_name(),
        "source_sha256": source_sha256(),
        "experiment_sha256": experiment_sha256(experiment),
        "commit": commit(),
        "seed": experiment.split.seed,
        "processes": n_jobs,
        "threads_per_process": 1,
        "backend": "in this process" if backend == "loky" and n_jobs == 1 else backend,
    }


def package_versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of pucli, of Python and of the packages, without those that are not installed."""
    found = {"pucli": __version__, "python": platform.python_version()}
    for package in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def foreign(experiment: Experiment) -> dict[str, str]:
    """Return the versions of the plug-in packages of an experiment; for a ``module:Class``, the hash of its file."""
    from pucli.data import load_catalogue
    from pucli.methods import get_method

    found = {}
    for entry in experiment.methods.values():
        method = get_method(entry.method)
        if ":" in method.name:
            found[method.name] = method.origin
        elif method.package:
            found[method.package] = method.package_version
    for offer in plug_ins(PROTOCOLS):
        if offer.name == experiment.protocol:
            found[offer.package] = offer.version
    if not set(experiment.metrics) <= set(METRICS):
        found |= {offer.package: offer.version for offer in plug_ins("pucli.metrics")}
    for folder, offer in offered_folders():
        file = folder / CATALOGUE
        of_it = experiment.path is not None and experiment.path.is_relative_to(folder)
        if of_it or (file.is_file() and set(experiment.dataset_names) & set(load_catalogue(file))):
            found[offer.package] = offer.version
    return found


def source_sha256(package: Path = _PACKAGE) -> str:
    """Return a hash of the paths and contents of all Python files of the package, in order."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py"), key=lambda path: path.relative_to(package).as_posix()):
        name, content = path.relative_to(package).as_posix().encode(), path.read_bytes()
        # lengths, so that different sets of files cannot give the same bytes
        digest.update(f"{len(name)} {len(content)} ".encode() + name + content)
    return digest.hexdigest()


def experiment_sha256(experiment: Experiment) -> str:
    """Return the hash of the declared file, or of the declaration of an experiment made in Python."""
    if experiment.path is not None and experiment.path.is_file():
        return hashlib.sha256(experiment.path.read_bytes()).hexdigest()
    return hashlib.sha256(canonical_json(experiment.model_dump(mode="json")).encode()).hexdigest()


def cpu_name() -> str:
    """Return the name of the processor as reported by the system."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def blas() -> str:
    """Return the linear algebra libraries in use and the processor that their kernels are for.

    For example "openblas 0.3.29 Haswell": other kernels round differently.
    """
    import scipy.linalg  # noqa: F401  loads its own BLAS
    from threadpoolctl import threadpool_info

    loaded = [item for item in threadpool_info() if item["user_api"] == "blas"]
    parts = ("internal_api", "version", "architecture")
    found = {" ".join(str(item[part]) for part in parts if item.get(part)) for item in loaded}
    return ", ".join(sorted(found)) or "unknown"


def instructions() -> str:
    """Return the processor's instructions for which NumPy computes exponentials, which decide how these are rounded.

    For example "X86_V3", that is AVX2 without AVX-512.
    """
    try:
        from numpy.lib.introspect import opt_func_info
    except ImportError:  # NumPy before 2.1
        return "unknown"
    found = opt_func_info(func_name="^exp$", signature="float64").get("exp", {})
    return ", ".join(sorted({str(of["current"]) for of in found.values()})) or "unknown"


def commit(root: Path = _PACKAGE.parent) -> str:
    """Return the commit of the checkout that contains the package, with "+changes" if files differ from it."""
    if not (root / ".git").exists():
        return "not a checkout"
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD")
        return head + ("+changes" if _changed(root) else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def check_committed(folder: Path, *, allow_changes: bool = False, root: Path = _PACKAGE.parent) -> None:
    """Raise UsageError if a committed table would be overwritten by uncommitted code.

    Parameters
    ----------
    folder : Path
        Folder of the table. Only folders with files committed in the checkout of the package are protected.
    allow_changes : bool, default=False
        Allow it; the commit in the provenance then ends in "+changes".
    root : Path
        The checkout, by default that of the package.

    Raises
    ------
    UsageError
        The folder is committed, and files of the package, datasets.yaml or experiments differ from the commit.
    """
    folder = folder.resolve()
    if allow_changes or not (root / ".git").exists() or not folder.is_relative_to(root):
        return
    try:
        if not _git(root, "ls-files", "--", str(folder)):
            return
        changed = _changed(root)
    except (OSError, subprocess.SubprocessError):
        return
    if changed:
        first = changed.splitlines()[0].split(maxsplit=1)[-1]
        raise UsageError(
            f"{folder.relative_to(root)} holds a committed table, and {first} differs from the last commit: the new "
            "table could not be traced to a commit. Commit first, give another folder with --results, or add "
            "--allow-changes."
        )


def _changed(root: Path) -> str:
    return _git(root, "status", "--porcelain", "--", *_SOURCES)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()
