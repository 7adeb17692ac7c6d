"""Text for a terminal: whole words, three digits, colors, and no control characters of a file."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import sys
import textwrap
from typing import Any, TextIO

from pucli.core.inert_text import inert_text

# Widest line: longer ones are hard to read.
WIDEST = 100
# Characters of a message.
LONGEST = 20_000
_COLORS = {"warning: ": "\x1b[33m", "pucli: ": "\x1b[31m"}
_PLAIN = "\x1b[0m"
_COMMAND = re.compile(r"(?:^ *|(?<=: ))pucli [a-z]+ .*--.*$")
_OPTION = re.compile(r"(--[\w-]+) (?!-)")
# A number with its unit or noun, such as "35 to 66 %" and "300 unlabeled", and a p-value stay on one line.
_NUMBER = r"(?:(?:over|under) )?-?\d[\d.,]*"
_UNIT = r"(?:%| (?:%|(?!(?:and|are|as|at|but|by|for|from|if|in|is|of|on|or|to|with)\b)[a-z]{1,12}\b))?"
_QUANTITY = re.compile(rf"\bp [=<] [\d.]+|(?<![\w.,-]){_NUMBER}(?: ?%)?(?: (?:to|±) {_NUMBER})?{_UNIT}")
# Stands for a space at which no line is broken.
_KEPT = "\ue001"
# A shorter word does not stand alone on the last line.
_SHORT_WORD = 12
# A smaller number is shown as "under" it.
LEAST = 1e-6


def on_terminal(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def filled(text: str, width: int, hanging: str = "") -> list[str]:
    """Return the lines of a text with whole words and quantities, the last of which is no short word alone."""

    def lines_of(text: str) -> list[str]:
        return textwrap.wrap(text, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)

    text = _QUANTITY.sub(lambda found: found[0].replace(" ", _KEPT), text)
    lines = lines_of(text)
    if len(lines) > 1 and len(last := lines[-1].strip()) < _SHORT_WORD and " " not in last:
        rest = text.rstrip().removesuffix(last).rstrip()
        lines = lines_of(f"{rest}{_KEPT}{last}")
    return [line.replace(_KEPT, " ") for line in lines]


def wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text with whole words; a command at its end stands alone, to be copied."""
    lines: list[str] = []
    for line in text.splitlines() or [""]:
        if len(line) <= width:
            lines.append(line)
            continue
        command = _COMMAND.search(line)
        words = line[: command.start()].rstrip() if command else line
        hanging = " " * (len(line) - len(line.lstrip()))
        lines += filled(words, width, hanging) if words else []
        if command:
            whole = _OPTION.sub(rf"\1{_KEPT}", command[0])  # an option and its value stay together
            parts = filled(whole, width - 2, f"{hanging}    ")
            lines += [*(f"{part} \\" for part in parts[:-1]), parts[-1]]
    return lines


def width_of(stream: TextIO) -> int | None:
    """Return the width of a terminal, at most `WIDEST`; None for another stream, whose lines are not wrapped."""
    return min(shutil.get_terminal_size().columns, WIDEST) if on_terminal(stream) else None


def print_error(text: str) -> None:
    """Write a line to stderr, which may be closed; on a terminal warnings are yellow and errors red."""
    text = inert_text(text.replace("\r", "\\r"))
    if len(text) > LONGEST:  # names in a file may have any length
        text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    width = width_of(sys.stderr)
    if width is not None:
        color = next((code for start, code in _COLORS.items() if text.startswith(start)), "")
        text = "\n".join(wrapped(text, width))
        if color and not os.environ.get("NO_COLOR"):
            text = f"{color}{text}{_PLAIN}"
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def number(value: Any, digits: int = 3) -> str:
    """Return `value` in readable form, without an exponent, or a dash if it is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if not isinstance(value, float) or math.isinf(value):
        return str(value)
    if 0.0 < abs(value) < LEAST:
        return f"{'under ' if value > 0 else 'above -'}{LEAST:f}"
    if abs(value) >= 1e15:
        return f"{value:.{digits}g}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def many(count: int, name: str) -> str:
    """Return a count with its noun, such as "1 fit" and "2,056 fits"."""
    return f"{count:,} {name}{'s' * (count != 1)}"


def plus_minus(mean: float, sd: float) -> str:
    """Return a mean with its standard deviation, if there are any."""
    if math.isnan(mean):
        return ""
    return number(mean) if math.isnan(sd) else f"{number(mean)} ± {number(sd, 2)}"


def percent(share: float) -> str:
    """Return a share in percent; no share but 1 is shown as 100, none but 0 as 0."""
    value = 100.0 * share
    if 0.0 < value < 0.1:
        return "under 0.1"
    if 99.5 <= value < 100.0:
        return "over 99"
    return f"{value:.0f}" if value >= 9.95 or value == 0.0 else f"{value:.2g}"


def span(low: float, high: float, to: str = "to") -> str:
    """Return two shares as an interval, such as "63% to 93%"; an end under a thousandth is 0."""
    return f"{percent(low if low >= 0.001 else 0.0)}% {to} {percent(high)}%"


def duration(seconds: float) -> str:
    """Return a time in readable form, from "under 0.01 s" to "3.5 days"."""
    if 0.0 < seconds < 0.01:
        return "under 0.01 s"
    if seconds < 120:
        return f"{number(float(seconds), 2) if seconds < 10 else f'{seconds:.0f}'} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} hours" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"
