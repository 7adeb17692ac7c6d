"""Paths that tests need, and packages that are installed for the time of a test."""

from __future__ import annotations

import importlib
import json
import math
import shutil
import sqlite3
import sys
import tomllib
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import yaml

from pucli.core import plug_ins

if TYPE_CHECKING:
    from pucli.runner import Cell

ROOT = Path(__file__).resolve().parents[1]
# copies of the public data and publications; tests that need them skip where they are absent
SHARED = ROOT.parent / "shared"


def examples(number: int) -> hypothesis.settings:
    """Return the settings of a property test: `number` examples by night, a third of them by day, at least five."""
    share = hypothesis.settings.default.max_examples / 100  # the profile's: conftest.py
    return hypothesis.settings(max_examples=max(min(number, 5), math.ceil(share * number)), deadline=None)


def by_night(values: Iterable[Any], by_day: Collection[Any]) -> list[Any]:
    """Return the values of a parameter of a test, or tuples of several; those not in `by_day` are for .ci/nightly."""
    each = ((value, value if isinstance(value, tuple) else (value,)) for value in values)
    return [value if value in by_day else pytest.param(*parts, marks=pytest.mark.nightly) for value, parts in each]


@cache
def places() -> dict[str, list[str]]:
    """Return the table of places.yaml: the tests of a file or folder that are not in its mirror."""
    return yaml.safe_load((ROOT / "tests" / "places.yaml").read_text(encoding="utf-8"))


def places_of(file: str) -> list[str]:
    """Return the files of tests of a file of the package: its mirror, and those that the table names for it."""
    path = Path(file)
    mirror = path.with_name(f"test_{path.name}").as_posix().replace("pucli", "tests", 1)
    place = next((place for place in (path.with_suffix(""), *path.parents) if place.as_posix() in places()), None)
    listed = [f"tests/{test}" for test in places()[place.as_posix()]] if place and place != Path("pucli") else []
    return [test for test in dict.fromkeys([mirror, *listed]) if test in listed or (ROOT / test).is_file()]


def seal(db: sqlite3.Connection) -> None:
    """Write the checksum of what each row of a store holds."""
    from pucli.runner.stored_rows import checksum

    made_by = dict(db.execute("SELECT id, content FROM provenance"))
    found = db.execute("SELECT * FROM cells")
    names = [name for name, *_ in found.description]
    for values in found.fetchall():
        row = dict(zip(names, values, strict=True))
        row["checksum"] = checksum(row, made_by[row["provenance"]])
        db.execute("UPDATE cells SET checksum = ? WHERE key = ?", (row["checksum"], row["key"]))


@cache
def planned(experiment: str, profile: str) -> list[Cell]:
    """Return the planned cells of a declared experiment, made once per process; methods need not be installed."""
    from pucli.runner import load_experiment, plan

    return plan(load_experiment(experiment, check_methods=False), profile)


def check_document(command: str, document: dict[str, Any]) -> None:
    """A --json document fits the types of its command, and they declare each of its keys."""
    from pydantic import ValidationError

    from pucli.cli.schema import adapter_of, version_of

    results = {key: value for key, value in document.items() if key not in ("error", "schema", "warnings")}
    if "error" in document and results:  # those known before Ctrl-C
        check_document(command, {"schema": version_of(command), **{k: v for k, v in document.items() if k != "error"}})
        document = {key: value for key, value in document.items() if key not in results}
    adapter = adapter_of("error" if "error" in document else command)
    try:
        fitting = adapter.validate_json(json.dumps(document), strict=True)
    except ValidationError as error:
        by_form: dict[Any, list[str]] = {}  # of several forms, the one that nearly fits is meant
        for one in error.errors():
            by_form.setdefault(one["loc"][0], []).append(f"{'.'.join(map(str, one['loc']))}: {one['msg']}")
        raise AssertionError("\n".join(min(by_form.values(), key=len)[:5])) from None
    found = adapter.dump_python(fitting, mode="json")
    added = {"warnings": []} if "warnings" in found and "warnings" not in document else {}
    assert found == {**document, **added}, "an answer does not declare every key"


def install(project: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package under `project` into the folder `site` of this process, as pip would, but without pip."""
    declared = tomllib.loads((project / "pyproject.toml").read_text())
    about, packages = declared["project"], declared["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    for package in packages:
        shutil.copytree(project / package, site / package)
    add_distribution(site, about["name"], about["version"], about["entry-points"], monkeypatch)


def add_distribution(
    site: Path, name: str, version: str, points: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Write what an installed package says of itself, and have it found."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [line for group, own in points.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in own.items()))]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    if str(site) not in sys.path:
        monkeypatch.syspath_prepend(str(site))
    plug_ins.forget()
    importlib.invalidate_caches()
