"""What the commands say of labels, priors and values that could be taken for something else."""

import pandas as pd
import pytest

from pucli.metrics import METRICS, Metric

MODEL = ("--method", "svc-naive", "--model", "m.model")


@pytest.fixture
def marked(pucli, customers):
    """Train on the file of customers with these words for the labeled and the unlabeled rows; return its name."""

    def train(yes, rest):
        table = pd.read_csv(customers.pu, keep_default_na=False)
        table["bought"] = table["bought"].map({"yes": yes, "": rest})
        table.to_csv("marked.csv", index=False)
        words = ("--data", "marked.csv", "--label", "bought", "--positive", yes)
        assert pucli("train", *MODEL, *words).code == 0
        return "marked.csv"

    return train


def evaluated(pucli, data, label, *words):
    done = pucli("evaluate", "--model", "m.model", "--data", data, "--label", label, "--json", *words)
    assert done.code == 0, done.err
    return " ".join(done.document.get("warnings", []))


@pytest.mark.parametrize("rest", ["unlabeled", "0", ""])
@pytest.mark.slow
def test_the_labels_of_training_are_not_the_truth(pucli, marked, rest):
    data = marked("1", rest)
    assert "the rows and the labels that the model was trained on" in evaluated(pucli, data, "bought")
    assert "may be far too high" in evaluated(pucli, data, "bought", "--labels", "pu")


@pytest.mark.slow
def test_the_rows_of_training_with_true_labels_are_told(pucli, marked, customers):
    marked("yes", "")
    assert "scores of new rows may be lower" in evaluated(pucli, customers.true, "really")


def test_new_rows_with_true_labels_cause_no_warning(pucli, marked, customers):
    marked("yes", "")
    table = pd.read_csv(customers.true).iloc[::2]
    table["age"] += 0.001
    table.to_csv("half.csv", index=False)
    assert evaluated(pucli, "half.csv", "really") == ""


@pytest.mark.parametrize("method", ["svc-naive", "auto"])
@pytest.mark.slow
def test_rows_of_training_among_others_are_counted(pucli, marked, customers, method):
    marked("yes", "")
    if method == "auto":
        words = ("--data", "marked.csv", "--label", "bought", "--positive", "yes", "--model", "m.model")
        assert pucli("auto", *words).code == 0
    known, marks = pd.read_csv(customers.true).sample(frac=1.0, random_state=0), pd.read_csv("marked.csv")
    new = known.assign(age=known["age"] + 0.001)
    mixed = pd.concat([new.iloc[:70], known.iloc[:50], new.iloc[70:]])
    mixed.to_csv("mixed.csv", index=False)
    said = "50 of 200 rows are rows that the model was trained on"
    assert said in evaluated(pucli, "mixed.csv", "really")
    mixed["bought"] = marks["bought"].reindex(mixed.index).where(mixed["age"].isin(known["age"]))
    mixed.drop(columns="really").to_csv("marks.csv", index=False)
    assert "50 of 200 rows are rows that the model was trained on: it has" in evaluated(
        pucli, "marks.csv", "bought", "--labels", "pu"
    )
    mixed.drop(columns="really").fillna({"bought": "no"}).to_csv("taken.csv", index=False)
    assert "50 of 200 rows are rows and labels that the model was trained on" in evaluated(pucli, "taken.csv", "bought")


def test_the_rows_of_training_in_another_order_are_told(pucli, marked, customers):
    marked("yes", "")
    pd.read_csv(customers.true).iloc[::-1].to_csv("turned.csv", index=False)
    assert "these are the rows that the model was trained on" in evaluated(pucli, "turned.csv", "really")


@pytest.mark.parametrize("word", ["unlabeled", "U", "Unknown", "?"])
def test_a_class_named_like_unlabeled_is_doubted(pucli, marked, customers, word):
    marked("yes", "")
    pd.read_csv(customers.true).iloc[::2].replace("no", word).to_csv("half.csv", index=False)
    assert f"has the class {word!r}" in evaluated(pucli, "half.csv", "really")


def test_one_class_alone_is_told(pucli, marked, customers):
    marked("yes", "")
    pd.read_csv(customers.true).iloc[1:].replace("no", None).to_csv("positives.csv", index=False)
    output = evaluated(pucli, "positives.csv", "really")
    assert "every row with a label is 'yes'" in output and "recall is the only score" in output


@pytest.mark.parametrize(
    ("yes", "rest", "sign"),
    [
        ("2", "1", "warning: "),
        ("1", "0", ""),
        *(pytest.param(*words, "", marks=pytest.mark.slow) for words in [("1", "-1"), ("yes", "no")]),
    ],
)
def test_the_class_that_is_taken_for_positive_is_told(pucli, customers, yes, rest, sign):
    table = pd.read_csv(customers.pu, keep_default_na=False)
    table.assign(bought=table["bought"].map({"yes": yes, "": rest})).to_csv("marked.csv", index=False)
    words = ("train", "--method", "svc-naive", "--data", "marked.csv", "--label", "bought")
    assert f"{sign}labeled positives: the 20 rows whose 'bought' is '{yes}'" in pucli(*words).err
    assert "labeled positives: the 20 rows" not in pucli(*words, "--positive", yes).err


@pytest.mark.slow
def test_a_prior_that_is_not_given_is_told_once(pucli, customers):
    words = ("train", "--method", "upu", "--data", customers.pu, "--label", "bought", "--positive", "yes")
    told = [line for line in pucli(*words).err.splitlines() if "class prior" in line]
    assert len(told) == 1 and "estimate" in told[0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("width=-2", "a number above 0 or 'median', not -2"),
        ("kernel=rbg", "'linear' or 'rbf', not 'rbg'"),
        ("max_rank=0", "a whole number of at least 1 or null, not 0"),
    ],
)
def test_a_value_out_of_range_is_told_in_words_before_the_data_are_read(pucli, tmp_path, value, said):
    (tmp_path / "empty.csv").touch()  # which its reader refuses
    done = pucli("train", "--method", "glpual", "--data", tmp_path / "empty.csv", "--label", "bought", "--param", value)
    assert done.code == 2 and f"--param {value}: {value.partition('=')[0]} of glpual must be {said}" in done.err


def test_the_form_of_a_file_with_another_extension_is_told(pucli, marked):
    data = marked("yes", "no")
    words = ("predict", "--model", "m.model", "--data", data, "--out")
    assert "rows written to scored.xyz as CSV" in pucli(*words, "scored.xyz").out
    assert pucli(*words, "scored.csv").out.strip().endswith("scored.csv")
    assert pucli(*words, "scored.tsv").code == 2


def test_the_scores_that_need_true_labels_are_those_of_the_registry(pucli, marked, monkeypatch):
    data = marked("yes", "")
    extra = Metric("odds", "a metric of a package", lambda truth, predictions: 1.0, ("truth", "predictions"))
    monkeypatch.setattr("pucli.metrics.registry.all_metrics", lambda: {**METRICS, "odds": extra})
    said = pucli("evaluate", "--model", "m.model", "--data", data, "--label", "bought", "--labels", "pu").err
    assert (
        "(--labels true): f1, precision, recall, accuracy, auc, average_precision" in said
        and ", odds, confusion matrix" in said
    )


def test_a_table_breaks_no_word_where_all_words_fit(monkeypatch, capsys):
    from pucli.cli import output

    monkeypatch.setattr(output, "on_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "40")
    rows = [["customer", "it is not used here (--as COLUMN=category to use it)"]]
    output.Output(as_json=False, quiet=False).table(["column", "a note on the column that is long"], rows)
    assert "COLUMN=category" in capsys.readouterr().out
