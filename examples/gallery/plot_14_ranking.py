"""
The rows of fit, ranked
=======================

`AutoPU` takes a table as it is. Its ranking is by models that were trained without the row.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pucli import AutoPU, GainsCurveDisplay

rng = np.random.default_rng(0)
n = 600
buyer = rng.random(n) < 0.3
table = pd.DataFrame(
    {
        "age": np.where(buyer, rng.normal(46, 8, n), rng.normal(36, 9, n)).round(1),
        "town": np.where(rng.random(n) < 0.5 + 0.3 * buyer, "Delft", rng.choice(["Trento", "London"], n)),
        "income": np.where(rng.random(n) < 0.1, np.nan, rng.normal(30 + 8 * buyer, 6)).round(1),
    },
    index=[f"C{number:03d}" for number in range(n)],
)
known = buyer & (rng.random(n) < 0.4)
model = AutoPU().fit(table, positives=table.index[known])
model  # noqa: B018

# %%
model.ranking_.head()

# %%
# Why: how far each column raises or lowers the score of a row, from its usual value.
model.explain(table.loc[model.ranking_.index[:5]]).round(2)

# %%
# The page of ``pucli auto --report``; ``model.report("page.html")`` writes it to a file.
model.report()

# %%
# The same rows by `predict`: the models saw them as negatives.
held_out, seen = model.held_out_, model.score_rows(table)
display = GainsCurveDisplay.from_predictions(buyer[~known], held_out[~known], name="held out")
GainsCurveDisplay.from_predictions(buyer[~known], seen[~known], name="seen in fit", ax=display.ax_)
first = model.ranking_.index[:50]
share = buyer[table.index.get_indexer(first)].mean()
plt.title(f"{100 * share:.0f}% of the first 50 are buyers, {100 * buyer[~known].mean():.0f}% of all")
