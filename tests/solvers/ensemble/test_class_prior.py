"""Estimates of the prior on the ensemble's held-out scores, and the default of methods that need a prior."""

from __future__ import annotations

import numpy as np
import pytest

from pucli import AutoPU
from pucli.core.errors import EstimatedPriorWarning
from pucli.estimators import UPU
from pucli.solvers.ensemble import class_prior as shares
from pucli.solvers.ensemble.class_prior import ALL_METHODS, ENSEMBLE_METHODS, estimate_priors, hidden_share_of
from pucli.solvers.prior.estimate import estimate_prior
from tests.helpers import by_night
from tests.solvers.ensemble.helpers import two_clouds


@pytest.mark.slow
@pytest.mark.parametrize("prior", by_night([0.15, 0.35, 0.55], by_day=[0.35]))
def test_estimates_are_near_the_known_prior(prior: float) -> None:
    errors = []
    for seed in range(3):
        X, s, truth = two_clouds(400, prior=prior, labeled=80, apart=4.5, seed=seed)
        report = estimate_priors(X, s, ENSEMBLE_METHODS, random_state=seed)
        errors.append([one.prior - truth[~s].mean() for one in report.estimates])
        assert all(one.low <= one.prior <= one.high for one in report.estimates)
    assert np.all(np.abs(np.mean(errors, axis=0)) < [0.05, 0.08, 0.08])


@pytest.mark.slow
def test_the_estimate_called_auto_is_that_of_the_automatic_classifier() -> None:
    X, s, _ = two_clouds(200, labeled=40)
    model = AutoPU(random_state=5).fit(X, s)
    found = estimate_priors(X, s, ("auto",), confidence=0.9, random_state=5).estimates[0]
    assert found.prior == pytest.approx(model.prior_, abs=1e-12)
    assert (found.low, found.high) == pytest.approx(model.prior_interval_, abs=1e-9)
    wider = estimate_priors(X, s, ("auto",), confidence=0.99, random_state=5).estimates[0]
    assert wider.low < found.low and wider.high > found.high


@pytest.mark.slow
def test_all_methods_are_in_the_wanted_order_and_independent_of_each_other() -> None:
    X, s, _ = two_clouds(120, labeled=40)
    calls: list[tuple[int, int]] = []
    names = ("tice", "density-ratio", "bbe")
    report = estimate_priors(X, s, names, replicates=2, progress=lambda *done: calls.append(done))
    assert [one.method for one in report.estimates] == list(names)
    assert calls == [(1, 3), (2, 3), (3, 3)]
    assert report.estimates[1] == estimate_priors(X, s, ALL_METHODS, replicates=2).estimates[2]
    assert report.estimates[2].prior == estimate_prior(X, s, "bbe", random_state=0).prior


def test_without_replicates_there_is_no_interval() -> None:
    X, s, _ = two_clouds(60, labeled=20)
    for one in estimate_priors(X, s, ENSEMBLE_METHODS, replicates=0).estimates:
        assert one.low == one.prior == one.high and one.replicates == 0


def test_with_one_labeled_row_the_default_is_the_estimate_of_best_bins_of_a_ridge() -> None:
    X, s, _ = two_clouds(40, labeled=1)
    assert hidden_share_of(X, s, 3).method == "half-bbe"
    with pytest.raises(ValueError, match="two labeled"):
        estimate_priors(X, s, ("auto",))


@pytest.mark.parametrize(("X", "message"), [(np.ones((9, 2)), "constant"), (np.eye(9), "one kind is missing")])
def test_rows_that_give_no_estimate_are_refused(X: np.ndarray, message: str) -> None:
    s = np.arange(9) < (4 if "constant" in message else 0)
    with pytest.raises(ValueError, match=message):
        estimate_priors(X, s, ("auto",))


@pytest.mark.parametrize(("names", "message"), [(("km1",), "unknown prior estimator"), (("auto",), "replicates")])
def test_wrong_settings_are_refused(names: tuple[str, ...], message: str) -> None:
    X, s, _ = two_clouds(40, labeled=20)
    with pytest.raises(ValueError, match=message):
        estimate_priors(X, s, names, replicates=-1 if message == "replicates" else 1)


def test_many_rows_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    X, s, _ = two_clouds(200, labeled=50)
    sizes = []
    fit = shares.first_fit
    monkeypatch.setattr(shares, "MOST_ROWS", 30)
    monkeypatch.setattr(
        shares, "first_fit", lambda X, s, *rest, **more: sizes.append((s.sum(), (~s).sum())) or fit(X, s, *rest, **more)
    )
    estimate_priors(X, s, ("auto",))
    assert sizes == [(30, 30)]


def test_wide_tables_get_fewer_rows_and_very_wide_ones_another_default(monkeypatch: pytest.MonkeyPatch) -> None:
    X, s, _ = two_clouds(60, labeled=30, features=3)
    sizes = []
    fit = shares.first_fit
    monkeypatch.setattr(shares, "MOST_CELLS", 120)
    monkeypatch.setattr(
        shares, "first_fit", lambda X, s, *rest, **more: sizes.append((s.sum(), (~s).sum())) or fit(X, s, *rest, **more)
    )
    assert hidden_share_of(X, s, 0).method == "auto"
    assert sizes == [(20, 20)]
    monkeypatch.setattr(shares, "MOST_FEATURES", 2)
    assert hidden_share_of(X, s, 0).method == "half-bbe"
    assert len(sizes) == 1


@pytest.mark.slow
def test_a_method_whose_prior_is_not_given_takes_the_estimate_called_auto() -> None:
    X, s, _ = two_clouds(80, labeled=30, apart=4.0)
    with pytest.warns(EstimatedPriorWarning, match=r"of estimator 'auto' of estimate_priors \("):
        model = UPU(loss="squared", random_state=1).fit(X, s)
    assert model.prior_ == hidden_share_of(X, s, 1).prior
