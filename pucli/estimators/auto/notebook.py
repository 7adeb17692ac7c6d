"""What a notebook shows of `AutoPU`: progress of the fit, cards above the parameters, and the page about the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from typing import Any

CARD = "border:1px solid #8888;border-radius:6px;padding:.5em .8em;min-width:9em"


@dataclass(frozen=True)
class ReportPage:
    """The page about a fitted model, which a notebook shows in a frame.

    Parameters
    ----------
    html : str
        The page.
    """

    html: str = field(repr=False)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:40em;border:1px solid #8888"></iframe>'


def of_models(name: str) -> Any:
    """Return a function of `pucli.models.auto.in_python`; that room is above this one, so it is found by its name."""
    return getattr(import_module("pucli.models.auto.in_python"), name)


def cards(model: Any) -> str:
    """Return rows flagged, recall, lift and the share of positives as HTML; "" for a model that is not fitted."""
    found = getattr(model, "estimates_", None)
    if found is None or model._known is None:
        return ""
    unlabeled, told = int((model._known == 0).sum()), {} if model._leaks else found
    shown = {
        "flagged": f"{round(model.positive_share_ * unlabeled):,} of {unlabeled:,} unlabeled rows",
        "recall": _told(told, "recall", "{:.0%}"),
        "lift": _told(told, "lift", "{:.3g}", by="recall"),
        "positives in the population": _told(told, "prior", "{:.0%}"),
    }
    boxes = [f'<div style="{CARD}">{escape(name)}<br><b>{escape(text)}</b></div>' for name, text in shown.items()]
    note = "90% intervals, if the labeled rows are a random sample of the positives. ranking_ has the rows."
    return f'<div style="display:flex;gap:.6em;flex-wrap:wrap">{"".join(boxes)}</div><p><small>{note}</small></p>'


def _told(found: Any, name: str, form: str, by: str = "") -> str:
    """Return an estimate, which is known if it is narrow, or if that of another name is."""
    estimate = found.get(name)
    if estimate is None or not found[by or name].known:
        return "cannot be told"
    value, low, high = (form.format(one) for one in (estimate.value, estimate.low, estimate.high))
    return f"{value} ({low} to {high})"


@contextmanager
def progress(verbose: int, callback: Callable[[str, int, int], object] | None) -> Iterator[Any]:
    """Yield the callback, or one that shows a bar in a terminal or notebook if `verbose` is above zero."""
    if callback is not None or not verbose:
        yield callback
        return
    from rich.progress import Progress

    with Progress() as shown:
        task = shown.add_task("AutoPU", total=None)
        yield lambda name, done, total: shown.update(task, description=f"AutoPU: {name}", completed=done, total=total)
