"""
Unlabeled rows that do no harm
==============================

CPLS is never worse than the supervised least squares classifier in its own loss, whatever the hidden labels are. EM has
no such guarantee.
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli import CPLS, EMLDA, LeastSquares

errors = {name: [] for name in ("supervised", "CPLS", "EM")}
for seed in range(30):
    rng = np.random.default_rng(seed)
    # two clusters that are not the classes: the model of EM is wrong
    X = rng.normal(size=(200, 2)) + np.where(rng.random(200) < 0.5, 3.0, -3.0)[:, None] * [1, 0]
    truth = (X[:, 1] + 0.3 * rng.normal(size=200) > 0).astype(int)
    y = np.full(200, -1)
    for side in (0, 1):
        y[rng.permutation(np.flatnonzero(truth == side))[:6]] = side
    for name, model in (("supervised", LeastSquares()), ("CPLS", CPLS()), ("EM", EMLDA())):
        errors[name].append(np.mean(model.fit(X, y).predict(X) != truth))
plt.figure(figsize=(5.5, 3.2))
plt.boxplot(list(errors.values()), tick_labels=list(errors))
plt.ylabel("error on all rows")
plt.title("Median error: " + ", ".join(f"{name} {np.median(values):.2f}" for name, values in errors.items()))
