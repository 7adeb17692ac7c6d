"""
Positives in two parts
======================

The neighborhood term of GLPUAL with a kernel finds both parts; a line cannot. The titles say how many of the hidden
positives are found.
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli import GLPUAL

rng = np.random.default_rng(1)
X = np.vstack([rng.normal((-3, 0), 0.8, (60, 2)), rng.normal((3, 0), 0.8, (60, 2)), rng.normal((0, 0), 0.9, (200, 2))])
positive = np.arange(320) < 120
labeled = positive & (rng.random(320) < 0.25)

grid = np.stack(np.meshgrid(np.linspace(-6, 6, 80), np.linspace(-3.5, 3.5, 60)), axis=-1)
fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True)
for axis, kernel in zip(axes, ("linear", "rbf"), strict=True):
    model = GLPUAL(kernel=kernel).fit(X, labeled)
    f = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    axis.contourf(grid[..., 0], grid[..., 1], f > 0, levels=[-0.5, 0.5, 1.5], colors=["white", "moccasin"])
    axis.scatter(*X[~labeled].T, s=10, c="C0")
    axis.scatter(*X[labeled].T, s=14, c="C1")
    recall = np.mean(model.predict(X[positive & ~labeled]))
    axis.set_title(f"{kernel}: {100 * recall:.0f} % found")
