"""Figures: what they show, in one look."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest

from pucli.report.figures import style as look
from pucli.report.figures.charts import MOST_POINTS, render, seconds_by_rows, timing
from pucli.report.figures.forest import panels, published_figure
from pucli.report.tables.samples import Samples
from pucli.report.tables.table import TableRow
from pucli.runner import experiment_names, load_experiment, plan
from pucli.runner.cells import Cell


def drawing():
    from matplotlib.figure import Figure  # here: every worker collects this file

    return Figure()


def row(dataset, column, published=50.0, obtained=51.0, setting="", verdict="reproduced"):
    method, _, variant = column.partition("/")
    return TableRow(
        dataset=dataset, setting=setting, method=method, variant=variant, metric="f1", obtained_mean=obtained,
        obtained_sd=1.0, repeats=10, expected_repeats=10, published_mean=published, published_sd=2.0, verdict=verdict,
        column=column,
    )  # fmt: skip


@pytest.mark.slow
def test_every_published_and_obtained_figure_is_drawn_once():
    rows = [row(d, c) for d in ("one", "two") for c in "abcdef"] + [row("one", "g", published=math.nan)]
    groups = panels([r for r in rows if not math.isnan(r.published_mean)])
    assert [len(group) for group in groups] == [3, 3]
    shown = [r for group in groups for panel in group for _, r in panel.lines]
    assert len(shown) == 12 and {id(r) for r in shown} == {id(r) for r in rows[:12]}
    figure = published_figure(rows)
    rings = [line for ax in figure.axes for line in ax.get_lines() if line.get_markerfacecolor() == "white"]
    assert sum(len(line.get_xdata()) for line in rings) == 12
    assert published_figure([row("one", "a", published=math.nan)]) is None


def test_one_data_set_has_a_line_for_each_method():
    ((panel,),) = panels([row("one", c) for c in "abc"])
    assert [name for name, _ in panel.lines] == ["a", "b", "c"]


def test_columns_of_one_experiment_have_different_strokes():
    """Lines of one figure differ in color, dashes or marker; other variants of a method have its color."""
    for name in experiment_names():
        columns = list(load_experiment(name, check_methods=False).methods)[:8]  # markers
        strokes = look.strokes(columns)
        assert len({tuple(stroke.values()) for stroke in strokes.values()}) == len(columns), name
    assert look.color("glpual/thesis") == look.color("glpual") != look.color("gllc")
    assert look.color("usmo-0.001") == look.color("usmo/linear") and look.color("somebody") in look.PALETTE


def test_a_band_stays_within_the_repeats_and_labels_do_not_overlap():
    with look.look():
        ax = drawing().subplots()
        for number, name in enumerate("abc"):
            look.band(ax, [1, 2], [[0.0, 4.0], [1.0 + number / 100] * 2], name, look.strokes([name])[name])
        look.end_labels(ax, 2.0)
    edges = np.asarray(ax.collections[0].get_paths()[0].vertices)[:, 1]
    assert edges.min() >= 0.0 and edges.max() <= 4.0
    heights = sorted(text.get_position()[1] for text in ax.texts)
    assert len(heights) == 3 and all(b - a > 0.06 for a, b in pairwise(heights))


def test_close_ticks_of_a_logarithmic_axis_have_one_number():
    ax = drawing().subplots()
    ax.set_xscale("log")
    look.ticks_at(ax.xaxis, [10, 20, 50, 100, 200, 231], apart=0.1)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["10", "20", "50", "100", "", "231"]


def test_the_times_are_marks_not_bars_and_need_no_provenance():
    cells = [Cell(dataset="d", setting={}, repeat=0, method=m, declared={"m": m}, group="") for m in ("glpual", "gllc")]
    part = {"status": "done", "seconds": {"tune": 1.0, "fit": 0.1}, "provenance": {}}
    figure = timing(cells, {cell.key: part for cell in cells}, [2])
    assert not figure.axes[0].patches and "at a time: 2" in figure.axes[0].get_xlabel()
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["glpual", "gllc"]


@pytest.mark.slow
def test_a_drawing_is_the_same_whatever_the_settings_of_the_user():
    import matplotlib

    def drawn():
        with look.look():
            figure = drawing()
            figure.subplots().plot([1, 2], [0.123456789, 3])
        return render(figure)

    first = drawn()
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "savefig.dpi": 30}):
        assert drawn() == first
    assert first[0] == "svg"
    assert not re.search(rb' d="[^"]*\d\.\d{3}', first[1]) and b"<text" in first[1]


@pytest.mark.slow
def test_many_points_and_images_are_png_and_lines_are_svg():
    def ending(draw):
        figure = drawing()
        draw(figure.subplots())
        return render(figure)[0]

    points = np.random.default_rng(0).normal(size=(2 * MOST_POINTS, 2))
    assert ending(lambda ax: look.dots(ax, points, "C0", 2.0)) == "png"
    assert ending(lambda ax: ax.scatter(*points.T)) == "png"
    assert ending(lambda ax: ax.imshow(points[:9])) == "png"
    assert ending(lambda ax: ax.plot(*points.T)) == "svg"
    assert ending(lambda ax: look.dots(ax, points[:50], "C0", 2.0)) == "svg"


def test_no_whisker_of_a_share_passes_100_percent():
    figure = published_figure([row("one", "a", published=99.5, obtained=98.0)])
    ends = np.concatenate([line.get_xdata() for ax in figure.axes for line in ax.lines])
    assert np.nanmax(ends) == 100.0


def test_seconds_by_rows_has_a_line_for_each_column_and_a_point_for_each_size():
    """Medians over the cells, so that one cell of a busy machine moves nothing; sets of one size are one point."""
    experiment = load_experiment("table-3.3", check_methods=False)
    spec = next(figure for figure in experiment.figures if figure.kind == "seconds-by-rows")
    cells = [cell for cell in plan(experiment, methods=["upu", "nnpu"]) if cell.dataset in ("seeds", "or2", "pb")]
    seconds = {"upu": 0.25, "nnpu": 2.0}
    rows = {
        cell.key: {"status": "done", "seconds": {"fit": 1000.0 if cell.repeat == 0 else seconds[cell.method]}}
        for cell in cells
    }
    axes = seconds_by_rows(spec, Samples.of(experiment, cells, rows)).axes[0]
    drawn = {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}
    assert drawn == {column: [[140.0, value], [1000.0, value]] for column, value in seconds.items()}
    assert seconds_by_rows(spec, Samples.of(experiment, cells, {})) is None
