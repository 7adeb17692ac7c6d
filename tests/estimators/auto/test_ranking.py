"""What `AutoPU` says of the rows of fit, tables and labels as users have them, and copies with another threshold."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from pucli import AutoPU, TableEncoder
from pucli.solvers.ensemble.members import MEMBERS
from tests.solvers.ensemble.helpers import two_clouds

FEW = tuple(member for member in MEMBERS if member.name == "ridge-laplace")
X, S, TRUTH = two_clouds(300, labeled=60)
NAMES = [f"r{i:03d}" for i in range(len(X))]


def table() -> pd.DataFrame:
    """Return rows of numbers, words, dates, categories and empty cells, with an index of identifiers."""
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}, index=pd.Index(NAMES, name="id"))
    frame["town"] = np.where(TRUTH, "Ulm", "Bonn")
    frame["kind"] = pd.Categorical(np.where(X[:, 1] > 0, "x", "y"))
    frame["since"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(X)) % 300, unit="D")
    frame.loc[frame.index[::7], ["a", "town"]] = None
    return frame


def few(**params: Any) -> AutoPU:
    return AutoPU(members=FEW, **params)


@pytest.fixture(scope="module")
def fitted() -> AutoPU:
    return few().fit(table(), S)


@pytest.mark.slow  # two commands on a file
def test_the_ranking_is_that_of_the_command(tmp_path: Path) -> None:
    frame = table().assign(y=np.where(S, "yes", None))
    frame.to_csv(tmp_path / "t.csv")
    words = ["auto", "t.csv", "--label", "y", "--positive", "yes", "--id", "id", "--scored", "s.csv"]
    subprocess.run([sys.executable, "-m", "pucli", *words], cwd=tmp_path, check=True, capture_output=True)
    written = pd.read_csv(tmp_path / "s.csv", index_col="id")
    model = AutoPU()
    flags = model.fit_predict(frame.drop(columns="y"), frame["y"])
    assert model.ranking_.index.tolist() == written.index.tolist()
    for name in ("labeled", "score", "probability", "probability_low", "probability_high"):
        np.testing.assert_allclose(model.ranking_[name], written[name], atol=1e-9)
    for name in ("why", "most_like"):
        assert model.ranking_[name].tolist() == written[name].fillna("").tolist() and written[name].notna().all()
    flagged = written.loc[NAMES, "prediction"] == "yes"
    assert ((flags == "yes") == flagged).all() and 0 < flagged.sum() < len(X)


@pytest.mark.parametrize("wanted", [10, 50, 200])
def test_as_many_unlabeled_rows_as_wanted_are_flagged_and_predict_says_that_it_is_for_others(wanted: int) -> None:
    model = few(goal="top", wanted=wanted)
    flags = model.fit_predict(X, S)
    assert flags[~S].sum() == wanted
    assert model.ranking_["prediction"].iloc[:wanted].all() and not model.ranking_["prediction"].iloc[wanted]
    with pytest.warns(UserWarning, match="not held out"):
        model.predict(X)
    with pytest.warns(UserWarning, match="300 of 300 rows equal unlabeled rows of fit"):
        model.predict(X[~S])


@pytest.mark.filterwarnings("error")
def test_predict_is_silent_on_new_rows(fitted: AutoPU) -> None:
    new = table().assign(a=lambda rows: rows["a"] + 0.001)
    assert len(fitted.predict(new)) == len(X)
    fitted.predict(table()[S])  # labeled rows are flagged rightly
    fitted.predict(table().iloc[[100, 101]])  # too few to tell


def test_ranking_survives_pickling_and_a_copy_with_another_threshold_has_its_own(fitted: AutoPU) -> None:
    assert pickle.loads(pickle.dumps(fitted)).ranking_.equals(fitted.ranking_.drop(columns=["why", "most_like"]))
    before = fitted.positive_share_, fitted.labeled_recall_, fitted.ranking_
    moved, known = fitted.with_threshold("top", 20), fitted.with_prior(0.05)
    assert moved.positive_share_ == 20 / 300 and moved.labeled_recall_ < before[1]
    assert moved.ranking_["prediction"].iloc[:20].all() and not moved.ranking_["prediction"].iloc[20:300].any()
    assert known.ranking_["probability"].mean() < before[2]["probability"].mean()
    moved.leaderboard_[0]["name"] = "changed"
    assert fitted.leaderboard_[0]["name"] != "changed"
    assert (fitted.positive_share_, fitted.labeled_recall_) == before[:2] and fitted.ranking_.equals(before[2])


def test_a_frame_is_encoded_as_the_pipeline_encodes_it(fitted: AutoPU) -> None:
    pipeline = make_pipeline(TableEncoder(), few()).fit(table(), S)
    np.testing.assert_array_equal(fitted.held_out_, pipeline[-1].held_out_)
    np.testing.assert_array_equal(fitted.predict_proba(table()), pipeline.predict_proba(table()))
    assert fitted.feature_names_in_.tolist() == table().columns.tolist() and fitted.n_features_in_ == 5
    assert not hasattr(fitted.fit(X, S), "feature_names_in_") and fitted.encoder_ is None
    fitted.fit(table(), S)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_other_libraries_give_the_same(library: str, fitted: AutoPU) -> None:
    module = pytest.importorskip(library)
    frame = table().reset_index(drop=True).astype({"kind": str})
    other = module.from_pandas(frame) if library == "polars" else module.Table.from_pandas(frame)
    np.testing.assert_allclose(few().fit(other, S).predict_proba(other), fitted.predict_proba(table()), atol=1e-12)


def test_numbered_columns_of_numbers_are_an_array() -> None:
    plain, framed = few().fit(X, S), few().fit(pd.DataFrame(X), S)
    np.testing.assert_array_equal(plain.decision_function(X), framed.decision_function(X))
    words = pd.DataFrame({0: X[:, 0], 1: np.where(TRUTH, "Ulm", "Bonn")})
    assert few().fit(words, S).ranking_.index.tolist()[:1] != []


NAN = float("nan")


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (pd.Series(np.where(S, "buyer", None)), ["", "buyer"]),
        (pd.array(np.where(S, True, None), dtype="boolean"), [False, True]),
        (pd.array(np.where(S, 1, None), dtype="Int64"), [0, 1]),
        (np.where(S, 1.0, NAN), [0.0, 1.0]),
        (S.tolist(), [False, True]),
        (np.where(S, "yes", "no"), ["no", "yes"]),
    ],
)
def test_labels_as_they_stand_in_files(labels: Any, classes: list[Any]) -> None:
    model = few().fit(X, labels)
    assert model.classes_.tolist() == classes
    np.testing.assert_array_equal(model.held_out_, few().fit(X, S).held_out_)


def test_missing_labels_beside_known_negatives() -> None:
    y = pd.Series(np.where(S, "yes", None))
    y[np.flatnonzero(~TRUTH)[:40]] = "no"
    model = few(neg_label="no").fit(X, y)
    assert model.n_negative_ == 40 and model.classes_.tolist() == ["", "yes"]
    assert (model.ranking_["labeled"] == -1).sum() == 40
    numbers = y.map({"yes": 1, "no": 0}).astype("Int64")
    assert few(neg_label=0).fit(X, numbers).classes_.tolist() == [-1, 1]
    with pytest.raises(
        ValueError, match=r"260 labels are missing, the first in row 2\. Set neg_label if 'no' or 'yes'"
    ):
        few().fit(X, y)


def test_positives_are_named_by_the_index(fitted: AutoPU) -> None:
    named = table().index[S]
    for ids in (named, named.tolist(), set(named)):
        np.testing.assert_array_equal(few().fit(table(), positives=ids).held_out_, fitted.held_out_)
    piped = make_pipeline(few()).fit(table(), autopu__positives=named)
    np.testing.assert_array_equal(piped[-1].held_out_, fitted.held_out_)
    with pytest.raises(ValueError, match="'r999', which is not in the index of X, as 'r000' is"):
        few().fit(table(), positives=["r001", "r999"])
    with pytest.raises(ValueError, match="X is none: give y"):
        few().fit(X, positives=named)
    with pytest.raises(ValueError, match="not both"):
        few().fit(table(), S, positives=named)


def test_a_column_that_is_missing_or_misplaced_is_named(fitted: AutoPU) -> None:
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(table()[["b", "a", "town", "kind", "since"]])
    with pytest.raises(ValueError, match="town"):
        fitted.predict(table().drop(columns="town"))


def test_a_notebook_shows_cards_of_a_fitted_model_and_progress_if_wanted(
    fitted: AutoPU, capsys: pytest.CaptureFixture[str]
) -> None:
    flagged = round(300 * fitted.positive_share_)
    for html in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        assert f"<b>{flagged} of 300 unlabeled rows</b>" in html and html.count('<div style="border') == 4
    assert "unlabeled rows" not in few()._repr_html_()
    few().fit(X, S)
    assert capsys.readouterr().out == ""
    few(verbose=1).fit(X, S)
    assert "AutoPU" in capsys.readouterr().out
    seen: list[Any] = []
    few(verbose=1, callback=lambda *step: seen.append(step)).fit(X, S)
    assert seen[-1][1] == seen[-1][2] and capsys.readouterr().out == ""
