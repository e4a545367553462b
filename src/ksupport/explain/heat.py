"""The chosen features of all rows, in the order of the response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..design import Design, Floats, Ints
from ..losses import Loss
from .measures import Kind, measure_for

DRAWN = 30  # features
FAR = 2.5  # standard deviations beyond which colours do not change


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
    kind = measure_for(loss).kind
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
