"""
What a wrong prior does
=======================

uPU needs the class prior. With one that is too small it calls too few rows positive, with one too large too many.
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli import UPU, classification_scores

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(1.2, 1, (100, 2)), rng.normal(1.2, 1, (120, 2)), rng.normal(-0.8, 1, (280, 2))])
labeled, positive = np.arange(500) < 100, np.arange(500) < 220
priors = np.linspace(0.1, 0.7, 9)
found = {"precision": [], "recall": [], "f1": []}
for prior in priors:
    predictions = UPU(prior=prior).fit(X, labeled).predict(X[100:])
    scores = classification_scores(positive[100:], predictions, positive=True)
    for name, values in found.items():
        values.append(scores[name])
fig, axis = plt.subplots(figsize=(6, 3.4))
for name, values in found.items():
    axis.plot(priors, values, marker="o", label=name)
axis.axvline(0.3, color="black", lw=1, ls="--", label="true prior")
axis.set_xlabel("prior that is given")
axis.set_title(f"F1 is largest with a prior of {priors[np.argmax(found['f1'])]:.2g}; the true one is 0.3")
axis.legend()
