"""
Engineer: from many channels to a small model
=============================================

A machine is watched by 400 channels, neighbours among them nearly alike. Few of them are needed to
predict its wear. Which ones, how good is the model, and what has to be shipped to the controller?
"""

# %%
# Data like those of a test bench
# -------------------------------
# Four frequencies tell of the wear. Channels are lines of a spectrum: each sees its neighbours too.

import json
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

from ksupport import AutoIRKSN

rng = np.random.default_rng(3)
spread = np.exp(-0.5 * (np.subtract.outer(np.arange(400), np.arange(400)) / 1.5) ** 2)
X = rng.normal(size=(150, 400)) @ spread + 0.2 * rng.normal(size=(150, 400))
sources = [40, 120, 210, 330]
wear = X[:, sources] @ [1.0, -0.8, 0.6, 0.9]
wear = wear + 0.4 * wear.std() * rng.normal(size=150)
X, X_later, wear, wear_later = train_test_split(X, wear, test_size=50, random_state=0)

# %%
# Which channels
# --------------
# Nothing is tuned. A dot for each channel; of each set one or more channels matter with 95 %
# probability. Where two or more hardly do (the second number is small), channels of a set could
# replace each other, and the cheapest sensor will do.

model = AutoIRKSN(predict_by="support").fit(X, wear)
print(fill(str(model.decision_), 80))

fig, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
for each in sources:
    ax.axvline(each, color="#d55e00", linewidth=6, alpha=0.25)
ax.plot(model.probability_, "o", markersize=3)
ax.set(xlabel="channel; true ones are shaded", ylabel="probability")
for each in model.sets_[:6]:
    print(f"{each.probability:.2f} {each.together:.2f}  channels {each.features}")

# %%
# How good, on later data
# -----------------------
# The promise made on the training data, and what fifty later measurements say.

print("promised:", model.performance_)
print(f"kept:     {model.score(X_later, wear_later):.2f}")

# %%
# What is shipped
# ---------------
# A linear model is a few numbers. This file and a dot product are all that a controller needs; it
# reads only the channels that were chosen (``predict_by="support"``, above, has ``predict`` do so).

chosen = model.get_support(indices=True)
shipped = json.dumps(
    {
        "channels": chosen.tolist(),
        "weights": model.coef_[chosen].round(6).tolist(),
        "offset": round(float(model.intercept_), 6),
    }
)
print(shipped)

loaded = json.loads(shipped)
on_board = X_later[:, loaded["channels"]] @ loaded["weights"] + loaded["offset"]
print("largest difference:", np.abs(on_board - model.predict(X_later)).max().round(5))

# %%
# As a step of something larger
# -----------------------------
# The same estimator selects columns in a pipeline, here before a forest, and is chosen anew on
# every fold, so that the score is honest.

forest = RandomForestRegressor(50, random_state=0)
for name, each in {
    "channels, then forest": make_pipeline(AutoIRKSN(), forest),
    "forest alone": forest,
    "linear model": AutoIRKSN(),
}.items():
    print(f"{name:22} R2 {cross_val_score(each, X, wear, cv=3).mean():.2f}")

# %%
# Where the measurements are an operator rather than a table (a blur, a tomograph), pass it as X,
# with ``IRKSN(k=...)``: :doc:`/auto_examples/plot_compressive_imaging`. Formats for deployment,
# ONNX among them, are in :doc:`/user_guide/clients`.
