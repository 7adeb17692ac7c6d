"""Recognition of packed files by their first bytes."""

from __future__ import annotations

_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"),
)


def packing(head: bytes) -> str:
    """Return how a file is packed, by its first bytes: gzip, bzip2, xz, zstd or zip, "" if it is not."""
    return next((name for magic, name in _MAGIC if head.startswith(magic)), "")
