"""
One posterior, four readings
============================

`AutoIRKSN` samples models. Whatever it reports is a share of that sample. Here three of 200
features matter, and feature 200 nearly repeats feature 1.
"""

# %%
# Data with a known truth
# -----------------------

import matplotlib.pyplot as plt
import numpy as np

from ksupport import AutoIRKSN
from ksupport.datasets import make_correlated_data

truth = [3.0, -2.0, 2.0] + [0.0] * 197
X, y, w = make_correlated_data(100, 200, rho=0.5, w_true=truth, snr=5, random_state=0)
X = np.column_stack([X, X[:, 1] + 0.05 * np.random.default_rng(0).normal(size=100)])

model = AutoIRKSN().fit(X, y)
posterior = model.posterior_

# %%
# The sampled models, and what is read off them
# ---------------------------------------------
#
# Each column of the first picture is a model, as wide as its weight. Rows are features. A row that
# is nearly all filled is a feature that matters; two rows that complete each other stand in for
# each other.

shown = np.argsort(-posterior.probability())[:8]
figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), layout="constrained")

ax = axes[0, 0]
edges = np.concatenate([[0.0], np.cumsum(posterior.weights)])
for support, left, right in zip(posterior.supports, edges[:-1], edges[1:], strict=True):
    for row in np.flatnonzero(np.isin(shown, support)):
        ax.barh(row, right - left, left=left, height=0.8, color="C0", linewidth=0)
ax.set(yticks=range(8), yticklabels=shown, ylabel="feature", xlabel="models, by weight")
ax.set(title="Sampled models", xlim=(0, 1))
ax.invert_yaxis()

ax = axes[0, 1]
ax.barh(range(8), posterior.probability()[shown], color="C0")
ax.axvline(0.95, color="0.5", linewidth=1, linestyle="--")
ax.set(yticks=range(8), yticklabels=shown, xlim=(0, 1), xlabel="probability")
ax.set(title="Features: share of models that have one")
ax.invert_yaxis()

ax = axes[1, 0]
sizes = np.zeros(8)
counted = posterior.size()[:8]
sizes[: counted.size] = counted
ax.bar(range(8), sizes, color="C1")
ax.set(xlabel="number of features", ylabel="probability", title="Size: how many features matter")

ax = axes[1, 1]
pair = next(each for each in model.sets_ if 1 in each.features)
values = [*posterior.probability()[[1, 200]], pair.probability]
ax.bar(["feature 1", "feature 200", "one or both"], values, color=["C0", "C0", "C2"])
ax.axhline(0.95, color="0.5", linewidth=1, linestyle="--")
ax.set(ylim=(0, 1.05), ylabel="probability", title="A credible set: which one is open")
plt.show()

# %%
# Any other statement has a probability, too.

print(f"features 0 and 2 both matter: {posterior.all_of([0, 2]):.2f}")
print(f"at most four features matter: {posterior.prob(lambda support: len(support) <= 4):.2f}")
print(model.decision_)
