"""
First steps: fit, look, ask
===========================

A hundred measurements of two thousand features, which come in blocks of ten that move together.
Three whole blocks matter. Which features are they?
"""

# %%
# Fit
# ---
# Nothing has to be chosen. A notebook shows what was found, and how.

from textwrap import fill

import matplotlib.pyplot as plt
from sklearn.linear_model import LassoCV
from sklearn.model_selection import cross_val_score

from ksupport import AutoIRKSN
from ksupport.datasets import make_block_data
from ksupport.metrics import support_f1
from ksupport.plotting import CertificateDisplay, PathDisplay, StoppingDisplay, SupportDisplay

X, y, w = make_block_data(n_samples=100, n_features=2000, random_state=0)
model = AutoIRKSN().fit(X, y)
model

# %%
# Look
# ----
# The features found, beside those of a cross-validated Lasso. Circles are the truth.

lasso = LassoCV(max_iter=5000).fit(X, y)

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
for ax, each in zip(axes, [model, lasso], strict=True):
    SupportDisplay.from_estimator(each, X, y, truth=w, ax=ax)
    ax.set_title(f"{type(each).__name__}: F1 {support_f1(w, each.coef_):.2f}")
axes[1].set_ylabel("")

# %%
# The Lasso takes a few features of each block and gives them the weight of the others, and then
# adds false ones. Blocks are where the k-support norm is at its best. On
# :doc:`words </auto_examples/plot_text>` and :doc:`pixels
# </auto_examples/plot_compressive_imaging>`, which do not come in blocks, it is behind.
#
# The path behind the model, walked beyond the step that was kept: later, the noise is fitted.

display = PathDisplay.from_estimator(model, X, y, truth=w, max_iter=1000)

# %%
# What decided where to stop: the error on folds that were held out, with its standard error.

display = StoppingDisplay.from_estimator(model, X, y)

# %%
# Ask
# ---
# How good is it? Rows that it never saw tell: about 0 would be a model of noise.

print(cross_val_score(AutoIRKSN(), X, y).round(2))

# %%
# The theory has conditions under which a method is sure to find a model. A bar that ends before 1
# is a condition that holds. Here IRKSN's does not, as is usual with noise: some of the features
# found are so weak that others could stand in for them. That says nothing against the support,
# which we know to be nearly right. :doc:`/user_guide/certificates` explains the conditions.

report = model.certify(X, y)
print(fill(report.words[0], 80))
display = CertificateDisplay.from_report(report)
