"""The numbers behind figures: ROC, calibration, Kaplan-Meier, heat map."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import CensoredData, chi2, ecdf
from sklearn.metrics import roc_curve

from ..design import Design, Floats, Ints
from ..losses import Loss
from .cross_validation import CrossValidation, Kind, metric_for

RISK_GROUPS = 3  # of rows, by predicted risk
CALIBRATION_BINS = 5  # of predicted probabilities


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of rows, and what was observed.

    Classes are 0 and 1, predicted by the probability of the second; survival has columns time and
    event, predicted by the logarithm of the risk.
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
    def of(cls, validation: CrossValidation) -> Predictions:
        """Those of held-out rows, in their order."""
        at = np.argsort(validation.rows, kind="stable")
        weights = None if validation.weights is None else validation.weights[at]
        return cls(
            validation.metric.kind, validation.rows[at], validation.observed[at],
            validation.predicted[at], validation.fold[at], weights,
        )  # fmt: skip


def mean_roc(predictions: Predictions) -> tuple[Floats, Floats]:
    """Share of false and of true alarms: the mean curve of the folds.

    A fold counts by its pairs of rows, one of each class, so that the area is the share of pairs of
    all folds that are in the right order.  A fold without both classes has none.
    """
    curves, pairs = [], []
    for each in np.unique(predictions.fold):
        here = predictions.fold == each
        y, p, w = predictions.observed[here], predictions.predicted[here], predictions.weights[here]
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


def calibration(
    predictions: Predictions, bins: int = CALIBRATION_BINS
) -> tuple[Floats, Floats, Ints]:
    """Mean probability, share of the second class, and number of rows, of bins of as many rows."""
    order = np.argsort(predictions.predicted, kind="stable")
    parts = [part for part in np.array_split(order, bins) if part.size]
    p, y, w = predictions.predicted, predictions.observed, predictions.weights
    return (
        np.array([np.average(p[part], weights=w[part]) for part in parts]),
        np.array([np.average(y[part], weights=w[part]) for part in parts]),
        np.array([part.size for part in parts]),
    )


def risk_groups(predictions: Predictions, parts: int = RISK_GROUPS) -> Ints:
    """Which part of its fold each row is in, by risk: 0 for the lowest."""
    groups = np.zeros(len(predictions.rows), np.intp)
    for each in np.unique(predictions.fold):
        rows = np.flatnonzero(predictions.fold == each)
        order = rows[np.argsort(predictions.predicted[rows], kind="stable")]
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


def survival_interval(y: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Ends of the interval of `kaplan_meier` at its times (Greenwood, on the log-log scale)."""
    estimate = ecdf(CensoredData.right_censored(y[:, 0], y[:, 1] == 0)).sf
    with warnings.catch_warnings():  # where all survive, or none, the interval is a point
        warnings.simplefilter("ignore", RuntimeWarning)
        interval = estimate.confidence_interval(level, method="log-log")
    ends = [interval.low.probabilities, interval.high.probabilities]
    lower, upper = (np.where(np.isnan(end), estimate.probabilities, end) for end in ends)
    return np.r_[1.0, lower], np.r_[1.0, upper]


def log_rank(y: Floats, groups: Ints) -> float:
    """p-value of the log-rank test that the groups have the same survival (Mantel 1966)."""
    labels = np.unique(groups)
    size = len(labels) - 1
    score, variance = np.zeros(size), np.zeros((size, size))
    for t in np.unique(y[y[:, 1] > 0, 0]):
        at_risk = np.array([((y[:, 0] >= t) & (groups == each)).sum() for each in labels[:size]])
        now = (y[:, 0] == t) & (y[:, 1] > 0)
        n, d = float((y[:, 0] >= t).sum()), float(now.sum())
        share = at_risk / n
        score += [float((now & (groups == each)).sum()) for each in labels[:size]] - d * share
        if n > 1:
            factor = d * (n - d) / (n - 1)
            variance += factor * (np.diag(share) - np.outer(share, share))
    statistic = float(score @ np.linalg.pinv(variance) @ score)
    return float(chi2.sf(statistic, max(size, 1)))


DRAWN = 30  # features
HEAT_RANGE = 2.5  # standard deviations beyond which colours do not change


@dataclass(frozen=True, eq=False)
class Heat:
    """Standardised features of rows."""

    kind: Kind
    features: Ints
    rows: Ints
    values: Floats  # features x rows, in standard deviations from the mean
    response: Floats  # of the rows: the number, the class (0 or 1), or the time
    event: Floats  # whether an event was seen then; ones, where that is not asked


def heat_of(
    loss: Loss, X: Any, y: Floats, eta: Floats, effects: Floats, order: Sequence[int]
) -> Heat:
    """The first features of an order, those that raise the response on top.

    Rows go from the least response to the largest; those of a class by what is predicted of them.
    """
    kind = metric_for(loss).kind
    response, event = y.T if kind == "survival" else (y, np.ones(len(y)))
    features = np.array(sorted(order[:DRAWN], key=lambda j: effects[j] < 0), np.intp)
    rows = np.lexsort((eta, response))
    design = Design.of(X).centred(standardize=True)
    columns = design.columns(features)
    spread = np.maximum(columns.std(axis=1, keepdims=True), np.finfo(float).tiny)
    return Heat(kind, features, rows, (columns / spread)[:, rows], response[rows], event[rows])


def fewer(heat: Heat, most: int) -> tuple[Floats, Floats, Floats]:
    """Values, response and events; of more rows than can be drawn, the means of neighbours."""
    parts = np.array_split(np.arange(len(heat.rows)), min(most, len(heat.rows)))
    values = np.column_stack([heat.values[:, part].mean(axis=1) for part in parts])
    response = np.array([heat.response[part].mean() for part in parts])
    return values, response, np.array([heat.event[part].mean() for part in parts])
