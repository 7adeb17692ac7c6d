"""Tables as they come: from a file with columns of every kind to scored rows, and files with nothing to learn from."""

import re

import numpy as np
import pandas as pd
import pytest

from pucli.data.files.readers import read_csv
from tests.helpers import SHARED

TABLES = SHARED / "data" / "uci"
LABELED = ("--label", "bought", "--positive", "yes")


def refused(done, *words):
    assert done.code == 2, done.out
    message = done.err.splitlines()[-1]
    assert message.startswith("pucli: ")
    for word in words:
        assert word in message


def customers(n=120, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "key": [f"{i:05d}" for i in range(n)],
            "age": random.integers(18, 90, n).astype(float),
            "job": random.choice(["cook", "nurse", "pilot"], n),
            "since": [f"2021-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(n)],
        }
    )
    frame.loc[random.random(n) < 0.1, "age"] = np.nan
    frame["bought"] = np.where((frame["job"] == "cook") & (random.random(n) < 0.8), "yes", "")
    return frame


@pytest.fixture
def trained(pucli, tmp_path):
    customers().to_csv(tmp_path / "rows.csv", index=False)
    done = pucli(
        *("train", "--method", "glpual", "--data", "rows.csv", *LABELED, "--id", "key", "--model", "m.model", "--json")
    )
    assert done.code == 0, done.err
    return done


def test_training_shows_the_kind_of_each_column(trained):
    kinds = {column["column"]: column["kind"] for column in trained.document["columns"]}
    assert kinds == {"age": "number", "job": "category", "since": "date"}
    assert "empty cells in 1" in trained.err


def test_columns_shows_only_the_kinds(pucli, trained, tmp_path):
    shown = pucli("auto", "--data", "rows.csv", *LABELED, "--columns", "--as", "age=category")
    assert shown.code == 0
    assert [line.replace(",", "").split()[:2] for line in shown.out.splitlines()] == [
        ["key", "identifier"],
        ["age", "category"],
        ["job", "category"],
        ["since", "date"],
    ]
    document = pucli("auto", "--data", "rows.csv", "--columns", "--json").document
    assert {column["column"] for column in document["columns"]} == {"key", "age", "job", "since", "bought"}


def test_more_than_60_columns_are_summed_up(pucli, tmp_path):
    frame = pd.concat([customers(), pd.DataFrame(np.random.default_rng(0).normal(size=(120, 57)).round(3))], axis=1)
    frame.rename(columns=lambda name: f"x{name}" if isinstance(name, int) else name).to_csv("rows.csv", index=False)
    words = ("auto", "--data", "rows.csv", *LABELED, "--columns")
    assert len(pucli(*words, "--drop", "x0").out.splitlines()) == 60
    shown = pucli(*words).out.splitlines()
    assert shown[0].startswith("58 numbers, ") and "(--json has each)" in shown[0]
    assert [line.partition(":")[0] for line in shown[1:5]] == ["identifier", "number", "category", "date"]
    assert shown[5].startswith("key ") and len(shown) == 6  # columns with a note have a line
    assert len(pucli(*words, "--json").document["columns"]) == 61


def test_columns_are_shown_although_the_positive_class_is_wrong(pucli, tmp_path):
    customers().to_csv("rows.csv", index=False)
    done = pucli("auto", "--data", "rows.csv", "--label", "bought", "--positive", "yess", "--columns")
    assert done.code == 0 and "age" in done.out
    assert re.search("warning: rows.csv: .*'bought' .*'yess'.*: 'yes'", done.err)


def test_identifiers_are_copied_and_both_formats_have_the_same_content(pucli, trained, tmp_path):
    new = customers(seed=5).drop(columns="bought")
    new.to_csv("new.csv", index=False)
    new.to_parquet("new.parquet")
    for name in ("one.csv", "two.parquet"):
        source = "new" + name[name.index(".") :]
        assert pucli("predict", "--model", "m.model", "--data", source, "--out", name).code == 0
    one, two = read_csv("one.csv", dtype={"key": str}), pd.read_parquet("two.parquet")
    expected = ["row", "key", "prediction", "score", "probability", "probability_low", "probability_high"]
    assert list(one) == list(two) == expected
    assert one["key"].tolist() == two["key"].tolist() == new["key"].tolist()
    assert one["score"].tolist() == two["score"].tolist()
    top = pucli("predict", "--model", "m.model", "--data", "new.csv", "--top", 5, "--json").document["predictions"]
    expected = one.sort_values("score", ascending=False, kind="stable").head(5)
    assert [row["row"] for row in top] == expected["row"].tolist()


def test_probabilities_are_written_if_the_method_has_them(pucli, tmp_path):
    frame = customers()
    frame["bought"] = np.where(frame["bought"] == "yes", "yes", "no")
    frame.loc[::3, "bought"] = ""
    frame.to_csv("rows.csv", index=False)
    words = ("--data", "rows.csv", "--label", "bought", "--drop", "key", "--model", "m.model")
    assert pucli("train", "--method", "mcpl-lda", "--param", "ridge=0.01", *words).code == 0
    rows = pucli("predict", "--model", "m.model", "--data", "rows.csv", "--json").document["predictions"]
    assert all(0 <= row["probability"] <= 1 for row in rows)
    assert all((row["prediction"] == "yes") == (row["score"] > 0) for row in rows)


def test_evaluate_reads_the_columns_as_training_did(pucli, trained, tmp_path):
    new = customers(seed=5)[["bought", "since", "job", "age"]]
    new.loc[3, "job"] = "sailor"
    new.to_csv("new.csv", index=False)
    done = pucli("evaluate", "--model", "m.model", "--data", "new.csv", "--label", "bought", "--labels", "pu", "--json")
    assert done.code == 0
    assert done.document["rows"] == 120
    assert re.search(r"column 'job': 1 cell .*line 5: 'sailor'", done.err)


def test_a_column_that_reveals_the_label_gives_a_warning(pucli, tmp_path):
    frame = customers()
    frame["paid"] = np.where(frame["bought"] == "yes", 5.0, np.nan)
    frame.to_csv("rows.csv", index=False)
    done = pucli("train", "--method", "glpual", "--data", "rows.csv", *LABELED)
    assert "warning: column 'paid' is filled for" in done.err
    assert "warning: column 'key' counts the rows" in done.err
    assert re.search("warning: column 'job' is 'cook' in 100 % .* 9 %", done.err)
    drop = ("--drop", "paid", "--drop", "key", "--drop", "job")
    assert "may leak" not in pucli("train", "--method", "glpual", "--data", "rows.csv", *LABELED, *drop).err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--as", "age"), "write it as COLUMN=KIND"),
        (("--as", "age=nubmer"), "did you mean 'number'"),
        (("--as", "agee=number"), "did you mean 'age'"),
        (("--drop", "jobb"), "did you mean 'job'"),
        (("--only", "bought"), "is the label column"),
        (("--drop", "bought"), "leave it out of --drop"),
        (("--id", "kye"), "did you mean 'key'"),
        (("--only", "key"), "no column can be used as a feature"),
    ],
)
def test_wrong_options_for_columns(pucli, tmp_path, words, message):
    customers().to_csv(tmp_path / "rows.csv", index=False)
    refused(pucli("train", "--method", "glpual", "--data", "rows.csv", *LABELED, *words), message)


def test_options_for_columns_need_a_file(pucli):
    refused(pucli("train", "--method", "glpual", "--dataset", "wine", "--drop", "ash"), "need --data")


# --- files with little in them --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,bought\n", "no data rows"),
        ("a,bought\n1,yes\n", "only one class"),
        ("bought\nyes\n\nno\n", "no columns besides"),
        ("a,b,bought\n,,yes\n,,no\n,,no\n", "no column can be used as a feature: constant or empty: a, b"),
        (
            "a,b,bought\n" + "".join(f"K{n * 7919},x,{n % 3}\n" for n in range(60)),
            "as a feature: different in nearly every row: a; constant or empty: b",
        ),
        ("a,bought\n1,yes\n2,no,3\n", "line 3 has 3 fields"),
    ],
)
def test_a_file_without_usable_rows_is_a_one_line_error(pucli, tmp_path, text, message):
    (tmp_path / "rows.csv").write_text(text)
    refused(pucli("train", "--method", "glpual", "--data", "rows.csv", *LABELED), "rows.csv", message)


def test_text_in_another_encoding_is_a_one_line_error(pucli, tmp_path):
    (tmp_path / "rows.csv").write_bytes("a,bought\ncafé,yes\nthé,no\n".encode("latin-1"))
    refused(pucli("train", "--method", "glpual", "--data", "rows.csv", *LABELED), "rows.csv", "not UTF-8", "byte 13")


def test_byte_order_marks_and_windows_line_ends_are_read(pucli, tmp_path):
    text = customers().to_csv(index=False, lineterminator="\r\n")
    (tmp_path / "rows.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert pucli("train", "--method", "glpual", "--data", "rows.csv", *LABELED).code == 0


def test_one_column_of_mixed_cells_and_three_thousand_categories(pucli, tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"shop": [f"s{i}" for i in random.integers(0, 3000, 6000)]})
    frame["mixed"] = random.choice(["1", "2.5", "x", "2020-01-01", ""], 6000)
    frame["bought"] = np.where(random.random(6000) < 0.1, "yes", "")
    frame.to_csv("rows.csv", index=False)
    done = pucli("auto", "--data", "rows.csv", "--label", "bought", "--columns", "--json")
    shop, mixed = done.document["columns"]
    assert (shop["kind"], shop["features"], mixed["kind"]) == ("category", 41, "category")


@pytest.mark.slow
def test_a_new_file_with_one_row_or_none(pucli, trained, tmp_path):
    new = customers(seed=5)
    new.iloc[:1].to_csv("one.csv", index=False)
    assert len(pucli("predict", "--model", "m.model", "--data", "one.csv").out.splitlines()) == 2
    new.iloc[:0].to_csv("none.csv", index=False)
    new.iloc[:0].to_parquet("none.parquet")
    new.iloc[:0].to_excel("none.xlsx", index=False)
    for name in ("none.csv", "none.parquet", "none.xlsx"):
        done = pucli("predict", "--model", "m.model", "--data", name)
        assert (done.code, done.out) == (0, "row,key,prediction,score,probability,probability_low,probability_high\n")
        assert "trained on" not in done.err
    refused(pucli("evaluate", "--model", "m.model", "--data", "none.csv", "--label", "bought"), "none.csv", "no data")
    assert pucli("predict", "--model", "m.model", "--data", "none.csv", "--out", "none.out.parquet").code == 0
    assert list(pd.read_parquet("none.out.parquet").columns)[:3] == ["row", "key", "prediction"]


# --- tables as they come from their sources -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not TABLES.is_dir(), reason="the tables in ../shared/data are not here")
@pytest.mark.parametrize(
    ("train", "new", "label", "positive"),
    [
        ("german/german.data", "german/german.data", "21", "2"),
        ("mushroom/agaricus-lepiota.data", "mushroom/agaricus-lepiota.data", "1", "p"),
        ("bank-marketing/bank-additional-full.csv", "bank-marketing/bank-additional-full.csv", "y", "yes"),
        ("adult/adult.data", "adult/adult.test", "15", ">50K"),
        (
            "ssmcr/s41598-020-73558-3_sepsis_survival_study_cohort.csv",
            "ssmcr/s41598-020-73558-3_sepsis_survival_validation_cohort.csv",
            "hospital_outcome_1alive_0dead",
            "0",
        ),
    ],
)
def test_from_a_source_to_scored_rows_in_two_commands(pucli, tmp_path, train, new, label, positive):
    where = ("--data", TABLES / train, "--label", label, "--positive", positive)
    done = pucli("train", "--method", "blssvm", *where, "--model", "m.model", "--json")
    assert done.code == 0, done.err
    assert pucli("predict", "--model", "m.model", "--data", TABLES / new, "--out", "scored.csv").code == 0
    scored = pd.read_csv("scored.csv")
    assert np.isfinite(scored["score"]).all()
    lines = [line for line in (TABLES / new).read_text().splitlines() if line.strip()]
    titles = lines[0].startswith("|")  # above the rows of adult.test
    assert len(scored) == len(lines) - titles - (
        label in lines[0].replace('"', "").split(";" if ";" in lines[0] else ",")
    )


# --- sparse and wide ------------------------------------------------------------------------------------------------


def write_libsvm(path, n, m, seed):
    """Rows with 15 non-zeros; those with a non-zero in the first 50 columns are positive."""
    random = np.random.default_rng(seed)
    positive = random.random(n) < 0.4
    lines = []
    for row in range(n):
        columns = random.choice(m - 50, 14, replace=False) + 51
        own = random.integers(1, 51) if positive[row] else random.integers(51, m)
        numbered = " ".join(f"{column}:1" for column in sorted({*columns.tolist(), int(own)}))
        lines.append(f"{int(positive[row])} {numbered}\n")
    path.write_text("".join(lines))
    return positive


@pytest.mark.slow
def test_memory_for_a_hundred_thousand_columns_is_that_of_the_non_zeros(pucli, tmp_path):
    import tracemalloc

    write_libsvm(tmp_path / "rows.libsvm", 600, 100_000, 0)
    truth = write_libsvm(tmp_path / "new.libsvm", 100, 100_000, 1)
    words = ("--data", "rows.libsvm", "--label", "label", "--model", "m.model")
    tracemalloc.start()
    done = pucli("train", "--method", "blssvm", *words, "--json")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.code == 0, done.err
    assert peak < 600 * 100_000 * 8 / 4  # a quarter of the dense rows, most of it names of columns
    found = pucli("predict", "--model", "m.model", "--data", "new.libsvm", "--json").document["predictions"]
    scores = np.array([row["score"] for row in found])
    assert scores[truth].mean() > scores[~truth].mean() + 0.03
    assert pucli("evaluate", "--model", "m.model", "--data", "new.libsvm", "--label", "label").code == 0
    refused(pucli("train", "--method", "glpual", *words), "needs dense rows", "blssvm")
    refused(pucli("tune", "--method", "blssvm", *words[:4]), "sparse and wide")
    customers().to_csv("new.csv", index=False)
    refused(pucli("predict", "--model", "m.model", "--data", "new.csv"), "give a LIBSVM file")


def test_a_column_name_of_two_lines_is_shown_in_one(pucli):
    frame = customers().rename(columns={"age": "age\n(years)"})
    frame.to_csv("named.csv", index=False)
    lines = pucli("auto", "--data", "named.csv", *LABELED, "--columns").out.splitlines()
    assert any(line.startswith("age (years)") for line in lines)
    assert len(lines) == len(frame.columns) - 1  # without the label


def test_columns_break_no_word_on_a_narrow_screen(pucli, monkeypatch):
    customers().rename(columns={"job": "the_job_of_the_customer"}).to_csv("rows.csv", index=False)
    monkeypatch.setattr("pucli.cli.text.columns.width_of", lambda stream: 40)
    lines = pucli("auto", "--data", "rows.csv", *LABELED, "--columns").out.splitlines()
    assert max(map(len, lines)) <= 40 and "the_job_of_the_customer" in lines
    whole = " ".join(" ".join(lines).split())
    assert "identifier" in whole and "unchanged" in whole and "0 or 1 for each of" in whole
