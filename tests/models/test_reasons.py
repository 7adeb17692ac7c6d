"""Which columns raise a score, and cells decoded from features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data import TableEncoder
from pucli.data.columns.drift import ReferenceShares
from pucli.data.columns.encoder import cell, said, spans, typical
from pucli.models.reasons import NAMED, reasons, reference_of

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


def test_typical_cells_are_cells_with_the_shares_of_the_rows(table: pd.DataFrame, encoder: TableEncoder) -> None:
    Z = encoder.transform(table)
    usual = ReferenceShares.of(Z, np.ones(N, dtype=bool))
    for column, place in spans(encoder):
        cells, weights = typical(column, place, usual)
        assert weights.sum() == pytest.approx(1.0) and cells.shape == (len(weights), len(column.features))
        if column.name in ("member", "channel"):
            shares = {said(column, one): weight for one, weight in zip(cells, weights, strict=True)}
            counted = table[column.name].value_counts(normalize=True)
            assert shares == pytest.approx({f"{column.name} = {word}": share for word, share in counted.items()})


def test_the_columns_of_a_sum_are_named_by_what_they_add(table: pd.DataFrame, encoder: TableEncoder) -> None:
    Z = encoder.transform(table)
    names = encoder.get_feature_names_out().tolist()
    weights = np.zeros(len(names))
    weights[names.index("visits")], weights[names.index("channel=web")] = 1.0, 50.0
    found = reasons(lambda rows: rows @ weights, encoder, ReferenceShares.of(Z, np.ones(N, dtype=bool)), Z)
    for text, row in zip(found, table.itertuples(index=False), strict=True):
        expected = ["channel = web"] * (row.channel == "web") + [f"visits = {row.visits}"] * (row.visits > 12)
        assert text.split("; ")[: len(expected)] == expected or not expected
        assert len(text.split("; ")) <= NAMED and "member" not in text
        assert row.channel == "web" or "channel" not in text


def test_a_model_without_what_is_usual_says_so() -> None:
    with pytest.raises(UsageError, match="train it again"):
        reference_of(TableEncoder.of_numbers(["a"]))
    with pytest.raises(UsageError, match="sparse"):
        reference_of(TableEncoder.of_sparse(["a"]))
