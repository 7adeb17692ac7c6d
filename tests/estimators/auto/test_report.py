"""The page about a fitted classifier."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pucli import AutoPU
from pucli.estimators.auto.importance import importances
from pucli.estimators.auto.random_labelling import labelling_of
from pucli.models.auto.page import _precision_band, write_report
from pucli.models.auto.summary import Findings, summary
from tests.estimators.auto.helpers import two_clouds


def text_of(path: Path, X: np.ndarray, s: np.ndarray, leaks: tuple[str, ...] = ()) -> str:
    """Return the words of the page about a classifier of these rows."""
    model = AutoPU().fit(X, s)
    names = [f"f{k}" for k in range(X.shape[1])]
    about = summary(Findings.of(model, s, labelling_of(model, X, s, 0), leaks), names)
    marks = pd.DataFrame({"row": np.arange(len(X)) + 1001, "customer": [f"c{i}" for i in range(len(X))]})
    write_report(path, model, X, s, names, about, "rows.csv", marks)
    page = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<[^>]+>", " ", path.read_text(encoding="utf-8"), flags=re.S)
    return re.sub(r"\s+", " ", page.replace("&nbsp;", " "))


NAMES = ["shift", "a & b", "<script>", "d"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    X, s, _ = two_clouds(150, labelled=40)
    model = AutoPU().fit(X, s)
    path = tmp_path_factory.mktemp("page") / "page.html"
    about = summary(Findings.of(model, s, labelling_of(model, X, s, 0)), NAMES)
    write_report(path, model, X, s, NAMES, about, "customers.csv")
    return path.read_text(encoding="utf-8")


def test_the_page_is_small_and_has_no_external_resources(page: str) -> None:
    assert len(page.encode()) < 2_000_000
    assert not re.findall(r"""(?:src|href)=|url\(|@import|https?://""", page)


def test_names_of_features_are_escaped(page: str) -> None:
    assert "<script>" not in page
    assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan", "", page)


def test_the_page_has_its_sections_and_drawings(page: str) -> None:
    for part in ("Leaderboard", "SVC, unlabeled as negative", "cannot be known", "labelling random", "most\nworth"):
        assert part in page
    assert page.count("<svg") >= 3


@pytest.mark.slow
def test_the_feature_that_separates_the_classes_is_most_important() -> None:
    X, s, _ = two_clouds(200, labelled=60)
    model = AutoPU().fit(X, s)
    fall = importances(model, X, s, np.random.default_rng(0))
    assert np.argmax(fall) == 0
    assert fall[0] > 0.05


@pytest.mark.filterwarnings("ignore::pucli.core.errors.DegenerateModelWarning")
@pytest.mark.slow
def test_what_noise_does_not_determine_is_not_stated(tmp_path: Path) -> None:
    X = np.random.default_rng(3).normal(size=(120, 2))
    text = text_of(tmp_path / "page.html", X, np.arange(120) < 20)
    assert "may be useless" in text
    assert "What share of the unlabeled rows are positives is not determined" in text
    assert "How many of these are positive is not determined" in text
    assert "AUC and F1 are not determined by these rows" in text
    rows = text.partition("likeliest positives Row customer Probability")[2].partition("Unlabeled")[0].split()
    assert all(float(low) < 0.05 for low in rows[2::5]) and rows[3::5] == ["to"] * 10
    numbers = [int(number) for number in rows[::5]]
    assert min(numbers) > 1000 and rows[1::5] == [f"c{number - 1001}" for number in numbers]


@pytest.mark.slow
def test_a_page_about_a_leak_states_nothing(tmp_path: Path) -> None:
    X, s, _ = two_clouds(80, labelled=20)
    text = text_of(tmp_path / "page.html", X, s, ("column 'f0' is filled for the labelled rows",))
    assert "column 'f0' is filled" in text.replace("&#39;", "'")
    assert text.count("? not determined") == 5


def test_the_band_of_the_precision_has_the_width_of_the_printed_prior() -> None:
    """At recall one all rows are taken, and the precision is the prior."""
    rng = np.random.default_rng(0)
    X, s = rng.normal(0, 1, (400, 3)), np.arange(400) < 60
    X[s | (rng.random(400) < 0.3), 0] += 0.5
    model = AutoPU().fit(X, s)
    low, middle, high = _precision_band(model)
    prior = model.estimates_["prior"]
    assert prior.high - prior.low > 0.4
    assert low[-1] == pytest.approx(prior.low, abs=0.03)
    assert high[-1] == pytest.approx(prior.high, abs=0.03)
    assert np.all(low <= middle) and np.all(middle <= high)
