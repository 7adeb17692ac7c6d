"""Wrong values of options and odd files: each message names the option or the file, and the way out."""

import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from pucli.core.errors import UsageError, unknown
from pucli.data.rows.training_rows import RowSource, training_rows
from tests.cli.helpers import LABELED, refused, small_table

PYDANTIC = find_spec("typer._coercion") is not None  # of later versions of Typer
in_own_words = pytest.mark.skipif(not PYDANTIC, reason="this Typer converts numbers by Click, in words of Click")
LEARN = {
    "auto": ("auto",),
    "train": ("train", "--method", "svc-naive"),
    "tune": ("tune", "--method", "svc-naive"),
    "prior": ("prior",),
    "compare": ("compare", "svc-naive", "gllc"),
}


@pytest.fixture
def cases(tmp_path):
    """Write a table of 60 labeled and 90 other rows with a column of cases, and return its name."""
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(1.5, 1, (60, 2)), random.normal(-1.5, 1, (90, 2))])

    def write(case):
        table = pd.DataFrame(X, columns=["age", "income"]).assign(customer=case)
        table.assign(bought=["yes"] * 60 + [""] * 90).to_csv("cases.csv", index=False)
        return "cases.csv"

    return write


@pytest.mark.parametrize("command", LEARN)
def test_a_scenario_that_there_is_not(pucli, customers, command):
    done = pucli(*LEARN[command], "--data", customers.pu, *LABELED, "--scenario", "singel-set")
    refused(done, "scenario 'singel-set'", "'single-training-set'", "case-control, single-training-set")


def test_a_scenario_that_there_is_not_of_a_declared_data_set(pucli, tmp_path):
    refused(pucli("split", "wine", "--scenario", "singel-set"), "'singel-set'", "case-control, single-training-set")
    density = ("train", "--method", "pae", "--dataset", "wine", "--scenario", "singel-set")
    refused(pucli(*density), "'singel-set'", "case-control, single-training-set")
    assert list(tmp_path.iterdir()) == []


def test_a_scenario_that_there_is_not_from_python(customers):
    source = RowSource(data=customers.pu, label="bought", positive="yes", scenario="singel-set")
    with pytest.raises(UsageError, match="unknown scenario 'singel-set'; did you mean 'single-training-set'"):
        training_rows("pu", source)


def test_few_choices_are_all_named():
    assert str(unknown("color", "rde", ["red", "blue"])) == "unknown color 'rde'; did you mean 'red'? Known: blue, red."
    assert str(unknown("number", "1000", map(str, range(1001, 1040)))).endswith("?")


@pytest.mark.parametrize("command", LEARN)
def test_a_seed_that_no_generator_takes(pucli, customers, command):
    for seed in ("-1", "4294967296"):
        done = pucli(*LEARN[command], "--data", customers.pu, *LABELED, "--seed", seed)
        refused(done, f"--seed {seed}: a seed is a whole number from 0 to 4294967295")


def test_a_seed_that_no_generator_takes_as_a_parameter(pucli, customers):
    words = ("train", "--method", "upu", "--data", customers.pu, *LABELED, "--param", "random_state=-4")
    refused(pucli(*words), "--param random_state=-4", "a whole number from 0 to 4294967295")


@pytest.mark.parametrize("command", ["auto", "tune", "compare"])
def test_no_worker_process(pucli, customers, command):
    done = pucli(*LEARN[command], "--data", customers.pu, *LABELED, "--n-jobs", 0)
    refused(done, "--n-jobs 0: ", "at least 1", "-1 takes all processors, -2 all but one")
    refused(pucli("reproduce", "table-3.1", "--dry-run", "--n-jobs", 0), "--n-jobs 0: ", "at least 1")


@pytest.mark.parametrize("command", ["auto", "tune", "compare"])
def test_more_worker_processes_than_a_machine_can_hold(pucli, customers, command, monkeypatch):
    words = (*LEARN[command], "--data", customers.pu, *LABELED)
    refused(pucli(*words, "--n-jobs", 100_000), "--n-jobs 100000: at most ", " worker processes on this machine")
    dry = ("reproduce", "table-3.1", "--dry-run", "--n-jobs")
    refused(pucli(*dry, 100_000), "--n-jobs 100000: at most ")
    assert pucli(*dry, 32).code == 0
    monkeypatch.setenv("PUCLI_N_JOBS", "100000")
    refused(pucli(*words), "PUCLI_N_JOBS=100000: at most ")


def test_a_wrong_value_of_the_environment_is_named_so(pucli, customers, monkeypatch):
    words = ("auto", "--data", customers.pu, *LABELED)
    for name, value in (("PUCLI_SEED", "-1"), ("PUCLI_N_JOBS", "0"), *[("PUCLI_N_JOBS", "two")] * PYDANTIC):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            refused(pucli(*words), f"{name}={value}: ")


def test_a_labeling_that_there_is_not(pucli, customers):
    refused(pucli("auto", "--data", customers.pu, *LABELED, "--labeling", "snar"), "labeling 'snar'", "sar, scar")
    blocks = ("auto", "--data", "rows.parquet", *LABELED, "--backend", "dask", "--labeling", "snar")
    refused(pucli(*blocks), "labeling 'snar'", "sar, scar")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--recall 90", "above 0 and at most 1, e.g. 0.9 for 90%"),
        ("--recall nan", "above 0 and at most 1"),
        ("--precision 0", "above 0 and at most 1"),
        ("--share -1", "above 0 and at most 1"),
        pytest.param("--share abc", "must be a number", marks=in_own_words),
        pytest.param("--top 0", "must be at least 1", marks=in_own_words),
        ("--top 131", "has only 130 unlabeled rows"),
        ("--expected 130", "must be below the 130 unlabeled rows of"),
        pytest.param("--rows 1", "must be at least 2", marks=in_own_words),
        pytest.param("--seed 1.5", "must be a whole number", marks=in_own_words),
        pytest.param("--n-jobs two", "must be a whole number", marks=in_own_words),
    ],
)
def test_a_number_out_of_range(pucli, customers, option, said):
    done = pucli("auto", "--data", customers.pu, *LABELED, *option.split())
    refused(done, option, said)


WRONG = (
    "auto x.csv --recal 90", "auto x.csv --recall 90", "auto x.csv --labeling x", "predict x.csv --model m --share 2",
    "trian", "train winee --method gllc", "train --method glpaul", "tune --method gllc --dataset winee",
    "prior wine --estimator kmm", "compare gllc svc-naiv --dataset wine", "compare gllc svc-naive --metric f2 -d wine",
    "compare gllc svc-naive --dataset winee", "evaluate x.csv --model m --metric f11", "split --labeling x",
)  # fmt: skip


def test_a_wrong_word_is_answered_before_anything_heavy_is_loaded():
    code = (
        "import sys; from pucli.cli.main import main\n"
        f"for line in {WRONG!r}: assert main(line.split()) == 2, line\n"
        "assert not {'pandas', 'scipy', 'sklearn'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("unknown ") == len(WRONG) - 2 and len(done.stderr.splitlines()) == len(WRONG)


@pytest.mark.parametrize("words", ["auto {}", "auto --data {}", "predict x.csv --model {}", "split wine --out {}"])
def test_an_empty_path_is_not_the_working_folder(pucli, words):
    refused(pucli(*(word.replace("{}", "") for word in words.split(" "))), "is empty; give the name of a file")


def test_two_thresholds_are_named_as_their_options(pucli, customers):
    done = pucli("auto", "--data", customers.pu, *LABELED, "--recall", 0.9, "--share", 0.1)
    refused(done, "--recall and --share both set the threshold")


def test_more_rows_than_there_are_in_the_whole_sample(pucli, customers):
    words = ("auto", "--data", customers.pu, *LABELED, "--scenario", "single-training-set", "--top", 151)
    refused(pucli(*words), "--top 151", "has only 150 rows")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("train", "--method", "pae", "--dataset", "wine", "--repeat", "-1"), marks=in_own_words),
        ("compare", "svc-naive", "gllc", "--dataset", "wine", "--label-frequency", "-1"),
        ("split", "wine", "--label-frequency", "-1"),
        ("split", "wine", "--seed", "-1"),
        ("reproduce", "table-3.1", "--results", "here", "--shard", "3/2"),
    ],
)
def test_the_option_is_named_as_it_was_given(pucli, words):
    refused(pucli(*words), " ".join(words[-2:]) + ":")


def test_rows_of_two_sources(pucli, customers):
    two = ("--data", customers.pu, "--dataset", "wine")
    for words in (("prior",), ("compare", "svc-naive", "gllc"), ("evaluate", "--model", "m.model")):
        if words[0] == "evaluate":
            assert pucli("train", "--method", "gllc", "--dataset", "wine", "--model", "m.model").code == 0
        refused(pucli(*words, *two), "--dataset and --data both name rows", "use either")
    refused(pucli("prior"), "no rows given; use either")
    refused(pucli("auto"), "no rows given; use --data FILE --label COLUMN", "`pucli train --method auto")


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ("C=abc", "C of svc-naive must be a number above 0, not 'abc'"),
        ("C=-1,1", "C of svc-naive must be a number above 0, not -1.0"),
        ("kernel=decades", "kernel of svc-naive must be 'linear' or 'rbf', not"),
    ],
)
def test_a_grid_with_a_wrong_value_is_told_before_the_data_are_read(pucli, grid, said):
    done = pucli("tune", "--method", "svc-naive", "--data", "none.csv", "--label", "bought", "--grid", grid)
    refused(done, f"--grid {grid}: {said}")


@pytest.mark.parametrize("content", ["", "age,bought\n"])
def test_a_file_without_rows_is_refused_with_a_way_out(pucli, tmp_path, content):
    (tmp_path / "rows.csv").write_text(content)
    refused(pucli("auto", "--data", "rows.csv", *LABELED), "rows.csv", "; give a table with a header line and rows")


def test_a_method_without_a_grid(pucli, customers):
    refused(pucli("tune", "--method", "auto", "--data", customers.pu, *LABELED), "auto has no grid", "`pucli auto`")


def test_a_file_in_place_of_a_folder(pucli, customers, tmp_path):
    for words in (
        ("reproduce", "table-3.1", "--status"),
        ("reproduce", "table-3.1", "--dry-run"),
        ("site", "--out", "pages"),
    ):
        refused(pucli(*words, "--results", customers.pu), f"--results {customers.pu} is a file; give a folder")
    refused(pucli("site", "--out", customers.pu), f"--out {customers.pu} is a file; give a folder")
    refused(pucli("new", "method", "mine", "--out", customers.pu), f"--out {customers.pu} is a file; give a folder")
    refused(pucli("site", "--out", "pages"), "no declared experiment has results in results")
    assert not (tmp_path / "pages").exists()
    pd.read_csv(customers.pu, keep_default_na=False).to_parquet("rows.parquet")
    blocks = ("train", "--method", "blssvm", "--data", "rows.parquet", *LABELED, "--backend", "dask")
    refused(pucli(*blocks, "--predictions", customers.pu), f"--predictions {customers.pu}")


def test_a_folder_in_place_of_a_model(pucli, customers, tmp_path):
    (tmp_path / "folder").mkdir()
    for command in ("predict", "evaluate"):
        refused(pucli(command, "--model", "folder", "--data", customers.new), "folder is a folder; give a model file")
        refused(pucli(command, "--model", "none", "--data", customers.new), "no such model", "auto", "train", "--model")


def test_blocks_that_are_not_parquet(pucli, tmp_path):
    (tmp_path / "fake.parquet").write_text("age\n1\n")
    words = ("train", "--method", "blssvm", "--data", "fake.parquet", *LABELED, "--backend", "dask")
    refused(pucli(*words), "--data fake.parquet", "damaged or not Parquet")


def test_a_label_column_without_a_label(pucli):
    small_table(label=[""] * 40).to_csv("rows.csv", index=False)
    words = ("auto", "--data", "rows.csv", "--label", "label")
    refused(pucli(*words), "rows.csv: label column 'label' is empty in every row")
    refused(pucli(*words, "--positive", "yes"), "'label' is empty in every row; write 'yes'")


def test_no_column_is_left(pucli):
    small_table().to_csv("rows.csv", index=False)
    words = ("auto", "--data", "rows.csv", "--label", "label", "--drop", "a", "--id", "b")
    refused(pucli(*words), "no columns besides the label 'label'", "--drop, --id and --groups leave out 'a', 'b'")


@pytest.mark.slow
def test_a_recall_that_cannot_be_kept(pucli, customers):
    words = ("auto", "--data", customers.pu, *LABELED, "--seed", 2)
    said = "a recall of 0.999 cannot be guaranteed"
    much = pucli(*words, "--recall", 0.999, "--model", "m.model")
    assert said in " ".join(much.err.split())
    whole = pucli(*words, "--recall", 0.999, "--verbose")
    assert "may also be too low" in " ".join((whole.out + whole.err).split())
    table = pd.read_csv(customers.new)
    pd.concat([table, table + 0.01 * table.select_dtypes("number")]).assign(remark="x").to_csv("more.csv", index=False)
    predict = ("predict", "--model", "m.model", "--data", "more.csv", "--out", "p.csv")
    moved = pucli(*predict, "--recall", 0.999)
    assert moved.code == 0 and said in moved.err
    assert re.search(r"20 labeled rows .*0\.891.* 2,302", moved.err)
    assert "pucli tune" not in moved.err
    assert "no number of rows guarantees 1" in pucli(*predict, "--recall", 1).err
    assert "cannot be guaranteed" not in pucli(*predict, "--recall", 0.891).err
    everything = pucli(*predict, "--share", 1).err
    assert "nearly everything is flagged" in everything
    assert "--share" in everything and "pucli tune" not in everything


def test_a_file_without_the_id_column_of_training(pucli, customers):
    known = pd.read_csv(customers.true).assign(customer=[f"c{i}" for i in range(150)])
    known.to_csv("known.csv", index=False)
    train = ("train", "--method", "svc-naive", "--data", "known.csv", "--label", "really", "--positive", "yes")
    assert pucli(*train, "--id", "customer", "--model", "m.model").code == 0
    predict = ("predict", "--model", "m.model", "--data", customers.new)
    for words in (predict, (*predict, "--top", 3)):
        said = ("new.csv", "no column 'customer', the --id column with which the model was trained", "--id COLUMN")
        assert "did you mean" not in refused(pucli(*words), *said, "--id '' none")
    assert pucli(*predict, "--id", "").out.startswith("row,prediction")
    assert pucli(*predict, "--id", "remark").out.startswith("row,remark,prediction")
    assert "with which the model" not in refused(pucli(*predict, "--id", "customer"), "no column 'customer'")
    assert pucli("evaluate", "--model", "m.model", "--data", customers.true, "--label", "really").code == 0


def test_the_help_says_which_commands_write_models(pucli):
    for command in ("predict", "evaluate"):
        said = " ".join(pucli(command, "--help").out.replace("│", " ").split())
        assert "from --model of `pucli auto` or `pucli train`" in said


@pytest.mark.slow
def test_auto_tells_of_cases_with_several_labeled_rows(pucli, cases):
    data = cases([f"c{i // 3}" if i < 30 else f"d{i}" for i in range(150)])
    done = pucli("auto", "--data", data, *LABELED, "--id", "customer")
    assert done.code == 0
    said = "column 'customer' (--id): 30 of 60 labeled rows belong to only 10 cases."
    assert f"warning: {said}" in " ".join(done.err.split()) and "keep one row of each case" in done.err


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ([f"c{i}" for i in range(150)], []),
        ([""] * 150, []),
        ([f"c{i}" if i < 60 else f"d{i // 2}" for i in range(150)], []),
        ([f"c{max(i, 1)}" for i in range(150)], ["2 of 60 labeled rows belong to only 1 case."]),
        ([f"c{i % 145}" for i in range(150)], ["the cases of 5 of 60 labeled rows"]),
        ([f"c{i % 4}" for i in range(150)], ["60 of 60 labeled rows belong to only 4 cases."]),  # once, not as columns
    ],
)
def test_labeled_rows_of_one_case_are_told(pucli, cases, case, said):
    words = ("train", "--method", "svc-naive", "--data", cases(case), *LABELED)
    found = [line for line in pucli(*words, "--id", "customer").err.splitlines() if "(--id)" in line]
    assert len(found) == len(said)
    assert all(words in line for words, line in zip(said, found, strict=True))


@pytest.mark.slow
def test_a_case_has_all_of_its_identifiers(pucli, cases):
    path = cases([f"c{i // 2}" for i in range(150)])
    table = pd.read_csv(path, keep_default_na=False).assign(order=[f"o{i % 2}" for i in range(150)])
    table.to_csv(path, index=False)
    words = ("train", "--method", "svc-naive", "--data", path, *LABELED, "--id", "customer")
    assert "60 of 60 labeled rows" in pucli(*words).err
    assert "60 of 60 labeled rows" in pucli(*words, "--id", "customer").err
    assert "(--id)" not in pucli(*words, "--id", "order").err


def test_compare_tells_of_cases_with_several_labeled_rows(pucli, cases):
    words = ("compare", "svc-naive", "gllc", "--data", cases([f"c{i // 2}" for i in range(150)]), *LABELED)
    assert "60 of 60 labeled rows belong to only 30 cases" in pucli(*words, "--id", "customer", "--repeats", 2).err


def test_a_table_in_place_of_a_catalogue_is_named_as_that(pucli, customers, monkeypatch):
    monkeypatch.setenv("PUCLI_DATASETS", str(customers.pu))
    done = pucli("reproduce", "table-3.1", "--profile", "smoke")
    refused(
        done, str(customers.pu), "expected a mapping of data set names", "`pucli new dataset` makes one for a table"
    )
    assert "table-3.1.yaml" not in done.err


def test_a_class_that_a_new_data_set_does_not_have(pucli, customers):
    done = pucli("new", "dataset", "mine", "--data", customers.pu, *LABELED[:2], "--positive", "maybe")
    refused(done, customers.pu, "label column", "has no class 'maybe'")
    assert "nan" not in done.err
    assert "/cache/" not in done.err


@pytest.mark.parametrize("label", ["a: b", "2024", "yes", 'say "x"', "#", "plain"])
def test_a_new_data_set_whose_label_column_has_any_name(pucli, label):
    pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], label: ["p", "", "p", ""]}).to_csv("named.csv", index=False)
    done = pucli("new", "dataset", "mine", "--data", "named.csv", "--label", label, "--positive", "p")
    assert done.code == 0, done.err


def test_what_is_missing_is_named_as_on_the_help_page(pucli):
    refused(pucli("train"), "--method NAME is missing. `pucli train --help`")
    refused(pucli("reproduce"), "EXPERIMENT is missing", "`pucli list experiments`", "`pucli reproduce --help`")


def test_only_near_options_are_suggested(pucli):
    refused(pucli("shift", "--skip-rows", "1"), "unknown option --skip-rows; `pucli auto`", "plain CSV")
    refused(pucli("auto", "--dta", "x"), "unknown option --dta; did you mean --data?")
    refused(pucli("show", "--model", "x"), "unknown option --model; give MODEL without it.")
    assert "did you mean" not in refused(pucli("tune", "--verbose"), "unknown option --verbose.")
    refused(pucli("train", "--lam", "3"), "unknown option --lam", "--param lam=VALUE")


def test_an_option_without_its_value_names_what_it_takes(pucli):
    refused(pucli("show", "a.model", "--card"), "--card needs a value: --card FILE. `pucli show --help`")
    refused(pucli("train", "-m"), "-m needs a value: -m NAME.")


def test_a_file_in_the_place_of_the_label_is_asked_about(pucli, cases):
    path = cases([f"c{i}" for i in range(150)])
    refused(pucli("auto", "--data", "bought", "--label", path), f"no file bought, but --label {path} is one; are")
    refused(pucli("auto", "--data", "bought", "--label", "x"), "no file bought")
