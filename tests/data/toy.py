"""A declared data set of one small file."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pucli.data import Dataset, load_dataset

ENTRY = """
toy:
  title: Toy
  license: none
  files:
    - name: toy.csv
      sha256: {sha}
  target: {{column: class, positive: [1], negative: [0]}}
"""


def declare(tmp_path: Path, text: str, extra: str = "") -> Path:
    """Write a file toy.csv and a catalogue with one entry for it; return the catalogue."""
    (tmp_path / "toy.csv").write_text(text)
    path = tmp_path / "mine.yaml"
    path.write_text(ENTRY.format(sha=hashlib.sha256(text.encode()).hexdigest()) + extra)
    return path


def load_toy(tmp_path: Path, text: str, extra: str = "") -> Dataset:
    catalogue = declare(tmp_path, text, extra)
    return load_dataset("toy", catalogue=catalogue, cache=tmp_path / "cache", mirror=tmp_path, offline=True)
