"""The curves that show how good predictions are: ROC, calibration, Kaplan-Meier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_curve

from ..design import Floats, Ints
from .measures import Kind
from .trials import Trials

PARTS = 3  # of rows, by predicted risk
BINS = 5  # of predicted probabilities


@dataclass(frozen=True, eq=False)
class Said:
    """What was said of rows, and what they are.

    Classes are 0 and 1, and what is said of them is the probability of the second; survival has
    columns time and event, and what is said is the logarithm of the risk.
    """

    kind: Kind
    rows: Ints
    observed: Floats
    predicted: Floats
    fold: Ints  # rows of a fold were predicted by the same model
    given_weights: Floats | None = None  # how much each row counts
    held_out: bool = True

    @property
    def weights(self) -> Floats:
        """How much each row counts."""
        return np.ones(len(self.rows)) if self.given_weights is None else self.given_weights

    @classmethod
    def of(cls, trials: Trials) -> Said:
        """What was said of rows held out, in their order."""
        at = np.argsort(trials.rows, kind="stable")
        weights = None if trials.weights is None else trials.weights[at]
        return cls(
            trials.measure.kind, trials.rows[at], trials.observed[at], trials.predicted[at],
            trials.fold[at], weights,
        )  # fmt: skip


def mean_roc(said: Said) -> tuple[Floats, Floats]:
    """Share of false and of true alarms: the mean curve of the folds.

    A fold counts by its pairs of rows, one of each class, so that the area is the share of pairs of
    all folds that are in the right order.  A fold without both classes has none.
    """
    curves, pairs = [], []
    for each in np.unique(said.fold):
        here = said.fold == each
        y, p, w = said.observed[here], said.predicted[here], said.weights[here]
        if np.ptp(y):
            curves.append(roc_curve(y, p, sample_weight=w, drop_intermediate=False)[:2])
            pairs.append((w @ y) * (w @ (1 - y)))
    if not curves:
        return np.array([0.0, 1.0]), np.array([0.0, 1.0])
    across = np.unique(np.concatenate([fpr for fpr, _ in curves]))
    # Curves are upright in places: of several values at a place the first and the last count.
    first = [np.interp(-across, -fpr[::-1], tpr[::-1]) for fpr, tpr in curves]
    last = [np.interp(across, fpr, tpr) for fpr, tpr in curves]
    ends = [np.average(each, axis=0, weights=pairs) for each in (first, last)]
    return np.repeat(across, 2), np.column_stack(ends).ravel()


def calibration(said: Said, bins: int = BINS) -> tuple[Floats, Floats, Ints]:
    """Mean probability, share of the second class, and number of rows, of bins of as many rows."""
    order = np.argsort(said.predicted, kind="stable")
    parts = [part for part in np.array_split(order, bins) if part.size]
    p, y, w = said.predicted, said.observed, said.weights
    return (
        np.array([np.average(p[part], weights=w[part]) for part in parts]),
        np.array([np.average(y[part], weights=w[part]) for part in parts]),
        np.array([part.size for part in parts]),
    )


def risk_groups(said: Said, parts: int = PARTS) -> Ints:
    """Which part of its fold each row is in, by risk: 0 for the lowest."""
    groups = np.zeros(len(said.rows), np.intp)
    for each in np.unique(said.fold):
        rows = np.flatnonzero(said.fold == each)
        order = rows[np.argsort(said.predicted[rows], kind="stable")]
        for group, part in enumerate(np.array_split(order, parts)):
            groups[part] = group
    return groups


def kaplan_meier(y: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Times from 0 on, and the share that survives each of them (Kaplan and Meier 1958)."""
    w = np.ones(len(y)) if weights is None else weights
    times, place = np.unique(y[:, 0], return_inverse=True)
    at_risk = np.bincount(place, w)[::-1].cumsum()[::-1]
    surviving = np.cumprod(1.0 - np.bincount(place, w * y[:, 1]) / at_risk)
    return np.r_[0.0, times], np.r_[1.0, surviving]
