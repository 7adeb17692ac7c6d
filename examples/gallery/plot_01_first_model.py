"""
A first model
=============

Half of the malignant tumors of a public table are labeled; all other rows are unlabeled.
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli import GLPUAL, load_dataset, split

data = load_dataset("breast-cancer")
rows = split("case-control", data.y, 0.5, rng=np.random.default_rng(0))
X = (data.X - data.X[rows.train].mean(axis=0)) / data.X[rows.train].std(axis=0)
model = GLPUAL().fit(X[rows.train], rows.s)
print(f"within {model.dual_gap_:.1e} of the optimum {model.objective_:.3f}")

# %%
# The true classes of the test rows were not seen.
scores, truth = model.decision_function(X[rows.test]), data.y[rows.test]
for side, name in ((1, "positive"), (-1, "negative")):
    plt.hist(scores[truth == side], bins=30, alpha=0.6, label=name)
plt.axvline(0, color="black", lw=1)
plt.xlabel("score of a test row")
plt.title(f"{100 * (scores[truth == 1] > 0).mean():.0f} % of the hidden positives score above 0")
plt.legend()
