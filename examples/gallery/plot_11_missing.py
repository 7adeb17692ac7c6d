"""
Missing cells
=============

One sensor failed for two thirds of the rows. The Gaussian that is fitted to all rows fills the gap by the other sensor.
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli import GaussianMCPL

rng = np.random.default_rng(0)
X = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 150)
seen = X.copy()
seen[50:, 1] = np.nan
model = GaussianMCPL().fit(seen)
filled = model.impute(seen)
plt.figure(figsize=(4.6, 4))
plt.scatter(*X[50:].T, s=12, alpha=0.5, label="true, not seen")
plt.scatter(*filled[50:].T, s=12, label="filled")
plt.scatter(*X[:50].T, s=12, c="black", label="complete rows")
off = np.sqrt(np.mean((filled[50:, 1] - X[50:, 1]) ** 2))
plt.title(f"Filled cells are off by {off:.2f},\nthe mean by {np.std(X[50:, 1]):.2f}")
plt.legend()
