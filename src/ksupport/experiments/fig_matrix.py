"""Beyond the paper: matrices of low rank from few measurements, k against the nuclear norm.

With k = 1 the spectral k-support norm is the nuclear norm, so that both are walks of one method.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..algorithms import MatrixIRKSN, path
from .experiment import Cell, Experiment, Protocol, Row
from .figures import curve, drawing
from .files import grouped, where

SIDE, RANK = 10, 3
ALPHA, STEPS = 0.02, 600
KINDS = ("sensing", "completion")  # normal measurements, or entries
SPECTRA = {"equal": (1.0, 1.0, 1.0), "unequal": (4.0, 2.0, 1.0)}  # singular values
COUNTS = (55, 65, 75, 85)  # of the 100 entries; the matrix has 51 degrees of freedom
LEVELS = (1, 2, 3)
KEYS = ("kind", "spectrum", "n", "k")
DRAWS, QUICK_DRAWS, QUICK_STEPS = 5, 1, 50


def cells(protocol: Protocol, quick: bool) -> list[Cell]:
    """Every kind of measurement, spectrum, and number of measurements."""
    steps = QUICK_STEPS if quick else STEPS
    return [
        {"kind": kind, "spectrum": spectrum, "n": n, "seed": seed, "steps": steps}
        for kind in KINDS
        for spectrum in SPECTRA
        for n in COUNTS
        for seed in range(QUICK_DRAWS if quick else DRAWS)
    ]


def compute(kind: str, spectrum: str, n: int, seed: int, steps: int) -> list[Row]:
    """The relative error at the end of the walk for each k."""
    rng = np.random.default_rng([seed, n])
    U, V = (np.linalg.qr(rng.standard_normal((SIDE, RANK)))[0] for _ in range(2))
    W = (U * SPECTRA[spectrum]) @ V.T
    if kind == "sensing":
        X = rng.standard_normal((n, SIDE**2))
    else:
        X = np.eye(SIDE**2)[rng.choice(SIDE**2, n, replace=False)]
    y = X @ W.ravel()
    rows = []
    for k in LEVELS:
        method = MatrixIRKSN(shape=W.shape, k=k, alpha=ALPHA)
        found = path(method, X, y, max_iter=steps, every=steps, keep="last").coef
        error = float(np.linalg.norm(found - W.ravel()) / np.linalg.norm(W))
        rows.append({"kind": kind, "spectrum": spectrum, "n": n, "k": k, "error": error})
    return rows


def table(rows: list[Row]) -> list[Row]:
    """Median errors, and how many were below one per cent."""
    lines = []
    for key, group in grouped(rows, *KEYS).items():
        errors = np.array([row["error"] for row in group])
        line = dict(zip(KEYS, key, strict=True)) | {"error_median": float(np.median(errors))}
        lines.append({**line, "recovered": int(np.sum(errors < 0.01)), "draws": len(errors)})
    return lines


def plot(rows: list[Row], folder: Path) -> None:
    """Median errors against the number of measurements."""
    lines = table(rows)
    draws = lines[0]["draws"]
    panels = [(kind, spectrum) for kind in KINDS for spectrum in SPECTRA]
    shape = {"ncols": len(panels), "sharey": True}
    with drawing(folder, "fig-matrix", figsize=(11, 3.2), **shape) as (_, axes):
        for ax, (kind, spectrum) in zip(axes, panels, strict=True):
            for k, colour in zip(LEVELS, ("black", "#0072B2", "#D55E00"), strict=True):
                mine = where(lines, kind=kind, spectrum=spectrum, k=k)
                label = f"k = {k}" + (" (nuclear norm)" if k == 1 else "")
                style = {"color": colour, "markersize": 4, "label": label}
                curve(ax, mine, "n", "error_median", "o-", **style)
            ax.set(yscale="log", xlabel="measurements", title=f"{kind}, {spectrum} spectrum")
        axes[0].set_ylabel(f"relative error at the end of the walk,\nmedian of {draws} draws")
        axes[0].legend()


EXPERIMENTS = (
    Experiment(
        name="fig-matrix",
        title="beyond the paper: matrices of rank 3, the spectral k-support norm",
        version=1,
        cells=cells,
        compute=compute,
        table=table,
        plot=plot,
    ),
)
