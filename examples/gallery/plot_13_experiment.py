"""
An experiment from Python
=========================

What `pucli reproduce` does, in a few lines: declare, run, collect. A second run finds every cell done.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from pucli import collect, load_experiment, run

DECLARED = """
title: A small table
data: {names: [wine], standardize: train}
split: {scenario: case-control, label_frequencies: [0.3, 0.6], repeats: 3, seed: 1, unlabeled_train: 0.7}
tuning: {folds: 3, score: puf}
methods:
  gllc: {method: gllc, grid: {lam: [0.1, 1.0]}}
  logistic: {estimator: "sklearn.linear_model:LogisticRegression", class_weight: balanced}
metrics: [f1]
"""
folder = Path(tempfile.mkdtemp())
(folder / "small.yaml").write_text(DECLARED)
experiment = load_experiment(folder / "small.yaml")
print(run(experiment, results_dir=folder).ran, "cells run, then", run(experiment, results_dir=folder).ran)

# %%
report = collect(experiment, results_dir=folder, figures=False)
for row in report.rows:
    print(f"{row.setting:24} {row.column:9} {row.obtained_mean:6.2f} ± {row.obtained_sd:.2f}")

# %%
# A figure of it; no whisker passes 100 %.
means, spreads = [row.obtained_mean for row in report.rows], [row.obtained_sd for row in report.rows]
above = [min(spread, 100 - mean) for mean, spread in zip(means, spreads, strict=True)]
plt.figure(figsize=(6, 2.6))
plt.errorbar(means, range(len(means)), xerr=[spreads, above], fmt="o")
plt.yticks(range(len(means)), [f"{row.column}, {row.setting}" for row in report.rows])
plt.xlabel("F1, %")
best = max(report.rows, key=lambda row: row.obtained_mean)
plt.title(f"{best.column} with {best.setting} has the best mean F1, {max(means):.0f} %")
plt.tight_layout()
