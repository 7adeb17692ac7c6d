"""``pucli auto``: files, thresholds, and what it prints."""

from __future__ import annotations

import csv
import html
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pucli.cli.terminal import percent, span
from pucli.cli.text.auto import LEFT_OUT, LINES
from pucli.estimators.auto.random_labeling import RandomLabeling
from tests.solvers.ensemble.helpers import two_clouds

RANGE = ("probability_low", "probability", "probability_high")
PREDICTED = ("prediction", "score", "probability", "probability_low", "probability_high")


@pytest.fixture
def customers(tmp_path: Path) -> Path:
    X, s, _ = two_clouds(160, labeled=40, seed=5)
    path = tmp_path / "customers.csv"
    lines = ["a,b,c,d,bought"] + [
        ",".join(f"{value:.4f}" for value in row) + ("," + ("yes" if mark else ""))
        for row, mark in zip(X, s, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_auto_trains_saves_and_ranks(pucli, customers: Path, tmp_path: Path) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes")
    result = pucli(*words, "--model", "m.model", "--scored", "s.csv", "--id", "d", "--json")
    assert result.code == 0, result.err
    found = result.document
    assert found["labeled"] == 40
    assert set(found["estimates"]) == {
        "prior", "share", "recall", "recall_odds_2", "precision", "lift", "f1", "auc", "new_share", "new_recall",
        "new_lift",
    }  # fmt: skip
    assert found["leaderboard"][0]["pu_auc"] > 0.6
    assert 0 < found["random_labeling"]["p_value"] <= 1
    with Path("s.csv").open() as stream:
        lines = list(csv.DictReader(stream))
    assert len(lines) == found["rows"]
    assert list(lines[0]) == ["row", "d", "labeled", *PREDICTED, "why", "most_like"]
    assert {line["prediction"] for line in lines} == {"yes", "no"}
    with customers.open() as stream:
        written = {str(number): line["d"] for number, line in enumerate(csv.DictReader(stream), start=1)}
    assert {line["row"]: line["d"] for line in lines} == written
    low, value, high = (np.array([float(line[name]) for line in lines]) for name in RANGE)
    assert np.all((low <= value) & (value <= high)) and np.any(high - low > 0.01)
    unlabeled = [float(line["probability"]) for line in lines if line["labeled"] == "0"]
    assert unlabeled == sorted(unlabeled, reverse=True)
    predicted = pucli("predict", "--model", "m.model", "--data", customers, "--json")
    assert predicted.code == 0, predicted.err
    assert len(predicted.document["predictions"]) == found["rows"]
    assert list(predicted.document["predictions"][0]) == ["row", "d", *PREDICTED]


@pytest.mark.slow
def test_a_precision_out_of_reach_keeps_the_model(pucli, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    labeled = np.arange(400) < 40
    X[:100] += 0.7
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "s": labeled.astype(int)}).to_csv("overlap.csv", index=False)
    words = ("auto", "--data", "overlap.csv", "--label", "s", "--positive", 1, "--precision", 0.999)
    refused = pucli(*words)
    assert refused.code == 2
    assert "--precision 0.999: no share of the rows has an estimated precision of 0.999" in refused.err
    assert "Add --model FILE to save the model" in refused.err
    kept = pucli(*words, "--model", "m.model")
    assert kept.code == 2
    assert "The model is saved in m.model, with the threshold for F1" in kept.err
    assert pucli("predict", "--model", "m.model", "--data", "overlap.csv", "--top", 5, "--out", "five.csv").code == 0
    assert (pd.read_csv("five.csv")["prediction"].astype(str) == "1").sum() == 5


@pytest.mark.slow
def test_a_precision_has_the_threshold_of_the_estimator(pucli, customers: Path) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes", "--precision", 0.8)
    found = pucli(*words, "--model", "m.model", "--json").document
    assert found["threshold"]["goal"] == "precision" and found["threshold"]["wanted"] == 0.8
    from pucli.models.saved import load_model

    saved = load_model(Path("m.model")).pipeline[-1]
    assert (saved.goal, saved.wanted) == ("precision", 0.8)
    table = pd.read_csv(customers)
    alone = type(saved)(**saved.get_params()).fit(table[["a", "b", "c", "d"]].to_numpy(), table["bought"].notna())
    assert alone.threshold_ == saved.threshold_ == found["threshold"]["value"]
    assert (alone.positive_share_, alone.labeled_recall_) == (saved.positive_share_, saved.labeled_recall_)


@pytest.mark.slow
def test_a_model_that_is_kept_so_tells_of_a_labeling_that_is_not_random(pucli, customers: Path, monkeypatch) -> None:
    monkeypatch.setattr("pucli.models.auto.ranking.labeling_of", lambda *_: RandomLabeling(0.005, 0, 4.0))
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes", "--model")
    for name, more in (("plain", ()), ("kept", ("--precision", 1))):
        assert pucli(*words, name, *more).code == (2 if more else 0)
        applied = pucli("predict", "--model", name, "--data", customers, "--out", f"{name}.csv")
        assert "found in training: random labeling is unlikely" in applied.err


@pytest.mark.slow
def test_nothing_is_known_where_cases_were_entered_several_times(pucli, customers: Path, tmp_path: Path) -> None:
    lines = customers.read_text().splitlines()
    (tmp_path / "orders.csv").write_text("\n".join([lines[0], *(line for line in lines[1:] for _ in range(3))]) + "\n")
    words = ("--data", "orders.csv", "--label", "bought", "--positive", "yes")
    found = pucli("auto", *words, "--model", "m.model", "--report", "r.html", "--verbose")
    assert "120 of 120 labeled rows are equal to another labeled row" in found.err
    assert "random? cannot be judged: labeled rows are repeated" in found.out
    lines = found.out.splitlines()
    held = [line.split("  ")[-1].strip() for line in lines if re.match("(class prior|recall|auc) ", line)]
    assert held == ["no: labeled rows are repeated"] * 4
    assert "Labeled rows are repeated" in Path("r.html").read_text(encoding="utf-8")
    assert "keep one row of each case" in pucli("predict", "--model", "m.model", "--data", customers).err
    trained = pucli("train", "--method", "blssvm", *words, "--model", "b.model")
    assert "keep one row of each case" in trained.err
    assert "keep one row of each case" in pucli("predict", "--model", "b.model", "--data", customers).err


@pytest.mark.slow
def test_the_wanted_number_of_rows_is_predicted_positive(pucli, customers: Path) -> None:
    result = pucli("auto", "--data", customers, "--label", "bought", "--positive", "yes", "--top", 12, "--json")
    assert result.document["called_positive"] == 12
    assert result.document["threshold"]["goal"] == "top"


@pytest.mark.slow
def test_predict_moves_the_threshold_of_a_saved_model(pucli, customers: Path) -> None:
    pucli("auto", "--data", customers, "--label", "bought", "--positive", "yes", "--model", "m.model")
    words = ("predict", "--model", "m.model", "--data", customers, "--json")
    few, many = (pucli(*words, "--share", share).document["counts"]["yes"] for share in (0.1, 0.5))
    assert 0 < few < many
    result = pucli("predict", "--model", "m.model", "--data", customers, "--recall", 2)
    assert result.code == 2
    assert "at most 1" in result.err


def test_only_the_automatic_classifier_moves_its_threshold(pucli, customers: Path) -> None:
    words = ("--data", customers, "--label", "bought", "--positive", "yes")
    pucli("train", "--method", "svc-naive", *words, "--model", "svc.model")
    result = pucli("predict", "--model", "svc.model", "--data", customers, "--share", 0.3)
    assert result.code == 2
    assert "pucli auto" in result.err


def test_two_goals_are_refused(pucli, customers: Path) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes")
    result = pucli(*words, "--recall", 0.9, "--share", 0.1)
    assert result.code == 2
    assert "--recall and --share" in result.err


@pytest.mark.slow
def test_the_summary_has_threshold_estimates_and_models(pucli, customers: Path) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes", "--recall", 0.8)
    result = pucli(*words, "--verbose")
    assert result.code == 0
    parts = (
        "recall of 80%",
        "precision",
        "ensemble",
        "labels random?",
        "class prior if it is",
        "if biased",
    )
    for part in (*parts, "Recall may be below half from"):
        assert part in " ".join(result.out.split())
    assert np.char.count(result.out, "--model FILE") == 1


@pytest.mark.slow
def test_a_given_number_of_positives_sets_the_class_prior(pucli, customers: Path, tmp_path: Path) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes")
    plain = pucli(*words, "--json").document
    low, high = plain["if_prior"]
    assert low["prior"] < plain["estimates"]["prior"]["value"] < high["prior"]
    assert low["called"] < plain["called_positive"] < high["called"] and low["precision"] < high["precision"]
    done = pucli(*words, "--expected", 60, "--verbose", "--model", "m.model", "--scored", "s.csv")
    assert done.code == 0, done.err
    assert "60 of 160 unlabeled rows, as given by --expected" in done.out and "class prior if it is" not in done.out
    given = pucli(*words, "--expected", 60, "--json").document
    assert given["estimates"]["prior"] == {
        "value": 0.375, "low": 0.375, "high": 0.375, "known": True, "rows": "these rows"
    }  # fmt: skip
    assert given["command"].endswith("--expected 60") and given["if_prior"] == []
    of_prior = pucli("prior", *words[1:], "--expected", 60, "--json").document
    assert of_prior["given"]["called"] == given["called_positive"]
    assert of_prior["if_odds"]["ahead"] == given["if_odds"]["ahead"]
    ends = pucli("prior", *words[1:], "--json").document["if_prior"]
    assert [end["called"] for end in ends] == [low["called"], high["called"]]
    scored = pd.read_csv(tmp_path / "s.csv")
    unlabeled = scored[scored["labeled"] == 0]
    assert abs(unlabeled["probability"].mean() - 0.375) < 0.02  # the probabilities add up to 60
    saved = pucli("predict", "--model", "m.model", "--data", customers, "--share", 0.1, "--json")
    assert saved.code == 0, saved.err  # the threshold moves after loading
    single = pucli(*words, "--scenario", "single-training-set", "--expected", 60, "--json").document
    assert single["estimates"]["prior"]["value"] == 0.5
    for wrong in ((160,), (9, "--labeling", "sar"), (9, "--negative", "no", "--negatives-are", "random")):
        assert pucli(*words, "--expected", *wrong).code == 2


@pytest.mark.slow
def test_predict_warns_of_probabilities_that_rest_on_an_unknown_prior(pucli, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [f"{a:.3f},{b:.3f},{'yes' if i < 20 else ''}" for i, (a, b) in enumerate(rng.normal(size=(120, 2)))]
    (tmp_path / "noise.csv").write_text("\n".join(["a,b,bought", *rows]) + "\n")
    assert pucli("auto", "--data", "noise.csv", "--label", "bought", "--positive", "yes", "--model", "m").code == 0
    result = pucli("predict", "--model", "m", "--data", "noise.csv", "--out", "scored.csv")
    assert "rest on an unknown class prior" in result.err
    assert "the precision at this threshold" not in result.err
    moved = pucli("predict", "--model", "m", "--data", "noise.csv", "--precision", 0.1, "--out", "scored.csv")
    assert "the precision at this threshold is between" in moved.err
    assert "order could be chance" in result.err and "can be used" not in result.err


@pytest.mark.slow
def test_the_rows_that_are_scored_have_their_numbers_in_the_file(pucli, customers: Path) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes")
    assert pucli(*words, "--rows", 100, "--id", "a", "--scored", "s.parquet").code == 0
    scored, whole = pd.read_parquet("s.parquet"), pd.read_csv(customers, dtype=str)
    assert len(scored) == 100 and scored["row"].max() > 100
    assert scored["a"].tolist() == whole["a"][scored["row"] - 1].tolist()
    refused = pucli(*words, "--id", "labeled", "--scored", "s.csv")
    assert refused.code == 2


@pytest.mark.slow
def test_what_is_flagged_says_of_which_rows(pucli, customers: Path) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes")
    apart, whole = (
        " ".join(pucli(*words, "--scenario", how, "--verbose").out.split())
        for how in ("case-control", "single-training-set")
    )
    assert "% of the unlabeled rows are above" in apart
    assert "% of the rows are above" in whole
    assert " of 160 unlabeled" in apart and " of 160 unlabeled" in whole


@pytest.mark.slow
def test_a_column_that_gives_the_label_away_determines_nothing(pucli, customers: Path) -> None:
    table = pd.read_csv(customers, keep_default_na=False)
    table["source"] = np.where(table["bought"] == "yes", "web", "shop")
    table.to_csv("leak.csv", index=False)
    words = ("--data", "leak.csv", "--label", "bought", "--positive", "yes")
    trained = pucli("auto", *words, "--model", "m", "--scored", "s.csv")
    assert trained.code == 0
    said = " ".join(trained.err.split())
    assert re.search("'source' .*label away.* --drop source", said)
    told = " ".join(trained.out.split())
    assert "recall, lift, precision and positives cannot be told: a column leaks the label" in told
    assert "random sample" not in trained.out
    whole = pucli("auto", *words, "--verbose").out
    assert whole.count("no: a column leaks the label") == 7
    assert "AUC and F1 of the models cannot be told" in whole
    predicted = pucli("predict", "--model", "m", "--data", "leak.csv", "--out", "p.csv")
    assert "'source'" in predicted.err
    for file in ("s.csv", "p.csv"):
        found = pd.read_csv(file)
        assert set(found["probability_low"]) == {0.0} and set(found["probability_high"]) == {1.0}
    assert "'source'" in pucli("evaluate", "--model", "m", *words, "--labels", "pu").err
    pucli("train", "--method", "svc-naive", *words, "--model", "svc")
    assert "'source'" in pucli("predict", "--model", "svc", "--data", "leak.csv", "--out", "p.csv").err


@pytest.mark.slow
def test_counts_after_top_are_those_of_the_rows_written(pucli, customers: Path) -> None:
    pucli("auto", "--data", customers, "--label", "bought", "--positive", "yes", "--model", "m")
    result = pucli("predict", "--model", "m", "--data", customers, "--top", 7, "--out", "p.csv")
    assert "7 rows written" in result.out
    assert result.err.splitlines()[-1] == "7 rows predicted yes; these are the 7 most likely of 200 rows"


@pytest.mark.slow
def test_labels_that_are_no_random_sample_are_modeled(pucli, customers: Path) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes")
    plain, biased = (pucli(*words, "--labeling", how, "--json").document for how in ("scar", "sar"))
    assert biased["labeling"] == "sar"
    assert biased["estimates"]["prior"]["value"] > plain["estimates"]["prior"]["value"]
    assert "clearer a positive" in biased["random_labeling"]["verdict"]
    trained = pucli(*words, "--labeling", "sar", "--model", "biased.model")
    assert trained.code == 0, trained.err
    said = " ".join(trained.out.split())
    assert "recall cannot be told from these rows: between" in said and "lift cannot be told" in said
    moved = pucli("predict", "--model", "biased.model", "--data", customers, "--recall", 0.9, "--out", "p.csv")
    assert "the recall at this threshold cannot be told" in " ".join(moved.err.split())
    assert "no data can confirm it" in " ".join(moved.err.split())
    refused = pucli(*words, "--labeling", "some")
    assert refused.code == 2
    assert "scar" in refused.err


@pytest.mark.slow
def test_duplicate_rows_are_counted(pucli, customers) -> None:
    first = customers.read_text().splitlines()[1:4]
    customers.write_text(customers.read_text() + "\n".join(first) + "\n")
    result = pucli("auto", "--data", customers, "--label", "bought", "--positive", "yes", "--json")
    assert result.document["duplicate_rows"] == 3


@pytest.mark.slow
def test_the_page_names_seed_folds_and_a_command_that_makes_the_same_classifier(pucli, customers, tmp_path):
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes", "--seed", 4, "--share", 0.25)
    first = pucli(*words, "--report", tmp_path / "r.html", "--json").document
    page = html.unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "held out in one of 5 folds" in " ".join(page.split()) and "--seed 4" in page
    assert f"<code>{first['command']}</code>" in page
    command = first["command"]
    again = pucli(*shlex.split(command)[1:], "--json").document
    assert {**again, "seconds": 0, "report": 0} == {**first, "seconds": 0, "report": 0}


def read_lines(result) -> list[str]:
    """Return what a reader sees without the lines of progress."""
    return [
        line for line in (result.out + result.err).splitlines() if not re.match(r"auto \d|report \d|Compiling", line)
    ]


@pytest.mark.slow
def test_the_answer_fits_on_one_screen(pucli, customers: Path, monkeypatch) -> None:
    """14 lines of 80 characters, with two warnings and with every file."""
    monkeypatch.setenv("COLUMNS", "80")
    table = pd.read_csv(customers, keep_default_na=False)
    table["constant"], table["other"] = 1, ""
    table = table.assign(source=np.where(table["bought"] == "yes", "web", "shop"), customer=range(len(table)))
    pd.concat([table, table.head(3)]).to_csv("leak.csv", index=False)
    words = ("--label", "bought", "--positive", "yes", "--id", "customer")
    files = ("--model", "m.model", "--scored", "s.csv", "--report", "a-long-name-of-a-page-about-the-model.html")
    many = [f"number {k} {'word ' * 60}: keep one" for k in range(4)]
    for data, more in ((customers, (*words[:4], *files)), ("leak.csv", (*words, *files))):
        if data == "leak.csv":
            monkeypatch.setattr(
                "pucli.cli.commands.auto.warn_of_unknown_prior", lambda out, _: list(map(out.warn, many))
            )
        result = pucli("auto", "--data", data, *more)
        assert result.code == 0, result.err
        lines = read_lines(result)
        assert len(lines) <= LINES == 14, lines
        assert [line for line in result.out.splitlines() if len(line) > 80 and str(customers) not in line] == []
        assert result.err.count("warning: ") <= 2
        # what has no room is named, so that nothing is missing without a word
        whole = pucli("auto", "--data", data, *more, "--verbose").out.partition("\n\n")[0]
        items = ({line[:14].strip() for line in text.splitlines()} & {*LEFT_OUT} for text in (whole, result.out))
        said = re.findall(r"left out +(.*): add --verbose", result.out)
        assert set.symmetric_difference(*items) == set(", ".join(said).split(", ")) - {""}
    assert "top rows      customer " in result.out
    assert "written       m.model, s.csv" in result.out
    assert "\n5 more warnings or notes: add --verbose\n" in result.err


@pytest.mark.slow
def test_the_answer_says_no_more_than_the_estimates(pucli, customers: Path) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes")
    document, result = pucli(*words, "--json").document, pucli(*words)
    found = document["estimates"]
    for name in ("recall", "precision"):
        answer = " ".join(result.out[result.out.index(name) :].split()[:40])
        ends = found[name]["low"], found[name]["high"]
        assert span(*ends) in answer or span(*ends).replace("to", "and") in answer
    said = " ".join(result.out.split())
    assert "if labels are random" in said and "how were these rows chosen?" in said
    chance = document["chance"]
    assert f"median rank {chance['median_rank']:,.0f} of 160" in said and "chance (p " in said
    assert sum(one["known"] for one in chance["first"][-1:]) <= chance["known"] == 40
    assert next(line for line in result.out.splitlines() if line.startswith("top rows")).startswith(
        "top rows      row "
    )
    assert found["lift"]["value"] == pytest.approx(found["recall"]["value"] / found["share"]["value"])
    assert [percent(share) for share in (0, 2e-4, 0.0294, 0.631, 0.9996, 1)] == [
        "0",
        "under 0.1",
        "2.9",
        "63",
        "over 99",
        "100",
    ]


def test_warnings_that_wait_are_printed_if_the_command_fails(capsys) -> None:
    from pucli.cli.output import Output

    with pytest.raises(ValueError, match="stop"), Output(as_json=False, quiet=True) as out:
        out.hold()
        out.warn("a column is odd")
        assert capsys.readouterr().err == ""
        raise ValueError("stop")
    assert capsys.readouterr().err == "warning: a column is odd\n"


@pytest.mark.slow  # two fits of the whole ensemble
def test_where_positives_are_rare_the_first_rows_come_first(pucli, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(860, 2)) + 2.5 * (np.arange(860) < 76)[:, None], columns=["a", "b"])
    rows.assign(customer=range(860), bought=np.where(np.arange(860) < 60, "yes", "")).to_csv("rare.csv", index=False)
    words = ("auto", "--data", "rare.csv", "--label", "bought", "--positive", "yes", "--id", "customer")
    result = pucli(*words, "--model", "m.model", "--scored", "s.csv")
    lines = read_lines(result)
    assert len(lines) <= LINES and max(map(len, lines)) <= 80
    text = re.sub(r"\s+", " ", " ".join(lines[:5]))
    shown = re.search(r"top 200 hold about (\d+) positives \((\d+) to (\d+)\); lift", text)
    assert shown is not None, text
    first = {one["rows"]: one for one in pucli(*words, "--json").document["first"]}
    assert list(first) == [50, 200]
    assert int(shown[1]) == round(first[200]["positives"]["value"]) <= 200
    scored = pd.read_csv("s.csv")
    found = (scored[scored["labeled"] == 0].head(200)["customer"] < 76).sum()
    assert first[200]["positives"]["low"] <= found <= first[200]["positives"]["high"]


@pytest.mark.slow
def test_three_labeled_rows_give_an_order_and_flag_nothing(pucli, customers: Path) -> None:
    table = pd.read_csv(customers, keep_default_na=False)
    table.loc[table.index[table["bought"] == "yes"][3:], "bought"] = ""
    table.to_csv("three.csv", index=False)
    words = ("--data", "three.csv", "--label", "bought", "--positive", "yes")
    result = pucli("auto", *words, "--scored", "s.csv", "--model", "m.model", "--report", "r.html")
    said = " ".join(result.out.split())
    assert "flagged 0 of 197 unlabeled rows: 3 labeled rows give an order, and no more" in said
    assert "need more labeled rows" in said and "could be chance" in said and "nearly every row" not in result.err
    scored = pd.read_csv("s.csv")
    assert set(scored["prediction"]) == {"no"} and scored["score"].nunique() > 100
    assert "no row is flagged" in Path("r.html").read_text(encoding="utf-8")
    predicted = pucli("predict", "--data", "three.csv", "--model", "m.model", "--json").document
    assert predicted["counts"] == {"no": 200}
    assert pucli("predict", "--data", "three.csv", "--model", "m.model", "--top", 9, "--json").code == 0
    assert pucli("auto", *words, "--top", 5, "--json").document["called_positive"] == 5  # who asks for five gets five


@pytest.mark.slow
def test_json_scored_and_page_have_the_reasons_for_unlabeled_and_known_rows(pucli, customers: Path) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes", "--id", "d")
    shown = pucli(*words, "--json", "--scored", "s.csv").document["shown"]
    assert {kind: sum(one["kind"] == kind for one in shown) for kind in ("top", "borderline", "double-check")} == {
        "top": 15,
        "borderline": 8,
        "double-check": 8,
    }
    scored = pd.read_csv("s.csv", dtype={"d": str}, keep_default_na=False).set_index("row")
    assert (scored["why"] != "").all() and (scored["most_like"].str.count("; ") == 2).all()
    for one in shown:
        why = scored.loc[one["row"], "why"]
        assert [part.partition(" = ")[0] for part in why.split("; ")] == [part["column"] for part in one["columns"]]
        assert all(part["spread"] >= 0 and part["change"] != 0 for part in one["columns"])
        assert scored.loc[one["row"], "most_like"] == "; ".join(one["most_like"])
        assert one["identifiers"]["d"] not in one["most_like"]


def test_a_long_run_is_announced_before_it_begins(pucli, customers: Path, monkeypatch) -> None:
    words = ("auto", "--data", customers, "--label", "bought", "--positive", "yes")
    monkeypatch.setattr("pucli.models.auto.duration.LONG", 0.0)
    said = pucli(*words).err
    assert 0 <= said.find("this takes about a minute, most of it for the ") < said.find("models")
    assert said.count("this takes") == 1
    assert "this takes" in pucli(*words, "--drop", "a").err
    assert "this takes" not in pucli(*words, "-q").err
