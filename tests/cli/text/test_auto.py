"""Sentences of ``pucli auto`` for the tables and options on which they depend."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from pucli.cli.output import Output
from pucli.cli.text.auto import _concerns, _estimates, _first, _flagged, prior_is_given
from pucli.cli.text.auto_in_full import _duplicates, _limits, print_whole
from pucli.cli.text.sensitivity import if_odds, if_prior
from pucli.core.errors import by_interface, naming_options
from pucli.estimators.auto.random_labeling import RandomLabeling
from pucli.models.auto.ranking import why_only_train
from pucli.models.auto.summary import DifferingColumn, RandomLabels, Reported, behind
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
        "random_labeling": RandomLabels(0.5, True, "", 0.0, [], "no bias"), "chance": None, "sound": True, "leaks": [],
        "repeated": "", "notes": [], "if_prior": [], "if_odds": None, "seconds": 1.0, "leaderboard": [], "first": [],
    } | changed)  # fmt: skip


def told(found, estimates):
    items = _estimates(SimpleNamespace(model=SimpleNamespace(estimates_=estimates)), found)
    return " ".join(f"{name} {text}" for name, text in items.items() if text)


ESTIMATES = dict.fromkeys(NAMES, Estimate(0.5, 0.45, 0.55))


def test_if_no_row_is_flagged_there_is_no_precision():
    none = Reported(0.0, 0.0, 0.0, True)
    found = document(called_positive=0)
    found.estimates.share, found.estimates.precision = none, replace(none, known=False)
    text = told(found, ESTIMATES | {"share": Estimate(0.0, 0.0, 0.0)})
    assert text.startswith("positives about 50 (45 to 56), if nearly")
    assert "recall" not in text and "flagged rows" not in text and "lift" not in text


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
    assert _flagged(SimpleNamespace(), top) == "the most likely of 100 unlabeled rows"
    top.called_positive = 2
    assert _flagged(SimpleNamespace(), top) == "the 2 most likely of 100 unlabeled rows"
    one = Estimate(1.2, 0.0, 3.0)
    first = _first(document(first=[FirstRows(50, one, one, one, one)]))
    assert first == {"top 50": "hold about 1 positive (0 to 3); lift 1.2 (0 to 3)"}
    assert (_duplicates(None), _duplicates(0), _duplicates(1)) == ("", "no duplicate rows", "1 duplicate row")
    ends = [IfPrior(0.1, k, 0.5, 0.5) for k in (0, 1, 2)]
    assert if_prior(ends).split("; ")[:3] == [
        "if it is 10%: no row flagged",
        "if it is 10%: 1 row flagged, recall 50%, precision 50%",
        "if it is 10%: 2 rows flagged, recall 50%, precision 50%",
    ]
    share = Estimate(0.5, 0.4, 0.6)
    odds = (2.0, share, share, share, 3.0, 3.0, None)
    said = [if_odds(OddsEffects(*odds, ahead, called)) for ahead, called in ((1, 9), (2, 9), (0, 9), (1, 1))]
    assert [text.partition(" ahead of")[0].rpartition("; ")[2] for text in said] == [
        "1 of the 9 flagged rows stays",
        "2 of the 9 flagged rows stay",
        "none of the 9 flagged rows stay",
        "the flagged row stays",
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


def test_columns_that_differ_are_named_with_the_test_of_the_labels():
    income = [DifferingColumn("income", 3.5, 0.015)]
    labels = RandomLabels(0.015, True, "a", 3.5, income, "the test found a weak sign of bias")
    text = told(document(random_labeling=labels), ESTIMATES)
    assert "weak sign of bias. Labeled rows differ from unlabeled rows ranked like them in income." in text
    assert "differ" not in told(document(), ESTIMATES)
