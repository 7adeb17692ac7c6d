"""The site: every link leads somewhere, everything can be read without JavaScript, small enough."""

import gzip
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from pucli.core.errors import UsageError
from pucli.report.site import write_site
from pucli.report.site.diagram import critical_difference, joined
from pucli.report.site.prose import to_html
from pucli.report.site.write import _claims
from pucli.report.tables.comparisons import MethodRanking
from pucli.report.tables.standing import Standing, leaders, read_standings, standings
from pucli.report.tables.verdict import STYLES, VERDICTS
from pucli.runner import load_experiment
from tests.cli.helpers import refused
from tests.helpers import ROOT

EXPERIMENTS = ("table-3.1", "table-4.2", "usmo-figure-1", "safe-figures-4")
VOID = {"meta", "link", "img", "br", "input"}


class Page(HTMLParser):
    """Text, links and headings of a page; complains about tags that are not closed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.open, self.links, self.ids, self.words = path, [], [], set(), []
        self.feed(path.read_text(encoding="utf-8"))
        assert not self.open, (path, self.open)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.links += [given[name] for name in ("href", "src") if name in given]
        self.ids.add(given.get("id"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):  # <line .../>
        self.links += [value for name, value in attributes if name in ("href", "src")]

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag, (self.path, tag, self.getpos())

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    for name in EXPERIMENTS:
        (folder / "results" / name).parent.mkdir(exist_ok=True)
        (folder / "results" / name).symlink_to(ROOT / "results" / name)
    write_site(folder / "out", folder / "results")
    return folder / "out"


@pytest.mark.slow
def test_every_link_leads_to_a_file_of_the_site(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert {f"{name}.html" for name in EXPERIMENTS} == {path.name for path in pages if path.parent.name == "tables"}
    for path, page in pages.items():
        for link in page.links:
            if link.startswith("http"):
                continue
            file, _, mark = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.is_file() and target.is_relative_to(site.resolve()), (path, link)
            assert not mark or mark in pages[site / target.relative_to(site.resolve())].ids, (path, link)


def test_a_table_can_be_read_without_javascript(site):
    text = Page(site / "tables" / "table-3.1.html").text
    committed = (ROOT / "results" / "table-3.1" / "table.csv").read_text()
    for row in committed.splitlines()[1:6]:
        mean = float(row.split(",")[5])
        assert f"{mean:.2f}" in text
    for words in ("Wilcoxon", "Nemenyi", "reproduced", "form of the method", "How it was made", "glpual/thesis"):
        assert words in text, words
    assert "results/table-3.1/cells.csv.gz" in text and (site / "tables" / "table-3.1" / "table.csv").is_file()


def test_the_front_page_counts_by_publication_and_is_small(site):
    page = Page(site / "index.html")
    assert "Wang 2024, GLPUAL thesis" in page.text and "as often with another print" in page.text
    assert (site / "index.html").stat().st_size < 300_000
    assert "http" not in "".join(link for link in page.links)  # nothing comes from elsewhere


def test_the_front_page_puts_tables_first_and_checks_last_with_a_bar_per_publication(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    for name in ("ceiling-4.1", "table-4.2", "wang-figure-3.4"):
        (results / name).symlink_to(ROOT / "results" / name)
    write_site(tmp_path / "out", results)
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    places = [
        text.index(words) for words in ("table-4.2.html", "wang-figure-3.4.html", "<h3>Checks", "ceiling-4.1.html")
    ]
    assert places == sorted(places)
    assert text.count('class="stack"') == 1


def test_every_figure_is_filtered_without_a_script_and_its_notes_are_folded(site):
    text = (site / "tables" / "table-3.1.html").read_text(encoding="utf-8")
    every = text[text.index('class="every"') :]
    for value in ("reproduced", "worse"):
        assert f'tr:not([data-verdict="{value}"])' in every and f'data-verdict="{value}"' in every
    body = re.sub(r"<details>.*?</details>", "", every[every.index("<tbody>") : every.index("</tbody>")], flags=re.S)
    assert max(len(cell) for cell in re.findall(r'<td class="note">(.*?)</td>', body, flags=re.S)) < 60
    style = (site / "style.css").read_text(encoding="utf-8")
    assert re.search(r"\.every \.scroll \{ max-height: \d+rem; \}", style) and "thead th { " in style


def test_the_line_of_a_method_names_its_tables(site):
    line = re.search(r'<tr><th scope="row">glpual</th>.*?</tr>', (site / "index.html").read_text(encoding="utf-8"))
    assert line and 'href="tables/table-3.1.html"' in line[0]


def test_the_claims_that_hold_come_first_with_links_to_their_tables(tmp_path):
    (tmp_path / "table-3.1").symlink_to(ROOT / "results" / "table-3.1")
    claims = ["| A | one | 1 | [no](table-3.1/table.md) |", "| B | two | 2 | [yes](table-3.1/notes.md) |"]
    head = ["| Document | Claim | Here | Holds |", "| --- | --- | --- | --- |"]
    (tmp_path / "README.md").write_text("\n".join(["# What", "", *head, *claims, "", "## Verdicts", "| a |"]))
    made = _claims(tmp_path, ["table-3.1"])
    assert made.index(">two<") < made.index(">one<") and made.count('href="tables/table-3.1.html"') == 2
    assert "sortable" in made and _claims(tmp_path / "none", []) == ""


def test_long_pages_are_folded_without_a_script(site):
    """Four figures are open; the others are folded, with a count."""
    text = (site / "tables" / "safe-figures-4.html").read_text(encoding="utf-8")
    figures = text[text.index("<h2>Figures</h2>") :]
    unfolded, folded = figures.split("<details><summary>3 more figures</summary>")
    assert unfolded.count("<figcaption>") == 4 and folded.partition("</details>")[0].count("<figcaption>") == 3
    assert "<details><summary><h2>How it was made</h2></summary>" in text


def test_prose_keeps_words_and_links_and_shows_tags_as_text():
    text = """# A `b` | c

One *two*, **three** <script>x</script>, 5 * 3 * 2, [four](a/table.md) [five](b.md):
- `x * y`
  goes on
- next

| a | b |
| --- | ---: |
| 1 \\| 2 | `c` |
"""
    made = to_html(text, lambda target: "there" if target == "a/table.md" else "")
    assert '<h1 id="a-b-c">A <code>b</code> | c</h1>' in made
    assert "<em>two</em>, <strong>three</strong> &lt;script&gt;x&lt;/script&gt;, 5 * 3 * 2" in made
    assert '<a href="there">four</a> five:</p>' in made
    assert "<ul>\n<li><code>x * y</code>\ngoes on</li>\n<li>next</li>\n</ul>" in made
    assert '<td>1 | 2</td>\n<td class="n"><code>c</code></td>' in made


def test_the_error_without_results_names_the_command(tmp_path):
    with pytest.raises(UsageError, match=r"`pucli reproduce .* --profile smoke`"):
        write_site(tmp_path / "out", tmp_path)


def test_a_folder_of_other_files_is_no_place_for_a_site(pucli, tmp_path):
    (tmp_path / "rows.csv").write_text("a\n1\n")
    refused(pucli("site", "--out", str(tmp_path)), "the folder has files of something else")


@pytest.mark.slow
def test_half_a_site_is_never_there(monkeypatch, tmp_path):
    def stopped(out, *_):
        (out / "index.html").write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr("pucli.report.site.write._pages", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_site(tmp_path / "site")
    assert list(tmp_path.iterdir()) == []


def test_the_command(pucli, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "table-4.2").symlink_to(ROOT / "results" / "table-4.2")
    done = pucli("site", "--out", str(tmp_path / "out"), "--results", str(tmp_path / "results"), "--json")
    assert done.document["pages"] == 2 and (tmp_path / "out" / "index.html").is_file()
    json.dumps(done.document)


def test_bars_join_exactly_those_within_the_critical_difference():
    assert joined([1.0, 1.5, 2.4, 3.6], 1.0) == [(1.0, 1.5), (1.5, 2.4)]
    assert joined([1.0, 1.2, 1.4], 1.0) == [(1.0, 1.4)]  # a part of a bar has none of its own
    assert joined([1.0, 3.0], 1.0) == []
    assert joined([1.2, 1.8], float("nan")) == []
    ranking = MethodRanking(
        "data sets", "", "f1", 5, ["a<b", "c"], [1, 2], [1.2, 1.8], 0, 1, "Wilcoxon", np.nan, 0.05, []
    )
    assert "a&lt;b 1.20" in critical_difference(ranking)


def test_the_picture_of_published_and_obtained_stands_before_the_table(site):
    text = (site / "tables" / "table-3.1.html").read_text()
    assert text.index("table-3.1/published.svg") < text.index("<h2>Table</h2>")
    assert (site / "tables" / "table-3.1" / "published.svg").stat().st_size < 60_000


def test_every_verdict_has_a_sign_and_a_style():
    from pucli.report.site.render import LEGEND, asset

    signs = {look.sign for look in STYLES.values()}
    assert len(signs) == len(VERDICTS) and all(f" {sign} " in LEGEND for sign in signs)
    assert ".v-reproduced" in asset("style.css")


def test_standings_are_made_of_the_leaderboard_and_the_benchmark(tmp_path):
    (tmp_path / "bench").mkdir()
    rows = [
        {"name": "train usmo, linear", "1e+04": 2.0, "1e+06": 7.64, "exponent": 0.5},
        {"name": "train usmo, rbf", "1e+05": None, "1e+06": 9.5},
        {"name": "tune glpual", "1e+04": 1.0},
        {"name": "auto", "1e+04": 20.3},
    ]
    (tmp_path / "bench" / "scale.json.gz").write_bytes(gzip.compress(json.dumps({"rows": rows}).encode()))
    text = standings([Standing("gllc", rankings=4, first=1, place=0.256)], tmp_path)
    assert text.splitlines()[1:] == [
        "auto,10000,20.3,bench scale,0,0,0",
        "gllc,0,0,,4,1,0.26",
        "usmo,1000000,7.6,bench scale,0,0,0",
    ]
    assert all(0 <= one.place <= 1 and one.first <= one.rankings for one in read_standings().values())


def test_the_leaderboard_counts_every_ranking_once():
    experiment = load_experiment("table-3.3", check_methods=False)
    columns = ["glpual/rkhs", "glpual/thesis", "svc-naive"]
    ranking = MethodRanking(
        "data sets", "", "f1", 4, columns, [0.0] * 3, [2.0, 1.0, 3.0], 1.0, 0.1, "Friedman", 1.0, 0.05, []
    )
    found = {leader.method: leader for leader in leaders([(experiment, [ranking, ranking])])}
    assert (found["glpual"].rankings, found["glpual"].first, found["glpual"].place) == (2, 2, 0.0)
    assert (found["svc-naive"].rankings, found["svc-naive"].first, found["svc-naive"].place) == (2, 0, 1.0)
    alone = replace(ranking, columns=columns[:2], ranks=[2.0, 1.0])
    tie = replace(ranking, ranks=[1.5, 3.0, 1.5])
    assert leaders([(experiment, [alone])]) == []
    assert {(one.first, one.place) for one in leaders([(experiment, [tie])])} == {(1, 0.0)}


def test_a_page_of_ceilings_says_that_they_are_no_results():
    from pucli.report.protocol_parts import remarks_of

    text = " ".join(remarks_of("pu_ceiling", load_experiment("ceiling-3.3", check_methods=False)))
    assert "test labels" in text and "leave the grid" in text
    assert remarks_of("pu", load_experiment("table-3.3", check_methods=False)) == []
    assert text[:60] in (ROOT / "results" / "ceiling-3.3" / "table.md").read_text(encoding="utf-8")


def test_the_front_page_says_which_tables_hold(site):
    text = Page(site / "index.html").text
    assert "No table is reproduced in full." in text and re.search(r"table-3\.1\s*: 0 of 10 agree", text)
    assert "form rkhs" in text


def test_p_values_have_no_exponent_and_no_box_hides_experiments(site):
    """Published figures of other documents are quoted as they are printed."""
    pages = list((site / "tables").glob("*.html"))
    texts = [path.read_text(encoding="utf-8") for path in pages]
    assert sum("equal performance: p" in text for text in texts) > 1
    assert not [
        path for path, text in zip(pages, texts, strict=True) if re.search(r"equal performance: p.{,12}e-", text)
    ]
    front = (site / "index.html").read_text(encoding="utf-8")
    boxes = re.findall(r'<div class="(scroll[^"]*)"[^>]*>\s*<table[^>]*><thead><tr><th scope="col">Experiment', front)
    assert boxes and set(boxes) == {"scroll whole"}


def test_a_table_shows_its_notes_and_its_whole_summary(site):
    text = (site / "tables" / "table-3.1.html").read_text(encoding="utf-8")
    assert "<h2>Reasons and readings</h2>" in text
    assert 'class="scroll whole"' in text and ">once:" not in text
    style = (site / "style.css").read_text(encoding="utf-8")
    assert (
        ".experiment .whole { max-height: none; }" in style
        and ".experiment figure .scroll { max-height: none;" in style
    )
