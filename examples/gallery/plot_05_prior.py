"""
How many positives are there?
=============================

Three estimators of the class prior, against the truth, as the classes move apart.
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli.solvers.prior.estimate import estimate_prior

rng = np.random.default_rng(0)
distances, true_prior = [1.0, 2.0, 3.0, 4.0], 0.3
fig, axis = plt.subplots(figsize=(6, 3.4))
for method in ("bbe", "km2", "tice"):
    found = []
    for distance in distances:
        labelled = rng.normal(distance, 1, (150, 2))
        hidden = rng.normal(distance, 1, (120, 2))
        negatives = rng.normal(0, 1, (280, 2))
        X = np.vstack([labelled, hidden, negatives])
        found.append(estimate_prior(X, np.arange(len(X)) < 150, method=method, replicates=0, random_state=0).prior)
    axis.plot(distances, found, marker="o", label=method)
axis.axhline(true_prior, color="black", lw=1, ls="--", label="truth")
axis.set_xlabel("distance of the two means")
axis.set_ylabel("share of positives")
axis.legend()
