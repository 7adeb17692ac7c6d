"""The face of the package: everyday names, versions, and a start that imports nothing heavy."""

import subprocess
import sys
import tomllib

import pytest
import yaml

import pucli
from pucli.methods import METHODS, estimator_class
from tests.helpers import ROOT


def test_everyday_names_are_importable_from_the_top():
    from pucli import GLPUAL, load_dataset, split, tune
    from pucli.data import load_dataset as of_data
    from pucli.data import make_split
    from pucli.estimators.global_local.glpual import GLPUAL as of_estimators
    from pucli.tuning import tune as of_tuning

    assert (GLPUAL, load_dataset, split, tune) == (of_estimators, of_data, make_split, of_tuning)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_built_in_estimator_is_importable_from_the_top(name):
    method = METHODS[name]
    if not method.extra:
        class_name = method.estimator.partition(":")[2]
        assert getattr(pucli, class_name) is estimator_class(method)
        assert class_name in dir(pucli)


def test_the_package_shows_public_names_alone_and_all_of_them():
    from pucli.data import Standardizer

    assert pucli.Standardizer is Standardizer and {"TableEncoder", "GLPUAL", "AutoPU", "scorer"} <= set(pucli.__all__)
    assert dir(pucli) == sorted(pucli.__all__)
    assert not {"import_module", "annotations", "Any", "TYPE_CHECKING"} & set(dir(pucli))
    assert all(getattr(pucli, name) is not None for name in pucli.__all__ if not name.endswith(("GAN", "encoder")))


def test_a_wrong_name_is_an_attribute_error():
    for name in ("GLPAUL", "tunes"):
        with pytest.raises(AttributeError, match=name):
            getattr(pucli, name)


def test_versions_name_packages_and_no_machine(capsys):
    pucli.show_versions()
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["pucli"] == pucli.__version__ and {"numpy", "scikit-learn", "blas", "cpu"} <= set(shown)
    assert "/" not in "".join(shown.values()).replace("not installed", "")


def test_importing_the_package_or_its_command_line_imports_nothing_heavy():
    code = (
        "import sys, pucli, pucli.cli.main; "
        "print([name for name in ('numpy', 'numba', 'sklearn', 'pandas', 'scipy', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_citation_has_the_version_and_the_authors_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert citation["version"] == pucli.__version__
    assert [one["name"] for one in project["authors"]] == [one["name"] for one in citation["authors"]]
