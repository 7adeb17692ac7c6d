"""Locations of the declared files.

The files of pucli are beside the package in a checkout, and inside it in an installed wheel. Others come from installed
packages (entry points ``pucli.catalogues``) and from catalogues named by the user.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

from pucli.core.errors import UsageError
from pucli.core.plug_ins import PlugIn, modules

CATALOGUE = "datasets.yaml"
VARIABLE = "PUCLI_DATASETS"
_PACKAGE = Path(__file__).resolve().parents[1]
_named: list[Path] = []


@functools.cache
def declared_path(relative: str) -> Path:
    """Return the path of a shipped declared file or folder, e.g. ``datasets.yaml`` or ``experiments``."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / CATALOGUE).is_file():
        return checkout / relative
    return _PACKAGE / "_declared" / relative


def offered_folders() -> list[tuple[Path, PlugIn]]:
    """Return the folders of installed packages that declare data sets or experiments."""
    usable = modules("pucli.catalogues").values()
    return [(Path(offer.found.__file__).parent, offer) for offer in usable if getattr(offer.found, "__file__", None)]


def experiment_files() -> dict[str, Path]:
    """Return the files of the declared experiments by name, those of pucli before those of installed packages."""
    found: dict[str, Path] = {}
    for folder in _experiment_folders():
        found = {path.stem: path for path in folder.glob("*.yaml")} | found
    return dict(sorted(found.items()))


def experiment_file(name: str) -> Path | None:
    """Return the file of a declared experiment, None if there is no such name."""
    if os.sep in name or "/" in name:
        return None
    files = [folder / f"{name}.yaml" for folder in _experiment_folders()]
    return next((file for file in files if file.is_file()), None)


def _experiment_folders() -> list[Path]:
    return [declared_path("experiments"), *(folder / "experiments" for folder, _ in offered_folders())]


def add_catalogue(path: str | Path) -> None:
    """Add another catalogue of data sets; later catalogues override earlier ones."""
    file = Path(path).resolve()
    if not file.is_file():
        what = "is a folder" if file.is_dir() else "no such file"
        raise UsageError(f"{path}: {what}; a catalogue has the format of datasets.yaml.")
    if file in _named:
        _named.remove(file)
    _named.append(file)


def named_catalogues() -> list[Path]:
    """Return the catalogues named by the user in PUCLI_DATASETS and with `add_catalogue`."""
    variable = [Path(part).resolve() for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    for path in variable:
        if not path.is_file():
            raise UsageError(f"{VARIABLE}: {path}: no such file.")
    return list(dict.fromkeys([*variable, *(path for path in _named if path.is_file())]))
