"""
Biologist: from a file to a paper
=================================

You have a spreadsheet of gene expression, a number for each sample, and no wish to program. Two
commands find the genes and write a report; a few lines of Python make the figure and the
paragraph for the paper.

The data: 71 cultures of *Bacillus subtilis*, 4088 genes, and the logarithm of the rate at which
vitamin B2 is made (Bühlmann, Kalisch and Meier 2014). Without them and without a network this
page shows simulated genes.
"""

# %%
# The file
# --------
# One row for each sample, one column for each gene, and a column with what is to be explained. The
# last ten samples stay in a file of their own: they play those that arrive next month.

import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import fill, shorten

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import ksupport
from ksupport import AutoIRKSN
from ksupport.datasets import DatasetUnavailableError, fetch_riboflavin, make_block_data

try:
    X, y = fetch_riboflavin(as_frame=True, return_X_y=True)
except DatasetUnavailableError:
    print("The data are not on this machine. Simulated genes instead, in blocks of ten.")
    X, y, _ = make_block_data(71, 1000, n_active_blocks=2, random_state=0)
    X = pd.DataFrame(X, columns=[f"gene{j}" for j in range(1000)])

folder = Path(tempfile.mkdtemp())
table = X.assign(rate=np.asarray(y)).sample(frac=1, random_state=0)
table[:-10].to_csv(folder / "samples.csv", index=False)
table[-10:].drop(columns="rate").to_csv(folder / "new.csv", index=False)
table.iloc[:3, [0, 1, 2, -2, -1]]

# %%
# Two commands
# ------------
# What you would type stands after the dollar sign. The first command finds the genes, says how well
# new samples would be predicted, and writes ``page.html``, a page to look at and to send around.


def run(command):
    print(f"$ {command}\n")
    words = [sys.executable, "-m", "ksupport.cli", *command.split()[1:]]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    print(done.stdout)


run("ksupport fit samples.csv --target rate --stability 0 --output model.json --report page.html")

# %%
# The second predicts samples whose rate is not known yet.

run("ksupport predict model.json new.csv --output predicted.csv")

predicted = pd.read_csv(folder / "predicted.csv").iloc[:, -1]
r = np.corrcoef(predicted, table["rate"][-10:])[0, 1]
print(f"correlation with the ten rates that were kept back: {r:.2f}")

# %%
# The figure
# ----------
# The same fit in Python. Every gene has a probability, which matters more than the size of its
# coefficient: the genes to follow up are those at the top.

genes = table.columns[:-1]
model = AutoIRKSN().fit(table[genes][:-10], table["rate"][:-10])
found = pd.DataFrame(
    {"probability": model.probability_, "effect": model.coef_ * table[genes][:-10].std()},
    index=genes,
)
found = found[model.support_].sort_values("probability", ascending=False)
found.round(2).head(10)

# %%
shown = found.head(25)[::-1]
fig, ax = plt.subplots(figsize=(7, 5.4), layout="constrained")
colours = np.where(shown["effect"] > 0, "#0072b2", "#d55e00")
ax.barh(shown.index, shown["probability"], color=colours)
ax.set(xlabel="probability that the gene belongs to the model", xlim=(0, 1))
ax.set_title("blue: more expression, higher rate; orange: lower rate", fontsize="medium")
ax.tick_params(axis="y", labelsize="small")

# %%
# Genes that stand in for each other
# ----------------------------------
# Where two genes go together closely, data cannot tell which one matters. Such genes form a set,
# one or more of which matter with 95 % probability: report the set, and let the next experiment
# decide. ``together`` is the probability that two or more of them matter.

sets = [each for each in model.sets_ if len(each.features) > 1]
print(f"{len(sets)} sets of several genes")
for each in sets[:5]:
    names = shorten(", ".join(genes[list(each.features)]), 50)
    print(f"{each.probability:.2f} (two or more: {each.together:.2f})  {names}")

# %%
# The paragraph
# -------------
# What a reader needs to know to judge and to repeat it. If ``signal_`` were False, the honest
# paragraph would be one sentence: no effect could be distinguished from noise.

sure = (found["probability"] > 0.9).sum()
paragraph = (
    f"Genes associated with the rate were sought among {len(genes)} genes in {len(table) - 10} "
    f"samples with ksupport {ksupport.__version__} (AutoIRKSN, default settings), which gives "
    "every gene a posterior probability, by sampling linear models of genes and of clusters of "
    "correlated genes. In a permutation test of any association p was "
    f"{model.p_value_:.2f}. On samples held out on five folds {model.performance_.score:.0%} of "
    f"the variation (standard error {model.performance_.standard_error:.0%}) was explained. "
    f"{len(found)} genes were chosen (expected F1 {model.expected_f1_:.2f}), of which {sure} had a "
    "probability above 0.9. Association is not causation, and genes that were not measured "
    "cannot be found."
)
print(fill(paragraph, 80))

# %%
# Before it is submitted: repeat the choice on half-samples (leave out ``--stability 0``, which
# saves time here), read :doc:`/user_guide/choosing` on what the probabilities do not promise, and
# cite the method.
