"""The page about a fitted `AutoPU`: one HTML file without scripts or external resources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pucli.core.atomic_files import replacing
from pucli.core.seeding import stream
from pucli.core.version import __version__
from pucli.estimators.auto.importance import dependence, importances
from pucli.models.auto.drawings import dependence_line, histogram, precision_recall
from pucli.models.auto.summary import training_probabilities
from pucli.solvers.ensemble.estimates import Estimate, f1_of
from pucli.solvers.ensemble.hidden_share import resampled
from pucli.solvers.ensemble.rows import number_of_folds
from pucli.solvers.ensemble.threshold import SHARES
from pucli.solvers.prior.best_bin import shares_above

if TYPE_CHECKING:
    import pandas as pd

    from pucli.estimators.auto.auto_pu import AutoPU

TEMPLATE = Path(__file__).with_name("page.html.j2")
SHOWN_ROWS, SHOWN_FEATURES, SHOWN_DEPENDENCES = 10, 12, 4
RECALLS = np.linspace(0.02, 1.0, 50)


def write_report(  # noqa: PLR0913
    path: Path,
    model: AutoPU,
    X: np.ndarray,
    labelled: np.ndarray,
    names: Sequence[str],
    about: dict[str, Any],
    title: str,
    marks: pd.DataFrame | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Write the page.

    Parameters
    ----------
    path : Path
        File to write.
    model : AutoPU
        Fitted model.
    X, labelled : ndarray of shape (n, m) and (n,)
        Training rows, and True for labelled positives.
    names : sequence of str
        Names of the m features.
    about : dict
        From `pucli.models.auto.summary.summary`.
    title : str
        Title of the page, which describes the rows.
    marks : DataFrame of n rows or None
        Numbers of the rows in their file, column "row", and their identifiers; None means 1 to n.
    progress : callable or None
        Called with the numbers of finished and of all features.
    """
    from jinja2 import Environment

    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        TEMPLATE.read_text(encoding="utf-8")
    )
    text = template.render(
        **_content(model, X, labelled, names, marks, progress), about=about, title=title, version=__version__
    )
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _content(
    model: AutoPU,
    X: np.ndarray,
    labelled: np.ndarray,
    names: Sequence[str],
    marks: pd.DataFrame | None,
    progress: Callable[[int, int], object] | None,
) -> dict[str, Any]:
    rng = stream(0, "report")
    fall = importances(model, X, labelled, rng, progress)
    used = [int(j) for j in np.argsort(-np.nan_to_num(fall, nan=-np.inf), kind="stable")[:SHOWN_FEATURES]]
    used = [j for j in used if fall[j] > 0]
    curves = [dependence(model, X[~labelled], j, rng) for j in used[:SHOWN_DEPENDENCES]]
    scores = model.held_out_
    return {
        "ranks": model.ranks_,
        "folds": number_of_folds(labelled),
        "scores": histogram(scores[labelled], scores[~labelled], model.cut_),
        "curve": precision_recall(RECALLS, *_precision_band(model)),
        "importances": [(names[j], float(fall[j]), float(fall[j] / fall[used[0]])) for j in used],
        "dependences": [dependence_line(c.values, c.probabilities, names[c.feature]) for c in curves],
        "if_prior": _if_prior(model),
        "marks": ["row"] if marks is None else list(marks.columns),
        "rows": _rows(model, labelled, marks),
    }


def _precision_band(model: AutoPU) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the 5 %, 50 % and 95 % quantiles of the precision at each of `RECALLS`, over bootstrap samples.

    The draws of the prior are stretched to the interval that is printed, which is wider where classes overlap or few
    rows are labelled.
    """
    draws = model.prior_estimate_.draws
    wide = _stretched(draws, model.estimates_["prior"])
    found = []
    for p, u in resampled(model._positive, model._population, stream(0, "curve"), len(draws)):
        q_p, q_u = shares_above(p, u)
        found.append(RECALLS / np.maximum(np.interp(RECALLS, q_p, q_u), SHARES[0]))
    middle = np.quantile(np.minimum(1.0, draws[:, None] * found), 0.5, axis=0)
    low, high = np.quantile(np.minimum(1.0, wide[:, None] * found), [0.05, 0.95], axis=0)
    return np.minimum(low, middle), middle, np.maximum(high, middle)


def _stretched(draws: np.ndarray, prior: Estimate) -> np.ndarray:
    """Return draws of the prior, stretched about its estimate so that 90 % of them lie in its interval."""
    low, high = np.quantile(draws, [0.05, 0.95])
    below = (prior.value - prior.low) / max(prior.value - low, 1e-12)
    above = (prior.high - prior.value) / max(high - prior.value, 1e-12)
    wide = prior.value + np.where(draws < prior.value, below, above) * (draws - prior.value)
    result: np.ndarray = np.clip(wide, 0.0, 1.0)
    return result


def _if_prior(model: AutoPU) -> list[dict[str, float]]:
    """Return precision and F1 at this cut for the prior's estimate and for both ends of its interval."""
    recall, share = model.estimates_["recall"].value, model.estimates_["share"].value
    return [
        {
            "prior": prior,
            "precision": min(1.0, prior * recall / share) if share > 0 else 0.0,
            "f1": f1_of(recall, share, prior),
        }
        for prior in (model.prior_interval_[0], model.prior_, model.prior_interval_[1])
    ]


def _rows(model: AutoPU, labelled: np.ndarray, marks: pd.DataFrame | None) -> dict[str, list[dict[str, Any]]]:
    """Return the likeliest positives, the least certain rows, and the labelled rows that look least like positives."""
    p, low, high = training_probabilities(model, labelled)
    unlabeled, marked = np.flatnonzero(~labelled), np.flatnonzero(labelled)
    orders = {
        "likeliest": unlabeled[np.argsort(-model.held_out_[unlabeled], kind="stable")],
        "uncertain": unlabeled[np.argsort(np.abs(p[unlabeled] - 0.5), kind="stable")],
        "odd": marked[np.argsort(model.held_out_[marked], kind="stable")],
    }
    return {
        name: [
            {
                "marks": [i + 1] if marks is None else marks.iloc[i].tolist(),
                "probability": float(p[i]),
                "low": float(low[i]),
                "high": float(high[i]),
            }
            for i in order[:SHOWN_ROWS]
        ]
        for name, order in orders.items()
    }
