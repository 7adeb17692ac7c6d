"""The page about a fitted classifier."""

from __future__ import annotations

import re
from dataclasses import fields
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from pucli import AutoPU
from pucli.data import TableEncoder
from pucli.data.columns.encoder import spans
from pucli.data.rows.training_rows import TrainingRows
from pucli.estimators.auto.random_labeling import labeling_of
from pucli.models.auto import page as page_module
from pucli.models.auto.drawings import date_ticks, round_ticks
from pucli.models.auto.page import _dependence, _lifts, question, write_report
from pucli.models.auto.ranking import Ranking
from pucli.models.auto.summary import AutoAnswer, Findings
from pucli.models.fitting import Fitted
from tests.solvers.ensemble.helpers import two_clouds


def written(path: Path, X: np.ndarray, s: np.ndarray, names: list[str], leaks: tuple[str, ...] = ()) -> str:
    """Write the page about a classifier of these rows, and return it."""
    model = AutoPU().fit(X, s)
    marks = pd.DataFrame({"row": np.arange(len(X)) + 1001, "customer": [f"c{i}" for i in range(len(X))]})
    rows = TrainingRows(
        X,
        s.astype(int),
        names,
        None,
        None,
        "unlabeled",
        {},
        "rows.csv",
        "bought",
        "bought = yes",
        "",
        {"1": "yes"},
        marks=marks,
    )
    found = Findings.of(model, s, labeling_of(model, X, s, 0), leaks)
    ranking = Ranking(Fitted("auto", make_pipeline(model), rows, False, 0.0), found)
    about = dict.fromkeys(one.name for one in fields(AutoAnswer)) | vars(ranking.summary)
    write_report(
        path,
        ranking,
        AutoAnswer(**about | {"model": Path("a b.model"), "scored": Path("a b.csv"), "shown": ranking.shown}),
    )
    return path.read_text(encoding="utf-8")


def words_of(page: str) -> str:
    """Return the words of a page."""
    page = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<[^>]+>", " ", page, flags=re.S)
    return re.sub(r"\s+", " ", page.replace("&nbsp;", " "))


NAMES = ["shift", "a & b", "<script>", "d\x1b]0;pwn\x07"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    X, s, _ = two_clouds(150, labeled=40)
    return written(tmp_path_factory.mktemp("page") / "page.html", X, s, NAMES)


@pytest.mark.slow
def test_the_page_is_small_and_has_no_external_resources(page: str) -> None:
    assert len(page.encode()) < 300_000
    assert not re.findall(r"""(?:src|href)=|url\(|@import|https?://""", page)


@pytest.mark.slow
def test_names_of_columns_are_escaped(page: str) -> None:
    assert "<script>" not in page
    assert r"d\x1b]0;pwn\x07" in page and not re.search("[\x00-\x08\x0e-\x1f]", page)
    assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan", "", page)


@pytest.mark.slow
def test_the_page_answers_first_and_gives_details_later(page: str) -> None:
    assert "<h1>Who else bought?</h1>" in page
    parts = (
        "Flagged <b>", "% of positives found", "held-out score", "etter than chance", "<h2>Top rows",
        "How far down the list?", "What is known, and what is not", "What to do next", "What drives the ranking",
        "Labels to double-check", "Ensemble, models and a baseline", "SVC, unlabeled as negative", "</main>",
    )  # fmt: skip
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert page.count("<svg") >= 4
    assert (
        "pucli review --scored &#39;a b.csv&#39; --for" in page and "predict --model &#39;a b.model&#39; --data" in page
    )


@pytest.mark.slow
def test_the_top_rows_show_identifier_reasons_and_known_positives_that_are_alike(page: str) -> None:
    first = page[page.index("<h2>Top rows") : page.index("How far down the list?")]
    assert re.search(r'<th scope="row">c\d+</th>', first)
    assert not re.search(r"\de[+-]\d", first)
    cells = re.findall(r'<td class="why">(.*?)</td><td>(.*?)</td>', first)
    assert len(cells) == 15
    for why, alike in cells:
        text = unescape(re.sub("<.*?>", "", why)).strip()
        assert re.search(r"shift = [-\d.]+ \(\+\d\.\d\d ± \d\.\d\d; usually [-\d.]+\)", text), text
        assert re.fullmatch(r"c\d+; c\d+; c\d+", alike)


def test_a_column_of_0_and_1_has_two_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"vip": [0, 1] * 20, "age": [20.5 + (7 * i) % 31 for i in range(40)]})
    encoder = TableEncoder().fit(table)
    monkeypatch.setattr(
        page_module, "dependence", lambda model, X, place, cells, rng: np.linspace(0.2, 0.4, len(cells))
    )
    drawn = [
        _dependence(AutoPU(), encoder.transform(table), column, place, np.random.default_rng(0))
        for column, place in spans(encoder)
    ]
    assert ("<rect" in drawn[0], "polyline" in drawn[0]) == (True, False)
    assert "polyline" in drawn[1]


def test_questions_are_in_the_words_of_the_label_column() -> None:
    assert question("bought", "YES") == "Who else bought?"
    assert question("churned", "1") == "Who else churned?"
    assert question("fraud", "true") == "Which other rows have fraud?"
    assert question("has_sepsis", "1") == "Which other rows have sepsis?"
    assert question("status", "active") == "Which other rows have status active?"
    assert question("", "") == "Which other rows are positive?"


def test_ticks_are_round_and_within_the_axis() -> None:
    for low, high in ((0.0, 1.0), (17.3, 68.1), (-1.2, 3.7), (1040.0, 2900.0)):
        values = [value for value, _ in round_ticks(low, high)]
        assert 3 <= len(values) <= 7 and low - 1e-9 <= values[0] and values[-1] <= high + 1e-9
        assert all(len(text) <= 4 for _, text in round_ticks(low, high))
    assert [text for _, text in date_ticks(20_000.0, 20_600.0)] == ["2025-01", "2025-07", "2026-01"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", text) for _, text in date_ticks(20_000.0, 20_010.0))


@pytest.mark.slow
def test_the_lift_of_a_share_is_recall_over_share() -> None:
    X, s, _ = two_clouds(300, labeled=60)
    model = AutoPU().fit(X, s)
    lines, n = _lifts(model), len(model._population)
    assert [line.rows for line in lines] == [round(share * n) for share in (0.01, 0.05, 0.1)]
    for line in lines:
        assert line.lift.low <= line.lift.value <= line.lift.high
        assert line.lift.value == pytest.approx(line.recall.value / (line.rows / n))


@pytest.mark.filterwarnings("ignore::pucli.core.errors.DegenerateModelWarning")
@pytest.mark.slow
def test_what_noise_does_not_determine_is_not_stated(tmp_path: Path) -> None:
    X = np.random.default_rng(3).normal(size=(120, 2))
    text = words_of(written(tmp_path / "page.html", X, np.arange(120) < 20, ["f0", "f1"]))
    assert "may be useless" in text
    assert "the order may be chance" in text
    unknown = text[text.index("What these rows cannot tell") :]
    assert "Precision: between" in unknown and "F1 and AUC" in unknown
    assert "What share of the unlabeled rows is positive" in unknown
    first = text.partition("How far down")[0]
    assert "unknown share of positives" in first and "Probability" not in first
    assert "Could be chance" in first
    assert "Borderline rows" not in text and "Labels to double-check" in text


@pytest.mark.slow
def test_a_page_about_a_leak_states_nothing(tmp_path: Path) -> None:
    X, s, _ = two_clouds(80, labeled=20)
    text = words_of(written(tmp_path / "p.html", X, s, list("abcd"), ("column 'f0' is filled for the labeled rows",)))
    assert "column 'f0' is filled" in text.replace("&#39;", "'")
    assert "Recall, lift, precision, share of positives, F1 and AUC: a column gives the label away" in text
    assert "hold about" not in text and " positives (" not in text


@pytest.mark.slow
def test_where_positives_are_rare_axes_are_logarithmic(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1260, 3))
    X[:90] += 2.5
    page = written(tmp_path / "page.html", X, np.arange(1260) < 60, list("abc"))
    assert page.count("(logarithmic)") == 2 and "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan", "", page)


@pytest.mark.slow
def test_a_page_of_places_has_a_map(tmp_path: Path) -> None:
    X, s, _ = two_clouds(100, labeled=30)
    X[:, 2:] = 7.0 + 0.1 * X[:, 2:]
    page = written(tmp_path / "page.html", X, s, ["a", "b", "lon", "lat"])
    assert "Map of the scores" in page and page.count("dots level") == 4
    assert "count as features" in page
