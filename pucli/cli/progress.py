"""Progress displays: a bar on a terminal, lines in a log."""

from __future__ import annotations

import math
import threading
import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from pucli.cli.interrupts import interrupts
from pucli.cli.terminal import duration, print_error
from pucli.core.inert_text import inert_text

if TYPE_CHECKING:
    from pucli.runner import Event


def show_event(bar: Progress, event: Event) -> None:
    """Show the progress of an experiment."""
    from pucli.runner import describe

    words = describe(event.cell) if event.cell is not None else ""
    if event.status == "failed":
        words = f"FAILED {words}: {event.error}"
    failed = f"({event.failed} failed) " if event.failed else ""
    bar(event.done + event.failed, event.total, failed + words, event.remaining_seconds)


class Progress(AbstractContextManager["Progress"]):
    """Progress display that shows nothing; base class of the others."""

    def __call__(self, done: int, total: int | None = None, text: str = "", seconds_left: float | None = None) -> None:
        """Show that `done` of `total` are done, with `text`. A Ctrl-C that a library suppressed takes effect here."""
        if interrupts.seen:
            raise KeyboardInterrupt
        self.show(done, total, text, seconds_left)

    def show(self, done: int, total: int | None, text: str, seconds_left: float | None) -> None:
        """Update the display."""

    def __exit__(self, *_: object) -> None:
        """Remove the display."""


class Bar(Progress):
    """Bar with count and time left, removed at the end. On a narrow screen the text is dropped first."""

    def __init__(self, label: str, unit: str = "") -> None:
        from rich import progress
        from rich.console import Console
        from rich.table import Column

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}", table_column=Column(no_wrap=True, max_width=30)),
            progress.BarColumn(bar_width=16),
            progress.TextColumn("{task.fields[count]}", table_column=Column(no_wrap=True)),
            progress.TimeElapsedColumn(table_column=Column(no_wrap=True)),
            progress.TextColumn("{task.fields[left]}", table_column=Column(no_wrap=True)),
            progress.TextColumn(
                "{task.fields[text]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)
            ),
            console=Console(stderr=True),
            transient=True,
            expand=True,
        )
        self._task = self._bar.add_task(label, total=None, text="", left="", count="")
        self._unit, self._first = unit, (0, 0.0)
        self._bar.start()

    def show(self, done: int, total: int | None, text: str, seconds_left: float | None) -> None:
        """Move the bar."""
        task = self._bar.tasks[0]
        elapsed = task.elapsed or 0.0
        if done and not self._first[0]:
            self._first = done, elapsed
        if seconds_left is None and total:
            seconds_left = _seconds_left(done, total, elapsed, *self._first)
        left = f"{duration(round(seconds_left))} left" if seconds_left and seconds_left >= 0.5 else ""
        count = _counted(done, total, self._unit)
        self._bar.update(self._task, completed=done, total=total, text=inert_text(text), left=left, count=count)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def _counted(done: int, total: int | None, unit: str) -> str:
    """Return how much is done, such as "3/7 members"."""
    unit = unit.removesuffix("s") if (done if total is None else total) == 1 else unit
    return f"{done:,}{'' if total is None else f'/{total:,}'}{f' {unit}' if unit else ''}"


def _seconds_left(done: int, total: int, elapsed: float, first: int, until_first: float) -> float | None:
    """Return the time left by the pace after the first step, in which compiling counts; None before the second.

    Several first steps that ended at once count as any others.
    """
    if first > 1:
        return elapsed * (total - done) / done if done else None
    return (elapsed - until_first) * (total - done) / (done - first) if done > first else None


class Lines(Progress):
    """Plain lines for a log file: one every ten seconds, also while a step takes longer, and the first and last one.

    Unless `short`, work of less than ten seconds is not shown.
    """

    interval = 10.0  # seconds

    def __init__(self, label: str, unit: str = "", *, short: bool = True) -> None:
        self._label, self._unit = label, unit
        self._begun = time.monotonic()
        self._last = -math.inf if short else self._begun
        self._state = ""
        self._shown = short
        self._ended = threading.Event()

    def __enter__(self) -> Lines:
        threading.Thread(target=self._beat, daemon=True, name="progress").start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _beat(self) -> None:
        """Write a line whenever none was written for a while."""
        while not self._ended.wait(self.interval / 10):
            if time.monotonic() - max(self._last, self._begun) >= self.interval:
                self._write(f"{self._state or self._label}, {duration(round(time.monotonic() - self._begun))} so far")

    def _write(self, line: str) -> None:
        self._last, self._shown = time.monotonic(), True
        print_error(line)

    def show(self, done: int, total: int | None, text: str, seconds_left: float | None) -> None:
        """Write a line, if the previous one is old enough or all steps are done."""
        left = f", about {duration(round(seconds_left))} left" if seconds_left else ""
        self._state = f"{self._label} {_counted(done, total, self._unit)}{left} {text}".rstrip()
        if time.monotonic() - self._last >= self.interval or (done == total and self._shown):
            self._write(self._state)
