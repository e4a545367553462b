"""The real designs of the selection benchmark, with simulated responses and with real ones."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ksupport import datasets

Array = NDArray[np.float64]
Problem = tuple[Array, Array, Array]

WIDE = ("leukemia", "riboflavin", "scheetz2006", "colon", "khan")  # expressions of genes
KEPT = 1000  # columns of a wide design, the most variable ones
GROUP = 10  # a gene and the nine most correlated with it
DECAY = 0.75  # of one coefficient to the next
COMMON = 0.05  # least share of the rarer allele
SHARES = {50: (0.25, 0.75), 100: (0.25, 0.75), None: (0.1, 0.4)}  # of the variance that causes have
DRUGS = {
    "hiv_pi": ("APV", "ATV", "IDV", "LPV", "NFV", "RTV", "SQV"),
    "hiv_nnrti": ("DLV", "EFV", "NVP"),
}


def standardised(X: Array) -> Array:
    """Columns with mean 0 and variance 1; constant ones become 0."""
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


@cache
def design(name: str) -> tuple[Array, Array]:
    """The most variable columns of a real design, standardised, and its own response."""
    data = datasets.fetch_dataset(name)
    X, y = data.data, data.target
    if "data_test" in data:
        X, y = np.vstack([X, data.data_test]), np.concatenate([y, data.target_test])
    if name == "colon":  # the others come as logarithms
        X = np.log2(X)
    return standardised(_most_variable(X)), y


def _most_variable(X: Array) -> Array:
    return X[:, np.argsort(-X.var(axis=0), kind="stable")[:KEPT]]


def held_out() -> dict[str, Path]:
    """Designs of one's own, on which nothing was chosen: ``X`` in the .npz files of a folder."""
    folder = os.environ.get("KSUPPORT_DESIGNS")
    return {path.stem: path for path in sorted(Path(folder).glob("*.npz"))} if folder else {}


def real(rng: Any, name: str, sizes: str, k: int = GROUP, snr: float = 5.0) -> Problem:
    """A simulated response on a real design."""
    X, _ = design(name)
    return noisy(rng, X, TRUTHS[sizes](rng, X, k), snr)


def on_held_out(rng: Any, name: str, sizes: str, k: int, snr: float) -> Problem:
    """A simulated response on a design of one's own."""
    with np.load(held_out()[name], allow_pickle=False) as given:
        X = standardised(_most_variable(np.asarray(given["X"], float)))
    return noisy(rng, X, TRUTHS[sizes](rng, X, k), snr)


def coefficients(rng: Any, d: int, k: int, sizes: str) -> Array:
    """k scattered features, with signs alone or with Gaussian sizes."""
    w = np.zeros(d)
    where = rng.choice(d, k, replace=False)
    w[where] = rng.standard_normal(k) if sizes == "gaussian" else rng.choice([-1.0, 1.0], k)
    return w


def noisy(rng: Any, X: Array, w: Array, snr: float) -> Problem:
    """The response with ‖Xw‖/‖noise‖ = snr."""
    signal, noise = X @ w, rng.standard_normal(len(X))
    return X, signal + noise * np.linalg.norm(signal) / (snr * np.linalg.norm(noise)), w


def decaying(rng: Any, X: Array, k: int) -> Array:
    """Scattered features, each with three quarters of the coefficient before it."""
    w = coefficients(rng, X.shape[1], k, "equal")
    w[rng.permutation(np.flatnonzero(w))] *= DECAY ** np.arange(k)
    return w


def grouped(rng: Any, X: Array, k: int) -> Array:
    """A gene and the k - 1 most correlated with it, acting together: with the signs of these."""
    r = X.T @ X[:, rng.randint(X.shape[1])] / len(X)
    w = np.zeros(X.shape[1])
    group = np.argsort(-np.abs(r), kind="stable")[:k]
    w[group] = np.sign(r[group])
    return w


def mixed(rng: Any, X: Array, k: int) -> Array:
    """A group, and half as many scattered features that have as much to say as the group."""
    group = grouped(rng, X, k)
    others = np.flatnonzero(group == 0)
    scattered = np.zeros(X.shape[1])
    scattered[others] = coefficients(rng, len(others), k // 2, "equal")
    return group / np.std(X @ group) + scattered / np.std(X @ scattered)


TRUTHS = {
    "equal": lambda rng, X, k: coefficients(rng, X.shape[1], k, "equal"),
    "gaussian": lambda rng, X, k: coefficients(rng, X.shape[1], k, "gaussian"),
    "decaying": decaying,
    "grouped": grouped,
    "mixed": mixed,
}


def permuted(rng: Any, name: str) -> Problem:
    """A real design with its own response in another order: nothing is true."""
    X, y = design(name)
    return X, rng.permutation(y), np.zeros(X.shape[1])


def noise_on(rng: Any, name: str, rows: int | None = None) -> Problem:
    """Gaussian noise on a real design, or on some of its rows."""
    X = design(name)[0] if name in WIDE else datasets.fetch_dataset(name).data
    if rows is not None:
        X = X[np.sort(rng.choice(len(X), rows, replace=False))]
    X = X if name in WIDE else informative(X)[0]
    return X, rng.standard_normal(len(X)), np.zeros(X.shape[1])


def hiv(rng: Any, name: str, drug: str, rows: int | None = None) -> Problem:
    """Resistance (log) to a drug from mutations; true are those known to be selected by treatment.

    Parameters
    ----------
    rows : int, optional
        Isolates to draw from those that were measured; by default all of them.
    """
    data = datasets.fetch_dataset(name)
    y = data.target[:, data.target_names.index(drug)]
    measured = np.flatnonzero(np.isfinite(y))
    if rows is not None:
        measured = np.sort(rng.choice(measured, rows, replace=False))
    X, groups = informative(data.data[measured])
    truth = np.bincount(groups[groups >= 0], data.truth[groups >= 0], X.shape[1]) > 0
    return X, np.log(y[measured]), truth.astype(float)


def informative(X: Array, least: int = 3) -> tuple[Array, NDArray[np.intp]]:
    """Columns with at least so many ones and zeros, one of equal columns; and where each went.

    A column that went nowhere has -1.
    """
    ones = X.sum(axis=0)
    kept = np.flatnonzero((ones >= least) & (ones <= len(X) - least))
    _, first, group = np.unique(X[:, kept], axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)  # as they stand in X
    where = np.full(X.shape[1], -1)
    where[kept] = np.argsort(order)[group.ravel()]
    return X[:, kept[first[order]]], where


def spike_in(rng: Any, profile: int) -> Problem:
    """Concentrations of one profile; true are its three probe sets."""
    data = datasets.fetch_spike_in_u133()
    return data.data, data.target[:, profile], data.truth[profile].astype(float)


def genotypes(rng: Any, trait: int) -> Problem:
    """One of the two traits that were simulated on linked genotypes."""
    data = datasets.fetch_finemapping_n3()
    return data.data, data.target[:, trait], data.true_coef[:, trait]


def linked(rng: Any, causes: int, rows: int | None) -> Problem:
    """A trait with one to so many causes, on some of the linked genotypes.

    Effects are normal for variants of equal variance; variants are common among the rows drawn.
    """
    X = np.asarray(datasets.fetch_finemapping_n3().data, float)
    X = np.round(X - X.min(axis=0))  # they come centred: 0, 1 and 2 alleles again
    if rows is not None:
        X = X[np.sort(rng.choice(len(X), rows, replace=False))]
    share = X.mean(axis=0) / 2
    X = X[:, (np.minimum(share, 1 - share) >= COMMON) & (X.std(axis=0) > 0)]
    w = coefficients(rng, X.shape[1], rng.randint(1, causes + 1), "gaussian") / X.std(axis=0)
    explained = rng.uniform(*SHARES[rows])
    X = X - X.mean(axis=0)
    return noisy(rng, X, w, np.sqrt(explained / (1 - explained)))
