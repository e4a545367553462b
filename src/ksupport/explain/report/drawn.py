"""What the report draws: paths, features, predictions, rounded to what can be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from ..._common.names import spreadsheet_safe
from ...algorithms import Method, make_method
from ...choosing.refits import DEPENDENT
from ...choosing.selection import Selection
from ...choosing.stability import StabilitySelection
from ...design import Design, Floats, Ints, Problem
from ...theory.report import NEAR_COPY
from ...walking import Result, run
from .. import figures
from ..figures import Heat, Predictions
from ..findings import Findings
from ..models import Model, around, method_behind, one_coefficient, spacing
from .text import label

# -- paths -------------------------------------------------------------------------------


PATHS_SHOWN = 7  # paths that the explorer holds
RECORDS = 100  # steps of each
LINES = 80  # features of all of them
CELLS = 60  # steps of the surface


@dataclass(frozen=True)
class Walk:
    """One path as the explorer shows it."""

    label: str
    t: Ints
    iterates: sp.csr_array  # records x d
    entered: Ints  # features since the record before
    left: Ints


def walks_of(chosen: Selection, max_iter: int, problem: Problem) -> tuple[list[Walk], int, int]:
    """Paths around the chosen one; which of them it is, and the record of its step."""
    methods, place = _methods(chosen, problem)
    step = max(chosen.steps[0], 1)
    end = around(step, max_iter)
    design, y = problem.design, problem.targets[0]
    starts = [method.start(design, y) for _, method in methods]
    results = run(starts, max_iter=end, every=spacing(step, end))
    walks = [_walk(label, r, step) for (label, _), r in zip(methods, results, strict=True)]
    record = int(np.argmin(np.abs(walks[place].t - chosen.steps[0])))
    return walks, place, record


def _methods(chosen: Selection, problem: Problem) -> tuple[list[tuple[str, Method]], int]:
    """The paths to show, with their labels, and the place of the one behind the model."""
    behind = method_behind(chosen, problem)
    settings, nearest = _by_size(chosen)
    near = sorted(_spread(len(settings), nearest, PATHS_SHOWN))
    methods = [behind if i == nearest else make_method(chosen.method, **settings[i]) for i in near]
    labels = [label or behind.title for label in labels_of([settings[i] for i in near])]
    return list(zip(labels, methods, strict=True)), near.index(nearest)


def _by_size(chosen: Selection) -> tuple[list[dict[str, Any]], int]:
    """The settings in order of size, and the place of the model's, or of the nearest in size."""
    settings = [_without_norm(each) for each in chosen.settings]
    settings = list({str(each): each for each in settings}.values())
    settings.sort(key=lambda each: (each.get("k", 0), str(each)))
    if chosen.params is not None:
        return settings, settings.index(_without_norm(chosen.params))
    far = [abs(each.get("k", 0) - chosen.size) for each in settings]
    return settings, int(np.argmin(far))


def _without_norm(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != "norm"}


def labels_of(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The parameters in which settings differ; nothing, if they do not."""
    varied = [name for name in settings[0] if len({str(each[name]) for each in settings}) > 1]

    def short(value: Any) -> str:
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    return [", ".join(f"{name}={short(each[name])}" for name in varied) for each in settings]


def _spread(count: int, chosen: int, most: int) -> list[int]:
    """Places spread over a list, with the chosen one."""
    if count <= most:
        return list(range(count))
    places = set(np.linspace(0, count - 1, most - 1).round().astype(int).tolist())
    return [*(places | {chosen})]


def _walk(label: str, result: Result, step: int) -> Walk:
    """A path with fewer records, denser at its beginning, with that of the step."""
    assert result.iterates is not None
    t = result.history["t"]
    count = len(t)
    share = np.linspace(0, 1, RECORDS) ** 1.5 * (count - 1)
    at = min(int(np.searchsorted(t, step)), count - 1)
    take = np.union1d(share.round().astype(int) if count > RECORDS else np.arange(count), at)
    iterates = result.iterates[take]
    if result.targets > 1:  # the norm of each feature's coefficients, of all responses or classes
        each, d = sp.coo_array(iterates), iterates.shape[1] // result.targets
        squares = sp.coo_array((each.data**2, (each.row, each.col % d)), (iterates.shape[0], d))
        iterates = sp.csr_array(squares).sqrt()
    nonzero = sp.csr_array((iterates != 0).astype(np.int8))
    before = sp.vstack([sp.csr_array((1, nonzero.shape[1]), dtype=np.int8), nonzero[:-1]]).tocsr()
    change = nonzero - before
    entered = np.asarray((change > 0).sum(axis=1)).ravel()
    left = np.asarray((change < 0).sum(axis=1)).ravel()
    return Walk(label, t[take], iterates, entered, left)


def drawn_features(walks: list[Walk], chosen: Ints) -> tuple[Ints, int]:
    """The features whose lines are drawn, and how many ever entered a path."""
    peak = np.zeros(walks[0].iterates.shape[1])
    for walk in walks:
        top = abs(walk.iterates).max(axis=0)
        peak = np.maximum(peak, top.toarray().ravel() if sp.issparse(top) else np.ravel(top))
    entered = np.flatnonzero(peak)
    order = entered[np.argsort(-peak[entered], kind="stable")]
    first = [j for j in order if j in set(chosen.tolist())][: LINES * 3 // 4]
    rest = [j for j in order if j not in set(first)][: LINES - len(first)]
    return np.array([*first, *rest], np.intp), len(entered)


def lines_of(walk: Walk, features: Ints) -> dict[str, Any]:
    """A path as the script wants it: one list of values for each line that is not all zero."""
    dense = walk.iterates[:, features].toarray()
    used = np.flatnonzero(dense.any(axis=0))
    return {
        "label": walk.label,
        "t": walk.t.tolist(),
        "size": np.diff(walk.iterates.indptr).tolist(),
        "entered": walk.entered.tolist(),
        "left": walk.left.tolist(),
        "lines": [[int(i), rounded(dense[:, i])] for i in used],
    }


def rounded(values: Any, digits: int = 3) -> list[float | int]:
    """Numbers with as many digits as can be seen; whole ones as integers."""
    out: list[float | int] = []
    for value in np.asarray(values, float).tolist():
        short = float(f"{value:.{digits}g}") if np.isfinite(value) else 0.0
        out.append(int(short) if short == int(short) else short)
    return out


# -- criterion -----------------------------------------------------------------------------


def surface_of(chosen: Selection) -> dict[str, Any] | None:
    """Cross-validated error over settings and steps."""
    if chosen.how != "folds":
        return None
    steps, loss = chosen.of_paths("t")[0], chosen.of_paths("loss")
    labels = labels_of([_without_norm(each) for each in chosen.settings])
    order = np.argsort([each.get("k", i) for i, each in enumerate(chosen.settings)], kind="stable")
    finite = np.isfinite(loss)
    loss = np.where(finite, loss, loss[finite].max() if finite.any() else 0.0)
    record = int(np.searchsorted(steps, chosen.steps[0]))
    take = np.unique(np.r_[np.linspace(0, len(steps) - 1, CELLS).astype(int), record])
    return {
        "labels": [labels[i] or "all folds" for i in order],
        "t": steps[take].tolist(),
        "loss": [rounded(loss[i, take], 4) for i in order],
        "chosen": [order.tolist().index(chosen.path), int(np.searchsorted(take, record))],
    }


def scores_of(chosen: Selection) -> dict[str, Any] | None:
    """The best criterion for each number of features, less the best of all."""
    if chosen.how != "criterion":
        return None
    sizes, worse = chosen.least_scores()
    return {"size": sizes.tolist(), "worse": rounded(worse, 4)}


# -- rows and features -------------------------------------------------------------------


THRESHOLD = 0.5  # probability from which a row is predicted to have the second class
POINTS = 1000  # rows drawn
MAX_CURVE_POINTS = 300
HEAT_COLUMNS = 150  # of the heat map
SHADES = 8  # of its colours, each way
MAPPED = 30  # features of the correlation map
TABLED = 1000  # rows of the table that can be downloaded
NEAR_COPIES = 3  # near-duplicates listed for each feature


def found_of(
    findings: Findings, model: Model, stability: StabilitySelection | None
) -> list[dict[str, Any]]:
    """The table of features: drawn, and offered for download in full digits."""
    rows, effects = [], findings.effect_texts
    coefs = np.atleast_2d(model.coef_)
    coef = one_coefficient(model.coef_)
    for each in findings.found[:TABLED]:
        j, other = each.feature, each.stands_in_for
        inside = each.chosen
        rows.append(
            {
                "name": label(findings.names[j]),
                "cell": spreadsheet_safe(str(findings.names[j])),
                "p": None if each.probability is None else round(each.probability, 4),
                "effect": float(findings.effects[j]) if inside else None,
                "effect_text": effects.get(j),
                "coef": float(coef[j]) if inside else None,
                "share": None if stability is None else round(float(stability.frequency[j]), 4),
                "prefix": each.prefix,
                "candidate": findings.is_candidate(each),
                "of_class": int(coefs[:, j].argmax()) if len(coefs) > 1 else None,
                "for": None if other is None else spreadsheet_safe(str(findings.names[other])),
            }
        )
    return rows


# -- predictions ---------------------------------------------------------------------------


def predicted_of(predictions: Predictions) -> dict[str, Any]:
    """Return what a figure draws of predictions; several classes are shown in a table."""
    if predictions.predicted.ndim == 2:
        return {"kind": "several"}
    draw = {"numbers": _scatter, "classes": _classification_curves, "survival": _survival_curves}
    drawn = draw[predictions.kind](predictions)
    return {"kind": predictions.kind, "held_out": predictions.held_out, **drawn}


def _spread_indices(count: int, most: int) -> Any:
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))


def _scatter(predictions: Predictions) -> dict[str, Any]:
    """Return observed and predicted values of some rows."""
    kept = _spread_indices(len(predictions.rows), POINTS)
    return {
        "row": (predictions.rows[kept] + 1).tolist(),
        "observed": rounded(predictions.observed[kept], 5),
        "predicted": rounded(predictions.predicted[kept], 5),
    }


def _classification_curves(predictions: Predictions) -> dict[str, Any]:
    """Return the accuracy, the ROC curve with its area, and the calibration."""
    false_positive_rate, true_positive_rate = figures.mean_roc(predictions)
    kept = _spread_indices(len(false_positive_rate), MAX_CURVE_POINTS)
    predicted, observed, counts = figures.calibration(predictions)
    correct = (predictions.predicted > THRESHOLD) == (predictions.observed > THRESHOLD)
    return {
        "accuracy": round(float(np.average(correct, weights=predictions.weights)), 4),
        "auc": round(float(np.trapezoid(true_positive_rate, false_positive_rate)), 4),
        "roc": [rounded(false_positive_rate[kept]), rounded(true_positive_rate[kept])],
        "bins": {
            "predicted": rounded(predicted),
            "observed": rounded(observed),
            "rows": counts.tolist(),
        },
    }


def _even_ticks(last: float) -> list[float]:
    """Return up to seven round numbers from 0 on, the last below the end."""
    if last <= 0:
        return [0.0]
    unit = 10.0 ** np.floor(np.log10(last))
    step = next(each * unit for each in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if last <= 6 * each * unit)
    return [float(each) for each in np.arange(0.0, last + 1e-9 * last, step)]


def _survival_curves(predictions: Predictions) -> dict[str, Any]:
    """Return survival curves of the rows with low, middle and high risk."""
    groups, curves = figures.risk_groups(predictions), []
    ticks = _even_ticks(float(predictions.observed[:, 0].max()))
    for each in np.unique(groups):
        y = predictions.observed[groups == each]
        t, s = figures.kaplan_meier(y)
        low, high = figures.survival_interval(y)
        kept = _spread_indices(len(t), MAX_CURVE_POINTS)
        curves.append(
            {"t": rounded(t[kept], 4), "s": rounded(s[kept]), "low": rounded(low[kept]),
             "high": rounded(high[kept]), "rows": len(y), "events": int(y[:, 1].sum()),
             "at_risk": [int((y[:, 0] >= tick).sum()) for tick in ticks]}
        )  # fmt: skip
    p = figures.log_rank(predictions.observed, groups)
    return {"curves": curves, "ticks": rounded(ticks, 4), "p": p}


def heat_cells(heat: Heat | None, names: Any) -> dict[str, Any] | None:
    """The heat map: a letter for each cell, from "a" (far below the mean) over "i" (at it) on."""
    if heat is None or not heat.features.size:
        return None
    values, response, event = figures.fewer(heat, HEAT_COLUMNS)
    share = np.clip(values / figures.HEAT_RANGE, -1, 1)
    shades = np.rint(share * SHADES).astype(int) + SHADES
    return {
        "kind": heat.kind,
        "names": [label(names[j], 28) for j in heat.features],
        "cells": ["".join(chr(ord("a") + shade) for shade in row) for row in shades],
        "response": rounded(response),
        "event": rounded(event, 2),
        "rows": len(heat.rows),
    }


# -- what is left, and what is alike -------------------------------------------------------


def residuals_of(y: Floats, fitted: Floats) -> dict[str, Any]:
    """Return residuals of the fit with normal quantiles."""
    residual = y - fitted
    spread = float(residual.std()) or 1.0
    n = len(y)
    rows = _spread_indices(n, POINTS)
    order = np.argsort(residual, kind="stable")
    quantiles = ndtri((np.arange(n) + 0.5) / n)
    return {
        "row": (order[rows] + 1).tolist(),
        "quantile": rounded(quantiles[rows], 4),
        "standardised": rounded(residual[order][rows] / spread, 4),
    }


def correlations_of(X: Any, order: list[int]) -> tuple[Floats, list[tuple[int, int, float]]]:
    """Correlations among the first chosen features; pairs of one of them and a near-copy."""
    shown = np.asarray(order[:MAPPED], np.intp)
    design = Design.of(X).centred(standardize=True)
    columns = design.columns(shown)
    norms = np.maximum(np.linalg.norm(columns, axis=1), DEPENDENT)
    others = np.maximum(design.column_norms, DEPENDENT)
    r = (design.rmatmat((columns / norms[:, None]).T) / others[:, None]).T  # shown x d
    outside = np.abs(r)
    outside[:, np.asarray(order, np.intp)] = 0.0
    near_copies = []
    for i, j in enumerate(shown):
        for other in np.argsort(-outside[i], kind="stable")[:NEAR_COPIES]:
            if outside[i, other] >= NEAR_COPY:
                near_copies.append((int(j), int(other), float(r[i, other])))
    return r[:, shown], sorted(near_copies, key=lambda each: -abs(each[2]))
