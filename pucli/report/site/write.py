"""Write the site: a front page, and one page per experiment."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pucli.core.errors import UsageError, unwritable
from pucli.methods import all_methods
from pucli.report.all_experiments import Judged, VerdictCounts, judged_rows, verdict_counts, with_results
from pucli.report.build import assemble, keep_recorded
from pucli.report.files import read_provenance, write
from pucli.report.gathering import gather
from pucli.report.model import Report
from pucli.report.site.prose import to_html
from pucli.report.site.render import asset, experiment_page, render
from pucli.report.tables.verdict import COMPARED, VERDICTS, counted
from pucli.runner.experiment import Experiment
from pucli.runner.loading import load_experiment
from pucli.runner.plan import DEFAULT_RESULTS

# Beginnings of the names of experiments that check others: bounds, variants, selections of rows, other scales.
CHECKS = ("ceiling-", "variants-", "selections-", "raw-", "plain-")
DOWNLOADS = (("table.csv", "table as CSV"), ("comparisons.csv", "tests as CSV"))
# Colors of a figure of pixels: more cannot be told apart, and take four times the bytes.
COLORS = 64


@dataclass(frozen=True)
class Shown:
    """An experiment, its report, and the day on which its last cell was finished."""

    experiment: Experiment
    report: Report
    finished: str


def write_site(
    out: str | Path,
    results_dir: str | Path | None = None,
    *,
    on_page: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write the site of all results into a folder, where its pages appear together."""
    out = Path(out)
    results = Path(results_dir if results_dir is not None else DEFAULT_RESULTS)
    fresh = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=out, prefix=".site-") as scratch:
            written = [(path, out / path.relative_to(scratch)) for path in _pages(Path(scratch), results, on_page)]
            for path, target in written:
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
    except OSError as error:
        raise unwritable(out, error) from error
    except BaseException:
        if fresh and not any(out.iterdir()):
            out.rmdir()
        raise
    return [target for _, target in written]


def _pages(out: Path, results: Path, on_page: Callable[[str], None] | None) -> list[Path]:
    """Write all pages into a folder."""
    names = with_results(results)
    written = [write(out / name, asset(name)) for name in ("style.css", "script.js")]
    shown = []
    for name in names:
        experiment = load_experiment(name, check_methods=False)
        report, files = _experiment(experiment, results, out)
        finished = str(read_provenance(results / name).get("last_finished") or "")[:10]
        shown.append(Shown(experiment, report, finished))
        written += files
        if on_page is not None:
            on_page(name)
    reports = [one.report for one in shown]
    rows = judged_rows(results)
    verdicts, tally = _by_publication(shown, rows), verdict_counts(rows)
    present = [verdict for verdict in VERDICTS if any(verdict in counts for _, counts in verdicts)]
    front = render(
        "index.html",
        claims=_claims(results, names),
        groups=by_importance(shown, [name for name, _ in verdicts]),
        publications=verdicts,
        tallies={report.experiment: _verdict_counts(report, tally) for report in reports},
        ordered=_by_share(tally),
        compared=len({_document(one) for one in shown if COMPARED in one.report.verdicts}),
        shown=present,
        methods=[(method, _places(shown, method.name)) for method in all_methods().values()],
    )
    return [*written, write(out / "index.html", front)]


def _claims(results: Path, names: Sequence[str]) -> str:
    """Return the table of claims on top of the page of all results, those that hold first; "" if there is none."""
    page = results / "README.md"
    text = page.read_text(encoding="utf-8").partition("## Verdicts")[0] if page.is_file() else ""
    table = [line for line in text.splitlines() if line.startswith("|")]

    def link(target: str) -> str:
        name = target.partition("/")[0]
        return f"tables/{name}.html" if name in names else ""

    return to_html("\n".join([*table[:2], *sorted(table[2:], key=lambda line: "| [yes]" not in line)]), link)


def by_importance(shown: Sequence[Shown], publications: Sequence[str]) -> list[tuple[str, list[Report]]]:
    """Return the reports by publication, printed tables before figures, and the checks of others at the end."""
    groups: dict[str, list[Report]] = {}
    for one in shown:
        source = one.experiment.source
        check = one.report.experiment.startswith(CHECKS)
        name = "Checks" if check else _document(one) if source is not None else "Without a publication"
        groups.setdefault(name, []).append(one.report)
    order = [*publications, *sorted(groups.keys() - {*publications, "Checks", "Without a publication"})]
    named = [(name, groups[name]) for name in (*order, "Without a publication", "Checks") if name in groups]
    return [
        (name, sorted(own, key=lambda report: ("table" not in report.experiment, report.experiment)))
        for name, own in named
    ]


def _experiment(experiment: Experiment, results: Path, out: Path) -> tuple[Report, list[Path]]:
    found = gather(experiment, results_dir=results)
    report = assemble(found)
    provenance = read_provenance(found.folder)
    keep_recorded(report, provenance)
    folder = out / "tables" / report.experiment
    written, figures = [], []
    for path, title in report.figures:
        target = folder / Path(path).name
        written.append(_figure(found.folder / path, target))
        figures.append({"path": f"{report.experiment}/{target.name}", "title": title})
    downloads = []
    for path, title in report.texts:
        if not path.endswith(".md"):
            target = _copy(found.folder / path, folder / path)
            written.append(target)
            downloads.append((f"{report.experiment}/{target.name}", title))
    texts = [(title, path) for path, title in report.texts if path.endswith(".md")]
    texts += [("Reasons and readings", "notes.md")] if (found.folder / "notes.md").is_file() else []
    for name, text in DOWNLOADS:
        if (found.folder / name).is_file():
            written.append(_copy(found.folder / name, folder / name))
            downloads.append((f"{report.experiment}/{name}", text))
    page = experiment_page(
        report,
        figures=figures,
        downloads=downloads,
        texts=[(title, to_html((found.folder / path).read_text(encoding="utf-8"), _outside)) for title, path in texts],
        made=_made(provenance),
    )
    return report, [*written, write(out / "tables" / f"{report.experiment}.html", page)]


def _outside(target: str) -> str:
    """Return the target of a link of a text, "" if it is a file of the results."""
    return target if target.startswith("http") else ""


def _figure(source: Path, target: Path) -> Path:
    """Copy a figure: one of lines with each style written once, one of pixels with few colors."""
    if source.suffix == ".svg":
        return write(target, small_svg(source.read_text(encoding="utf-8")))
    from PIL import Image

    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(source) as image:
        image.convert("RGB").quantize(COLORS).save(target, optimize=True)
    return target


def small_svg(text: str) -> str:
    """Return a drawing of Matplotlib in half the bytes: each style once, tenths of a point, no names of groups.

    Examples
    --------
    >>> small_svg('<style type="text/css">*{}</style><g id="axes_1"><path d="M 0 0.25 L 1 2 " style="fill: none"/></g>')
    '<style type="text/css">*{}.s0{fill: none}</style><g><path d="M0 0.2L1 2" class="s0"/></g>'
    """
    styles: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        style = re.sub("font-family: [^;]*sans-serif", "font-family: sans-serif", found[1])
        return f' class="{styles.setdefault(style, f"s{len(styles)}")}"'

    text = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", re.sub('<g id="[^"]*">', "<g>", text))
    text = re.sub(' style="([^"]*)"', named, text)
    text = re.sub(r'(?<= d=")[^"]*', _short_path, text)
    return text.replace("</style>", "".join(f".{name}{{{style}}}" for style, name in styles.items()) + "</style>", 1)


def _short_path(found: re.Match[str]) -> str:
    """Return the points of a line in tenths of a point, without needless blanks."""
    tenths = re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), found[0])
    return re.sub(r"\s*([A-Za-z])\s*|\s+$", r"\1", tenths)


def _copy(source: Path, target: Path) -> Path:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(source, target))
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror or error}; give another folder with --out.") from None


def _made(provenance: dict[str, Any]) -> list[tuple[str, str]]:
    if not provenance:
        return []
    facts = [
        ("Fits of the tuning", f"{provenance['fits']:,}"),
        ("Time", f"{provenance['process_seconds']:,.0f} process-seconds"),
        ("Finished", f"{provenance['first_finished']} to {provenance['last_finished']}"),
    ]
    for way in provenance["made_with"]:
        versions = ", ".join(f"{name} {version}" for name, version in way.get("versions", {}).items())
        facts.append((f"{way['cells']:,} cells", f"{way.get('cpu')}; seed {way.get('seed')}; {versions}"))
    data = "; ".join(f"{d['name']} ({d['selection']}, {d['sha256'][:12]})" for d in provenance["data"])
    return [*facts, ("Data (SHA-256)", data), ("Plan", provenance["plan_sha256"][:16])]


def _verdict_counts(report: Report, found: Mapping[str, VerdictCounts]) -> VerdictCounts:
    """Return the verdicts of a table; those of a variant of another table count separately."""
    return found.get(report.experiment) or VerdictCounts(
        {}, {"another protocol": report.verdicts} if report.verdicts else {}
    )


def _by_share(found: Mapping[str, VerdictCounts]) -> list[tuple[str, VerdictCounts]]:
    """Return the tables with judged figures, the largest share of agreeing ones first."""
    judged = [(name, tally) for name, tally in found.items() if tally.figures]
    return sorted(judged, key=lambda one: (-one[1].agreeing / one[1].figures, -one[1].figures, one[0]))


def _document(one: Shown) -> str:
    """Return the publication without what stands in brackets behind it: a section of its own, or an address."""
    return one.experiment.source.document.partition(" (")[0] if one.experiment.source is not None else "other"


def _by_publication(shown: Sequence[Shown], rows: Sequence[Judged]) -> list[tuple[str, dict[str, int]]]:
    """Return publication -> counts of verdicts, one for each published figure."""
    documents = {one.experiment.name: _document(one) for one in shown}
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.primary:
            found.setdefault(documents[row.experiment], []).append(row.verdict)
    return [(name, counted(own)) for name, own in sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))]


def _places(shown: Sequence[Shown], method: str) -> list[str]:
    """Return the experiments that have a column of that method in their summary."""
    return [
        one.report.experiment
        for one in shown
        if any(one.experiment.methods[line.column].method == method for line in one.report.summary)
    ]
