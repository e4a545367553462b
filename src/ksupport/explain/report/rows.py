"""Rows and features as the HTML report draws them: rounded to what can be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from ..._common.names import spreadsheet_safe
from ...choosing.refits import DEPENDENT
from ...choosing.stability import StabilitySelection
from ...design import Design, Floats
from ...theory.report import NEAR_COPY
from ..account import Account
from ..curves import Said, calibration, kaplan_meier, mean_roc, risk_groups
from ..heat import FAR, Heat, fewer
from .html import label
from .paths import rounded

POINTS = 1000  # rows drawn
CORNERS = 300  # of a curve
COLUMNS = 150  # of the heat map
SHADES = 8  # of its colours, each way
MAPPED = 30  # features of the correlation map
TABLED = 1000  # rows of the table that can be downloaded
TWINS = 3  # near-duplicates listed for each feature


def found_of(
    account: Account, coef: Floats, stability: StabilitySelection | None
) -> list[dict[str, Any]]:
    """The table of features: drawn, and offered for download in full digits."""
    rows, told = [], account.told_effects
    for each in account.found[:TABLED]:
        j, other = each.feature, each.stands_in_for
        inside = each.chosen
        rows.append(
            {
                "name": label(account.names[j]),
                "cell": spreadsheet_safe(str(account.names[j])),
                "p": None if each.probability is None else round(each.probability, 4),
                "effect": float(account.effects[j]) if inside else None,
                "told": told.get(j),
                "coef": float(coef[j]) if inside else None,
                "share": None if stability is None else round(float(stability.frequency[j]), 4),
                "prefix": each.prefix,
                "for": None if other is None else spreadsheet_safe(str(account.names[other])),
            }
        )
    return rows


# -- predictions ---------------------------------------------------------------------------


def predicted_of(said: Said) -> dict[str, Any]:
    """What is drawn of predictions; those of several classes are told by a table."""
    if said.predicted.ndim == 2:
        return {"kind": "several"}
    drawn = {"numbers": _points, "classes": _alarms, "survival": _curves}[said.kind](said)
    return {"kind": said.kind, "held_out": said.held_out, **drawn}


def _thinned(count: int, most: int) -> Any:
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))


def _points(said: Said) -> dict[str, Any]:
    """Observed against predicted."""
    take = _thinned(len(said.rows), POINTS)
    return {
        "row": (said.rows[take] + 1).tolist(),
        "observed": rounded(said.observed[take], 5),
        "predicted": rounded(said.predicted[take], 5),
    }


def _alarms(said: Said) -> dict[str, Any]:
    """The ROC curve, and what became of rows with a probability."""
    false, true = mean_roc(said)
    take = _thinned(len(false), CORNERS)
    promised, kept, counts = calibration(said)
    return {
        "roc": [rounded(false[take]), rounded(true[take])],
        "bins": {"said": rounded(promised), "seen": rounded(kept), "rows": counts.tolist()},
    }


def _curves(said: Said) -> dict[str, Any]:
    """Survival of the rows with low, middle and high risk."""
    groups, curves = risk_groups(said), []
    for each in np.unique(groups):
        y = said.observed[groups == each]
        t, s = kaplan_meier(y)
        take = _thinned(len(t), CORNERS)
        curves.append(
            {"t": rounded(t[take], 4), "s": rounded(s[take]), "rows": len(y),
             "events": int(y[:, 1].sum())}
        )  # fmt: skip
    return {"curves": curves}


def heat_cells(heat: Heat | None, names: Any) -> dict[str, Any] | None:
    """The heat map: a letter for each cell, from "a" (far below the mean) over "i" (at it) on."""
    if heat is None or not heat.features.size:
        return None
    values, response, event = fewer(heat, COLUMNS)
    shades = np.rint(np.clip(values / FAR, -1, 1) * SHADES).astype(int) + SHADES
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
    """Residuals of the fit against normal quantiles."""
    residual = y - fitted
    spread = float(residual.std()) or 1.0
    n = len(y)
    rows = np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(int))
    order = np.argsort(residual, kind="stable")
    quantiles = ndtri((np.arange(n) + 0.5) / n)
    return {
        "row": (order[rows] + 1).tolist(),
        "quantile": rounded(quantiles[rows], 4),
        "standardised": rounded(residual[order][rows] / spread, 4),
    }


def correlations_of(X: Any, order: list[int]) -> tuple[Floats, list[tuple[int, int, float]]]:
    """Correlations among the first chosen features; pairs of a chosen one and its twins outside."""
    shown = np.asarray(order[:MAPPED], np.intp)
    design = Design.of(X).centred(standardize=True)
    columns = design.columns(shown)
    norms = np.maximum(np.linalg.norm(columns, axis=1), DEPENDENT)
    others = np.maximum(design.column_norms, DEPENDENT)
    r = (design.rmatmat((columns / norms[:, None]).T) / others[:, None]).T  # shown x d
    outside = np.abs(r)
    outside[:, np.asarray(order, np.intp)] = 0.0
    twins = []
    for i, j in enumerate(shown):
        for other in np.argsort(-outside[i], kind="stable")[:TWINS]:
            if outside[i, other] >= NEAR_COPY:
                twins.append((int(j), int(other), float(r[i, other])))
    return r[:, shown], sorted(twins, key=lambda each: -abs(each[2]))
