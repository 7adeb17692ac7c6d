"""The data catalogue: the entries of `datasets.yaml`, and error messages that name a wrong key.

An entry declares its files with their SHA-256, how they are read, the selected rows, classes and columns, and the hash
of the resulting (X, y). Published counts can therefore be checked against a declared selection of rows. A selection
that the publication does not document is marked as guessed.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pucli.core.declared_files import CATALOGUE, declared_path, named_catalogues, offered_folders
from pucli.core.errors import CatalogueError, UsageError, unknown
from pucli.core.plug_ins import PlugIn
from pucli.core.validation_errors import explain
from pucli.core.yaml_files import read_yaml
from pucli.data.schema import Entry, File, Mirror

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def load_catalogue(path: str | Path | None = None) -> dict[str, Entry]:
    """Return the validated entries of a catalogue by name.

    Parameters
    ----------
    path : str or Path, optional
        The YAML file; by default the `datasets.yaml` of the package, with those of installed packages and those that
        the user names (`pucli.core.declared_files`).

    Raises
    ------
    UsageError
        The file is missing or is not YAML, or an entry has a wrong key or type; the message names the file, the path of
        the key and the nearest valid key.
    """
    if path is not None:
        return _stamped(Path(path))
    own = _stamped(declared_path(CATALOGUE))
    entries = dict(own)
    for folder, offer in offered_folders():
        if (folder / CATALOGUE).is_file():
            entries = {**_offered(folder / CATALOGUE, offer, frozenset(own)), **entries}
    entries = {name: entries[name] for name in [*own, *(name for name in entries if name not in own)]}
    for file in named_catalogues():
        for name, entry in _stamped(file).items():
            if name in own and entry != own[name]:
                raise CatalogueError(f"{file}: there is a data set {name!r} already; give yours another name.")
            entries[name] = entry
    return entries


@functools.cache
def _offered(file: Path, offer: PlugIn, taken: frozenset[str]) -> dict[str, Entry]:
    """Return what an installed package declares, without names that are taken; warn about a faulty file."""
    try:
        entries = _stamped(file)
    except UsageError as error:
        offer.refuse(str(error))
        return {}
    for name in sorted(taken.intersection(entries)):
        offer.refuse(f"the data set {name!r} already exists")
    return {name: entry for name, entry in entries.items() if name not in taken}


def _stamped(file: Path) -> dict[str, Entry]:
    """Return the entries of one file, read again where it has changed."""
    try:
        stamp = file.stat()
    except OSError as error:
        raise CatalogueError(f"cannot read the catalogue {file}: {error.strerror}") from error
    return _load(file, stamp.st_mtime_ns, stamp.st_size)


@functools.lru_cache(maxsize=8)
def _load(path: Path, _mtime: int, _size: int) -> dict[str, Entry]:
    try:
        raw = read_yaml(path)
    except UsageError as error:
        raise CatalogueError(str(error)) from error
    if not isinstance(raw, dict) or not raw:
        raise CatalogueError(
            f"{path}: expected a mapping of data set names to entries; `pucli new dataset` makes one for a table"
        )
    entries = {}
    for name, body in raw.items():
        if not isinstance(name, str):
            raise CatalogueError(f"{path}: data set name {name!r} is not text; put it in quotes")
        if not _NAME.fullmatch(name):
            raise CatalogueError(f"{path}: data set name {name!r} may only have letters, digits, '-' and '_'")
        whole = _with_those_of_another(raw, name, body, path)
        try:
            entries[name] = _with_near_files(Entry.model_validate(whole), path.parent)
        except ValidationError as error:
            raise CatalogueError(explain(error, Entry, whole, start=str(path), prefix=(name,))) from error
    return entries


def _with_those_of_another(raw: dict[Any, Any], name: str, body: Any, path: Path) -> Any:
    """Return an entry with the keys that it takes from the entry named by `like`, of this file or a shipped one.

    It never takes the name for tables, the counts, the prior or the hash of the content.
    """
    other = body.get("like") if isinstance(body, dict) else None
    if other is None:
        return body
    if other not in raw and other in (shipped := read_yaml(declared_path(CATALOGUE))):
        raw = shipped
    if not isinstance(raw.get(other), dict) or "like" in raw[other]:
        whole = [key for key, value in raw.items() if isinstance(value, dict) and "like" not in value]
        raise CatalogueError(f"{path}: {name}.like: {unknown('data set', str(other), whole)}")
    own = ("name", "content_sha256", "published", "prior")
    shared = {key: value for key, value in raw[other].items() if key not in own}
    return {"folder": f"uci/{other}", **shared, **body}


def _with_near_files(entry: Entry, folder: Path) -> Entry:
    """Return the entry with addresses that are relative paths taken from the folder of its catalogue."""

    def found(mirror: Mirror) -> Mirror:
        if "://" in mirror.url or Path(mirror.url).is_absolute():
            return mirror
        return mirror.model_copy(update={"url": str(folder / mirror.url)})

    def near(file: File) -> File:
        mirrors, others = [found(m) for m in file.mirrors], [near(other) for other in file.alternatives]
        return file.model_copy(update={"mirrors": mirrors, "alternatives": others})

    if all("://" in mirror.url for file in entry.files for one in file.packagings() for mirror in one.mirrors):
        return entry
    return entry.model_copy(update={"files": [near(file) for file in entry.files]})


def catalogue_schema() -> dict[str, Any]:
    """Return the JSON schema of the catalogue, for editors that check YAML."""
    entry = Entry.model_json_schema()
    definitions = entry.pop("$defs")
    return {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/Entry"},
        "$defs": {**definitions, "Entry": entry},
    }


def dataset_names(catalogue: str | Path | None = None) -> list[str]:
    """Return the names of all declared data sets, in the order of the catalogue."""
    return list(load_catalogue(catalogue))


def dataset_entry(name: str, catalogue: str | Path | None = None) -> Entry:
    """Return the declared entry of one data set.

    The name may also be the display name in the tables of a publication ("SSMCR"). The error for an unknown name
    suggests the nearest names.
    """
    entries = load_catalogue(catalogue)
    return entries[name if name in entries else dataset_key(name, catalogue)]


def dataset_key(name: str, catalogue: str | Path | None = None) -> str:
    """Return the catalogue key of a data set given by key or by display name."""
    entries = load_catalogue(catalogue)
    if name in entries:
        return name
    for key, entry in entries.items():
        if entry.name == name:
            return key
    raise unknown("data set", name, entries, listing="pucli list datasets")
