"""
Pipelines and grid searches
===========================

The estimators are scikit-learn's regressors and feature selectors, so that everything that
scikit-learn does with those works: pipelines, searches, scorers, callbacks, data frames.
"""

# %%
# A selector before another model
# -------------------------------
# ``IRKSNIC`` chooses features, and a ridge regression of their products predicts.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from ksupport import IRKSN, IRKSNCV, IRKSNIC
from ksupport.datasets import make_block_data, make_correlated_data

truth = np.zeros(200)
truth[[10, 60, 110, 160]] = [2.0, -2.0, 1.5, 1.5]
X, y, w = make_correlated_data(120, 200, rho=0.5, w_true=truth, snr=4, random_state=0)
y = y + 2 * X[:, 10] * X[:, 60]  # an effect that no linear model has

alone = IRKSNIC()
pipeline = make_pipeline(IRKSNIC(), PolynomialFeatures(2), RidgeCV(np.logspace(-3, 3, 13)))
for name, model in {"IRKSNIC alone": alone, "with products": pipeline}.items():
    print(f"{name}: R² on folds {cross_val_score(model, X, y).mean():.2f}")
pipeline.fit(X, y)

# %%
# A search over k and alpha
# -------------------------
# Blocks of ten correlated features, three of them active. The stopping rule holds out rows of each
# fold's training part, so that the folds themselves are never seen.

X, y, w = make_block_data(100, 400, random_state=0)
search = GridSearchCV(
    make_pipeline(StandardScaler(), IRKSN(stopping="held_out", random_state=0)),
    {"irksn__k": [3, 10, 30, 60, 100], "irksn__alpha": [0.001, 0.01, 0.1, 0.5]},
    scoring="r2",
)
search.fit(X, y)
print(search.best_params_, f"R² {search.best_score_:.2f}")

# %%
ks, alphas = (search.param_grid[f"irksn__{name}"] for name in ("k", "alpha"))
scores = search.cv_results_["mean_test_score"].reshape(len(alphas), len(ks))
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
image = ax.imshow(scores, cmap="cividis", aspect="auto")
for (i, j), score in np.ndenumerate(scores):
    colour = "white" if score < np.mean([scores.min(), scores.max()]) else "black"
    ax.text(j, i, f"{score:.2f}", ha="center", va="center", color=colour)
ax.set_xticks(range(len(ks)), ks)
ax.set_yticks(range(len(alphas)), alphas)
ax.set(xlabel="k", ylabel="alpha", title="R² on folds; 30 features matter")
fig.colorbar(image, ax=ax)

# %%
# The same without a search
# -------------------------
# ``IRKSNCV`` walks each path once for all stopping times, shares passes over the data between
# paths, and measures every step: more models for less work.

model = IRKSNCV(k=ks, alpha=alphas, random_state=0).fit(X, y)
print(f"{len(model.path_['t'])} models measured: k={model.k_}, alpha={model.alpha_}")
best = search.best_estimator_["irksn"]
for name, each in {"search": best, "IRKSNCV": model}.items():
    hits = int((each.support_ & (w != 0)).sum())
    print(f"{name}: {each.support_.sum()} features, {hits} of the 30 that matter")
model
