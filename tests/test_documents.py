"""Every block of code in README.md and docs runs, or, where that takes long or needs the network, is parsed."""

import ast
import importlib
import itertools
import json
import os
import re
import shlex
import shutil
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from pucli.cli.schema import adapter_of
from pucli.core import declared_files as declared
from pucli.data import dataset_entry, dataset_names
from pucli.methods import METHODS, Method
from pucli.models.saved import load_model
from tests.cli.test_main import parse
from tests.helpers import ROOT

sybil = pytest.importorskip("sybil", reason="sybil is not installed")
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser  # noqa: E402

PAGES = [
    ROOT / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if not {"generated", "gallery"} & set(path.parts)),
]
# what belongs to the machine and not to pucli
NOT_OURS = {
    "pip",
    "python3",
    "pytest",
    "bash",
    "zcat",
    ".venv/bin/pip",
    ".venv/bin/python",
    ".venv/bin/pre-commit",
}


def write_files() -> None:
    """Write the tables that the pages speak of."""
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(1.5, 1, (60, 3)), random.normal(-1.5, 1, (90, 3))])
    rows = pd.DataFrame(X.round(3), columns=["age", "income", "visits"])
    rows.insert(0, "customer", [f"C{number:05d}" for number in random.permutation(150)])
    rows["zip"] = random.choice(["1010", "2020", "3030"], 150)
    rows["notes"] = random.choice(["called twice", "wrote a letter", "came by"], 150)
    rows.assign(bought=["yes" if row < 25 else "" for row in range(150)]).to_csv("customers.csv", index=False)
    ranked = pd.DataFrame({"row": range(1, 151), "labeled": [1] * 25 + [0] * 125, "score": np.linspace(1, -1, 150)})
    ranked.to_csv("ranked.csv", index=False)  # as `auto --scored` writes it
    rows.assign(bought=["yes"] * 60 + ["no"] * 90).to_csv("checked.csv", index=False)
    rows.to_csv("new.csv", index=False)
    rows.to_csv("next_year.csv", index=False)
    classes = np.where(np.arange(150) < 60, "a", "b")
    known = np.arange(150) % 5 == 0
    numbers = rows[["age", "income", "visits"]]
    for name, column in (("patients.csv", "outcome"), ("flowers.csv", "species")):
        numbers.assign(**{column: np.where(known, classes, "")}).to_csv(name, index=False)
    numbers.assign(visits=numbers["visits"].where(np.arange(150) < 50)).to_csv("sensors.csv", index=False)


def write_table() -> None:
    """Write the experiment and the catalogue that the README names."""
    from pucli.cli.new import new_dataset, new_experiment

    made = new_experiment("my-table", "written")
    content = yaml.safe_load((made.folder / "my-table.yaml").read_text())
    content["split"]["repeats"] = 1
    content["methods"] = {"gllc": {"method": "gllc", "grid": {"lam": [1.0]}}}
    Path("my-table.yaml").write_text(yaml.safe_dump(content))
    declared_there = new_dataset("points", "written").folder
    Path("my-datasets.yaml").write_bytes((declared_there / "datasets.yaml").read_bytes())


def copied(source: str, target: str) -> None:
    """Copy a file of the checkout; an experiment gets the column that the page has its reader add."""
    shutil.copyfile(ROOT / source, target)
    if target == "with-mine.yaml":
        column = "\n  nearest-mean: {method: blssvm, grid: {}}"
        Path(target).write_text(Path(target).read_text().replace("\nmethods:", f"\nmethods:{column}"))


def too_long(page: Path, words: list[str]) -> bool:
    """Return whether a command is parsed only."""
    command, rest = words[0], set(words[1:])
    if command in {"bench", "site"} or "--all" in rest or "--backend" in rest or "-" in rest:
        return True
    if command == "auto":  # the tutorial runs it
        return page.name not in {"practitioner.md", "agents.md"}
    if command == "reproduce":
        if "with-mine.yaml" in rest:
            return False
        in_short = "smoke" in rest and page.name in {"published.md", "researcher.md"} and "--n-jobs" not in rest
        return not (in_short or rest & {"--dry-run", "my-table.yaml"})
    if (
        (command == "report" or "--status" in rest) and words[1].startswith("table-") and "smoke" not in rest
    ):  # nothing is there
        return True
    if "nearest-mean" in rest and command != "new":  # needs pip; tests/cli/commands/test_new.py runs it
        return True
    files = [name for name in dataset_names() if dataset_entry(name).files]
    return not os.environ.get("PUCLI_MIRROR") and bool(rest.intersection(files))


def commands(block: str):
    """Yield the commands of a block: words, and the variables that stand before them."""
    for line in block.replace("\\\n", " ").splitlines():
        for part in line.split(" | ")[-1].split(" && "):
            words = shlex.split(part, comments=True)
            variables = dict(word.split("=", 1) for word in itertools.takewhile(lambda word: "=" in word, words))
            if words[len(variables) :]:
                yield variables, words[len(variables) :]


def shown(block: str):
    """Yield the commands of a block in which their output stands: the words after pucli, and the lines printed."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *printed = part.splitlines()
        words = shlex.split(command.partition(" < ")[0])
        assert words[0] == "pucli", command
        yield words[1:], [line for line in printed if line.strip() not in {"", "..."}]


def test_commands_shown_with_their_output_are_commands():
    for page in PAGES:
        blocks = re.findall(r"^```text\n(\$ .*?)^```", page.read_text(), re.S | re.M)
        for words, _ in itertools.chain.from_iterable(map(shown, blocks)):
            parse(words)


def check_documents(ran, namespace) -> int:
    """Check the JSON documents that commands printed, and those in variables of a page, by their schemas."""
    printed = [out for words, out in ran if "--json" in words]
    kept = [json.dumps(value) for value in namespace.values() if isinstance(value, dict) and "schema" in value]
    for text in (*printed, *kept):
        adapter_of(json.loads(text)["schema"].partition("/")[0]).validate_json(text, strict=True)
    return len(printed) + len(kept)


def ends_near_an_optimum(printed: str) -> bool:
    """Return whether the last line, as in README.md, is the objective of a model and its distance to the optimum."""
    objective, gap = map(float, printed.splitlines()[-1].split())
    return 0 <= gap <= 1e-6 * objective


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_code_of_a_page_runs(page, pucli, monkeypatch, recwarn, capsys):  # noqa: C901
    mirror = ROOT.parent / "shared" / "data" / "uci"
    if mirror.is_dir():
        monkeypatch.setenv("PUCLI_MIRROR", str(mirror))
    monkeypatch.setattr(declared, "_named", [])
    write_files()
    ran = []

    def shell(example):
        for variables, words in commands(str(example.parsed)):
            if words[0] in NOT_OURS:
                continue
            if words[0] == "cp":
                copied(*words[1:])
                continue
            assert Path(words[0]).name == "pucli", f"{page.name}: {words[0]} is no command that is known"
            if too_long(page, words[1:]):
                # a page installs it before, a test does not
                parse(["gllc" if word == "nearest-mean" else word for word in words[1:]])
                continue
            if "my-table.yaml" in words and not Path("my-table.yaml").exists():
                write_table()
            if "new.parquet" in words:
                pd.read_csv("new.csv").to_parquet("new.parquet")
            with monkeypatch.context() as context:
                for name, value in variables.items():
                    context.setenv(name, value)
                if "bought.model" in words and words[1] != "train" and not Path("bought.model").exists():
                    known = (
                        "--data",
                        "customers.csv",
                        "--label",
                        "bought",
                        "--positive",
                        "yes",
                        "--model",
                        "bought.model",
                    )
                    assert pucli("train", "--method", "gllc", *known).code == 0
                done = pucli(*words[1:])
            if not mirror.is_dir() and "PUCLI_OFFLINE forbids the network" in done.err:
                continue  # tests download nothing
            assert done.code == 0, f"{page.name}: {' '.join(words)}\n{done.err}"
            ran.append((words, done.out))

    def console(example):
        for words, printed in shown(str(example.parsed)):
            data = [file for option, file in itertools.pairwise(words) if option == "--data"]
            if not printed or not all(Path(file).is_file() for file in data):
                parse(words)
                continue
            done = pucli(*words)
            assert done.code == 0, f"{page.name}: {' '.join(words)}\n{done.err}"
            assert [line for line in printed if line not in done.out + done.err] == []

    parsers = [
        CodeBlockParser(language="sh", evaluator=shell),
        CodeBlockParser(language="console", evaluator=console),
        PythonCodeBlockParser(),
    ]
    document = sybil.Sybil(parsers=parsers).parse(page)
    if page.name == "nightly.md":
        pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; pip install -e '.[onnx]'")
    if page.name == "README.md":
        shutil.copytree(ROOT / "examples", "examples")
    if page.name == "python.md":
        table = pd.read_csv("customers.csv")
        document.namespace |= {"bought": table.pop("bought").eq("yes"), "table": table}
    for example in document.examples():
        example.evaluate()
    assert check_documents(ran, document.namespace) >= 9 or page.name != "agents.md"
    assert page.name != "README.md" or (ends_near_an_optimum(capsys.readouterr().out) and not recwarn.list)


def test_the_method_of_contributing_trains_predicts_saves_and_loads(pucli, tmp_path, monkeypatch):
    steps = (ROOT / "CONTRIBUTING.md").read_text().split("## Add a method\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^ *```(?:python|yaml)\n(.*?)^ *```", steps, re.S | re.M)
    solver, estimator, declaration = map(textwrap.dedent, blocks)
    for name, code in (("solvers", solver), ("estimators.unbiased", estimator)):
        package = importlib.import_module(f"pucli.{name}")
        (tmp_path / name).mkdir()
        (tmp_path / name / "centroid.py").write_text(code)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / name)])
        monkeypatch.setitem(sys.modules, f"pucli.{name}.centroid", None)  # removes the module after the test
        del sys.modules[f"pucli.{name}.centroid"]
    monkeypatch.setitem(METHODS, "centroid", Method("centroid", **yaml.safe_load(declaration)["centroid"]))

    write_files()
    known = ("--data", "customers.csv", "--label", "bought", "--positive", "yes", "--drop", "notes")
    assert pucli("train", "--method", "centroid", *known, "--model", "centroid.model").code == 0
    done = pucli("predict", "--model", "centroid.model", "--data", "new.csv", "--out", "scored.csv")
    assert done.code == 0, done.err
    called = pd.read_csv("scored.csv")["prediction"].eq("yes")
    assert called[:60].mean() > 0.9 > 0.1 > called[60:].mean()  # the first 60 rows are the positives
    model = load_model(Path("centroid.model")).whole
    assert (model.predict(pd.read_csv("new.csv", dtype=str)) == "yes").tolist() == called.tolist()


def test_every_method_page_says_when_to_use_it():
    assert [name for name, method in METHODS.items() if not (method.when and method.when_not)] == []


def test_there_are_twelve_examples_and_each_has_a_title():
    examples = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))
    assert len(examples) >= 12
    for path in examples:
        title, line = path.read_text().splitlines()[1:3]
        assert set(line) == {"="} and len(line) >= len(title), path.name


def test_every_page_is_in_a_table_of_contents():
    contents = {path.parent: path.read_text() for path in (ROOT / "docs").rglob("index.md")}
    contents[ROOT / "docs"] += (ROOT / "docs" / "reference.md").read_text()
    for path in PAGES[1:]:
        if path.name not in {"index.md", "reference.md"}:
            assert f"\n{path.stem}\n" in contents[path.parent], path


def test_every_example_has_a_title_that_states_its_finding():
    for path in sorted((ROOT / "examples" / "gallery").glob("plot_*.py")):
        assert "title(" in path.read_text(), path.name


def test_the_front_page_has_three_doors():
    text = (ROOT / "docs" / "index.md").read_text()
    assert text.count(":::{container} door\n") == 3
    for name in ("practitioner", "researcher", "reviewer"):
        assert f"(tutorials/{name}.md)" in text and "```{shown}" in (ROOT / "docs/tutorials" / f"{name}.md").read_text()


UNKNOWN = re.compile(
    "not determined|not determine|cannot be told|could not be told|cannot tell|^not known|^no: "
    "|random labeling is unlikely|clear positives were probably"
)


def messages_of_what_is_unknown():
    """Yield the clauses of pucli's messages that say that something is not known, and their files."""
    for path in [*(ROOT / "pucli/cli").rglob("*.py"), *(ROOT / "pucli/models").rglob("*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                for clause in re.split(r"(?<!^no)[:;.,()] ?", node.value):
                    if UNKNOWN.search(clause):
                        yield clause.strip(), path.relative_to(ROOT).as_posix()


def test_every_message_of_what_is_not_determined_has_an_anchor():
    lines = (ROOT / "docs" / "troubleshooting.md").read_text().splitlines()
    headings = [number for number, line in enumerate(lines) if line.startswith("## ")]
    assert all(lines[number - 1].startswith("(") and lines[number - 1].endswith(")=") for number in headings)
    page = " ".join(lines)
    found = list(messages_of_what_is_unknown())
    assert len({clause for clause, _ in found}) >= 12
    assert [(clause, file) for clause, file in found if clause not in page] == []


def test_the_list_of_methods_has_a_sentence_for_each(monkeypatch):
    pytest.importorskip("numpydoc", reason="numpydoc is not installed; pip install -e '.[docs]'")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    import generated_pages

    listed = generated_pages.methods()["methods.md"]
    for name, method in METHODS.items():
        if method.kind in generated_pages.KINDS:
            assert f"| [{name}](methods/{name}.md) | {generated_pages.escape(method.when)} |" in listed


@pytest.mark.slow  # a fit, its reasons and its page
def test_a_notebook_made_of_the_ranking_in_the_gallery_runs_from_top_to_bottom(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    cells = (ROOT / "examples" / "gallery" / "plot_14_ranking.py").read_text().split("\n# %%\n")
    namespace, shown = {"__name__": "notebook"}, []
    for cell in cells:
        *before, last = ast.parse(cell).body
        exec(compile(ast.Module(before, []), "cell", "exec"), namespace)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), namespace))
    assert len(cells) == len(shown) == 5 and all(hasattr(one, "_repr_html_") for one in shown[:4])
