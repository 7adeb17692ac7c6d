"""What held-out scores and further knowledge of the rows say of the class prior."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pucli.core.arrays import Floats
from pucli.core.seeding import stream
from pucli.metrics.ranking import auc
from pucli.solvers.ensemble.hidden_share import PriorEstimate, estimate_prior, rare_prior
from pucli.solvers.ensemble.sar import rare_or_biased, widened
from pucli.solvers.prior.binormal import binormal
from pucli.solvers.prior.known_negatives import with_negatives
from pucli.solvers.prior.two_gaussians import GAUSSIAN_ERROR


class HeldOut(NamedTuple):
    """Scores of rows by models that were trained without them.

    Attributes
    ----------
    positive, population : ndarray of shape (p,) and (n,)
        Scores of labelled rows and of the population, in ascending order.
    labelled : float
        Share of the population that is labelled.
    seed : int
        Seed of bootstrap samples.
    grouped : ndarray of shape (trees, n) or None
        As in `estimate_prior`.
    """

    positive: Floats
    population: Floats
    labelled: float
    seed: int
    grouped: Floats | None = None

    @property
    def ranking(self) -> float:
        """The AUC of labelled rows against the population."""
        return float(auc(self.positive, self.population))


def class_priors(
    held: HeldOut,
    *,
    random: bool = True,
    if_random: Floats | None = None,
    gaussian: float | None = None,
    negative: Floats | None = None,
) -> tuple[PriorEstimate, PriorEstimate]:
    """Return the class prior, and the one that the threshold for F1 takes: before the overlap is taken off.

    Parameters
    ----------
    held : HeldOut
        Scores of the rows.
    random : bool, default=True
        Whether positives are taken for labelled at random. If clear ones were labelled first, the estimate is not too
        high.
    if_random : ndarray of shape (n,), optional
        Probabilities under random labelling, where it was not random.
    gaussian : float, optional
        Share of positives in the population if both classes are normal.
    negative : ndarray of shape (k,), optional
        Scores of known negatives that are a random sample of all.
    """
    positive, population = held.positive, held.population
    found = estimate_prior(positive, population, stream(held.seed, "prior"), held.grouped)
    if if_random is not None:
        found = widened(found, if_random, stream(held.seed, "labelling"))
    rare = None
    if random and not rare_or_biased(binormal(positive, population, held.labelled)):
        rare = rare_prior(positive, population, held.labelled)
    prior = of_cut = replace(rare or found, labelled=held.labelled)
    if random and rare is None:
        prior = prior.less_overlap(held.ranking)
        if gaussian is not None:
            prior = prior.at(gaussian, GAUSSIAN_ERROR)
    if negative is not None:
        spread = float(prior.draws.std())
        prior = prior.at(*with_negatives(prior.value, spread, positive, population, np.asarray(negative)))
    return prior, of_cut
