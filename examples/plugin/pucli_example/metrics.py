"""A metric: the function, what it needs, its unit, its better side, and the margin that means something."""

import numpy as np

from pucli.metrics import Metric


def g_mean(truth, predictions, positive):
    """Return the geometric mean of the recalls of both classes."""
    truth, said = np.asarray(truth) == positive, np.asarray(predictions) == positive
    if truth.all() or not truth.any():
        return np.nan
    return float(np.sqrt(np.mean(said[truth]) * np.mean(~said[~truth])))


G_MEAN = Metric(
    name="g_mean",
    description="geometric mean of the recalls of both classes",
    function=g_mean,
    needs=("truth", "predictions", "positive"),
    unit="%",
    scale=100.0,
    better="higher",
    margin=5.0,
    relative=False,
)
