"""Help pages: examples first, then the options in panels, rarely needed ones last, and not at all with -h."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperCommand

from pucli.cli.terminal import wrapped
from pucli.core.errors import UsageError

# Options that a new user needs, by panel; others are under "Reading" and "More".
PANELS = {
    "Data": (
        "--data", "--answers", "--dataset", "--label", "--positive", "--positives-from", "--id", "--drop",
        "--columns",
    ),
    "Model": ("--method", "--param", "--grid", "--tune", "--recall", "--top", "--estimator", "--labels", "--profile"),
    "Output": (
        "--model", "--out", "--report", "--scored", "--trials", "--card", "--onnx", "--results",
    ),
}  # fmt: skip
# Options for reading a table, which most tables do not need.
READING = (
    "--unlabeled", "--negative", "--as", "--only", "--groups", "--encoding", "--sep", "--skip-rows", "--header-rows",
    "--skip-footer", "--quote", "--sheet", "--decimal", "--missing", "--format",
)  # fmt: skip
MORE = "More"
# Characters of an example that fit on a page of 80.
WIDTH = 76
# Stands for a hyphen while lines are broken, which click does after hyphens.
HYPHEN = "\ue000"
# Most options in these panels.
MOST = 12
# Commands with more options show only those of `PANELS` with -h.
MANY = 20
# Commands that read a model file, where --model belongs to the model.
READERS = frozenset({"predict", "evaluate", "shift", "review"})
# Words for values of options that name none of their own.
METAVARS = {int: "N", float: "SHARE", Path: "FILE", str: "NAME"}
# The commands by what a new user wants; all others are under the last.
GROUPS = {
    "Start here": ("auto", "predict", "shift", "review", "evaluate", "show", "export", "new"),
    "Single methods": ("train", "tune", "prior", "compare"),
    "Published experiments": ("reproduce", "report", "site"),
    "Data sets and maintenance": (),
}


def panels(command: str, options: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the options of a command by panel: those of `PANELS`, `MORE`, and "Reading"."""
    named = {word: option for option in options for word in option.opts}
    found: dict[str, list[Any]] = {name: [] for name in PANELS}
    count = 0
    for panel, words in PANELS.items():
        for word in words:
            if word in named and count < MOST and not (word in READING and "--sep" in named):
                place = "Model" if word == "--model" and command in READERS else panel
                found[place].append(named[word])
                count += 1
    reading = [named[word] for word in READING if word in named and "--sep" in named]
    shown = [*reading, *(option for part in found.values() for option in part)]
    found[MORE] = [option for option in options if not any(option is one for one in shown)]
    found["Reading"] = reading
    return found


def groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the commands by group, in the order of `GROUPS`."""
    found = {group: [name for name in members if name in names] for group, members in GROUPS.items()}
    placed = {name for members in found.values() for name in members}
    found[list(GROUPS)[-1]] = [name for name in names if name not in placed]
    return found


def examples_text(examples: str) -> str:
    r"""Return `examples` as part of a help page; ``\b`` keeps the line breaks."""
    lines = [part for line in inspect.cleandoc(examples).splitlines() for part in wrapped(line, WIDTH) or [""]]
    return "\b\nExamples:\n" + "\n".join(lines).replace("\n\n", "\n\n\b\n")


def plain_metavar(kind: Any) -> str | None:
    """Return the word for a value of a type, such as `list[str] | None`; None for a flag, which has no value."""
    kinds = {kind, *get_args(kind), *(inner for outer in get_args(kind) for inner in get_args(outer))}
    return next((word for known, word in METAVARS.items() if known in kinds), None)


def whole_words(text: str) -> str:
    """Return text in which no line is broken after a hyphen, nor between a number and a per cent sign."""
    return text.replace("-", HYPHEN).replace(" %", "\xa0%")


def _described(text: str) -> str:
    """Return the text about an option with its range in words, and no brackets around a default in words."""
    text = re.sub(r"default: \((.+?)\)", r"default: \1", text.replace("  [x>=0]", "").replace("; x>=0", ""))
    return re.sub(r"x>=(\d+)", r"at least \1", text)


class HelpfulCommand(TyperCommand):
    """Command whose help page has its examples first and its options in panels."""

    more_help: Callable[[], str] | None = None  # the end of the page, where it is slow to make

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options, those of one value once; every error knows its command."""
        ctx.meta["short help"] = "-h" in args
        try:
            self._check_once(ctx, args)
            return super().parse_args(ctx, args)
        except Exception as error:
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]
            raise

    def _check_once(self, ctx: Any, args: list[str]) -> None:
        """Raise UsageError for an empty path, or an option of one value that is given twice: the last would win."""
        values, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for one, times in Counter(given).items():
            of_one = values.get(one.name)
            if re.search("FILE|DIR", one.metavar or "") and "" in (
                of_one if isinstance(of_one, list | tuple) else [of_one]
            ):
                name = "FILE" if one.param_type_name == "argument" else one.opts[0]
                raise UsageError(f"{name} is empty; give the name of a file or folder, or leave it out.")
            if (
                times > 1
                and one.param_type_name == "option"
                and not one.multiple
                and not getattr(one, "is_flag", False)
            ):
                raise UsageError(f"{one.opts[0]} is given {times} times, but takes one value; keep one.")

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line."""
        arguments = [one for one in self.get_params(ctx) if one.param_type_name == "argument"]
        names = [(one.metavar or "").removesuffix("...") + "..." * (one.nargs != 1) for one in arguments]
        return ["[OPTIONS]", *(n if one.required else f"[{n}]" for n, one in zip(names, arguments, strict=True))]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, purpose, examples, options, and the rest of the description."""
        first, _, rest = (whole_words(part) for part in inspect.cleandoc(self.help or "").partition("\n\n"))
        more = self.more_help() if self.more_help else ""
        if left := self._left_out(ctx):
            rest, more = f"{left} more options: {whole_words(ctx.command_path)} {HYPHEN * 2}help", ""
        self.format_usage(ctx, formatter)
        for text in (first, self.epilog or "", None, rest, more):
            if text is None:
                self._write_options(ctx, formatter)
            elif text:
                formatter.write_paragraph()
                with formatter.indentation():
                    formatter.write_text(text)
        formatter.buffer[:] = [part.replace(HYPHEN, "-").replace("\xa0", " ") for part in formatter.buffer]

    def _left_out(self, ctx: Any) -> int:
        """Return the number of options that the short page leaves out."""
        options = [one for one in self.get_params(ctx) if one.param_type_name == "option"]
        found = panels(self.name or "", options)
        short = ctx.meta.get("short help") and len(options) > MANY
        return len([*found[MORE], *found["Reading"]]) if short else 0

    def _write_options(self, ctx: Any, formatter: Any) -> None:
        options = [one for one in self.get_params(ctx) if one.param_type_name == "option"]
        left_out = {MORE, "Reading"} if self._left_out(ctx) else set()
        arguments = [one for one in self.get_params(ctx) if one.param_type_name == "argument"]
        for title, parts in {"Arguments": arguments, **panels(self.name or "", options)}.items():
            if title in left_out:
                continue
            records = [
                (part.metavar if title == "Arguments" else one[0], whole_words(_described(one[1])))
                for part in parts
                if (one := part.get_help_record(ctx))
            ]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
