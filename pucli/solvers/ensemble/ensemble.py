"""The ensemble: the mean of its members' standardized scores, weighted where there are enough labeled rows.

With tens of labeled rows no held-out criterion is precise enough to weight the members by: the best member alone,
softmax weights and the best k members were no better than the plain mean. With hundreds it is. The criterion is
the AUC of held-out labeled rows against likely negatives, the unlabeled rows that the consensus ranks lowest. The AUC
against all unlabeled rows would add the order among positives, which is chance but differs from member to member. The
weights are chosen greedily with replacement (Caruana, Niculescu-Mizil, Crew, Ksikes 2004).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from pucli.core.saved_state import ANY_PORTION, Each, Nested, Plain, Scalar, State, TextValue
from pucli.core.seeding import stream
from pucli.metrics.ranking import auc, pu_auc
from pucli.solvers.ensemble.boosting.categories import Categories
from pucli.solvers.ensemble.members import SMALL, Member, MemberRows, Model, Views
from pucli.solvers.prior.best_bin import best_bin

# Up to `FEW` labeled rows the members have equal weights, from `MANY` on chosen ones, and mixed ones in between. Small
# tables have members that are nearly equally good, and more rows are needed to tell them apart.
FEW, MANY, FEW_OF_SMALL, MANY_OF_SMALL = 50, 300, 300, 1000
# Members added one after the other, the most unlabeled rows that they are compared on, and the number of times that the
# likely negatives are found with the weights of the time before.
STEPS, MOST_COMPARED, PASSES = 20, 10_000, 2
# The least standard error of a PU-AUC by which members are weighted.
LEAST_ERROR = 0.01

Result = TypeVar("Result")


@dataclass
class FittedMember:
    """A fitted member of the ensemble."""

    name: str
    view: str  # of the features that it takes: "raw", "ranks" or "bins"
    model: Any
    parameters: dict[str, Any]  # chosen ones
    pu_auc: float  # PU-AUC of its held-out scores
    # standardize its scores on the population. In a weighted ensemble the weight is a factor of the scale
    center: float
    scale: float
    saved_state: ClassVar[State] = {
        "name": TextValue(),
        "view": TextValue("raw", "ranks", "bins"),
        "model": Nested(),
        "parameters": Plain(),
        "pu_auc": ANY_PORTION,
        "center": Scalar(),
        "scale": Scalar(0.0),
    }

    def standardized(self, scores: np.ndarray) -> np.ndarray:
        """Return scores with mean zero and variance one on the population; zeros if all scores are equal."""
        return (scores - self.center) * self.scale


@dataclass
class Ensemble:
    """Fitted members and the views of the features that they use."""

    views: Views
    members: list[FittedMember] = field(default_factory=list)
    saved_state: ClassVar[State] = {
        "views": Nested("Views"),
        "members": Each(Nested("FittedMember"), 1),
    }

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the mean standardized score of each row of X (n, m), shape (n,)."""
        views = self.views.of(X)
        total = np.zeros(len(X))
        for member in self.members:
            total += member.standardized(member.model.score(views[member.view]))
        return total / len(self.members)

    def weighted(self, weights: np.ndarray | None) -> Ensemble:
        """Return the ensemble whose score is the mean with weights (members,), without members of weight zero."""
        if weights is None:
            return self
        kept = np.flatnonzero(weights)
        members = [self.members[k] for k in kept]
        scales = [member.scale * float(weights[k]) * len(kept) for k, member in zip(kept, members, strict=True)]
        return Ensemble(self.views, [replace(m, scale=scale) for m, scale in zip(members, scales, strict=True)])


def chosen_weights(scores: np.ndarray, labeled: np.ndarray) -> np.ndarray | None:
    """Return the weights (members,) of the members, with the sum one, from their held-out scores.

    None means equal weights, as with few labeled rows.
    """
    members, count = len(scores), int(np.count_nonzero(labeled))
    few, many = (FEW_OF_SMALL, MANY_OF_SMALL) if len(labeled) <= SMALL else (FEW, MANY)
    if count <= few or members == 1:
        return None
    positive, rest = scores[:, labeled], scores[:, ~labeled]
    rest = rest[:, np.linspace(0, rest.shape[1] - 1, min(rest.shape[1], MOST_COMPARED)).astype(int)]
    weights = equal = np.full(members, 1.0 / members)
    for _ in range(PASSES):
        prior = best_bin(weights @ positive, weights @ rest)
        lowest = np.argsort(weights @ rest, kind="stable")[: max(1, round((1.0 - prior) * rest.shape[1]))]
        weights = _greedy(positive, rest[:, lowest])
    trust = min(1.0, (count - few) / (many - few))
    return trust * weights + (1.0 - trust) * equal


def weights_by_evidence(scores: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """Return weights (members,) that fall with the distance to the best PU-AUC, in standard errors of the latter.

    Members within noise of the best have nearly its weight; in a wide table, some may have no better than chance.
    """
    areas = np.array([pu_auc(one, labeled) for one in scores])
    best = float(areas.max())
    error = max(np.sqrt(best * (1.0 - best) / np.count_nonzero(labeled)), LEAST_ERROR)
    weights = np.exp(-0.25 * ((best - areas) / error) ** 2)  # the difference of two areas has twice the variance
    found: np.ndarray = weights / weights.sum()
    return found


def _greedy(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """Return the weights (members,) of the best sum of up to `STEPS` members, which may be taken several times.

    positive, negative : scores (members, p) and (members, n).
    """
    taken, best, weights = np.zeros(len(positive)), -1.0, np.zeros(len(positive))
    for step in range(1, STEPS + 1):
        one_more = [taken + one for one in np.eye(len(taken))]
        found = [float(auc(more @ positive, more @ negative)) for more in one_more]
        taken = one_more[int(np.argmax(found))]
        if max(found) > best:
            best, weights = max(found), taken / step
    return weights


def fit_members(  # noqa: PLR0913
    members: Sequence[Member],
    views: Views,
    X: np.ndarray,
    labeled: np.ndarray,
    population: np.ndarray,
    folds: np.ndarray,
    seed: int,
    n_jobs: int | None,
    callback: Callable[[str, int, int], None] | None = None,
    categories: Categories | None = None,
) -> tuple[Ensemble, np.ndarray]:
    """Fit the members, each from its own random stream, and return the ensemble and the held-out scores."""
    seen = views.of(X)

    def one(member: Member) -> tuple[FittedMember, np.ndarray]:
        rows = MemberRows(seen[member.view], labeled, folds, categories)
        model, held_out, parameters = member.fit(rows, stream(seed, "auto", member.name))
        return standardized_member(member, model, parameters, held_out, labeled, population)

    def tell(result: tuple[FittedMember, np.ndarray], done: int) -> None:
        if callback is not None:
            callback(result[0].name, done, len(members))

    found = last_first(one, [(member,) for member in members], n_jobs, tell)
    return Ensemble(views, [fitted for fitted, _ in found]), np.stack([held_out for _, held_out in found])


def last_first(
    function: Callable[..., Result],
    work: Sequence[tuple[Any, ...]],
    n_jobs: int | None,
    tell: Callable[[Result, int], None] | None = None,
) -> list[Result]:
    """Return `function(*item)` for each item, in order, computed in threads that begin with the last items.

    Trees take longer than ridges, and a long item at the end would leave threads idle.
    """
    from joblib import Parallel, delayed

    found: list[Result] = []
    threads = Parallel(n_jobs=n_jobs, backend="threading", return_as="generator")
    for result in threads(delayed(function)(*item) for item in reversed(work)):
        found.append(result)
        if tell is not None:
            tell(result, len(found))
    return found[::-1]


def standardized_member(
    member: Member,
    model: Model,
    parameters: dict[str, Any],
    held_out: np.ndarray,
    labeled: np.ndarray,
    population: np.ndarray,
) -> tuple[FittedMember, np.ndarray]:
    """Return the fitted member and its held-out scores, standardized on the population."""
    center, deviation = float(held_out[population].mean()), float(held_out[population].std())
    scale = 1.0 / deviation if deviation > 1e-12 * max(1.0, abs(center)) else 0.0
    fitted = FittedMember(member.name, member.view, model, parameters, pu_auc(held_out, labeled), center, scale)
    return fitted, fitted.standardized(held_out)
