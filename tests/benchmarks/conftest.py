"""Benchmarks find no files but those of the folder that a test gives them."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _empty_cache(data_cache: Path) -> Path:
    return data_cache
