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
from pucli.core.inert_text import inert_text
from pucli.core.seeding import stream
from pucli.core.version import __version__
from pucli.data.columns.encoder import cell, features_of_days, spans
from pucli.data.columns.encoders import Category, ColumnEncoder, Date, Number, YesNo
from pucli.data.labels import YES
from pucli.estimators.auto.chance import FEWEST, ranks_among
from pucli.estimators.auto.importance import dependence, importances
from pucli.models.auto.coordinates import coordinates
from pucli.models.auto.drawings import (
    bars,
    dependence_line,
    gains,
    histogram,
    odds_bounds,
    precision_recall,
    score_map,
)
from pucli.models.auto.summary import behind, unlabeled_of
from pucli.models.reasons import encoder_of
from pucli.solvers.ensemble.estimates import FirstRows, f1_of
from pucli.solvers.folds import number_of_folds
from pucli.solvers.prior.labeling_odds import with_odds

if TYPE_CHECKING:
    from pucli.estimators.auto.auto_pu import AutoPU
    from pucli.models.auto.ranking import Ranking
    from pucli.models.auto.summary import AutoAnswer

TEMPLATE = Path(__file__).with_name("page.html.j2")
TOP_ROWS = 200
SHOWN_COLUMNS, SHOWN_DEPENDENCES = 12, 6
# Most points of the gains curve and of precision against recall, and shares of the rows for which the lift is printed.
CURVE, POINTS, LIFTS = 200, 50, (0.01, 0.05, 0.1)
# Where the class prior is smaller, axes are logarithmic, from so many rows on.
RARE, FEWEST_ROWS = 0.1, 10
# Known positives whose ranks are marked, and rows on a map.
MARKED, MAPPED = 300, 1500
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
    """Write the page to a file."""
    with replacing(path) as partial:
        partial.write_text(page_text(ranking, about, progress), encoding="utf-8", errors="backslashreplace")


def page_text(
    ranking: Ranking,
    about: AutoAnswer,
    progress: Callable[[int, int], object] | None = None,
    *,
    python: bool = False,
) -> str:
    """Return the page: the rows to check first, the estimates and their limits, then the model.

    If `python`, it names what to do in Python in place of commands.
    """
    from jinja2 import Environment

    rows = ranking.rows

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["quoted"] = shell_word
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    text = template.render(
        **_content(ranking, progress),
        about=about,
        python=python,
        source=rows.title.rpartition(", label column ")[0] or rows.title,
        positive=rows.positive,
        question=question(rows.label_column, rows.words.get("1", "")),
        version=__version__,
        date=datetime.now(UTC).date().isoformat(),
    )
    return inert_text(text)


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
    rare = model.estimates_["prior"].value < RARE
    scores, n = model.held_out_, len(model._population)
    places = np.unique(np.round(np.geomspace(FEWEST_ROWS if rare and n > FEWEST_ROWS else 1.0, n, CURVE))).astype(int)
    curve, firsts = model.gains([0.0, *(places / n)]), model.among_first(places.tolist()[:: CURVE // POINTS])
    ranks = np.minimum(1.0, ranks_among(scores[labeled], scores[unlabeled]) / int(unlabeled.sum()))
    marks = np.quantile(ranks, np.linspace(0.0, 1.0, min(len(ranks), MARKED)))
    where = coordinates(rows)
    return {
        "ranks": model.ranks_,
        "given": model._given or model._calibrates,
        "folds": number_of_folds(labeled),
        "known": found.known,
        "gains": gains(
            curve.shares, curve.low, curve.value, curve.high, model.estimates_["share"].value, marks, log=rare
        ),
        "map": _map(ranking, where),
        "coordinates": [name for name, _ in where],
        "lifts": _lifts(model),
        "lift": model.estimates_.get("lift"),
        "population": n,
        "scores": histogram(scores[labeled], scores[unlabeled], model.threshold_, log=rare),
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
        "marks_of": lambda row: [row.row, *row.identifiers.values()],
        "marks": ["row"] if rows.marks is None else list(rows.marks.columns),
        "chance": found.chance,
        "fewest": FEWEST,
        "top": next((one for one in reversed(found.first) if one.rows <= TOP_ROWS), None),
        "rows": {kind: [row for row in ranking.shown if row.kind == kind] for kind in ranking.places},
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


def _map(ranking: Ranking, places: list[tuple[str, int]]) -> str:
    """Return the map of the scores, of an even part of the rows if there are many; "" without coordinates."""
    if not places:
        return ""
    scores, labeled = ranking.model.held_out_, ranking.rows.labeled
    order = np.argsort(np.argsort(scores, kind="stable"), kind="stable") / len(scores)
    some = np.linspace(0, len(scores) - 1, min(len(scores), MAPPED)).astype(int)
    x, y = (ranking.rows.X[some, feature] for _, feature in places)
    return score_map(x, y, order[some], labeled[some])
