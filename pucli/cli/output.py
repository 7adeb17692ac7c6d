"""Output of a command: results on stdout, remarks and progress on stderr, or one JSON document."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias

from pucli.cli.interrupts import interrupts
from pucli.cli.progress import Bar, Lines, Progress
from pucli.cli.terminal import filled, number, on_terminal, print_error, width_of, wrapped
from pucli.core.errors import PucliError, RunError, UsageError, naming_options
from pucli.core.inert_text import inert_text, one_line
from pucli.core.json_values import json_values

# Widest column of a table that is not wrapped, where there is room.
SHORT = 12


class Stopped(PucliError):
    """Ctrl-C (exit code 130); the message says how to continue, and `document` holds the results so far."""

    exit_code = 130

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.document: dict[str, Any] = {}


Kind: TypeAlias = Literal["usage", "run", "interrupted", "defect", "help"]


@dataclass(frozen=True)
class CommandFailure:
    """An error."""

    kind: Kind
    message: str
    exit_code: int


@dataclass(frozen=True)
class Failed:
    """What any command prints with --json if it fails; further keys are results known before Ctrl-C."""

    error: CommandFailure


class Output:
    """Output of one command.

    Parameters
    ----------
    as_json : reserve stdout for the document given to `document`.
    quiet : no remarks and no progress; warnings and errors stay.
    schema : name and version of the schema of the document, its first key; "" for none.

    Attributes
    ----------
    if_interrupted : message printed on Ctrl-C; a command sets it when it knows how to continue.
    held : warnings that wait, after `hold`, for the command to print them; None if they are printed at once.
    """

    def __init__(self, *, as_json: bool, quiet: bool, schema: str = "") -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.schema = schema
        self.if_interrupted = "Nothing was written; run the same command again."
        self.warnings: list[str] = []
        self.held: list[str] | None = None
        self._document: dict[str, Any] = {}

    def __enter__(self) -> Output:
        self._entered = ExitStack()
        self._entered.enter_context(warnings.catch_warnings())
        self._entered.enter_context(naming_options())
        warnings.showwarning = lambda message, *_, **__: self.warn(_by_streams(str(message)))
        interrupts.farewell = self._farewell
        return self

    def _farewell(self) -> None:
        """Write the message for Ctrl-C from another thread."""
        message = f"interrupted. {self.if_interrupted}"
        if self.as_json:
            failed = Failed(CommandFailure("interrupted", message, Stopped.exit_code))
            self.write(json.dumps(json_values(failed), indent=2, ensure_ascii=False))
        else:
            print_error(f"pucli: {message}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.__exit__(kind, error, trace)
        if error is not None:
            for text in self.held or ():
                print_error(f"warning: {text}")
        if isinstance(error, Stopped):
            error.document = json_values(self._document)
        elif isinstance(error, KeyboardInterrupt) or (isinstance(error, Exception) and interrupts.seen):
            raise Stopped(f"interrupted. {self.if_interrupted}") from None
        if error is None and self.as_json:
            if self.warnings:
                self._document["warnings"] = self.warnings
            if self.schema:
                self._document = {"schema": self.schema, **self._document}
            self.write(json.dumps(json_values(self._document), indent=2, ensure_ascii=False, allow_nan=False))

    def document(self, answer: Any) -> None:
        """Keep the answer, a dataclass, for the JSON document, which is printed at the end of the command."""
        self._document = dict(vars(answer))

    def text(self, text: str = "") -> None:
        """Print a line of the result (not with --json), wrapped on a terminal."""
        if not self.as_json:
            width = width_of(sys.stdout)
            self.write(text if width is None else "\n".join(wrapped(text, width)))

    def data(self, text: str) -> None:
        """Print lines with cells of a file, which must not turn into escapes where stdout has another encoding.

        A file or pipe gets UTF-8 then. On a terminal, the command is refused.
        """
        self._check_encoding(text)
        try:
            print(inert_text(text), flush=True)
        except BrokenPipeError:  # no reader is left for further rows
            self._drop_output()
            raise SystemExit(0) from None

    def _check_encoding(self, text: str) -> None:
        stdout = sys.stdout
        if not isinstance(stdout, io.TextIOWrapper):
            return
        try:
            text.encode(stdout.encoding)
        except UnicodeEncodeError:
            if stdout.isatty():
                raise RunError(
                    f"the terminal has the encoding {stdout.encoding}, which lacks some characters of these rows; "
                    "write them to a file with --out, or set PYTHONIOENCODING=utf-8"
                ) from None
            stdout.flush()
            self.warn(f"stdout has the encoding {stdout.encoding}, which lacks some characters: written as UTF-8")
            stdout.reconfigure(encoding="utf-8")

    def fields(self, pairs: Iterable[tuple[str, Any]]) -> None:
        """Print ``name  value`` lines with aligned values; pairs whose value is None are left out."""
        shown = [(name, one_line(number(value))) for name, value in pairs if value is not None]
        width = max((len(name) for name, _ in shown), default=0)
        screen = width_of(sys.stdout)
        for name, value in shown:
            lines = [value] if screen is None else filled(value, max(20, screen - width - 2))
            for k, line in enumerate(lines):
                self.text(f"{'' if k else name:<{width}}  {line}")

    def write(self, text: str) -> None:
        """Write a line to stdout; ignore a closed pipe (``pucli ... | head``)."""
        try:
            print(inert_text(text, as_json=self.as_json), flush=True)
        except BrokenPipeError:
            self._drop_output()

    def _drop_output(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def together(self) -> None:
        """Let the files of this command appear at its end, or none of them if it is interrupted."""
        from pucli.core.atomic_files import together

        self._entered.enter_context(together())

    def hold(self) -> None:
        """Keep warnings for the command, which prints them with its result; an error prints them first."""
        self.held = []

    def remark(self, text: str, *, now: bool = False) -> None:
        """Write a remark, which is not part of the result, to stderr; not after `hold`, unless `now`."""
        if not self.quiet and (now or self.held is None):
            print_error(text if on_terminal(sys.stderr) else " ".join(text.splitlines()))

    def warn(self, text: str) -> None:
        """Write a warning to stderr, once and also with --quiet; "" is none."""
        text = " ".join(text.split())
        if text and text not in self.warnings:
            self.warnings.append(text)
            if self.held is not None:
                self.held.append(text)
                return
            print_error(f"warning: {text}")

    def warn_together(self, texts: Sequence[str], joined: str) -> None:
        """Write several warnings as one line, `joined`; the JSON document has each of them."""
        new = [text for text in dict.fromkeys(texts) if text not in self.warnings]
        if len(new) < 2 or self.as_json:
            for text in new:
                self.warn(text)
            return
        self.warnings += new
        if self.held is not None:
            self.held.append(joined)
        else:
            print_error(f"warning: {joined}")

    def fits(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
        """Return whether a table fits on the screen; True if stdout is not a screen."""
        if not on_terminal(sys.stdout):
            return True
        widths = [max(len(_cell(row[i])) for row in [columns, *rows]) for i in range(len(columns))]
        return sum(widths) + 2 * (len(columns) - 1) <= shutil.get_terminal_size().columns

    @property
    def on_screen(self) -> bool:
        """Whether the result is printed on a terminal, to be read there."""
        return not self.as_json and on_terminal(sys.stdout)

    def screen_table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print cells of a file on a terminal with three digits: as a table or, if words would break, as CSV.

        Whole numbers, which may be names, get no separators.
        """
        cells = [[number(cell) if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([columns, *cells])
        if None in _fitting_widths([list(columns), *cells], [False] * len(columns)):
            self.data(text.getvalue().rstrip("\n"))
        else:
            self._check_encoding(text.getvalue())
            self.table(columns, cells)

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        styles: Mapping[str, str] | None = None,
        whole: str = "",
    ) -> None:
        """Print rows under column heads, as aligned plain text or with rich on a terminal."""
        if self.as_json:
            return
        cells = [[_cell(cell) for cell in row] for row in rows]
        columns = [_cell(name) for name in columns]
        numeric = [all(isinstance(row[i], (int, float)) or row[i] is None for row in rows) for i in range(len(columns))]
        if on_terminal(sys.stdout):
            self._rich_table(columns, cells, numeric, styles or {}, whole or columns[0])
            return
        widths = [max(len(row[i]) for row in [list(columns), *cells]) for i in range(len(columns))]
        for row in [list(columns), *cells]:
            aligned = (
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, numeric, strict=True)
            )
            self.write("  ".join(aligned).rstrip())

    def _rich_table(
        self, columns: Sequence[str], cells: list[list[str]], numeric: list[bool], styles: Mapping[str, str], whole: str
    ) -> None:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        widths = _fitting_widths([list(columns), *cells], [name == whole for name in columns])
        for name, right, width in zip(columns, numeric, widths, strict=True):
            table.add_column(
                name, justify="right" if right else "left", overflow="fold", no_wrap=name == whole, width=width
            )
        for row in cells:
            table.add_row(
                *(Text(cell, style=styles.get(cell.partition(":")[0].partition(" [")[0], "")) for cell in row)
            )
        # rich before 15 counts margins that it does not print
        Console(width=None if None in widths else shutil.get_terminal_size().columns + 2).print(table)

    def progress(self, label: str, unit: str = "", *, short: bool = True) -> Progress:
        """Return a progress display on stderr: a bar on a terminal, otherwise lines."""
        if self.quiet:
            return Progress()
        return Bar(label, unit) if on_terminal(sys.stderr) else Lines(label, unit, short=short)


def _cell(value: Any) -> str:
    """Return a cell in readable form, without line ends, which names in a workbook may have."""
    text = f"{value:,}" if type(value) is int else number(value)
    return " ".join(inert_text(text).splitlines())


def _fitting_widths(rows: Sequence[Sequence[str]], whole: Sequence[bool]) -> list[int | None]:
    """Return widths of columns that break no word, nor a cell of a `whole` column; None leaves them to rich."""
    cells = list(zip(*rows, strict=True))
    natural = [max(map(len, column)) for column in cells]
    words = [max(len(word) for cell in column for word in cell.split() or [""]) for column in cells]
    screen = shutil.get_terminal_size().columns - 2 * (len(cells) - 1)
    for short in (SHORT, 0):
        widths = [
            most if is_whole or most <= short else word
            for most, word, is_whole in zip(natural, words, whole, strict=True)
        ]
        room = screen - sum(widths)
        if room >= 0:
            break
    else:
        return [None] * len(cells)
    for _ in range(min(room, sum(natural) - sum(widths))):  # wider where the most cells are cut
        cut = [sum(len(cell) > width for cell in column) for column, width in zip(cells, widths, strict=True)]
        widths[cut.index(max(cut))] += 1
    return list(widths)


def output_file(option: str, path: Path | None, *inputs: Path | None) -> None:
    """Check an output file before any work, so that no result is lost."""
    if path is None:
        return
    for source in inputs:
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise UsageError(f"{option} {path} would overwrite the input {source}; give another name.")
        if source is not None and source.is_dir() and path.resolve().is_relative_to(source.resolve()):
            raise UsageError(f"{option} {path} would lie in {source}, whose files are the input; use another folder.")
    from pucli.core.atomic_files import check_output

    check_output(path, option)


def output_files(named: Mapping[str, Path | None], *inputs: Path | None) -> None:
    """Check the files that options name, as `output_file` does, and that no two options name the same one."""
    seen: dict[Path, str] = {}
    for option, path in named.items():
        if path is None:
            continue
        output_file(option, path, *inputs)
        same = seen.setdefault(path.resolve(), option)
        if same != option:
            raise UsageError(f"{same} and {option} both name {path}, and one would replace the other; give two names.")


def output_folder(option: str, path: Path) -> None:
    """Raise UsageError if `path`, the value of `option`, is not a writable folder."""
    from pucli.core.atomic_files import check_folder

    check_folder(path, option)


def _by_streams(text: str) -> str:
    """Return a warning that names stdin in place of its copy, without loading the readers of files."""
    spool = sys.modules.get("pucli.data.files.spool")
    return text if spool is None else str(spool.by_streams(text))
