"""Content of a model file, as a document and as a card in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pucli.cli.terminal import number, percent, span
from pucli.cli.text.auto_in_full import TERMS
from pucli.core.inert_text import inert_text

if TYPE_CHECKING:
    from pucli.models.saved import SavedModel

RANDOM = (
    "Recall, class prior and probabilities hold only if the labeled rows are a random sample of the positives; class "
    "prior, precision, F1 and AUC also need nearly all of the highest scores to be positive. The data cannot reveal "
    "this."
)
ORDERED = "All estimates hold only if labels were given by how clearly a row is positive; the data cannot reveal this."
# Plainer names of estimates, and those that are no shares of rows.
NAMES = TERMS | {"f1": "F1", "auc": "AUC"}
SCORES = ("f1", "auc", "lift", "new_lift")
# Neighbors of one kind and encoding from which on they stand in one line.
MANY = 20
SAME = "New rows must come from the population of the training rows."


@dataclass(frozen=True)
class OpenInterval:
    """A value with its 90% interval; the value is None where the rows do not determine it."""

    value: float | None
    low: float
    high: float


@dataclass(frozen=True)
class ModelColumn:
    """A column of the training file and its encoding."""

    column: str
    kind: str
    encoded: str


@dataclass(frozen=True)
class ModelCard:
    """What a model file holds, and the file to which it was written as a page."""

    model: Path
    method: str
    source: str
    kind: str
    trained_on: str | None
    label: str | None
    classes: dict[str, str]
    ids: list[str]
    features: int
    columns: list[ModelColumn]
    params: dict[str, bool | int | float | str]
    threshold: float | None
    class_prior: OpenInterval | None
    estimates: dict[str, OpenInterval]
    limits: list[str]
    versions: dict[str, str]
    card: Path | None


def model_card(path: Path, saved: SavedModel, card: Path | None) -> ModelCard:
    """Return what a model file holds."""
    from pucli.methods import get_method

    about, model, entry = saved.metadata, saved.estimator, get_method(saved.method)
    data, kind = about.get("data", {}), about.get("kind", entry.kind)
    encoder, words = saved.encoder, about.get("words", {})
    encoders = [] if encoder is None or encoder.sparse_ else encoder.encoders_
    return ModelCard(
        model=path,
        method=saved.method,
        source=entry.source,
        kind=kind,
        trained_on=_trained_on(data),
        label=about.get("label_column") or None,
        classes=words,
        ids=[*about.get("id_columns", ()), *about.get("found_ids", ())],
        features=len(saved.feature_names),
        columns=[ModelColumn(one.name, one.kind, one.how()) for one in encoders],
        params={name: value for name, value in model.get_params(deep=False).items() if _plain(value)},
        threshold=getattr(model, "threshold_", None),
        class_prior=_class_prior(saved),
        estimates=_estimates(model),
        limits=_limits(saved, kind),
        versions=saved.versions,
        card=card,
    )


def _plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


def _class_prior(saved: SavedModel) -> OpenInterval | None:
    curve = saved.metadata.get("probability") or {}
    if "prior" in curve:
        return OpenInterval(curve["prior"], curve["prior_low"], curve["prior_high"])
    found = getattr(saved.estimator, "estimates_", {}).get("prior")
    if found is not None:
        return OpenInterval(found.value if found.known else None, found.low, found.high)
    value = getattr(saved.estimator, "prior_", None)
    return None if value is None else OpenInterval(value, value, value)


def _estimates(model: Any) -> dict[str, OpenInterval]:
    return {
        name: OpenInterval(one.value if one.known else None, one.low, one.high)
        for name, one in getattr(model, "estimates_", {}).items()
        if name != "prior"
    }


def _limits(saved: SavedModel, kind: str) -> list[str]:
    """Return what the estimates and predictions rest on, and what training found against them."""
    about, found = saved.metadata, []
    if kind == "pu":
        found.append(ORDERED if getattr(saved.estimator, "labeling_", "scar") == "sar" else RANDOM)
    found.append(SAME)
    if about.get("doubt"):
        found.append(f"Found in training: {about['doubt']}.")
    return [*found, *(f"Found in training: {text}." for text in about.get("leaks", ()))]


def _trained_on(data: dict[str, Any]) -> str | None:
    """Return the file or data set of training, and the file of its labels if that is another one."""
    listed = data.get("positives_from")
    name = data.get("file") or data.get("dataset")
    return f"{name}, positives from {listed['file']}" if isinstance(listed, dict) and "file" in listed else name


def facts(card: ModelCard) -> list[tuple[str, str | None]]:
    """Return name and text of each fact of `model_card`, without columns and limits."""
    words, versions = card.classes, card.versions
    label = card.label
    positive = f"{label} = {words['1']}" if label and "1" in words and card.kind == "pu" else None
    classes = None if positive or not words else ", ".join(map(str, words.values()))
    threshold = "score above 0" if card.kind == "pu" else None
    if threshold and card.threshold:
        threshold += f" (the threshold, {number(float(card.threshold))}, is already subtracted)"
    return [
        ("method", card.method),
        ("source", card.source),
        ("trained on", card.trained_on),
        ("positive", positive),
        ("classes", classes),
        ("identifiers", ", ".join(card.ids) or None),
        ("features", f"{card.features:,}"),
        ("parameters", ", ".join(f"{name}={number(value)}" for name, value in card.params.items()) or None),
        ("flagged", threshold),
        ("class prior", _between(card.class_prior)),
        *((NAMES.get(name, name), _between(one, name not in SCORES)) for name, one in card.estimates.items()),
        ("written by", ", ".join(f"{name} {version}" for name, version in versions.items()) or None),
    ]


def _between(estimate: OpenInterval | None, share: bool = True) -> str | None:
    """Return an estimate with its interval, in percent if it is a share; None if there is none."""
    if estimate is None:
        return None
    value, low, high = (estimate.value, estimate.low, estimate.high)

    def shown(one: float) -> str:
        return f"{percent(one)}%" if share else number(one)

    if low is None or high is None or low == high:
        return None if low is None else shown(low)
    ends = span(low, high) if share else f"{number(low)} to {number(high)}"
    return f"{'cannot be told' if value is None else shown(value)} ({ends})"


def column_rows(card: ModelCard) -> list[list[str]]:
    """Return name, kind and encoding of each column, in one line for many neighbors that have the same."""
    lines = []
    for same, run in groupby(card.columns, lambda one: (one.kind, one.encoded)):
        names = [one.column for one in run]
        if len(names) >= MANY:
            names = [f"{names[0]} to {names[-1]} ({len(names):,})"]
        lines += [[name, *same] for name in names]
    return lines


def page_of(card: ModelCard) -> str:
    """Return the document as a page in Markdown."""
    known = [(name, text) for name, text in facts(card) if text is not None]
    parts = [f"# Model: {_cell(card.method)}", _table(["", ""], known)]
    if card.columns:
        parts += ["## Columns", _table(["column", "kind", "encoding"], column_rows(card))]
    parts += ["## Limits", "\n".join(f"- {inert_text(text)}" for text in card.limits)]
    return "\n\n".join(parts) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    from pucli.report.formats.markdown import literal

    return literal(inert_text(str(text))).replace("|", "\\|").replace("<", "&lt;")
