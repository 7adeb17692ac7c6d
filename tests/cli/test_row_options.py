"""Reading options: every command takes them, and a model file keeps them for new files."""

import csv
import io
import sys
import types

import numpy as np
import pandas as pd
import pytest

# a file that is read rightly only with all of these options
OPTIONS = [
    *("--encoding", "cp1252", "--sep", "|", "--skip-rows", "2", "--header-rows", "2", "--skip-footer", "1"),
    *("--quote", "none", "--decimal", ",", "--missing", "n.v.,999"),
]
LABELED = ["--label", "gekauft", "--positive", "ja"]
COMMANDS = {
    "train": ["train", "--method", "svc-naive"],
    "tune": ["tune", "--method", "svc-naive", "--grid", "C=0.1,1,10", "--cv", "2", "--cv-repeats", "1"],
    "prior": ["prior", "--estimator", "best-bin", "--replicates", "0"],
    "auto": ["auto", "--columns"],
}
# what is compared of the answers of these commands
ANSWERS = ("objective", "params", "score", "estimates", "columns", "rows")


def table(n=120, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"größe": random.integers(1000, 9000, n), "preis": random.normal(50, 20, n).round(2)})
    frame["stadt"] = random.choice(['"Köln', "Zürich", "Lyon"], n)
    frame["gekauft"] = np.where((frame["preis"] > 55) & (random.random(n) < 0.8), "ja", "")
    return frame


def plain(path, frame):
    frame.to_csv(path, index=False)
    return path


def german(path, frame, *, bare=False):
    """Write a table as a German spreadsheet might: two lines of title, names in two, a last line for a test.

    bare : names and rows alone, without quotes.
    """
    text = frame.copy().astype(object)
    text["größe"] = [f"{value:,}".replace(",", ".") for value in frame["größe"]]
    text["preis"] = ["n.v." if np.isnan(value) else f"{value:.2f}".replace(".", ",") for value in frame["preis"]]
    lines = text.to_csv(index=False, sep="|", lineterminator="\n", quoting=csv.QUOTE_NONE)
    names, rows = lines.split("\n", 1)
    if bare:
        path.write_bytes(lines.replace('"', "").encode("cp1252"))
        return path
    path.write_bytes(f"Bericht|für alle\n\n{names}\ngröße|preis|stadt|\n{rows}4711|9,5|Lyon|ja\n".encode("cp1252"))
    return path


@pytest.fixture
def files(tmp_path):
    train, new = table(), table(60, seed=1)
    train.loc[::9, "preis"] = np.nan
    new.loc[::7, "preis"] = np.nan
    return types.SimpleNamespace(
        train=german(tmp_path / "train.txt", train),
        new=german(tmp_path / "new.txt", new),
        plain=plain(tmp_path / "train.csv", train),
        plain_new=plain(tmp_path / "new.csv", new),
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_learns_takes_the_options(pucli, files, command):
    def answer(path, *options):
        done = pucli(*COMMANDS[command], *LABELED, "--data", path, *options, "--json")
        said = [line for line in done.err.splitlines() if "pucli" not in line]
        return done, {"said": said, **{name: done.document.get(name) for name in ANSWERS}}

    result, found = answer(files.train, *OPTIONS)
    assert result.code == 0, result.out
    if command == "auto":
        kinds = {column["column"]: column["kind"] for column in result.document["columns"]}
        assert kinds == {"größe": "number", "preis": "number", "stadt": "category"} and found["rows"] == 120
    given = (
        *("--encoding cp1252", "--sep |", "--skip-rows 2", "--header-rows 2", "--skip-footer 1", "--quote none"),
        *("--decimal ,", "--missing n.v.,999"),
    )
    for option in given:
        place = OPTIONS.index(option.split()[0])
        other, without = answer(files.train, *OPTIONS[:place], *OPTIONS[place + 2 :])
        assert option.startswith("--sep ") or other.code or without != found, option


@pytest.mark.slow
def test_a_model_keeps_the_options_for_new_files(pucli, files):
    train = ["train", "--method", "svc-naive", *LABELED, "--model"]
    assert pucli(*train, "german.model", "--data", files.train, *OPTIONS).code == 0
    assert pucli(*train, "plain.model", "--data", files.plain).code == 0
    documents = {}
    for model, data in (("german", files.new), ("plain", files.plain_new)):
        predicted = pucli("predict", "--model", f"{model}.model", "--data", data, "--json")
        assert predicted.code == 0, predicted.out
        rows = predicted.document["predictions"]
        scored = pucli("evaluate", "--model", f"{model}.model", "--data", data, "--labels", "pu", "--json")
        assert scored.code == 0, scored.out
        documents[model] = [(row["prediction"], row["score"]) for row in rows], scored.document["scores"]
    assert documents["german"] == documents["plain"]


@pytest.mark.slow
def test_options_given_to_predict_and_evaluate_replace_those_of_the_model(pucli, files):
    train = ["train", "--method", "svc-naive", *LABELED, "--model", "german.model"]
    assert pucli(*train, "--data", files.train, *OPTIONS).code == 0
    other = ["--encoding", "utf-8", "--sep", ",", "--decimal", ".", "--missing", "nothing", "--quote", "double"]
    other += ["--header-rows", "1", "--skip-footer", "0", "--skip-rows", "1"]
    lines = files.plain_new.read_text(encoding="utf-8")
    files.plain_new.write_text(f"title\n{lines}", encoding="utf-8")
    same = pucli("predict", "--model", "german.model", "--data", files.new, "--json").document["predictions"]
    refused = pucli("predict", "--model", "german.model", "--data", files.plain_new, "--json")
    assert refused.code == 2 and "not cp1252" not in refused.out
    given = pucli("predict", "--model", "german.model", "--data", files.plain_new, *other, "--json")
    assert given.code == 0, given.out
    numbers = ([row["score"] for row in rows] for rows in (same, given.document["predictions"]))
    np.testing.assert_allclose(*numbers)
    evaluate = ["evaluate", "--labels", "pu", "--model", "german.model", "--json", "--data", files.new]
    before = pucli(*evaluate).document["scores"]
    text = files.new.read_bytes().decode("cp1252").replace("|", ";").replace("n.v.", "?")
    files.new.write_text(text, encoding="utf-8")
    assert pucli(*evaluate).code == 2
    usual = ["--encoding", "utf-8", "--sep", ";", "--decimal", ",", "--missing", "?"]
    assert pucli(*evaluate, *usual).document["scores"] == before


@pytest.mark.slow
def test_a_sheet_is_kept_and_options_without_effect_are_refused(pucli, files, tmp_path):
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        pd.DataFrame({"note": ["read me"]}).to_excel(book, sheet_name="Cover", index=False)
        table().to_excel(book, sheet_name="Daten", index=False)
    words = ["train", "--method", "svc-naive", *LABELED]
    assert pucli(*words, "--data", "book.xlsx", "--sheet", "Daten", "--model", "m.model").code == 0
    for command in (["predict"], ["evaluate", "--labels", "pu"]):
        assert pucli(*command, "--model", "m.model", "--data", "book.xlsx").code == 0
        other = pucli(*command, "--model", "m.model", "--data", "book.xlsx", "--sheet", "Cover")
        assert other.code == 2 and "--sheet NAME" in other.err
    for option in ("--sheet x", "--encoding cp1252", "--sep ;"):
        data = files.plain if "sheet" in option else "book.xlsx"
        refused = pucli(*words, "--data", data, *option.split())
        assert refused.code == 2 and f"{option}: " in refused.err
    assert "needs --data" in pucli("prior", "--dataset", "wine", "--sheet", "x").err


@pytest.mark.slow
def test_compare_reads_with_the_options(pucli, files, tmp_path):
    words = ["compare", "svc-naive", "blssvm", "--repeats", "2", "--seed", "3", *LABELED, "--json"]
    usual = ["--encoding", "cp1252", "--sep", "|", "--decimal", ",", "--missing", "n.v."]
    frame = pd.read_csv(files.plain).fillna({"gekauft": ""})
    german(files.train, frame, bare=True)
    plain(files.plain, frame.assign(stadt=frame["stadt"].str.replace('"', "")))
    read = pucli(*words, "--data", files.train, *usual)
    assert read.code == 0, read.out
    (tmp_path / "plain").mkdir()
    same_name = files.plain.rename(tmp_path / "plain" / files.train.name)  # the splits depend on it
    expected = pucli(*words, "--data", same_name)
    (found,), (other,) = read.document["scores"], expected.document["scores"]
    assert found["values"] == other["values"]
    wrong = (["--sheet", "x"], ["--encoding", "x"], ["--sep", "xy"], ["--skip-rows", "1"], ["--decimal", "x"])
    for option in wrong:
        assert pucli(*words, "--data", same_name, *option).code == 2
    assert pucli(*words, "--data", same_name, "--missing", "ja").code == 2


def test_what_is_read_of_each_column_is_shown(pucli, tmp_path):
    frame = table().assign(preis=[f"{i},50 €" for i in range(114)] + ["n.v."] * 6)
    plain(tmp_path / "rows.csv", frame)
    shown = pucli("auto", "--columns", "--data", "rows.csv", *LABELED)
    (line,) = [line for line in shown.out.splitlines() if line.startswith("preis")]
    assert "95%" in line and "n.v." in line and "'0,50 €' is read as 0.5" in line
    document = pucli("auto", "--columns", "--data", "rows.csv", *LABELED, "--json").document
    (column,) = [column for column in document["columns"] if column["column"] == "preis"]
    assert column["read"] == pytest.approx(0.95) and column["not_read"] == "n.v."


def test_a_pipe_gives_the_model_of_its_file_and_says_that_it_is_copied(pucli, files, monkeypatch):
    words = ["train", "--method", "svc-naive", *LABELED, "--json"]
    expected = pucli(*words, "--data", files.plain)
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(files.plain.read_bytes())))
    piped = pucli(*words, "--data", "-")
    assert piped.code == 0, piped.out
    assert any(note.startswith("stdin is read only once") for note in piped.document["notes"])
    assert piped.document["objective"] == expected.document["objective"]


@pytest.mark.slow
def test_several_files_train_the_model_of_the_whole(pucli, files, tmp_path):
    frame = pd.read_csv(files.plain)
    halves = [plain(tmp_path / f"{name}.csv", frame[part]) for name, part in (("a", slice(50)), ("b", slice(50, None)))]
    words = ["train", "--method", "svc-naive", *LABELED, "--json", "--model", "m.model"]
    several = pucli(*words, "--data", halves[0], "--data", halves[1])
    assert several.code == 0, several.out
    assert several.document["objective"] == pucli(*words, "--data", files.plain).document["objective"]
    both = pucli("predict", "--model", "m.model", "--data", halves[0], "--data", halves[1], "--json").document
    whole = pucli("predict", "--model", "m.model", "--data", files.plain, "--json").document
    assert both["predictions"] == whole["predictions"]
    overwritten = pucli(*words[:-1], "b.csv", "--data", "a.csv", "--data", "b.csv")
    assert overwritten.code == 2 and "would overwrite the input" in overwritten.out
