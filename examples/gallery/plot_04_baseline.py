"""
Always beside the baseline
==========================

A plain class-balanced SVC that takes unlabeled rows as negatives is hard to beat: compare on the same splits.
"""

import matplotlib.pyplot as plt

from pucli import compare, declared_task, judge

tasks = [declared_task(name) for name in ("breast-cancer", "wine", "iris")]
scores = compare(["gllc", "glpual", "svc-naive"], tasks, repeats=5)
for line in judge(scores).verdict:
    print(line)

# %%
fig, axis = plt.subplots(figsize=(6, 3.2))
for number, method in enumerate(scores.methods):
    for place, values in enumerate(scores.values[:, number]):
        axis.scatter(
            values,
            [place + 0.2 * (number - 1)] * len(values),
            s=16,
            c=f"C{number}",
            label=method if not place else "",
        )
axis.set_yticks(range(len(scores.tasks)), scores.tasks)
axis.set_xlabel("F1 on test rows, %")
best = [scores.methods[values.mean(axis=1).argmax()] for values in scores.values]
axis.set_title(f"svc-naive has the best mean on {best.count('svc-naive')} of {len(best)} data sets")
axis.legend()
