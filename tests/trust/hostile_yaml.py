"""Declared experiments that are damaged or strange."""

from __future__ import annotations

from collections.abc import Mapping

from pucli.core.declared_files import declared_path
from tests.trust.fuzz import Case, Rng, mutated

# A file with several mistakes has a line for each of the first five.
MISTAKES = 6
_GOOD = """title: A toy table
data: {names: [wifi], standardize: train}
split: {scenario: case-control, label_frequencies: [0.5], repeats: 1, seed: 1, unlabeled_train: 0.7}
tuning: {folds: 2, score: puf}
methods:
  blssvm: {method: blssvm, grid: {lam: [1, 10]}}
metrics: [f1]
"""

_WORDS = (
    "!!python/object/apply:os.system ['touch canary']", "!!python/name:os.system", "!!binary aGVsbG8=", "!unknown x",
    "{a: {b: {c: 1}}}", "[[[[1]]]]", "-1", "1e400", ".nan", "null", "yes", "''", "2026-11-22", "0o777", "*nothing",
    "&a [*a]", "&a {a: *a}", "? [1, 2] : 3", "'../../etc/passwd'", "/etc/passwd", "99999999999999999999999", "<<: 3",
    "!!set {a, b}", "!!timestamp x", "|\n  block", "\"\\x41\\q\"", "{{", "]", ": :", "`", "@x", "%TAG", "\t- a",
)  # fmt: skip


_LAUGHS = ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
_LAUGHS += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
_STRANGE = {
    "laughs": "\n".join([*_LAUGHS, f"{_GOOD}notes: *a11\n"]),
    "laughs as keys": _GOOD + "x: &x [a, b]\n? *x\n: 1\n",
    "deep brackets": "[" * 10**6,
    "deep braces": "{a: " * 10**5,
    "deep blocks": "\n".join("  " * i + "a:" for i in range(2000)),
    "deep dashes": "- " * 10**5 + "a",
    "tag": "!!python/object/apply:os.system ['touch canary']",
    "documents": "---\na: 1\n---\nb: 2\n",
    "empty": "",
    "a word": "hello",
    "a number": "7",
    "NUL": _GOOD.replace("toy", "t\0y"),
    "BOM": "\ufeff" + _GOOD,
    "tabs": _GOOD.replace("  blssvm", "\tblssvm"),
    "merge bomb": "a: &a {x: 1}\nb: &b {<<: [*a, *a, *a]}\n" + _GOOD,
    "self": "&a\nself: *a\n",
    "key twice": _GOOD + "title: again\n",
    "long key": "k" * 10**6 + ": 1\n",
    "million points": _GOOD.replace("[1, 10]", "[" + ", ".join(["1"] * 10**5) + "]"),
    "billion repeats": _GOOD.replace("repeats: 1", "repeats: 1000000000"),
    "path as a name": _GOOD.replace("[wifi]", "[../../etc/passwd]"),
    "published elsewhere": _GOOD + "published: ../../../../etc/passwd\n",
    "another protocol": _GOOD + "protocol: os\n",
    "a climbing protocol": _GOOD + "protocol: ..os\n",
}


def cases(rng: Rng, bases: Mapping[str, bytes], count: int) -> list[Case]:
    """Return `count` experiments, each for a dry run: all strange ones, then damaged ones and odd values."""
    files = sorted(declared_path("experiments").glob("*.yaml"))
    sources = [_GOOD.encode(), *(file.read_bytes() for file in files[:4])]
    found = []
    strange = list(_STRANGE.items())
    words = ["reproduce", "e.yaml", "--dry-run"]
    for number in range(count):
        if number < len(strange):
            what, text = strange[number]
            content = text.encode()
        elif rng.random() < 0.5:
            what, content = mutated(rng, sources[int(rng.integers(0, len(sources)))])
        else:
            word, text = _odd(rng)
            what, content = f"{word!r:.60}", text.encode()
        found.append(Case(f"YAML {what}", words, {"e.yaml": content}, lines=MISTAKES))
    return found


def _odd(rng: Rng) -> tuple[str, str]:
    places = [i for i, letter in enumerate(_GOOD) if letter == ":" and _GOOD[i + 1] == " "]
    place = places[int(rng.integers(0, len(places)))] + 2
    end = min(i for i in range(place, len(_GOOD)) if _GOOD[i] in ",}\n")
    word = _WORDS[int(rng.integers(0, len(_WORDS)))]
    return word, _GOOD[:place] + word + _GOOD[end:]
