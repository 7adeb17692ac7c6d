"""Download and cache of data files.

A file is taken from the first place that has it with the declared SHA-256: the cache, the mirror of the user
(`PUCLI_MIRROR`, `fetch --mirror`), then the declared addresses. It is written under a temporary name, verified and then
renamed, so the cache never holds an incomplete or unverified file. Downloads use pooch, and end when they are larger or
slower than its limits.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit
from urllib.request import url2pathname

from pucli.core.errors import RunError, UsageError
from pucli.data.catalogue.entries import dataset_key, load_catalogue
from pucli.data.catalogue.http_download import Progress, http_download
from pucli.data.files.archives import ArchiveError, unpack
from pucli.data.schema import Entry, File, Mirror

_LARGEST = 2**30  # bytes of a download whose size is not declared
_SPARE = 2**16  # bytes by which a packed file may be larger than its content
_STALE = 86400.0  # seconds
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


def cache_folder(cache: str | Path | None = None) -> Path:
    """Return the cache folder: `cache`, `PUCLI_DATA_DIR`, or the default of the platform, in this order."""
    if cache is not None:
        return Path(cache).expanduser()
    if named := os.environ.get("PUCLI_DATA_DIR"):
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("pucli")) / "data"


@dataclass(frozen=True)
class DownloadSource:
    """Places from which files are obtained."""

    cache: Path  # the cache folder
    mirror: str | None = None  # folder or address that is tried before the declared addresses
    offline: bool = False  # whether the network must not be used. A mirror that is a folder is still used
    progress: Progress | None = field(default=None, compare=False)  # called while a file is downloaded


def make_source(
    cache: str | Path | None = None,
    mirror: str | Path | None = None,
    offline: bool | None = None,
    progress: Progress | None = None,
) -> DownloadSource:
    """Return the places where data files are looked for."""
    named = str(mirror) if mirror is not None else os.environ.get("PUCLI_MIRROR") or None
    if offline is None:
        offline = os.environ.get("PUCLI_OFFLINE", "").lower() not in {"", "0", "false", "no"}
    if named is not None:
        if named.startswith("file:"):
            named = url2pathname(unquote(urlsplit(named).path))
        if not _is_url(named) and not Path(named).expanduser().is_dir():
            raise UsageError(f"the mirror {named!r} is neither a folder nor an address (--mirror, PUCLI_MIRROR)")
    return DownloadSource(cache_folder(cache), named, offline, progress)


def fetch(
    names: str | Sequence[str],
    *,
    mirror: str | Path | None = None,
    offline: bool | None = None,
    progress: Progress | None = None,
    cache: str | Path | None = None,
    catalogue: str | Path | None = None,
) -> list[Path]:
    """Download the files of data sets into the cache and verify their declared SHA-256.

    Parameters
    ----------
    names : str or sequence of str
        One or several names. Data sets from scikit-learn and generated data sets have no files.
    mirror : str or Path, optional
        Folder or address to try first; by default `PUCLI_MIRROR`.
    offline : bool, optional
        Whether to use only the cache and a local mirror; by default `PUCLI_OFFLINE`.
    progress : callable, optional
        Called with the file name, the bytes so far and the total bytes or None.
    cache : str or Path, optional
        Cache folder; by default `PUCLI_DATA_DIR`, then that of the platform.
    catalogue : str or Path, optional
        Another `datasets.yaml`.

    Returns
    -------
    list of Path
        The files in the cache, in the order of the names.

    Raises
    ------
    UsageError
        Unknown name, or a mirror that does not exist.
    RunError
        No place provides the file (no network, checksum mismatch, ...), or the cache cannot be written (no space, ...).
    """
    source = make_source(cache, mirror, offline, progress)
    paths = []
    for name in [names] if isinstance(names, str) else names:
        key = dataset_key(name, catalogue)
        entry = load_catalogue(catalogue)[key]
        paths += [obtain(key, entry, file, source)[1] for file in entry.files]
    return paths


@dataclass(frozen=True)
class ToFetch:
    """A declared file that is not in the cache.

    Parameters
    ----------
    dataset, file : str
        Key of the data set and name of the file.
    bytes : int or None
        Declared size of the uncompressed content, None if it is unknown.
    """

    dataset: str
    file: str
    bytes: int | None


def to_fetch(names: Iterable[str]) -> list[ToFetch]:
    """Return the files of declared data sets that are not in the cache, or have the wrong content there.

    Parameters
    ----------
    names : iterable of str
        Keys or display names of data sets, which may repeat.
    """
    source, found = make_source(), []
    for key in dict.fromkeys(map(dataset_key, names)):
        files = [file for file in load_catalogue()[key].files if _cached(key, file, source) is None]
        found += [ToFetch(key, file.name, file.bytes) for file in files]
    return found


def obtain(key: str, entry: Entry, file: File, source: DownloadSource) -> tuple[File, Path]:
    """Return a declared file from the cache; download it first if it is missing or has the wrong content."""
    if (cached := _cached(key, file, source)) is not None:
        return cached
    folder = source.cache / key
    failures: list[str] = []
    with _cache_errors(source.cache):
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as scratch:
            for packaging, address in _locations(key, entry, file, source):
                arrived = Path(scratch) / "content"
                problem = _get(address, packaging, arrived, source)
                if problem is None:
                    arrived.replace(folder / packaging.name)
                    return packaging, folder / packaging.name
                failures.append(f"{address.url}: {problem}")
    raise RunError(_not_found(key, file, source, failures))


def _cached(key: str, file: File, source: DownloadSource) -> tuple[File, Path] | None:
    """Return the packaging of a file that is in the cache with the declared content, and its path."""
    places = ((packaging, source.cache / key / packaging.name) for packaging in file.packagings())
    return next((found for found in places if found[1].is_file() and _wrong_content(found[1], found[0]) is None), None)


def _sweep(folder: Path) -> None:
    """Remove temporary files that are more than a day old, left by killed processes."""
    for scratch in folder.glob(".fetch-*"):
        with contextlib.suppress(FileNotFoundError):  # another process may have removed it
            if time.time() - scratch.stat().st_mtime > _STALE:
                shutil.rmtree(scratch, ignore_errors=True)


def _locations(key: str, entry: Entry, file: File, source: DownloadSource) -> Iterator[tuple[File, Mirror]]:
    """Yield (packaging, address) in the order of trial: the mirror of the user, then the declared addresses.

    In a mirror, a file may be in the `folder` of the entry (default ``uci/<key>``), in the tail of that path or at the
    top level; it may be plain, compressed as .gz, or in the archive that a declared address names.
    """
    parts = (entry.folder or f"uci/{key}").split("/")
    if source.mirror is not None and not (source.offline and _is_url(source.mirror)):
        for packaging in file.packagings():
            for start in range(len(parts) + 1):
                below = [*parts[start:], packaging.name]
                names: list[tuple[list[str], str | None]] = [
                    (below, None),
                    ([*below[:-1], packaging.name + ".gz"], None),
                ]
                names += [
                    ([*below[:-1], Path(unquote(urlsplit(m.url).path)).name], m.member)
                    for m in packaging.mirrors
                    if m.member
                ]
                for path, member in names:
                    address = _join(source.mirror, path)
                    if _is_url(address) or Path(address).is_file():
                        yield packaging, Mirror(url=address, member=member)
    for packaging in file.packagings():
        for mirror in packaging.mirrors:
            if not (source.offline and _is_url(mirror.url)):
                yield packaging, mirror


def _join(mirror: str, parts: list[str]) -> str:
    if _is_url(mirror):
        return "/".join([mirror.rstrip("/"), *map(quote, parts)])
    return str(Path(mirror).expanduser().joinpath(*parts))


def _is_url(place: str) -> bool:
    return "://" in place and not place.startswith("file:")


def _get(address: Mirror, packaging: File, target: Path, source: DownloadSource) -> str | None:
    """Write the verified content of an address to `target`; return the problem, or None."""
    raw = target.with_name("raw")
    if _is_url(address.url):
        problem = http_download(address.url, raw, packaging.name, _largest(address, packaging), source.progress)
        if problem is not None:
            return problem
    else:
        raw = Path(url2pathname(unquote(urlsplit(address.url).path)) if "://" in address.url else address.url)
        try:
            if not stat.S_ISREG(raw.stat().st_mode):
                return "not a regular file"
            raw.open("rb").close()
        except OSError as error:
            return str(error.strerror)
    try:
        unpack(raw, target, address.member, limit=packaging.bytes)
    except ArchiveError as error:
        return str(error)
    if source.progress is not None and not _is_url(address.url):
        size = target.stat().st_size
        source.progress(packaging.name, size, size)
    return _wrong_content(target, packaging)


def _largest(address: Mirror, packaging: File) -> int:
    """Return the number of bytes that an address may send: an archive may hold other files beside the declared one."""
    if packaging.bytes is None:
        return _LARGEST
    return max(packaging.bytes, _LARGEST) if address.member else packaging.bytes + packaging.bytes // 100 + _SPARE


def _wrong_content(path: Path, packaging: File) -> str | None:
    if packaging.bytes is not None and path.stat().st_size != packaging.bytes:
        return f"{path.stat().st_size:,} bytes, and {packaging.bytes:,} are declared"
    if packaging.sha256 is None:
        return None
    import pooch

    found = pooch.file_hash(str(path), alg="sha256")
    if found == packaging.sha256:
        return None
    return f"checksum mismatch (SHA-256 {found[:12]}..., declared {packaging.sha256[:12]}...)"


@contextmanager
def _cache_errors(cache: Path) -> Iterator[None]:
    """Turn errors of the file system into messages that name the folder and the remedy."""
    try:
        yield
    except OSError as error:
        advice = "set PUCLI_DATA_DIR to a writable folder"
        if error.errno in _NO_SPACE:
            raise RunError(f"no space left in the cache {cache}; free some space or {advice}") from error
        where = f" ({error.filename})" if error.filename and str(error.filename) != str(cache) else ""
        raise UsageError(f"cannot write to the cache {cache}: {error.strerror or error}{where}; {advice}") from error


def _not_found(key: str, file: File, source: DownloadSource, failures: list[str]) -> str:
    names = " or ".join(repr(packaging.name) for packaging in file.packagings())
    place = source.cache / key / file.name
    advice = f"give `pucli fetch {key} --mirror` a folder or address that has it, or put it at {place}"
    if source.offline:
        tried = f" Tried: {'; '.join(failures)}." if failures else ""
        return (
            f"{names} of data set {key!r} is not in the cache and PUCLI_OFFLINE forbids the network; "
            f"run `pucli fetch {key}` without it, {advice}.{tried}"
        )
    if source.mirror is not None and not any(failure.startswith(source.mirror) for failure in failures):
        failures = [f"{source.mirror}: no such file", *failures]
    if not failures:
        return f"no address is declared for {names} of data set {key!r}; {advice}."
    if all("no connection" in failure or "no response" in failure for failure in failures):
        return f"no network: cannot get {names} of data set {key!r}; {advice}. Tried: {'; '.join(failures)}."
    return f"cannot get {names} of data set {key!r}; {advice}. Tried: {'; '.join(failures)}."
