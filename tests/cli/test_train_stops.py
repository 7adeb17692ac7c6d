"""train: what ends it before or during the work."""

from __future__ import annotations

import signal
import subprocess
import sys
import types

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from pucli.methods import METHODS, Method
from tests.cli.helpers import LABELED, refused


class Foreign(ClassifierMixin, BaseEstimator):
    """An estimator of another package that keeps something which no model file can hold."""

    fits = 0

    def __init__(self, depth=2):
        self.depth = depth

    def fit(self, X, y):
        type(self).fits += 1
        self.tree_ = DecisionTreeClassifier(max_depth=self.depth, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def test_a_model_that_cannot_be_saved_is_an_error_before_training(pucli, customers, tmp_path, monkeypatch):
    entry = Method("foreign", "elsewhere:Foreign", "pu", "a fork", grid={"depth": [1, 2, 3]})
    monkeypatch.setitem(METHODS, "foreign", entry)
    module = types.ModuleType("elsewhere")
    module.Foreign = Foreign
    monkeypatch.setattr(Foreign, "__module__", "elsewhere")
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    words = ("train", "--method", "foreign", "--data", customers.pu, *LABELED)
    assert pucli(*words).code == 0
    monkeypatch.setattr(Foreign, "fits", 0)
    done = pucli(*words, "--tune", "--model", "m.model")
    refused(done, "foreign", "tree_", "DecisionTreeClassifier", "--model")
    assert Foreign.fits == 1 and not (tmp_path / "m.model").exists()


INTERRUPTED = """
import ctypes, os, signal, sys, threading
from pucli.cli.commands import list as listing
from pucli.cli.main import main

def compiled():
    # Ctrl-C while the main thread sleeps in the C library, from which the signal does not wake it
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    ctypes.CDLL(None).sleep(60)

listing._methods = compiled
sys.exit(main(["list", "methods"]))
"""


@pytest.mark.slow
def test_ctrl_c_ends_blocked_compiled_code(tmp_path, data_cache):
    """A main thread in compiled code cannot take the signal; libsvm runs so for minutes."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.returncode == 130
    assert done.stderr.startswith("pucli: interrupted.") and "Traceback" not in done.stderr
