"""Which method of the GLPUAL family suits a data set: the flowchart of Wang 2024 (Figure 6.1), measured.

The thesis looks at a t-SNE picture for a positive set in two parts on both sides of the negatives, at principal
components for features that contribute little, and asks whether the class prior is known. Here the same three questions
are answered by numbers that need no true labels. Irrelevant features decide first (E-GLPUAL, or EKF-GLPUAL with two
parts, whose boundary is not linear), then a known prior (CPB-GLPUAL), then the parts (GLPUAL, or else GLLC).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import silhouette_score

from pucli.arrays import Bools, Floats, Ints

# The two parts are apart when their silhouette exceeds this, each has at least this share of the labelled rows, and the
# stretch between them is thinner in labelled rows than their sides are, while unlabeled rows are there.
APART = 0.4
SMALLEST_PART = 0.1
BETWEEN = 0.3
# A feature is irrelevant when a classifier of labelled against unlabeled rows values it no more than nearly all of the
# shuffled copies of the features; "many" is this share of the features.
MANY = 0.4
TREES = 300
# Rows of each kind that are looked at, at most: silhouettes take the square of that.
LARGEST_SAMPLE = 2000

# What to tune: widths for standardised features, ridges over the decades that matter.
RBF_GRID = {"width": "0.5,1,2,4,8"}
GRIDS = {
    "glpual": {**RBF_GRID, "lam": "0.1,1,10,100,1000", "c_u": "0.5,0.1,0.01"},
    "gllc": {**RBF_GRID, "lam": "0.1,1,10,100,1000", "c_u": "0.5,0.1,0.01"},
    "cpb-glpual": {**RBF_GRID, "lam": "0.0001,0.001,0.01,0.1,1"},
}


# Rows on which tuning over such a grid, with three cross-validations, takes about half a minute of one processor. The
# kernel methods factorise a matrix of the size of the rows for every point.
LARGEST_TUNED = {"glpual": 1000, "gllc": 1000, "cpb-glpual": 1000, "ekf-glpual": 5000, "e-glpual": 20000}


class Advice(NamedTuple):
    """The answers and what follows from them.

    trifurcated : labelled rows in two parts with unlabeled rows between; silhouette of the two parts; between : share
    of the unlabeled rows between the parts that is not matched by labelled ones; irrelevant : (m,) bool; method : name
    on the command line; params : what to give it; grid : values to tune over, empty for the method's own; rows : on how
    many rows, drawn at random, to tune, None for all; reasons : sentences.
    """

    trifurcated: bool
    silhouette: float
    between: float
    irrelevant: np.ndarray
    method: str
    params: dict[str, str]
    grid: dict[str, str]
    rows: int | None
    reasons: list[str]


def advise(X: Floats, labelled: Bools, prior: float | None = None, random_state: int = 0) -> Advice:
    """Answer the flowchart's questions.

    Parameters
    ----------
    X : (n, m) rows; features are standardised first. labelled : (n,) bool, True for labelled positives.
    prior : share of positives among the unlabeled rows where it is known, or None.
    random_state : int, of the clusters, of the forest, and of the rows drawn where there are more than 2000 of a kind.

    Raises
    ------
    ValueError : no labelled or no unlabeled row, or no feature that varies.
    """
    X, labelled = np.asarray(X, dtype=np.float64), np.asarray(labelled, dtype=bool)
    if not labelled.any() or labelled.all():
        raise ValueError("advice needs labelled positives and unlabeled rows; one kind is missing.")
    if not np.any(np.ptp(X, axis=0) > 0):
        raise ValueError("every feature is constant: nothing tells the rows apart.")
    n = len(X)
    chosen = _at_most(labelled, np.random.default_rng(random_state))
    X, labelled = X[chosen], labelled[chosen]
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    irrelevant = irrelevant_features(X, labelled, random_state)
    many = irrelevant.mean() >= MANY
    # noise hides the parts: they are looked for in the other features
    seen = X if irrelevant.all() else X[:, ~irrelevant]
    silhouette, between = two_parts(seen[labelled], seen[~labelled], random_state)
    trifurcated = silhouette > APART and between > BETWEEN
    reasons = [
        f"the labelled rows {'are' if trifurcated else 'are not'} in two parts with other rows between "
        f"(silhouette {silhouette:.2f}, share of unlabeled rows between that labelled ones do not match "
        f"{between:.2f})",
        f"{int(irrelevant.sum())} of {len(irrelevant)} features tell labelled from unlabeled rows no better than noise",
        "the class prior is not known (`pucli prior` estimates it)"
        if prior is None
        else f"the class prior is known ({prior:g})",
    ]
    method, params = _choice(trifurcated, many, prior)
    rows = LARGEST_TUNED[method] if n > LARGEST_TUNED[method] else None
    if rows is not None:
        reasons.append(f"tuning on all {n} rows would take long: {rows} of them, drawn at random, take about a minute")
    return Advice(trifurcated, silhouette, between, irrelevant, method, params, GRIDS.get(method, {}), rows, reasons)


def _at_most(labelled: Bools, rng: np.random.Generator) -> Ints:
    """Return row numbers, in order: all of them, or as many of a kind as are looked at."""
    kept = [rng.permutation(rows)[:LARGEST_SAMPLE] for rows in (np.flatnonzero(labelled), np.flatnonzero(~labelled))]
    return np.sort(np.concatenate(kept))


def _choice(trifurcated: bool, many: bool, prior: float | None) -> tuple[str, dict[str, str]]:
    if many:
        return ("ekf-glpual", {}) if trifurcated else ("e-glpual", {})
    if prior is not None:
        return "cpb-glpual", {"prior": f"{prior:g}", "kernel": "rbf"}
    return ("glpual", {"kernel": "rbf"}) if trifurcated else ("gllc", {"kernel": "rbf"})


def two_parts(positive: Floats, unlabeled: Floats, random_state: int) -> tuple[float, float]:
    """Split the labelled rows in two; return the silhouette, and how many rows between the parts are unlabeled only.

    Between means: on the middle half of the line that joins the centres, and no farther from it than the median
    labelled row of either part. With fewer than ten labelled rows, or a part of less than a tenth, both are 0.
    """
    if len(positive) < 10:
        return 0.0, 0.0
    part = KMeans(2, n_init=10, random_state=random_state).fit_predict(positive)
    share = part.mean()
    if min(share, 1.0 - share) < SMALLEST_PART:
        return 0.0, 0.0
    ends = np.array([positive[part == k].mean(axis=0) for k in (0, 1)])
    axis = ends[1] - ends[0]
    length = float(np.linalg.norm(axis))
    silhouette = float(silhouette_score(positive, part))

    def middle(rows: Floats, radius: float) -> tuple[float, Floats]:
        along = (rows - ends[0]) @ axis / length**2
        off = np.linalg.norm(rows - ends[0] - along[:, None] * axis, axis=1)
        return float(np.mean((np.abs(along - 0.5) < 0.25) & (off <= radius))), off

    _, off = middle(positive, np.inf)
    radius = 1.5 * float(np.median(off))
    of_positive, _ = middle(positive, radius)
    of_unlabeled, _ = middle(unlabeled, radius)
    return silhouette, max(of_unlabeled - of_positive, 0.0) / max(of_unlabeled, 1e-12) if of_unlabeled > 0.05 else 0.0


def irrelevant_features(X: Floats, labelled: Bools, random_state: int) -> Bools:
    """Return which features (m,) bool are worth no more to a forest than 95 % of as many shuffled ones are."""
    rng = np.random.default_rng(random_state)
    shadow = rng.permuted(X, axis=0)
    forest = ExtraTreesClassifier(
        TREES, min_samples_leaf=5, class_weight="balanced", random_state=random_state, max_features=0.5
    )
    value = forest.fit(np.hstack([X, shadow]), labelled).feature_importances_
    m = X.shape[1]
    result: Bools = value[:m] <= np.quantile(value[m:], 0.95)
    return result
