"""review: rows to look at, read back with answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pucli.models.review import _known
from tests.cli.helpers import refused

SEEN = ("--model", "g.model", "--data", "new.csv")


@pytest.fixture
def truth(pucli, tmp_path) -> np.ndarray:
    """Classes of the rows of new.csv, of which 20 are labeled, and a model beside it."""
    random = np.random.default_rng(0)
    y = random.random(600) < 0.4
    table = pd.DataFrame(random.normal(size=(600, 3)) + np.outer(y, [1.5, 1.0, 0.0]), columns=["a", "b", "c"])
    table.insert(0, "who", [f"=W{k:04d}" for k in range(600)])
    marked = np.isin(np.arange(600), np.flatnonzero(y)[:20])
    table.assign(bought=np.where(marked, "yes", "")).to_csv(tmp_path / "new.csv", index=False)
    words = ("--data", "new.csv", "--label", "bought", "--positive", "yes", "--id", "who")
    assert pucli("train", "--method", "gllc", *words, "--model", "g.model").code == 0
    y[marked] = False  # these are not to be looked at
    return y


def answer(path, truth: np.ndarray, first: int | None = None) -> pd.DataFrame:
    rows = pd.read_csv(path)
    words = np.where(truth[rows["row"] - 1], "yes", "no").astype(object)
    words[len(words) if first is None else first :] = ""
    rows.assign(answer=words).to_csv(path, index=False)
    return rows


@pytest.mark.slow
def test_answers_tell_the_precision(pucli, truth, tmp_path):
    asked = ("review", "--model", "g.model", "--data", "new.csv", "--for", "precision", "--out")
    found = pucli(*asked, "few.csv", "--rows", 40, "--json").document
    for words in (("many.csv", "--rows", 120), ("other.csv", "--rows", 40, "--seed", 1)):
        assert pucli(*asked, *words).code == 0
    few, many, other = (answer(tmp_path / f"{name}.csv", truth) for name in ("few", "many", "other"))
    assert few["row"].tolist() == many["row"].tolist()[:40] != other["row"].tolist()  # more rows, same seed
    assert few["flagged"].eq("yes").all() and found["unlabeled"] == 580
    assert np.allclose(few["drawn"] * found["flagged"], 40)

    back = pucli("review", "--answers", "many.csv", "--at-least", 0.3, "--json").document
    scored = pucli("predict", *SEEN, "--json").document["predictions"]
    marked = pd.read_csv(tmp_path / "new.csv")["bought"].eq("yes").to_numpy()
    called = np.array([line["score"] > 0 for line in scored]) & ~marked
    assert called.sum() == found["flagged"] == back["flagged"]
    assert back["precision"]["low"] <= truth[called].mean() <= back["precision"]["high"]
    assert back["decided"] is True and back["answered"] == 120
    (tmp_path / "bad.csv").write_text("row,answer\n1,yes,7,8\n2\n")  # cannot be read
    for name in ("few.csv", "bad.csv"):
        refused(pucli(*asked, name, "--rows", 40), f"{name} holds answers, which would be lost")
    narrow, wide = ((lambda p: p["high"] - p["low"])(pucli("review", "--answers", name, "--json").document["precision"])
                    for name in ("many.csv", "few.csv"))  # fmt: skip
    assert narrow < wide
    value = back["precision"]["value"]
    open_end = pucli("review", "--answers", "few.csv", "--answers", "many.csv", "--at-least", value - 0.01)
    assert (
        "is open; about" in open_end.out
        and "more answers would tell" in open_end.out
        and "120 of 120 rows" in open_end.out
    )
    assert max(map(len, open_end.out.splitlines())) <= 80

    assert pucli(*asked, "all.csv", "--rows", 600).code == 0
    answer(tmp_path / "all.csv", truth)
    exact = pucli("review", "--answers", "all.csv", "--json").document["precision"]
    assert exact == dict.fromkeys(("value", "low", "high"), pytest.approx(truth[called].mean()))


@pytest.mark.slow
def test_the_highest_scores_and_a_sample_beside_them(pucli, truth, tmp_path):
    assert pucli("review", *SEEN, "--rows", 30, "--out", "top.csv").code == 0
    assert pucli("review", *SEEN, "--rows", 60, "--for", "precision", "--out", "some.csv").code == 0
    top = answer(tmp_path / "top.csv", truth)
    assert top["score"].is_monotonic_decreasing and top["drawn"].eq(1).all() and (top["row"] > 0).all()
    alone = pucli("review", "--answers", "top.csv", "--at-least", 0.05, "--json").document
    assert alone["precision"] is None and alone["decided"] is True and alone["last_rows"] == 10
    text = pucli("review", "--answers", "top.csv", "--at-least", 0.05).out
    assert "not known" in text and "seem to reach 5%" in text and max(map(len, text.splitlines())) <= 80
    sample = answer(tmp_path / "some.csv", truth)
    both = pucli("review", "--answers", "top.csv", "--answers", "some.csv", "--json").document
    assert both["rows"] == len({*top["row"], *sample["row"]})
    rest = sample[~sample["row"].isin(top["row"])]["row"] - 1
    n, known = both["flagged"], truth[top["row"] - 1].sum()
    assert both["precision"]["value"] == pytest.approx((known + (n - 30) * truth[rest].mean()) / n)

    answer(tmp_path / "some.csv", truth, first=25)  # answered from the top down
    part = pucli("review", "--answers", "some.csv", "--json").document
    assert part["answered"] == 25 and part["precision"]["low"] < part["precision"]["value"]


@pytest.mark.slow
def test_what_is_copied(pucli, truth, tmp_path):
    asked = ("review", *SEEN, "--rows", 5, "--out", "look.csv")
    own = ["row", "who", "score", "flagged", "flagged_rows", "drawn", "answer"]
    for words, columns, mark in (((), own, "="), (("--spreadsheet-safe",), own, "'"), (("--id", "c"), None, None)):
        assert pucli(*asked, *words).code == 0
        found = pd.read_csv(tmp_path / "look.csv")
        assert list(found) == (columns or [*own[:1], "c", *own[2:]])
        assert mark is None or found["who"].str.startswith(mark).all()
    refused(pucli(*asked, "--id", "nobody"), "nobody")


@pytest.mark.slow
def test_review_reads_with_the_options(pucli, truth, tmp_path):
    table = pd.read_csv(tmp_path / "new.csv").drop(columns="bought").rename(columns={"c": "cé"})
    old = pd.read_csv(tmp_path / "new.csv").rename(columns={"c": "cé"})
    old.to_csv(tmp_path / "old.csv", index=False)
    assert pucli("train", "--method", "gllc", "--data", "old.csv", "--label", "bought", "--positive", "yes",
                 "--model", "g.model").code == 0  # fmt: skip
    table.loc[3, "a"] = np.nan
    table.to_csv(tmp_path / "plain.csv", index=False)
    lines = table.to_csv(index=False, sep=";", decimal=",", na_rep="??").splitlines(keepends=True)
    text = "".join(lines)
    (tmp_path / "other.csv").write_bytes(text.encode("latin-1"))
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        table.iloc[:50].to_excel(book, sheet_name="a", index=False)
        table.to_excel(book, sheet_name="b", index=False)
    reading = ("--sep", ";", "--decimal", ",", "--encoding", "latin-1", "--missing", "??")
    found = []
    for words in (("plain.csv",), ("other.csv", *reading), ("book.xlsx", "--sheet", "b")):
        done = pucli("review", "--model", "g.model", "--data", *words, "--out", "look.csv", "--json")
        assert done.code == 0, done.err
        assert done.document["unlabeled"] == 600
        found.append(pd.read_csv(tmp_path / "look.csv")["row"].tolist())
    assert found[0] == found[1] == found[2]
    table.assign(a="none", b="").to_csv(tmp_path / "empty.csv", index=False)
    told = pucli("review", "--model", "g.model", "--data", "empty.csv", "--out", "look.csv").err
    assert "column 'a': 600 cells not a number, treated as empty" in told and "column 'b': 600 cells empty" in told


@pytest.mark.slow
def test_wrong_answers_are_refused(pucli, truth, tmp_path):
    assert pucli("review", *SEEN, "--rows", 6, "--out", "look.csv").code == 0
    refused(pucli("review", "--answers", "look.csv"), "no row has an answer")
    rows = answer(tmp_path / "look.csv", truth)
    rows.assign(answer=["yes", "no", "maybe", "", "", ""]).to_csv(tmp_path / "bad.csv", index=False)
    refused(pucli("review", "--answers", "bad.csv"), "bad.csv", "line 4", "'maybe'")
    turned = rows.assign(answer=np.where(truth[rows["row"] - 1], "no", "yes"))
    turned.to_csv(tmp_path / "turned.csv", index=False)
    refused(pucli("review", "--answers", "look.csv", "--answers", "turned.csv"), "two answers")
    rows.assign(flagged_rows=9, answer="no").to_csv(tmp_path / "else.csv", index=False)
    refused(pucli("review", "--answers", "look.csv", "--answers", "else.csv"), "different models")
    rows.drop(columns="drawn").to_csv(tmp_path / "less.csv", index=False)
    refused(pucli("review", "--answers", "less.csv"), "'drawn'")
    refused(pucli("review", "--model", "g.model"), "needs --out FILE.csv")
    refused(pucli("review", "--answers", "look.csv", "--model", "g.model"), "leave out --model")
    refused(pucli("review", "--answers", "look.csv", "--rows", 3), "leave out --rows")
    refused(pucli("review", "--scored", "new.csv", "--out", "x.csv"), "--scored", "begins with the column row")
    refused(pucli("review", "--answers", "look.csv", "--at-least", 70), "between 0 and 1")
    refused(pucli("review", "--scored", "s.csv", "--out", "x.csv", "--id", "who"), "--id is for --model and --data")
    refused(pucli("review", *SEEN, "--out", "look.parquet"), ".csv")
    refused(pucli("review", *SEEN, "--out", "new.csv"), "overwrite")


@pytest.mark.slow
def test_a_scored_file_holds_the_flagged_rows_that_auto_counted(pucli, truth, tmp_path):
    words = ("auto", "--data", "new.csv", "--label", "bought", "--positive", "yes", "--id", "who")
    called = pucli(*words, "--scored", "scored.csv", "--model", "a.model", "--json").document["called_positive"]
    sample = pucli("review", "--scored", "scored.csv", "--for", "precision", "--rows", 9, "--out", "s.csv", "--json")
    assert (sample.document["flagged"], sample.document["unlabeled"], sample.document["rows"]) == (called, 580, 9)
    drawn, scored = pd.read_csv("s.csv", dtype=str), pd.read_csv("scored.csv", dtype=str).set_index("row")
    assert drawn["who"].tolist() == scored.loc[drawn["row"], "who"].tolist() and drawn["flagged"].eq("yes").all()
    assert np.allclose(drawn["drawn"].astype(float), 9 / called)
    trained = pucli("review", "--model", "a.model", "--data", "new.csv", "--out", "t.csv")
    assert "trained on" in trained.err and "--scored FILE" in trained.err


@pytest.mark.parametrize("words", [("JA", "Nein"), ("oui", "non "), ("WAHR", "FALSCH"), ("да", "нет"), ("1.0", "0.0")])
def test_answers_in_other_words_are_read(pucli, tmp_path, words):
    answers = pd.DataFrame({"row": range(1, 11), "score": "0,5", "flagged": "yes", "flagged_rows": 40, "drawn": "0,25"})
    for name, (yes, no) in (("plain.csv", ("yes", "no")), ("words.csv", words)):
        answered = answers.assign(answer=[yes if row % 3 else no for row in range(10)])
        answered.to_csv(tmp_path / name, sep=";", index=False, encoding="utf-8-sig")
    plain, other = (pucli("review", "--answers", name) for name in ("plain.csv", "words.csv"))
    assert plain.code == other.code == 0 and "6 positive" in plain.out and other.out == plain.out


def test_a_scored_file_that_a_spreadsheet_saved_is_read(pucli, tmp_path):
    scored = pd.DataFrame({"row": range(1, 31), "id": [f"{7 * row:04d}" for row in range(30)]})
    scored["labeled"], scored["score"] = (scored["row"] % 5 == 0).astype(int), 1.5 - 0.1 * scored["row"]
    scored.to_csv(tmp_path / "plain.csv", index=False)
    words = scored.assign(labeled=scored["labeled"].map({1: "WAHR", 0: "FALSCH"}))
    words.to_csv(tmp_path / "saved.csv", sep=";", decimal=",", index=False, encoding="utf-8-sig")
    for name in ("plain", "saved"):
        assert pucli("review", "--scored", f"{name}.csv", "--rows", 9, "--out", f"{name}-rows.csv").code == 0
    drawn, again = (pd.read_csv(tmp_path / f"{name}-rows.csv", dtype=str) for name in ("plain", "saved"))
    assert drawn.equals(again) and drawn["id"].tolist()[:5] == ["0000", "0007", "0014", "0021", "0035"]
    scored.assign(labeled="maybe").to_csv(tmp_path / "plain.csv", index=False)
    refused(pucli("review", "--scored", "plain.csv", "--out", "o.csv"), "column labeled is 0 in no row, e.g. 'maybe'")


@pytest.mark.parametrize(("order", "low"), [("random", 0.5), ("score", None)])
def test_answers_to_the_first_of_all_flagged_rows_are_a_sample_if_the_order_is_random(pucli, tmp_path, order, low):
    """`--for precision` writes all flagged rows if --rows is as large, each drawn with certainty."""
    scores = np.linspace(1.0, 0.1, 60)
    if order == "random":
        scores = np.random.default_rng(0).permutation(scores)
    answers = ["yes"] * 15 + ["no"] * 5 + [""] * 40
    rows = pd.DataFrame({"row": np.arange(60) + 1, "score": scores, "flagged": "yes", "flagged_rows": 60, "drawn": 1.0})
    rows.assign(answer=answers).to_csv(tmp_path / "all.csv", index=False)
    found = pucli("review", "--answers", "all.csv", "--json").document["precision"]
    assert (found is None) == (low is None)
    if found is not None:
        assert low < found["low"] < found["value"] == 0.75 < found["high"] < 0.9


@pytest.mark.parametrize(("kind", "said"), [("first", ""), ("best", "higher"), ("worst", "lower")])
def test_answers_to_rows_that_were_chosen_by_their_scores_are_said_to_be_no_sample(pucli, tmp_path, kind, said):
    scores = np.random.default_rng(0).permutation(np.linspace(0.1, 1.0, 40))
    answered = {
        "first": np.arange(40) < 15,
        "best": scores > np.sort(scores)[24],
        "worst": scores < np.sort(scores)[15],
    }
    rows = pd.DataFrame({"row": np.arange(40) + 1, "score": scores, "flagged": "yes", "flagged_rows": 80, "drawn": 0.5})
    rows.assign(answer=np.where(answered[kind], "yes", "")).to_csv(tmp_path / "some.csv", index=False)
    done = pucli("review", "--answers", "some.csv")
    assert ("no answer above the last that has one" in done.err) == bool(said)
    assert done.code == 0 and (f"have {said} scores than those without: they are no random" in done.err) == bool(said)


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("drawn", "2", "line 2: drawn '2' is not what"),
        ("drawn", "0", "line 2: drawn '0' is not what"),
        ("score", "hi", "line 2: score 'hi' is not what"),
        ("flagged", "maybe", "line 2: flagged 'maybe' is not what"),
        ("unlabeled_rows", "all", "line 2: unlabeled_rows 'all' is not what"),
        ("unlabeled_rows", 39, "0 other rows have an answer, of -1 by unlabeled_rows"),
        ("flagged_rows", 5, "20 flagged rows have an answer, of 5 by flagged_rows"),
    ],
)
def test_columns_that_were_changed_are_refused(pucli, tmp_path, column, cell, says):
    rows = pd.DataFrame({"row": np.arange(20), "score": 2.0, "flagged": "yes", "flagged_rows": 40, "drawn": 0.5})
    rows.assign(answer="yes", **{column: cell}).to_csv(tmp_path / "a.csv", index=False)
    refused(pucli("review", "--answers", "a.csv"), "a.csv", says)


@pytest.mark.parametrize("answered", [200, 90])
def test_answers_to_a_sample_of_all_rows_tell_the_class_prior(pucli, truth, tmp_path, answered):
    """The rows alternate between flagged ones and others, so that those answered first are a sample of both."""
    asked = ("review", *SEEN, "--for", "prior", "--out")
    drawn = pucli(*asked, "both.csv", "--rows", 200, "--json").document
    assert pucli(*asked, "few.csv", "--rows", 40).code == 0
    both, few = answer(tmp_path / "both.csv", truth, answered), pd.read_csv(tmp_path / "few.csv")
    assert both["row"].tolist()[:40] == few["row"].tolist() and (both["unlabeled_rows"] == 580).all()
    assert both["flagged"].tolist() == ["yes", "no"] * 100
    found = pucli("review", "--answers", "both.csv", "--json").document
    assert (found["unlabeled"], found["flagged"]) == (580, drawn["flagged"])
    seen = both[:answered]
    positive, called = truth[seen["row"] - 1], (seen["flagged"] == "yes").to_numpy()
    share = drawn["flagged"] / 580
    expected = share * positive[called].mean() + (1 - share) * positive[~called].mean()
    assert found["prior"]["value"] == pytest.approx(expected)
    assert found["precision"]["value"] == pytest.approx(positive[called].mean())
    assert found["prior"]["low"] < truth.sum() / 580 < found["prior"]["high"] < found["prior"]["low"] + 0.2
    assert pucli(*asked, "all.csv", "--rows", 900).code == 0
    answer(tmp_path / "all.csv", truth)
    exact = pucli("review", "--answers", "all.csv", "--json").document["prior"]
    assert exact["low"] == pytest.approx(truth.sum() / 580) == exact["high"]


def test_small_shares_and_single_rows_are_said_as_they_are(pucli, tmp_path):
    rows = pd.DataFrame({"row": [1], "score": 2.0, "flagged": "yes", "flagged_rows": 9, "drawn": 1.0, "answer": "yes"})
    rows.to_csv(tmp_path / "one.csv", index=False)
    text = pucli("review", "--answers", "one.csv").out
    assert "1 of 1 row; 1 positive" in text and "of the last row by score is positive" in text
    many = pd.DataFrame({"row": np.arange(3000), "score": 2.0, "flagged": "yes", "flagged_rows": 9000, "drawn": 1 / 3})
    many.assign(answer="yes").to_csv(tmp_path / "many.csv", index=False)
    assert "precision  100% (over 99% to 100%)" in pucli("review", "--answers", "many.csv").out


@pytest.mark.parametrize(
    ("cells", "known"),
    [
        (["yes", " Yes", "", None, "no", "NO", "maybe"], [1, 1, 0, 0, 1, 1, 0]),
        (["1.0", "", "0.0", None], [1, 0, 0, 0]),  # a spreadsheet wrote them
    ],
)
def test_rows_with_a_known_class_are_not_to_be_looked_at(cells, known):
    number = "1.0" in cells
    about = {"words": {"1": "1" if number else "yes"}, "data": {} if number else {"negative": "no"}}
    assert _known(pd.Series(cells, dtype="str"), about).tolist() == known
