"""Class prior, threshold, probabilities and estimates, as they follow from held-out scores."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pucli.core.arrays import Floats
from pucli.core.errors import UsageError, warn_user
from pucli.core.seeding import stream
from pucli.estimators.base.pu import PUClassifier
from pucli.metrics.ranking import auc, chance_limit, true_auc
from pucli.solvers.ensemble.calibration import make_calibration
from pucli.solvers.ensemble.class_prior import OutOfFoldScores, class_priors
from pucli.solvers.ensemble.estimates import Estimate, FirstRows
from pucli.solvers.ensemble.hidden_share import PriorWithDraws
from pucli.solvers.ensemble.joint import GainsCurve, JointEstimate, joint_estimate
from pucli.solvers.ensemble.sar import (
    ODDS_RATIO,
    positive_scores,
    probabilities_if_biased,
    rare_or_biased,
    relative_propensities,
)
from pucli.solvers.ensemble.threshold import Threshold, expected_f1, recall_curve, threshold_for, threshold_for_rare
from pucli.solvers.prior.binormal import Binormal, binormal
from pucli.solvers.prior.known_negatives import FEWEST


class PUDecision(PUClassifier):
    """Base of `AutoPU`: all that follows from held-out scores of labeled rows and of the population."""

    scenario: str
    labeling: str
    goal: str
    wanted: float | None
    negatives: str
    leaderboard_: list[dict[str, Any]]
    n_negative_: int
    held_out_: Floats
    propensity_: Floats

    def _ranking(self) -> tuple[float, float]:
        """Return the PU-AUC on held-out rows, and the largest value that may be chance."""
        (ranking,) = [line["pu_auc"] for line in self.leaderboard_ if line["name"] == "ensemble"]
        labeled, unlabeled = len(self._positive), len(self._population)
        return ranking, chance_limit(labeled, unlabeled if self.scenario == "case-control" else unlabeled - labeled)

    @property
    def labeling_(self) -> str:
        """The labeling that threshold and estimates assume: "sar" if it was given or the rows show it."""
        return "sar" if self.labeling == "sar" or vars(self).get("_biased", 0) else "scar"

    @property
    def odds_ratio_(self) -> float:
        """The factor by which the odds of being labeled may differ between positives, as the recall's interval allows.

        It is `ODDS_RATIO` if clear positives were labeled first, otherwise 1.
        """
        return ODDS_RATIO if self.labeling_ == "sar" else 1.0

    @property
    def _calibrates(self) -> bool:
        """Whether known negatives give the class prior."""
        return self.negatives == "random" and self.labeling == "scar" and getattr(self, "n_negative_", 0) >= FEWEST

    @property
    def _given(self) -> bool:
        """Whether the class prior was given (`with_prior`): draws of an estimate differ."""
        return float(np.ptp(self.prior_estimate_.draws)) == 0.0

    @property
    def ranks_(self) -> bool:
        """Whether held-out labeled rows rank above held-out unlabeled rows by more than chance."""
        ranking, limit = self._ranking()
        return ranking > limit

    @property
    def rare_(self) -> bool:
        """Whether positives are rare, so that the law of the scores tells what the first rows hold."""
        return self._rare() is not None

    def _conclude(self, held: OutOfFoldScores, **known: Any) -> None:
        """Set the prior, the threshold, the probabilities and the estimates; `known` is as in `class_priors`."""
        self._positive, self._population, self._seed = held.positive, held.population, held.seed
        self._follow(*class_priors(held, random=self.labeling_ == "scar", **known))

    def _conclude_if_biased(self, held: OutOfFoldScores, population: Floats) -> None:
        """Conclude again, with as many scores of positives as they would be if labeled at random."""
        if_random = self.calibration_.of(population)
        positive = positive_scores(population, probabilities_if_biased(if_random), len(held.positive))
        self._conclude(held._replace(positive=positive), if_random=if_random)

    def _follow(self, prior: PriorWithDraws, of_threshold: PriorWithDraws) -> None:
        """Set what follows from the class prior, and from the one that the threshold for F1 takes."""
        positive, population, seed = self._positive, self._population, self._seed
        self.prior_estimate_, self._prior_of_threshold = prior, of_threshold.value
        self._f1 = expected_f1(positive, population, of_threshold.draws, stream(seed, "expected F1"))
        self.calibration_ = make_calibration(positive, population, prior.value, stream(seed, "calibration"))
        self._curve = recall_curve(self.calibration_.of(population))
        self._cut_for(self.goal, self.wanted)

    def _cut_for(self, goal: str, wanted: float | None) -> None:
        """Set the threshold and its estimates.

        The threshold for F1 is at the prior before the overlap is taken off: a share that is too small costs more F1
        than one that is as much too large. Where positives are rare it is that of the binormal law.
        """
        joint, even, law = self.joint, self.calibration_.even(), self._rare()
        self.prior_ = joint.prior.value
        prior = self._prior_of_threshold if goal == "f1" else self.prior_
        ranking = float(true_auc(auc(self._positive, self._population), self.prior_estimate_.value))
        if goal == "f1" and law is not None:
            self.chosen_threshold_: Threshold = threshold_for_rare(law.share_for_f1(), self._population, even)
        else:
            self.chosen_threshold_ = threshold_for(
                goal, wanted, self._positive, self._population, prior, self._curve, self._f1, ranking, even
            )
        self.threshold_ = self.chosen_threshold_.value
        self.estimates_: dict[str, Estimate] = joint.at(self.threshold_)
        for name in ("recall", "new_recall"):
            self.estimates_[name] = self.estimates_[name].with_odds_ratio(self.odds_ratio_)
        self.prior_interval_ = (joint.prior.low, joint.prior.high)

    @property
    def joint(self) -> JointEstimate:
        """The class prior and the gains curve as one estimate, from which all others follow."""
        return joint_estimate(
            self._positive,
            self._population,
            self.prior_estimate_,
            self._curve,
            whole=self.scenario != "case-control",
            random=self.labeling_ == "scar",
            known_prior=self._calibrates or self._given,
            law=self._rare(),
        )

    def _rare(self) -> Binormal | None:
        """Return the law of the scores if positives are rare and labeled at random."""
        law = binormal(self._positive, self._population, self.prior_estimate_.labeled)
        rare = self.labeling_ == "scar" and law.rare and not rare_or_biased(law)
        return law if rare and not self._given else None

    def among_first(self, counts: Sequence[int]) -> list[FirstRows]:
        """Return what the first rows of the population by score hold.

        Parameters
        ----------
        counts : sequence of int
            Numbers of rows. Those above the population's are left out.

        Returns
        -------
        list of FirstRows
            One for each number.
        """
        check_is_fitted(self)
        joint, rows = self.joint, len(self._population)
        return [joint.first(k) for k in counts if 1 <= k <= rows]

    def gains(self, shares: Sequence[float]) -> GainsCurve:
        """Return the share of the positives among the first rows of the population by score.

        Parameters
        ----------
        shares : sequence of float
            Shares of the rows, between 0 and 1, in ascending order.

        Returns
        -------
        GainsCurve
            The share of the positives at each share of the rows, with a band that holds at all of them at once.
        """
        check_is_fitted(self)
        return self.joint.gains(np.asarray(shares, dtype=np.float64))

    def with_threshold(self, goal: str, wanted: float | None = None) -> Self:
        """Return the same fitted classifier with another threshold, without training again.

        Parameters
        ----------
        goal : str
            As in the constructor.
        wanted : float, default=None
            As in the constructor.

        Returns
        -------
        Self
            A copy that shares the ensemble. Its leaderboard stays that of training.

        Raises
        ------
        UsageError
            If the goal is unknown, or its value is missing, out of range, or cannot be reached.
        """
        check_is_fitted(self)
        moved = self._copied()
        moved.goal, moved.wanted = goal, wanted
        moved._cut_for(goal, wanted)
        return moved

    def with_prior(self, prior: float) -> Self:
        """Return the same fitted classifier with a known class prior: it moves threshold, probabilities, estimates.

        Scores, and so the order of rows, stay. The leaderboard stays as it was estimated in training.

        Parameters
        ----------
        prior : float
            Share of positives in the population.

        Returns
        -------
        Self
            A copy that shares the ensemble.

        Raises
        ------
        UsageError
            If the prior is not between 0 and 1, is below the share of labeled rows, or the labeling is "sar".
        """
        check_is_fitted(self)
        labeled = self.prior_estimate_.labeled
        if not labeled <= prior < 1.0 or prior <= 0.0:
            raise UsageError(f"prior {prior:.4g}: must be below 1 and at least {labeled:.3g}, the labeled share.")
        if self.labeling == "sar":
            raise UsageError("a given class prior needs labels at random (labeling scar).")
        moved = self._copied()
        known = self.prior_estimate_.at(float(prior), 0.0)
        moved._follow(known, known)
        if moved.labeling_ == "sar":
            moved.propensity_ = relative_propensities(moved.calibration_.of(moved.held_out_))
        moved._warn_of_contradiction()
        return moved

    def _copied(self) -> Self:
        """Return a copy that shares the ensemble and the scores, and nothing that a caller would change."""
        moved = copy.copy(self)
        moved.leaderboard_ = copy.deepcopy(self.leaderboard_)
        return moved

    def _warn_of_contradiction(self) -> None:
        """Warn if the gains curve excludes the class prior."""
        joint = self.joint
        if joint.contradicted:
            warn_user(
                f"the first rows hold more of the labeled rows than a class prior of {joint.bound:.2g} or more allows: "
                "the labels may not be random. How were these rows chosen?"
            )

    def probability_of(self, scores: Floats) -> Floats:
        """Return the calibrated probability of a positive at each score (n,) of `score_rows`, shape (n,).

        It is never zero: below the lowest labeled row it is at least the expected probability there, or that of the
        lowest labeled row, if less.
        """
        check_is_fitted(self)
        result: Floats = np.maximum(self.calibration_.of(scores), self._least())
        return result

    def _least(self) -> float:
        return self.calibration_.least(self._positive, self._population, self.prior_)

    def probability_range(self, probabilities: np.ndarray) -> tuple[Floats, Floats]:
        """Return the probabilities of a positive with the class prior at each end of its interval.

        Parameters
        ----------
        probabilities : ndarray of shape (n,)
            The second column of `predict_proba`.

        Returns
        -------
        low, high : ndarray of shape (n,)
            Ends of the probabilities. They are far apart if the rows do not determine the prior; then only the order of
            the rows is known. `high` is never zero: positives may have scores that no labeled row has.
        """
        check_is_fitted(self)
        p, (first, *ends) = np.asarray(probabilities, dtype=np.float64), self.joint.in_groups()
        of_rows = self.probability_of(self._population[::-1])
        means = np.add.reduceat(of_rows, first[:-1]) / np.diff(first)
        low, high = (np.interp(p, means[::-1], np.maximum.accumulate(end[::-1])) for end in ends)
        return np.minimum(low, p), np.maximum(high, p)
