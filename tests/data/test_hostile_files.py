"""Data files from anyone: what they declare is checked before work; each has an intact twin that is read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array

from pucli.core.errors import UsageError
from pucli.data.files.table_size import MOST_COLUMNS, check_sheet, different
from pucli.data.files.tables import open_table, open_wide
from pucli.data.files.text.arff import split_row
from pucli.data.rows.blocks import read_blocks
from tests.data.helpers import refused

RNG = np.random.default_rng(0)


def mat(path, part=None, place=0, value=0):
    """Write a MATLAB file with a sparse matrix, one number of whose `part` is another; SciPy's writer is no help."""
    X = csc_array(RNG.random((12, 3)) * (RNG.random((12, 3)) > 0.4))
    savemat(path, {"X": X, "y": np.arange(12) % 2}, format="5")
    if part is not None:
        there = getattr(X, part).astype("<i4")
        changed = there.copy()
        changed[place] = value
        content = path.read_bytes()
        assert content.count(there.tobytes()) == 1
        path.write_bytes(content.replace(there.tobytes(), changed.tobytes()))
    return path


@pytest.mark.parametrize(
    "change",
    [("indices", -1, 12), ("indices", 0, 2**30), ("indices", 0, -5), ("indptr", 1, 10**6), ("indptr", 1, -3)],
)
def test_a_sparse_matrix_with_positions_outside_of_it(tmp_path, change):
    refused(mat(tmp_path / "bad.mat", *change), "damaged")
    assert open_table(mat(tmp_path / "good.mat"), "y").frame.shape == (12, 4)


def test_variables_that_nobody_asked_for_are_not_read(tmp_path):
    deep = np.array([1.0])
    for _ in range(200):
        cell = np.empty((1, 1), dtype=object)
        cell[0, 0] = deep
        deep = cell
    whole = {"X": RNG.random((12, 3)), "y": np.arange(12) % 2}
    savemat(tmp_path / "deep.mat", {**whole, "notes": deep, "about": {"name": "rows", "n": 12.0}})
    assert open_table(tmp_path / "deep.mat", "y").frame.shape == (12, 4)
    words = np.array([["a"], ["b"]] * 6, dtype=object)
    savemat(tmp_path / "cells.mat", {"X": whole["X"], "y": words})
    refused(tmp_path / "cells.mat", "cell", "numbers")


@pytest.mark.parametrize("sparse", [False, True])
def test_types_and_sizes_that_compiled_code_of_scipy_trusts(tmp_path, sparse):
    path = mat(tmp_path / "X.mat")
    if not sparse:
        savemat(path, {"X": RNG.random((12, 3)), "y": np.arange(12) % 2})
    whole, refusals = path.read_bytes(), 0
    places = [*range(128, 220, 3), *range(len(whole) - 120, len(whole), 5)]  # the parts before the numbers
    for place in [128, 132, 136, 144, 145, 152, 160, 176, 177, *places]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            table = open_table(path, "y")
        except UsageError as error:
            assert "\n" not in str(error)
            refusals += 1
        else:
            assert len(table.frame) == 12
    assert refusals > 20


@pytest.mark.parametrize("compressed", [False, True])
def test_a_matrix_of_matlab_that_declares_what_it_does_not_have(tmp_path, compressed, monkeypatch):
    path = tmp_path / "X.mat"
    savemat(path, {"X": np.zeros((64, 3)), "y": np.arange(64) % 2}, do_compression=compressed)
    assert open_table(path, "y").frame.shape == (64, 4)
    if compressed:  # zeros pack well, but not to a thousandth of what is read
        monkeypatch.setattr("pucli.data.files.binary.mat.FREE", 2**20)
        savemat(path, {"X": np.zeros((100_000, 8)), "y": np.zeros(100_000)}, do_compression=True)
        refused(path, "unpacks")
        return
    content = path.read_bytes()
    sizes = np.array([64, 3], "<i4").tobytes()
    path.write_bytes(content.replace(sizes, np.array([2**29, 3], "<i4").tobytes(), 1))
    refused(path)


@pytest.mark.parametrize("shape", [(10**12,), (2**33, 0), (-1, 3)])
def test_an_array_of_numpy_that_declares_what_it_does_not_have(tmp_path, shape):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    good = tmp_path / "good.npz"
    np.savez(good, X=np.ones((4, 2)), y=np.arange(4))
    assert open_table(good, "y").frame.shape == (4, 3)
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        archive.writestr("X.npy", header.getvalue() + bytes(64))
        archive.writestr("y.npy", zipfile.ZipFile(good).read("y.npy"))
    refused(tmp_path / "bad.npz")


@pytest.mark.slow  # openpyxl takes half a second to import
def test_a_sheet_whose_one_cell_is_the_last(tmp_path):
    from openpyxl import Workbook

    def book(path, cells):
        workbook = Workbook()
        for place, value in cells.items():
            workbook.active[place] = value
        workbook.save(path)
        return path

    few = {"A1": "a", "B1": "y", "A2": 1, "B2": 0, "A3": 2, "B3": 1}
    refused(book(tmp_path / "far.xlsx", {**few, "XFD1048576": 1}), "1048576 rows", "16384 columns")
    assert open_table(book(tmp_path / "near.xlsx", {**few, "H40": None, "D9": 5}), "y").frame.shape[0] == 3


def test_the_cells_of_a_sheet_are_found_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("pucli.data.files.table_size._CHUNK", 7)
    path = tmp_path / "book.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("near.xml", '<row r="1"><c r="A1" t="n"><v>1</v></c><c s="3" r="B1"><v>1</v></c></row>')
        archive.writestr("far.xml", '<row r="1"><c r="A1"><v>1</v></c></row><row><x:c t="n" r="XFD1048576"/></row>')
    check_sheet(path, "near.xml")
    with pytest.raises(UsageError, match="2 filled cells in a table of 1048576 rows and 16384 columns"):
        check_sheet(path, "far.xml")


@pytest.mark.parametrize(
    ("last", "wide"),
    [("1:3 2:1", False), ("30000:1", True), ("246000:1", True), ("4900000:1", None), ("49999999:1", None)],
)
def test_a_far_feature_of_libsvm(tmp_path, last, wide):
    path = tmp_path / "rows.libsvm"
    path.write_text("".join(f"{i % 2} 1:{i} 2:{i * i}\n" for i in range(80)) + f"1 {last}\n")
    if wide is None:
        refused(path, "feature", "correct that number")
        with pytest.raises(UsageError, match="feature"):
            open_wide(path)
    elif wide:
        assert open_wide(path).X.shape == (81, int(last.partition(":")[0]))
    else:
        assert open_wide(path) is None
        assert open_table(path, None).frame.shape == (81, 3)


def test_a_run_of_blanks_in_arff(tmp_path):
    head = "@relation r\n@attribute a string\n@attribute b numeric\n@attribute y {0,1}\n@data\n"
    path = tmp_path / "rows.arff"
    path.write_text(head + "a" + " " * 400_000 + "b,1,0\nc,2,1\n'd,e' , 3 ,1\n")
    frame = open_table(path, "y").frame
    assert frame["a"].str.len().tolist() == [400_002, 1, 3]
    assert frame["b"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("1,?,'a b'", ["1", None, "a b"]),
        ("1,,", ["1", "", ""]),
        (r"'it\'s', x ", ["it's", "x"]),
        ("'a'b,c", ["'a'b", "c"]),
        ('"a,b" ,2', ["a,b", "2"]),
        ("", [""]),
        ("''", [""]),
        ("' '", [" "]),
    ],
)
def test_the_fields_of_an_arff_row(line, fields):
    assert split_row(line) == fields


def test_two_columns_of_one_name_are_numbered(tmp_path):
    path = tmp_path / "twice.arff"
    path.write_text(
        "@relation r\n@attribute a numeric\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,2,0\n3,4,1\n"
    )
    with pytest.warns(UserWarning, match="two columns are named 'a'; the second is called 'a.1'"):
        assert list(open_table(path, "y").frame.columns) == ["a", "a.1", "y"]


@pytest.mark.slow  # pyarrow takes half a second to import
def test_a_name_with_a_nul_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a\0b,y\n1,0\n2,1\n")
    refused(tmp_path / "t.csv", r"the name of column 'a\x00b' has a NUL character; remove it")


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="no /dev/zero")
def test_a_device_without_an_end_is_refused():
    refused(Path("/dev/zero"), "is a device; give a file")
    with pytest.raises(UsageError, match="is a device"):
        list(read_blocks(Path("/dev/urandom"), ["a"]))
    refused(Path("/dev/null"), "is empty")


def test_columns_of_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    import datetime

    from pyarrow.parquet import write_table

    from pucli.data.rows.blocks import read_blocks

    x = pa.array([1.0, 2.0, 3.0])
    path = tmp_path / "rows.parquet"
    write_table(pa.Table.from_arrays([x, x, x], names=["a", "a", "y"]), path)
    refused(path, "two columns are named 'a'")
    with pytest.raises(UsageError, match="two columns are named 'a'"):
        list(read_blocks(path, ["a"]))
    write_table(pa.table({"a": x, "t": pa.array([datetime.time(9, minute) for minute in (1, 2, 3)]), "y": x}), path)
    assert open_table(path, "y").frame["t"].astype(str).tolist() == ["09:01:00", "09:02:00", "09:03:00"]


@pytest.mark.slow
def test_a_header_of_a_million_names_is_counted(tmp_path):
    different([str(i) for i in range(200_000)])
    with pytest.raises(ValueError, match="1000000 columns"):
        different([str(i) for i in range(1_000_000)])
    path = tmp_path / "rows.csv"
    path.write_text(",".join(f"x{i}" for i in range(MOST_COLUMNS + 1)) + "\n" + "1," * MOST_COLUMNS + "1\n")
    refused(path, "columns")


def test_arrays_that_are_no_features_are_named(tmp_path):
    X, y = RNG.random((12, 3)), np.arange(12) % 2
    for arrays, words in (
        ({"X": X + 1j, "y": y}, ("real numbers", "X (12, 3) of complex numbers")),
        ({"all": {"X": X, "y": y}}, ("cells and structs", "variables of their own")),
        ({"X": X.T, "y": y}, ("12 labels in 'y' for 3 rows of 'X'", "its transpose, X'")),
    ):
        savemat(tmp_path / "t.mat", arrays)
        refused(tmp_path / "t.mat", *words)


@pytest.mark.slow  # openpyxl takes half a second to import
def test_a_workbook_that_lists_too_many_sheets(tmp_path, monkeypatch):
    from openpyxl import Workbook

    monkeypatch.setattr("pucli.data.files.binary.workbooks.MOST_SHEETS", 3)
    path, workbook = tmp_path / "book.xlsx", Workbook()
    for row in (["a", "y"], [1, 0], [2, 1]):
        workbook.active.append(row)
    for _ in range(2):
        workbook.create_sheet()
    workbook.save(path)
    assert open_table(path, "y").frame.shape == (2, 2)
    workbook.create_sheet()
    workbook.save(path)
    refused(path, "lists 4 sheets")


def test_texts_in_parquet_that_are_none(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"zzzz": [1.0, 2.0], "y": [0, 1]}), path)
    assert open_table(path, "y").frame.shape == (2, 2)
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"\xff\xfe\xff\xfe"))
    refused(path, "is damaged or not PARQUET")
    cells = pa.Array.from_buffers(pa.string(), 2, pa.array([b"ab", b"\xff\xfe"]).buffers())
    pq.write_table(pa.table({"a": cells, "y": [0, 1]}), path)
    refused(path, "is damaged or not PARQUET")
