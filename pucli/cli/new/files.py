"""Starter files of a method, data set or experiment. Existing files are never replaced."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pucli.core.atomic_files import check_folder
from pucli.core.declared_files import declared_path
from pucli.core.errors import PucliError, UsageError, did_you_mean, shell_word, unwritable

# An invented table and its hidden truth, made by examples/make_customers.py.
EXAMPLES = ("customers.csv", "customers_truth.csv")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# A text column with more values, such as a name or a note, is left out of a new data set.
MOST_LEVELS = 50
_TEMPLATES = Path(__file__).parent / "templates"
# ending of a data file -> its reader
READERS = {
    ".csv": "{kind: table, separator: comma, header: first}",
    ".tsv": "{kind: table, separator: tab, header: first}",
    ".xlsx": "{kind: excel, header: first}",
    ".arff": "{kind: arff}",
}


@dataclass(frozen=True)
class Made:
    """What was written."""

    folder: Path  # where it lies
    files: list[Path]  # all of them
    next: list[str]  # what to do next, as a shell reads it
    warning: str = ""  # what the user should look at, or ""


def new_data(parent: str | Path = ".") -> Made:
    """Write an invented table to try pucli on, and its hidden truth, into `parent`.

    Raises
    ------
    UsageError
        One of the files exists, or the folder cannot be written.
    """
    folder = Path(parent)
    check_folder(folder, "--out")
    files = [folder / name for name in EXAMPLES]
    for file in files:
        if file.exists():
            raise UsageError(f"{file} already exists and is not replaced; choose another --out.")
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(declared_path(f"examples/{file.name}"), file)
    words = "--label bought --positive yes --id customer --scored ranked.csv --report page.html"
    return Made(folder, files, [f"pucli auto --data {shell_word(files[0])} {words}"])


def new_method(name: str, parent: str | Path = ".") -> Made:
    """Write an installable package with a working method, as a start for the user, into a folder `name` of `parent`.

    `name` is that of the method on the command line: small letters, digits and hyphens.

    Raises
    ------
    UsageError
        The name is invalid or taken, or the folder exists.
    """
    from pucli.methods import all_methods

    folder = _folder(name, parent, "method", all_methods())
    package = f"pucli_{_word(name)}"
    values = {"name": name, "package": package, "title": "".join(word.capitalize() for word in name.split("-"))}
    files = _write(
        folder,
        {
            "pyproject.toml": "method/pyproject.toml",
            "README.md": "method/README.md",
            f"{package}/__init__.py": "method/init.py",
            f"{package}/methods.py": "method/methods.py",
            f"{package}/estimator.py": "method/estimator.py",
            f"tests/test_{_word(name)}.py": "method/test.py",
        },
        values,
    )
    return Made(
        folder,
        files,
        [
            f"pip install -e {shell_word(folder)}",
            f"pytest {shell_word(folder)}",
            f"pucli train --method {name} --dataset breast-cancer",
        ],
    )


def new_dataset(
    name: str,
    parent: str | Path = ".",
    *,
    data: str | Path | None = None,
    label: str | None = None,
    positive: str | None = None,
) -> Made:
    """Write a catalogue of one data set, with its file beside it.

    Parameters
    ----------
    name : str
        Name of the data set on the command line.
    parent : path, default="."
        The folder that gets a folder of that name.
    data : path, optional
        The file (csv, tsv, xlsx, arff), which is copied; a few made-up rows when omitted.
    label : str, optional
        Its label column.
    positive : str, optional
        The value that marks the positive class; all others are negative.

    Raises
    ------
    UsageError
        The name is invalid or taken, the folder exists, or the file cannot be read.
    """
    from pucli.data import dataset_names

    folder = _folder(name, parent, "data set", dataset_names())
    if (data is None) != (label is None) or (data is None) != (positive is None):
        raise UsageError("--data, --label and --positive belong together: give all three, or none.")
    source = Path(data) if data is not None else _TEMPLATES / "dataset" / "points.csv"
    if not source.is_file():
        raise UsageError(f"{source}: no such file; --data names the table.")
    if source.suffix.lower() not in READERS:
        raise UsageError(f"{source}: the ending must be one of {', '.join(READERS)}.")
    file = f"{name}{source.suffix.lower()}"
    values: dict[str, Any] = {
        "name": name,
        "file": file,
        "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        "bytes": source.stat().st_size,
        "reader": READERS[source.suffix.lower()],
        "label": _column(label or "kind"),
        "positive": _value(positive or "yes"),
    }
    values |= _features(source, label or "kind", positive or "yes")
    values |= _counts(name, source, values)
    files = _write(
        folder, {"datasets.yaml": "dataset/datasets.yaml", f"test_{_word(name)}.py": "dataset/test.py"}, values
    )
    copied = folder / file
    shutil.copyfile(source, copied)
    return Made(
        folder,
        [*files, copied],
        [
            f"pytest {shell_word(folder)}",
            f"PUCLI_DATASETS={shell_word(folder / 'datasets.yaml')} pucli train --method gllc --dataset {name}",
        ],
        _of_empty(values["empty"], label or "kind"),
    )


def new_experiment(name: str, parent: str | Path = ".") -> Made:
    """Write an experiment that runs, as a start for the user.

    Parameters
    ----------
    name : str
        Name of the experiment.
    parent : path, default="."
        The folder that gets a folder of that name.

    Raises
    ------
    UsageError
        The name is invalid or taken, or the folder exists.
    """
    from pucli.runner import experiment_names

    folder = _folder(name, parent, "experiment", experiment_names())
    values = {"name": name}
    files = _write(
        folder, {f"{name}.yaml": "experiment/experiment.yaml", f"test_{_word(name)}.py": "experiment/test.py"}, values
    )
    declared = folder / f"{name}.yaml"
    return Made(
        folder,
        files,
        [
            f"pytest {shell_word(folder)}",
            f"pucli reproduce {shell_word(declared)} --dry-run",
            f"pucli reproduce {shell_word(declared)} --profile quick",
        ],
    )


def _folder(name: str, parent: str | Path, kind: str, taken: Any) -> Path:
    """Return the folder to write; raise UsageError if the name or the folder is not possible."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r}: use lower-case letters, digits and hyphens, a letter first, e.g. my-{kind[:4]}.")
    if name in taken:
        raise UsageError(f"a {kind} named {name!r} already exists; choose another name.")
    check_folder(Path(parent), "--out")
    folder = Path(parent) / name
    if folder.exists():
        raise UsageError(f"{folder} already exists and is not replaced; choose another name or another --out.")
    return folder


def _write(folder: Path, files: Mapping[str, str], values: Mapping[str, Any]) -> list[Path]:
    """Write the templates, filled in, and return the files."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), keep_trailing_newline=True, trim_blocks=True, autoescape=False
    )
    written = []
    for target, template in files.items():
        path = folder / target
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as stream:
                stream.write(environment.get_template(f"{template}.j2").render(values))
        except OSError as error:
            raise unwritable(path, error, "--out") from None
        written.append(path)
    return written


def _of_empty(count: int, label: str) -> str:
    if not count:
        return ""
    return (
        f"{count:,} cells of {label!r} are empty: a data set needs the true class of each row, and these rows count as "
        "negative. To learn from rows of unknown class, no data set is needed: pucli auto --data."
    )


def _features(source: Path, label: str, positive: str) -> dict[str, Any]:
    """Return the columns to leave out, and how empty cells of the others are filled; check the label column."""
    from pucli.data.catalogue.selection import class_text
    from pucli.data.files.tables import open_table
    from pucli.data.rows.tables import existing_column

    table = open_table(source, label, as_text=[label])
    classes = class_text(table.frame[existing_column(source, table, label)])
    empty = table.frame[label].isna().to_numpy() | (classes == "")
    known = sorted(set(classes[~empty]))
    if positive not in known:
        hint = did_you_mean(positive, known, 1) or f"its classes: {', '.join(map(repr, known[:8]))}"
        raise UsageError(f"{source}: label column {label!r} has no class {positive!r}; {hint}")
    dropped, filled = [], []
    for name in table.frame.columns.drop(label):
        column = table.frame[name]
        if column.dtype.kind in "iufb":
            filled += [str(name)] if column.isna().any() else []
        elif column.nunique() > MOST_LEVELS:
            dropped.append(str(name))
    columns = {"dropped": [_column(name) for name in dropped], "filled": [_column(name) for name in filled]}
    return {**columns, "empty": int(empty.sum())}


def _counts(name: str, source: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Load the data set with the catalogue in a temporary folder, and return its counts."""
    from pucli.data import load_dataset

    with tempfile.TemporaryDirectory() as scratch:
        shutil.copyfile(source, Path(scratch) / values["file"])
        (catalogue,) = _write(Path(scratch), {"datasets.yaml": "dataset/datasets.yaml"}, {**values, "counted": False})
        cache = Path(scratch) / "cache"
        try:
            found = load_dataset(name, catalogue=catalogue, cache=cache)
        except PucliError as error:
            copy = str(cache / name / values["file"])
            told = str(error).replace(f"data set {name!r} from {copy}", str(source)).replace(copy, str(source))
            raise type(error)(told) from None
    positive = int((found.y == 1).sum())
    return {
        "counted": True,
        "n_positive": positive,
        "n_negative": len(found.y) - positive,
        "n_features": found.X.shape[1],
    }


def _value(text: str) -> str:
    """Return a class in YAML: a whole number, or text in quotes."""
    return text if re.fullmatch(r"-?\d+", text) else _quoted(text)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _column(name: str) -> str:
    """Return the name of a column in YAML, in quotes unless YAML reads it as text anyway."""
    other = ("true", "false", "yes", "no", "on", "off", "null")  # which YAML does not take for text
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in other else _quoted(name)


def _word(name: str) -> str:
    return name.replace("-", "_")
