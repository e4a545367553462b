"""Losses other than squares: their log likelihood to second order, at where that finds most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..choosing.refits import refit_by_loss
from ..design import Floats, Ints
from ..losses import Response, Squared
from .atoms import LEADING, AtomSet, atoms_of, groups_of
from .candidates import Candidates, Task
from .chains import Budget, Sample, sample
from .effective_rows import EffectiveRows, design_effect
from .likelihood import Likelihood, of_loss
from .loss_weights import ByLoss, Expansion, by_loss

EXPANSIONS = 10  # at most: as long as they find models of more mass
# Chains of all but the last.  12 development problems: F1 .299 with 40 models, with 200 .298.
BRIEF = Budget(chains=1, burn_in=500, moves=1500, rounds=1, evaluated=40)


def expanded(task: Task, candidates: Candidates, columns: Floats) -> Expansion:
    """Expand the log likelihood at the mean of leading models, as long as that finds more mass.

    Where the mean is far from the response (separated classes, few events) a quadratic may lead
    astray: of all expansions the one is used whose models have the most mass by the loss itself.
    Brief chains tell, the same with any seed.
    """
    response, rows, features = task.response, rows_of_loss(task), candidates.features
    assert response is not None
    coef = np.zeros(response.n_dual * features.size)
    # A first step from nothing goes far astray where a few counts are very large.
    for support in candidates.visited[:1] if response.loss.may_spread else []:
        coef = refit_by_loss(task.design, response, support, positive=task.positive)[features]
    size, share, best = 0.0, rows.count / rows.of, None
    for _ in range(EXPANSIONS):
        response = _dispersed(response, coef, columns, size, rows.count)
        likelihood = of_loss(features, columns, response, coef, share)
        if best is not None and not likelihood.features.size:
            break  # no information is left there
        atoms = atoms_for(task, likelihood, candidates)
        expansion = Expansion(response, features, columns, share, likelihood, atoms)
        found: ByLoss = by_loss(
            expansion, drawn_from_nothing(task, atoms, rows, 0, BRIEF), task.positive,
            BRIEF.evaluated,
        )  # fmt: skip
        if best is not None and round(found.log_mass - best.log_mass, 6) <= 0.0:
            break
        best, coef = found, found.mean
        candidates = replace(candidates, probable=most_probable(likelihood, found.drawn))
        size = float((found.drawn.sets >= 0).sum(axis=1) @ found.weights)
    assert best is not None
    return best.expansion


def rows_of_loss(task: Task) -> EffectiveRows:
    """Effective number of rows, by weights and correlation within groups; and why it is less."""
    response, share = task.response, task.share
    assert response is not None
    n = float(response.weights.sum())
    reasons = ["weights are unequal"] if share < 1.0 else []
    if task.row_groups is not None:
        effect = design_effect(response.negative_gradient.reshape(-1, response.n), task.row_groups)
        if effect > 1.0:
            share = share / effect
            reasons.append("rows within a group are correlated")
    return EffectiveRows(share * n, n, " and ".join(reasons))


def atoms_for(task: Task, likelihood: Likelihood, candidates: Candidates) -> AtomSet:
    """Features and clusters, or known groups."""
    if task.labels is not None:
        return groups_of(likelihood, task.labels, task.n_groups, task.positive)
    place = {int(f): at for at, f in enumerate(likelihood.features)}
    probable = [place[f] for f in candidates.probable.tolist() if f in place]
    atoms = atoms_of(likelihood, task.design.d, positive=task.positive, probable=probable)
    return replace(atoms, others=candidates.others)


def most_probable(likelihood: Likelihood, drawn: Sample) -> Ints:
    """The candidates that the models of chains have most often, the most frequent first."""
    p = np.round(drawn.probability, 9)
    return likelihood.features[np.lexsort((likelihood.features, -p))][:LEADING]


def drawn_from_nothing(
    task: Task, atoms: AtomSet, rows: EffectiveRows, seed: int, budget: Budget
) -> Sample:
    """Chains that begin at the empty model."""
    return sample(atoms, rows.count, [np.zeros(0, np.int64)], seed, task.positive, budget)


def _dispersed(
    response: Response, coef: Floats, columns: Floats, size: float, rows: float
) -> Response:
    """With the dispersion that a model leaves, where the loss does not know it."""
    loss = response.loss
    fitted = np.ravel(coef.reshape(response.n_dual, -1) @ columns)
    if loss.in_units_of_y and not isinstance(loss, Squared):
        return response.dispersed(fitted, size, rows)
    if loss.may_spread:
        spread = float(response.deviance(fitted)) / max(rows - size - 1.0, 1.0)
        return replace(response, dispersion=max(spread, 1.0))
    return response
