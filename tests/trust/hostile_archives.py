"""Archives of data sets that are damaged, write outside their folder, or unpack to gigabytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.trust.fuzz import Case, Rng, mutated, zipped

_DATA = b"a,b,kind\n" + b"1,2,yes\n3,4,no\n" * 20
CATALOGUE = """
toy:
  title: A toy table
  page: https://example.invalid/toy
  license: CC0
  files:
    - name: toy.csv
      sha256: {sha}
      mirrors:
        - {{url: https://example.invalid/{archive}, member: toy.csv}}
  reader: {{kind: table, separator: comma, header: first}}
  target: {{column: kind, positive: ["yes"], negative: ["no"]}}
  selection: known
  published: {{positive: 20, negative: 20, features: 2}}
"""
_ZEROS = 2**20


def toy_catalogue(data: bytes) -> str:
    """Return the catalogue of a data set that is one plain file."""
    found = CATALOGUE.format(sha=hashlib.sha256(data).hexdigest(), archive="toy.csv")
    return found.replace(", member: toy.csv", "")


def cases(rng: Rng, bases: Mapping[str, bytes], count: int) -> list[Case]:
    """Return `count` archives in a mirror, each with a fetch from it: all strange ones, then damaged ones."""
    strange = list(_STRANGE.items())
    good = {"toy.zip": zipped({"toy.csv": _DATA}), "toy.tar.gz": _tar([("toy.csv", _DATA, tarfile.REGTYPE, "")])}
    found = []
    for number in range(count):
        if number < len(strange):
            what, (archive, make) = strange[number]
            content = make()
        else:
            archive = sorted(good)[int(rng.integers(0, len(good)))]
            what, content = mutated(rng, good[archive])
        found.append(_case(f"archive {what}", archive, content))
    return found


def _case(name: str, archive: str, content: bytes) -> Case:
    catalogue = CATALOGUE.format(sha=hashlib.sha256(_DATA).hexdigest(), archive=archive).encode()

    def make(place: Path) -> None:
        mirror = place / "mirror"
        mirror.mkdir()
        (mirror / archive).write_bytes(content)

    words = ["!fetch", "catalogue.yaml", "mirror", "toy"]
    return Case(name, words, {"catalogue.yaml": catalogue}, frozenset({0, 1, 2}), make)


def _tar(members: list[tuple[str, bytes, bytes, str]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content, kind, target in members:
            info = tarfile.TarInfo(name)
            info.size, info.type, info.linkname = len(content), kind, target
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def _bomb_zip(size: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("toy.csv", "w") as stream:
        for _ in range(size // _ZEROS):
            stream.write(bytes(_ZEROS))
    return buffer.getvalue()


def _bomb_tar(size: int) -> bytes:
    info = tarfile.TarInfo("toy.csv")
    info.size = size
    return gzip.compress(info.tobuf()) + 1000 * gzip.compress(bytes(_ZEROS))


def _claims(content: bytes, size: int) -> bytes:
    """Return a zip whose directory claims another unpacked size."""
    changed = bytearray(content)
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = changed.find(mark) + offset
        changed[place : place + 4] = min(size, 2**32 - 2).to_bytes(4, "little")
    return bytes(changed)


def _encrypted(content: bytes) -> bytes:
    changed = bytearray(content)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        changed[changed.find(mark) + offset] |= 1
    return bytes(changed)


_LINK, _HARD, _PIPE, _FOLDER = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE
_STRANGE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "good": ("toy.zip", lambda: zipped({"toy.csv": _DATA})),
    "climbing": ("toy.zip", lambda: zipped({"../../toy.csv": _DATA, "../../../x": b"x"})),
    "climbing beside": ("toy.zip", lambda: zipped({"toy.csv": _DATA, "../../climbed": b"x"})),
    "backslashes": ("toy.zip", lambda: zipped({"..\\..\\toy.csv": _DATA})),
    "absolute": ("toy.zip", lambda: zipped({"/tmp/toy.csv": _DATA})),
    "two members": ("toy.zip", lambda: zipped({"a/toy.csv": _DATA, "b/toy.csv": b"x"})),
    "no member": ("toy.zip", lambda: zipped({"other.csv": _DATA})),
    "empty": ("toy.zip", lambda: zipped({})),
    "bomb of 400 MB": ("toy.zip", lambda: _bomb_zip(400 * 2**20)),
    "claims 4 GB": ("toy.zip", lambda: _claims(zipped({"toy.csv": _DATA}), 2**32)),
    "claims less": ("toy.zip", lambda: _claims(zipped({"toy.csv": _DATA}), 3)),
    "encrypted": ("toy.zip", lambda: _encrypted(zipped({"toy.csv": _DATA}))),
    "zip in a zip": ("toy.zip", lambda: zipped({"toy.csv": zipped({"toy.csv": _DATA})})),
    "tar climbing": ("toy.tar.gz", lambda: _tar([("../../toy.csv", _DATA, tarfile.REGTYPE, "")])),
    "tar absolute": ("toy.tar.gz", lambda: _tar([("/tmp/toy.csv", _DATA, tarfile.REGTYPE, "")])),
    "tar link": ("toy.tar.gz", lambda: _tar([("toy.csv", b"", _LINK, "/etc/passwd")])),
    "tar link, then file": (
        "toy.tar.gz",
        lambda: _tar([("toy.csv", b"", _LINK, "../../target"), ("toy.csv", _DATA, tarfile.REGTYPE, "")]),
    ),
    "tar hard link": ("toy.tar.gz", lambda: _tar([("toy.csv", b"", _HARD, "/etc/passwd")])),
    "tar pipe": ("toy.tar.gz", lambda: _tar([("toy.csv", b"", _PIPE, "")])),
    "tar folder": ("toy.tar.gz", lambda: _tar([("toy.csv", b"", _FOLDER, "")])),
    "tar of 10 GB": ("toy.tar.gz", lambda: _bomb_tar(10 * 2**30)),
    "tar cut": ("toy.tar.gz", lambda: _tar([("toy.csv", _DATA * 100, tarfile.REGTYPE, "")])[:-40]),
    "HTML": ("toy.zip", lambda: b"<html><body>404</body></html>"),
    "nothing": ("toy.zip", lambda: b""),
}
