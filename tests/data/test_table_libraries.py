"""The same values give the same features, whichever library and type holds them."""

from __future__ import annotations

import datetime
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pucli import GLPUAL
from pucli.data import TableEncoder
from pucli.data.columns.cells import TableError, as_frame

N = 120
_rng = np.random.default_rng(0)


def _holed(values: list[Any], every: int = 7) -> list[Any]:
    return [None if row % every == 3 else value for row, value in enumerate(values)]


COLUMNS: dict[str, list[Any]] = {
    "amount": _rng.normal(size=N).tolist(),
    "score": _holed(_rng.normal(size=N).tolist()),
    "visits": _holed(_rng.integers(0, 9, N).tolist()),
    "big": _rng.integers(2**40, 2**41, N).tolist(),
    "member": _holed((_rng.random(N) < 0.4).tolist()),
    "town": _holed(_rng.choice(["north", "south", "east"], N).tolist()),
    "day": _holed([datetime.date(2024, 1, 1) + datetime.timedelta(int(day)) for day in _rng.integers(0, 300, N)]),
    "when": [datetime.datetime(2024, 1, 1, 12) + datetime.timedelta(hours=int(h)) for h in _rng.integers(0, 900, N)],
    "span": [datetime.timedelta(seconds=int(second)) for second in _rng.integers(0, 9999, N)],
}
NULLABLE = {
    "score": "Float64", "visits": "Int64", "member": "boolean", "town": "string", "day": "datetime64[us]",
    "when": "datetime64[us]", "span": "timedelta64[us]",
}  # fmt: skip


def in_pandas() -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(cells, dtype=NULLABLE.get(name)) for name, cells in COLUMNS.items()})


def in_plain_pandas() -> pd.DataFrame:
    return pd.DataFrame(COLUMNS).astype({"day": "datetime64[us]"})


def with_index() -> pd.DataFrame:
    return in_pandas().set_axis(pd.date_range("2020-01-01", periods=N)[::-1], axis=0)


def with_categories() -> pd.DataFrame:
    return in_pandas().astype({"town": "category", "visits": "category", "member": "category"})


def in_arrow() -> Any:
    pa = pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    return pa.table({name: pa.array(cells) for name, cells in COLUMNS.items()})


def in_arrow_types_of_pandas() -> pd.DataFrame:
    return in_arrow().to_pandas(types_mapper=pd.ArrowDtype)


def with_a_dictionary() -> Any:
    table = in_arrow()
    town = table["town"].dictionary_encode()
    return table.set_column(table.column_names.index("town"), "town", town)


def in_polars() -> Any:
    return pytest.importorskip("polars", reason="polars is not installed").DataFrame(COLUMNS)


def in_lazy_polars() -> Any:
    return in_polars().lazy()


def in_polars_with_categories() -> Any:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    return in_polars().with_columns(pl.col("town").cast(pl.Categorical))


def in_a_record_batch() -> Any:
    return in_arrow().combine_chunks().to_batches()[0]


def in_a_stream_of_batches() -> Any:
    return in_arrow().to_reader(max_chunksize=50)


MADE = [
    in_plain_pandas, with_index, with_categories, in_arrow, in_arrow_types_of_pandas, with_a_dictionary, in_polars,
    in_lazy_polars, in_polars_with_categories, in_a_record_batch, in_a_stream_of_batches,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:column 'big' has distinct integers")
@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_the_features_do_not_depend_on_the_library(make: Any) -> None:
    wanted, encoder = TableEncoder().fit(in_pandas()), TableEncoder()
    found = encoder.fit_transform(make())
    assert encoder.get_feature_names_out().tolist() == wanted.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found, wanted.transform(in_pandas()))
    np.testing.assert_array_equal(wanted.transform(make()), found)


@pytest.mark.filterwarnings("ignore:column 'big' has distinct integers")
@pytest.mark.parametrize("make", [in_pandas, in_arrow, in_polars, in_lazy_polars], ids=lambda make: make.__name__)
def test_columns_are_found_by_name(make: Any) -> None:
    table = make()
    encoder = TableEncoder().fit(table)
    other = table.select(list(COLUMNS)[::-1]) if hasattr(table, "select") else table[list(COLUMNS)[::-1]]
    assert encoder.feature_names_in_.tolist() == list(COLUMNS)
    np.testing.assert_array_equal(encoder.transform(other), encoder.transform(table))


def libraries() -> list[Any]:
    found: list[Any] = [pd.DataFrame]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, kinds in (("polars", ("DataFrame", "LazyFrame")), ("pyarrow", ("table",))):
            try:
                module = __import__(name)
            except ImportError:
                continue
            found += [getattr(module, kind) for kind in kinds]
    return found


@pytest.mark.parametrize("make", libraries())
@pytest.mark.slow
def test_a_method_names_the_column_that_it_cannot_use_or_that_is_elsewhere(make: Any) -> None:
    X, y = _rng.normal(size=(60, 2)), (np.arange(60) < 15).astype(int)
    model = GLPUAL().fit(make({"a": X[:, 0], "b": X[:, 1]}), y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    plain = GLPUAL().fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(make({"a": X[:, 0], "b": X[:, 1]})), plain, rtol=1e-9)
    with pytest.raises(ValueError, match="same order"):
        model.predict(make({"b": X[:, 1], "a": X[:, 0]}))
    with pytest.raises(TableError, match=r"column 'town' holds 'north'.*TableEncoder"):
        GLPUAL().fit(make({"a": X[:, 0], "town": ["north", "south"] * 30}), y)
    with pytest.raises(TableError, match=r"column 'day' holds dates.*TableEncoder"):
        GLPUAL().fit(make({"a": X[:, 0], "day": [datetime.datetime(2024, 1, 1)] * 60}), y)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_decimals_are_the_nearest_doubles(library: str) -> None:
    made = pytest.importorskip(library, reason="the extra [test] is not installed")
    cells = [Decimal(k) / 100 for k in range(-300, 300)] + [None]
    table = made.table({"a": cells}) if library == "pyarrow" else made.DataFrame({"a": cells})
    assert as_frame(table)["a"].tolist()[:-1] == [k / 100 for k in range(-300, 300)]
    assert np.isnan(as_frame(table)["a"].iloc[-1])


def test_labels_of_any_library() -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    X, y = _rng.normal(size=(60, 2)), (np.arange(60) < 15).astype(int)
    wanted = GLPUAL().fit(X, y).decision_function(X)
    for labels in (
        pl.Series(y),
        pd.Series(y, dtype="Int64"),
        pd.Series(y, index=np.arange(60)[::-1]),
        pd.Categorical(y),
    ):
        np.testing.assert_array_equal(GLPUAL().fit(X, labels).decision_function(X), wanted)


@pytest.mark.parametrize("cells", [[[1], [2]], [{"a": 1}, {"a": 2}]])
def test_lists_and_structs_of_arrow_in_pandas_are_named(cells):
    pa = pytest.importorskip("pyarrow")
    nested = pd.array(cells * 10, dtype=pd.ArrowDtype(pa.array(cells).type))
    with pytest.raises(TableError, match="column 'c': a cell must hold one value"):
        TableEncoder().fit(pd.DataFrame({"a": range(20), "c": nested}))
