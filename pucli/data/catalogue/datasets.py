"""Loading of a declared data set as (X, y), with the same bits on every machine.

The hash of (X, y) is declared with the data set. The parsed arrays are stored beside the cached file and are reused
only if their hash matches, so later loads need neither pandas nor the original file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pucli.core.arrays import AnyArray, Floats, Ints
from pucli.core.atomic_files import replacing
from pucli.core.errors import PucliError, RunError, UsageError
from pucli.data.catalogue.download import DownloadSource, make_source, obtain
from pucli.data.catalogue.entries import dataset_key, load_catalogue
from pucli.data.schema import Entry

_SELECTION = "rows or columns"
# Part of the file name of parsed copies; increase it when the readers or the selection change their results.
_PARSER = 1


@dataclass(frozen=True)
class Dataset:
    """One data set.

    Attributes
    ----------
    name : str
        Key in the catalogue.
    X : ndarray of shape (n, m)
        Features, not writable.
    y : ndarray of int, shape (n,)
        Labels, not writable: +1 and -1 where the entry declares positive classes, otherwise the classes.
    feature_names : tuple of str
        m names.
    content_sha256 : str
        Hash of (X, y), see `content_hash`.
    title : str
        Full title.
    notes : tuple of str
        Guesses of the entry, and missing values that were replaced or dropped.
    classes : ndarray of int or str, shape (n,)
        The class of each row in the source.
    prior : float or None
        Share of positives that a publication assumes to be known; None if not declared.
    groups : ndarray of int of shape (n,) or None
        Group of each row, from 0; None if the entry declares none.
    """

    name: str
    X: Floats
    y: AnyArray
    feature_names: tuple[str, ...]
    content_sha256: str
    title: str = ""
    notes: tuple[str, ...] = ()
    classes: AnyArray | None = None
    prior: float | None = None
    groups: Ints | None = None


def content_hash(X: AnyArray, y: AnyArray) -> str:
    """Return the SHA-256 of the shape of X (n, m) and the bytes of X (float64) and y (int64), little-endian in C order.

    Text labels are hashed as their rank among the sorted distinct labels.
    """
    y = np.asarray(y)
    if y.dtype.kind not in "iub":
        y = np.unique(y, return_inverse=True)[1]
    digest = hashlib.sha256(np.array(np.shape(X), dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(X, dtype="<f8").tobytes())
    digest.update(np.ascontiguousarray(y, dtype="<i8").tobytes())
    return digest.hexdigest()


def load_dataset(
    name: str,
    *,
    rng: np.random.Generator | None = None,
    parameters: Mapping[str, float] | None = None,
    multiclass: bool = False,
    cache: str | Path | None = None,
    mirror: str | Path | None = None,
    offline: bool | None = None,
    catalogue: str | Path | None = None,
) -> Dataset:
    """Load a declared data set; its files are downloaded if they are not in the cache.

    Parameters
    ----------
    name : str
        Key or display name.
    rng : numpy.random.Generator, optional
        For generated data sets; by default seeded with 0.
    parameters : mapping of str to float, optional
        Parameters of a generated data set that override the declared ones, such as ``{"mean_p2": 200}``.
    multiclass : bool
        Whether y holds the classes of the source even if the entry declares positive classes.
    cache, mirror, offline : optional
        See `pucli.data.fetch`.
    catalogue : str or Path, optional
        Another `datasets.yaml`.

    Raises
    ------
    UsageError
        Unknown name or parameter, parameters for a data set that is not generated, or an invalid catalogue.
    RunError
        The files cannot be found or read, or (X, y) differs from the declared hash.

    Examples
    --------
    >>> from pucli import load_dataset
    >>> load_dataset("breast-cancer").X.shape
    (569, 30)
    """
    key = dataset_key(name, catalogue)
    entry = load_catalogue(catalogue)[key]
    if entry.generator:
        return _generated(key, entry, rng, parameters)
    if parameters:
        raise UsageError(f"data set {key!r} is not generated and takes no parameters ({', '.join(parameters)})")
    source = make_source(cache, mirror, offline)
    parsed = source.cache / key / f"parsed-{_identity(entry)[:16]}.npz"
    dataset = _read_parsed(parsed, key, entry)
    if dataset is None:
        dataset = _parse(key, entry, source)
        if entry.files:
            _write_parsed(parsed, dataset)
    if multiclass and dataset.classes is not None:
        y = dataset.classes
        dataset = replace(dataset, y=y, content_sha256=content_hash(dataset.X, y))
    return dataset


def data_sha256(name: str, *, catalogue: str | Path | None = None) -> str:
    """Return a hash that identifies a data set, without reading its files.

    It is the declared hash of (X, y), which is verified on loading. Without one, it is a hash of everything in the
    entry that determines (X, y): the SHA-256 of its files and the selection of rows, classes and columns, or the
    generator with its version and declared parameters.
    """
    entry = load_catalogue(catalogue)[dataset_key(name, catalogue)]
    return entry.content_sha256 or _identity(entry)


def _identity(entry: Entry) -> str:
    from pucli.data.catalogue.generators import VERSION

    chosen = entry.model_dump(
        mode="json",
        include={"sklearn", "generator", "parameters", "reader", "target", "rows", "features", "content_sha256"},
    )
    # cells that were stored before these keys existed keep their identity
    if entry.target.above is None:
        del chosen["target"]["above"]
    if not entry.rows.without:
        del chosen["rows"]["without"]
    if entry.groups is not None:
        chosen["groups"] = entry.group_columns
    chosen["files"] = [[file.sha256 for file in slot.packagings()] for slot in entry.files]
    chosen["versions"] = [_PARSER, VERSION if entry.generator else 0]
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def _generated(
    key: str, entry: Entry, rng: np.random.Generator | None, parameters: Mapping[str, float] | None
) -> Dataset:
    from pucli.core.seeding import stream
    from pucli.data.catalogue.generators import generate

    values = {**entry.parameters, **(parameters or {})}
    X, y = generate(str(entry.generator), stream(0, "data", key, values) if rng is None else rng, values)
    names = [f"x{column}" for column in range(1, X.shape[1] + 1)]
    return _dataset(key, entry, X, y, y, names, [f"{name} = {value:g}" for name, value in values.items()])


def _parse(key: str, entry: Entry, source: DownloadSource) -> Dataset:
    import pandas as pd

    from pucli.data.catalogue.selection import columns_needed, select
    from pucli.data.files.binary.idx import beside
    from pucli.data.files.readers import read_declared, read_sklearn

    origin = "scikit-learn"
    if entry.sklearn:
        try:
            frame = read_sklearn(entry.sklearn, entry.parameters)
        except (TypeError, ValueError) as error:
            raise UsageError(f"data set {key!r}: parameters: {error}") from error
    else:
        tables, paths = [], []
        for file in entry.files:
            packaging, path = obtain(key, entry, file, source)
            reader = packaging.reader or file.reader or entry.reader
            tables.append(read_declared(path, reader, columns_needed(entry)))
            paths.append(str(path))
        origin = ", ".join(paths)
        if entry.reader.kind == "idx":
            frame = beside(tables, paths)
        else:
            frame = pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]
    try:
        chosen = select(frame, entry)
    except RunError as error:
        raise RunError(f"data set {key!r} from {origin}: {error}") from error
    dataset = _dataset(key, entry, chosen.X, chosen.y, chosen.classes, chosen.feature_names, chosen.notes)
    dataset = replace(dataset, groups=chosen.groups)
    if entry.content_sha256 is not None and dataset.content_sha256 != entry.content_sha256:
        raise RunError(
            f"data set {key!r} from {origin}: the resulting (X, y) of {dataset.X.shape[0]} rows and "
            f"{dataset.X.shape[1]} features has SHA-256 {dataset.content_sha256}, declared is {entry.content_sha256}; "
            "remove the file to download it again, or correct 'content_sha256' if the selection of rows was changed"
        )
    return dataset


def _dataset(
    key: str, entry: Entry, X: Floats, y: AnyArray, classes: AnyArray, names: list[str], notes: list[str]
) -> Dataset:
    if entry.selection != "known":
        notes = [f"{_SELECTION} {entry.selection}: {' '.join(entry.note.split())}", *notes]
    for array in (X, y, classes):
        array.setflags(write=False)
    return Dataset(key, X, y, tuple(names), content_hash(X, y), entry.title, tuple(notes), classes, entry.prior)


def _read_parsed(path: Path, key: str, entry: Entry) -> Dataset | None:
    """Return the parsed copy, or None if it is missing, damaged or different from the declaration."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as saved:
            X, y, classes = saved["X"], saved["y"], saved["classes"]
            names, notes = saved["feature_names"].tolist(), saved["notes"].tolist()
            expected = str(saved["content_sha256"])
            groups = saved["groups"] if "groups" in saved.files else None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    if content_hash(X, y) != (entry.content_sha256 or expected):
        return None
    return replace(_dataset(key, entry, X, y, classes, names, notes), groups=groups)


def _write_parsed(path: Path, dataset: Dataset) -> None:
    """Store the parsed copy if possible; without it, the next load is only slower."""
    groups: dict[str, Any] = {} if dataset.groups is None else {"groups": dataset.groups}
    noticed = [note for note in dataset.notes if not note.startswith(_SELECTION)]
    with contextlib.suppress(PucliError), replacing(path) as partial, partial.open("wb") as stream:
        np.savez(
            stream,
            X=dataset.X,
            y=dataset.y,
            classes=dataset.classes if dataset.classes is not None else dataset.y,
            feature_names=np.array(dataset.feature_names, dtype=str),
            notes=np.array(noticed, dtype=str),
            content_sha256=np.array(dataset.content_sha256),
            **groups,
        )
