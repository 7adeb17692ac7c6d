"""The page about a fitted classifier."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pucli import AutoPU
from pucli.auto.importance import importances
from pucli.auto.report import write_report
from pucli.auto.scar import labelling_of
from pucli.auto.summary import Findings, summary
from tests.auto.helpers import two_clouds

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


def test_the_feature_that_separates_the_classes_is_most_important() -> None:
    X, s, _ = two_clouds(200, labelled=60)
    model = AutoPU().fit(X, s)
    fall = importances(model, X, s, np.random.default_rng(0))
    assert np.argmax(fall) == 0
    assert fall[0] > 0.05
