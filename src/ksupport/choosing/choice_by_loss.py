"""The best model by an information criterion, for losses other than squares.

Models are ranked by squares on a working response (the loss to second order): at the empty model
first, then at the best model so far, until it no longer changes.  The deviances of the models that
rank first decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..design import Design, Floats
from ..losses import Response
from .choice import choose
from .criteria import Criterion
from .refits import refit_by_loss
from .scored import SAME, Choice
from .supports import Support, first_met, independent_rows

TURNS = 4  # largest number of working responses
WEIGHED = 100  # models, those ranked first by squares, that are refitted by the loss


@dataclass(frozen=True, eq=False)
class _Fit:
    """The maximum likelihood fit on a support."""

    fitted: Floats
    deviance: float
    dispersion: float
    penalty: float


def choose_by_loss(
    design: Design,
    response: Response,
    visited: Sequence[Sequence[Support]],
    criterion: str,
    largest: int,
    exchange: int = 3,
    tie: float = 0.0,
) -> Choice:
    """The support with the best criterion by the loss, as `choosing.choice.choose` by squares.

    ``visited`` has the supports that each path visited, ``largest`` bounds the size of a support,
    ``exchange`` and ``tie`` are those of `choose`.
    """
    if criterion in ("cp", "evidence"):
        raise ValueError(
            f"criterion={criterion!r} requires loss='squared', as it needs an error variance; use "
            "criterion='ebic'"
        )
    n = independent_rows(design, response.negative_gradient)  # repeated rows add nothing
    rule = Criterion(criterion, n, design.d, 1.0)
    known: dict[Support, _Fit] = {}
    best: Support = ()
    response_now, starts = response.negative_gradient, visited
    for _ in range(TURNS):
        guide = choose(design, response_now, starts, criterion, largest, exchange, tie)
        for S in [(), *guide.table["support"][:WEIGHED].tolist()]:
            if S not in known:
                known[S] = _fit(design, response, S, rule)
        order = [S for S, _ in _ranked(known, rule.n)]
        before, best = best, order[0]
        if best == before:
            break
        response_now, starts = response.working_response(known[best].fitted), [order[:WEIGHED]]
    return _choice(known, rule.n, visited)


def _fit(design: Design, response: Response, support: Support, rule: Criterion) -> _Fit:
    w = refit_by_loss(design, response, support)[list(support)]
    fitted = w @ design.columns(np.asarray(support, np.intp))
    spread = 1.0
    if response.loss.in_units_of_y:
        spread = response.dispersed(fitted, len(support), rule.n).dispersion
    penalty = float(rule.penalty(len(support)))
    share = rule.n / float(response.weights.sum())
    return _Fit(fitted, share * float(response.deviance(fitted)), spread, penalty)


def _ranked(known: dict[Support, _Fit], n: float) -> list[tuple[Support, float]]:
    """Supports and scores, best first; of equal ones that of fewer features.

    Deviances are divided by one dispersion, that of the model that is best by its own dispersion.
    """
    fits = known.values()
    unit = min(fits, key=lambda fit: n * np.log(fit.dispersion) + fit.penalty).dispersion
    scores = {S: fit.deviance / unit + fit.penalty for S, fit in known.items()}
    order = sorted(known, key=lambda S: (round(scores[S], SAME), len(S), S))
    return [(S, scores[S]) for S in order]


def _choice(known: dict[Support, _Fit], n: float, visited: Sequence[Sequence[Support]]) -> Choice:
    """The best support, and a table of all that were refitted, with where a path first met each."""
    order, scores = zip(*_ranked(known, n), strict=True)
    return Choice.of(
        order, np.array(scores), first_met(visited),
        size=np.array([len(S) for S in order], np.intp),
        deviance=np.array([known[S].deviance for S in order]),
    )  # fmt: skip
