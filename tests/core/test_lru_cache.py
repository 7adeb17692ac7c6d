"""What is kept of rows: the right thing, not too much, in threads, and safe from later changes of the rows."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from pucli.core.lru_cache import KEPT, Kept
from pucli.estimators.semi_supervised.low_density import LowDensitySeparation
from tests.helpers import ROOT


def rows(seed):
    return np.random.default_rng(seed).normal(size=(30, 2))


def test_the_same_rows_and_name_are_made_once():
    kept, made = Kept(100), []
    for name, seed in (("a", 0), ("a", 0), ("b", 0), ("a", 1), ("a", 0), ("b", 0)):
        found = kept.get(
            (name,), rows(seed), 10, lambda name=name, seed=seed: made.append((name, seed)) or (name, seed)
        )
        assert found == (name, seed)
    assert made == [("a", 0), ("b", 0), ("a", 1)]


def test_the_least_recently_used_go_first_and_what_is_too_large_is_not_kept():
    kept, made = Kept(20), []
    for seed in (0, 1, 0, 2, 0, 1):
        kept.get((), rows(seed), 10, lambda seed=seed: made.append(seed) or seed)
    assert made == [0, 1, 2, 1] and len(kept) == 2
    assert kept.get(("large",), rows(0), 21, lambda: "large") == "large"
    assert len(kept) == 2
    kept.clear()
    assert len(kept) == 0


def test_several_threads():
    kept, wrong = Kept(50), []
    before = sys.getswitchinterval()

    def work(number):
        rng = np.random.default_rng(number)
        try:
            for seed in rng.integers(0, 9, 400):
                if kept.get((), tables[seed], 10, lambda seed=seed: seed) != seed:
                    wrong.append(seed)
        except Exception as error:
            wrong.append(error)

    tables = [rows(seed) for seed in range(9)]
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_rows_that_are_changed_after_a_fit_change_no_later_fit():
    KEPT.clear()
    X, y, new = rows(0), np.where(np.arange(30) < 8, np.arange(30) % 2, -1), rows(1)
    X[:, 0] += 2.0 * (np.arange(30) % 2)
    copy = X.copy()
    before = LowDensitySeparation().fit(X, y).decision_function(new)
    X *= 3.0
    assert (LowDensitySeparation().fit(copy, y).decision_function(new) == before).all()


@pytest.mark.slow  # a process of its own, which memory that is not its own may end
def test_threads_that_share_factors_give_the_same_model():
    program = """
import threading
import numpy as np
from sklearn.neighbors import kneighbors_graph
from pucli.solvers.svm.laplacian import graph_kernel, solve_laplacian_svms
X, y = np.random.default_rng(0).normal(size=(60, 3)), np.where(np.arange(60) < 30, 2 * (np.arange(60) % 2) - 1, 0)
near = kneighbors_graph(X, 6).toarray()
near = np.maximum(near, near.T)
shared = graph_kernel(np.exp(-((X[:, None] - X) ** 2).sum(axis=2)), np.diag(near.sum(axis=1)) - near, 100.0)
def fit(found):
    for _ in range(150):
        found.append(solve_laplacian_svms(shared, [y], 0.005, 1e-8, 1)[0].coef)
first, others = [], []
fit(first)
threads = [threading.Thread(target=fit, args=(others,)) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(others) == 1200 and all((coef == first[0]).all() for coef in others)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
