"""What is measured of one fit of the selection benchmark."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ksupport.metrics import support_f1, support_precision, support_recall

from .selection_designs import Array, standardised

NEAR, LINKED = 0.9, 0.8  # |r| at which a feature stands for another, and is in its neighbourhood
STRONG = 0.01  # share of the variance of y that a strong cause explains by itself
BINS = 10
ROUNDING = 1e-4  # a set that claims .9499 is one of 95 %
LEVELS = (0.2, 0.4, 0.6, 0.8, 0.95)  # of what sets claim, in six bins; the last are credible sets
Mask = NDArray[np.bool_]
Row = dict[str, Any]


def coefficients_of(model: Any) -> Array:
    return np.ravel(getattr(model, "best_estimator_", model).coef_)


def support_of(model: Any) -> Mask:
    """What a model says that it selects; the nonzero coefficients if it does not say."""
    given = getattr(model, "support_", None)
    return coefficients_of(model) != 0 if given is None else np.asarray(given, bool)


def scores(model: Any, X: Array, y: Array, w: Array, *, coefficients_known: bool) -> Row:
    """Everything about one fit on standardised columns; w is true for these columns."""
    truth, support, coef = w != 0, support_of(model), coefficients_of(model)
    return {
        "f1": float(support_f1(truth, support)),
        "precision": float(support_precision(truth, support)),
        "recall": float(support_recall(truth, support)),
        "size": int(support.sum()),
        "prediction_error": prediction_error(X, y, w, coef) if coefficients_known else None,
        "passes": int(getattr(model, "n_passes_", -1)),
        **by_correlation(X, truth, support),
        **claimed(model, truth),
        **of_sets(model, X, y, w),
    }


def prediction_error(X: Array, y: Array, w: Array, coef: Array) -> float:
    """‖X(coef - w)‖²/‖Xw‖², and where nothing is true the share of y that is followed."""
    whole = X @ w if w.any() else y
    return float(np.sum((X @ (coef - w)) ** 2) / np.sum(whole**2))


def by_correlation(X: Array, truth: Mask, support: Mask) -> Row:
    """F1 if a feature may stand for another with |r| >= .9, and how many are far from all true."""
    r = np.abs(standardised(X[:, support]).T @ standardised(X[:, truth])) / len(X)
    r[support.nonzero()[0][:, None] == truth.nonzero()[0]] = 1.0  # constant columns, too
    if not r.size:
        return {"tolerant_f1": float(not support.any() and not truth.any()), "far": len(r)}
    precision, recall = ((r >= NEAR).any(axis=axis).mean() for axis in (1, 0))
    tolerant = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"tolerant_f1": float(tolerant), "far": int((r < LINKED).all(axis=1).sum())}


def claimed(model: Any, truth: Mask) -> Row:
    """What a model says of itself, where it does: probabilities, signal, expected F1, folds."""
    out: Row = {}
    if hasattr(model, "probability_"):
        p = np.asarray(model.probability_, float)
        out |= calibration(p, truth) | {"best_cut_f1": best_cut(p, truth)}
    if hasattr(model, "signal_"):
        out["signal"] = bool(model.signal_)
    if hasattr(model, "expected_f1_"):
        out["expected_f1"] = float(model.expected_f1_)
    if hasattr(model, "performance_"):
        told = model.performance_
        out |= {"score": float(told.score), "baseline": float(told.baseline)}
    return out


def calibration(p: Array, truth: Mask) -> Row:
    """Of ten bins of probability: features, the sum of their probabilities, how many are true."""
    where = np.minimum((p * BINS).astype(int), BINS - 1)
    return {
        "bin_count": np.bincount(where, minlength=BINS).tolist(),
        "bin_claimed": np.bincount(where, p, BINS).tolist(),
        "bin_true": np.bincount(where, truth, BINS).astype(int).tolist(),
    }


def best_cut(p: Array, truth: Mask) -> float:
    """The F1 of the best support {p >= c}, c > 0 or infinite: an oracle's cut."""
    order = np.argsort(-p, kind="stable")
    hits = np.cumsum(truth[order])
    f1 = 2 * hits / (np.arange(1, len(p) + 1) + truth.sum())
    ends = np.append(p[order][1:] < p[order][:-1], True) & (p[order] > 0)
    return float(max(f1[ends].max(initial=0.0), not truth.any()))


def of_sets(model: Any, X: Array, y: Array, w: Array) -> Row:
    """How many sets hold a true feature, what they claim, and which causes they miss.

    Sets are counted by what they claim; of those that claim .95 the sizes are taken down, and how
    many true features are in one.
    """
    if hasattr(model, "credible_sets_"):
        sets = [(np.asarray(S), LEVELS[-1]) for S in model.credible_sets_]
    elif hasattr(model, "sets_"):
        sets = [(_indices(s.features), float(s.probability)) for s in model.sets_]
    else:
        return {}
    claims = np.array([p for _, p in sets])
    holds = np.array([bool((w[S] != 0).any()) for S, _ in sets], bool)
    at = np.searchsorted(LEVELS, claims + ROUNDING, side="right")
    credible = [S for (S, _), level in zip(sets, at, strict=True) if level == len(LEVELS)]
    strong = np.flatnonzero((X * w).var(axis=0) >= STRONG * y.var())
    return {
        "sets": len(sets),
        "sets_true": int(holds.sum()),
        "sets_claimed": float(claims.sum()),
        "level_count": np.bincount(at, minlength=len(LEVELS) + 1).tolist(),
        "level_claimed": np.bincount(at, claims, len(LEVELS) + 1).tolist(),
        "level_true": np.bincount(at, holds, len(LEVELS) + 1).astype(int).tolist(),
        "credible_sizes": [len(S) for S in credible],
        "true": int(np.count_nonzero(w)),
        "true_in_credible": _inside(np.flatnonzero(w), credible),
        "strong": len(strong),
        "strong_in_sets": _inside(strong, [S for S, _ in sets]),
    }


def _inside(features: Any, sets: list[Any]) -> int:
    """How many of these features are in one of the sets."""
    return int(np.isin(features, np.concatenate([[], *sets])).sum())


def _indices(features: Any) -> NDArray[np.intp]:
    features = np.asarray(features)
    return features.nonzero()[0] if features.dtype == bool else features
