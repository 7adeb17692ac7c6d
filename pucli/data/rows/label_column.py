"""The label column of a user's file, with classes as written in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pucli.core.arrays import AnyArray, Bools, Ints
from pucli.core.errors import UsageError, shell_word
from pucli.data.catalogue.selection import class_text
from pucli.data.columns.cells import is_number, parsed_numbers, shortest
from pucli.data.columns.number_forms import formed_numbers, number_form
from pucli.data.labels import NO, YES, negation, positive_of_two, says_not_labeled
from pucli.data.reading import normal

if TYPE_CHECKING:
    import pandas as pd

_FROM_FILE = ", or list them in a file: --positives-from FILE"
_PLAIN = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")  # without leading zeros, exponent and plus sign
FILLED = "filled"
"""The rule by which every cell that is not empty marks a positive row."""
FEW_CLASSES = 6  # up to which an error names classes; of more, and of numbers, it proposes a rule
_RULE = re.compile(r"(>=|<=|>|<)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_COMPARED: dict[str, Callable[[AnyArray, float], Bools]] = {
    ">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less,
}  # fmt: skip
UNLABELED = -1  # label of an unlabeled row for semi-supervised methods, as in scikit-learn


@dataclass(frozen=True)
class LabelColumn:
    """Labels as text."""

    where: str  # file and column, for messages
    text: AnyArray  # (n,), the classes, "" where a cell is empty
    empty: Bools  # (n,), mask of the empty cells
    place: Callable[[int], str]  # function from the row number to its place in the file ("line 17")

    @classmethod
    def of(cls, where: str, column: pd.Series, place: Callable[[int], str]) -> LabelColumn:
        """Return the labels in a column of a table."""
        empty = column.isna().to_numpy()
        filled = column[~empty]
        if column.dtype == object and len(filled) and all(isinstance(cell, bool | np.bool_) for cell in filled):
            filled = filled.astype(str)  # a column of True, False and empty cells
        text = np.full(len(column), "", dtype=object)
        text[~empty] = filled.astype(str).to_numpy() if filled.dtype.kind == "b" else _as_numbers(class_text(filled))
        return cls(where, text, empty, place)

    @property
    def present(self) -> list[str]:
        """Return the classes that occur, sorted as numbers if all are numbers, otherwise as text."""
        return in_order(set(self.text[~self.empty].tolist()))

    @property
    def counts(self) -> str:
        """Return the classes with their numbers of rows, for messages."""
        present = self.present
        numbers = [int(np.sum(self.text == value)) for value in present[:6]]
        shown = ", ".join(f"{value!r} ({n:,} row{'s' * (n != 1)})" for value, n in zip(present, numbers, strict=False))
        return shown + (", ..." if len(present) > 6 else "")

    @property
    def _ways(self) -> str:
        """Return the options that name the positive rows: one or two classes, or a rule for many cells or numbers."""
        classes, numbers = self.present, self._numbers
        if len(classes) > 2 and not np.isnan(numbers).any():
            least = "'>0'" if numbers.min() <= 0 else f"'>={shortest(float(np.median(numbers)))}'"
            return f"--positive {least} or another rule" + (f", or --positive {FILLED}" if self.empty.any() else "")
        if len(classes) > FEW_CLASSES and self.empty.any():
            return f"--positive {FILLED}, if every filled cell is positive"
        ways = [f"--positive {shell_word(one)}" for one in classes[:2]]
        ways += ["another class"] * (len(classes) > 2)
        ways += [f"--positive {FILLED} (each filled cell)"] * (len(classes) > 2 and bool(self.empty.any()))
        return " or ".join(ways)

    @property
    def _numbers(self) -> AnyArray:
        """Return the classes that occur as numbers, NaN for one that is none."""
        values = parsed_numbers(self.present)
        other = [text for text, value in zip(self.present, values.tolist(), strict=True) if np.isnan(value)]
        form = number_form(other) if other else None
        return values if form is None else formed_numbers(self.present, form.decimal, form.unit)

    def rows_of(self, positive: str) -> Bools | None:
        """Return which rows (n,) a class or a rule (`filled`, `>0`) means, None if it is neither."""
        if (found := _as_written(positive, self.present)) is not None:
            return self.is_class(found)
        if positive.strip() == FILLED:
            return ~self.empty
        if (rule := _RULE.fullmatch(positive.strip())) is None:
            return None
        classes = [
            one
            for one, meant in zip(self.present, _COMPARED[rule[1]](self._numbers, float(rule[2])), strict=True)
            if meant
        ]
        return np.isin(self.text, classes) & ~self.empty

    def positive_class(self, positive: str | None) -> str:
        """Return the class that marks positives, as written in the file."""
        present, counts = self.present, self.counts
        if positive is not None:
            wanted = _as_written(positive, present)
            if wanted is None:
                raise self._no_class(positive)
            if len(present) == 1 and not self.empty.any():
                raise UsageError(
                    f"{self.where} has only one class, {counts}; rows of other classes (or empty) are needed too"
                )
            return wanted
        if not present:
            raise UsageError(f"{self.where} is empty in every row; write a class in the labeled ones{_FROM_FILE}")
        if self.empty.any():
            raise UsageError(
                f"{self.where} is empty in {self.empty.sum():,} of {len(self.empty):,} rows, first at "
                f"{self.place(int(self.empty.argmax()))}; if these rows are unlabeled, add {self._ways}; if "
                "not, fill them in"
            )
        if len(present) == 1:
            raise UsageError(
                f"{self.where} has only one class, {counts}; rows of a second class (or unlabeled) are needed too"
            )
        if len(present) > 2:
            raise UsageError(
                f"{self.where} has {len(present)} classes: {counts}; name the positive ones, e.g. {self._ways}"
            )
        return present[1]

    def _no_class(self, positive: str) -> UsageError:
        """Return the error for a word that neither stands in the column nor is a rule."""
        if Path(positive).is_file():
            return UsageError(f"--positive {positive} is a file; --positives-from {shell_word(positive)} reads labels")
        if not self.present:
            return UsageError(f"{self.where} is empty in every row; write {positive!r} in the labeled ones{_FROM_FILE}")
        return UsageError(f"{self.where} has no class {positive!r}; its classes: {self.counts}; give {self._ways}")

    def marked_class(self) -> str:
        """Return the default class of positives: the larger of two numbers, or the word for yes."""
        greater = self.positive_class(None)
        present = self.present
        if all(is_number(value) for value in present) or set(present) == {"False", "True"}:
            return greater
        found = positive_of_two(*present)
        if found is not None:
            return found
        raise UsageError(
            f"{self.where} has the classes {present[0]!r} and {present[1]!r}; name the one that marks positives: "
            f"{self._ways}"
        )

    def spellings(self, marked: str) -> list[str]:
        """Return the classes that are `marked` in other letters ("Yes", "YES"), which mean the same."""
        return [value for value in self.present if value != marked and value.casefold() == marked.casefold()]

    def is_class(self, marked: str) -> Bools:
        """Return which rows (n,) have the class `marked`, in any spelling."""
        return np.isin(self.text, [marked, *self.spellings(marked)]) & ~self.empty

    def one_class(self, rows: Bools) -> bool:
        """Return whether some rows (n,) are filled and have one class."""
        return not self.empty.any() and len(set(self.text[rows].tolist())) == 1

    def opposite(self, marked: str) -> str:
        """Return the class of all other rows if `marked` means yes, it means no and no cell is empty, else ""."""
        rest = {value.casefold() for value in self.present} - {marked.casefold()}
        if self.empty.any() or len(rest) != 1 or marked.casefold() not in YES or not rest <= NO:
            return ""
        return next(value for value in self.present if value.casefold() in rest)

    def doubts(self, classes: Sequence[str], named: Sequence[str] = (), *, negative: bool = False) -> list[str]:
        """Return warnings about the classes, of which `classes` are positive and `named` have another meaning."""
        found = []
        for marked in classes:
            other = [f"{value!r} ({np.sum(self.text == value)} rows)" for value in self.spellings(marked)]
            if other:
                found.append(f"{self.where}: {', '.join(other)} counted as {marked!r} too; write them alike")
        meant = {word.casefold() for word in (*classes, *named)}
        rest = [value for value in self.present if value.casefold() not in meant]
        known = [value for value in rest if not says_not_labeled(value)]
        if known and (self.empty.any() or len(rest) > 1 or (named and not negative)):
            count = sum(int(np.sum(self.text == value)) for value in known)
            shown = ", ".join(map(repr, known[:3])) + (", ..." if len(known) > 3 else "")
            one = shell_word(known[0]) if len(known) == 1 else "CLASS"
            way_out = "" if negative else f"; if known not to be positive: `pucli auto --negative {one}`"
            found.append(
                f"{self.where}: {count:,} row{'s' * (count != 1)} with another class ({shown}) count"
                f"{'s' * (count == 1)} as unlabeled too{way_out}"
            )
        return found

    def not_compared(self) -> list[str]:
        """Return a warning for cells that are no numbers, though a rule compares numbers."""
        wrong = np.isin(
            self.text, [one for one, value in zip(self.present, self._numbers, strict=True) if value != value]
        )
        if not (wrong & ~self.empty).any():
            return []
        first = int((wrong & ~self.empty).argmax())
        count = int((wrong & ~self.empty).sum())
        return [
            f"{self.where}: {count:,} cell{'s' * (count > 1)} such as {self.text[first]!r} ({self.place(first)}) "
            f"{'are' if count > 1 else 'is'} no number and count{'s' * (count == 1)} as unlabeled"
        ]

    def plus_minus(self, positive: str | None) -> Ints:
        """Return +1 for rows of the positive class and -1 for all others; see `positive_class`."""
        return np.where(self.text == self.positive_class(positive), 1, -1).astype(np.int64)

    def classes(self, unlabeled: int | None) -> AnyArray:
        """Return the classes, as integers if all are integers, otherwise as text; empty cells become `unlabeled`.

        Raises UsageError if a cell is empty and `unlabeled` is None.
        """
        if self.empty.any() and unlabeled is None:
            first = self.place(int(self.empty.argmax()))
            raise UsageError(f"{self.where} is empty in {self.empty.sum()} rows, first at {first}")
        text = np.where(self.empty, str(unlabeled), self.text)
        try:
            return np.array([int(value) for value in text], dtype=np.int64)
        except (ValueError, OverflowError):
            return text.astype(str)


class MarkedRows(NamedTuple):
    """Rows of a label column.

    y : array of shape (n,)
        1 for positives and 0 for the rest.
    words : dict of str to str
        Names of the two in the file; that of the rest is "" if the file has none.
    classes : list of str
        The positive classes; none if a rule says which rows are positive.
    warnings : list of str
        Cells that the rule cannot compare.
    """

    y: Ints
    words: dict[str, str]
    classes: list[str]
    warnings: list[str]


def labeled_positives(
    labels: LabelColumn, positive: Sequence[str] | str | None, unlabeled: str | None = None
) -> MarkedRows:
    """Return which rows are positive: those of the classes or rules of `positive`.

    Without it, the column must hold two classes: the larger of two numbers is positive, or whichever word means yes.
    """
    wanted = (positive,) if isinstance(positive, str) else tuple(positive or ())
    classes = [found for one in wanted if (found := _as_written(one, labels.present)) is not None]
    if len(wanted) < 2 and len(classes) == len(wanted):
        classes = [labels.positive_class(wanted[0]) if wanted else labels.marked_class()]
        rows = labels.is_class(classes[0])
        name = classes[0]
    else:
        name, rows = " or ".join(wanted), np.zeros(len(labels.text), dtype=bool)
        for one in wanted:
            found_rows = labels.rows_of(one)
            if found_rows is None:
                raise labels._no_class(one)
            if not found_rows.any():
                numbers = labels._numbers
                ends = (
                    f"its numbers reach from {numbers.min():g} to {numbers.max():g}" if len(numbers) else "it is empty"
                )
                if np.isnan(numbers).any():
                    ends = f"its classes: {labels.counts}"
                raise UsageError(f"--positive {one}: no row of {labels.where} is; {ends}")
            rows |= found_rows
        if rows.all():
            raise UsageError(f"--positive {name}: every row of {labels.where} is; unlabeled rows are needed too")
    compared = [one for one in wanted if one not in classes and _RULE.fullmatch(one.strip())]
    ruled = len(classes) < len(wanted)
    others = [value for value in labels.present if not rows[labels.text == value].any()]
    rest = _word_of_rest(name, others, bool(labels.empty.any()), unlabeled)
    doubts = labels.not_compared() if compared else []
    return MarkedRows(rows.astype(np.int64), {"1": name, "0": rest}, [] if ruled else classes, doubts)


def _word_of_rest(marked: str, others: Sequence[str], empty: bool, unlabeled: str | None) -> str:
    """Return the word for rows that are not positive, "" if the file has none."""
    if len(others) == 1 and not empty:
        return others[0]
    if unlabeled is not None:
        return unlabeled if (found := _as_written(unlabeled, others)) is None else found
    opposite = negation(marked)
    return opposite if all(one.casefold() == opposite.casefold() for one in others) else ""


def known_negatives(labels: LabelColumn, positive: Bools, unlabeled: str | None, negative: str | None) -> Bools | None:
    """Return which rows (n,) are known to be negative, None if the user names none."""
    words: dict[str, str] = {}
    for option, word in (("--unlabeled", unlabeled), ("--negative", negative)):
        if word is None:
            continue
        found = _as_written(word, labels.present)
        if found is None:
            raise UsageError(f"{option} {word}: {labels.where} has no such class; its classes: {labels.counts}")
        if positive[labels.is_class(found)].any() or found in words.values():
            raise UsageError(f"{option} {word}: this class has another meaning already; name another one.")
        words[option] = found
    if "--negative" not in words:
        return None
    rows = labels.is_class(words["--negative"])
    if (rows | positive).all():
        raise UsageError(
            f"--negative {negative}: {labels.where} has no unlabeled row then; use any classifier of two classes, such "
            f"as those of scikit-learn, or give --unlabeled {negative} if nobody has looked at these rows."
        )
    return rows


def _as_numbers(text: AnyArray) -> AnyArray:
    """Return labels without zeros after the decimal point ("1.0" is "1") if all are plain numbers.

    Where one is not, such as the code 01 or 1e5, all stay as they are written.
    """
    distinct, inverse = np.unique(text.astype(str), return_inverse=True)
    if not all(_PLAIN.fullmatch(value) for value in distinct.tolist()) or not any("." in value for value in distinct):
        return text
    short = [value.rstrip("0").rstrip(".") if "." in value else value for value in distinct.tolist()]
    return np.array(short, dtype=object)[inverse]


def in_order(values: Iterable[str]) -> list[str]:
    """Return class names sorted as numbers if all are numbers, otherwise as text."""
    values = list(values)
    try:
        return sorted(values, key=float)
    except ValueError:
        return sorted(values)


def _as_written(value: str, present: Sequence[str]) -> str | None:
    """Return the class equal to `value` as text, as a number, as a truth value or in other letters ("Yes")."""
    if value.strip() in present:
        return value.strip()
    composed = {normal(candidate): candidate for candidate in present}
    if normal(value.strip()) in composed:
        return composed[normal(value.strip())]
    truth = {"true": "1", "false": "0"}.get(value.strip().casefold())
    if truth in present and set(present) <= {"0", "1"}:  # a sheet shows TRUE
        return truth
    for candidate in present:
        try:
            if float(candidate) == float(value):
                return candidate
        except ValueError:
            continue
    return next((candidate for candidate in present if candidate.casefold() == value.strip().casefold()), None)


def partly_labeled(labels: LabelColumn) -> tuple[Ints, dict[str, str]]:
    """Return integer classes with -1 for unlabeled rows, and the names of the classes in the file.

    An empty cell and the label -1 both mark an unlabeled row.
    """
    classes = labels.classes(UNLABELED)
    present = in_order({str(value) for value in classes.tolist()} - {str(UNLABELED)})
    numbers = {value: int(value) if classes.dtype.kind in "iu" else code for code, value in enumerate(present)}
    numbers[str(UNLABELED)] = UNLABELED
    y = np.array([numbers[str(value)] for value in classes.tolist()], dtype=np.int64)
    return y, {str(numbers[value]): value for value in present}
