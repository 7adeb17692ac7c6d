"""
A table with columns of every kind
==================================

Numbers, words, dates and empty cells go through one encoder, which learns from the training rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from pucli import GLLC, Standardizer, TableEncoder

rng = np.random.default_rng(0)
n = 400
buyer = rng.random(n) < 0.4
table = pd.DataFrame(
    {
        "age": np.where(buyer, rng.normal(45, 9, n), rng.normal(36, 9, n)).round(),
        "town": np.where(rng.random(n) < 0.5 + 0.3 * buyer, "Delft", rng.choice(["Trento", "London"], n)),
        "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
        "income": np.where(rng.random(n) < 0.1, np.nan, rng.normal(30 + 8 * buyer, 6)),
    }
)
known = buyer & (rng.random(n) < 0.4)
model = make_pipeline(TableEncoder(), Standardizer(), GLLC()).fit(table, known)
print(list(model[0].get_feature_names_out()))

# %%
order = np.argsort(-model.decision_function(table))
unknown = order[~known[order]]
share = np.cumsum(buyer[unknown]) / np.arange(1, len(unknown) + 1)
plt.figure(figsize=(6, 3.2))
plt.plot(share)
plt.axhline(buyer[~known].mean(), color="black", lw=1, ls="--")
plt.title(f"{100 * share[49]:.0f} % of the first 50 are buyers, {100 * buyer[~known].mean():.0f} % of all")
plt.xlabel("customers asked, the likeliest first")
plt.ylabel("share of buyers among them")
