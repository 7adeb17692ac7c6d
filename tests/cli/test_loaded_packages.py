"""What `auto` and `predict` load, which takes a quarter of README's first command. These lists may only shrink."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.helpers import ROOT

LOADED = """
import json, sys
from pathlib import Path
from pucli.__main__ import main
sys.argv = ["pucli", *sys.argv[1:]]
assert main() == 0
Path("loaded.json").write_text(json.dumps(sorted(sys.modules)))
"""
# Packages, beside those that these load if they are there (as pandas does pyarrow), and the number of modules of pucli.
BOTH = {
    "joblib",
    "llvmlite",
    "narwhals",
    "numba",
    "numpy",
    "pandas",
    "pucli",
    "pydantic",
    "rich",
    "scipy",
    "sklearn",
    "threadpoolctl",
    "typer",
    "yaml",
}
PACKAGES = {"auto": BOTH | {"jinja2"}, "predict": BOTH}
MODULES = {"auto": 203, "predict": 182}
NEVER = {
    "matplotlib",
    "openpyxl",
    "python_calamine",
    "xlrd",
    "pooch",
    "requests",
    "markdown_it",
    "platformdirs",
    "polars",
    "dask",
    "distributed",
    "torch",
    "lightgbm",
    "onnx",
    "onnxruntime",
    "IPython",
    "sphinx",
    "pytest",
}
# Parts of scikit-learn 1.9.
PARTS = {"base", "callback", "exceptions", "externals", "feature_extraction", "pipeline", "preprocessing", "utils"}
OF_SCIKIT_LEARN = {
    "auto": PARTS
    | {
        "covariance",
        "decomposition",
        "discriminant_analysis",
        "linear_model",
        "metrics",
        "model_selection",
        "neighbors",
        "svm",
    },
    "predict": PARTS,
}


@pytest.mark.slow
def test_auto_and_predict_load_no_more_than_they_did(tmp_path: Path) -> None:
    table = ROOT / "examples" / "customers.csv"
    commands = {
        "auto": f"{table} --label bought --positive yes --id customer --scored s.csv --report p.html --model m.model",
        "predict": f"{table} --model m.model --out o.csv -q",
    }
    for name, words in commands.items():
        subprocess.run([sys.executable, "-c", LOADED, name, *words.split()], cwd=tmp_path, check=True)
        loaded = [module.split(".") for module in json.loads((tmp_path / "loaded.json").read_text())]
        packages = {parts[0] for parts in loaded}
        assert PACKAGES[name] <= packages, f"{name}: {PACKAGES[name] - packages} need not be listed any more"
        assert not packages & (NEVER | {"jinja2"} - PACKAGES[name]), name
        assert sum(parts[0] == "pucli" for parts in loaded) <= MODULES[name], name
        assert ["pucli", "data", "schema"] not in loaded
        if version("scikit-learn").startswith("1.9."):
            parts = {parts[1] for parts in loaded if parts[0] == "sklearn" and len(parts) > 1 and parts[1][0] != "_"}
            assert parts <= OF_SCIKIT_LEARN[name], parts - OF_SCIKIT_LEARN[name]
