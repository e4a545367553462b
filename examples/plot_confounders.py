"""
Adjusting for age and batch
===========================

Three genes drive a response, and so do age and the laboratory, which leave their traces in all
genes. What is found without adjusting for them, and with ``unpenalized``?
"""

# %%
# 500 genes, measured on 100 people in two laboratories.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ksupport import AutoIRKSN
from ksupport.datasets import make_correlated_data
from ksupport.plotting import SupportDisplay

truth = np.zeros(500)
truth[[40, 200, 390]] = 2.0, -2.0, 1.5
X, y, w = make_correlated_data(100, 500, rho=0.5, w_true=truth, snr=3, random_state=0)

rng = np.random.default_rng(0)
age = rng.normal(50, 10, 100)
laboratory = rng.choice(["Basel", "Turin"], 100)
traces = np.outer((age - 50) / 10, rng.normal(size=500))
traces += np.outer(laboratory == "Turin", 2 * rng.normal(size=500))

people = pd.DataFrame(X + traces, columns=[f"gene {j}" for j in range(500)])
people["age"], people["laboratory"] = age, laboratory
response = y + traces @ w + 0.4 * age + 3.0 * (laboratory == "Turin")

# %%
# Without adjusting, genes are chosen because they know the age and the laboratory.

genes = people.drop(columns=["age", "laboratory"])
blind = AutoIRKSN().fit(genes, response)
print(f"{blind.support_.sum()} genes, {blind.support_[w != 0].sum()} of them true")

# %%
# Adjusted, age and laboratory are in the model whatever is chosen; text is encoded.

adjusted = AutoIRKSN(unpenalized=["age", "laboratory"]).fit(people, response)
print(list(adjusted.get_feature_names_out()))
print({name: round(value, 2) for name, value in adjusted.adjustment_.items()})

# %%
# Truth and findings, the unpenalised columns left out.

fig, axes = plt.subplots(2, 1, figsize=(8, 5), layout="constrained")
SupportDisplay.from_estimator(blind, genes, response, truth=w, ax=axes[0])
axes[0].set_title("not adjusted")
beside = np.append(w, [0.0, 0.0])
SupportDisplay.from_estimator(adjusted, people, response, truth=beside, ax=axes[1])
axes[1].set_title("adjusted for age and laboratory")
