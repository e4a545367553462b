"""
Knockoffs: a limit on the share of false discoveries
====================================================

A knockoff is a feature made up to be correlated with the others as the real one is, and to have
nothing to do with the response. If a model gives a feature more weight than its knockoff, that
counts for the feature, and the share of false ones among those chosen can be limited. hidimstat
makes the knockoffs, and takes the coefficients of any model here as they are.

This page needs ``pip install 'ksupport[fmri]'``, which brings hidimstat.
"""

# %%
# Twelve of eighty features matter. We ask for at most a fifth of false ones, in the mean, and look
# at ten draws.

import matplotlib.pyplot as plt
import numpy as np
from hidimstat import ModelXKnockoff
from sklearn.linear_model import LassoCV

from ksupport import IRKSN
from ksupport.datasets import make_correlated_data

FDR, DRAWS = 0.2, 10
models = {
    "IRKSN": IRKSN(k=20, alpha=0.1, standardize=True, stopping="held_out"),
    "LassoCV": LassoCV(cv=3, alphas=30, max_iter=20_000),
}


def draw(seed):
    rng = np.random.default_rng(seed)
    truth = np.zeros(80)
    truth[rng.choice(80, 12, replace=False)] = rng.choice([-1, 1], 12)
    return make_correlated_data(200, 80, rho=0.4, w_true=truth, snr=1, random_state=seed)


false = {name: [] for name in models}
found = {name: [] for name in models}
for seed in range(DRAWS):
    X, y, w = draw(seed)
    for name, model in models.items():
        knockoffs = ModelXKnockoff(
            estimator=model, preconfigure_lasso_path=False, random_state=seed
        )
        knockoffs.fit_importance(X, y)
        chosen = knockoffs.fdr_selection(fdr=FDR) != 0
        false[name].append((chosen & (w == 0)).sum() / max(chosen.sum(), 1))
        found[name].append(chosen[w != 0].mean())

# %%
# The limit is on the mean over draws; a single draw may be above it.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
rng = np.random.default_rng(0)
for ax, shares in zip(axes, [false, found], strict=True):
    for i, values in enumerate(shares.values()):
        ax.plot(values, i + rng.uniform(-0.15, 0.15, DRAWS), "o", alpha=0.6, clip_on=False)
        ax.plot(np.mean(values), i, "k|", markersize=26)
    ax.set(xlim=(0, 1), ylim=(-0.5, 1.5))
axes[0].axvline(FDR, color="#D55E00", linestyle="--")
axes[0].set_title(f"false among those chosen; asked for at most {FDR:.0%}", fontsize="medium")
axes[1].set_title("found of those that matter", fontsize="medium")
axes[0].set_yticks(range(len(models)), models)
for name in models:
    print(f"{name}: {np.mean(false[name]):.0%} false, {np.mean(found[name]):.0%} found, on average")

# %%
# Ten draws are few: a mean above the limit is no contradiction. With as much noise as signal, the
# statistic of the Lasso finds more here, and more false ones. At ``snr=2``, twice the signal,
# both find everything.
