"""``pucli site``: write all results as a static site."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from pucli.cli import options as opt
from pucli.cli.output import Output, output_folder
from pucli.core.errors import UsageError

EXAMPLES = """
pucli site --out site
pucli site --out /tmp/site --results my-results
"""


@dataclass(frozen=True)
class Site:
    """Pages that were written."""

    folder: Path
    pages: int
    files: int
    bytes: int


def command(
    out: Output,
    folder: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the pages.")],
    results: opt.Results = Path("results"),
) -> None:
    """Write the results as a static site.

    The site has a front page and one page per experiment. It needs no server: open index.html. No cell is run; the
    tables are those of `pucli report`.
    """
    from pucli.report.site import write_site

    output_folder("--out", folder)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "index.html").is_file():
        raise UsageError(f"--out {folder}: the folder has files of something else; give a new one, or that of a site.")
    shown = count(1)
    with out.progress("site", "experiments") as bar:
        files = write_site(folder, results, on_page=lambda name: bar(next(shown), None, name))
    pages = [path for path in files if path.suffix == ".html"]
    size = sum(path.stat().st_size for path in files)
    out.document(Site(folder, len(pages), len(files), size))
    out.text(f"{len(pages)} pages, {size / 1e6:.1f} MB; open {folder / 'index.html'}")
