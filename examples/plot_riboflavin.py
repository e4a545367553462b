"""
Genes that go together
======================

Riboflavin, vitamin B2, is made by *Bacillus subtilis*: 71 samples, the logarithm of the rate of
production, and the expression of 4088 genes, many of which are switched on and off together.
Which genes go with a high rate?

The data are those of Bühlmann, Kalisch and Meier (2014). This page needs ``pip install
'ksupport[data]'``; without the data and without a network, it shows simulated genes.
"""

# %%
# The data, and what is held back
# -------------------------------

from functools import partial
from textwrap import shorten

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.linear_model import LassoCV
from sklearn.model_selection import ShuffleSplit

from ksupport import IRKSNCV, AutoIRKSN
from ksupport.datasets import DatasetUnavailableError, fetch_riboflavin, make_block_data
from ksupport.plotting import PathDisplay

try:
    X, y = fetch_riboflavin(as_frame=True, return_X_y=True)
except DatasetUnavailableError:
    print("The data are not on this machine. Simulated genes instead, in blocks of ten.")
    X, y, _ = make_block_data(71, 1000, n_active_blocks=8, random_state=0)
    X = pd.DataFrame(X, columns=[f"gene {j}" for j in range(1000)])
    y = pd.Series(y)

print(X.shape)

# %%
# Which genes
# -----------
# ``AutoIRKSN`` samples models of single genes and of clusters of genes, and gives each gene a
# probability.

model = AutoIRKSN().fit(X, y)
model

# %%
# Genes that go together closely can stand in for each other. Of each of these sets one gene or more
# matter, with 95 % probability; the second number is the probability that two or more do:

for each in model.sets_[:6]:
    names = shorten(", ".join(X.columns[list(each.features)]), 65)
    print(f"{each.probability:.2f} {each.together:.2f}  {names}")

# %%
display = PathDisplay.from_estimator(model, X, y)

# %%
# The genes chosen, beside those of a Lasso, in the order of a hierarchical clustering. Blocks along
# the diagonal are genes that go together.

lasso = LassoCV(max_iter=20_000).fit((X - X.mean()) / X.std(), y)

fig, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for ax, each in zip(axes, [model, lasso], strict=True):
    r = np.corrcoef(X.loc[:, each.coef_ != 0], rowvar=False)
    order = leaves_list(linkage(squareform(1 - np.abs(r), checks=False), "average"))
    image = ax.imshow(np.abs(r[np.ix_(order, order)]), vmin=0, vmax=1, cmap="magma_r")
    alike = int((np.abs(r - np.eye(len(r))).max(axis=0) > 0.8).sum())
    title = f"{type(each).__name__}: {len(r)} genes\n{alike} with a chosen twin (|r| > 0.8)"
    ax.set_title(title, fontsize="medium")
    ax.set(xticks=[], yticks=[])
fig.colorbar(image, ax=axes, label="|correlation|", shrink=0.8)

# %%
# Does it predict?
# ----------------
# Five times, a quarter of the samples is held back.

makes = {"AutoIRKSN": AutoIRKSN, "IRKSNCV": IRKSNCV, "LassoCV": partial(LassoCV, max_iter=20_000)}
errors = {name: [] for name in makes}
sizes = {name: [] for name in makes}
for train, test in ShuffleSplit(5, test_size=0.25, random_state=0).split(X):
    mean, scale = X.iloc[train].mean(), X.iloc[train].std()
    Z = (X - mean) / scale
    for name, make in makes.items():
        each = make().fit(Z.iloc[train], y.iloc[train])
        errors[name].append(np.mean((each.predict(Z.iloc[test]) - y.iloc[test]) ** 2))
        sizes[name].append(np.count_nonzero(each.coef_))

fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
for place, name in enumerate(makes):
    ax.plot(np.mean(errors[name]), place, "k|", markersize=24)
    print(f"{name}: error {np.mean(errors[name]):.3f}, {np.mean(sizes[name]):.0f} genes")
for split in zip(*errors.values(), strict=True):
    ax.plot(split, range(len(split)), "o-", alpha=0.7)
ax.set_yticks(range(len(errors)), errors)
ax.set_xlabel("mean squared error on samples held back; | is the mean")
ax.set_ylim(-0.4, 2.4)
plt.show()

# %%
# Lines join the errors of one split: with so few samples, splits differ more than methods do. A
# model that is made to name the right genes need not predict best; ``IRKSNCV`` and the Lasso are
# tuned for prediction, and take more genes for it.
