"""Model files that are damaged or forged."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.models.saved_models.mutate import sealed
from tests.trust.fuzz import Case, Rng, members_of, mutated, npy, zipped
from tests.trust.guard import run_here

DATA = b"a,b,c\n0.1,0.2,x\n1.5,-2,y\n3,4,z\n"
_JUNK: tuple[Any, ...] = (
    None, True, -1, 10**30, 1e308, "x", "", [], {}, [[[[]]]], {"object": "os.system", "state": {"args": ["touch x"]}},
    {"object": "builtins.eval", "state": {}}, {"array": "../../etc/passwd"}, {"array": "0.npy"}, {"array": 3},
    {"float": "seven"}, {"dict": [[{"list": []}, 1]]}, {"tuple": None}, {"list": 3}, {"scalar": "none.npy"},
    {"pickle": "gASV"}, {"object": "TableEncoder", "state": {}}, {"object": None, "state": None}, {"a": 1, "b": 2},
    {"float": "nan"}, {"objects": [1, 2, 3]},
)  # fmt: skip


class Payload:
    """Payload that a pickle would execute."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("touch canary",)


def trained(folder: Path) -> dict[str, bytes]:
    """Return the content of a linear, a kernel and a generative model, by name."""
    rng = np.random.default_rng(0)
    lines = ["a,b,c,y"]
    for i in range(60):
        truth = i % 2
        a, b = rng.normal(size=2) + 2 * truth
        lines.append(f"{a:.4f},{b:.4f},{'xyz'[i % 3]},{int(truth and i < 40)}")
    data = folder / "base.csv"
    data.write_text("\n".join(lines) + "\n")
    found = {}
    for name, extra in (("blssvm", ()), ("glpual", ("--param", "kernel=rbf")), ("em-lda", ("--param", "ridge=0.1"))):
        target = folder / f"{name}.model"
        words = ["train", "--method", name, "--data", str(data), "--label", "y", "--model", str(target), "-q", *extra]
        with contextlib.redirect_stdout(io.StringIO()):
            code = run_here(words)
        if code == 0:
            found[name] = target.read_bytes()
    return found


def cases(rng: Rng, bases: dict[str, bytes], count: int) -> list[Case]:
    """Return `count` model files with the command that predicts with them."""
    kinds = [mutated, _json, _json, _json, _array, _array, _forged]
    words = ["predict", "--model", "m.model", "--data", "d.csv", "--out", "p.csv"]
    found = []
    names = sorted(bases)
    for _ in range(count):
        base = bases[names[int(rng.integers(0, len(names)))]]
        what, content = kinds[int(rng.integers(0, len(kinds)))](rng, base)
        found.append(Case(f"model {what}", words, {"m.model": content, "d.csv": DATA}))
    return found


def _packed(members: dict[str, bytes]) -> bytes:
    return zipped(members, zipfile.ZIP_STORED)


def _json(rng: Rng, base: bytes) -> tuple[str, bytes]:
    """Replace one entry of the description by junk, or leave it out."""
    members = members_of(base)
    about = json.loads(members["model.json"])
    places: list[tuple[Any, Any]] = []
    _walk(about, places)
    container, key = places[int(rng.integers(0, len(places)))]
    junk = _JUNK[int(rng.integers(0, len(_JUNK)))]
    if rng.random() < 0.2:
        del container[key]
        what = "left out"
    else:
        container[key] = junk
        what = "replaced"
    members["model.json"] = json.dumps(about).encode()
    return f"{what} {key!r:.40} by {junk!r:.40}", _packed(sealed(members))


def _walk(value: Any, places: list[tuple[Any, Any]]) -> None:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        places.append((value, key))
        _walk(inner, places)


def _array(rng: Rng, base: bytes) -> tuple[str, bytes]:
    """Forge one array: another shape, kind or content, or a header that does not match the data."""
    members = members_of(base)
    arrays = sorted(name for name in members if name.endswith(".npy"))
    name = arrays[int(rng.integers(0, len(arrays)))]
    array = np.load(io.BytesIO(members[name]), allow_pickle=False)
    forms: list[tuple[str, Callable[[], bytes]]] = [
        ("nan", lambda: npy(np.full(array.shape, np.nan))),
        ("text", lambda: npy(np.full(array.shape, "word"))),
        ("shorter", lambda: npy(array.ravel()[:-1])),
        ("longer", lambda: npy(np.append(array.ravel(), array.ravel()[:1]))),
        ("deeper", lambda: npy(np.broadcast_to(array, (2, *array.shape)))),
        ("complex", lambda: npy(np.full(array.shape, 1j))),
        ("pickle", lambda: npy(np.array([Payload()], dtype=object), allow_pickle=True)),
        ("10 GB", lambda: _claims(members[name], (1_250_000_000,))),
        ("negative", lambda: _claims(members[name], (-3,))),
        ("cut", lambda: members[name][: len(members[name]) // 2]),
        ("dates", lambda: npy(np.zeros(array.shape, "M8[D]"))),
        ("fields", lambda: npy(np.zeros(array.shape, [("a", "f8"), ("b", "i4")]))),
        ("infinite", lambda: npy(np.full(array.shape, np.inf))),
    ]
    what, form = forms[int(rng.integers(0, len(forms)))]
    members[name] = form()
    return f"array {what}", _packed(sealed(members))


def _claims(content: bytes, shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return buffer.getvalue() + content[-16:]


def _forged(rng: Rng, base: bytes) -> tuple[str, bytes]:
    members = members_of(base)
    deep = '{"list":[' * 100_000
    forms: list[tuple[str, Callable[[], bytes]]] = [
        ("pickle", lambda: pickle.dumps(Payload())),
        ("climbing", lambda: _packed({**members, "../../climbed.txt": b"x", "/tmp/climbed": b"x"})),
        ("bomb", lambda: zipped({**members, "0.npy": b"\0" * 10**8})),
        ("two descriptions", lambda: base + _packed({"model.json": b"{}"})),
        ("deep", lambda: _packed({**members, "model.json": deep.encode()})),
        ("deep objects", lambda: _packed({**members, "model.json": _nested(members)})),
        ("no description", lambda: _packed({k: v for k, v in members.items() if k != "model.json"})),
        ("another method", lambda: _renamed(members, "usmo")),
        ("no method", lambda: _renamed(members, "os.system")),
        ("list for method", lambda: _renamed(members, ["glpual"])),
        ("UTF-16", lambda: _packed({**members, "model.json": members["model.json"].decode().encode("utf-16")})),
        ("huge number", lambda: _packed({**members, "model.json": b'{"format": ' + b"9" * 5000 + b"}"})),
        ("HTML", lambda: b"<html>404</html>"),
        ("one byte", lambda: b"P"),
    ]
    what, form = forms[int(rng.integers(0, len(forms)))]
    return what, form()


def _nested(members: dict[str, bytes]) -> bytes:
    about = json.loads(members["model.json"])
    about["steps"][-1][1] = "HOLE"
    return json.dumps(about).replace('"HOLE"', '{"list":[' * 900 + "1" + "]}" * 900).encode()


def _renamed(members: dict[str, bytes], method: Any) -> bytes:
    about = json.loads(members["model.json"])
    about["method"] = method
    return _packed(sealed({**members, "model.json": json.dumps(about).encode()}))
