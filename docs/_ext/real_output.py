"""The directive `shown`: run commands of pucli while the documentation is built, and show what they print.

All commands of a page run in one folder with `customers.csv`, its truth, and the committed results of table 3.1.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
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
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


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
        code, shown = on_terminal([sys.executable, "-m", "pucli", *words[1:], "--quiet"], folder)
        if code:
            raise self.error(f"{line}: exit code {code}\n{shown}")
        return shown


def on_terminal(command: list[str], folder: Path) -> tuple[int, str]:
    """Run a command on a terminal of 80 columns, and return its exit code and what a reader sees."""
    settings = {"NO_COLOR": "1", "COLUMNS": "80", "TERM": "xterm", "PUCLI_RESULTS_DIR": "results"}
    screen, terminal = pty.openpty()
    environment = {**os.environ, **settings, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=terminal, stderr=terminal) as running:
        os.close(terminal)
        parts: list[bytes] = []
        with contextlib.suppress(OSError):  # how Linux tells that the other end is closed
            while part := os.read(screen, 65536):
                parts.append(part)
    os.close(screen)
    text = ESCAPE.sub("", b"".join(parts).decode()).replace("\r\n", "\n")
    return running.returncode, "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


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
