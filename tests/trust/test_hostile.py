"""The fuzzer of `python -m tests.trust.run`: seeded, and its judge finds what it should."""

from __future__ import annotations

import numpy as np
import pytest

from pucli.core.errors import UsageError
from pucli.models.saved import load_model
from tests.trust import hostile_models
from tests.trust.fuzz import MUTATIONS, Case, judge
from tests.trust.guard import Guard, Outcome

GOOD = Outcome(2, "pucli: d.csv: no column 'a'; columns: b\n", 0.1, [])


def test_the_judge():
    case = Case("a", [])
    assert judge(GOOD, case, 20) == ""
    assert "breach" in judge(GOOD._replace(breaches=["os.system ('x',)"]), case, 20)
    assert "exit code 1" in judge(GOOD._replace(code=1), case, 20)
    assert "exit code -9" in judge(GOOD._replace(code=-9), case, 20)
    assert "more than" in judge(GOOD._replace(seconds=21.0), case, 20)
    assert "raw words" in judge(GOOD._replace(err="pucli: m: damaged (BadZipFile: no)"), case, 20)
    assert "more than 1 lines" in judge(GOOD._replace(err="pucli: one\ntwo\n"), case, 20)


def test_the_judge_counts_the_warnings_before_a_message():
    warned = GOOD._replace(err="warning: d.csv: one cell is missing\n" + GOOD.err)
    allowed = Case("a", [], warnings=1)
    assert "more than 1 lines" in judge(warned, Case("a", []), 20)
    assert judge(warned, allowed, 20) == ""
    assert "more than 1 lines" in judge(warned._replace(err="warning: d.csv: two\n" + warned.err), allowed, 20)
    assert "more than 1 lines" in judge(GOOD._replace(err="warning: d.csv: one cell is missing\n"), allowed, 20)


def test_mutations_are_seeded():
    text = b"a,b\n1,2\n3,4\n" * 20
    for change in MUTATIONS:
        one, other = (change(np.random.default_rng(3), text) for _ in range(2))
        assert one == other


@pytest.mark.slow
def test_forged_models_are_refused(tmp_path):
    bases = hostile_models.trained(tmp_path)
    assert len(bases) == 3
    found = hostile_models.cases(np.random.default_rng(7), bases, 60)
    refused = 0
    for case in found:
        path = tmp_path / "m.model"
        path.write_bytes(case.files["m.model"])
        try:
            load_model(path)
        except UsageError as error:
            refused += 1
            assert judge(Outcome(2, f"pucli: {error}", 0.0, []), case, 20) == ""
    assert refused > 30


@pytest.mark.slow
def test_the_guard_sees_what_a_case_does(tmp_path):
    inside = tmp_path / "case"
    inside.mkdir()
    (inside / "d.csv").write_text("a,y\n1,0\n2,1\n")
    with Guard() as guard:
        elsewhere = guard.run(["split", "iris", "--out", str(tmp_path / "out.json")], inside)
        within = guard.run(["list", "methods"], inside)
    assert elsewhere.breaches and "out.json" in " ".join(elsewhere.breaches)
    assert (within.code, within.breaches) == (0, [])
