"""The constants of the automatic choice, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """What `AutoIRKSN` decides by.

    Settled on draws of the settings in ``benchmarks/selection_designs.py`` other than those that
    ``make bench-selection`` reports (docs/benchmarks.rst).
    """

    alpha: float = 1e-2  # of paths whose supports are refitted; larger grids were not better
    fold_alpha: float = 1e-1  # of paths on folds
    steps: int = 60  # of them
    every: int = 2  # steps between their records
    patience: int = 5  # records without a better error that end a path on a fold
    early: int = 6  # steps in which whole groups of features come in
    clearly: float = 2.0  # standard errors by which EBIC's supports must not predict worse
    doubted: float = 1.0  # the same where they differ from fold to fold
    agree: float = 0.7  # share of features in common at which EBIC's choices count as the same
    near: float = 1.5  # standard errors by which an earlier iterate may predict worse than the best
    ridges: tuple[float, ...] = (0.1, 0.3, 1.0)  # penalties of the refit on groups, shares of n
    fewest: int = 10  # samples below which nothing is held out


POLICY = Policy()
