"""
Irrelevant features
===================

The elastic net of E-GLPUAL drops features; here two of twenty matter.
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli import GLPUAL, ElasticGLPUAL

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 20))
positive = X[:, 0] + X[:, 1] > 0.5
labeled = positive & (rng.random(300) < 0.4)
fig, axis = plt.subplots(figsize=(7, 3.2))
for offset, model in ((-0.2, GLPUAL()), (0.2, ElasticGLPUAL())):
    weights = np.ravel(model.fit(X, labeled).coef_)
    name = type(model).__name__
    axis.bar(
        np.arange(20) + offset,
        np.abs(weights) / np.abs(weights).max(),
        width=0.4,
        label=f"{name}: {np.sum(weights != 0)} of 20",
    )
axis.set_xlabel("feature")
axis.set_title(f"The elastic net keeps {np.sum(weights != 0)} of 20 features, of which 2 matter")
axis.set_ylabel("|weight| / largest")
axis.legend()
