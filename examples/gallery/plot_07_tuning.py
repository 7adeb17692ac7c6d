"""
Parameters without true labels
==============================

PUF, computed from labeled and unlabeled rows alone, chooses the ridge. The F1 of the test rows is shown for
comparison; it was not used.
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli import GLLC, classification_scores, load_dataset, split, tune

data = load_dataset("breast-cancer")
rows = split("case-control", data.y, 0.4, rng=np.random.default_rng(1))
X = (data.X - data.X[rows.train].mean(axis=0)) / data.X[rows.train].std(axis=0)
lams = [10.0**power for power in range(-2, 6)]
result = tune("gllc", X[rows.train], rows.s, grid={"lam": lams}, rule="puf", cv_repeats=1)
print(result.params["lam"], result.notes)

# %%
f1 = []
for lam in lams:
    model = GLLC(lam=lam).fit(X[rows.train], rows.s)
    f1.append(classification_scores(data.y[rows.test], np.where(model.predict(X[rows.test]) == 1, 1, -1))["f1"])
fig, axis = plt.subplots(figsize=(6, 3.4))
axis.semilogx(
    result.trials.columns["lam"],
    np.asarray(result.trials.columns["score"]) / max(result.trials.columns["score"]),
    marker="o",
    label="PUF / largest",
)
axis.semilogx(lams, f1, marker="o", label="F1 of the test rows")
axis.axvline(result.params["lam"], color="black", lw=1, ls="--", label="choice")
axis.set_xlabel("lam")
axis.set_title(f"The choice has F1 {f1[lams.index(result.params['lam'])]:.2f}; the best of the grid has {max(f1):.2f}")
axis.legend()
