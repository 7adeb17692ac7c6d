"""What the tests of train, tune, predict and evaluate share."""

from __future__ import annotations

import numpy as np
import pandas as pd

LABELED = ("--label", "bought", "--positive", "yes")


def refused(done, *words, code=2):
    """The command ended with `code` and one message that holds `words`."""
    assert done.code == code
    assert done.out == ""
    message = done.err.splitlines()[-1]
    assert message.startswith("pucli: ")
    assert "Traceback" not in done.err
    for word in words:
        assert str(word) in message
    return message


def write(tmp_path, text, name="rows.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def small_table(n=40, **columns):
    """A table of n rows, 12 of them labeled positives."""
    random = np.random.default_rng(3)
    table = pd.DataFrame({"a": random.normal(size=n), "b": random.normal(size=n)})
    table["label"] = [1] * 12 + [0] * (n - 12)
    return table.assign(**columns)


def train(pucli, path, *words):
    return pucli("train", "--method", "glpual", "--data", path, *words, "--model", "m.model")
