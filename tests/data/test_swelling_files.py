"""Small files from anyone that would unpack to gigabytes, or have a part twice; each has an intact twin."""

from __future__ import annotations

import json
import struct
import warnings
import zipfile

import numpy as np
import pytest
from scipy.io import savemat

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table
from pucli.data.files.text import checked_records as skipped_lines
from tests.data.helpers import refused, write_ods

X, Y = np.random.default_rng(0).random((12, 3)), np.arange(12) % 2


def read(path):
    assert len(open_table(path, "y").frame) == 12


def variable_4(name, kind, columns):
    """Return a variable of a file of MATLAB 4."""
    content = np.asarray(columns, dtype="<f8")
    rows, width = content.shape
    return struct.pack("<5i", kind, rows, width, 0, len(name) + 1) + name.encode() + b"\0" + content.tobytes("F")


@pytest.mark.parametrize(
    ("corner", "kind", "words"),
    [((12, 2**31 - 1), 2, "12 rows"), ((12, 3), 2002, "byte ordering"), ((12, 3), 12002, "the type 12002")],
)
def test_a_sparse_matrix_of_matlab_4(tmp_path, corner, kind, words):
    entries = [[i + 1, j + 1, X[i, j]] for i in range(12) for j in range(3)]
    labels = variable_4("y", 0, Y[:, None])
    (tmp_path / "good.mat").write_bytes(variable_4("X", 2, [*entries, [12, 3, 0]]) + labels)
    read(tmp_path / "good.mat")
    (tmp_path / "bad.mat").write_bytes(labels + variable_4("X", kind, [*entries, [*corner, 0]]))
    refused(tmp_path / "bad.mat", words)


def test_variables_of_matlab_that_are_many_or_there_twice(tmp_path, monkeypatch):
    monkeypatch.setattr("pucli.data.files.binary.mat.MOST_VARIABLES", 5)
    for form in "45":
        path = tmp_path / f"rows{form}.mat"
        savemat(path, {"X": X, "y": Y[:, None].astype(float)}, format=form)
        read(path)
        savemat(path, {"X": X, "y": Y[:, None].astype(float), **{f"v{i}": 1.0 for i in range(4)}}, format=form)
        refused(path, "more than 5 variables")
    savemat(tmp_path / "a.mat", {"X": X, "y": Y})
    savemat(tmp_path / "b.mat", {"X": 0 * X})
    (tmp_path / "c.mat").write_bytes((tmp_path / "a.mat").read_bytes() + (tmp_path / "b.mat").read_bytes()[128:])
    refused(tmp_path / "c.mat", "has the variable 'X' twice")


def test_variables_of_matlab_unpack_to_a_total(tmp_path, monkeypatch):
    path = tmp_path / "X.mat"
    savemat(path, {"X": X, "y": Y, **{f"z{i}": np.zeros(10**5) for i in range(4)}}, do_compression=True)
    read(path)
    monkeypatch.setattr("pucli.data.files.binary.mat.FREE", 2 * 10**6)  # of which each variable takes 800,000
    refused(path, "unpacks to more")


def test_a_part_of_an_archive_twice_or_far_too_many(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    np.savez(path, X=X, y=Y)
    read(path)
    parts = {name: zipfile.ZipFile(path).read(name) for name in ("X.npy", "y.npy")}
    for second in ("X.npy", "X"):
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
            warnings.simplefilter("ignore")
            for name, content in [*parts.items(), (second, parts["X.npy"])]:
                archive.writestr(name, content)
        refused(path, "the part 'X' twice")
    monkeypatch.setattr("pucli.data.files.packed.MOST_MEMBERS", 1)
    np.savez(path, X=X, y=Y)
    refused(path, "2 parts")


def open_document(path, last=""):
    """Write a sheet of ODS with these last rows."""
    rows = [["a", "y"], *([float(a), int(y)] for a, y in zip(X[:, 0], Y, strict=True))]
    cells = "".join(
        "<table:table-row>"
        + "".join(
            "<table:table-cell office:value-type="
            + ('"string">' if isinstance(value, str) else f'"float" office:value="{value}">')
            + f"<text:p>{value}</text:p></table:table-cell>"
            for value in row
        )
        + "</table:table-row>"
        for row in rows
    )
    write_ods(path, f'<table:table table:name="S">{cells}{last}</table:table>')
    return path


ROW, CELL = (
    "<table:table-row{}>{}</table:table-row>",
    '<table:table-cell office:value-type="float" office:value="1"{}/>',
)
FAR = ' table:number-rows-repeated="200000000"'
# of a rectangle of 15 million cells
CORNERS = (
    ROW.format("", CELL.format("") * 2)
    + ROW.format(' table:number-rows-repeated="14998"', "<table:table-cell/>")
    + ROW.format("", '<table:table-cell table:number-columns-repeated="999"/>' + CELL.format(""))
)


@pytest.mark.parametrize(
    "last",
    [
        ROW.format(FAR, CELL.format("")),
        ROW.format(FAR, "<table:table-cell/>") + ROW.format("", CELL.format("")),
        ROW.format("", CELL.format(' table:number-columns-repeated="300000000"')),
        ROW.format("", '<table:table-cell><text:p>a<text:s text:c="2000000000"/></text:p></table:table-cell>'),
        ROW.format(
            ' table:number-rows-repeated="1000"', f"<table:table-cell><text:p>{'a' * 10**6}</text:p></table:table-cell>"
        ),
        ROW.format("", CELL.format(f' table:formula="of:={"1+" * 10**5}1" table:number-columns-repeated="10000"')),
        ROW.format("", '<table:table-cell office:value="1" table:number-columns-repeated="300000000"/>'),
        "".join(f'</table:table><table:table table:name="T{i}">{CORNERS}' for i in range(3)),
    ],
)
def test_a_sheet_of_ods_that_repeats(tmp_path, last):
    refused(open_document(tmp_path / "bad.ods", last))


def test_a_sheet_of_ods_with_blank_rows_at_its_end(tmp_path):
    blank = ' table:number-columns-repeated="16384"'
    read(open_document(tmp_path / "good.ods", ROW.format(FAR[:-4] + '"', f"<table:table-cell{blank}/>")))


@pytest.mark.slow  # openpyxl takes half a second to import
def test_a_row_of_a_sheet_beyond_the_last_one(tmp_path):
    from openpyxl import Workbook

    book, path = Workbook(), tmp_path / "rows.xlsx"
    for row in [("a", "y"), *zip(X[:, 0].tolist(), Y.tolist(), strict=True)]:
        book.active.append(row)
    book.save(path)
    read(path)
    parts = {name: zipfile.ZipFile(path).read(name) for name in zipfile.ZipFile(path).namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"</sheetData>", b'<row r="99999999"><c><v>1</v></c></row></sheetData>')
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    refused(path, "beyond 1048576")


def test_json_lines_with_a_key_of_their_own(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = [{"a": a, "y": int(y)} for a, y in zip(X[:, 0].tolist(), Y, strict=True)]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    read(path)
    path.write_text("".join(json.dumps({f"k{i}": 1, "y": i % 2}) + "\n" for i in range(5000)))
    refused(path, "same keys")


def test_blank_lines_are_counted_up_to_a_limit(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    body = "".join(f"{a},{y}\n" for a, y in zip(X[:, 0], Y, strict=True))
    path.write_text("a,y\n" + body + "\n" * 30_000 + body)
    with pytest.warns(UserWarning, match=r"30000 blank lines are skipped \(the first is line 14\)"):
        assert len(open_table(path, "y").frame) == 24
    monkeypatch.setattr(skipped_lines, "MOST_BLANKS", 20_000)
    refused(path, "blank lines")


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_columns_that_take_no_place_in_their_file(tmp_path, ending, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    def write(name, table, **options):
        path = tmp_path / f"{name}.{ending}"
        if ending == "parquet":
            pq.write_table(table, path, **options)
        else:
            with pa.ipc.new_file(str(path), table.schema) as file:
                file.write_table(table)
        return path

    columns = {"a": pa.array(X[:, 0]), "y": pa.array(Y)}

    def texts(size):
        return pa.DictionaryArray.from_arrays(pa.array((Y % 2).astype("i4")), pa.array(["u" * size, "v"]))

    monkeypatch.setattr("pucli.data.files.table_size.FREE", 10**6)
    monkeypatch.setattr("pucli.data.files.table_size.COLUMNAR_RATIO", 3)
    read(write("good", pa.table({**columns, "t": texts(5)})))
    for stored in (True, False):
        refused(write("bad", pa.table({**columns, "t": texts(500_000)}), store_schema=stored), "unpacks to")
    refused(write("empty", pa.table({"a": pa.nulls(10**6), "y": pa.nulls(10**6)})), "unpacks to")


def test_lists_of_parquet_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("pucli.data.files.table_size.FREE", 10_000)
    pa, path = pytest.importorskip("pyarrow"), tmp_path / "rows.parquet"
    import pyarrow.parquet as pq

    def write(length):
        lists = pa.ListArray.from_arrays(pa.array(np.arange(13) * length, "int32"), pa.nulls(12 * length, pa.int8()))
        pq.write_table(pa.table({"a": X[:, 0], "lists": lists, "y": Y}), path)

    write(3)
    read(path)
    write(100_000)
    refused(path, "unpacks to")


def test_parts_of_parquet_with_other_rows_than_the_whole(tmp_path):
    pa, path = pytest.importorskip("pyarrow"), tmp_path / "rows.parquet"
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": pa.array(X[:, 0]), "y": pa.array(Y)}), path)
    read(path)
    whole = path.read_bytes()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    last, found = bytes([24]), 0  # 12 as the footer writes it
    for place in range(start, len(whole) - 8):
        if whole[place : place + 1] == last:
            path.write_bytes(whole[:place] + bytes([26]) + whole[place + 1 :])
            try:
                open_table(path, "y")
            except UsageError as error:
                found += "other numbers of rows" in str(error)
    assert found
