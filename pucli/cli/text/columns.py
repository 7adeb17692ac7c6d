"""Description of the columns of a file, as printed by every command that reads one."""

from __future__ import annotations

import re
import sys
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from pucli.cli.output import Output
from pucli.cli.terminal import filled, many, width_of
from pucli.core.errors import UsageError, shell_word

if TYPE_CHECKING:
    from pucli.data.columns.encoder import TableEncoder
    from pucli.data.rows.training_rows import RowSource, TrainingRows
    from pucli.models.columns import UsedColumn

# Columns named in a joined warning, and characters about each.
NAMED, SHORT = 3, 60
# Files with more columns are summed up: only columns with a note have a line.
MOST_LINES = 60
# A column with a longer name has it on a line of its own.
LONGEST = 20
# Names of several columns of a kind.
PLURAL = {"category": "categories", "yes/no": "yes/no"}


def rows_to_learn_from(
    out: Output, kind: str, source: RowSource, *, sparse: bool = False, without_negatives: str = ""
) -> TrainingRows:
    """Return the training rows; for a file, print how its columns were interpreted and warn about suspicious ones."""
    from pucli.data.rows.training_rows import training_rows

    rows = training_rows(kind, source)
    if rows.negative is not None and without_negatives:
        raise UsageError(
            f"--negative {source.negative}: {without_negatives}; `pucli auto` learns from known negatives, "
            f"--unlabeled {source.negative} treats these rows as unlabeled."
        )
    if rows.encoder is not None and rows.encoder.sparse_:
        if not sparse:
            from pucli.models.fitting import keep_sparse

            raise UsageError(
                f"{rows.title} is sparse and wide; only `pucli train`, without --tune, takes it, with {keep_sparse()}."
            )
        out.remark(f"columns: {rows.X.shape[1]} numeric, sparse")
    elif rows.encoder is not None and not rows.encoder.is_plain:
        out.remark(f"columns: {summary(rows.encoder)} (`pucli auto --columns` shows each)")
    if rows.groups is not None and source.choice.groups:
        names = ", ".join(map(repr, source.choice.groups))
        out.remark(f"groups: {int(rows.groups.max()) + 1:,} of {names}, each kept in one fold")
    said = [*rows.leaks, *(line for line in rows.warnings if "(--id): " in line)]  # said in full
    of_columns = [line for line in rows.warnings if line.startswith("column ") and line not in said]
    for line in rows.warnings:
        if line not in of_columns:
            out.warn(line)
    for wanted in (True, False):  # groups, which can make results too good, come first
        lines = [line for line in of_columns if ("--groups" in line) == wanted]
        out.warn_together(lines, _joined(lines))
    if rows.opposite:
        _ask_or_warn(out, rows)
    if kind == "pu" and source.data is not None and source.positive is None and source.label is not None:
        say_which_class(out, rows.words["1"], rows.words["0"], rows.label_column, rows.n_labeled)
    elif rows.positive and rows.positive != f"{rows.label_column} = {''.join(source.positive or ())}":
        out.remark(f"labeled positives: {rows.n_labeled:,} rows ({rows.positive})")
    return rows


def _ask_or_warn(out: Output, rows: TrainingRows) -> None:
    """Stop at a terminal, or warn in a script, where the label column may hold the class of every row."""
    yes, no, count = rows.words["1"], rows.opposite, rows.X.shape[0] - rows.n_labeled
    column, word = f"label column {rows.label_column!r} is {yes!r} or {no!r} in every row", shell_word(no)
    if sys.stdin is not None and sys.stdin.isatty():
        raise UsageError(
            f"{column}: are the {count:,} rows with {no!r} unlabeled or known negatives? Add --unlabeled {word} if "
            f"nobody has looked at them, so that positives may hide among them; add --negative {word} if they are "
            "known to be negative."
        )
    out.warn(
        f"{column}, and {no!r} counts as unlabeled; add --unlabeled {word} if so, --negative {word} if known negatives"
    )


def _joined(warnings: list[str]) -> str:
    """Return several warnings about columns as one line, with their number."""
    shown = [short(line) for line in warnings[:NAMED]]
    more = f"; and {len(warnings) - NAMED} more" if len(warnings) > NAMED else ""
    return f"{len(warnings)} columns to look at (`pucli auto --columns`): {'; '.join(shown)}{more}"


def short(warning: str) -> str:
    """Return the beginning of a warning about a column: its name and what was found."""
    name, _, found = re.sub(r"^column ", "", warning).partition("' ")
    shown = textwrap.shorten(f"{name}' {re.split(r'[;(]|,(?![0-9])|: ', found)[0].strip()}", SHORT, placeholder=" ...")
    kept = re.search(r"--groups .*", found)
    return f"{shown}: {kept[0]}" if kept else shown


def say_which_class(out: Output, marked: str, rest: str, column: str, n_labeled: int) -> None:
    """Print which class was taken for the labeled positives; warn about two unusual numbers."""
    text = f"labeled positives: the {n_labeled:,} rows whose {column!r} is {marked!r}"
    try:
        usual = (float(rest), float(marked)) in {(0.0, 1.0), (-1.0, 1.0)}
    except ValueError:
        usual = True  # a word for yes
    if usual:
        out.remark(f"{text} (--positive names another class)")
    else:
        out.warn(f"{text}, the larger of two numbers; if it should be {rest}, give --positive {rest}.")


def summary(encoder: TableEncoder) -> str:
    """Return the number of columns of each kind and of columns with empty cells."""
    kinds = Counter(column.kind for column in encoder.columns_)
    names = ", ".join(column.name for column in encoder.columns_ if column.kind == "identifier")
    shown = f" ({textwrap.shorten(names, SHORT, placeholder=' ...')})"
    counted = ", ".join(
        f"{count:,} {kind if count == 1 else PLURAL.get(kind, f'{kind}s')}{shown if kind == 'identifier' else ''}"
        for kind, count in kinds.most_common()
    )
    n_empty = sum(column.n_empty > 0 for column in encoder.columns_)
    filled = f"; empty cells in {n_empty}, filled and marked" if n_empty else ""
    return f"{counted}: {many(len(encoder.get_feature_names_out()), 'feature')}{filled}"


def show_columns(out: Output, source: RowSource) -> None:
    """Print how the columns of a file are interpreted."""
    from pucli.data.rows.label_column import labeled_positives
    from pucli.data.rows.user_file import fit_file
    from pucli.models.columns import Columns, column_records

    assert source.data is not None
    file = fit_file(source.files, source.label, source.choice, source.reading, source.positives_from)
    if file.encoder.sparse_:
        raise UsageError(f"{source.data} is sparse; all of its {file.X.shape[1]} columns are numeric.")
    records = column_records(file.encoder)
    out.document(Columns(source.data, len(file.X), file.X.shape[1], records))
    shown = records
    if len(records) > MOST_LINES:
        noted = [record for record in records if record.note]
        shown = noted[:MOST_LINES]
        more = f", {many(len(noted), 'column')} to look at" if noted else ""
        more += f", of which {MOST_LINES} follow" if len(noted) > MOST_LINES else ""
        out.text(f"{summary(file.encoder)}{more} (--json has each)")
        for kind in dict.fromkeys(record.kind for record in records):
            names = ", ".join(record.column for record in records if record.kind == kind)
            out.text(f"{kind}: {textwrap.shorten(names, SHORT, placeholder=' ...')}")
    screen = width_of(sys.stdout)  # None for a file, which gets one line a column
    indent = 2 + min(LONGEST, max((len(record.column) for record in shown), default=0))
    for record in shown:
        name, described = " ".join(record.column.split()), _described(record)
        if len(name) > LONGEST and screen is not None:
            out.text(name)
            name = ""
        lines = [described] if screen is None else filled(described, screen - indent)
        for line in lines:
            out.text(f"{name:<{indent}}{'' if len(name) < indent else '  '}{line}")
            name = ""
    if file.labels is not None and source.positive is not None:
        try:
            labeled_positives(file.labels, source.positive, source.unlabeled)
        except UsageError as error:
            out.warn(str(error))


def _described(record: UsedColumn) -> str:
    """Return what a column was taken for, how much of it was read, and what becomes of it."""
    said = [record.kind]
    if record.read is not None:
        said.append(f"{_percent(record.read)} read" + (f" (not {record.not_read!r})" if record.not_read else ""))
    if record.distinct is not None and f"of {record.distinct} values" not in record.encoded:
        said.append(f"{many(record.distinct, 'value')}")
    if record.empty:
        said.append(f"{record.empty:,} empty")
    becomes = record.encoded
    if record.features > 1 and not becomes.startswith("0 or 1 for each"):
        becomes += f" ({record.features} features)"
    note = record.note if becomes != "not used" else re.sub(r"[;,] it is not used\b", "", record.note)
    return f"{', '.join(said)}: {becomes}{'; ' + note if note else ''}"


def _percent(share: float) -> str:
    """Return a share in percent, which is 100% only if it is exactly so."""
    return f"{min(round(100.0 * share, 1), 99.9) if share < 1.0 else 100:g}%"
