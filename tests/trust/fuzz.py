"""Damaged files, made by a seeded generator."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.trust.guard import Guard, Outcome
from tests.trust.lines import Line

Rng = np.random.Generator

# Words of libraries and tracebacks that must not reach a user.
RAW = re.compile(
    r"Traceback|pandas|zipfile|BadZip|[Yy]aml\.|PyYAML|[Tt]okeniz|C error|openpyxl|xlrd|codec|scipy|numpy(?!\.savez)"
    r"|pyarrow|Arrow|\w+Error\b|not a zip|defect in pucli|unexpected|escaped|could not convert|reshape|Magic"
    r"|zlib|Error -\d|invalid literal|allow_pickle|Expecting|while (scanning|parsing)|constructor for the tag"
    r"|<[\w.]+ object|0x[0-9a-f]{6}|broadcast|dimension mismatch|dtype"
)


@dataclass
class Case:
    """Files of one case, the command line that reads them, the allowed exit codes, and lines of a message.

    `warnings` is how many warnings, each of one line, may stand before the message of an error.
    """

    name: str
    words: Sequence[str]
    files: Mapping[str, bytes] = field(default_factory=dict)
    codes: frozenset[int] = frozenset({0, 2})
    make: Callable[[Path], None] | None = None
    lines: int = 1
    warnings: int = 0


def judge(outcome: Outcome, case: Case, seconds: float) -> str:
    """Return what is wrong with an outcome, "" if nothing."""
    if outcome.breaches:
        return f"breach: {outcome.breaches[0]}"
    if outcome.seconds >= seconds:
        return f"took more than {seconds:.0f} s"
    stderr = outcome.err.strip()
    if outcome.code not in case.codes:
        return f"exit code {outcome.code}: {stderr[-200:]}"
    if len(stderr) > 2000:
        return f"a message of {len(stderr)} characters"
    raw = RAW.search(stderr)
    if raw is not None:
        return f"raw words {raw[0]!r}: {stderr[-300:]}"
    told = stderr.splitlines()
    for _ in range(case.warnings):
        if told and told[0].startswith("warning: "):
            told = told[1:]
    if outcome.code != 0 and (not told or not told[0].startswith("pucli: ") or len(told) > case.lines):
        return f"more than {case.lines} lines: {stderr[-200:]!r}"
    return ""


def try_cases(
    line: Line, guard: Guard, cases: Sequence[Case], folder: Path, numbers: Sequence[int], seconds: float = 20.0
) -> None:
    """Run the cases of some numbers, each in an empty folder, and count them."""
    for number in numbers:
        case = cases[number]
        place = folder / f"case-{number}"
        place.mkdir()
        for name, content in case.files.items():
            (place / name).write_bytes(content)
        if case.make is not None:
            case.make(place)
        line.count(f"{number} {case.name}", judge(guard.run(case.words, place, seconds=seconds), case, seconds))
        shutil.rmtree(place, ignore_errors=True)


def zipped(members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def members_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npy(array: np.ndarray, allow_pickle: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def cut(rng: Rng, content: bytes) -> bytes:
    return content[: int(rng.integers(0, len(content)))]


def flip(rng: Rng, content: bytes) -> bytes:
    changed = bytearray(content)
    for place in rng.integers(0, len(content), int(rng.integers(1, 9))):
        changed[place] = int(rng.integers(0, 256))
    return bytes(changed)


def drop(rng: Rng, content: bytes) -> bytes:
    start, end = sorted(rng.integers(0, len(content), 2).tolist())
    return content[:start] + content[end:]


def repeat(rng: Rng, content: bytes) -> bytes:
    start, end = sorted(rng.integers(0, len(content), 2).tolist())
    return content[:end] + content[start:]


def insert(rng: Rng, content: bytes) -> bytes:
    kinds = [b"\0" * 8, b"\xff\xfe\xfa", b"\r", b'"', b"\n\n\n", b"\x1a", b"9" * 400, b",;\t", b"\xed\xa0\x80"]
    place = int(rng.integers(0, len(content)))
    piece: bytes = kinds[int(rng.integers(0, len(kinds)))]
    return content[:place] + piece + content[place:]


def zeros(rng: Rng, content: bytes) -> bytes:
    """Set a piece to zero, as a crash of the file system does."""
    start, end = sorted(rng.integers(0, len(content), 2).tolist())
    return b"".join([content[:start], bytes(end - start), content[end:]])


MUTATIONS: tuple[Callable[[Rng, bytes], bytes], ...] = (cut, flip, drop, repeat, insert, zeros)


def mutated(rng: Rng, content: bytes) -> tuple[str, bytes]:
    """Return the name of a random mutation and the mutated `content`."""
    change = MUTATIONS[int(rng.integers(0, len(MUTATIONS)))]
    return change.__name__, change(rng, content) or b"\0"
