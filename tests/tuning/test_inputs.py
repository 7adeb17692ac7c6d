"""`tune` reads labels as the estimators do, and says which name it wants for an estimator."""

import numpy as np
import pandas as pd
import pytest

from pucli import GLPUAL, tune
from pucli.core.errors import UsageError
from pucli.tuning import TuningInterrupted

GRID = {"lam": [0.1, 10.0]}
X = np.vstack([np.random.default_rng(0).normal(1, 1, (40, 2)), np.random.default_rng(1).normal(-1, 1, (80, 2))])
S = np.arange(120) < 25


@pytest.mark.parametrize(
    ("yes", "no", "params"),
    [("yes", "unlabeled", {}), (2, 1, {}), (1, -1, {}), (True, False, {}), ("a", "b", {"pos_label": "a"})],
)
@pytest.mark.slow
def test_labels_of_any_form_give_the_choice_of_one_and_zero(yes, no, params):
    plain, other = (tune("glpual", X, s, grid=GRID) for s in (S.astype(int), np.where(S, 1, 0)))
    labels = pd.Series([yes if s else no for s in S])
    found = tune("glpual", pd.DataFrame(X), labels, grid=GRID, params=params)
    assert found.score == plain.score == other.score
    assert found.params == {**params, **plain.params}
    assert GLPUAL(**found.params).fit(X, labels).classes_[1] == yes


def test_an_estimator_is_refused_with_the_name_to_give():
    with pytest.raises(UsageError, match=r"tune\('glpual', X, y\)"):
        tune(GLPUAL(), X, S)


@pytest.mark.parametrize("labels", [np.arange(120) % 3, np.full(120, "yes")])
def test_labels_that_are_not_two_are_refused(labels):
    with pytest.raises(UsageError, match="give two"):
        tune("glpual", X, labels, grid=GRID)


@pytest.mark.slow
@pytest.mark.parametrize(("n_jobs", "stop", "said"), [(1, 1, "1 of 2 points"), (2, 1, "but on 1 of 4 folds only")])
def test_an_interrupted_search_says_what_was_compared(n_jobs, stop, said):
    calls = []

    def interrupt(done, total):
        calls.append(done)
        if len(calls) == stop:
            raise KeyboardInterrupt

    with pytest.raises(TuningInterrupted) as caught:
        how = {"rule": "f1", "cv_repeats": 1, "n_jobs": n_jobs}
        tune("svc-naive", X, S, grid={"C": [0.1, 1.0]}, progress=interrupt, **how)
    result = caught.value.so_far
    assert said in result.done
    assert np.isnan(result.score_se) == np.isnan(result.trials[0]["score_se"]) == (n_jobs == 2)


@pytest.mark.slow
def test_an_interruption_in_a_later_stage_chooses_among_its_points(monkeypatch):
    monkeypatch.setattr("pucli.tuning.stages.WHOLE_LINEAR_ROWS", 50)
    monkeypatch.setattr("pucli.tuning.stages.SAMPLE_ROWS", (60,))
    monkeypatch.setattr("pucli.tuning.stages.FINALISTS", 2)
    grid, seen = {"C": [1e-9, 1e-8, 0.1, 1.0, 10.0]}, []

    def interrupt(done, total):
        seen.append((done, total))
        if done == total - 1:  # in the last stage
            raise KeyboardInterrupt

    with pytest.raises(TuningInterrupted) as caught:
        tune("svc-naive", X, S, params={"kernel": "rbf"}, grid=grid, route="stages", progress=interrupt)
    result = caught.value.so_far
    kept = [trial["params"]["C"] for trial in result.trials if trial["stage"] == "grid"]
    screened = [trial["params"]["C"] for trial in result.trials if trial["stage"] == "screen"]
    assert result.params["C"] in kept and 1e-9 in screened and not set(kept) & set(screened)
    assert "1 of 2 points" in result.done
