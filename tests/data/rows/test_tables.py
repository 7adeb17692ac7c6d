"""A user's own file: every format gives the same numbers, and every fault its message with file, column and place."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pucli.core.errors import UsageError
from pucli.data import read_table
from pucli.data.files.tables import reading
from pucli.data.files.text.arff import read_arff, split_row
from pucli.data.reading import Reading
from tests.helpers import examples

X = np.array([[1.5, -2.0], [0.1, 4.0], [1e-3, 7.0], [3.0, 8.25]])
LABEL = np.array([1, 0, 1, 0])


def write(path, kind):
    """Write X and the label column "y" in the format `kind`; return the path and the label's name."""
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=LABEL)
    file = path / f"data.{kind}"
    if kind in {"csv", "csv.gz", "txt"}:
        frame.to_csv(file, index=False, sep={"txt": " "}.get(kind, ","))
    elif kind == "tsv":
        frame.to_csv(file, index=False, sep="\t")
    elif kind == "data":
        frame.to_csv(file, index=False, sep=";")
    elif kind == "xlsx":
        frame.to_excel(file, index=False)
    elif kind == "parquet":
        frame.to_parquet(file)
    elif kind == "arff":
        head = "% a comment\n@relation t\n@attribute a numeric\n@attribute 'b' REAL\n@attribute y {0, 1}\n@data\n"
        file.write_text(head + frame.to_csv(index=False, header=False))
    elif kind == "mat":
        from scipy.io import savemat

        savemat(file, {"X": X, "y": LABEL})
    elif kind == "npz":
        np.savez(file, X=X, y=LABEL)
    elif kind == "libsvm":
        file.write_text("".join(f"{s} 1:{a!r} 2:{b!r}\n" for s, (a, b) in zip(LABEL, X.tolist(), strict=True)))
        return file, "label"
    return file, "y"


KINDS = ["csv", "csv.gz", "txt", "tsv", "data", "xlsx", "parquet", "arff", "mat", "npz", "libsvm"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_numbers(kind, tmp_path):
    file, label = write(tmp_path, kind)
    features, y, names = read_table(file, label=label)
    assert np.array_equal(features, X)
    assert y.tolist() == [1, -1, 1, -1]
    assert names == (["1", "2"] if kind in {"mat", "npz", "libsvm"} else ["a", "b"])
    assert read_table(file, label=label, positive=0)[1].tolist() == [-1, 1, -1, 1]
    assert read_table(file, label=label, multiclass=True)[1].tolist() == LABEL.tolist()


@examples(20)
@given(values=st.lists(st.floats(-1e150, 1e150), min_size=2, max_size=8))
@pytest.mark.slow
def test_numbers_survive_text_to_the_last_bit(values, tmp_path_factory):
    file = tmp_path_factory.mktemp("bits") / "t.csv"
    file.write_text("a,y\n" + "".join(f"{value!r},{i % 2}\n" for i, value in enumerate(values)))
    assert read_table(file, label="y")[0].ravel().tolist() == values


def csv_file(tmp_path, text, name="mine.csv"):
    file = tmp_path / name
    file.write_text(text)
    return file


def fault(tmp_path, text, message, name="mine.csv", **options):
    file = csv_file(tmp_path, text, name)
    with pytest.raises(UsageError, match=message) as caught:
        read_table(file, **{"label": "y", **options})
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n  \n", "is empty"),
        ("a,y\n", "has a header line but no data rows"),
        ("a,b\n1,2\n", r"no column 'y'; columns: a, b"),
        ("a,Y\n1,2\n", r"no column 'y'; did you mean 'Y'\?"),
        ("1,2,3\n4,5,6\n", r"no column 'y'.*no header line, its columns are numbered 1 to 3"),
        ("a,y\n1,1\n2,1\n", r"label column 'y' has only one class, '1' \(2 rows\)"),
        (
            "a,y\n1,u\n2,v\n3,w\n3,w\n",
            r"'y' has 3 classes: 'u' \(1 row\), 'v' \(1 row\), 'w' \(2 rows\); .*--positive u",
        ),
        (
            "a,y\n1,1\n2,\n3,0\n",
            r"label column 'y' is empty in 1 of 3 rows, first at line 3; .*add --positive 0 or --positive 1",
        ),
        (
            "a,b,y\n1,2,0\n,2,1\n3,inf,1\n",
            r"1 missing \(empty or NaN\) and 1 infinite values, first in column 'a', line 3",
        ),
        ("a,b,y\n1,2,0\n4,NaN,1\n3,1,1\n", r"1 missing .* value, first in column 'b', line 3"),
        ("a,y\n1,0\n-inf,1\n", r"1 infinite value, first in column 'a', line 3"),
        ("a,job,y\n1,3,0\n1,cook,1\n1,cook,1\n", r"column 'job', line 3: 'cook' is not a number \(2 such cells"),
        ("y\n1\n0\n", "no columns besides the label 'y'"),
        ("a,y\n1,0\n1,0,7\n", r"line 3 has 3 fields, but the header has 2"),
        ("a,y\n1,0,7,8\n", r"line 2 has 4 fields, but the header has 2"),
    ],
)
def test_faults_of_a_csv_file(text, message, tmp_path):
    fault(tmp_path, text, message)


def test_lines_are_counted_as_an_editor_counts_them(tmp_path):
    text = 'note,a,y\n"two\nlines",1,0\n\n"5",x,1\n'
    fault(tmp_path, text, r"column 'note', line 2: 'two\\nlines' is not a number")
    fault(tmp_path, text.replace('"two\nlines"', '"\n7"'), r"column 'a', line 5: 'x' is not a number")
    fault(tmp_path, "a b y\n1 2 0\n\n3 x 1\n", r"column 'b', line 4: 'x'", name="mine.txt")


def test_places_in_other_formats(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan], "y": [0, 1, 1]})
    frame.to_excel(tmp_path / "t.xlsx", index=False, sheet_name="Sheet A")
    with pytest.raises(UsageError, match=r"column 'a', row 4 of sheet 'Sheet A'"):
        read_table(tmp_path / "t.xlsx", label="y")
    with pytest.raises(UsageError, match=r"unknown sheet 'sheet B'; did you mean 'Sheet A'"):
        read_table(tmp_path / "t.xlsx", label="y", how=Reading(sheet="sheet B"))
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(UsageError, match=r"column 'a', row 3"):
        read_table(tmp_path / "t.parquet", label="y")
    np.savez(tmp_path / "t.npz", X=frame[["a", "a"]].to_numpy(), y=frame["y"].to_numpy())
    with pytest.raises(UsageError, match=r"2 missing .* first in column '1', row 3"):
        read_table(tmp_path / "t.npz", label="y")
    (tmp_path / "t.arff").write_text("@relation t\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n\n?,1\n")
    with pytest.raises(UsageError, match=r"column 'a', line 7"):
        read_table(tmp_path / "t.arff", label="y")


def test_an_empty_row_in_a_sheet_is_skipped_but_counted(tmp_path):
    pd.DataFrame({"a": [1, None, "x"], "y": [0, None, 1]}).to_excel(tmp_path / "t.xlsx", index=False)
    with pytest.raises(UsageError, match="column 'a', row 4 of sheet"):
        read_table(tmp_path / "t.xlsx", label="y")


def test_positive_class(tmp_path):
    file = csv_file(tmp_path, "a,y\n1,spam\n2,ham\n3,egg\n")
    assert read_table(file, label="y", positive="egg")[1].tolist() == [-1, -1, 1]
    fault(
        tmp_path, "a,y\n1,spam\n2,ham\n", r"has no class 'eggs'; its classes: 'ham' \(1 row\), 'spam'", positive="eggs"
    )
    fault(tmp_path, "a,y\n1,spam\n2,spam\n", "has only one class", positive="spam")


def test_an_empty_label_is_unlabeled_once_the_positive_class_is_named(tmp_path):
    file = csv_file(tmp_path, "a,y\n1,1\n2,\n3,\n")
    assert read_table(file, label="y", positive="1")[1].tolist() == [1, -1, -1]


@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        (["2", "", "0", "-1"], [2, -1, 0, -1]),
        (["2.0", "", "0.0", ""], [2, -1, 0, -1]),
        (["up", "", "down", "-1"], ["up", "-1", "down", "-1"]),
        (["", "", "", ""], [-1, -1, -1, -1]),
    ],
)
def test_an_empty_label_among_classes_is_unlabeled_where_that_is_asked_for(cells, classes, tmp_path):
    file = csv_file(tmp_path, "a,y\n" + "".join(f"{row},{cell}\n" for row, cell in enumerate(cells)))
    assert read_table(file, label="y", multiclass=True, unlabeled=-1)[1].tolist() == classes
    empty = cells.count("")
    fault(
        tmp_path,
        file.read_text(),
        rf"label column 'y' is empty in {empty} rows, first at line {cells.index('') + 2}",
        multiclass=True,
    )


@pytest.mark.parametrize("positive", ["1", "1.0", 1])
def test_a_numeric_class_is_found_however_it_is_written(positive, tmp_path):
    file = csv_file(tmp_path, "a,y\n1,1.0\n2,0.0\n3,2\n")
    assert read_table(file, label="y", positive=positive)[1].tolist() == [1, -1, -1]


def test_truth_values(tmp_path):
    file = csv_file(tmp_path, "a,b,y\n1,True,True\n2,False,False\n")
    features, y, _ = read_table(file, label="y")
    assert features.tolist() == [[1, 1], [2, 0]]
    assert y.tolist() == [1, -1]
    assert read_table(file, label="y", positive="false")[1].tolist() == [-1, 1]


def test_classes_are_ordered_as_numbers(tmp_path):
    file = csv_file(tmp_path, "a,y\n1,9\n2,10\n")
    assert read_table(file, label="y")[1].tolist() == [-1, 1]


def test_files_without_header_are_numbered(tmp_path):
    numbers = csv_file(tmp_path, "1,2,0\n3,4,1\n", "n.csv")
    assert read_table(numbers, label="3")[0].tolist() == [[1, 2], [3, 4]]
    flowers = csv_file(tmp_path, "5.1,3.5,setosa\n4.9,3.0,virginica\n", "f.data")
    features, y, names = read_table(flowers, label="3")
    assert features.tolist() == [[5.1, 3.5], [4.9, 3.0]]
    assert (y.tolist(), names) == ([-1, 1], ["1", "2"])
    counted = csv_file(tmp_path, "0,1,class\n3,4,0\n5,6,1\n", "c.csv")
    assert read_table(counted, label="class")[2] == ["0", "1"]


def test_row_names_of_r_are_a_column(tmp_path):
    file = csv_file(tmp_path, '"a","y"\n"1",5,0\n"2",6,1\n')
    assert read_table(file, label="y", features=["a"])[0].tolist() == [[5], [6]]


def test_byte_order_mark_blanks_and_semicolons(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes("\ufeffa; b ;y\n1; 2;0\n3;4; 1\n".encode())
    features, y, names = read_table(file, label="y")
    assert (features.tolist(), y.tolist(), names) == ([[1, 2], [3, 4]], [-1, 1], ["a", "b"])


def test_without_label_there_is_no_y(tmp_path):
    file, _ = write(tmp_path, "csv")
    features, y, names = read_table(file)
    assert (features.shape, y, names) == ((4, 3), None, ["a", "b", "y"])


def test_features_are_taken_by_name_in_the_given_order(tmp_path):
    file, _ = write(tmp_path, "csv")
    assert np.array_equal(read_table(file, features=["b", "a"])[0], X[:, ::-1])
    with pytest.raises(UsageError, match="no column 'c', which the model was trained with; columns: a, b, y"):
        read_table(file, features=["c"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.xlsx", b"no workbook", r"is damaged or not XLSX.*; save it again"),
        ("t.xls", b"no workbook", r"is damaged or not XLS.*; save it again"),
        ("t.parquet", b"PAR1 nothing", r"is damaged or not PARQUET.*; save it again"),
        ("t.mat", b"MATLAB 5.0 MAT-file, nothing", r"is damaged or not MAT.*; save it again"),
        ("t.npz", b"PK nothing", r"is damaged or not NPZ.*; save it again"),
        ("t.libsvm", b"1 one:two\n", "line 1 has 'one:two' where a feature belongs"),
        ("t.arff", b"a,b\n1,2\n", "line 1: expected @relation"),
        ("t.arff", b"@relation t\n@attribute a numeric\n@data\n1,2\n", "line 4 has 2 fields, but 1 attributes"),
        ("t.arff", b"@relation t\n@attribute a numeric\n@data\n{2 1}\n", "line 4: cannot read '2 1' as NUMBER VALUE"),
        ("t.arff", b"@relation t\n@attribute a numeric\n", "no @data line"),
        ("t.csv", b"a,y\n\xff\xfe,1\n", "is not UTF-8 text"),
        ("t.csv.gz", gzip.compress(b"a,y\n1,0\n" * 50, mtime=0)[:-9], r"is damaged or not GZ.*; save it again"),
        ("t.docx", b"words", r"unknown file type '\.docx'; .*--format csv: \.csv"),
        ("table", b"words", r"unknown file type 'table'"),
    ],
)
def test_damaged_and_unknown_files(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_table(tmp_path / name, label="y")


def test_a_value_whose_square_overflows_is_located(tmp_path):
    csv_file(tmp_path, "a,y\n1,0\n-1e308,1\n", "large.csv")
    with pytest.raises(UsageError, match=r"column 'a', line 3: -1e\+308 is too large"):
        read_table(tmp_path / "large.csv", label="y")


def test_missing_file_suggests_its_neighbor(tmp_path):
    csv_file(tmp_path, "a,y\n1,0\n", "claims.csv")
    with pytest.raises(UsageError, match=r"no file .*claim.csv; did you mean 'claims.csv'\?"):
        read_table(tmp_path / "claim.csv")
    with pytest.raises(UsageError, match=r"the folder .*nowhere does not exist"):
        read_table(tmp_path / "nowhere" / "claims.csv")
    (tmp_path / "notes.md").write_text("none")
    with pytest.raises(UsageError, match="is a folder with files of several kinds"):
        read_table(tmp_path)


def test_pickles_in_an_npz_are_not_loaded(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.array([[1, "a"], [2, None]], dtype=object), y=np.array([0, 1]))
    with pytest.raises(UsageError, match=r"is damaged or not NPZ.*; save it again"):
        read_table(tmp_path / "t.npz", label="y")


def test_variables_of_array_files(tmp_path):
    np.save(tmp_path / "s.npy", X)
    (tmp_path / "s.npy").rename(tmp_path / "s.npz")
    with pytest.raises(UsageError, match="holds a single array, not NPZ; save features X and labels y"):
        read_table(tmp_path / "s.npz")
    np.savez(tmp_path / "t.npz", A=np.ones((3, 2)), B=np.ones((3, 2)))
    with pytest.raises(
        UsageError, match=r"must be a matrix of real numbers called 'X'; variables: A \(3, 2\), B \(3, 2\)"
    ):
        read_table(tmp_path / "t.npz")
    np.savez(tmp_path / "u.npz", A=np.ones((3, 2)), y=np.ones(4))
    with pytest.raises(UsageError, match=r"4 labels in 'y' for 3 rows of 'A'"):
        read_table(tmp_path / "u.npz", label="y")
    np.savez(tmp_path / "v.npz", X=np.ones((3, 2)), labels=np.array([0, 1, 1]))
    with pytest.raises(UsageError, match=r"no column 'y'; .*other variables: labels"):
        read_table(tmp_path / "v.npz", label="y")
    np.savez(tmp_path / "w.npz", X=np.array([[1.0, 0.0], [2.0, 1.0]]))
    assert read_table(tmp_path / "w.npz", label="2")[1].tolist() == [-1, 1]


def test_arff_quotes_and_missing_values(tmp_path):
    file = tmp_path / "t.arff"
    file.write_text(
        "@relation t\n@attribute 'the name' {'a b', \"c,d\"}\n@attribute n integer\n@attribute y {0,1}\n@data\n"
        "'a b',1,0\n\"c,d\", ?,1\n"
    )
    frame, lines = read_arff(file)
    assert list(frame.columns) == ["the name", "n", "y"]
    assert frame["the name"].tolist() == ["a b", "c,d"]
    assert frame["n"].iloc[0] == 1
    assert np.isnan(frame["n"].iloc[1])
    assert lines == [6, 7]


@pytest.mark.slow
@examples(100)
@given(st.lists(st.text("ab,'\"\\ ", min_size=1, max_size=5), min_size=1, max_size=5))
def test_quoted_arff_fields_come_back(fields):
    quoted = ["'" + field.replace("\\", "\\\\").replace("'", "\\'") + "'" for field in fields]
    assert split_row(" , ".join(quoted)) == fields


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_read_correctly_or_refused(kind, tmp_path):
    """Random damage never ends in another exception, nor in numbers that are not finite."""
    file, label = write(tmp_path, kind)
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(25):
        content = bytearray(whole)
        for place in rng.integers(len(content), size=rng.integers(1, 4)):
            content[place : place + rng.integers(0, 4)] = rng.choice(list(b",;\n\"' ?x0.e\x00\xff"), size=2).tolist()
        file.write_bytes(content[: rng.integers(1, len(content))] if rng.random() < 0.2 else content)
        try:
            features, y, names = read_table(file, label=label)
        except UsageError as error:
            assert str(file) in str(error)
        else:
            assert np.isfinite(features).all()
            assert set(y) == {-1, 1}
            assert features.shape == (len(y), len(names))


@pytest.mark.parametrize(("name", "package"), [("t.xlsx", "openpyxl"), ("t.xls", "xlrd"), ("t.parquet", "pyarrow")])
def test_a_missing_or_old_package_is_named_by_the_file_that_needs_it(name, package, tmp_path):
    with pytest.raises(UsageError, match=package) as caught, reading(tmp_path / name):
        raise ImportError(f"a newer {package} is needed")
    assert ("Parquet" in str(caught.value)) == (package == "pyarrow")


@pytest.mark.parametrize(("cells", "asked"), [("Yes", "yes"), ("yes", "YES"), ("JA", "ja"), ("Straße", "STRASSE")])
def test_the_class_of_a_model_is_found_in_other_letters(tmp_path, cells, asked):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{row},{cells if row % 2 else 'no'}\n" for row in range(6)))
    assert read_table(path, label="y", positive=asked)[1].tolist() == [-1, 1] * 3
