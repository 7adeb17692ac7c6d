"""Decimal commas: which columns are read as numbers, and that the separator of the file is still found."""

import io
import sys
import types

import numpy as np
import pandas as pd
import pytest

from pucli.data.rows.blocks import STDIN, read_blocks
from pucli.data.rows.user_file import ColumnChoice, apply_file, fit_file


def table(n=60):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"price": random.normal(20, 5, n).round(2), "score": random.normal(0, 1, n).round(1)})
    return frame.assign(city=["Ghent", "Bonn", "Lyon"] * (n // 3), bought=["yes", ""] * (n // 2))


def written(path, frame, separator=";", **options):
    frame.to_csv(path, sep=separator, decimal=",", index=False, **options)
    return path


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_file_with_decimal_commas_reads_as_its_copy_with_points(tmp_path, separator):
    table().to_csv(tmp_path / "points.csv", index=False)
    commas, points = fit_file(written(tmp_path / "c.txt", table(), separator), "bought"), tmp_path / "points.csv"
    np.testing.assert_array_equal(commas.X, fit_file(points, "bought").X)
    notes = {column.name: column.remark for column in commas.encoder.columns_}
    assert "decimal commas" in notes["price"] and "decimal commas" in notes["score"] and notes["city"] == ""
    np.testing.assert_array_equal(apply_file(points, commas.encoder).X, commas.X)


def test_a_file_without_a_header_keeps_its_separator(tmp_path):
    file = fit_file(written(tmp_path / "c.csv", table()[["price", "score"]], header=False), None)
    assert file.X.shape == (60, 2)
    np.testing.assert_array_equal(file.X, table()[["price", "score"]])


@pytest.mark.parametrize("cell", ["1,2,3", "1.234,5", "2.5", "about 3,5"])
def test_a_column_with_a_cell_of_another_form_is_left_as_it_is(tmp_path, cell):
    frame = table().astype({"price": object})
    frame.loc[3, "price"] = cell
    assert "price" not in fit_file(written(tmp_path / "c.csv", frame), "bought").table.decimal_commas


def test_quoted_decimal_commas_in_a_file_separated_by_commas_are_read_and_said(tmp_path):
    path = written(tmp_path / "c.csv", table(), ",")
    file = fit_file(path, "bought")
    assert not file.table.decimal_commas
    np.testing.assert_array_equal(file.X[:, 0], table()["price"])
    assert any("'price' holds numbers with signs or units" in line for line in file.warnings)
    np.testing.assert_array_equal(fit_file(path, "bought", ColumnChoice({"price": "number"})).X[:, 0], table()["price"])


def test_the_kind_given_by_the_user_decides(tmp_path):
    frame = table().astype({"price": object})
    frame.loc[3, "price"] = "free"
    path = written(tmp_path / "c.csv", frame)
    number = fit_file(path, "bought", ColumnChoice({"price": "number"}))
    assert np.delete(number.X[:, 0], 3) == pytest.approx(np.delete(table()["price"].to_numpy(), 3))
    text = fit_file(written(tmp_path / "c.csv", table()), "bought", ColumnChoice({"price": "category"}))
    assert "price=" in str(text.encoder.get_feature_names_out())


def test_blocks_from_a_file_and_from_stdin_read_the_same(tmp_path, monkeypatch):
    path = written(tmp_path / "c.csv", table())
    blocks = [block.frame for block in read_blocks(path, ["score", "price"], rows=7)]
    np.testing.assert_array_equal(pd.concat(blocks), table()[["score", "price"]])
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
    [piped] = [block.frame for block in read_blocks(STDIN, ["score", "price"])]
    np.testing.assert_array_equal(piped, table()[["score", "price"]])
