"""The page of all results is rendered from the committed folders, which stay small."""

import math
import re

import pytest

from pucli.report.all_experiments import page_of
from pucli.report.cells_csv import FILE as CELLS
from pucli.report.figures.charts import has_many_points
from tests.report.page_numbers import RESULTS

PAGE = (RESULTS / "README.md").read_text(encoding="utf-8")
MOST_BYTES, LARGEST_FILE = 25_000_000, 2_000_000
SCREEN, COLUMNS = 40, 100


@pytest.mark.slow
def test_the_page_is_rendered_from_the_folders():
    assert page_of(RESULTS) == PAGE, "run `pucli report --all`"


def test_every_section_fits_on_a_screen():
    for section in re.split(r"\n(?=## )", PAGE):
        lines = sum(
            1 if line.startswith("|") else max(1, math.ceil(len(line) / COLUMNS)) for line in section.splitlines()
        )
        assert lines <= SCREEN, section.partition("\n")[0]


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
