"""
How many positives are there?
=============================

Estimators of the class prior, against the truth, as the classes move apart. "auto" is that of `pucli auto`, which other
methods take if no prior is given.
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli import estimate_priors

rng = np.random.default_rng(0)
distances, true_prior = [1.0, 2.0, 3.0, 4.0], 0.3
fig, axis = plt.subplots(figsize=(6, 3.4))
names = ("auto", "density-ratio", "bbe", "km2", "tice")
found: dict[str, list[float]] = {name: [] for name in names}
for distance in distances:
    labeled = rng.normal(distance, 1, (150, 2))
    hidden = rng.normal(distance, 1, (120, 2))
    negatives = rng.normal(0, 1, (280, 2))
    X = np.vstack([labeled, hidden, negatives])
    for one in estimate_priors(X, np.arange(len(X)) < 150, names, replicates=0).estimates:
        found[one.method].append(one.prior)
for name in names:
    axis.plot(distances, found[name], marker="o", label=name)
axis.axhline(true_prior, color="black", lw=1, ls="--", label="truth")
axis.set_xlabel("distance of the two means")
axis.set_ylabel("share of positives")
worst = [max(abs(found[name][place] - true_prior) for name in names) for place in (0, -1)]
axis.set_title(f"The largest error falls from {worst[0]:.2f} to {worst[1]:.2f} as the classes move apart")
axis.legend()
