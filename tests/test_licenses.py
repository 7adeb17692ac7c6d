"""Licenses of every package that pucli or one of its extras brings: none that spreads to programs that import it."""

from __future__ import annotations

import re
from importlib import metadata

PERMISSIVE = re.compile(
    r"\b(0?BSD|MIT|Apache|ISC|PSF|Python Software Foundation|Zlib|CC0|BSL|Unlicense|HPND|CNRI|MPL|Mozilla|ZPL)\b",
    re.IGNORECASE,
)
# Packages of which a part that is not imported has another license, or that name a choice without the word OR.
PARTLY = {"docutils": "its mode for Emacs is under the GPL", "odfpy": "the Apache license may be chosen"}
SPREADS = re.compile(r"\b(A?GPL|GNU (Affero )?General Public)", re.IGNORECASE)


def license(name: str) -> str:
    """Return what the metadata of an installed package say of its license."""
    about = metadata.metadata(name)
    classifiers = [line for line in about.get_all("Classifier") or [] if line.startswith("License")]
    said = [about.get("License-Expression"), *classifiers, (about.get("License") or "")[:300]]
    return "; ".join(part for part in said if part)


def name_of(line: str) -> str:
    """Return the name of the package in a line of requirements."""
    return re.split(r"[\s<>=!~;\[(]", line, maxsplit=1)[0].lower().replace("_", "-")


def brought() -> list[str]:
    """Return the names of the installed packages that pucli, or one of its extras, needs, directly or not.

    What torch brings differs between machines (drivers of graphics cards) and is not followed.
    """
    found: set[str] = set()
    left = [name_of(line) for line in metadata.requires("pucli") or []]
    while left:
        name = left.pop()
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # an extra that is not installed
        if name not in found and name != "torch":
            left += [name_of(line) for line in needed if "extra ==" not in line]
        found.add(name)
    return sorted(found)


def test_no_license_of_a_package_spreads():
    found = brought()
    assert len(found) > 15
    for name in found:
        said = license(name)
        assert PERMISSIVE.search(said), f"{name}: {said or 'no license is stated'}"
        # a choice between licenses is ours
        assert not SPREADS.search(said) or " OR " in said or name in PARTLY, f"{name}: {said}"
