"""
Words: a sparse X
=================

Texts as counts of words make an X with thousands of columns that are almost all zero. It stays
sparse here, also while it is centred. The texts are the docstrings of SciPy's functions, which are
on this machine already, and the question is a real one: from the words alone, how many arguments
does a function take?
"""

# %%
# From docstrings to a sparse matrix
# ----------------------------------

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LassoCV
from sklearn.model_selection import train_test_split

from ksupport import IRKSNCV

parts = "cluster.hierarchy fft integrate interpolate linalg ndimage optimize signal sparse stats"
functions = {}
for part in parts.split():
    module = importlib.import_module(f"scipy.{part}")
    for name in module.__all__:
        function = getattr(module, name)
        if inspect.isfunction(function) and len(function.__doc__ or "") > 200:
            functions[function] = len(inspect.signature(function).parameters)

texts = [function.__doc__ for function in functions]
y = np.log(1 + np.array(list(functions.values())))
counts = TfidfVectorizer(min_df=5, sublinear_tf=True, token_pattern="[a-z]{3,}")
X = counts.fit_transform(texts)
words = counts.get_feature_names_out()
print(f"{X.shape[0]} texts, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} of X is not zero")

# %%
# Which words?
# ------------
# A quarter of the functions is held back. Columns are left as the weighting of words made them.

train, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=0)
model = IRKSNCV(k=[10, 30, 100], standardize=False, max_iter=400, random_state=0)
lasso = LassoCV(max_iter=5000)
for each in (model, lasso):
    each.fit(X[train], y[train])
    print(
        f"{type(each).__name__}: {np.count_nonzero(each.coef_)} words explain "
        f"{each.score(X[test], y[test]):.0%} of the variance among functions held back"
    )

# %%
# The words with the largest weights, to the right those that speak for many arguments.

top = np.argsort(-np.abs(model.coef_))[:24]
top = top[np.argsort(model.coef_[top])]
fig, ax = plt.subplots(figsize=(6.4, 5.6), layout="constrained")
for coef, height, label in ((model.coef_, 0.0, "IRKSNCV"), (lasso.coef_, 0.35, "LassoCV")):
    ax.barh(np.arange(len(top)) - height, coef[top], height=0.35, label=label)
ax.axvline(0, color="black", linewidth=0.6)
ax.set_yticks(np.arange(len(top)) - 0.17, words[top])
ax.set_xlabel("coefficient")
ax.legend(frameon=False, loc="lower right")

# %%
# The Lasso predicts a little better here. Words are scattered features: no group of them has to
# enter as a whole, and what the k-support norm is good at is not asked for.
