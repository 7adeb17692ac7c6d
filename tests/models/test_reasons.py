"""Which columns change a score, in words and values, and cells decoded from features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data import TableEncoder
from pucli.data.columns.drift import ReferenceShares
from pucli.data.columns.encoder import cell, spans, usual_cell
from pucli.data.files.tables import open_files
from pucli.data.rows.training_rows import TrainingRows
from pucli.models.reasons import (
    LEAST,
    NAMED,
    ColumnEffect,
    Explainer,
    RowReasons,
    explained_rows,
    in_columns,
    mark_of,
    reference_of,
)

N = 200


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "visits": rng.integers(0, 20, N),
            "income": np.where(rng.random(N) < 0.2, np.nan, rng.normal(2000, 300, N).round(2)),
            "member": rng.choice(["yes", "no"], N),
            "channel": rng.choice(["web", "shop", "phone"], N),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, N), unit="D"),
        }
    )


@pytest.fixture(scope="module")
def encoder(table: pd.DataFrame) -> TableEncoder:
    return TableEncoder().fit(table)


def test_decoding_inverts_the_encoding(table: pd.DataFrame, encoder: TableEncoder) -> None:
    Z = encoder.transform(table)
    for column, place in spans(encoder):
        found = [cell(column, features) for features in Z[:, place]]
        given = table[column.name]
        if column.name == "since":
            given = given.dt.strftime("%Y-%m-%d")
        elif column.name == "income":
            assert [text == "empty" for text in found] == given.isna().tolist()
            assert [float(text) for text in found if text != "empty"] == pytest.approx(given.dropna().tolist())
            continue
        assert found == given.astype(str).tolist()


def test_the_usual_cell_is_the_median_or_the_most_frequent_value(table: pd.DataFrame, encoder: TableEncoder) -> None:
    usual = ReferenceShares.of(encoder.transform(table), np.ones(N, dtype=bool))
    found = {column.name: cell(column, usual_cell(column, place, usual)) for column, place in spans(encoder)}
    assert found["member"] == table["member"].mode()[0] and found["channel"] == table["channel"].mode()[0]
    assert int(found["visits"]) == pytest.approx(table["visits"].median(), abs=1)
    assert abs(pd.Timestamp(found["since"]) - table["since"].median()) < pd.Timedelta(days=3)


class Sum:
    """A model whose score adds visits and, if the channel is web, 50."""

    def __init__(self, names: list[str]) -> None:
        self.weights = np.zeros(len(names))
        self.weights[names.index("visits")], self.weights[names.index("channel=web")] = 1.0, 50.0

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X @ self.weights


def test_the_columns_of_a_sum_are_named_by_what_they_add(table: pd.DataFrame, encoder: TableEncoder) -> None:
    Z = encoder.transform(table)
    usual = ReferenceShares.of(Z, np.ones(N, dtype=bool))
    explainer = Explainer(Sum(encoder.get_feature_names_out().tolist()), encoder, usual)
    usually = {column.name: cell(column, explainer.usual[place]) for column, place in explainer.columns}
    web = 50.0 * (usually["channel"] == "web")
    for found, row in zip(explainer.of(Z), table.itertuples(index=False), strict=True):
        changes = {one.column: one.change for one in found.columns}
        assert all(one.spread is None and one.usual == usually[one.column] for one in found.columns)
        of_channel, of_visits = 50.0 * (row.channel == "web") - web, row.visits - int(usually["visits"])
        expected = {"channel": of_channel, "visits": of_visits}
        largest = max(map(abs, expected.values()))
        assert changes == pytest.approx({k: v for k, v in expected.items() if abs(v) > LEAST * largest})
        ups = [one.change > 0 for one in found.columns]
        assert ups == sorted(ups, reverse=True) and len(ups) <= 2 * NAMED


def test_reasons_in_words() -> None:
    effects = [ColumnEffect("visits", "8", "3", 0.4137, 0.052), ColumnEffect("job", "cook", "nurse", -0.2, None)]
    text = str(RowReasons(effects, ["C1"]))
    assert text == "visits = 8 (usually 3): +0.41 ± 0.05; job = cook (usually nurse): -0.2"
    columns = in_columns([RowReasons(effects, ["C1", "C2"])], np.array([1]), 3)
    assert columns["why"].tolist() == ["", text, ""] and columns["most_like"].tolist() == ["", "C1; C2", ""]
    values = in_columns([RowReasons(effects, ["C1"])], np.array([0]), 2, as_values=True)
    assert values["why"][0][1] == {"column": "job", "value": "cook", "usual": "nurse", "change": -0.2, "spread": None}
    assert values["why"][1] is None


def test_the_wider_a_table_the_fewer_rows_are_explained() -> None:
    found = [explained_rows(TableEncoder.of_numbers([f"c{k}" for k in range(m)])) for m in (20, 300, 2000, 20_000)]
    assert found == [500, 88, 2, 0]


def test_a_row_of_several_files_is_named_by_its_file() -> None:
    rows = TrainingRows(np.zeros((5, 1)), None, ["a"], None, None, "all", {}, "t")
    assert mark_of(rows, 4) == "row 5"
    several = replace(rows, parts=[(Path("one.csv"), 3), (Path("two.csv"), 2)])
    assert [mark_of(several, row) for row in (2, 4)] == ["row 3 of one.csv", "row 2 of two.csv"]
    drawn = replace(several, marks=pd.DataFrame({"row": [1, 4]}))
    assert mark_of(drawn, 1) == "row 1 of two.csv"
    assert mark_of(replace(drawn, marks=drawn.marks.assign(id=["x", "y"])), 1) == "y"


def test_files_keep_their_numbers_of_rows(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": [4.5, 3.5, 1.5]})
    files = [tmp_path / name for name in ("one.csv", "two.csv", "three.csv")]
    for count, file in enumerate(files, start=1):
        table[:count].to_csv(file, index=False)
    assert open_files(files, None).parts == [(file, count) for count, file in enumerate(files, start=1)]


def test_a_model_without_what_is_usual_says_so() -> None:
    with pytest.raises(UsageError, match="train it again"):
        reference_of(TableEncoder.of_numbers(["a"]))
    with pytest.raises(UsageError, match="sparse"):
        reference_of(TableEncoder.of_sparse(["a"]))
