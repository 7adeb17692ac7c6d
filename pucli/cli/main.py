"""Entry point: find and run the command, and turn every failure into one message and an exit code.

Exit codes: 0 done, 1 some cell failed or a run-time error, 2 wrong usage or a bad declared file, 130 interrupted.
With ``--json``, an error is also one JSON document on stdout: ``{"error": {"kind", "message", "exit_code"}}``.
"""

from __future__ import annotations

import errno
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperGroup

import pucli.cli.commands
from pucli.cli.help import HelpfulCommand, examples_text, groups, plain_metavar
from pucli.cli.interrupts import interrupts, noticed
from pucli.cli.output import CommandFailure, Failed, Kind, Output, Stopped
from pucli.cli.row_options import RARE_READING, TABLE, take_first_argument, with_first_argument
from pucli.cli.schema import version_of
from pucli.cli.terminal import print_error
from pucli.core.errors import FULL_DISK, PucliError, nearest, unknown
from pucli.core.inert_text import inert_text, one_line
from pucli.core.json_values import json_values

# Commands in the order in which a new user needs them; the others follow in alphabetical order.
ORDER = [
    "list", "fetch", "auto", "train", "predict", "shift", "review", "evaluate", "show", "export", "tune",
    "prior", "compare", "split", "reproduce", "report", "new",
]  # fmt: skip

ENVIRONMENT = (
    "PUCLI_SEED, PUCLI_N_JOBS, PUCLI_MIRROR, PUCLI_PROFILE, PUCLI_BACKEND and PUCLI_RESULTS_DIR stand for the options "
    "of these names; PUCLI_DATA_DIR is the folder of downloaded data; PUCLI_OFFLINE=1 forbids the network; "
    "PUCLI_DATASETS adds catalogues."
)


def command_names() -> list[str]:
    """Return the names of all commands, one per module of `pucli.cli.commands`."""
    found = [module.name.replace("_", "-") for module in pkgutil.iter_modules(pucli.cli.commands.__path__)]
    return [name for name in ORDER if name in found] + sorted(set(found) - set(ORDER))


def _runner(function: Callable[..., int | None], name: str) -> Callable[..., int | None]:
    """Return `function` in the form that Typer expects.

    --json and --quiet are added and passed as the first argument, an `Output`. A parameter whose type is a dataclass
    is replaced by the fields of the dataclass, so that related options are declared and passed together.
    """
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    groups = {parameter.name: parameter.annotation for parameter in own if _is_group(parameter)}
    flat = list(_flattened(own))
    needs_file = any(one.name == "data" and one.default is one.empty for one in flat)
    parameters = [*with_first_argument(flat), *inspect.signature(_shared_options, eval_str=True).parameters.values()]
    for parameter in parameters:
        kind, option = get_args(parameter.annotation)[:2]
        option.metavar = option.metavar or plain_metavar(kind)
        option.show_envvar = False  # the help of `pucli` alone lists these

    def run(*, json_document: bool, quiet: bool, **options: Any) -> int | None:
        if TABLE in options:
            take_first_argument(options, needs_file=needs_file)
        for group, kind in groups.items():
            options[group] = kind(**{part.name: options.pop(part.name) for part in fields(kind)})
        with Output(as_json=json_document, quiet=quiet, schema=version_of(name)) as out:
            return function(out, **options)

    run.__doc__ = function.__doc__
    run.__name__ = name
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    )
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _flattened(parameters: Iterable[inspect.Parameter]) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command, with dataclasses replaced by their fields."""
    for parameter in parameters:
        if _is_group(parameter):
            yield from inspect.signature(parameter.annotation, eval_str=True).parameters.values()
        else:
            yield parameter


def _is_group(parameter: inspect.Parameter) -> bool:
    return is_dataclass(parameter.annotation)


def _shared_options(
    json_document: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no progress and no remarks; warnings and errors stay.")
    ] = False,
) -> None:
    """Hold the options that every command has."""


@cache
def _made(name: str) -> Any:
    module = importlib.import_module(f"pucli.cli.commands.{name.replace('-', '_')}")
    single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    single.command(
        name,
        cls=HelpfulCommand,
        epilog=examples_text(module.EXAMPLES),
        context_settings={"help_option_names": ["-h", "--help"]},
    )(_runner(module.command, name))
    command = typer.main.get_command(single)
    command.more_help = getattr(module, "more_help", None)  # type: ignore[attr-defined]
    return command


class CommandGroup(TyperGroup):
    """Group that imports the module of a command when the command is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of the help page."""
        return command_names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command, or None if no command has that name."""
        return _made(cmd_name) if cmd_name in command_names() else None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, purpose, examples, commands by group, and options."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_epilog(ctx, formatter)
        for title, names in groups(self.list_commands(ctx)).items():
            width = formatter.width - 6 - max(map(len, command_names()))
            with formatter.section(title):
                formatter.write_dl([(name, self.get_command(ctx, name).get_short_help_str(width)) for name in names])
        records = [record for one in self.get_params(ctx) if (record := one.get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl(records)
        with formatter.section("Environment variables"):
            formatter.write_text(ENVIRONMENT)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command named by `args`; the error suggests the nearest names."""
        command = self.get_command(ctx, args[0])
        if command is None and not ctx.resilient_parsing:
            raise unknown("command", args[0], command_names(), listing="pucli --help")
        return (args[0] if command else None), command, args[1:]


def _version(asked: bool) -> None:
    if asked:
        from pucli.core.version import __version__

        typer.echo(f"pucli {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples_text(
        """
        pucli auto customers.csv --label bought --positive yes
        pucli predict new.csv --model bought.model
        pucli train wifi --method glpual
        pucli list methods
        pucli reproduce table-3.1 --profile quick

        Results go to stdout, progress and remarks to stderr. A terminal wraps long
        lines; in a file or a pipe, each table row and remark is one line.
        `pucli COMMAND --help` has more examples.
        """
    ),
)


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Rank rows of a table in which some are known to be positive, compare methods, run published experiments again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line `arguments` (default: those of the process) and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character, as stderr has it
    try:
        with noticed():
            code = typer.main.get_command(app)(args=words, prog_name="pucli", standalone_mode=False)
            if code == Stopped.exit_code:  # Typer's exit code for Ctrl-C outside of a command
                raise Stopped("interrupted.")
    except KeyboardInterrupt:
        return _report(Stopped("interrupted."), as_json="--json" in words)
    except SystemExit as stop:  # shell completion, or a pipe closed while --help was written
        return stop.code if isinstance(stop.code, int) else 1
    except Exception as error:
        if os.environ.get("PUCLI_DEBUG"):
            raise
        if "_PUCLI_COMPLETE" in os.environ:  # TAB after a wrong name: no completion and no message
            return 0
        if interrupts.seen and not isinstance(error, PucliError):
            error = Stopped("interrupted.")
        return _report(error, as_json="--json" in words)
    finally:
        _flush()
    return int(code or 0)


def _report(error: Exception, *, as_json: bool) -> int:
    """Write the message of `error` and return its exit code."""
    kind, message, code = _explain(error)
    message = message if as_json else one_line(message) if kind in ("usage", "run") else inert_text(message)
    if len(message) > LONGEST and kind != "help":  # e.g. a name of a megabyte
        message = f"{message[: LONGEST - END]} [...] {message[-END:]}"
    if as_json:
        found = error.document if isinstance(error, Stopped) else {}
        document = {**found, **json_values(Failed(CommandFailure(kind, message, code)))}
        try:
            Output(as_json=True, quiet=True).write(json.dumps(document, indent=2, ensure_ascii=False))
        except OSError:  # the disk that is full may be that of stdout
            print_error(f"pucli: {message}")
    else:
        print_error(message if kind == "help" else f"pucli: {message}")
    return code


def _explain(error: Exception) -> tuple[Kind, str, int]:
    """Return the kind ("usage", "run", "interrupted", "help", "defect"), the message and the exit code of `error`."""
    if isinstance(error, PucliError):
        kind: Kind = "interrupted" if error.exit_code == 130 else "usage" if error.exit_code == 2 else "run"
        return kind, str(error), error.exit_code
    if hasattr(error, "format_message"):  # errors of Typer, whose class differs between versions
        context = getattr(error, "ctx", None)
        if type(error).__name__ == "NoArgsIsHelpError":
            return "help", error.format_message(), 2
        page = f" `{context.command_path} --help` lists its options." if context else ""
        text = next(
            filter(None, (of(error) for of in (_of_value, _of_file, _of_option, _of_missing, _of_no_value))), ""
        )
        text = text or " ".join(error.format_message().split())
        return "usage", text + ("" if text.endswith((".", ")", "?")) else ".") + page, getattr(error, "exit_code", 2)
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "run", "the system allows no more open files; close some, or raise the limit (`ulimit -n`).", 1
    if isinstance(error, OSError) and (error.errno in _PLACES or error.errno in FULL_DISK or error.filename):
        where = f"{error.filename}: " if error.filename else ""
        if error.errno in FULL_DISK:
            return "run", f"{where}{error.strerror}. Free some space or write elsewhere.", 1
        way_out = _PLACES.get(error.errno or 0, "")
        if error.errno == errno.ENOENT and not error.filename and not _has_folder():
            return "usage", "the working folder no longer exists; change to another one.", 2
        return (
            ("usage", f"{where}{error.strerror}. {way_out}", 2) if way_out else ("run", f"{where}{error.strerror}.", 1)
        )
    if isinstance(error, MemoryError):
        return "run", f"out of memory ({error}); use fewer rows, a linear kernel or fewer jobs.", 1
    if isinstance(error, RuntimeError | OSError | ImportError) and any(words in str(error) for words in _NO_ROOM):
        return "run", "the system has too little memory left to load a library or to start a thread; free some.", 1
    return (
        "defect",
        f"unexpected {type(error).__name__}: {one_line(str(error))}\nThis is a defect in pucli; set PUCLI_DEBUG=1 and "
        "run the same command again to see where it happened.",
        1,
    )


def _has_folder() -> bool:
    """Return whether the working folder is still there."""
    try:
        return Path.cwd().is_dir()
    except OSError:
        return False


def _of_file(error: Any) -> str:
    """Return the message for a second file without --data, or "" if the error is of another kind."""
    found = re.match(r"Got unexpected extra arguments?(?:\(s\))? \((.+)\)", error.format_message())
    command = getattr(getattr(error, "ctx", None), "command", None)
    if found is None or not any("--data" in one.opts for one in getattr(command, "params", ())):
        return ""
    file = next((word for word in found[1].split() if Path(word).suffix), "")
    return f"{file} is a further file; give each one after the first as --data {file}." if file else ""


def _of_option(error: Any) -> str:
    """Return the message for an option that does not exist, with at most two near ones, or "" for another error."""
    if type(error).__name__ != "NoSuchOption":
        return ""
    command = getattr(getattr(error, "ctx", None), "command", None)
    names = [word[2:] for one in getattr(command, "params", ()) for word in one.opts if word.startswith("--")]
    given = error.option_name.lstrip("-")
    places = [one.metavar for one in getattr(command, "params", ()) if one.param_type_name == "argument"]
    if (place := next((name for name in places if (name or "").lower() == given), None)) is not None:
        return f"unknown option {error.option_name}; give {place} without it."
    if given in RARE_READING:
        return (
            f"unknown option {error.option_name}; `pucli auto`, `train`, `tune`, `prior` and `predict` have it, and a "
            "model keeps it for new files. Save this table as plain CSV otherwise."
        )
    near = nearest(given, names, 2)
    if "param" in names and not near:
        from pucli.methods import METHODS

        own, name = METHODS.values(), given.replace("-", "_")
        if any(name in (*one.grid, *one.regularization, *one.needs) for one in own):
            return f"unknown option {error.option_name}; for a parameter of a method, --param {name}=VALUE."
    return f"unknown option {error.option_name}" + (f"; did you mean --{' or --'.join(near)}?" if near else ".")


def _of_no_value(error: Any) -> str:
    """Return the message for an option at the end of the line that has no value, or "" for another error."""
    if type(error).__name__ != "BadOptionUsage" or "requires an argument" not in error.format_message():
        return ""
    name, context = error.option_name, getattr(error, "ctx", None)
    known = (one for one in getattr(getattr(context, "command", None), "params", ()) if name in one.opts)
    takes = next((one.metavar or one.make_metavar(context) for one in known), "VALUE")
    return f"{name} needs a value: {name} {takes}."


def _of_missing(error: Any) -> str:
    """Return the message for an option or argument that must be given, or "" for another error."""
    parameter = getattr(error, "param", None)
    if parameter is None or not type(error).__name__.startswith("Missing"):
        return ""
    names = [name for name in parameter.opts if name.startswith("--")]
    hints = {
        "experiment": "`pucli list experiments` shows all",
        "model": "`pucli train --method glpual --model glpual.model` makes one",
    }
    hint = hints.get(parameter.name)
    return f"{' '.join([*names[:1], parameter.metavar or ''])} is missing{f'; {hint}' if hint else ''}."


def _of_value(error: Any) -> str:
    """Describe an invalid value of an option, or return "" if the error is of another kind."""
    from pucli.cli.options import as_given

    cause, context, parameter = error.__cause__, getattr(error, "ctx", None), getattr(error, "param", None)
    if not hasattr(cause, "errors") or context is None or parameter is None:
        return ""
    found = cause.errors()[0]
    ends = found.get("ctx", {})
    words = {
        "int_parsing": "must be a whole number",
        "int_from_float": "must be a whole number",
        "float_parsing": "must be a number",
        "greater_than_equal": f"must be at least {ends.get('ge')}",
        "less_than_equal": f"must be at most {ends.get('le')}",
    }.get(found["type"])
    return f"{as_given(context, parameter, found['input'])}: {words}." if words else ""


# Characters of a message, and of its end where the middle is left out.
LONGEST, END = 1900, 300
# Messages of the system if memory is too short to start a thread or to map a library.
_NO_ROOM = ("start new thread", "failed to map segment", "Cannot allocate memory", "load shared object")
_PLACES = {
    errno.EROFS: "The file system is read-only; write elsewhere.",
    errno.EACCES: "Check the permissions, or use another place.",
    errno.EPERM: "Check the permissions, or use another place.",
    errno.ENOENT: "Check the name.",
    errno.ENAMETOOLONG: "Give a shorter name.",
    errno.ENOTDIR: "Check the name.",
    errno.EISDIR: "Give the name of a file.",
}


def _flush() -> None:
    """Flush the streams, and ignore a closed pipe or a full disk (also when Python closes the stream at exit)."""
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), getattr(sys, name).fileno())
