"""
A proof that comes with the fit
===============================

The duality gap bounds the distance to the optimum. It falls with the tolerance, so that the answer is known to be
right to so many digits.
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli import BSVM, GLPUAL

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(1, 1, (80, 3)), rng.normal(-0.5, 1, (160, 3))])
labeled = np.arange(240) < 40
tolerances = [1e-2, 1e-4, 1e-6, 1e-8]
plt.figure(figsize=(5.5, 3.4))
largest = 0.0
for estimator in (GLPUAL, BSVM):
    gaps = [(model := estimator(tol=tol).fit(X, labeled)).dual_gap_ / model.objective_ for tol in tolerances]
    largest = max(largest, *(gap / tol for gap, tol in zip(gaps, tolerances, strict=True)))
    plt.loglog(tolerances, np.maximum(gaps, 1e-16), marker="o", label=estimator.__name__)
plt.loglog(tolerances, tolerances, color="black", lw=1, ls="--", label="asked for")
plt.xlabel("tol")
plt.title(f"Every proven gap is at most {largest:.2g} of the tolerance")
plt.ylabel("proven gap / objective")
plt.legend()
