"""What a fitted `AutoPU` says in Python of its rows of fit: reasons, changes by column, and the page."""

from __future__ import annotations

import pickle
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pucli import AutoPU
from pucli.models.auto.in_python import training_rows_of
from pucli.models.saved import saved_form
from pucli.solvers.ensemble.members import MEMBERS
from tests.estimators.auto.test_ranking import FEW, TRUTH, S, X, table
from tests.models.auto.test_page import words_of


@pytest.fixture(scope="module")
def fitted() -> AutoPU:
    return AutoPU(members=(*FEW, MEMBERS[0])).fit(table(), S)


def test_changes_of_a_row_are_those_of_its_score_by_name_of_the_column(fitted: AutoPU) -> None:
    rows = table().iloc[5:9].assign(town="Ulm")
    found = fitted.explain(rows)
    assert found.columns.tolist() == table().columns.tolist() and found.index.equals(rows.index)
    usual = rows.assign(town="Bonn")  # of most unlabeled rows
    np.testing.assert_allclose(found["town"], fitted.score_rows(rows) - fitted.score_rows(usual), atol=1e-9)
    assert (found["town"] > 0).all()
    plain = AutoPU(members=FEW).fit(X, S).explain(X[:2])
    assert plain.shape == (2, X.shape[1]) and plain.columns.tolist() == list(map(str, range(X.shape[1])))


def test_the_ranking_has_the_reasons_of_the_first_rows(fitted: AutoPU) -> None:
    assert fitted.ranking_["why"].str.contains("town = Ulm").sum() > 0.5 * TRUTH.sum()
    named = fitted.ranking_["most_like"].str.split("; ").explode()
    assert set(named) <= set(table().index[S])
    moved = fitted.with_threshold("top", 20).ranking_
    assert moved["why"].equals(fitted.ranking_["why"])


@pytest.mark.slow  # importance of columns on held-out rows
def test_the_page_is_shown_in_a_frame_and_written_to_a_file(
    fitted: AutoPU, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = fitted.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    frame = page._repr_html_()
    assert unescape(frame.split('srcdoc="')[1].split('"')[0]) == page.html and len(repr(page)) < 100
    words = words_of(page.html)
    first = fitted.ranking_.index[0]
    assert "Learned from the 360 rows of fit: 60 known positives" in words and f" {first} " in words
    assert 'with_threshold("recall", 0.9)' in unescape(words) and "pucli auto" not in words and "--" not in words
    assert capsys.readouterr() == ("", "")


def test_without_the_rows_of_fit_there_are_no_reasons(fitted: AutoPU) -> None:
    other: Any = pickle.loads(pickle.dumps(fitted))
    for ask in (other.report, lambda: other.explain(table())):
        with pytest.raises(AttributeError, match=r"the rows of fit are not there.*Fit the model again"):
            ask()
    assert "why" not in other.ranking_
    pd.testing.assert_frame_equal(other.fit(table(), S).ranking_, fitted.ranking_)


def test_a_column_that_gives_the_label_away_is_named_as_by_the_command() -> None:
    frame, text = table().assign(paid=np.where(S, "late", "never")), "column 'paid' is 'never' in 0 % of the labeled"
    with pytest.warns(UserWarning, match=rf"{text} and 100 % of the other rows: it may leak the label\. Leave"):
        model = AutoPU(members=FEW).fit(frame, S)
    assert (model.ranking_["probability_high"] == 1.0).all() and model._repr_html_().count("cannot be told") == 3
    assert saved_form(model).metadata["leaks"] == list(model._leaks)
    assert "A column probably gives the label away" in (words := words_of(model.report().html))
    assert text in unescape(words) and "--drop" not in words
    assert not model.fit(table(), S)._leaks


def test_the_page_says_that_labeled_rows_are_repeated_unless_they_are_a_group() -> None:
    rows, marked = np.vstack([X, np.repeat(X[S][:20], 3, axis=0)]), np.append(S, np.ones(60, bool))
    one = np.append(np.arange(len(X)), np.repeat(np.flatnonzero(S)[:20], 3))
    found = [training_rows_of(AutoPU(members=FEW).fit(rows, marked, groups=groups)) for groups in (None, one)]
    assert "equal to another labeled row" in found[0].repeated and not found[1].repeated
