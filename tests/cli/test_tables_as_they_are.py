"""Tables as programs and people export them: what is read, and what a refusal says."""

import gzip
import io
import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError
from pucli.data.files.readers import read_csv
from pucli.data.files.tables import open_table
from pucli.data.reading import Reading
from tests.cli.helpers import refused
from tests.helpers import ROOT

CASES = ROOT.parent / "shared" / "cases" / "exports"
FAST = ("--estimator", "km2", "--replicates", "0")


def people(n=120, seed=0):
    random = np.random.default_rng(seed)
    hidden = np.arange(n) % 3 == 0
    return pd.DataFrame({"id": [f"K{i:04d}" for i in range(n)], "age": random.normal(40, 9, n).round(1),
                         "income": (random.normal(3, 1, n) + 2 * hidden).round(3),
                         "city": random.choice(["Graz", "Lyon", "Oslo"], n)})  # fmt: skip


@pytest.fixture
def case(tmp_path):
    """Copy the input of a public report into the folder of the test."""

    def copied(name):
        if not (CASES / name).is_dir():
            pytest.skip("the inputs of public reports are not here")
        for file in (CASES / name).iterdir():
            shutil.copy(file, tmp_path)

    return copied


def test_labels_in_a_second_file(pucli, case):
    case("two_files")
    words = ("--data", "positives.csv", "--data", "unlabeled.csv", "--label", "bought", "--positive", "yes")
    refused(pucli("auto", *words), "--positives-from FILE in place of --data, without --label")
    done = pucli("prior", "unlabeled.csv", "--positives-from", "positives.csv", *FAST, "--json")
    assert done.code == 0, done.err
    assert (done.document["labeled"], done.document["unlabeled"]) == (87, 513)
    assert "labeled positives: 87 rows (rows of positives.csv, added)" in done.err


@pytest.mark.parametrize("command", ["train", "tune", "prior", "auto", "compare"])
def test_every_command_takes_labels_of_a_second_file(pucli, tmp_path, command):
    people().to_csv("people.csv", index=False)
    people()[::6].to_csv("known.csv", index=False)
    words = {
        "train": ("--method", "svc-naive", "--model", "m.model"),
        "tune": ("--method", "svc-naive", "--grid", "C=1,10", "--cv", "2", "--cv-repeats", "1"),
        "prior": FAST, "auto": ("--columns",), "compare": ("--repeats", "2"),
    }[command]  # fmt: skip
    methods = ("svc-naive", "gllc") if command == "compare" else ()
    done = pucli(command, "people.csv", *methods, "--positives-from", "known.csv", *words, "--json")
    assert done.code == 0, done.err
    if command in ("train", "prior"):
        assert done.document["labeled"] == 20
    if command == "train":
        predicted = pucli("predict", "people.csv", "--model", "m.model", "--json")
        assert {row["prediction"] for row in predicted.document["predictions"]} == {"yes", "no"}
        assert predicted.document["predictions"][3]["id"] == "K0003"
    wrong = pucli(command, "people.csv", *methods, "--positives-from", "missing.csv", *words)
    refused(wrong, "no file missing.csv")
    both = ("--positives-from", "known.csv", "--label", "city")
    refused(pucli(command, "people.csv", *methods, *both, *[word for word in words if word != "--columns"]), "keep one")


def test_a_positive_that_is_a_file_names_the_option(pucli):
    people().assign(y=["a", "b", "b"] * 40).to_csv("people.csv", index=False)
    people()[::6].to_csv("known.csv", index=False)
    refused(pucli("auto", "people.csv", "--positive", "known.csv"), "--positives-from known.csv")
    refused(pucli("auto", "people.csv", "--label", "y", "--positive", "known.csv"), "--positives-from known.csv")
    refused(pucli("auto", "people.csv"), "--label COLUMN", "or --positives-from FILE")


def test_several_positive_classes(pucli, case):
    case("positive_twice")
    words = ("twopos.csv", "--label", "stage", "--positive", "Closed Won", "--positive", "Renewed")
    done = pucli("train", *words, "--method", "svc-naive", "--model", "m.model", "--json")
    assert done.code == 0, done.err
    assert done.document["labeled"] == 87
    assert "labeled positives: 87 rows (stage = Closed Won or Renewed)" in done.err
    scored = pucli("evaluate", "twopos.csv", "--model", "m.model", "--labels", "pu", "--json")
    assert scored.document["positive_rows"] == 87
    rows = pucli("predict", "twopos.csv", "--model", "m.model", "--json").document["predictions"]
    assert {(row["prediction"], row["flagged"]) for row in rows} == {("Closed Won or Renewed", True), ("", False)}


def test_a_filled_cell_is_positive(pucli, case):
    case("filled_label")
    message = refused(pucli("auto", "filled.csv", "--label", "order_date"), "--positive filled")
    assert "2024" not in message
    done = pucli("prior", "filled.csv", "--label", "order_date", "--positive", "filled", *FAST, "--json")
    assert done.document["labeled"] == 87 and "87 rows (order_date filled)" in done.err


@pytest.mark.parametrize(
    ("rule", "labeled"),
    [("filled", 100), (">0", 80), (">=2", 60), ("<1", 20), ("<= 1", 40), (">1.5", 60), ("3", 20), (("3", ">=4"), 40)],
)
def test_rules_say_which_rows_are_positive(pucli, rule, labeled):
    orders = [str(i % 6) if i % 6 < 5 else "" for i in range(120)]
    people().assign(orders=orders).to_csv("people.csv", index=False)
    rules = [("--positive", one) for one in ([rule] if isinstance(rule, str) else rule)]
    words = [word for one in rules for word in one]
    done = pucli("prior", "people.csv", "--label", "orders", *words, *FAST, "--json")
    assert done.code == 0, done.err
    assert done.document["labeled"] == labeled


def test_a_rule_that_stands_in_the_column_is_a_word(pucli):
    answers = ["filled", "open", "void"] * 40
    people().assign(answer=answers, size=[">5", "", "<5"] * 40).to_csv("people.csv", index=False)
    done = pucli("prior", "people.csv", "--label", "answer", "--positive", "filled", *FAST, "--json")
    assert done.document["labeled"] == 40
    done = pucli("prior", "people.csv", "--label", "size", "--positive", ">5", *FAST, "--json")
    assert done.document["labeled"] == 40


def test_rules_that_mean_nothing_are_refused(pucli):
    orders = [str(i % 6) for i in range(119)] + ["many"]
    people().assign(orders=orders).to_csv("people.csv", index=False)
    words = ("prior", "people.csv", "--label", "orders")
    refused(pucli(*words, "--positive", ">9"), "--positive >9: no row of", "is")
    refused(pucli(*words, "--positive", "filled"), "every row")
    assert "1 cell such as 'many' (line 121) is no number" in pucli(*words, "--positive", ">3", *FAST).err
    people().assign(orders=[*orders[:119], "7"]).to_csv("people.csv", index=False)
    refused(pucli(*words), "7 classes", "e.g. --positive '>0' or another rule")
    refused(pucli(*words, "--positive", "8"), "has no class '8'", "--positive '>0'")


def test_nested_json_has_columns_with_dots(pucli, case, tmp_path):
    case("nested_jsonl")
    done = pucli("auto", "nested.jsonl", "--label", "bought", "--positive", "yes", "--columns", "--json")
    assert {"profile.age", "profile.address.city", "tags"} <= {one["column"] for one in done.document["columns"]}
    lines = [{"a": {"b": i, "c": {"d": "x"}}, "v": [i, 2.5], "t": [{"n": 1}], "w": ["p", None, "q"]} for i in range(3)]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.warns(UserWarning, match="'t' is left out, as it holds lists of objects"):
        frame = open_table(tmp_path / "own.jsonl", None).frame
    assert frame.iloc[1].to_dict() == {"a.b": 1, "a.c.d": "x", "v.0": 1, "v.1": 2.5, "w": "p, , q"}


def test_sparse_arff_and_weights_are_read(pucli, case):
    case("sparse_arff")
    words = ("sparse.arff", "--label", "cls", "--positive", "class B", *FAST, "--json")
    assert pucli("prior", *words).document["labeled"] == 87
    case("arff_weights")
    done = pucli("prior", "weights.arff", "--label", "class", "--positive", "y", *FAST)
    assert done.code == 0 and "weights, such as {1}, which are not used" in done.err
    case("arff_relational")
    refused(pucli("auto", "rel.arff", "--label", "class", "--positive", "1"), "'bag' is relational")


def test_own_arff(tmp_path):
    head = "@relation r\n@attribute a real [0, 9]\n@attribute 'b c' {'no, never', yes}\n@attribute s string\n"
    keel = head + "@inputs a, 'b c'\n@outputs s\n@data\n1.5, yes, x\n<null>, 'no, never', ?\n"
    (tmp_path / "keel.dat").write_text(keel)
    frame = open_table(tmp_path / "keel.dat", None, how=Reading(format="arff")).frame
    assert frame["b c"].tolist() == ["yes", "no, never"] and frame["s"].tolist()[0] == "x"
    (tmp_path / "sparse.arff").write_text(head + "@data\n{1 yes, 2 'x, y'}, {2.0}\n{}\n{0 ?}\n")
    with pytest.warns(UserWarning, match="weights"):
        frame = open_table(tmp_path / "sparse.arff", None).frame
    assert frame["a"].fillna(-1).tolist() == [0, 0, -1]
    assert frame["b c"].tolist() == ["yes", "no, never", "no, never"]
    assert frame["s"].fillna("").tolist() == ["x, y", "", ""]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.xls", "<html><body><table><tr><td>a</td></tr></table></body></html>", "save it as .xlsx"),
        ("t.xls", '<html><form action="login"><table></table></form></html>', "login page"),
        ("t.xls", "MIME-Version: 1.0\nContent-Type: multipart/related\n", "MHTML"),
        ("t.xls", '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook/>', "save it as .xlsx"),
        ("t.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n", "dump_svmlight_file"),
        ("t.dat", "@relation r\n@attribute a real\n@data\n1\n", "--format arff"),
        ("t.weird", "nothing", "--format csv"),
    ],
)
def test_a_refusal_says_what_the_file_is_and_the_way_out(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=words):
        open_table(tmp_path / name, None)


def test_public_files_that_are_refused(pucli, case):
    case("html_xls")
    refused(pucli("auto", "export.xls", "--label", "bought", "--positive", "yes"), "HTML page with a table", ".xlsx")
    case("mtx")
    refused(pucli("auto", "x.mtx", "--label", "bought"), "Matrix Market", "LIBSVM")


def test_a_file_of_any_name_is_read_as_the_format_says(pucli, tmp_path, case, monkeypatch):
    people().assign(y=["1", "0", ""] * 40).to_csv("people.export", index=False, sep="\t")
    words = ("people.export", "--label", "y", "--positive", "1", *FAST, "--json")
    assert pucli("prior", *words, "--format", "tsv").document == pucli("prior", *words).document
    (tmp_path / "rows.x1").write_bytes(gzip.compress(b"1 1:2 3:4\n0 2:1\n"))
    frame = open_table(tmp_path / "rows.x1", None, how=Reading(format=".LIBSVM")).frame
    assert frame.to_dict("list") == {"1": [2, 0], "2": [0, 1], "3": [4, 0], "label": [1, 0]}
    refused(pucli("prior", "people.export", "--label", "y", "--format", "excel"), "unknown format 'excel'")
    (tmp_path / "one.words").write_text("age\n31\n4\n")
    refused(pucli("auto", "one.words", "--label", "age", "--columns"), "--format csv")
    assert "no columns besides the label" in pucli("auto", "one.words", "--label", "age", "--format", "csv").err
    assert pucli("train", *words[:5], "--method", "svc-naive", "--model", "m.model", "--format", "tsv").code == 0
    people().to_csv("new.csv", index=False)
    assert pucli("predict", "new.csv", "--model", "m.model").code == 0  # the format is that of a single file
    people().to_csv("new.x", index=False, sep="\t")
    assert pucli("predict", "new.x", "--model", "m.model", "--format", "tsv").code == 0
    case("log_ext")
    for name in ("zeek_mid.log", "-"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "zeek_mid.log").read_bytes())))
        done = pucli("auto", name, "--label", "bad", "--columns")
        assert "unknown file type" not in done.err and "proto" in done.out


def test_two_columns_of_one_name(pucli):
    table = people().assign(y=["1", "0", ""] * 40, age2=range(120), y2="")
    table.columns = [*table.columns[:5], "age", "y"]
    table.iloc[:, :6].to_csv("twice.csv", index=False)
    words = ("--label", "y", "--positive", "1", "--columns", "--json")
    done = pucli("auto", "twice.csv", *words)
    assert [one["column"] for one in done.document["columns"]] == ["id", "age", "income", "city", "age.1"]
    assert "two columns are named 'age'; the second is called 'age.1'" in done.err
    done = pucli("auto", "twice.csv", "--drop", "age.1", *words)
    assert [one["column"] for one in done.document["columns"]] == ["id", "age", "income", "city"]
    table.to_csv("labels.csv", index=False)
    refused(pucli("auto", "labels.csv", *words[:4]), "two columns 'y'", "--drop y.1")
    assert pucli("auto", "labels.csv", "--drop", "y.1", *words).code == 0


@pytest.fixture
def model(pucli):
    table = people(200).assign(y=["yes" if i % 6 == 0 else "" for i in range(200)])
    table["seen"] = [f"{1 + i % 12}/{1 + i % 27}/2023" for i in range(200)]
    table.to_csv("people.csv", index=False)
    words = ("--label", "y", "--positive", "yes", "--model", "m.model")
    assert pucli("train", "people.csv", "--method", "svc-naive", *words).code == 0
    return table


def scores(pucli, table, **changed):
    table.assign(**changed).to_csv("new.csv", index=False)
    done = pucli("predict", "new.csv", "--model", "m.model", "--json")
    assert done.code == 0, done.err
    return [row["score"] for row in done.document["predictions"]], done.err


def test_words_in_other_letters_are_those_of_training(pucli, model):
    plain, _ = scores(pucli, model)
    other, told = scores(pucli, model, city=["  " + one.upper() + " " for one in model["city"]])
    assert other == plain
    assert "200 cells in other letters than in training" in told
    _, told = scores(pucli, model, city="Kyoto")
    assert "not seen in training" in told


def test_words_of_new_files_of_a_public_report(pucli, case):
    case("case_predict")
    words = ("--label", "bought", "--positive", "yes", "--model", "m.model")
    assert pucli("train", "mm_train.csv", "--method", "svc-naive", *words).code == 0
    found = pucli("predict", "mm_case.csv", "--model", "m.model", "--json").document
    table = pd.read_csv("mm_case.csv", dtype=str)
    plain, _ = scores(pucli, table, city=table["city"].str.strip().str.title())
    assert [row["score"] for row in found["predictions"]] == plain


def test_a_rare_word_stays_among_the_others_in_training():
    from pucli.data import TableEncoder

    cells = [*["Lyon"] * 5, *["Oslo"] * 5, *["LYON"], *["Bari"]]
    encoder = TableEncoder({"city": "category"}, max_categories=2)
    with warnings.catch_warnings(action="ignore"):
        Z = encoder.fit_transform(pd.DataFrame({"city": cells}))
    assert Z[10].tolist() == Z[11].tolist() != Z[0].tolist()
    with pytest.warns(UserWarning, match="in other letters than in training"):
        new = encoder.transform(pd.DataFrame({"city": ["LYON"]}))
    assert new[0].tolist() == Z[0].tolist()


def test_dates_that_could_be_written_otherwise_are_told(pucli, model):
    swapped = [f"{1 + i % 9:02d}/{1 + i % 12:02d}/2023" for i in range(200)]
    assert "in every date day and month could be exchanged" in scores(pucli, model, seen=swapped)[1]
    assert "exchanged" not in scores(pucli, model)[1]
    assert "exchanged" not in scores(pucli, model, seen=[f"{1 + i % 12}/1/2023" for i in range(200)])[1]


def test_repeated_identifiers_are_groups_and_no_features(pucli):
    table = people().assign(person_id=[f"P{i // 2}" for i in range(120)], y=["yes", "", ""] * 40)
    table.to_csv("people.csv", index=False)
    done = pucli("auto", "people.csv", "--label", "y", "--positive", "yes", "--columns", "--json")
    kinds = {one["column"]: (one["kind"], one["features"]) for one in done.document["columns"]}
    assert kinds["person_id"] == ("identifier", 0)
    words = ("--label", "y", "--positive", "yes", *FAST)
    assert "--groups person_id" in pucli("prior", "people.csv", *words).err


@pytest.mark.parametrize(
    ("yes", "rest", "words", "no"),
    [("1", "", (), "0"), ("yes", "", (), "no"), ("True", "", (), "False"), ("YES", "", (), "NO"),
     ("won", "", (), ""), ("won", "open", (), "open"), ("won", ["open", ""], ("--unlabeled", "Open"), "open"),
     ("1", ["2", "3"], (), "")],
)  # fmt: skip
def test_predictions_are_words_of_the_file(pucli, yes, rest, words, no):
    other = [rest] if isinstance(rest, str) else rest
    label = [yes if i % 3 == 0 else other[i % len(other)] for i in range(120)]
    people().assign(y=label).to_csv("people.csv", index=False)
    line = ("--label", "y", "--positive", yes, *words, "--model", "m.model")
    done = pucli("train", "people.csv", "--method", "svc-naive", *line)
    assert done.code == 0, done.err
    assert pucli("predict", "people.csv", "--model", "m.model", "--out", "out.csv").code == 0
    out = pd.read_csv("out.csv", dtype={"prediction": str}, keep_default_na=False)
    assert set(out["prediction"]) == {yes, no}
    assert ("flagged" in out) == (no == "")
    if no == "":
        assert (out["flagged"] == (out["score"] > 0)).all()


def test_predictions_are_written_to_a_workbook(pucli, model):
    from openpyxl import load_workbook

    odd = model.assign(id=["=1+1", "+cmd", "12345678901234567", "a\x07b", *model["id"][4:]])
    odd.to_csv("new.csv", index=False)
    for name in ("out.xlsx", "out.csv"):
        assert pucli("predict", "new.csv", "--model", "m.model", "--out", name, "--id", "id").code == 0
    sheet = load_workbook("out.xlsx").active
    cells = list(sheet.iter_rows())
    assert [cell.value for cell in cells[0]][:3] == ["row", "id", "prediction"]
    assert {cell.data_type for row in cells[1:] for cell in row[1:3]} == {"s"}
    assert [row[1].value for row in cells[1:5]] == ["=1+1", "+cmd", "12345678901234567", "a�b"]
    plain = read_csv("out.csv")
    np.testing.assert_allclose([row[3].value for row in cells[1:]], plain["score"], rtol=1e-15)
    assert [row[0].value for row in cells[1:]] == plain["row"].tolist()


def test_options_are_checked_before_a_file_is_read(pucli):
    Path("empty.csv").touch()  # which its reader refuses; that there is a file at all is checked first
    empty = ("empty.csv", "--label", "y")
    refused(pucli("auto", *empty, "--as", "age=numbre"), "unknown kind of column 'numbre'")
    refused(pucli("auto", *empty, "--as", "age=date:x"), "only dates take a format")
    refused(pucli("auto", *empty, "--format", "cvs"), "unknown format 'cvs'; did you mean 'csv'")
    refused(pucli("auto", *empty, "--label", "z"), "--label is given 2 times")
    refused(pucli("compare", "missing.csv", "glpual", "gllcc", "--label", "y"), "unknown method 'gllcc'")
    refused(pucli("compare", "missing.csv", "glpual", "gllc", "--label", "y", "--metric", "f2"), "unknown metric 'f2'")
