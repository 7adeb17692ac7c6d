"""Tables of every format that pucli reads, damaged or strange."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from tests.trust.fuzz import Case, Rng, members_of, mutated, npy, zipped
from tests.trust.hostile_models import Payload

FORMATS = ("csv", "tsv", "csv.gz", "xlsx", "arff", "mat", "npz", "parquet", "libsvm")
_ROWS = 40
# Cases that take seconds are left out if there are fewer cases than this.
MANY, _SLOW = 1000, ("a cell of 100 MB", "100,000 columns")
# Cases for which a gigabyte of memory may not suffice; the error may say so.
_ALLOWED = dict.fromkeys(("100,000 columns", "array of 10 GB", "a feature of number 2e9"), frozenset({0, 1, 2}))


def cases(rng: Rng, bases: Mapping[str, bytes], count: int) -> list[Case]:
    """Return `count` tables with a command that trains on them or predicts: all strange ones, the others damaged."""
    good = {kind: _table(kind) for kind in FORMATS}
    models = sorted(bases)
    found = []
    strange = [item for item in _STRANGE.items() if count >= MANY or item[0] not in _SLOW]
    for number in range(count):
        if number < len(strange):
            name, make = strange[number]
            kind, content = make()
            what = name
        else:
            kind = FORMATS[int(rng.integers(0, len(FORMATS)))]
            what, content = mutated(rng, good[kind])
        file = f"t.{kind}"
        if kind in ("csv", "tsv", "csv.gz", "xlsx", "parquet", "arff") and rng.random() < 0.3:
            model = bases[models[int(rng.integers(0, len(models)))]]
            words = ["predict", "--model", "m.model", "--data", file, "--out", "p.csv"]
            files = {file: content, "m.model": model}
        else:
            label = "label" if kind == "libsvm" else "y"
            words, files = ["train", "--method", "blssvm", "--data", file, "--label", label], {file: content}
        # a cut file can still be a table, with labels that no method accepts
        codes = _ALLOWED.get(what, frozenset({0, 2}))
        found.append(Case(f"{kind} {what}", words, files, codes, warnings=1))  # of what was skipped or filled
    return found


def _columns() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    truth = np.arange(_ROWS) % 2
    a, b = rng.normal(size=(2, _ROWS)).round(3) + 2 * truth
    kinds = ["xyz"[i % 3] for i in range(_ROWS)]
    return {"a": a, "b": b, "c": kinds, "y": (truth & (np.arange(_ROWS) < 30)).astype(int)}


def _text(separator: str = ",", columns: Mapping[str, Any] | None = None) -> str:
    columns = _columns() if columns is None else columns
    lines = [separator.join(columns), *(separator.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return "\n".join(lines) + "\n"


def _table(kind: str) -> bytes:
    columns = _columns()
    frame, buffer = pd.DataFrame(columns), io.BytesIO()
    numbers = np.column_stack([columns["a"], columns["b"]])
    if kind == "csv.gz":
        return gzip.compress(_text().encode())
    if kind in ("csv", "tsv"):
        return _text("\t" if kind == "tsv" else ",").encode()
    if kind == "xlsx":
        frame.to_excel(buffer, index=False)
    elif kind == "parquet":
        frame.to_parquet(buffer)
    elif kind == "npz":
        np.savez(buffer, X=numbers, y=columns["y"])
    elif kind == "mat":
        from scipy.io import savemat

        savemat(buffer, {"X": numbers, "y": columns["y"]}, do_compression=True)
    elif kind == "arff":
        head = (
            "@relation t\n@attribute a numeric\n@attribute b numeric\n@attribute c {x,y,z}\n@attribute y {0,1}\n@data\n"
        )
        return (head + _text().split("\n", 1)[1]).encode()
    else:
        rows = zip(columns["y"], *numbers.T, strict=True)
        return "".join(f"{y} 1:{a} 2:{b}\n" for y, a, b in rows).encode()
    return buffer.getvalue()


def _changed(**columns: Any) -> bytes:
    return _text(columns={**_columns(), **columns}).encode()


def _wide(columns: int) -> bytes:
    lines = [",".join([*(f"c{i}" for i in range(columns)), "y"])]
    lines += [",".join(["1"] * columns + [str(row % 2)]) for row in range(3)]
    return "\n".join(lines).encode()


def _huge_cell(size: int) -> bytes:
    return _changed(c=["x" * size, *["y"] * (_ROWS - 1)])


def _bomb(kind: str) -> bytes:
    """Return a small file that unpacks to a table of gigabytes."""
    row = b"1,2,3\n" * 2**18
    if kind == "csv.gz":
        return gzip.compress(b"a,b,y\n") + 1024 * gzip.compress(row)
    if kind == "npz":
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 1250)})
        content = header.getvalue() + b"\0" * 1000
        return zipped({"X.npy": content, "y.npy": content})
    sheet = members_of(_table("xlsx"))
    big = b"<row>" + b"<c><v>1</v></c>" * 2**22 + b"</row>"
    sheet["xl/worksheets/sheet1.xml"] = sheet["xl/worksheets/sheet1.xml"].replace(b"<sheetData>", b"<sheetData>" + big)
    return zipped(sheet)


def _entities() -> bytes:
    """Return a spreadsheet whose XML has nested entities that expand exponentially."""
    sheet = members_of(_table("xlsx"))
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">' for i in range(12))
    name = "xl/sharedStrings.xml" if "xl/sharedStrings.xml" in sheet else "xl/workbook.xml"
    body = sheet[name].split(b"?>", 1)[-1].replace(b"</", b"&e11;</", 1)
    sheet[name] = f'<?xml version="1.0"?><!DOCTYPE x [{entities}]>'.encode() + body
    return zipped(sheet)


def _pickled() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, X=np.array([Payload()], dtype=object), y=np.zeros(1))
    return buffer.getvalue()


_FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-2+3", '=HYPERLINK("http://x.invalid";"x")']

_STRANGE: dict[str, Callable[[], tuple[str, bytes]]] = {
    "BOM": lambda: ("csv", b"\xef\xbb\xbf" + _text().encode()),
    "CRLF": lambda: ("csv", _text().replace("\n", "\r\n").encode()),
    "CR alone": lambda: ("csv", _text().replace("\n", "\r").encode()),
    "UTF-16": lambda: ("csv", _text().encode("utf-16")),
    "UTF-32": lambda: ("csv", _text().encode("utf-32")),
    "Latin-1": lambda: ("csv", _changed(c=["é"] * _ROWS).decode().encode("latin-1")),
    "NUL": lambda: ("csv", _text().replace("x", "\0").encode()),
    "NUL in the header": lambda: ("csv", b"a\0,b,c,y\n" + _text().split("\n", 1)[1].encode()),
    "unclosed quote": lambda: ("csv", _text().replace("x", '"x', 1).encode()),
    "quote at the end": lambda: ("csv", (_text() + '"').encode()),
    "duplicate names": lambda: ("csv", _text().replace("a,b", "a,a", 1).encode()),
    "names without text": lambda: ("csv", _text().replace("a,b", ",", 1).encode()),
    "control characters": lambda: ("csv", _changed(c=["\x1b[31m\x07"] * _ROWS)),
    "control characters in names": lambda: ("csv", _text().replace("a,b", "\x1b[2Ja,\x07b", 1).encode()),
    "ragged": lambda: ("csv", _text().replace("x", "x,9", 1).encode()),
    "short row": lambda: ("csv", (_text() + "1\n").encode()),
    "only a header": lambda: ("csv", b"a,b,c,y\n"),
    "only commas": lambda: ("csv", b",,,\n,,,\n,,,\n"),
    "blank lines": lambda: ("csv", b"\n" * 1000),
    "one column": lambda: ("csv", b"y\n0\n1\n"),
    "words for numbers": lambda: ("csv", _changed(a=["nan", "inf", "-inf", "1e999", "1,5"] * (_ROWS // 5))),
    "huge numbers": lambda: ("csv", _changed(a=["9" * 400] * _ROWS)),
    "largest doubles": lambda: ("csv", _changed(a=["1.7e308"] * _ROWS)),
    "formulas": lambda: ("csv", _changed(c=_FORMULAS * (_ROWS // 5))),
    "labels of one kind": lambda: ("csv", _changed(y=[1] * _ROWS)),
    "labels of many kinds": lambda: ("csv", _changed(y=range(_ROWS))),
    "labels that are lists": lambda: ("csv", _changed(y=["[1]"] * _ROWS)),
    "a label for NaN": lambda: ("csv", _changed(y=["nan", "1"] * (_ROWS // 2))),
    "100,000 columns": lambda: ("csv", _wide(100_000)),
    "a cell of 20 MB": lambda: ("csv", _huge_cell(20_000_000)),
    "a cell of 100 MB": lambda: ("csv", _huge_cell(100_000_000)),
    "a name of 1 MB": lambda: ("csv", _text().replace("a,b", "a" * 10**6 + ",b", 1).encode()),
    "bomb of 1.6 GB": lambda: ("csv.gz", _bomb("csv.gz")),
    "gzip of gzip": lambda: ("csv.gz", gzip.compress(gzip.compress(_text().encode()))),
    "not gzip": lambda: ("csv.gz", b"\x1f\x8bnonsense"),
    "array of 10 GB": lambda: ("npz", _bomb("npz")),
    "pickle": lambda: ("npz", _pickled()),
    "a single array": lambda: ("npz", npy(np.zeros((3, 3)))),
    "other names": lambda: ("npz", zipped({"../../x.npy": npy(np.zeros((3, 3))), "y.npy": npy(np.zeros(3))})),
    "text members": lambda: ("npz", zipped({"X.npy": b"hello", "y": b"hello"})),
    "sheet of 60 MB": lambda: ("xlsx", _bomb("xlsx")),
    "entities": lambda: ("xlsx", _entities()),
    "another zip": lambda: ("xlsx", zipped({"a.txt": b"hello"})),
    "CSV named so": lambda: ("xlsx", _text().encode()),
    "CSV named so, 2": lambda: ("parquet", _text().encode()),
    "CSV named so, 3": lambda: ("mat", _text().encode()),
    "CSV named so, 4": lambda: ("npz", _text().encode()),
    "CSV named so, 5": lambda: ("arff", _text().encode()),
    "CSV named so, 6": lambda: ("libsvm", _text().encode()),
    "xlsx named so": lambda: ("csv", _table("xlsx")),
    "parquet named so": lambda: ("csv", _table("parquet")),
    "a feature of number 2e9": lambda: ("libsvm", b"1 1:1 2000000000:1\n0 1:2\n"),
    "a negative feature": lambda: ("libsvm", b"1 -1:1 2:1\n0 1:2\n"),
    "features out of order": lambda: ("libsvm", b"1 5:1 2:1\n0 1:2\n"),
    "MATLAB 7.3": lambda: ("mat", b"MATLAB 7.3 MAT-file".ljust(116) + b"\0" * 8 + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n"),
    "no attributes": lambda: ("arff", b"@relation t\n@data\n1,2\n"),
    "relational": lambda: ("arff", b"@relation t\n@attribute a relational\n@data\n1\n"),
    "sparse rows": lambda: ("arff", b"@relation t\n@attribute a numeric\n@attribute y {0,1}\n@data\n{0 1, 1 1}\n"),
    "an attribute without a kind": lambda: ("arff", b"@relation t\n@attribute a\n@data\n1\n"),
}  # fmt: skip
