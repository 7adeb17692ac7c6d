"""Choice of a method of the GLPUAL family for a data set, after the flowchart of Wang 2024 (Figure 6.1).

The thesis checks by eye whether the positives form two parts on both sides of the negatives (t-SNE) and whether many
features contribute little (principal components), and asks whether the class prior is known. Here, the same three
questions are decided by measures that need no true labels. Irrelevant features decide first (E-GLPUAL, or EKF-GLPUAL
for two parts, whose boundary is not linear), then a known prior (CPB-GLPUAL), then the parts (GLPUAL for two parts,
otherwise GLLC).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import silhouette_score

from pucli.core.arrays import Bools, Floats, z_scores
from pucli.core.seeding import sample_of_each_kind

# Two parts are separate if their silhouette exceeds this, each has at least this share of the labeled rows, and the
# region between them has fewer labeled rows than the parts but does have unlabeled rows.
APART = 0.4
SMALLEST_PART = 0.1
BETWEEN = 0.3
# A feature is irrelevant if its importance for classifying labeled against unlabeled rows does not exceed that of
# nearly all shuffled copies of the features; "many" is this share of the features.
MANY = 0.4
TREES = 300
# Maximum number of rows of each kind: the cost of silhouettes is quadratic.
LARGEST_SAMPLE = 2000


@dataclass(frozen=True)
class Advice:
    """A method, and what decided."""

    trifurcated: bool  # whether the labeled rows form two parts with unlabeled rows between them
    silhouette: float  # silhouette of the two parts
    between: float  # excess of unlabeled over labeled rows between the parts, as a share of the unlabeled rows there
    irrelevant: list[str]  # names of irrelevant features
    method: str  # name of the method on the command line


def advise(
    X: Floats, labeled: Bools, prior: float | None = None, random_state: int = 0, names: Sequence[str] = ()
) -> Advice:
    """Recommend a method for a data set."""
    X, labeled = np.asarray(X, dtype=np.float64), np.asarray(labeled, dtype=bool)
    if not labeled.any() or labeled.all():
        raise ValueError("advice needs labeled positives and unlabeled rows; one kind is missing.")
    if not np.any(np.ptp(X, axis=0) > 0):
        raise ValueError("every feature is constant: the rows cannot be distinguished.")
    chosen = sample_of_each_kind(labeled, np.random.default_rng(random_state), LARGEST_SAMPLE)
    X, labeled = z_scores(X[chosen]), labeled[chosen]
    irrelevant = _irrelevant_features(X, labeled, random_state)
    many = irrelevant.mean() >= MANY
    # irrelevant features hide the parts, so only the other features are used
    seen = X if irrelevant.all() else X[:, ~irrelevant]
    silhouette, between = two_parts(seen[labeled], seen[~labeled], random_state)
    trifurcated = silhouette > APART and between > BETWEEN
    method = _choice(trifurcated, many, prior)
    named = [names[k] if names else str(k) for k in irrelevant.nonzero()[0].tolist()]
    return Advice(trifurcated, silhouette, between, named, method)


def _choice(trifurcated: bool, many: bool, prior: float | None) -> str:
    if many:
        return "ekf-glpual" if trifurcated else "e-glpual"
    if prior is not None:
        return "cpb-glpual"
    return "glpual" if trifurcated else "gllc"


def two_parts(positive: Floats, unlabeled: Floats, random_state: int) -> tuple[float, float]:
    """Split the labeled rows in two parts; return the silhouette and the excess of unlabeled rows between the parts.

    The region between the parts is the middle half of the line that joins their centers, within the median distance of
    the labeled rows from it. With fewer than ten labeled rows, or a part of less than a tenth, both values are 0.
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


def _irrelevant_features(X: Floats, labeled: Bools, random_state: int) -> Bools:
    """Return the mask (m,) of features no more important to a forest than the 95 % quantile of shuffled copies."""
    rng = np.random.default_rng(random_state)
    shadow = rng.permuted(X, axis=0)
    forest = ExtraTreesClassifier(
        TREES, min_samples_leaf=5, class_weight="balanced", random_state=random_state, max_features=0.5
    )
    value = forest.fit(np.hstack([X, shadow]), labeled).feature_importances_
    m = X.shape[1]
    result: Bools = value[:m] <= np.quantile(value[m:], 0.95)
    return result
