"""Class-prior estimators on mixtures of known prior, their interval, and the hull distance under KM2."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pucli.estimators.base.class_prior import resolve_prior
from pucli.solvers.prior import best_bin, estimate
from pucli.solvers.prior.density_ratio import density_ratio
from pucli.solvers.prior.estimate import LARGEST_SAMPLE, PRIOR_METHODS, _sample, estimate_prior, estimate_priors
from pucli.solvers.prior.km2 import _hull_distance, _nearest_in_hull
from tests.helpers import by_night, examples
from tests.oracles import clarabel


def mixture(seed, prior, n_u=400, n_p=100, distance=4.0, m=2):
    """Unlabeled rows with a share `prior` of positives, and labeled positives; groups overlap little at distance 4."""
    rng = np.random.default_rng(seed)
    center = np.zeros(m)
    center[:2] = distance / np.sqrt(2)
    positives = round(prior * n_u)
    X = rng.normal(size=(n_p + n_u, m))
    X[: n_p + positives] += center
    return X, np.arange(n_p + n_u) < n_p


@pytest.mark.slow
@pytest.mark.parametrize("method", PRIOR_METHODS)
@pytest.mark.parametrize("prior", [0.1, 0.3, 0.5, 0.8])
def test_estimates_are_near_the_known_prior(method, prior):
    found = [estimate_prior(*mixture(seed, prior), method, random_state=0).prior for seed in range(3)]
    near = {"bbe": 0.04 if prior < 0.6 else 0.1, "half-bbe": 0.1 if prior < 0.6 else 0.25, "km2": 0.05, "tice": 0.12}
    assert abs(np.mean(found) - prior) < near[method]


@pytest.mark.parametrize("prior", [0.1, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("distance", [3.5, 5.0])
def test_the_density_ratio_of_scores_is_near_the_known_prior(prior, distance):
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        population = rng.normal(size=800) + distance * (np.arange(800) < 800 * prior)
        found.append(density_ratio(rng.normal(distance, 1, 300), population))
    assert abs(np.mean(found) - prior) < 0.07


def test_the_density_ratio_depends_on_the_order_of_scores_alone():
    rng = np.random.default_rng(0)
    positive, population = rng.normal(3, 1, 60), np.r_[rng.normal(size=150), rng.normal(3, 1, 50)]
    plain = density_ratio(positive, population)
    assert density_ratio(np.exp(positive), np.exp(population)) == plain
    assert density_ratio(positive[::-1], rng.permutation(population)) == plain


def test_the_density_ratio_of_equal_samples_is_one_and_of_other_values_is_small():
    rng = np.random.default_rng(0)
    assert density_ratio(rng.normal(size=500), rng.normal(size=500)) > 0.8
    assert density_ratio(rng.normal(9, 1, 500), rng.normal(size=500)) < 0.05
    assert density_ratio(np.zeros(5), np.zeros(9)) == 1.0  # no score tells the two kinds apart


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.6, 0.8])
def test_intervals_of_best_bins_contain_large_priors(prior):
    found = [estimate_prior(*mixture(seed, prior), "bbe", replicates=1, random_state=0) for seed in range(4)]
    assert sum(e.low <= prior <= e.high for e in found) >= 3


@pytest.mark.parametrize("method", PRIOR_METHODS)
@pytest.mark.slow
def test_estimates_ignore_the_units_of_the_features(method):
    X, labeled = mixture(0, 0.3)
    plain = estimate_prior(X, labeled, method, random_state=0).prior
    scaled = estimate_prior(X * [1e-3, 1e4] + 5, labeled, method, random_state=0).prior
    assert np.isclose(plain, scaled, atol=1e-6)


def test_an_estimate_does_not_depend_on_the_methods_after_it():
    X, labeled = mixture(5, 0.3, n_u=80, n_p=30)
    report = estimate_priors(X, labeled, replicates=4, random_state=0)
    assert [estimate.method for estimate in report.estimates] == list(PRIOR_METHODS)
    assert report.estimates[0] == estimate_prior(X, labeled, "bbe", replicates=4, random_state=0)
    values = [estimate.prior for estimate in report.estimates]
    assert report.disagreement == max(values) - min(values)
    assert report == estimate_priors(X, labeled, replicates=4, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize("distance", by_night([1.0, 2.0, 4.0], by_day=[2.0]))
@pytest.mark.parametrize("prior", [0.114, 0.4])
def test_intervals_contain_the_prior_if_the_groups_overlap(prior, distance):
    found = []
    for seed in range(4):
        X, labeled = mixture(seed, prior, n_u=500, n_p=60, distance=distance, m=5)
        found += estimate_priors(X, labeled, replicates=8, random_state=0).estimates
    assert all(0 <= e.low <= e.prior <= e.high <= 1 for e in found)
    assert sum(e.low <= prior <= e.high for e in found) >= 15  # of 16


@pytest.mark.slow
def test_only_separated_groups_give_a_reliable_estimate():
    far = estimate_priors(*mixture(0, 0.2, n_p=150), replicates=6, random_state=0)
    near = estimate_priors(*mixture(0, 0.2, n_p=150, distance=1.0), replicates=6, random_state=0)
    assert far.separation > 0.97 and near.separation < 0.9
    assert far.reliable and not near.reliable
    assert abs(far.estimates[0].prior - 0.2) < 0.06
    assert not estimate_priors(*mixture(0, 0.2), replicates=0, random_state=0).reliable


@pytest.mark.parametrize("groups", [None, np.arange(60) // 2])
@pytest.mark.parametrize("ridge", [0.1, 1.0])
def test_held_out_scores_are_those_of_models_fitted_without_the_fold(monkeypatch, ridge, groups):
    """Against refitting: weighted kernel ridge regression on the other folds, by its definition."""
    monkeypatch.setattr(best_bin, "WIDTHS", (0.7,))
    monkeypatch.setattr(best_bin, "RIDGES", (ridge,))
    X, labeled = mixture(1, 0.4, n_u=40, n_p=20, distance=2.0)
    scores = best_bin.held_out_scores(X, labeled, np.random.default_rng(3), groups)
    home = best_bin._folds(labeled, np.random.default_rng(3), groups)
    if groups is not None:
        assert (home[::2] == home[1::2]).all()
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    K = np.exp(-D / (2 * 0.7**2 * np.median(D[D > 0])))
    y, R = np.where(labeled, 1.0, -1.0), ridge * np.where(labeled, 20, 40) * 2.0 / 60
    assert set(home) == set(range(best_bin.FOLDS))
    for rows in (np.flatnonzero(home == fold) for fold in range(best_bin.FOLDS)):
        rest = np.setdiff1d(np.arange(60), rows)
        weights = np.linalg.solve(K[np.ix_(rest, rest)] + np.diag(R[rest]), y[rest])
        np.testing.assert_allclose(scores[rows], K[np.ix_(rows, rest)] @ weights, atol=1e-6)


def test_best_bin_of_separated_groups_is_the_share_above():
    population = np.concatenate([np.full(300, 1.0), np.zeros(700)])
    assert best_bin.best_bin(np.ones(500), population) == pytest.approx(0.3)
    assert best_bin.best_bin(np.ones(500), np.ones(50)) == 1.0


@pytest.mark.parametrize(("n_p", "n_u"), [(40, 300), (300, 40)])
@pytest.mark.parametrize("factor", [best_bin.HALF, best_bin.PUBLISHED])
def test_best_bin_is_the_least_bound_over_thresholds(n_p, n_u, factor):
    """Eq. 4 of Garg et al. (2021), with half or all of the confidence term, by brute force."""
    rng = np.random.default_rng(n_p)
    positive, population = rng.normal(1, 1, n_p), np.r_[rng.normal(1, 1, n_u // 4), rng.normal(-1, 1, 3 * n_u // 4)]
    term = factor * 1.01 * (np.sqrt(np.log(40.0) / (2 * n_p)) + np.sqrt(np.log(40.0) / (2 * n_u)))
    shares = [(np.mean(positive >= t), np.mean(population >= t)) for t in np.r_[positive, population]]
    q_p, q_u = min((both for both in shares if both[0] > 0), key=lambda both: (both[1] + term) / both[0])
    assert best_bin.best_bin(positive, population, factor=factor) == pytest.approx(min(1.0, q_u / q_p))


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.9])
def test_the_published_estimate_of_separated_classes_keeps_the_bound_of_its_confidence_term(prior):
    """Theorem 1 of Garg et al. (2021) at error probability 0.1; half of the term gives estimates that are lower."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        population = rng.normal(size=800) + 8 * (rng.random(800) < prior)
        positive = rng.normal(8, 1, 300)
        factors = best_bin.PUBLISHED, best_bin.HALF
        found.append([best_bin.best_bin(positive, population, factor=one) - prior for one in factors])
    term = 1.01 * (np.sqrt(np.log(40.0) / 600) + np.sqrt(np.log(40.0) / 1600))
    published, half = np.array(found).T
    assert np.mean(np.abs(published) <= term) >= 0.9 and abs(published.mean()) < 0.04 and (half <= published).all()


def test_the_interval_adds_the_overlap_of_the_classes_to_its_lower_end():
    z, (overlap, lasting) = 1.6448536269514722, estimate.UNSEEN["bbe"]
    apart, near = (estimate.Scored(np.full(9, 0.4), 0.4, ranking) for ranking in (1.0, 0.7))
    error = z * np.sqrt(0.01 + lasting**2)
    low, high = estimate.interval("bbe", 0.4, 0.45, 0.01, apart, 0.9)
    assert (low, high) == (pytest.approx(max(0.4 - error, 0.0)), pytest.approx(0.45 + error))
    # the overlap is that of the prior at the lower end of the first pass
    at = 0.4
    for _ in range(2):
        unseen = overlap * (1.0 - near.separation(at))
        expected = max(0.4 - z * np.sqrt(0.01 + lasting**2 + unseen**2), 0.0)
        at = min(expected, at)
    assert estimate.interval("bbe", 0.4, 0.45, 0.01, near, 0.9) == (
        pytest.approx(expected),
        pytest.approx(0.45 + error),
    )
    assert expected < low


def test_a_prior_far_outside_the_interval_is_contradicted(monkeypatch):
    found = estimate.PriorEstimate(0.4, 0.3, 0.5, 0.99, "bbe", 1)
    monkeypatch.setattr(estimate, "estimate_prior", lambda *given, **options: found)
    said = [estimate.contradicted(prior, None, None) for prior in (0.19, 0.21, 0.59, 0.61)]
    assert said == [found, None, None, found]


def test_bootstrap_samples_of_both_kinds_are_drawn(monkeypatch):
    monkeypatch.setattr(estimate, "_estimate", lambda *rows: len(np.unique(rows[0])) + 1000 * len(np.unique(rows[1])))
    rows = np.arange(100.0)[:, None]
    for count in estimate._replicates(rows, rows, "tice", 5, np.random.default_rng(0)):
        assert count % 1000 < 80 and count // 1000 < 80  # some rows occur more than once


def test_large_samples_are_thinned():
    X, labeled = mixture(2, 0.3, n_u=3000, n_p=1000)
    kinds = _sample(X, labeled, np.random.default_rng(0))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for found, all_rows in zip(kinds[:2], (Z[labeled], Z[~labeled]), strict=True):
        assert len(found) == LARGEST_SAMPLE
        assert len({tuple(row) for row in found.round(9)} & {tuple(row) for row in all_rows.round(9)}) == LARGEST_SAMPLE
    np.testing.assert_array_equal(np.vstack(kinds[:2]), Z[kinds[2]])


@given(seed=st.integers(0, 1000), n=st.integers(3, 12))
@examples(15)
def test_nearest_point_in_the_hull_is_clarabels(seed, n):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, 4))
    K = B @ B.T + 1e-6 * np.eye(n)
    target = rng.normal(size=n)
    v = np.full(n, 1.0 / n)
    value, gap = _nearest_in_hull(K, target, v, 1e-9, 100_000)
    assert np.isclose(v.sum(), 1.0) and v.min() >= 0
    w = cp.Variable(n, nonneg=True)
    best = clarabel(cp.quad_form(w - target, cp.psd_wrap(K)), [cp.sum(w) == 1], accuracy=None)
    assert abs(value - best) <= gap + 1e-6 * max(1.0, best)


def test_slope_of_the_hull_distance_is_its_derivative():
    X, labeled = mixture(3, 0.4, n_u=60, n_p=30)
    order = np.argsort(labeled, kind="stable")
    D = np.sum((X[order][:, None] - X[order]) ** 2, axis=2)
    K = np.exp(-D / 8)
    start = np.full(90, 1 / 90)
    at = [_hull_distance(K, 60, x, start, tol=1e-12) for x in (2.0, 2.0 + 1e-4, 2.0 - 1e-4)]
    assert np.isclose((at[1].distance - at[2].distance) / 2e-4, at[0].slope, rtol=1e-2)
    # from 2 mean(unlabeled) - mean(labeled) to the nearest point of the hull
    apart = at[0].weights - np.repeat([2 / 60, -1 / 30], [60, 30])
    assert at[0].distance == pytest.approx(np.sqrt(apart @ K @ apart))


def test_a_given_prior_is_used_unchanged():
    X, labeled = mixture(4, 0.3, n_u=50, n_p=20)
    assert resolve_prior(0.123, X, labeled, 0, "bbe") == 0.123
    for estimator in ("bbe", "km2"):
        assert 0.01 <= resolve_prior(None, X, labeled, 0, estimator) <= 0.99


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "guess"}, "there are bbe, half-bbe, km2, tice"),
        ({"replicates": -1}, "replicates must not be negative"),
        ({"confidence": 1.0}, "confidence must lie"),
    ],
)
def test_errors_for_bad_arguments_name_valid_ones(arguments, message):
    with pytest.raises(ValueError, match=message):
        estimate_prior(*mixture(0, 0.3, n_u=30, n_p=10), **arguments)


def test_both_kinds_of_rows_are_needed():
    with pytest.raises(ValueError, match="one kind is missing"):
        estimate_prior(np.zeros((5, 2)), np.zeros(5, bool))
