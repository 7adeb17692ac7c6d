"""The directive `shown`: run commands of pucli while the documentation is built, and show what they print.

All commands of a page run in one folder with `customers.csv`, its truth, and the committed results of table 3.1.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 40


class Shown(SphinxDirective):
    """Output of the commands in the body, one a line; `:page:` shows an HTML file that they wrote, `:lines:` cuts."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "page": directives.unchanged,
        "lines": directives.nonnegative_int,
        "height": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        """Run the commands and return what they print."""
        folder = folder_of(self.env.app, self.env.docname)
        texts = [self._printed(line, folder) for line in self.content if line.strip()]
        lines = "\n".join(texts).rstrip().splitlines()
        most = self.options.get("lines", LONGEST)
        cut = [*lines[:most], "..."] if len(lines) > most else lines
        found: list[nodes.Node] = [nodes.literal_block("", "\n".join(cut), language="text", classes=["output"])]
        if name := self.options.get("page"):
            target = Path(self.env.app.outdir) / "_static" / "pages" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, target)
            above = "../" * self.env.docname.count("/")
            html = (
                f'<iframe class="page" src="{above}_static/pages/{name}" title="{name}" loading="lazy" '
                f'style="height: {self.options.get("height", 900)}px"></iframe>'
            )
            found.append(nodes.raw("", html, format="html"))
        return found

    def _printed(self, line: str, folder: Path) -> str:
        words = shlex.split(line)
        if words[0] != "pucli":
            raise self.error(f"only commands of pucli are run: {line}")
        settings = {"NO_COLOR": "1", "COLUMNS": "80", "PUCLI_RESULTS_DIR": "results", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", "pucli", *words[1:], "--quiet"],
            cwd=folder,
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise self.error(f"{line}: exit code {done.returncode}\n{done.stdout}")
        return done.stdout


def folder_of(app: Any, docname: str) -> Path:
    """Return the folder in which the commands of a page run."""
    folders: dict[str, Path] = app.__dict__.setdefault("_shown_folders", {})
    if docname not in folders:
        folder = Path(tempfile.mkdtemp(prefix="pucli-docs-"))
        for name in ("customers.csv", "customers_truth.csv"):
            shutil.copyfile(ROOT / "examples" / name, folder / name)
        (folder / "results").mkdir()
        shutil.copytree(ROOT / "results" / "table-3.1", folder / "results" / "table-3.1")
        folders[docname] = folder
    return folders[docname]


def remove_folders(app: Any, error: Exception | None) -> None:
    """Remove the folders of all pages."""
    for folder in vars(app).get("_shown_folders", {}).values():
        shutil.rmtree(folder, ignore_errors=True)


def setup(app: Any) -> dict[str, Any]:
    """Add the directive, and remove the folders at the end."""
    app.add_directive("shown", Shown)
    app.connect("build-finished", remove_folders)
    return {"parallel_read_safe": False}
