"""
Example 1: where only IRKSN recovers
====================================

The paper's first example has four measurements of five features. Three of them are true, and the
other two are combinations of these, such that every method based on the l1 norm prefers them.
There is no noise: a method finds the truth in the end, or it does not.
"""

# %%
# Six paths
# ---------
# The true features are in colour, and their true values are the dashed lines.

import matplotlib.pyplot as plt
import numpy as np

from ksupport import METHODS, path
from ksupport.datasets import make_example1
from ksupport.plotting import PathDisplay
from ksupport.theory import recovery_report

X, y, w = make_example1()
settings = {
    "irksn": {"k": 3, "alpha": 0.05, "max_iter": 5000},
    "lasso": {"max_iter": 100},
    "enet": {"max_iter": 100, "l1_ratio": 0.8},
    "iht": {"k": 3, "max_iter": 5000},
    "srdi": {"max_iter": 5000},
    "omp": {"max_iter": 4},
}
results = {name: path(name, X, y, **each) for name, each in settings.items()}

fig, axes = plt.subplots(2, 3, figsize=(10, 5.6), sharey=True, layout="constrained")
for ax, (name, result) in zip(axes.flat, results.items(), strict=True):
    display = PathDisplay.from_result(result, truth=w, ax=ax)
    for value in np.unique(w[w != 0]):
        ax.axhline(value, color="black", linestyle="--", linewidth=0.7)
    ax.get_legend().remove()
    ax.set(title=METHODS[name].title, ylim=(-4.6, 2.2), ylabel="")
    ax.set_xlabel({"lasso": "penalty, falling", "enet": "penalty, falling"}.get(name, "step"))
fig.legend(display.lines_[:3], ["x0", "x1", "x2"], loc="outside right upper", frameon=False)

# %%
# How near does each come, at its best step?

for name, result in results.items():
    distance = np.linalg.norm(result.iterates.toarray() - w, axis=1)
    best = distance.argmin()
    support = np.flatnonzero(result.iterates[[best]].toarray()[0])
    print(f"{METHODS[name].title:<11} {distance[best]:8.1e} from the truth, features {support}")

# %%
# Why
# ---
# The theory says it beforehand: of all sufficient conditions only IRKSN's is met.

for row in recovery_report(X, w, y).methods:
    print(f"{row.method:<11} {row.status}")

# %%
# Such problems are rare among random ones: :doc:`/user_guide/certificates` counts them.
