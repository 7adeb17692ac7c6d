"""The training rows of a model, from a split of a declared data set or from the user's file."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Floats, Ints
from pucli.core.errors import UsageError, shell_word, unknown
from pucli.core.memory import return_memory_of_reader
from pucli.core.seeding import stream
from pucli.data.columns.cells import ColumnCells
from pucli.data.columns.kinds import column_kinds
from pucli.data.columns.leakage import leak_warnings
from pucli.data.files.spool import reread, spooled_size
from pucli.data.files.tables import title_of
from pucli.data.reading import Reading
from pucli.data.rows.blocks import read_blocks
from pucli.data.rows.label_column import UNLABELED, MarkedRows, known_negatives, labeled_positives, partly_labeled
from pucli.data.rows.row_hashes import fingerprints, labeled_twins, repeated_ids, repeated_labels
from pucli.data.rows.tables import read_labeled
from pucli.data.rows.user_file import ColumnChoice, EncodedFile, fit_file, found_ids, groups_not_given
from pucli.data.splits.groups import alone, one_of_each, row_groups
from pucli.data.splits.held_out import held_out_rows, hidden_classes
from pucli.data.splits.saved_splits import load_splits
from pucli.data.splits.scenarios import SCENARIOS, make_split, split_stream

if TYPE_CHECKING:
    import pandas as pd

    from pucli.data.catalogue.datasets import Dataset
    from pucli.data.columns.encoder import TableEncoder
    from pucli.data.files.table import Table
    from pucli.data.reading import Reading


def read_ids(files: Sequence[Path], ids: Sequence[str], encoder: TableEncoder, how: Reading) -> pd.DataFrame:
    """Read the identifiers of all rows of files, as they are written."""
    import pandas as pd

    needed, as_text = dict.fromkeys([*encoder.needed, *ids]), {*encoder.read_as_text, *ids}
    how = replace(how, formed=encoder.formed)
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings(action="ignore"))  # given when the files were read first
        again = [stack.enter_context(reread(path)) for path in files]
        blocks = read_blocks(again, list(needed), as_text=as_text, how=how, keep=ids)
        return pd.concat([block.frame[list(ids)] for block in blocks], ignore_index=True)


def row_times(frame: pd.DataFrame, name: str, kind: str | None, table: Table) -> Floats:
    """Return the time of each row (n,): days since 1970-01-01 for a column of dates, else its numbers."""
    (column,) = column_kinds(frame[[name]], {} if kind is None else {name: kind})
    cells, dated = frame[name], column.kind == "date"
    found = ColumnCells(cells).days(column.written, column.serials)[0] if dated else ColumnCells(cells).numbers[0]
    missing = np.isnan(found)
    if missing.all():
        raise UsageError(
            f"--time {name}: the column holds no dates or numbers; --as {shell_word(name)}=date:%d.%m.%Y names the "
            "form of dates."
        )
    if missing.any():
        raise UsageError(
            f"--time {name}: {int(missing.sum())} of {len(found)} rows have no time, the first at "
            f"{table.place(int(missing.argmax()))}; fill them in or leave these rows out."
        )
    return found


@dataclass(frozen=True)
class RowSource:
    """Source of rows: a declared data set whose labels are hidden, or a file with a label column."""

    dataset: str | None = None  # name of a declared data set. Either this or `data` is given
    data: Path | None = None  # a file
    label: str | None = None  # label column of `data`
    # classes in that column, or rules such as ">0", that mark labeled positives; None to infer the class
    positive: Sequence[str] | str | None = None
    positives_from: Path | None = None  # file of the labeled rows or their identifiers, in place of `label`
    # classes in that column of rows that nobody has labeled, and of rows that are known to be negative
    unlabeled: str | None = None
    negative: str | None = None
    # "case-control" or "single-training-set". For a file, it only sets the denominator of PUF
    scenario: str = "case-control"
    # share of the training positives (or of the training rows of each class) that are labeled
    label_frequency: float = 0.5
    seed: int = 0  # seed of the split
    split: Path | None = None  # file of splits that replaces `scenario`, `label_frequency` and `seed`
    repeat: int = 0  # number of the split in `split`, from 0
    rows: int | None = None  # maximum number of training rows, drawn at random; None for all
    choice: ColumnChoice = field(default_factory=ColumnChoice)  # the user's choice of columns of `data`
    more: Sequence[Path] = ()  # further files with the columns of `data`, read as one table with it
    reading: Reading = field(default_factory=Reading)  # the user's options for reading `data`

    def __post_init__(self) -> None:
        given = (self.positive,) if isinstance(self.positive, str) else tuple(self.positive or ())
        object.__setattr__(self, "positive", given or None)

    @property
    def files(self) -> list[Path]:
        """Return the files."""
        return [] if self.data is None else [Path(self.data), *self.more]


def check_one_source(declared: bool, own: bool, ways: str) -> None:
    """Check that the rows are either of a declared data set or the user's own."""
    if declared == own:
        which = "--dataset and --data both name rows" if own else "no rows given"
        raise UsageError(f"{which}; use either {ways}.")


def check_source(source: RowSource, file_options: str) -> None:
    """Check that a source has either a declared data set or a file; `file_options` name the file, for the message."""
    ways = f"--dataset NAME (`pucli list datasets`) or {file_options}"
    check_one_source(source.dataset is not None, source.data is not None, ways)


def check_labels(source: RowSource) -> None:
    """Check that either a label column or a second file marks the labeled rows of a file."""
    given = {"--label": source.label, "--positive": source.positive, "--unlabeled": source.unlabeled,
             "--negative": source.negative}  # fmt: skip
    if source.positives_from is not None and (both := next((name for name, one in given.items() if one), "")):
        raise UsageError(f"{both} and --positives-from both say which rows are labeled; keep one of them.")
    if source.positives_from is None and source.label is None:
        file = next((one for one in source.positive or () if Path(one).is_file()), "")
        way_out = f"--positives-from {shell_word(file)}, which labels the rows in it" if file else ""
        way_out = way_out or "--label COLUMN, the column that marks the labeled rows, or --positives-from FILE"
        raise UsageError(f"--data {source.data} also needs {way_out}.")


def check_no_choice(source: RowSource, why: str) -> None:
    """Raise UsageError, which says `why`, for options that choose columns, or how a declared data set is read."""
    if source.choice != ColumnChoice():
        raise UsageError(f"--as, --drop, --only, --id and --groups {why}.")
    if source.data is None and source.reading != Reading():
        raise UsageError(f"{source.reading.words} needs --data; a declared data set has its own reader.")


def named_files(source: RowSource) -> dict[str, Any]:
    """Return the names of the files as JSON values."""
    found: dict[str, Any] = {"file": str(source.data)}
    return found | ({"files": [str(path) for path in source.files]} if source.more else {})


def spool_notes(source: RowSource) -> tuple[str, ...]:
    """Return which files were streams that had to be copied."""
    sizes = {title_of([file]): spooled_size(file) for file in source.files}
    return tuple(
        f"{name} is read only once: {size:,} bytes were copied to a temporary file"
        for name, size in sizes.items()
        if size is not None
    )


# With fewer labeled rows, fits and estimates are unreliable.
FEW_LABELED = 10


@dataclass(frozen=True)
class TrainingRows:
    """Training rows, and held-out rows with true labels if there are any."""

    X: Floats  # (n, m), features. NaN if a cell is empty and the method accepts missing cells
    # (n,), labels for `fit`: 1 for labeled positives and 0 for unlabeled rows, or classes and -1 for unlabeled rows.
    # None for a density model, which needs no labels
    y: AnyArray | None
    feature_names: list[str]  # names of the m features
    # held-out rows and their true labels (PU: 1 and 0), if any
    X_test: Floats | None
    y_test: AnyArray | None
    # rows in the denominator of PUF: "unlabeled" (case-control, and files) or "all" (single training set)
    denominator: str
    about: dict[str, Any]  # JSON values that describe the source of the rows
    title: str  # the same as text
    label_column: str = ""  # label column of the file, "" for a declared data set and for labels in another file
    positive: str = ""  # what marks the labeled positives of a file, such as "bought = yes"
    other: str = ""  # class of all rows that are not labeled, if there is one and no cell is empty
    words: dict[str, str] = field(default_factory=dict)  # map from each label to its name in the file
    notes: tuple[str, ...] = ()  # remarks about the data
    unlabeled: int = 0  # the label of unlabeled rows in `y`
    encoder: TableEncoder | None = None  # the encoder of the columns of a file
    id_columns: Sequence[str] = ()  # columns of the file that identify a row, named by the user
    found_ids: tuple[str, ...] = ()  # columns of the file that were found to be identifiers, if the user named none
    found_cells: pd.DataFrame | None = None  # these columns of all rows of the file; None if they must be read again
    warnings: tuple[str, ...] = ()  # problems that the user should look at, each about one column of the file
    leaks: tuple[str, ...] = ()  # those of the warnings that name a column which probably leaks the label
    repeated: str = ""  # that labeled rows seem to be the same cases several times, "" if not
    marks: pd.DataFrame | None = None  # the number of each row in its source, from 1, and its cells in `id_columns`
    parts: Sequence[tuple[Path, int]] = ()  # the files, each with its number of rows, if there are several
    reading: Reading = field(default_factory=Reading)  # how the file was read, to read new files alike
    groups: Ints | None = None  # (n,), group of each row; rows of one group are never on both sides of a fold
    times: Floats | None = None  # (n,), time of each row, for splits by time
    # (n,), rows that are known to be negative, whose label in `y` is that of unlabeled rows
    negative: Bools | None = None
    # class of all rows that are not labeled, if it means no and nobody has said whether they are unlabeled
    opposite: str = ""

    @property
    def labeled(self) -> Bools:
        """Return the mask (n,) of the labeled rows: the labeled positives, or the rows with a class."""
        return np.zeros(len(self.X), dtype=bool) if self.y is None else self.y != self.unlabeled

    @property
    def n_labeled(self) -> int:
        """Return the number of labeled rows."""
        return int(np.count_nonzero(self.labeled))


def with_found_ids(rows: TrainingRows, files: Sequence[Path]) -> TrainingRows:
    """Return training rows of `files` whose marks also hold the identifiers that were found."""
    import pandas as pd

    if not rows.found_ids or rows.marks is None or rows.encoder is None:
        return rows
    cells = rows.found_cells
    if cells is None:
        cells = read_ids(files, rows.found_ids, rows.encoder, rows.reading)
    cells = cells.iloc[rows.marks["row"].to_numpy() - 1]
    return replace(rows, marks=pd.concat([rows.marks, cells.set_axis(rows.marks.index)], axis=1))


def training_rows(kind: str, source: RowSource) -> TrainingRows:
    """Return the training rows for a method of a `kind`, at most `source.rows` of them."""
    check_source(source, "--data FILE --label COLUMN")
    if source.scenario not in SCENARIOS:
        raise unknown("scenario", source.scenario, SCENARIOS)
    if source.dataset is not None:
        if {source.label, source.positive, source.unlabeled, source.negative, source.positives_from} != {None}:
            raise UsageError(
                "--label, --positive, --positives-from, --unlabeled and --negative need --data; a declared data set "
                "has its own labels."
            )
        check_no_choice(source, "need --data; the columns of a declared data set are fixed")
        return _drawn(_declared(kind, source), source)
    if source.split is not None:
        raise UsageError("--split needs --dataset; the label column of a file marks its labeled rows.")
    for option, value, default in (
        ("--label-frequency", source.label_frequency, RowSource.label_frequency),
        ("--repeat", source.repeat, RowSource.repeat),
    ):
        if value != default:
            raise UsageError(f"{option} needs --dataset; the label column of a file marks its labeled rows.")
    check_labels(source)
    rows = _own_file(kind, source)
    return_memory_of_reader()
    return _drawn(rows, source)


def _drawn(rows: TrainingRows, source: RowSource) -> TrainingRows:
    """Return at most `source.rows` training rows, in their order, and all test rows.

    Labeled rows, which are often few, are kept up to a quarter of the rows drawn; in a single training set, they are
    drawn in proportion.
    """
    n, most = rows.X.shape[0], source.rows
    if most is None or n <= most:
        return rows
    order = stream(source.seed, "rows").permutation(n)
    labeled, unlabeled = order[rows.labeled[order]], order[~rows.labeled[order]]
    in_proportion = round(most * len(labeled) / n)
    wanted = in_proportion if rows.denominator == "all" else max(in_proportion, most // 4)
    labeled = labeled[: max(wanted, most - len(unlabeled))]
    kept = np.sort(np.concatenate([labeled, unlabeled[: most - len(labeled)]]))
    return replace(
        rows,
        X=rows.X[kept],
        y=None if rows.y is None else rows.y[kept],
        marks=None if rows.marks is None else rows.marks.iloc[kept],
        groups=None if rows.groups is None else rows.groups[kept],
        times=None if rows.times is None else rows.times[kept],
        negative=None if rows.negative is None else rows.negative[kept],
        about={**rows.about, "rows_drawn": len(kept)},
        title=f"{rows.title}, {len(kept):,} of {n:,} rows",
    )


def density_rows(method: str, source: RowSource, *, allow_missing: bool) -> TrainingRows:
    """Return rows without labels, and the held-out rows of a declared data set."""
    if {source.label, source.positive, source.positives_from, source.split} != {None}:
        raise UsageError(
            f"{method} models a density without labels; leave out --label, --positive, --positives-from and --split. "
            "The file must only have feature columns."
        )
    check_source(source, "--data FILE")
    check_no_choice(source, f"need a method that learns from labels; {method} reads numeric files only")
    if source.data is not None:
        X, _, names = read_labeled(source.files, allow_missing=allow_missing, how=source.reading)
        about: dict[str, Any] = named_files(source)
        title, notes = title_of(source.files), spool_notes(source)
        return _drawn(
            TrainingRows(X, None, names, None, None, "all", about, title, notes=notes, reading=source.reading), source
        )
    dataset = _loaded(source, multiclass=False)
    train, test = held_out_rows(len(dataset.X), source.seed, source.repeat)
    about = {"dataset": dataset.name, "content_sha256": dataset.content_sha256}
    about |= {"seed": source.seed, "repeat": source.repeat}
    names = list(dataset.feature_names)
    X, X_test = dataset.X[train], dataset.X[test]
    found = TrainingRows(X, None, names, X_test, None, "all", about, title=dataset.name, notes=dataset.notes)
    return _drawn(found, source)


def training_split(kind: str, about: dict[str, Any], source: RowSource) -> TrainingRows:
    """Return the rows of the split on which a saved model was trained."""
    from pucli.data.catalogue.entries import dataset_key

    name = str(source.dataset)
    if about.get("dataset") != dataset_key(name):
        raise UsageError(
            f"the model was trained on {about.get('dataset') or about.get('file')} without held-out rows in {name}; "
            "give rows of your own with --data FILE --label COLUMN."
        )
    known = {key: about[key] for key in ("scenario", "label_frequency", "seed") if key in about}
    split = Path(about["split_file"]) if "split_file" in about else None
    rows = training_rows(kind, replace(source, split=split, **known))
    if about.get("content_sha256") != rows.about["content_sha256"]:
        raise UsageError(f"{name} has changed since the model was trained; train it again.")
    return rows


def _loaded(source: RowSource, *, multiclass: bool) -> Dataset:
    from pucli.data.catalogue.datasets import load_dataset

    return load_dataset(str(source.dataset), multiclass=multiclass)


def _declared(kind: str, source: RowSource) -> TrainingRows:
    """Hide labels of a declared data set according to the split; the held-out rows keep their true labels."""
    dataset = _loaded(source, multiclass=kind != "pu")
    if kind == "pu":
        train, test, y, about = _pu_labels(dataset, source)
        truth = (dataset.y == np.unique(dataset.y)[-1]).astype(int)
        words = {"1": "positive", "0": "negative"}
    else:
        if source.split is not None:
            raise UsageError(
                "--split has labeled positives, but this method learns from classes; use --seed and --repeat."
            )
        classes, truth = np.unique(dataset.y, return_inverse=True)
        words = {str(code): str(name) for code, name in enumerate(classes.tolist())}
        train, test, y = hidden_classes(
            truth, source.label_frequency, seed=source.seed, repeat=source.repeat, unlabeled=UNLABELED
        )
        about = {"label_frequency": source.label_frequency, "seed": source.seed, "repeat": source.repeat}
    settings = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in about.items())
    return TrainingRows(
        X=dataset.X[train],
        y=y,
        feature_names=list(dataset.feature_names),
        X_test=dataset.X[test],
        y_test=truth[test],
        denominator="all" if about.get("scenario") == "single-training-set" else "unlabeled",
        about={"dataset": dataset.name, "content_sha256": dataset.content_sha256, **about},
        title=f"{dataset.name} ({settings})",
        words=words,
        notes=tuple(dataset.notes),
        unlabeled=0 if kind == "pu" else UNLABELED,
        marks=_identifiers(train),
        groups=None if dataset.groups is None else dataset.groups[train],
    )


def _identifiers(rows: Ints, ids: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the numbers from 1 of `rows`, and the identifiers `ids` of the same rows."""
    import pandas as pd

    numbers = pd.DataFrame({"row": rows + 1})
    return numbers if ids is None else pd.concat([numbers, ids.reset_index(drop=True)], axis=1)


def _pu_labels(dataset: Dataset, source: RowSource) -> tuple[Ints, Ints, Ints, dict[str, Any]]:
    """Return the training and test row numbers, s (1 labeled, 0 unlabeled), and a description of the split."""
    if source.split is not None:
        saved = load_splits(source.split, content_sha256=dataset.content_sha256, rows=len(dataset.y))
        if not 0 <= source.repeat < len(saved.splits):
            raise UsageError(f"--repeat {source.repeat}: {source.split} has repeats 0 to {len(saved.splits) - 1}.")
        split = saved.splits[source.repeat]
        about = {**saved.settings, "repeat": source.repeat, "split_file": str(source.split)}
    else:
        about = {
            "scenario": source.scenario,
            "label_frequency": source.label_frequency,
            "seed": source.seed,
            "repeat": source.repeat,
        }
        rng = split_stream(source.seed, dataset.name, source.scenario, source.label_frequency, source.repeat)
        split = make_split(source.scenario, dataset.y, source.label_frequency, rng=rng, groups=dataset.groups)
    return split.train, split.test, split.s.astype(np.int64), about


def _positive(source: RowSource, marked: MarkedRows | None) -> str | list[str] | None:
    """Return what marks positives, for the description of the rows: one class, or several classes and rules."""
    if marked is None:
        return None
    several = list(source.positive or ())
    return several if len(several) > 1 else marked.words["1"]


def _described(file: EncodedFile, negative: Bools | None) -> dict[str, Any]:
    """Return what the description of the rows says of a second file and of known negatives."""
    found = {} if file.listed is None else {"positives_from": file.listed.about}
    return found if negative is None or file.labels is None else {"negative": str(file.labels.text[negative][0])}


def _said_positive(label: str, marked: MarkedRows | None) -> str:
    """Return what marks positives, such as "stage = won", "orders >0" or "ordered filled"."""
    if marked is None:
        return ""
    return f"{label} = {marked.words['1']}" if marked.classes else f"{label} {marked.words['1']}"


def _own_file(kind: str, source: RowSource) -> TrainingRows:
    """Read the user's file; its label column marks the labeled rows."""
    if kind != "pu" and {source.positive, source.positives_from, source.unlabeled, source.negative} != {None}:
        raise UsageError(
            "--positive, --positives-from, --unlabeled and --negative are for labeled positives, but this method "
            "learns from classes; leave them out, or choose a method for positive and unlabeled rows, such as auto."
        )
    file = fit_file(source.files, source.label, source.choice, source.reading, source.positives_from)
    labels, listed, marked = file.labels, file.listed, None
    named, negative = [one for one in (source.unlabeled, source.negative) if one is not None], None
    if listed is not None:
        marked = MarkedRows(file.listed_rows.astype(np.int64), {"1": "yes", "0": "no"}, [], listed.warnings)
        if marked.y.all():
            raise UsageError(f"--positives-from {source.positives_from}: it lists every row; unlabeled ones are needed")
    elif kind == "pu" and labels is not None:
        marked = labeled_positives(labels, source.positive, source.unlabeled)
    assert labels is not None or marked is not None
    y, words = (marked.y, marked.words) if marked is not None else partly_labeled(labels)  # type: ignore[arg-type]
    doubts = [] if marked is None else [*marked.warnings, *labeled_twins(file.X, y == 1)]
    if marked is not None and labels is not None:
        negative = known_negatives(labels, y == 1, source.unlabeled, source.negative) if named else None
        if marked.classes:
            doubts = [*labels.doubts(marked.classes, named, negative=negative is not None), *doubts]
    choice, frame = source.choice, file.table.frame
    groups = row_groups(frame, choice.groups, y == 1 if kind == "pu" else None) if choice.groups else None
    each = slice(None) if groups is None else one_of_each(groups, y == 1)
    repeated = repeated_labels(file.X[each], y[each] == 1) if kind == "pu" else ""
    ids = frame[list(dict.fromkeys(choice.ids))]
    grouped = groups is not None and set(choice.ids) <= set(choice.groups)
    same_case = [] if grouped else repeated_ids(ids, y == 1 if kind == "pu" else y != UNLABELED)
    again = [f"{repeated}."] if repeated else same_case
    # the last class if the class of every row is known
    labeled = y == (1 if kind == "pu" else y.max()) if (y != UNLABELED).all() else y != UNLABELED
    about = {**named_files(source), "label": source.label, **fingerprints(file.X, y)}
    apart = groups_not_given(file.encoder.columns_, choice.named)
    if groups is not None:
        about["groups"], apart = {"columns": list(choice.groups), "number": int(groups.max()) + 1}, alone(groups)
    found = found_ids(file.encoder.columns_) if choice.find_ids else ()
    known = file.table.clean and all(frame[name].dtype == "str" and frame[name].notna().all() for name in found)
    telling = leak_warnings(file.columns or file.table.frame, labeled, file.encoder.columns_, kind == "pu")
    asked = labels is not None and marked is not None and not named and len(marked.classes) == 1
    opposite = labels.opposite(words["1"]) if asked and labels is not None else ""
    return TrainingRows(
        X=file.X,
        y=y,
        feature_names=[str(name) for name in file.encoder.get_feature_names_out()],
        X_test=None,
        y_test=None,
        denominator="all" if source.scenario == "single-training-set" else "unlabeled",
        about=about | {"positive": _positive(source, marked)} | _described(file, negative),
        title=title_of(source.files) + ("" if source.label is None else f", label column {source.label!r}"),
        notes=spool_notes(source),
        reading=file.table.reading,
        label_column=source.label or "",
        positive=_said_positive(source.label or "", marked) if listed is None else listed.said,
        other=words["0"] if marked is not None and labels is not None and labels.one_class(y == 0) else "",
        words=words,
        unlabeled=0 if kind == "pu" else UNLABELED,
        encoder=file.encoder,
        id_columns=source.choice.ids,
        found_ids=found,
        found_cells=frame[list(found)] if found and (known or listed is not None) else None,
        warnings=(*doubts, *file.warnings, *telling, *again, *apart),
        leaks=telling,
        repeated=repeated,
        marks=_identifiers(np.arange(len(y)), ids),
        parts=file.table.parts,
        groups=groups,
        negative=negative,
        opposite=opposite,
        times=row_times(frame, choice.time, choice.kinds.get(choice.time), file.table) if choice.time else None,
    )
