"""How strong the ridge of a refit by another loss should be: as held-out rows prefer it.

Evidence of a loss is known to second order only, which says little where the features separate
classes.  So each fold fits the features that it would have chosen itself, and rows that it has not
seen say with which strength they are predicted best.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..design import Floats
from .elections import Candidates
from .evidence import BY_LOSS
from .folds import Fold
from .judging import believed, group_shares
from .policy import Policy
from .posterior import Posterior
from .refits import refits_by_loss
from .supports import Support

TRIED = (*BY_LOSS, 10.0, 30.0)  # shares of a coefficient's second derivative


def answers_on_folds(
    few: float, posteriors: Sequence[Posterior], candidates: Candidates, policy: Policy
) -> list[Support]:
    """What each fold would choose by itself, if few features matter with this probability."""
    answers = []
    for fold, each in enumerate(posteriors):
        shares = group_shares(candidates.on(fold), each.d, policy)
        belief = believed(each.probability(), shares, few, policy)
        chosen, _ = belief.answer(policy.beta)
        answers.append(tuple(np.flatnonzero(chosen).tolist()))
    return answers


def strength_on_folds(
    folds: Sequence[Fold], answers: Sequence[Support], positive: bool = False
) -> float | None:
    """The strength of the least deviance on held-out rows; None: no fold has a feature."""
    pairs = zip(folds, answers, strict=True)
    errors = [_errors(fold, answer, positive) for fold, answer in pairs if answer]
    return TRIED[int(np.argmin(np.sum(errors, axis=0)))] if errors else None


def _errors(fold: Fold, answer: Support, positive: bool) -> Floats:
    """Of every strength, on all rows that a fold holds out."""
    models = refits_by_loss(fold.design, fold.y, answer, TRIED, positive)
    losses, mass = fold.unseen.row_errors(models)
    return np.asarray(losses @ mass)
