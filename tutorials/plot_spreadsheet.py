"""
Biologist: a spreadsheet as it comes
====================================

Tumour or normal, as text; patients with names, ages and sexes; here and there a value that is
missing; and all of it in an Excel file. Three commands lead from there to the genes, a report, and
the paragraph for the paper.

The data: 40 tumours and 22 normal tissues of the colon, 2000 genes (Alon et al. 1999). Ages and
sexes of the patients were not published: those on this page are drawn at random, and one value in
two hundred is taken away. Without the data and without a network this page shows simulated genes.
"""

# %%
# The spreadsheet
# ---------------

import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd

import ksupport
from ksupport.datasets import DatasetUnavailableError, fetch_colon, make_block_data
from ksupport.plotting import HeatmapDisplay, ProbabilityDisplay, RocDisplay

try:
    X, y = fetch_colon(as_frame=True, return_X_y=True)
    tissue = np.where(np.asarray(y) > 0, "tumour", "normal")
except DatasetUnavailableError:
    print("The data are not on this machine. Instead a made example: genes in blocks of ten.")
    X, eta, _ = make_block_data(62, 500, n_active_blocks=2, random_state=0)
    X = pd.DataFrame(X, columns=[f"gene{j}" for j in range(500)])
    tissue = np.where(eta > np.quantile(eta, 0.35), "tumour", "normal")

rng = np.random.default_rng(0)
X = X.mask(rng.random(X.shape) < 0.005)
about = pd.DataFrame(
    {
        "patient": [f"P{i:02d}" for i in range(len(X))],
        "tissue": tissue,
        "age": rng.normal(60, 10, len(X)).round(),
        "sex": rng.choice(["f", "m"], len(X)),
    }
)
folder = Path(tempfile.mkdtemp())
sheet = pd.concat([about, X.reset_index(drop=True)], axis=1)
sheet.to_excel(folder / "colon.xlsx", index=False)
sheet.iloc[:4, :8]

# %%
# First: what is understood?
# --------------------------
# ``--dry-run`` reads the file, says what it takes each column for, and stops. Were something taken
# for what it is not, the flag that corrects it is named.


def run(command):
    print(fill(f"$ {command}", 78, subsequent_indent="    ", break_on_hyphens=False), "\n")
    words = [sys.executable, "-m", "ksupport.cli", *command.split()[1:]]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    print(done.stdout)


options = "--target tissue --id patient --adjust-for age --adjust-for sex --missing impute"
run(f"ksupport fit colon.xlsx {options} --dry-run")

# %%
# Second: the genes
# -----------------
# The same line without ``--dry-run``, and with the names of files to write. What comes back is in
# the order of the questions: is there anything here, which genes, would other methods do better,
# what next. ``colon.html`` is the report, with its pictures to save for a paper.

run(f"ksupport fit colon.xlsx {options} --report colon.html --methods methods.txt --output m.json")

# %%
# The paragraph for the paper, with the references that it cites:

for line in (folder / "methods.txt").read_text().splitlines():
    print(fill(line, 78))

# %%
# Third: patients that arrive next month
# --------------------------------------
# They need the same columns; values may be missing here as well.

sheet.drop(columns="tissue")[:5].to_excel(folder / "new.xlsx", index=False)
run("ksupport predict m.json new.xlsx")

# %%
# The same pictures in a notebook
# -------------------------------
# ``ksupport.read`` reads files as the command does, and every picture of the report is a display.

data = ksupport.read(
    folder / "colon.xlsx", "tissue", id="patient", adjust_for=["age", "sex"], missing="impute"
)
model = ksupport.AutoIRKSNClassifier(unpenalized=data.unpenalized).fit(data.X, data.y)
picture = ProbabilityDisplay.from_estimator(model, data.X, data.y, names=data.feature_names)

# %%
# How well held-out rows are distinguished:

picture = RocDisplay.from_estimator(model, data.X, data.y)

# %%
# And the chosen genes of all patients, normal tissue on the left, tumours on the right:

picture = HeatmapDisplay.from_estimator(model, data.X, data.y, names=data.feature_names)
