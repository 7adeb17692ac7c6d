"""The page about a fitted `AutoPU`: one HTML file without scripts or external resources."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.core.atomic_files import replacing
from pucli.core.errors import shell_word
from pucli.core.seeding import stream
from pucli.core.version import __version__
from pucli.data.columns.encoder import cell, features_of_days, spans
from pucli.data.columns.encoders import Category, ColumnEncoder, Date, Number, Text, YesNo
from pucli.data.labels import YES
from pucli.estimators.auto.importance import dependence, importances
from pucli.models.auto.drawings import bars, dependence_line, gains, histogram, odds_bounds, precision_recall
from pucli.models.auto.summary import behind, encoder_of, likeliest_first, training_probabilities, unlabeled_of
from pucli.solvers.ensemble.estimates import FirstRows, f1_of
from pucli.solvers.folds import number_of_folds
from pucli.solvers.prior.labeling_odds import with_odds

if TYPE_CHECKING:
    from pucli.data.rows.training_rows import TrainingRows
    from pucli.estimators.auto.auto_pu import AutoPU
    from pucli.models.auto.ranking import Ranking
    from pucli.models.auto.summary import AutoAnswer

TEMPLATE = Path(__file__).with_name("page.html.j2")
TOP_ROWS = 200
FIRST_ROWS, SHOWN_ROWS, SHOWN_CELLS, SHOWN_COLUMNS, SHOWN_DEPENDENCES = 15, 8, 4, 12, 6
# Most points of the gains curve and of precision against recall, and shares of the rows for which the lift is printed.
CURVE, POINTS, LIFTS = 200, 50, (0.01, 0.05, 0.1)
GRID, MOST_BARS = 12, 8
# Odds ratios of labeling for which the recall is drawn.
ODDS_RATIOS = np.linspace(1.0, 6.0, 26)
# Ends of words that say what somebody or something did.
_DID = re.compile(r"^\w+ed$|^(bought|paid|left|won|lost|sold|went|came|fell|quit|broke|died|sent|met|said)$", re.I)


def write_report(
    path: Path,
    ranking: Ranking,
    about: AutoAnswer,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Write the page: the rows to check first, the estimates and their limits, then the model."""
    from jinja2 import Environment

    rows = ranking.rows

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["quoted"] = shell_word
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    text = template.render(
        **_content(ranking, progress),
        about=about,
        source=rows.title.rpartition(", label column ")[0] or rows.title,
        positive=f"{rows.label_column} = {rows.words['1']}" if rows.label_column else "",
        question=question(rows.label_column, rows.words.get("1", "")),
        version=__version__,
        date=datetime.now(UTC).date().isoformat(),
    )
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")


def question(label: str, word: str) -> str:
    """Return the question that the page answers, in the words of the label column ("" if there is none).

    Examples
    --------
    >>> question("bought", "yes"), question("is_fraud", "1"), question("status", "active")
    ('Who else bought?', 'Which other rows are fraud?', 'Which other rows have status active?')
    """
    if not label:
        return "Which other rows are positive?"
    name = re.sub(r"[_\s]+", " ", label).strip() or label
    if word.strip().casefold() not in YES:
        return f"Which other rows have {name} {word}?"
    if is_a := re.fullmatch(r"(is|was|has|had) (.+)", name, re.I):
        return f"Which other rows {'are' if is_a[1].lower() in ('is', 'was') else 'have'} {is_a[2]}?"
    return f"Who else {name}?" if _DID.match(name) else f"Which other rows have {name}?"


def _content(ranking: Ranking, progress: Callable[[int, int], object] | None) -> dict[str, Any]:
    found, rows = ranking.findings, ranking.rows
    model, X, labeled, unlabeled = found.model, rows.X, rows.labeled, unlabeled_of(rows)
    rng, columns = stream(0, "report"), list(spans(encoder_of(rows)))
    fall, error, best = importances(model, X, labeled, rng, [place for _, place in columns], progress)
    order: list[int] = best.tolist()
    used = [k for k in order[:SHOWN_COLUMNS] if fall[k] > 0]
    drawn = [_dependence(model, X[unlabeled], *columns[k], rng) for k in used[:SHOWN_DEPENDENCES]]
    scores, n = model.held_out_, len(model._population)
    places = np.unique(np.round(np.geomspace(1.0, n, CURVE))).astype(int)
    curve, firsts = model.gains([0.0, *(places / n)]), model.among_first(places.tolist()[:: CURVE // POINTS])
    return {
        "ranks": model.ranks_,
        "given": model._given or model._calibrates,
        "folds": number_of_folds(labeled),
        "known": found.known,
        "gains": gains(curve.shares, curve.low, curve.value, curve.high, model.estimates_["share"].value),
        "lifts": _lifts(model),
        "lift": model.estimates_.get("lift"),
        "population": n,
        "scores": histogram(scores[labeled], scores[unlabeled], model.threshold_),
        "odds_drawing": _odds(model) if found.if_odds else "",
        "curve": precision_recall(
            np.array([one.recall.value for one in firsts]),
            *(np.array([getattr(one.precision, end) for one in firsts]) for end in ("low", "value", "high")),
        ),
        "importances": [
            (columns[k][0].name, float(fall[k]), float(error[k]), float(fall[k] / fall[used[0]])) for k in used
        ],
        "behind": behind(model.leaderboard_, found.labeled, found.unlabeled),
        "measured": int(np.isfinite(fall).sum()),
        "columns": len(columns),
        "dependences": [drawing for drawing in drawn if drawing],
        "if_prior": _if_prior(model),
        "marks": ["row"] if rows.marks is None else list(rows.marks.columns),
        "cells": [
            f"words in {columns[k][0].name}" if isinstance(columns[k][0], Text) else columns[k][0].name
            for k in order[:SHOWN_CELLS]
        ],
        "top": next((one for one in reversed(found.first) if one.rows <= TOP_ROWS), None),
        "rows": _rows(model, rows, ranking.reasons, [columns[k] for k in order[:SHOWN_CELLS]]),
    }


def _odds(model: AutoPU) -> str:
    """Return the drawing of the recall if the odds of being labeled differ between positives."""
    recall = model.estimates_["recall"]
    below, above, low, high = (
        np.array([with_odds(share, ratio**power) for ratio in ODDS_RATIOS])
        for share, power in ((recall.value, -1), (recall.value, 1), (recall.low, -1), (recall.high, 1))
    )
    return odds_bounds(ODDS_RATIOS, (below, above), (low, high), model.estimates_["share"].value)


def _lifts(model: AutoPU) -> list[FirstRows]:
    """Return what the first rows hold at each of `LIFTS` of which there is a row."""
    n = len(model._population)
    return model.among_first([k for share in LIFTS if (k := round(share * n))])


def _dependence(model: AutoPU, X: np.ndarray, column: ColumnEncoder, place: slice, rng: np.random.Generator) -> str:
    """Return a drawing of the mean probability for the cells of a column; "" for texts."""
    width = len(column.features)
    values = np.unique(np.quantile(X[:, place.start], np.linspace(0.02, 0.98, GRID)))
    names: list[str] = []
    match column:
        case Number() if column.kind == "yes/no":
            cells, names = np.array([[0.0] * width, [1.0] + [0.0] * (width - 1)]), ["0", "1"]
        case Number():
            cells = np.zeros((len(values), width))
            cells[:, 0] = values
        case Date():
            values = np.unique(np.round(values))
            cells = features_of_days(column, values)
        case YesNo():
            cells, names = np.array([[0.0] * width, [1.0] + [0.0] * (width - 1)]), [column.no or "empty", column.yes]
        case Category():
            frequent = np.argsort(-X[:, place].mean(axis=0), kind="stable")[:MOST_BARS]
            cells = np.eye(width)[frequent]
            names = [cell(column, one) for one in cells]
        case _:
            return ""
    means = dependence(model, X, place, cells, rng)
    if names:
        return f"<h3>{escape(column.name)}</h3>{bars(names, means, f'Mean probability by {column.name}')}"
    drawing = dependence_line(values, means, column.name, dates=isinstance(column, Date))
    return f"<h3>{escape(column.name)}</h3>{drawing}"


def _if_prior(model: AutoPU) -> list[dict[str, float]]:
    """Return precision and F1 at this threshold for the prior's estimate and for both ends of its interval."""
    recall, share = model.estimates_["recall"].value, model.estimates_["share"].value
    return [
        {
            "prior": prior,
            "precision": min(1.0, prior * recall / share) if share > 0 else 0.0,
            "f1": f1_of(recall, share, prior),
        }
        for prior in (model.prior_interval_[0], model.prior_, model.prior_interval_[1])
    ]


def _rows(
    model: AutoPU, rows: TrainingRows, why: np.ndarray, columns: list[tuple[ColumnEncoder, slice]]
) -> dict[str, list[dict[str, Any]]]:
    """Return the likeliest positives, the least certain rows, and the labeled rows that look least like positives."""
    labeled, marks = rows.labeled, rows.marks
    p, low, high = training_probabilities(model, labeled)
    unlabeled, marked = np.flatnonzero(unlabeled_of(rows)), np.flatnonzero(labeled)
    orders = {
        "likeliest": likeliest_first(model, rows)[:FIRST_ROWS],
        "uncertain": unlabeled[np.argsort(np.abs(p[unlabeled] - 0.5), kind="stable")][:SHOWN_ROWS],
        "odd": marked[np.argsort(model.held_out_[marked], kind="stable")][:SHOWN_ROWS],
    }
    return {
        name: [
            {
                "marks": [i + 1] if marks is None else marks.iloc[i].tolist(),
                "probability": float(p[i]),
                "low": float(low[i]),
                "high": float(high[i]),
                "why": why[i],
                "cells": [(cell(column, rows.X[i, place]), isinstance(column, Number)) for column, place in columns],
            }
            for i in order
        ]
        for name, order in orders.items()
    }
