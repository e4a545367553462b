"""
Which method when
=================

The same methods, as their users run them, on five kinds of truth that nobody tells them. What is
best where? This page measures it anew whenever it is built, on few draws; ``make bench-selection``
does so on many more settings, draws and methods.
"""

# %%
# Kinds of truth
# --------------
# All have 100 rows and 300 features.

import warnings
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNetCV, LassoCV, OrthogonalMatchingPursuitCV

from ksupport import IRKSNCV, IRKSNIC, AutoIRKSN, NoSignalWarning
from ksupport.datasets import make_block_data, make_correlated_data
from ksupport.metrics import support_f1


def few(snr, rho=0.6):
    def draw(seed):
        return make_correlated_data(100, 300, rho=rho, density=8 / 300, snr=snr, random_state=seed)

    return draw


def groups(seed):
    return make_block_data(100, 300, random_state=seed)


def mixed(seed):
    """One block of ten, and five features anywhere else."""
    X, _, w = make_block_data(100, 300, n_active_blocks=1, random_state=seed)
    rng = np.random.default_rng(seed)
    w[rng.choice(np.flatnonzero(w == 0), 5, replace=False)] = 2 * np.abs(w).max()
    clean = X @ w
    return X, clean + clean.std() / 2 * rng.normal(size=len(X)), w


TRUTHS = {
    "few, little noise": few(snr=5),
    "few, as much noise as signal": few(snr=1),
    "few, highly correlated": few(snr=5, rho=0.95),
    "groups": groups,
    "groups and few": mixed,
}
METHODS = {
    "AutoIRKSN": AutoIRKSN,
    "IRKSNIC": IRKSNIC,
    "IRKSNCV": IRKSNCV,
    "LassoCV": LassoCV,
    "ElasticNetCV": ElasticNetCV,
    "OMP, by folds": OrthogonalMatchingPursuitCV,
}

# %%
# F1 of the features found
# ------------------------
# The mean of six draws; a method that finds every true feature and no other has 1.

f1 = np.zeros((len(METHODS), len(TRUTHS)))
sizes = np.zeros_like(f1)
draws = range(500, 506)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", NoSignalWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    for column, draw in enumerate(TRUTHS.values()):
        for X, y, w in map(draw, draws):
            for row, make in enumerate(METHODS.values()):
                coef = make().fit(X, y).coef_
                f1[row, column] += support_f1(w, coef) / len(draws)
                sizes[row, column] += np.count_nonzero(coef) / len(draws)

fig, ax = plt.subplots(figsize=(8.4, 4), layout="constrained")
image = ax.imshow(f1, vmin=0, vmax=1, cmap="cividis", aspect="auto")
for row, column in np.ndindex(f1.shape):
    best = f1[row, column] > f1[:, column].max() - 0.02
    words = f"{f1[row, column]:.2f}\n{sizes[row, column]:.0f} features"
    ax.text(
        column, row, words, ha="center", va="center",
        color="black" if f1[row, column] > 0.5 else "white", fontsize="small",
        weight="bold" if best else "normal",
    )  # fmt: skip
ax.set_xticks(range(len(TRUTHS)), [fill(each, 16) for each in TRUTHS])
ax.set_yticks(range(len(METHODS)), METHODS)
ax.set_title("F1 and the number of features; bold: within .02 of the best", fontsize="medium")

# %%
# What to make of it is in :doc:`/user_guide/which_method`. Six draws are few: differences below .1
# say little.
