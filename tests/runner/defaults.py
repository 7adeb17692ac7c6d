"""The defaults of every method's constructor, by version: `python -m tests.runner.defaults` writes them down.

The key of a cell has the version of its method and not these values, so that none may change without the version.
"""

import json
from pathlib import Path

from pucli.methods import METHODS, constructor_defaults

FILE = Path(__file__).with_name("defaults.json")


def present():
    """Version and defaults of each method whose optional packages are there."""
    found = {}
    for name, method in METHODS.items():
        try:
            defaults = constructor_defaults(method)
        except ImportError:
            continue
        found[name] = {"version": method.version, "defaults": json.loads(json.dumps(defaults))}
    return found


def changed(recorded, now):
    """Return the methods whose defaults differ from those recorded for the same version."""
    both = [(name, recorded[name], now[name]) for name in now if name in recorded]  # a new method may be missing
    return [name for name, a, b in both if a["version"] == b["version"] and a["defaults"] != b["defaults"]]


if __name__ == "__main__":
    recorded = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in {**recorded, **present()}.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
