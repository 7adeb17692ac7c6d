"""The page of all results is rendered from the committed folders, which stay small."""

import math
import re

import pandas as pd
import pytest
import yaml

from pucli.report.all_experiments import all_controls, pages_of
from pucli.report.cells_csv import FILE as CELLS
from pucli.report.figures.charts import has_many_points
from pucli.report.tables.controls import FILE as CONTROLS
from pucli.report.tables.controls import controls_text
from tests.helpers import ROOT
from tests.report.page_numbers import RESULTS

PAGE = (RESULTS / "README.md").read_text(encoding="utf-8")
MOST_BYTES, LARGEST_FILE = 25_000_000, 2_000_000
SCREEN, COLUMNS = 40, 100


@pytest.mark.slow
def test_the_page_is_rendered_from_the_folders():
    pages = pages_of(RESULTS)
    assert set(pages) == {path.name.removesuffix(".j2") for path in RESULTS.glob("*.md.j2")}
    for name, text in pages.items():
        assert text == (RESULTS / name).read_text(encoding="utf-8"), "run `pucli report --all`"
    assert controls_text(all_controls(RESULTS)) == (RESULTS / CONTROLS).read_text(encoding="utf-8")


def test_every_section_fits_on_a_screen():
    for section in re.split(r"\n(?=## )", PAGE):
        lines = sum(
            1 if line.startswith("|") else max(1, math.ceil(len(line) / COLUMNS)) for line in section.splitlines()
        )
        assert lines <= SCREEN, section.partition("\n")[0]


def test_the_claims_stand_on_the_first_screen_each_with_a_verdict_and_a_link():
    first = PAGE.partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in first.splitlines() if line.startswith("|")][2:]
    assert len(rows) == len(yaml.safe_load((RESULTS / "claims.yaml").read_text(encoding="utf-8"))) >= 24
    assert {re.match(r"\[(.*?)\]\(", row[-1])[1] for row in rows} == {"yes", "no", "cannot tell"}
    assert {row[0].partition(",")[0] for row in rows} >= {"Wang 2024", "USMO", "Bertazzi 2018", "Sansone 2018"}


def test_the_printed_averages_of_usmo_are_those_of_their_columns():
    printed = pd.read_csv(RESULTS / "usmo-averages.csv", dtype={"lambda": str})
    assert len(printed) == 32
    for row in printed.itertuples():
        figures = pd.read_csv(ROOT / "experiments" / "published" / f"{row.table}.csv")
        own = figures.loc[figures["method"] == f"{row.method}-{row[2]}", "f_measure"]
        assert len(own) == 12 and own.mean() == pytest.approx(row.mean, abs=0.1)


def test_every_folder_and_every_page_of_notes_is_linked():
    targets = set(re.findall(r"\]\(([^)]+)\)", PAGE))
    assert targets >= {f"{path.parent.name}/table.md" for path in RESULTS.glob(f"*/{CELLS}")}
    assert targets >= {f"{path.parent.name}/notes.md" for path in RESULTS.glob("*/notes.md")}
    pages = [RESULTS / "README.md", *RESULTS.glob("*/notes.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.parent.name}: {target}"


def test_committed_results_are_small():
    sizes = {
        path: path.stat().st_size
        for path in RESULTS.rglob("*")
        if path.is_file() and not path.name.startswith("store.")
    }
    assert sum(sizes.values()) <= MOST_BYTES
    assert [path for path, number in sizes.items() if number > LARGEST_FILE] == []


def test_a_figure_has_one_format_which_is_png_for_many_points():
    drawn = [path for path in RESULTS.glob("*/figures/*") if path.suffix in (".svg", ".png")]
    assert len(drawn) > 100 and len({path.with_suffix("") for path in drawn}) == len(drawn)
    assert [path for path in drawn if path.suffix == ".svg" and has_many_points(path.read_bytes())] == []
