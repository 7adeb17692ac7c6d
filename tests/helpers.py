"""Paths that tests need."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# copies of the public data and publications; tests that need them skip where they are absent
SHARED = ROOT.parent / "shared"
