"""Reading options, packed files and further formats: each gives the rows of the plain CSV file."""

import bz2
import gzip
import io
import json
import lzma
import os
import re
import sys
import threading
import types
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.files import packed as damage
from pucli.data.files import packed as unpacking
from pucli.data.files.tables import KNOWN, open_table
from pucli.data.reading import Reading
from pucli.data.rows.blocks import STDIN, read_blocks
from pucli.data.rows.user_file import apply_file, fit_file

NEEDED = ["age", "city"]


def table(n=60):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"age": random.integers(18, 80, n), "income": random.normal(2e4, 5e3, n).round(2)})
    return frame.assign(city=["Köln", "Zürich", "Lyon"] * (n // 3), bought=["yes", ""] * (n // 2))


def written(path, **options):
    table().to_csv(path, index=False, **options)
    return path


def zipped(raw):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("folder/rows.csv", raw)
        archive.writestr("__MACOSX/folder/._rows.csv", b"\0")
    return stream.getvalue()


def zstd(raw):
    pyarrow = pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    return pyarrow.compress(raw, "zstd", asbytes=True)


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zip": zipped, ".zst": zstd}


def same_as_plain(path, how=None):
    """Check that a file gives the rows of the plain one, at once and in blocks."""
    how = how or Reading()
    expected = table().replace("", np.nan)
    frame = open_table(path, "bought", known=NEEDED, how=how).frame[list(expected)]
    pd.testing.assert_frame_equal(frame.astype(object), expected.astype(object), check_dtype=False)
    blocks = pd.concat([block.frame[NEEDED] for block in read_blocks(path, NEEDED, rows=7, how=how)])
    blocks = blocks.reset_index(drop=True)
    pd.testing.assert_frame_equal(blocks.astype(object), expected[NEEDED].astype(object))


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("named", [True, False])
def test_packed_files_are_read_whatever_their_name(tmp_path, suffix, named):
    path = tmp_path / f"rows.csv{suffix if named else ''}"
    path.write_bytes(PACKERS[suffix](written(tmp_path / "plain.csv").read_bytes()))
    same_as_plain(path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst", ".zip"])
def test_a_packed_stream_is_read(tmp_path, monkeypatch, suffix):
    raw = PACKERS[suffix](written(tmp_path / "plain.csv").read_bytes())
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(raw)))
    blocks = pd.concat([block.frame for block in read_blocks(STDIN, NEEDED)])
    pd.testing.assert_frame_equal(blocks.astype(object), table()[NEEDED].astype(object))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_packed_stream_or_file_is_bounded(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(unpacking, "TEXT_BYTES", 10_000)
    raw = PACKERS[suffix](b"age,city\n" + b"1,a\n" * 400_000)
    path = tmp_path / f"rows.csv{suffix}"
    path.write_bytes(raw)
    assert len(raw) * damage.RATIO < 1_600_000
    with pytest.raises(UsageError, match="unpacks to more than 200 times its size"):
        open_table(path, None)
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(raw)))
    with pytest.raises(UsageError, match="stdin unpacks to more than"):
        list(read_blocks(STDIN, NEEDED))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_a_packed_file_that_is_cut_short_is_refused(tmp_path, suffix):
    path = tmp_path / f"rows.csv{suffix}"
    raw = PACKERS[suffix](written(tmp_path / "plain.csv").read_bytes())
    path.write_bytes(raw[:-20])
    with pytest.raises(UsageError, match="cut short, or bytes of it have changed"):
        open_table(path, None)


def test_an_archive_of_several_files_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "rows.zip", "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")
        archive.writestr("b.csv", "a,b\n1,2\n")
    with pytest.raises(UsageError, match=r"zip archive of 2 files \('a.csv', 'b.csv'\)"):
        open_table(tmp_path / "rows.zip", None)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-32"])
def test_a_byte_order_mark_names_the_encoding(tmp_path, encoding):
    same_as_plain(written(tmp_path / "rows.csv", encoding=encoding, sep="\t" if encoding == "utf-16" else ","))


def test_an_encoding_that_the_file_has_not_is_told(tmp_path):
    path = written(tmp_path / "rows.csv", encoding="utf-8")
    with pytest.raises(UsageError, match=r"is not utf-16 text \(byte 1\); give its encoding"):
        same_as_plain(path, Reading(encoding="utf-16"))


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16-le", "cp437"])
def test_an_encoding_can_be_given(tmp_path, encoding):
    path = written(tmp_path / "rows.csv", encoding=encoding)
    same_as_plain(path, Reading(encoding=encoding))
    with pytest.raises(UsageError, match="--encoding"):
        open_table(path, None)


@pytest.mark.parametrize("sep", ["|", ";", "\t", "^", ":"])
def test_a_separator_can_be_given(tmp_path, sep):
    same_as_plain(written(tmp_path / "rows.csv", sep=sep), Reading(separator=sep))
    assert Reading(separator="\\t").separator == "\t"


def test_bars_and_the_line_of_a_spreadsheet_are_found(tmp_path):
    same_as_plain(written(tmp_path / "bars.csv", sep="|"))
    path = tmp_path / "said.csv"
    path.write_bytes(b"sep=;\r\n" + written(tmp_path / "p.csv", sep=";", lineterminator="\r\n").read_bytes())
    same_as_plain(path)
    assert open_table(path, "bought").place(0) == "line 3"


def test_lines_above_the_header_are_skipped(tmp_path):
    path = tmp_path / "title.csv"
    path.write_bytes(b"Report;of the year\n\n" + written(tmp_path / "p.csv").read_bytes())
    same_as_plain(path, Reading(skip_rows=2))
    assert open_table(path, "bought", how=Reading(skip_rows=2)).place(4) == "line 8"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (Reading(separator="|"), r"no column 'age'.*--sep , splits it; the file is read with --sep '\|'"),
        (Reading(skip_rows=2), "no column 'age'.*; the file is read with --skip-rows 2"),
    ],
)
def test_an_option_of_training_that_a_new_file_does_not_need_is_named(tmp_path, how, words):
    path = tmp_path / "new.csv"
    path.write_text("age,city\n31,5\n47,6\n52,7\n")
    with pytest.raises(UsageError, match=words):
        list(read_blocks(path, ["age", "city"], how=how))


@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_a_sheet_can_be_named(tmp_path, suffix):
    if suffix == ".ods":
        pytest.importorskip("odf", reason="nothing writes ODS here")
    path = tmp_path / f"book{suffix}"
    with pd.ExcelWriter(path, engine="odf" if suffix == ".ods" else "openpyxl") as book:
        pd.DataFrame({"Read me": ["first"]}).to_excel(book, sheet_name="Cover", index=False)
        table().to_excel(book, sheet_name="rows", index=False)
    same_as_plain(path, Reading(sheet="rows"))
    with pytest.raises(UsageError, match=r"sheet 'Cover' was read, the others are 'rows' \(--sheet NAME\)"):
        fit_file(path, "bought")


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json", ".jsonl.gz"])
def test_json_is_read(tmp_path, suffix):
    records = [{k: v for k, v in row.items() if v != ""} for row in table().to_dict("records")]
    text = json.dumps(records) if suffix == ".json" else "\n".join(map(json.dumps, records)) + "\n"
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
    same_as_plain(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"c": 1}\n{"a": {"b": 2}, "a.b": 3}\n', "line 2: two parts are both called 'a.b'"),
        ('{"c": 1}\n' + '{"a":' * 30 + "1" + "}" * 30 + "\n", "line 2 is nested too deeply"),
        ('{"a": 1}\n[1]\n', "line 2 is not an object"),
        ('{"a": 1}\n{"a": 1,}\n', "line 2 is not JSON"),
        ('{"a": 1, "a": 2}\n', "line 1 has the key 'a' twice"),
    ],
)
def test_a_wrong_line_of_json_is_named(tmp_path, text, words):
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        open_table(path, None)


def test_integers_of_json_stay_exact(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 9007199254740993, "zip": "00122"}\n{"id": null, "zip": "9"}\n')
    frame = open_table(path, None).frame
    assert str(frame["id"][0]) == "9007199254740993" and frame["zip"][0] == "00122"


@pytest.mark.parametrize("suffix", [".feather", ".arrow"])
def test_feather_is_read(tmp_path, suffix):
    pytest.importorskip("pyarrow", reason="the extra [parquet] is not installed")
    path = tmp_path / f"rows{suffix}"
    table().replace("", None).to_feather(path)
    same_as_plain(path)
    path.rename(tmp_path / "rows.csv")
    with pytest.raises(UsageError, match=r"is a Feather \(Arrow\) file, not CSV; name it rows.feather"):
        open_table(tmp_path / "rows.csv", None)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (
            b"<!DOCTYPE html>\n<html><body>login</body></html>",
            "an HTML page, not CSV; the server may have sent an error",
        ),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n", "a Git LFS pointer.*`git lfs pull`"),
        (b"| a | b |\n|---|---|\n| 1 | 2 |\n", "a Markdown table"),
        (b"| a | b |\r\n| :-- | --: |\r\n| 1 | 2 |\r\n", "a Markdown table"),
        (b'<table border="1">\n<tr><td>1</td></tr></table>', "an HTML page"),
        (gzip.compress(gzip.compress(b"a,b\n1,2\n", mtime=0), mtime=0), "packed twice; unpack it once"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
        (b"https://example.org/rows.csv\n", "a link, not the file itself"),
        (b"\x89PNG\r\n\x1a\n0000", "a picture"),
        (b'<?xml version="1.0"?>\n<rows/>', "an XML document"),
        (b'{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', "JSON lines, not CSV; name it rows.jsonl"),
        (b"@relation x\n@attribute a numeric\n@data\n1\n", "an ARFF file, not CSV; name it rows.arff"),
        (b"SQLite format 3\0" + bytes(80), "an SQLite database"),
        (b"\x80\x02}q\x00.", "a pickle, which can run any code"),
        (b"\x04\x22\x4d\x18" + bytes(80), "a file packed by LZ4, not CSV; unpack it, or pack it with gzip"),
        (b"\xff\x06\x00\x00sNaPpY" + bytes(80), "a file packed by Snappy"),
        (b"\x1f\x9d\x90" + bytes(80), "a file packed by compress"),
        (b'{"url": "https://docs.google.com/spreadsheets/d/x", "doc_id": "x"}', "a link to a Google Sheet"),
        (b"# of people\n- age: 31\n  label: 1\n", "a YAML document"),
        (b"-- dump\nCREATE TABLE t (a INT);\nINSERT INTO t VALUES (1, 2);\n", "a file of SQL statements"),
        (gzip.compress(b"RDX3\nX\n", mtime=0), "an R data file"),
        (b"\xff\xff\xff\xff\x10\x01\0\0", "an Arrow stream, not CSV; name it rows.feather"),
        (b"\x72\x02\x01\0" + bytes(80), "a Stata file"),
        (b"ASCII SPSS PORT FILE", "an SPSS file"),
    ],
)
def test_what_is_no_table_is_named(tmp_path, raw, words):
    path = tmp_path / "rows.csv"
    path.write_bytes(raw)
    with pytest.raises(UsageError, match=f"is {words}"):
        open_table(path, None)
    with pytest.raises(UsageError, match=f"is {words}"):
        list(read_blocks(path, ["a"]))


@pytest.mark.parametrize("name", ["rows.xlsx.zip", "rows.zip", "rows.parquet.gz"])
def test_a_packed_file_that_is_no_text_is_named(tmp_path, name):
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(b"PAR", mtime=0))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("rows.xlsx", b"PK")
    with pytest.raises(UsageError, match=r"is a packed \.(xlsx|parquet) file, and only text is read packed; unpack it"):
        open_table(path, None)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("xl/workbook.bin", "a binary workbook .XLSB., not XLSX; save it as .xlsx"),
        ("Index/Document.iwa", "a Numbers or Pages"),
    ],
)
def test_documents_of_other_programs_are_named(tmp_path, part, words):
    path = tmp_path / "rows.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(part, b"")
    with pytest.raises(UsageError, match=f"is {words}"):
        open_table(path, None)


def test_files_with_a_password_are_named(tmp_path):
    path = tmp_path / "rows.xlsx"
    path.write_bytes(
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(99)
    )
    with pytest.raises(UsageError, match="is protected by a password; save it without one"):
        open_table(path, None)
    path = tmp_path / "rows.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("rows.csv", b"a,b\n1,2\n")
    content = bytearray(path.read_bytes())
    for place in (6, content.index(b"PK\1\2") + 8):
        content[place] |= 1  # the bit that says that the member is encrypted
    path.write_bytes(content)
    with pytest.raises(UsageError, match="it is protected by a password"):
        open_table(path, None)


def test_a_wrong_byte_is_named_by_its_line(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"age,city\n31,Ulm\n47,K\xf6ln\n")
    with pytest.raises(
        UsageError, match=r"not UTF-8 text \(line 3, byte 21\); give its encoding, e\.g\. --encoding cp1252"
    ):
        open_table(path, None)


WRITTEN = {
    "cp1252": "Müller,Köln",
    "cp1250": "Wałęsa,Łódź",
    "cp1251": "Иван,Москва",
    "koi8-r": "Иван,Москва",
    "gb18030": "张三,北京",
    "cp932": "田中,サトウ",
    "cp949": "김철수,서울",
    "big5": "客戶,臺北",
    "cp850": "Müller,Köln",
    "mac-roman": "Müller,Köln",
}


@pytest.mark.parametrize("encoding", WRITTEN)
def test_an_encoding_is_chosen_by_what_the_text_is_in_it(tmp_path, encoding):
    path, words = tmp_path / "rows.csv", WRITTEN[encoding].split(",")
    path.write_text(f"name,city\n{WRITTEN[encoding]}\n" * 3, encoding=encoding)
    with pytest.raises(UsageError, match=r"give its encoding, e\.g\. --encoding ") as told:
        open_table(path, None)
    choices = dict(re.findall(r"([\w-]+) if (?:it reads )?'([^']+)'", str(told.value)))
    assert choices[encoding] in words and len(choices) <= 4
    assert open_table(path, None, how=Reading(encoding=encoding)).frame["name"][0] == words[0]


def test_an_encoding_that_garbles_the_words_is_told(tmp_path, recwarn):
    path = tmp_path / "rows.csv"
    path.write_text("name,city\n张三,北京\n李四,上海\n", encoding="gbk")
    open_table(path, None, how=Reading(encoding="gbk"))
    assert not recwarn
    with pytest.warns(UserWarning, match="when it is read as cp1252; give --encoding gb18030 if it reads '"):
        open_table(path, None, how=Reading(encoding="cp1252"))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le"])
def test_text_of_another_encoding_needs_no_extension(tmp_path, encoding):
    path = tmp_path / "rows"
    path.write_text("age,city\n31,Ulm\n47,Köln\n", encoding=encoding)
    assert list(open_table(path, None, how=Reading(encoding=encoding)).frame["city"]) == ["Ulm", "Köln"]
    with pytest.raises(UsageError, match=f"--encoding {encoding}"):
        open_table(path, None)


def test_an_address_is_named():
    with pytest.raises(UsageError, match="is an address, not a file; download the file first"):
        open_table(Path("https://example.org/rows.csv"), None)


def test_words_for_empty_cells_are_added(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,age,score,city\n999,31,-,Bonn\n2,999,1.5,n.v.\n3,47,2,Lyon\n")
    frame = open_table(path, None, how=Reading(missing=("-", "n.v.", "999")), keep=["id"], as_text=["id"]).frame
    assert frame.isna().sum().tolist() == [0, 1, 1, 1] and frame["id"].tolist() == ["999", "2", "3"]
    (block,) = read_blocks(path, ["age", "city"], how=Reading(missing=("n.v.", "999")))
    assert block.frame.isna().to_numpy().tolist() == [[False, False], [True, True], [False, False]]


def test_several_files_are_one_table(tmp_path):
    whole, first, second = table(), tmp_path / "a.csv", tmp_path / "b.csv"
    whole[:25].to_csv(first, index=False)
    whole[25:][list(reversed(whole.columns))].to_csv(second, index=False)
    file = fit_file([first, second], "bought")
    np.testing.assert_array_equal(file.X, fit_file(written(tmp_path / "whole.csv"), "bought").X)
    assert file.table.place(0) == f"line 2 of {first}" and file.table.place(25) == f"line 2 of {second}"
    blocks = pd.concat([block.frame for block in read_blocks([first, second], NEEDED)], ignore_index=True)
    pd.testing.assert_frame_equal(blocks.astype(object), whole[NEEDED].astype(object))
    np.testing.assert_array_equal(apply_file([second, first], file.encoder).X[-25:], file.X[:25])
    whole.drop(columns="income").to_csv(second, index=False)
    with pytest.raises(UsageError, match=r"b.csv has no column 'income'; files that are read as one table"):
        fit_file([first, second], "bought")


@pytest.mark.parametrize("base", [0, 1])
def test_the_numbering_of_libsvm_features_is_that_of_training(tmp_path, base):
    train, new = tmp_path / "train.libsvm", tmp_path / "new.libsvm"
    train.write_text(f"1 {base}:1 {base + 1}:5 {base + 2}:7\n0 {base + 1}:4 {base + 2}:2\n0 {base}:2 {base + 2}:3\n")
    new.write_text(f"0 {base + 1}:5\n0 {base + 1}:4\n")  # neither the first nor the last feature is used
    file = fit_file(train, "label")
    assert file.table.reading.first_feature == base
    assert apply_file(new, file.encoder, how=file.table.reading).X.tolist() == [[0, 5, 0], [0, 4, 0]]
    if base:
        new.write_text("0 0:1 1:2\n")
        with pytest.raises(UsageError, match=r"has a feature 0, but .* numbered from 1"):
            apply_file(new, file.encoder, how=file.table.reading)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_read_several_times_from_a_copy(tmp_path):
    raw, pipe = written(tmp_path / "rows.csv").read_bytes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(raw,))
    writer.start()
    file = fit_file(pipe, "bought")
    writer.join()
    np.testing.assert_array_equal(file.X, fit_file(tmp_path / "rows.csv", "bought").X)
    assert file.table.place(3) == "line 5"


def test_options_are_kept_as_a_record():
    given = Reading("cp1252", ";", 2, "rows", ",", ("-", "999"), 0)
    assert Reading.of_record(json.loads(json.dumps(given.record()))) == given
    assert Reading().record() == {} and Reading().words == ""
    assert given.words == "--encoding cp1252 --sep ';' --skip-rows 2 --sheet rows --decimal , --missing -,999"
    assert given.over(Reading(skip_rows=1)) == Reading("cp1252", ";", 1, "rows", ",", ("-", "999"), 0)
    for wrong in ({"other": 1}, {"skip_rows": "2"}, {"missing": [1]}, {"first_feature": 7}, {"missing": "-"}):
        with pytest.raises(ValueError):
            Reading.of_record(wrong)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"encoding": "klingon"}, "--encoding klingon: unknown encoding"),
        ({"encoding": "base64"}, "unknown encoding"),
        ({"encoding": "punycode"}, "unknown encoding"),
        ({"separator": "¦"}, "give one character"),
        ({"separator": ";;"}, "--sep ;;: give one character"),
        ({"decimal": "'"}, "--decimal ': the decimal sign is . or ,"),
        ({"decimal": ",", "separator": ","}, "both ','"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(UsageError, match=words):
        Reading(**options)


def test_the_list_of_formats_names_the_extras(tmp_path):
    (tmp_path / "rows.xyz").write_bytes(bytes(range(256)))
    words = r"unknown file type '.xyz'; .*.xls .ods .mat.*pucli\[parquet\]: .parquet"
    with pytest.raises(UsageError, match=words):
        open_table(tmp_path / "rows.xyz", None)
    assert {".csv", ".jsonl", ".feather", ".ods"} <= set(KNOWN)


def test_numbers_of_a_workbook_are_no_texts_of_a_form(tmp_path):
    """A model that was trained on 1.234,5 reads the number 1234.5 of a sheet as it is."""
    frame = table().assign(income=[1.5, 1234.5, 51.25] * 20)
    text = frame.assign(income=["1,5", "1.234,5", "51,25"] * 20)
    text.to_csv(tmp_path / "text.csv", index=False, sep=";")
    frame.to_excel(tmp_path / "sheet.xlsx", index=False)
    text.to_excel(tmp_path / "texts.xlsx", index=False)
    file = fit_file(tmp_path / "text.csv", "bought")
    assert file.encoder.formed == ("income",)
    for name in ("sheet.xlsx", "texts.xlsx"):
        np.testing.assert_array_equal(apply_file(tmp_path / name, file.encoder).X, file.X)


def test_words_for_empty_leave_lists_alone(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": ["x", "y", "z"], "c": [[1], [2], [3]], "y": [1, 0, 0]}).to_parquet(path)
    frame = open_table(path, "y", how=Reading(missing=("x",))).frame
    assert frame["a"].isna().tolist() == [True, False, False]
    assert [list(cell) for cell in frame["c"]] == [[1], [2], [3]]
