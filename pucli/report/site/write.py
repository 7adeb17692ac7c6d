"""Write the site: a front page, one page per experiment, and one per method."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pucli.core.errors import UsageError, unwritable
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
DOWNLOADS = (
    ("table.csv", "table as CSV"),
    ("table.tex", "LaTeX"),
    ("comparisons.csv", "tests as CSV"),
    ("cells.csv.gz", "every repeat as CSV"),
)


@dataclass(frozen=True)
class Shown:
    """An experiment, its report, and the day on which its last cell was finished."""

    experiment: Experiment
    report: Report
    finished: str


@dataclass(frozen=True)
class Line:
    """A line of a table: the page to which its first cell links ("" for none), and the cells."""

    link: str
    cells: Sequence[Any]


@dataclass(frozen=True)
class SiteTable:
    """A table with a title and headings."""

    title: str
    header: list[str]
    lines: list[Line]


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
    methods, files = _methods(shown, out)
    front = render(
        "index.html",
        groups=by_importance(shown, [name for name, _ in verdicts]),
        publications=verdicts,
        tallies={report.experiment: _verdict_counts(report, tally) for report in reports},
        ordered=_by_share(tally),
        compared=len({_document(one) for one in shown if COMPARED in one.report.verdicts}),
        shown=present,
        methods=methods,
    )
    return [*written, *files, write(out / "index.html", front)]


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
        written.append(_copy(found.folder / path, target))
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


def _methods(shown: Sequence[Shown], out: Path) -> tuple[SiteTable, list[Path]]:
    """Write the page of each method; return the table of all, and the files."""
    from pucli.methods import all_methods, estimator_class

    written, lines = [], []
    for method in all_methods().values():
        places = _positions(shown, method.name)
        lines.append(Line(f"methods/{method.name}.html", [method.name, method.kind, method.source, str(len(places))]))
        try:
            made: Any = estimator_class(method)
        except (ImportError, UsageError):  # an extra that is not installed: the page has no parameters
            made = None
        parameters = inspect.signature(made.__init__).parameters if made is not None else {}
        rows = [
            Line("", [name, "needed" if p.default is p.empty else repr(p.default), str(method.grid.get(name, ""))])
            for name, p in parameters.items()
            if name != "self"
        ]
        tables = [SiteTable("Parameters", ["Parameter", "Default", "Grid"], rows)] if rows else []
        if places:
            header = ["Table", "Column", "Metric", "Published", "Obtained", "Verdicts"]
            tables.append(SiteTable("Where it stands", header, places))
        page = render(
            "subject.html",
            root="../",
            name=method.name,
            facts=[("Learns from", method.kind), ("Source", method.source), ("Version", str(method.version))],
            tables=tables,
            description=inspect.cleandoc(made.__doc__ or "") if made is not None else "",
        )
        written.append(write(out / "methods" / f"{method.name}.html", page))
    return SiteTable("Methods", ["Method", "Learns from", "Source", "Columns"], lines), written


def _positions(shown: Sequence[Shown], method: str) -> list[Line]:
    """Return a line for each column of that method in the summaries."""
    found = []
    for one in shown:
        for line in one.report.summary:
            if one.experiment.methods[line.column].method == method:
                where = f"{line.metric} {line.setting}".strip()
                means = [line.published_mean, line.obtained_mean]
                values = [one.report.experiment, line.column, where, *means, line.verdicts]
                found.append(Line(f"../tables/{one.report.experiment}.html", values))
    return found
