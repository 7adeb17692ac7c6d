"""What a result was made with: hashes that survive a rewritten history, and a guard on committed tables."""

import subprocess

import pytest
import yaml

from pucli.core.errors import UsageError
from pucli.runner import load_experiment, parse_experiment
from pucli.runner.provenance import check_committed, commit, experiment_sha256, provenance, source_sha256

DECLARED = {
    "title": "One",
    "data": {"names": ["iris"]},
    "split": {"label_frequencies": [0.5], "repeats": 1, "seed": 7},
    "methods": {"gllc": {"method": "gllc"}},
}


def git(root, *words):
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *names, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path):
    """A checkout with a package, an experiment and a committed table."""
    for name, text in {"pucli/a.py": "a = 1\n", "experiments/one.yaml": "x\n", "results/one/table.md": "t\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_the_hash_of_the_source_is_of_names_and_contents(tmp_path):
    seen = set()
    for files in (
        {"a.py": "1", "b/c.py": "2"},
        {"a.py": "1", "b/c.py": "3"},
        {"a.py": "1", "b/d.py": "2"},
        {"a.py": "1"},
        {"a.py": "12"},
        {"a.py": "", "b.py": "12"},
    ):
        folder = tmp_path / str(len(seen))
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        before = source_sha256(folder)
        (folder / "notes.txt").write_text("not source")
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__" / "a.pyc").write_text("compiled")
        assert source_sha256(folder) == before
        seen.add(before)
    assert len(seen) == 6


def test_the_hash_of_an_experiment_is_that_of_its_file(tmp_path):
    file = tmp_path / "one.yaml"
    file.write_text(yaml.safe_dump(DECLARED))
    first = experiment_sha256(load_experiment(file))
    file.write_text("# a remark\n" + yaml.safe_dump(DECLARED))
    assert experiment_sha256(load_experiment(file)) != first
    in_python = [experiment_sha256(parse_experiment({**DECLARED, "title": title}, file="-")) for title in "aab"]
    assert in_python[0] == in_python[1] != in_python[2]


def test_provenance_has_both_hashes(tmp_path):
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(DECLARED))
    experiment = load_experiment(tmp_path / "one.yaml")
    content = provenance(experiment, n_jobs=1, backend="loky")
    assert content["source_sha256"] == source_sha256() and content["experiment_sha256"] == experiment_sha256(experiment)
    assert content["seed"] == 7


def test_a_committed_table_needs_committed_code(checkout):
    table = checkout / "results" / "one"
    assert not commit(checkout).endswith("+changes")
    check_committed(table, root=checkout)
    (checkout / "results" / "one" / "table.md").write_text("new\n")
    check_committed(table, root=checkout)  # a table is what is being written
    for change in ("pucli/a.py", "experiments/one.yaml", "pucli/new.py"):
        (checkout / change).write_text("changed\n")
        assert commit(checkout).endswith("+changes")
        with pytest.raises(UsageError, match=rf"results/one .*{change}.* --allow-changes"):
            check_committed(table, root=checkout)
        check_committed(table, root=checkout, allow_changes=True)
        check_committed(checkout / "results" / "two", root=checkout)  # not committed
        check_committed(checkout.parent / "elsewhere", root=checkout)
        git(checkout, "stash", "-qu")
        git(checkout, "stash", "drop", "-q")


def test_without_a_checkout_nothing_is_refused(tmp_path):
    check_committed(tmp_path / "results", root=tmp_path)
    assert commit(tmp_path) == "not a checkout"
