"""
When no label can help
======================

Figure 3.1 of Bertazzi (2018): one feature, no intercept, so that the classifier is a line through the origin. If the
line takes the unlabeled point to a value between the labels 0 and 1, that value is its most adversarial label: with it
the supervised line is the best one on all points, and CPLS keeps it (left). If the point lies beyond, no label between
0 and 1 is on the line, and CPLS is better than the supervised line whatever the label is (right; Theorem 3.8).
"""

import matplotlib.pyplot as plt
import numpy as np

from pucli import CPLS

X, y = np.array([[-0.4], [1.2]]), np.array([0, 1])
figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.2), sharey=True)
for ax, u in zip(axes, (0.8, 2.4), strict=True):
    model = CPLS(fit_intercept=False).fit(np.vstack([X, [[u]]]), [*y, -1])
    line = np.array([-0.8, 2.6])
    ax.plot(line, line * model.supervised_coef_, color="C0", label="supervised")
    ax.plot(line, line * model.coef_, color="C1", linestyle="--", label="CPLS")
    ax.plot(X[:, 0], y, "o", color="C0", label="labelled")
    ax.plot(u, 0, "o", color="C3", label="unlabeled")
    ax.plot(u, model.soft_labels_[0], "x", color="C3", label="its most adversarial label")
    ax.vlines(u, 0, model.soft_labels_[0], color="C3", linestyle=":")
    ax.set(title=f"gain for every label at least {model.improvement_:.3f}", xlabel="x", ylim=(-0.7, 2.1))
axes[0].set_ylabel("label")
axes[0].legend(fontsize=7, loc="upper left")
