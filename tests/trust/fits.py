"""Fits that are tried one after the other, and counted in the lines of their families."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tests.trust.lines import Line

REFUSED = "refused"
# Characters of the shortest message that can give a reason and a remedy.
SENTENCE = 40
# Seconds that a case may take.
LONGEST = 300


class Cases(NamedTuple):
    """The cases of a line: its name and note, how many are tried by default and with --full, and the judge of one.

    The judge takes the number of a case and returns its kind and what is wrong, "" if nothing, "refused" if the method
    refused the rows with a reason.
    """

    name: str
    tries: tuple[int, int]
    judge: Callable[[int], tuple[str, str]]
    note: str = ""


def in_rounds(all_cases: Sequence[Cases], full: bool, rounds: int) -> Iterator[Line]:
    """Yield each line after each round, so that a run that is cut short has tried a like share of every family."""
    lines = [Line(cases.name) for cases in all_cases]
    refused = [0] * len(lines)
    for turn in range(rounds):
        for place, (cases, line) in enumerate(zip(all_cases, lines, strict=True)):
            tries = cases.tries[full]
            for number in range(tries * turn // rounds, tries * (turn + 1) // rounds):
                kind, wrong = _in_time(cases, number)
                refused[place] += wrong == REFUSED
                line.count(f"{number} {kind}", "" if wrong == REFUSED else wrong)
            said = [cases.note, f"{refused[place]} were refused with a reason" if refused[place] else ""]
            line.note = "; ".join(filter(None, said))
            yield line


def _in_time(cases: Cases, number: int) -> tuple[str, str]:
    """Judge a case; one that takes minutes is wrong, as it would never end."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        return cases.judge(number)

    def stop(*_: object) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        return cases.judge(number)
    except _TooLongError:
        return "", f"took more than {LONGEST} s"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class _TooLongError(BaseException):
    """Raised by the alarm; no `except Exception` of a method catches it."""


def fitted(model: Any, X: Any, y: Any = None, **more: Any) -> str:
    """Fit a model; return what is wrong, "" if nothing, "refused" if it raised an error that gives a reason."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            model.fit(X, y, **more)
        except np.linalg.LinAlgError as error:  # which is a ValueError, too
            return f"{type(error).__name__}: {error}"
        except ValueError as error:
            return REFUSED if len(str(error)) > SENTENCE else f"ValueError: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    if not model.converged_ and not any(isinstance(item.message, ConvergenceWarning) for item in caught):
        return "did not converge and did not warn"
    return ""
