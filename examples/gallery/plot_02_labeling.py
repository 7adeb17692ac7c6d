"""
What labeled and unlabeled rows look like
==========================================

Two groups of positives on both sides of the negatives, of which a quarter is labeled.
"""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(1)
X = np.vstack([rng.normal((-3, 0), 0.8, (60, 2)), rng.normal((3, 0), 0.8, (60, 2)), rng.normal((0, 0), 0.9, (200, 2))])
positive = np.arange(320) < 120
labeled = positive & (rng.random(320) < 0.25)

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True)
left.scatter(*X[~positive].T, s=12, c="tab:gray", label="negative")
left.scatter(*X[positive].T, s=12, c="C1", label="positive")
right.scatter(*X[~labeled].T, s=12, c="C0", label="unlabeled")
right.scatter(*X[labeled].T, s=12, c="C1", label="labeled")
left.set_title(f"true: {positive.sum()} of {len(X)} rows are positive")
right.set_title(f"known: {labeled.sum()} of them")
for axis in (left, right):
    axis.legend()
