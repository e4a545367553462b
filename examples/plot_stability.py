"""
Stability selection: which features come back?
==============================================

A model fitted once shows one choice. Fitted on many random halves of the rows, it shows which of
its choices the data insist on, with a bound on the number of false ones that assumes nothing.
"""

# %%
# Ten features matter, any ten, and neighbours are correlated.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV

from ksupport import IRKSNIC, stability_selection
from ksupport.datasets import make_correlated_data

rng = np.random.default_rng(1)
truth = np.zeros(300)
truth[rng.choice(300, 10, replace=False)] = rng.uniform(0.4, 2.0, 10) * rng.choice([-1, 1], 10)
X, y, w = make_correlated_data(150, 300, rho=0.6, w_true=truth, snr=3, random_state=0)

result = stability_selection(IRKSNIC(max_iter=300), X, y, n_pairs=20, random_state=0)
result

# %%
# How often each feature was chosen, for the model above and for a cross-validated Lasso, which
# takes many features to predict well.

rival = LassoCV(cv=3, alphas=30, max_iter=3000)
lasso = stability_selection(rival, X, y, n_pairs=10, random_state=0)

fig, axes = plt.subplots(2, 1, figsize=(7.5, 5), sharex=True, layout="constrained")
for ax, each, name in zip(axes, [result, lasso], ["IRKSNIC", "LassoCV"], strict=True):
    false = np.flatnonzero(w == 0)
    true = np.flatnonzero(w)
    ax.vlines(false, 0, each.frequency[false], color="#999999", label="false")
    ax.vlines(true, 0, each.frequency[true], color="#0072B2", linewidth=2)
    ax.plot(true, each.frequency[true], "o", color="#0072B2", label="true")
    ax.axhline(each.threshold, color="black", linestyle=":", linewidth=1)
    hits, size = int(each.support[true].sum()), int(each.support.sum())
    ax.set_title(
        f"{name}: {size} stable, {hits} of them true; at most {each.error_bound:.2g} unlikely ones",
        fontsize="medium",
    )
    ax.set(ylabel="share of half-samples", ylim=(0, 1.05))
axes[0].legend(frameon=False, loc="upper right", fontsize="small")
axes[1].set_xlabel("feature")

# %%
# The Lasso's stable features are true as well, and may be one more. But it chooses so many on each
# half that the bound, which grows with the square of their number, allows for many unlikely ones.
# What is missed are the weak features:

for j in true:
    stable = "stable" if result.support[j] else ""
    print(f"x{j:<4} coefficient {w[j]:5.2f}, chosen on {result.frequency[j]:4.0%}  {stable}")
