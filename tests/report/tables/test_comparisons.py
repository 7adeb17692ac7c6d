"""Who is ahead follows the better side of the metric."""

import pytest

from pucli.metrics import wilcoxon_paired
from pucli.report.results_page import _Figures
from pucli.report.tables.comparisons import Comparison, Pair, by_pair, compare_pairs
from pucli.report.tables.samples import Samples
from pucli.runner import load_experiment, plan


def pair(metric, *differences, n=10):
    rows = []
    for difference in differences:
        test = wilcoxon_paired([difference] * n, [0.0] * n)
        rows.append(
            Comparison(**vars(test), dataset="seeds", setting="", a="a", b="b", metric=metric, p_adjusted=test.p)
        )
    return Pair("a", "b", rows)


def test_the_smaller_error_is_ahead():
    assert pair("f1", 1.0, 2.0, -1.0).words.startswith("ahead in 2, behind in 1 of 3 rows; 3 differ at the 5 % level")
    for metric in ("error", "prior_error"):
        assert pair(metric, 1.0, 2.0, -1.0).words.startswith("ahead in 1, behind in 2 of 3 rows")
    assert pair("objective", 1.0, 2.0, -1.0).words.startswith("larger in 2, smaller in 1 of 3 rows")


@pytest.mark.parametrize(("n", "able"), [(1, False), (3, False), (5, False), (6, True)])
def test_few_repeats_cannot_show_a_difference(n, able):
    words = pair("f1", 1.0, n=n).words
    assert (f"; {n} repeat{'s' * (n > 1)} cannot show a difference" in words) is not able
    assert ("1 differ at the 5 % level" in words) is able


def test_wins_of_a_committed_table_are_repeats_with_the_smaller_error():
    experiment = load_experiment("pulsnar", check_methods=False)
    cells = plan(experiment)
    errors = {"auto": 0.01, "prior-km2": 0.02}
    stored = {
        cell.key: {"metrics": {"prior_error": errors[cell.method]}, "status": "done", "flags": []} for cell in cells
    }
    (found,) = by_pair(compare_pairs(Samples.of(experiment, cells, stored)))
    assert {(row.wins, row.losses) for row in found.rows} == {(10, 0)} and len(found.rows) == 12
    assert found.words.startswith("ahead in 12, behind in 0 of 12 rows") and "cannot show" not in found.words


def test_the_page_of_results_counts_the_same_side(tmp_path):
    folder = tmp_path / "one"
    folder.mkdir()
    lines = ["a,b,metric,mean_difference", "x,y,error,-0.1", "x,y,error,0.1", "x,y,error,-0.2"]
    (folder / "comparisons.csv").write_text("\n".join(lines))
    assert _Figures(tmp_path).ahead("one", "x", "y") == "2 of 3 rows"
