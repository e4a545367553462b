"""
Statistician: are the probabilities right?
==========================================

``AutoIRKSN`` says of each feature how probable it is that it belongs to the model. Such a number
can be checked: of all features that are given a probability of about .7, seven in ten should be
true. Here it is checked, on draws of designs that this page makes up, together with what is said
of noise. Swap in a design of your own: ``X`` as it is, and responses that you make.
"""

# %%
# Draws with a known truth
# ------------------------
# Half of the designs are autoregressive, with six true features anywhere; the other half have
# blocks of correlated features, of which two whole ones matter.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from ksupport import AutoIRKSN, NoSignalWarning, stability_selection
from ksupport.datasets import make_block_data, make_correlated_data
from ksupport.metrics import support_f1


def scattered(seed):
    return make_correlated_data(80, 150, rho=0.7, density=6 / 150, snr=3, random_state=seed)


def blocks(seed):
    return make_block_data(80, 150, n_active_blocks=2, random_state=seed)


kinds = {"few, scattered": scattered, "blocks": blocks}
said = {kind: [] for kind in kinds}
for kind, draw in kinds.items():
    for seed in range(1000, 1020):
        X, y, w = draw(seed)
        model = AutoIRKSN().fit(X, y)
        f1 = support_f1(w, model.coef_)
        said[kind].append((model.probability_, w != 0, model.expected_f1_, f1))

# %%
# Reliability
# -----------
# Features by the probability that they were given, and the share of them that is true. On the
# dotted line the words would be exact. Bins of fewer than 20 features are left out; bars are two
# standard errors.


def reliability(ax, p, true, label, bins=8):
    edges = np.linspace(0, 1, bins + 1)
    at = np.clip(np.digitize(p, edges) - 1, 0, bins - 1)
    size = np.bincount(at, minlength=bins)
    full = size >= 20
    mean = np.bincount(at, p, bins)[full] / size[full]
    share = np.bincount(at, true, bins)[full] / size[full]
    bar = 2 * np.sqrt(share * (1 - share) / size[full])
    ax.errorbar(mean, share, bar, fmt="o-", capsize=3, label=f"{label}: {len(p)} features")


fig, ax = plt.subplots(figsize=(5.2, 5), layout="constrained")
for kind, rows in said.items():
    reliability(
        ax, np.concatenate([p for p, *_ in rows]), np.concatenate([t for _, t, *_ in rows]), kind
    )
ax.plot([0, 1], [0, 1], "k:", linewidth=1)
ax.set(xlabel="probability that was given", ylabel="share that is true", xlim=(0, 1), ylim=(0, 1))
legend = ax.legend()

# %%
# The expected F1 can be checked in the same way:

for kind, rows in said.items():
    _, _, expected, reached = zip(*rows, strict=True)
    print(f"{kind:15} expected F1 {np.mean(expected):.2f}, reached {np.mean(reached):.2f}")

# %%
# Noise
# -----
# The same designs, with responses that have nothing to do with them.

rng = np.random.default_rng(0)
found = 0
with warnings.catch_warnings():
    warnings.simplefilter("ignore", NoSignalWarning)
    for seed in range(20):
        X = kinds["blocks" if seed % 2 else "few, scattered"](2000 + seed)[0]
        found += AutoIRKSN().fit(X, rng.normal(size=len(X))).signal_
print(f"features were reported on {found} of 20 data sets of noise")

# %%
# The posterior itself
# --------------------
# Every answer is an event of one posterior. ``posterior_`` has the models that were sampled, the
# most probable first, and what each counts; and it gives the probability of any statement.

X, y, w = scattered(1000)
model = AutoIRKSN().fit(X, y)
print("true:", np.flatnonzero(w))
posterior = model.posterior_
for support, weight in list(zip(posterior.supports, posterior.weights, strict=True))[:6]:
    print(f"{weight:.3f}  {support}")
print(f"at most six features: {posterior.prob(lambda support: len(support) <= 6):.2f}")
print(f"largest difference of chains: {posterior.max_chain_difference:.2f}")
print(f"p-value by permutations: {model.p_value_:.2f}")

# %%
# Another way
# -----------
# Half-samples ask another question, what would be chosen again on fewer rows, and come with a bound
# on false choices that needs no model. They are stricter, having half of the rows.

halves = stability_selection(AutoIRKSN(), X, y, n_pairs=10, random_state=0)
fig, ax = plt.subplots(figsize=(5.2, 4), layout="constrained")
for true, colour, label in ((w != 0, "#d55e00", "true"), (w == 0, "0.6", "others")):
    ax.plot(model.probability_[true], halves.frequency[true], "o", color=colour, label=label)
ax.set(xlabel="probability, from all rows", ylabel="share of half-samples that choose it")
legend = ax.legend()
