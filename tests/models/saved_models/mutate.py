"""Change the model files of this folder at random and open them.

``python -m tests.models.saved_models.mutate COUNT SEED`` prints a line for whatever goes wrong.

Each change is tried on a file with a new digest, so that only what the classes declare can notice it: an error of one
line, or finite predictions in their range. With the old digest the file must be refused, or predict the same. A line is
printed for whatever else happens. A crash, 30 s or 1 GB end the process; the last line names the change.
"""

from __future__ import annotations

import gzip
import io
import json
import resource
import signal
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from pucli.core.errors import UsageError
from pucli.models.saved import ABOUT, DIGEST, _digest, load_model
from tests.models.saved_models.make import FOLDER, predictions

MOST_BYTES, MOST_SECONDS = 2**30, 30
JUNK: tuple[Any, ...] = (
    None, True, -1, 0, 3, 10**30, 1e308, -1e300, 0.5, "x", "", [], {}, {"float": "nan"}, {"float": "inf"},
    {"array": "0.npy"}, {"list": []}, {"tuple": []}, {"dict": []}, {"objects": [1]}, {"scalar": "0.npy"},
    {"object": "Standardizer", "state": {}},
)  # fmt: skip


def members_of(name: str) -> dict[str, bytes]:
    """Return the members of a model file of this folder."""
    with zipfile.ZipFile(io.BytesIO(gzip.decompress((FOLDER / f"{name}.model.gz").read_bytes()))) as archive:
        return {member: archive.read(member) for member in archive.namelist()}


def sealed(members: dict[str, bytes]) -> dict[str, bytes]:
    """Return the members with a description that has their digest."""
    about = json.loads(members[ABOUT])
    about[DIGEST] = _digest(about, {name: content for name, content in members.items() if name != ABOUT})
    return {**members, ABOUT: json.dumps(about).encode()}


def packed(members: dict[str, bytes]) -> bytes:
    """Return a model file with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def changed(members: dict[str, bytes], rng: np.random.Generator) -> tuple[str, dict[str, bytes]]:
    """Return what was changed and the members with that change."""
    members = dict(members)
    arrays = sorted(name for name in members if name.endswith(".npy"))
    if arrays and rng.random() < 0.5:
        return _array(members, arrays, rng), members
    about = json.loads(members[ABOUT])
    places: list[tuple[Any, Any]] = []
    _walk({key: about[key] for key in ("steps", "encoder", "metadata", "feature_names")}, places)
    container, key = places[int(rng.integers(len(places)))]
    kind = rng.integers(4)
    if kind == 0:
        del container[key]
        what = f"{key!r:.60} missing"
    elif kind == 1:
        same = [place for place in places if place[0] is not container or place[1] != key]
        other, place = same[int(rng.integers(len(same)))]
        container[key], other[place] = other[place], container[key]
        what = f"{key!r:.60} and {place!r:.60} exchanged"
        try:
            json.dumps(about)
        except ValueError:  # a part within itself
            return "nothing", members
    elif kind == 2 and isinstance(container, list):
        container.insert(key, json.loads(json.dumps(container[key])))
        what = f"{key!r:.60} repeated"
    else:
        junk = JUNK[int(rng.integers(len(JUNK)))]
        container[key] = junk
        what = f"{key!r:.60} is {junk!r:.60}"
    members[ABOUT] = json.dumps(about).encode()
    return what, members


def _walk(value: Any, places: list[tuple[Any, Any]]) -> None:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        places.append((value, key))
        _walk(inner, places)


def _array(members: dict[str, bytes], arrays: list[str], rng: np.random.Generator) -> str:
    name, other = (arrays[int(k)] for k in rng.integers(len(arrays), size=2))
    array = np.load(io.BytesIO(members[name]))
    flat, kind = array.ravel().copy(), int(rng.integers(9))
    if kind == 0:
        members[name], members[other] = members[other], members[name]
        return f"{name} and {other} exchanged"
    if kind == 1:
        members[name] = members[other]
        return f"{other} twice, as {name} too"
    if kind == 2:
        del members[name]
        return f"{name} missing"
    if kind == 3 and flat.size:
        wrong = [-1, 2, 10**6, 2**31 - 1] if flat.dtype.kind in "iu" else [np.nan, np.inf, -1e300, 1e308, -1.0, 0.0]
        value = wrong[int(rng.integers(len(wrong)))]
        flat[int(rng.integers(flat.size))] = np.array(value).astype(flat.dtype)
        found, what = flat.reshape(array.shape), f"a number of {name} is {value}"
    elif kind == 4:
        found, what = flat[: len(flat) // 2], f"{name} shorter"
    elif kind == 5:
        found, what = np.append(array, array, axis=0) if array.ndim else array[None], f"{name} longer"
    elif kind == 6:
        found, what = array[None], f"{name} with a further axis"
    elif kind == 7:
        dtypes = ["f4", "i8", "i2", "U3", "?", "c16", ">f8"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, what = array.astype(dtypes[int(rng.integers(len(dtypes)))]), f"{name} of another type"
    else:
        found, what = flat[::-1].reshape(array.shape), f"{name} reversed"
    buffer = io.BytesIO()
    np.save(buffer, found, allow_pickle=False)
    members[name] = buffer.getvalue()
    return what


def judge(path: Path, expected: dict[str, Any], same: bool) -> str:
    """Return what is wrong with what happens to a model file, "" if nothing is; same : predictions must be."""
    try:
        found = predictions(load_model(path))
    except UsageError as error:
        return "" if str(path) in str(error) and "\n" not in str(error) else f"says {error}"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    if same and found != expected:
        return "predicts something else"
    for what, values in found.items():
        if what != "predict" and not np.isfinite(np.array(values, dtype=float)).all():
            return f"has a {what} that is not finite"
        if what == "predict_proba" and not (np.min(values) >= 0 and np.max(values) <= 1 + 1e-9):
            return f"has a {what} out of range"
    return ""


def main(count: int, seed: int, names: list[str]) -> int:
    """Try `count` changes of each file; return the number of those with a wrong end."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + 4 * MOST_BYTES, size + 4 * MOST_BYTES))
    wrong = tried = 0
    for name in names:  # compiles what the models need
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.model"
            path.write_bytes(packed(members_of(name)))
            predictions(load_model(path))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.model"
        for name in names:
            members = members_of(name)
            path.write_bytes(packed(members))
            expected = predictions(load_model(path))
            rng = np.random.default_rng([seed, *name.encode()])
            for _ in range(count):
                what, other = changed(members, rng)
                for same in (False, True):
                    path.write_bytes(packed(other if same else sealed(other)))
                    print(f"{name}: {what}", file=sys.stderr, flush=True)
                    signal.alarm(MOST_SECONDS)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        verdict = judge(path, expected, same)
                    signal.alarm(0)
                    tried, wrong = tried + 1, wrong + bool(verdict)
                    if verdict:
                        print(f"{name}: {what}: {verdict[:300]}", flush=True)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    print(f"{tried} tried, {wrong} wrong, {most / 2**30:.2f} GB more than before")
    return wrong + (most > MOST_BYTES)


if __name__ == "__main__":
    every = sorted(file.name.removesuffix(".model.gz") for file in FOLDER.glob("*.model.gz"))
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or every)))
