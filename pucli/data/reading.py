"""Options for reading a user's file, as one object that a model file keeps."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from pucli.core.errors import UsageError, shell_word

SEPARATORS = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "blank": " "}
"""Names of separators that are hard to type."""

WANTED = "give a table with a header line and rows"
"""The way out for a file without any."""

_NO_FILES = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "unicode-escape",
                       "raw-unicode-escape", "undefined"})  # fmt: skip
MOST_HEADERS, MOST_FOOTERS = 20, 10_000  # lines
_OPTIONS = {
    "encoding": "encoding",
    "separator": "sep",
    "skip_rows": "skip-rows",
    "header_rows": "header-rows",
    "skip_footer": "skip-footer",
    "quote": "quote",
    "sheet": "sheet",
    "decimal": "decimal",
    "missing": "missing",
    "format": "format",
}


@dataclass(frozen=True)
class Reading:
    """How a file is read. The defaults infer everything from the file.

    Raises
    ------
    UsageError
        A value cannot be used.
    """

    encoding: str = ""  # encoding of a text file, "" for UTF-8 or what a byte-order mark says
    separator: str = ""  # separator of a text file, one character or a name in `SEPARATORS`; "" to infer it
    skip_rows: int = 0  # number of lines above the header of a text file, or of rows above that of a sheet
    sheet: str = ""  # sheet of a workbook, "" for the first
    # decimal sign, "." or ","; "" to infer it. The other one, a blank or an apostrophe then separates thousands
    decimal: str = ""
    missing: tuple[str, ...] = ()  # further texts that mean an empty cell, besides `pucli.data.columns.cells.EMPTY`
    first_feature: int | None = None  # number of the first feature of a LIBSVM file, 0 or 1; None to infer it
    header_rows: int | None = None  # number of lines with names, which are joined; None infers which lines are no rows
    skip_footer: int | None = None  # number of lines left out after the last row; None infers which are no rows
    quote: str = ""  # "none" if quotes in a text file are characters like others, else "double"
    format: str = ""  # format of a file of any name, by its extension: "tsv"; "" to see it by name and content
    # columns of the numbers whose form a model knows: text files give their cells as text. It is no option and not kept
    # here
    formed: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        named = SEPARATORS.get(self.separator.lower(), self.separator)
        if code := re.fullmatch(r"\\x([01][0-9a-fA-F])", named):  # a control character, as \\x01
            named = chr(int(code[1], 16))
        object.__setattr__(self, "separator", named)
        object.__setattr__(self, "missing", tuple(self.missing))
        object.__setattr__(self, "format", self.format.lower().removeprefix("."))
        if self.encoding and not _is_text_encoding(self.encoding):
            raise UsageError(
                f"--encoding {self.encoding}: unknown encoding; usual ones are utf-8, utf-16, cp1252 (Windows), "
                "latin-1, cp1251 and shift_jis"
            )
        if self.separator and (len(self.separator) != 1 or self.separator in '"\r\n\0' or not self.separator.isascii()):
            raise UsageError(f"--sep {self.separator}: give one character, such as ';', '|' or '\\t' for a tab")
        if self.decimal not in ("", ".", ","):
            raise UsageError(f"--decimal {self.decimal}: the decimal sign is . or ,")
        if self.decimal and self.decimal == self.separator:
            raise UsageError(f"--decimal and --sep are both {self.decimal!r}; they must differ")
        if self.skip_rows < 0:
            raise UsageError(f"--skip-rows {self.skip_rows}: give the number of lines above the header, 0 or more")
        if self.header_rows is not None and not 1 <= self.header_rows <= MOST_HEADERS:
            raise UsageError(f"--header-rows {self.header_rows}: give a number of lines, 1 to {MOST_HEADERS}")
        if self.skip_footer is not None and not 0 <= self.skip_footer <= MOST_FOOTERS:
            raise UsageError(f"--skip-footer {self.skip_footer}: give a number of lines, 0 to {MOST_FOOTERS}")
        if self.quote not in ("", "double", "none"):
            raise UsageError(f"--quote {self.quote}: give double, or none if quotes are characters like others")

    def over(self, given: Reading) -> Reading:
        """Return these options with those replaced that are given; the format is that of a single file."""
        return replace(self, **({"format": ""} | given.record()))

    def record(self) -> dict[str, Any]:
        """Return the options that are not the defaults, as JSON values."""
        values = {part.name: getattr(self, part.name) for part in fields(self) if part.compare}
        found = {name: value for name, value in values.items() if value != getattr(type(self), name)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Reading:
        """Return the options of a `record`; raise ValueError for anything else."""
        counts = dict.fromkeys(("first_feature", "header_rows", "skip_footer"), int)
        types = {name: type(value) for name, value in asdict(cls()).items()} | {"missing": list} | counts
        del types["formed"]
        for name, value in record.items():
            if name not in types or type(value) is not types[name]:
                raise ValueError(name)
        if record.get("first_feature", 0) not in (0, 1):
            raise ValueError("first_feature")
        if not all(isinstance(word, str) for word in record.get("missing", ())):
            raise ValueError("missing")
        return cls(**record)

    @property
    def words(self) -> str:
        """Return the options as words of a shell command."""
        found = []
        for name, option in _OPTIONS.items():
            value = getattr(self, name)
            if value != getattr(type(self), name):
                text = ",".join(value) if isinstance(value, tuple) else str(value).replace("\t", "\\t")
                found.append(f"--{option} {shell_word(text)}")
        return " ".join(found)

    @property
    def note(self) -> str:
        """Return a note for messages about a column that is not found, "" if all options are defaults."""
        return f"; the file is read with {self.words}" if self.words else ""


AS_IT_IS = Reading()


def normal(name: str) -> str:
    """Return a name in the composed form of Unicode, without invisible characters around it."""
    if name.isascii():
        return name
    from pucli.data.columns.cells import trimmed

    return trimmed(name)


def without_missing(frame: Any, words: tuple[str, ...], keep: Any = ()) -> Any:
    """Return a table in which the user's words for missing cells are empty.

    A word that is a number also stands for that number in a column of numbers.
    """
    if not words:
        return frame
    import numpy as np
    import pandas as pd

    from pucli.data.columns.cells import cell_text, parsed_numbers

    texts = frozenset(words)
    values = [value for value in parsed_numbers(list(words)).tolist() if not np.isnan(value)]
    changed = frame.copy(deep=False)
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        kind = getattr(column.dtype, "kind", "O")
        if str(name) in keep or kind in "bmMc":
            continue
        if kind in "iuf":
            empty = column.isin(values).to_numpy(dtype=bool, na_value=False) if values else np.zeros(len(column), bool)
            if empty.any():
                changed.isetitem(position, column.astype("float64" if kind == "f" else object).mask(empty))
            continue
        try:
            codes, distinct = pd.factorize(column)
        except (TypeError, NotImplementedError):  # lists and structs, which are refused where they are used
            continue
        listed = [cell_text(cell) for cell in distinct.tolist()]
        same = np.array(
            [text in texts or (bool(values) and parsed_numbers([text])[0] in values) for text in listed] + [False]
        )
        if same.any():
            changed.isetitem(position, column.astype(object).mask(same[codes]))
    return changed


def _is_text_encoding(name: str) -> bool:
    try:
        found = codecs.lookup(name)
        return bool(getattr(found, "_is_text_encoding", True)) and found.name not in _NO_FILES
    except (LookupError, ValueError):
        return False
