"""Few features by a loss that is not of squares: leading models are weighed by the loss itself.

Squares that fit the loss at no feature tell which models to look at, and squares that fit it at
the best of these which others; their evidence is that of the loss, to second order (Laplace).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..design import Floats
from ..losses import Response
from ..walking.threads import Workers
from .criteria import log_choose
from .evidence import Laplace
from .policy import POLICY, Policy
from .posterior import Posterior, Sought, explored
from .supports import Support


def weighed(
    sought: Sequence[Sought],
    responses: Sequence[Response],
    rounds: int,
    most: int,
    n_jobs: int | None = None,
    policy: Policy = POLICY,
) -> list[Posterior]:
    """What the evidence of the loss says of each problem, on so many models that squares prefer."""
    with Workers(n_jobs) as workers:
        first = explored(sought, rounds, n_jobs, policy)
        pairs = list(zip(first, responses, strict=True))
        known = workers.each(partial(_weigh, most), pairs)
        again = [_around_best(*each) for each in zip(sought, first, known, responses, strict=True)]
        second = explored(again, rounds, n_jobs, policy)
        return workers.each(_together, list(zip(first, known, second, responses, strict=True)))


Known = dict[Support, float]  # models, by places in the pool, and their scores


def _weigh(most: int, each: tuple[Posterior, Response]) -> Known:
    posterior, response = each
    return {S: score_of(posterior, response, S) for S in [*posterior.leading(most), ()]}


def score_of(posterior: Posterior, response: Response, model: Support) -> float:
    """Minus twice the log evidence of a model."""
    columns = posterior.columns[list(model)]
    price = 2.0 * float(log_choose(posterior.d, len(model)))
    return Laplace.of(response, columns, posterior.policy.prior * response.bend).score + price


def _around_best(sought: Sought, posterior: Posterior, known: Known, response: Response) -> Sought:
    """Squares that fit the loss at the best model, and models to go on from."""
    order = sorted(known, key=lambda S: known[S])
    columns = posterior.columns[list(order[0])]
    fit = response.refit(columns, posterior.policy.prior * response.bend)
    pull: Floats = response.pull_at(fit.coef @ columns)
    visited = [tuple(posterior.pool[list(S)].tolist()) for S in order[: posterior.policy.starts]]
    return Sought(sought.design, pull, visited)


def _together(each: tuple[Posterior, Known, Posterior, Response]) -> Posterior:
    """The models of both, those of the second where they are in the pool of the first."""
    posterior, known, second, response = each
    place = np.full(posterior.d, -1)
    place[posterior.pool] = np.arange(posterior.pool.size)
    for S in second.leading(len(known)):
        there = place[second.pool[list(S)]]
        model = tuple(sorted(there.tolist()))
        if (there >= 0).all() and model not in known:
            known[model] = score_of(posterior, response, model)
    return posterior.of_models(list(known), np.array([*known.values()]), known[()])
