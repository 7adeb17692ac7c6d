"""Sentences of ``pucli auto`` for the tables and options on which they depend."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from pucli.cli.output import Output
from pucli.cli.text.auto import _called, _concerns, _estimates, _first, prior_is_given
from pucli.cli.text.auto_in_full import _duplicates, _limits, print_whole
from pucli.cli.text.sensitivity import if_odds, if_prior
from pucli.core.errors import by_interface, naming_options
from pucli.estimators.auto.random_labeling import RandomLabeling
from pucli.models.auto.ranking import why_only_train
from pucli.models.auto.summary import RandomLabels, Reported, behind
from pucli.solvers.ensemble.estimates import Estimate, FirstRows, IfPrior, OddsEffects

NAMES = ("prior", "share", "recall", "precision", "f1", "auc", "recall_odds_2", "lift")


def document(**changed):
    """The document of a fitted model; `changed` are entries of it."""
    estimate = Reported(0.5, 0.45, 0.55, True)
    return SimpleNamespace(**{
        "rows": 110, "labeled": 10, "unlabeled": 100, "known_negatives": 0, "negatives": "biased", "expected": None,
        "scenario": "case-control", "labeling": "scar", "called_positive": 50, "few_labeled": True, "ranks": True,
        "threshold": SimpleNamespace(goal="f1", why="for the largest F1"), "duplicate_rows": 0,
        "estimates": SimpleNamespace(**dict.fromkeys(NAMES, estimate)),
        "random_labeling": RandomLabels(0.5, True, "", 0.0, "no bias"), "sound": True, "leaks": [],
        "repeated": "", "notes": [], "if_prior": [], "if_odds": None, "seconds": 1.0, "leaderboard": [], "first": [],
    } | changed)  # fmt: skip


def told(found, estimates):
    return " ".join(" ".join(_estimates(SimpleNamespace(model=SimpleNamespace(estimates_=estimates)), found)).split())


ESTIMATES = dict.fromkeys(NAMES, Estimate(0.5, 0.45, 0.55))


def test_if_no_row_is_called_there_is_no_precision_of_called_rows():
    none = Reported(0.0, 0.0, 0.0, True)
    found = document(called_positive=0)
    found.estimates.share, found.estimates.precision = none, replace(none, known=False)
    text = told(found, ESTIMATES | {"share": Estimate(0.0, 0.0, 0.0)})
    assert text.startswith("finds nothing: no row is called positives 50 of 100")
    assert "precision also" not in text and "called rows" not in text and "lift" not in text


def test_random_negatives_that_only_train_are_told():
    assert why_only_train("random", 9, "scar").endswith(
        "10 known negatives to give the class prior; with 9 they only train"
    )
    assert "needs labels at random" in why_only_train("random", 10, "sar")
    assert not why_only_train("biased", 9, "sar") and not why_only_train("random", 10, "scar")


@pytest.mark.parametrize(
    ("changed", "given"),
    [
        ({}, False),
        ({"negatives": "random", "known_negatives": 5}, False),  # too few to calibrate
        ({"negatives": "random", "known_negatives": 40}, True),
        ({"negatives": "biased", "known_negatives": 40}, False),
        ({"expected": 30}, True),
    ],
)
def test_only_a_prior_from_labeled_rows_needs_pure_top_rows(changed, given):
    found = document(**changed)
    assert prior_is_given(found) == given
    assert ("nearly all top rows" in told(found, ESTIMATES)) == ("the highest scores" in _limits(found)) == (not given)
    if found.negatives == "random":
        assert bool(why_only_train("random", found.known_negatives, "scar")) == (not given)
    lines: list[str] = []
    tables: list[list[list[str]]] = []
    out = SimpleNamespace(
        text=lambda line="": lines.append(line), remark=lines.append, table=lambda _, rows: tables.append(rows)
    )
    print_whole(out, found)
    assert any("nearly all top rows" in cell for row in tables[0] for cell in row) == (not given)
    assert any("not on --expected" in line for line in lines) == (found.expected is not None)


def test_one_is_singular():
    top = document(called_positive=1, threshold=SimpleNamespace(goal="top"))
    assert _called(SimpleNamespace(), top) == "the likeliest of 100 unlabeled rows"
    top.called_positive = 2
    assert _called(SimpleNamespace(), top) == "the 2 likeliest of 100 unlabeled rows"
    one = Estimate(1.2, 0.0, 3.0)
    first = _first(document(first=[FirstRows(50, one, one, one, one)]))
    assert "about 1 positive among" in " ".join(first)
    assert (_duplicates(None), _duplicates(0), _duplicates(1)) == ("", "no duplicate rows", "1 duplicate row")
    ends = [IfPrior(0.1, k, 0.5, 0.5) for k in (0, 1, 2)]
    assert if_prior(ends).split("; ")[:3] == [
        "if it is 10 %: no row called",
        "if it is 10 %: 1 row called, recall 50 %, precision 50 %",
        "if it is 10 %: 2 rows called, recall 50 %, precision 50 %",
    ]
    share = Estimate(0.5, 0.4, 0.6)
    odds = (2.0, share, share, share, 3.0, 3.0, None)
    said = [if_odds(OddsEffects(*odds, ahead, called)) for ahead, called in ((1, 9), (2, 9), (0, 9), (1, 1))]
    assert [text.partition(" ahead of")[0].rpartition("; ")[2] for text in said] == [
        "1 of the 9 called rows stays",
        "2 of the 9 called rows stay",
        "none of the 9 called rows stay",
        "the called row stays",
    ]


def test_a_line_of_the_leaderboard_is_behind_by_its_standard_error():
    lines = [{"name": name, "pu_auc": area} for name, area in (("ridge", 0.793), ("small", 0.742), ("forest", 0.544))]
    assert behind(lines, 80, 17_920) == ["forest"]
    assert behind(lines, 4000, 17_920) == ["small", "forest"]
    assert behind(lines, 6, 20) == []


def test_messages_name_options_in_commands_and_parameters_in_python():
    def texts():
        return RandomLabeling(0.001, 0, 5.0).verdict.partition("train again with ")[2], by_interface("cv", "--cv")

    assert texts() == ('labeling="sar"', "cv")
    with naming_options():
        assert texts() == ("--labeling sar", "--cv")
        with naming_options(wanted=False):  # notes of cells are the same for any worker
            assert texts() == ('labeling="sar"', "cv")
    assert texts() == ('labeling="sar"', "cv")


def test_a_remark_in_a_pipe_is_one_line(capsys):
    with Output(as_json=False, quiet=False) as out:
        out.remark("first\n  second")
    assert capsys.readouterr().err == "first   second\n"


def test_what_may_be_chance_is_said_once():
    useless = "AutoPU may be useless on these rows: labeled rows hardly rank above unlabeled ones"
    model = SimpleNamespace(estimates_=ESTIMATES, ranks_=False, labeling="scar", labeling_="scar")
    found = SimpleNamespace(model=model, leaks=(), repeated="")
    told = _concerns(SimpleNamespace(held=[useless, "another"]), found, document(ranks=False))
    assert told == ["the order of the rows could be chance; label more rows or add columns", "another"]
