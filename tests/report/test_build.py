"""Reports: verdicts, rows, notes, comparisons, files; from stored rows that are written down here."""

import csv
import gzip
import io
import json
import math
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pytest
import yaml
from markdown_it import MarkdownIt

from pucli.core.errors import UsageError
from pucli.core.json_values import json_values
from pucli.report import Gathered, assemble, build_report
from pucli.report.files import csv_text
from pucli.report.formats.latex import latex
from pucli.report.formats.markdown import grid, markdown
from pucli.report.formats.render import rendered
from pucli.report.gathering import rows_of_variants, samples_of_variants
from pucli.report.protocol_parts import Extra, extras_of
from pucli.report.tables.published import read_published
from pucli.report.tables.samples import Samples
from pucli.report.tables.summary import SummaryLine, summarize
from pucli.report.tables.table import OtherRow, TableRow, table_rows
from pucli.runner import load_experiment, plan
from pucli.runner.profiles import scope
from tests.helpers import ROOT

DECLARED = {
    "title": "A & B",
    "source": {"document": "Nobody 2024", "table": "1"},
    "data": {"names": ["seeds", "umd", "wifi", "ssmcr"], "standardize": "train"},
    "split": {"scenario": "case-control", "label_frequencies": [0.5, 0.25], "repeats": 4, "seed": 1},
    "methods": {
        "glpual/thesis": {"method": "glpual", "kernel": "rbf", "form": "thesis", "grid": {"width": [1, 2]}},
        "glpual/rkhs": {"method": "glpual", "kernel": "rbf", "grid": {"width": [1, 2]}},
        "gllc": {"method": "gllc", "grid": {"lam": [1, 2]}},
    },
    "published": "mine.csv",
    "notes": [
        {"dataset": "umd", "text": "always said"},
        {"dataset": "umd", "text": "said when worse", "verdicts": ["worse"]},
        {"method": "gllc", "setting": {"label_frequency": 0.5}, "text": "half"},
    ],
    "figures": [
        {"name": "boxes", "kind": "paired-difference", "a": "glpual/thesis", "b": "gllc",
         "setting": {"label_frequency": 0.5}},
    ],
    "profiles": {"quick": {"repeats": 2}},
}  # fmt: skip

PUBLISHED = """dataset,label_frequency,method,f1_mean,f1_sd
Seeds,0.5,GLPUAL,90,2
Seeds,0.5,GLLC,80,2
Seeds,0.5,uPU,70,5
UMD,0.5,GLPUAL,90,2
Wifi,0.5,GLPUAL,60,2
SSMCR,0.25,GLLC,failure,
Elsewhere,0.5,GLPUAL,1,1
"""

# mean F1 in per cent by method: the thesis form agrees on seeds only; the rkhs form on umd too
MEANS = {
    "glpual/thesis": {"seeds": 90.5, "umd": 70, "wifi": 80, "ssmcr": 50},
    "glpual/rkhs": {"seeds": 70, "umd": 90, "wifi": 75, "ssmcr": 55},
    "gllc": {"seeds": 80, "umd": 60, "wifi": 70, "ssmcr": 40},
}
SPREAD = [-1.5, -0.5, 0.5, 1.5]


@pytest.fixture
def experiment(tmp_path):
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "mine.csv").write_text(PUBLISHED)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(DECLARED, sort_keys=False))
    return load_experiment(tmp_path / "mine.yaml")


def stored_rows(cells, **special):
    """Rows as the store gives them, with F1 = mean + spread; `special` label -> changes of its rows."""
    rows = {}
    for cell in cells:
        f1 = (MEANS[cell.method][cell.dataset] + SPREAD[cell.repeat]) / 100
        rows[cell.key] = {
            "status": "done", "metrics": {"f1": f1, "auc": None}, "seconds": {"tune": 1.0, "fit": 0.1, "predict": 0.01},
            "params": {"lam": 1.0}, "certificate": {"dual_gap": 1e-9, "converged": True}, "n_fits": 9, "flags": [],
            "notes": [], "error": "", "finished": "2026-01-01T00:00:00+00:00",
            "provenance": {"versions": {"numpy": "1"}, "processes": 1, "cpu": "abacus"},
            **special.get(cell.method, {}),
        }  # fmt: skip
    return rows


def gathered(experiment, stored=None, folder=Path("nowhere"), profile="full", **narrowed):
    """The plan of the experiment with stored rows, by default of all its cells."""
    cells = plan(experiment, profile, **narrowed)
    rows = stored_rows(cells) if stored is None else stored
    return Gathered(experiment, scope(experiment, profile, **narrowed), cells, rows, folder)


def report_of(experiment, stored):
    return assemble(gathered(experiment, stored))


def row_of(report, dataset, label, frequency=0.5):
    return next(
        row
        for row in report.rows
        if (row.dataset, row.column, row.setting) == (dataset, label, f"label_frequency={frequency:g}")
    )


def test_verdicts_of_variants(experiment):
    report = report_of(experiment, stored_rows(plan(experiment)))
    assert row_of(report, "seeds", "glpual/thesis").verdict == "reproduced"
    assert row_of(report, "seeds", "glpual/rkhs").verdict == "worse"
    primary = row_of(report, "umd", "glpual/thesis")
    # three data sets cannot tell the own print from that of others
    assert (primary.verdict, primary.cause) == ("agrees, but as often with another print: rkhs", "unexplained")
    assert primary.note.startswith("alone: worse") and "with the print of gllc in 0 (p = 0.50)" in primary.note
    assert row_of(report, "umd", "glpual/rkhs").verdict == "reproduced"
    assert row_of(report, "wifi", "glpual/thesis").verdict == "better"
    assert row_of(report, "wifi", "gllc").verdict == ""  # nothing published
    summary = {(line.column, line.setting): line.verdicts for line in report.summary}
    assert summary["glpual/thesis", "label_frequency=0.5"] == {
        "reproduced": 1, "agrees, but as often with another print": 1, "better": 1,
    }  # fmt: skip


def test_a_figure_that_only_another_protocol_reproduces_is_reproduced_by_that_variant(experiment):
    experiment.variants["another split"] = ["elsewhere"]
    cells = plan(experiment)
    samples = Samples.of(experiment, cells, stored_rows(cells))
    alone = {(row.dataset, row.column, row.setting): row for row in table_rows(samples)}
    at = "label_frequency=0.5"
    wifi, umd, seeds = (alone[name, "glpual/thesis", at] for name in ("wifi", "umd", "seeds"))
    agrees = [
        OtherRow("another split", "elsewhere", replace(row, verdict="reproduced", obtained_mean=60.04))
        for row in (wifi, umd, seeds)
    ]
    disagrees = OtherRow("another split", "elsewhere", replace(alone["umd", "gllc", at], verdict="worse"))
    rows = {(row.dataset, row.column, row.setting): row for row in table_rows(samples, [*agrees, disagrees])}
    found = rows["wifi", "glpual/thesis", at]
    assert (found.verdict, found.cause) == ("reproduced by a variant: another split", "another protocol")
    assert found.note.startswith("alone: better") and "glpual/thesis of elsewhere has 60.0" in found.note
    # a form of this experiment is named first, and is then the cause; a row that agrees alone needs no other
    found = rows["umd", "glpual/thesis", at]
    assert (found.verdict, found.cause) == ("reproduced by a variant: rkhs, another split", "form of the method")
    unchanged = [place for place in alone if place[0] not in ("wifi", "umd") or place[1] != "glpual/thesis"]
    assert all(json_values(rows[place]) == json_values(alone[place]) for place in unchanged)


@pytest.mark.slow
def test_rows_of_variants_are_those_of_their_committed_cells():
    table = load_experiment("table-3.3", check_methods=False)
    found = rows_of_variants(samples_of_variants(table, ROOT / "results"))
    assert {(other.variant, other.experiment) for other in found} == {
        (variant, name) for variant, names in table.variants.items() for name in names
    }
    assert samples_of_variants(table, Path("nowhere")) == {}


def test_means_are_sample_means_in_per_cent(experiment):
    row = row_of(report_of(experiment, stored_rows(plan(experiment))), "seeds", "glpual/thesis")
    assert row.obtained_mean == pytest.approx(90.5)
    assert row.obtained_sd == pytest.approx(np.std(SPREAD, ddof=1))
    assert (row.repeats, row.published_mean, row.published_sd) == (4, 90, 2)
    assert row.difference_in_sd == pytest.approx(0.25)


def test_published_fractions_are_in_per_cent_as_obtained_ones(experiment, tmp_path):
    text = "dataset,label_frequency,method,f1_mean,f1_sd\nSeeds,0.5,GLPUAL,0.905,0.02\nUMD,0.5,GLPUAL,0.9,\n"
    (tmp_path / "published" / "mine.csv").write_text(text)
    experiment.published[0].percent = False
    one, other = read_published(experiment, ["label_frequency"])
    # the trailing zeros of 0.900 are lost: half a unit of the third digit
    assert (one.mean, one.sd, one.rounding) == pytest.approx((90.5, 2.0, 0.05))
    assert (other.mean, other.rounding) == pytest.approx((90.0, 0.05)) and math.isnan(other.sd)


def test_published_methods_without_a_counterpart_have_rows(experiment):
    report = report_of(experiment, stored_rows(plan(experiment)))
    row = row_of(report, "seeds", "uPU")
    assert row.verdict == "not run" and row.published_mean == 70
    assert not any(row.dataset == "Elsewhere" for row in report.rows)
    assert "published: failure" in row_of(report, "ssmcr", "gllc", 0.25).note


def test_notes(experiment):
    report = report_of(experiment, stored_rows(plan(experiment)))
    assert row_of(report, "umd", "glpual/rkhs").note == "always said"
    stored = stored_rows(plan(experiment), **{"glpual/rkhs": {"status": "failed", "error": "x", "metrics": {}}})
    report = report_of(experiment, stored)
    assert "said when worse" in row_of(report, "umd", "glpual/thesis").note
    assert "half" in row_of(report, "wifi", "gllc").note and "half" not in row_of(report, "wifi", "gllc", 0.25).note


def test_partial_and_failed_cells_are_counted(experiment):
    cells = plan(experiment)
    stored = stored_rows(cells, gllc={"status": "failed", "error": "ValueError: no", "metrics": {}})
    for cell in cells:
        if cell.method == "glpual/rkhs" and (cell.repeat > 0 or cell.dataset == "wifi"):
            del stored[cell.key]
    report = report_of(experiment, stored)
    assert report.cells == {"total": 96, "done": 38, "failed": 32, "missing": 26}
    assert row_of(report, "seeds", "gllc").verdict == "not reproduced"
    assert row_of(report, "wifi", "glpual/rkhs").verdict == "not run"
    one = row_of(report, "seeds", "glpual/rkhs")
    assert (one.repeats, one.expected_repeats) == (1, 4) and "one repeat" in one.note
    text = markdown(report)
    assert "1 of 4" in text and "26 have not run yet" in text and "ValueError: no" in text and "and 22 more" in text
    json.dumps(json_values(report), allow_nan=False)


@pytest.mark.parametrize(
    "name", ["a_b", "*x*", "_y_", "__init__", "a [b](c)", "`q`", "back\\slash", "a\\|b", "a|b", "x\\", "\\*", "![i](u)"]
)
def test_names_are_shown_by_markdown_as_they_are(experiment, name):
    show = MarkdownIt("commonmark").enable("table").render
    report = report_of(experiment, stored_rows(plan(experiment)))
    rows = [replace(row, column=name, dataset=f"{name} {row.dataset}") for row in report.rows]
    page = show(markdown(replace(report, rows=rows)))
    assert f"<td>{escape(name)}</td>" in page and f"<td>{escape(name)} wifi</td>" in page


def test_a_metric_that_a_method_does_not_have_has_no_row(experiment):
    """Known once its cells are done; before, the row says that they have not run."""
    experiment.metrics = ["f1", "irrelevant_zeroed"]
    cells = plan(experiment)
    stored = stored_rows(cells)
    for cell in cells:
        if cell.method == "gllc":
            stored[cell.key]["metrics"]["irrelevant_zeroed"] = 0.5
    zeroed = [row for row in report_of(experiment, stored).rows if row.metric == "irrelevant_zeroed"]
    assert {row.method for row in zeroed} == {"gllc"}
    pending = [row for row in report_of(experiment, {}).rows if row.metric == "irrelevant_zeroed"]
    assert len(pending) == 3 * 4 * 2 and {row.verdict for row in pending} == {"not run"}


def test_comparisons_and_ranks(experiment):
    report = report_of(experiment, stored_rows(plan(experiment)))
    pair = next(c for c in report.comparisons if (c.a, c.b, c.dataset) == ("glpual/thesis", "gllc", "seeds"))
    assert pair.mean_difference == pytest.approx(10.5) and pair.p == pytest.approx(2 / 2**4)
    assert {(c.a, c.b) for c in report.comparisons} == {
        ("glpual/thesis", "glpual/rkhs"), ("glpual/thesis", "gllc"), ("glpual/rkhs", "gllc"),
    }  # fmt: skip
    assert "### glpual/thesis minus gllc" in markdown(report) and "+10.50 | 0.125 (0.125)" in markdown(report)
    assert "90.00 ± 2.00" in markdown(report) and "90.50 ± 1.29" in markdown(report)
    lines = latex(report).splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("seeds & "))
    assert lines[at].split(" & ")[2] == r"90.50 $\pm$ 1.29$^{=}$"
    assert lines[at + 1].split(" & ")[2] == r"{\small 90.00 $\pm$ 2.00}"
    ranking = report.rankings[0]
    assert ranking.n == 4 and ranking.test == "Friedman"
    # seeds 1,3,2; umd 2,1,3; wifi 1,2,3; ssmcr 2,1,3
    assert ranking.ranks == pytest.approx([1.5, 1.75, 2.75])


def test_every_form_of_the_table_has_puf_beside_f1(experiment):
    """PUF is 2.25 ± 0.50 of one column; the others, and tables without any, have none."""
    cells = plan(experiment)
    stored = stored_rows(cells)
    assert not any("PUF" in text or "puf" in text for text in rendered(report_of(experiment, stored)).values())
    for cell in cells:
        if cell.method == "gllc":
            values = stored[cell.key]["metrics"]
            stored[cell.key]["metrics"] = {**values, "puf": 2.0 if cell.repeat else 3.0}
    report = report_of(experiment, stored)
    row = row_of(report, "seeds", "gllc")
    assert (row.puf_mean, row.puf_sd) == (2.25, 0.5)
    files = rendered(report)
    block = files["table.md"].partition("### f1 (%), label_frequency=0.5")[2].partition("###")[0].splitlines()
    place = [head.strip() for head in block[2].split("|")].index("PUF")
    shown = {cells[2].strip(): cells[place].strip() for cells in (line.split("|") for line in block if "±" in line)}
    assert shown == {"glpual/thesis": "", "glpual/rkhs": "", "gllc": "2.25 ± 0.50"}
    first = next(line for line in csv.DictReader(io.StringIO(files["table.csv"])) if line["method"] == "gllc")
    assert (first["obtained_mean"], first["puf_mean"], first["puf_sd"]) == ("80", "2.25", "0.5")
    lines = files["table.tex"].splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("seeds & "))
    assert lines[at].split(" & ")[4].startswith(r"80.00 $\pm$ 1.29")
    assert lines[at + 2].split(" & ")[2:5] == ["", "", r"{\small 2.25 $\pm$ 0.50}"]


def test_tests_are_adjusted_for_the_rows_of_a_pair_and_less_may_be_better(experiment):
    experiment.metrics = ["error"]
    cells = plan(experiment)
    stored = stored_rows(cells)
    for cell in cells:
        same = cell.dataset == "seeds" and cell.setting["label_frequency"] == 0.5
        f1 = MEANS["gllc" if same else cell.method][cell.dataset] + SPREAD[cell.repeat]
        stored[cell.key]["metrics"] = {"error": 1.0 - f1 / 100}
    pair = [c for c in report_of(experiment, stored).comparisons if (c.a, c.b) == ("glpual/thesis", "gllc")]
    assert len(pair) == 8
    for one in pair:
        equal = (one.dataset, one.setting) == ("seeds", "label_frequency=0.5")
        assert (one.wins, one.ties, one.losses) == ((0, 4, 0) if equal else (4, 0, 0))
        assert one.p == (1.0 if equal else 0.125)
        assert one.p_adjusted == pytest.approx(1.0 if equal else 0.125 * 8 / 7)
        assert one.gain >= 0.0 >= one.mean_difference


@pytest.mark.slow
def test_files_and_their_contents(experiment, tmp_path):
    stored = stored_rows(plan(experiment), gllc={"flags": ["not converged"]})
    folder = tmp_path / "out"
    report = build_report(gathered(experiment, stored, folder))
    names = {path.relative_to(folder).as_posix() for path in report.files}
    assert names == {
        "table.md", "table.csv", "table.tex", "cells.csv.gz", "comparisons.csv", "provenance.json",
        "provenance.md", "figures/published.svg", "figures/timing.svg", "figures/boxes.svg",
    }  # fmt: skip
    assert all((folder / name).stat().st_size for name in names)
    with (folder / "table.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert list(rows[0]) == [
        "dataset", "setting", "method", "variant", "metric", "obtained_mean", "obtained_sd", "repeats",
        "published_mean", "published_sd", "difference_in_sd", "difference_in_errors", "difference_low",
        "difference_high", "verdict", "cause", "note",
    ]  # fmt: skip
    assert len(rows) == 4 * 2 * 3 + 1
    with gzip.open(folder / "cells.csv.gz", "rt") as handle:
        cells = list(csv.DictReader(handle))
    assert len(cells) == 96 and {c["status"] for c in cells} == {"done"} and cells[0]["f1"] and cells[0]["auc"] == ""
    provenance = json.loads((folder / "provenance.json").read_text())
    assert provenance["cells"]["done"] == 96 and provenance["flags"] == {"not converged": 32}
    assert {d["name"] for d in provenance["data"]} == {"seeds", "umd", "wifi", "ssmcr"}
    text = (folder / "table.md").read_text()
    assert "32 runs did not converge" in text and "Nobody 2024" in text and "(figures/boxes.svg)" in text
    assert "A \\& B" in (folder / "table.tex").read_text()
    for path in report.files:
        content = path.read_bytes()
        assert str(tmp_path).encode() not in (gzip.decompress(content) if path.suffix == ".gz" else content)


@pytest.mark.slow
def test_protocols_may_add_texts_and_figures(experiment, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    def extras(declared, cells, stored):
        figure = Figure()
        figure.subplots().plot([1, 2])
        return [Extra("counts.csv", "Counts", f"cells\n{len(stored)}\n"), Extra("figures/curve", "A curve", figure)]

    monkeypatch.setattr("pucli.report.build.extras_of", lambda protocol: extras)
    report = build_report(gathered(experiment, folder=tmp_path / "out"))
    assert (tmp_path / "out" / "counts.csv").read_text() == "cells\n96\n"
    assert (tmp_path / "out" / "figures" / "curve.svg").exists()
    text = (tmp_path / "out" / "table.md").read_text()
    assert "[Counts](counts.csv)" in text and "![A curve](figures/curve.svg)" in text
    without = build_report(gathered(experiment, folder=tmp_path / "plain"), figures=False)
    assert not without.figures and without.texts == report.texts


def test_extras_are_found_by_the_name_of_the_protocol():
    assert extras_of("pu")(None, [], {}) == []
    assert extras_of("usmo").__module__ == "pucli.protocols.usmo.report"
    with pytest.raises(UsageError, match="did you mean 'usmo'"):
        extras_of("usmoo")


@pytest.mark.slow
def test_files_are_the_same_each_time(experiment, tmp_path):
    made = [build_report(gathered(experiment, folder=tmp_path / name)) for name in ("one", "two")]
    for first, second in zip(made[0].files, made[1].files, strict=True):
        assert first.read_bytes() == second.read_bytes(), first.name


def test_profile_and_reductions_are_named(experiment, tmp_path):
    report = build_report(gathered(experiment, folder=tmp_path, profile="quick"), figures=False)
    assert "**Profile `quick`**: reduced to 2 of 4 repeats." in (tmp_path / "table.md").read_text()
    assert report.folder == tmp_path and not report.figures


def test_a_smaller_report_does_not_replace_a_bigger_one(experiment, tmp_path):
    def make(profile, **narrowed):
        return build_report(gathered(experiment, None, tmp_path, profile, **narrowed), figures=False).folder

    assert make("quick") == tmp_path  # nothing there yet
    assert make("full") == tmp_path  # bigger
    full = (tmp_path / "table.md").read_text()
    assert make("quick") == tmp_path / "quick"
    assert make("full", datasets=["seeds"]) == tmp_path / "full-part"
    assert (tmp_path / "table.md").read_text() == full
    assert make("full") == tmp_path
    cells = (tmp_path / "cells.csv.gz").read_bytes()
    (tmp_path / "provenance.json").unlink()  # as where cells.csv.gz alone was copied
    assert make("full", datasets=["seeds"]) == tmp_path / "full-part"
    assert (tmp_path / "cells.csv.gz").read_bytes() == cells


def test_nothing_run_yet(experiment):
    report = report_of(experiment, {})
    assert report.cells["missing"] == 96 and not report.comparisons and not report.rankings
    assert "No run is finished yet" in markdown(report)


def test_mistakes_in_the_published_file(experiment, tmp_path):
    file = tmp_path / "published" / "mine.csv"
    file.write_text("dataset,label_frequency,method,f1_men,f1_sd\n")
    with pytest.raises(UsageError, match=r"mine.csv: unknown column 'f1_mean'; did you mean 'f1_men'"):
        report_of(experiment, {})
    file.write_text("dataset,label_frequency,method,f1_mean,f1_sd\nseeds,0.5,GLLC,1,wide\n")
    with pytest.raises(UsageError, match=r"mine.csv: line 2, column f1_sd: 'wide'"):
        report_of(experiment, {})
    file.unlink()
    with pytest.raises(UsageError, match=r"no file 'mine.csv'"):
        report_of(experiment, {})


def test_unwritable_folder(experiment, tmp_path):
    (tmp_path / "out").write_text("a file, not a folder")
    with pytest.raises(UsageError, match="cannot write"):
        build_report(gathered(experiment, {}, tmp_path / "out"), figures=False)


def test_grid_is_even_and_escapes():
    text = grid(["a", "b", "c"], [["x|y", "1", ""], ["é", "22", ""]], "lrl")
    lines = text.splitlines()
    assert len({len(line.replace("\\|", "||")) for line in lines}) == 1
    assert "c" not in lines[0] and "x\\|y" in lines[2]
    assert lines[1].rstrip(" |").endswith(":")


def test_a_title_of_special_characters_is_text_in_every_format(experiment):
    """Also an experiment with one cell, which failed: its reason is in the table."""
    special = "$ \\ % _ & # {x} <b>y</b> | p < 0.05 > 0"
    experiment.title = f"{special} line"
    cell = plan(experiment)[0]
    stored = stored_rows(
        [cell], **{cell.method: {"status": "failed", "error": f"ValueError: {special}", "metrics": {}}}
    )
    report = report_of(experiment, stored)
    files = rendered(report)
    assert "\\<b>y\\</b> | p < 0.05 > 0 line" in files["table.md"].splitlines()[0]
    assert f": ValueError: {special}".replace("<b>", "\\<b>").replace("</b>", "\\</b>") in files["table.md"]
    escaped = (
        r"\$ \textbackslash{} \% \_ \& \# \{x\} \textless{}b\textgreater{}y\textless{}/b\textgreater{} \textbar{} p"
    )
    assert f"\\caption{{{escaped}" in files["table.tex"]


def test_counts_of_rows_are_singular_where_there_is_one():
    line = SummaryLine("glpual", "", "f1", rows=1, published_mean=1.0, obtained_mean=1.0, verdicts={}, flagged=0)
    assert line.heading.endswith(", 1 row")


def test_csv_text_reads_back():
    rows = list(csv.reader(io.StringIO(csv_text(["a", "b"], [[math.nan, 'say "x", y'], [None, 1 / 3]]))))
    assert rows[1] == ["", 'say "x", y'] and float(rows[2][1]) == pytest.approx(1 / 3)


def test_summary_combines_settings_that_have_one_data_set_each():
    def row(dataset, setting, obtained, published=math.nan):
        means = {"obtained_mean": obtained, "published_mean": published}
        return TableRow(dataset=dataset, setting=setting, method="m", variant="", metric="f1", column="m", **means)

    (line,) = summarize([row("a", "panel=a 1", 10.0), row("a", "panel=a 2", 20.0), row("b", "panel=b 1", 60.0)])
    assert (line.setting, line.rows, line.obtained_mean) == ("", 3, 30.0)
    apart = summarize([row("a", "share=0.5", 10.0), row("b", "share=0.5", 20.0), row("b", "share=1", 60.0)])
    assert [(line.setting, line.obtained_mean) for line in apart] == [("share=0.5", 15.0), ("share=1", 60.0)]
    # of published figures, the means are over the rows that have both
    (line,) = summarize([row("a", "x", 10.0, 12.0), row("b", "x", math.nan, 90.0), row("c", "x", 50.0)])
    assert (line.rows, line.obtained_mean, line.published_mean) == (1, 10.0, 12.0)
    (line,) = summarize([row("a", "x", 10.0), row("b", "x", math.nan)])
    assert (line.rows, line.obtained_mean) == (1, 10.0)
