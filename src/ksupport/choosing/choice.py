"""Choose among visited models: criteria, least-squares refits, exchange of features.

The functions here know nothing of estimators.  A path visits supports; each distinct support is
refitted by least squares and scored; the best ones are improved by exchanging features with those
left out, as long as the criterion improves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..design import Design, Floats
from ..losses import Response
from ..walking.structure import PLAIN, Structure
from .criteria import Criterion, noise_variance
from .evidence import Evidence
from .exchange import Around, Asked, Asking, Wanted, improve, side_by_side
from .refits import refit_all, refitted
from .scored import Choice, Scored, exchange_groups
from .supports import Support, first_met

MOST_TWINS = 50  # alternatives one exchange away that are listed


def choose(*args: Any, **options: Any) -> Choice:
    """The result of `choosing`, for a single problem."""
    return side_by_side([Asking(choosing(*args, **options))])[0]


def choosing(
    design: Design,
    y: Floats,
    visited: Sequence[Sequence[Support]],
    criterion: str,
    largest: int,
    exchange: int = 3,
    tie: float = 0.0,
    structure: Structure = PLAIN,
) -> Asked[Choice]:
    """Refit every support that the paths visited, score, and improve the best by exchange.

    Parameters
    ----------
    visited : one sequence of supports for each path
        As `supports_of` gives them.
    criterion : str
        See `Criterion`.
    largest : int
        Larger supports are not considered.
    exchange : int
        From how many of the best supports to start exchanging features; 0 for none.  AIC does
        without: it would go on adding features.
    tie : float
        Supports one exchange away from the chosen one are listed too if their score is at most
        so much worse; 0 for none.
    structure : Structure
        Of the models: then groups are exchanged, and counted.
    """
    where = {S: met for S, met in first_met(visited).items() if len(S) <= largest}
    refits = refit_all(design, y, where, structure.positive)
    samples = design.freedom * structure.targets
    rule = Criterion(criterion, samples, structure.count(design.d), float(y @ y))
    if criterion == "cp":
        guide = replace(rule, name="ebic")
        rule = replace(rule, noise=noise_variance(refits.rss, refits.size, guide))
    weigh = None
    if criterion == "evidence":
        _check_signs(structure)
        weigh = partial(_evidence, design, y, structure=structure)
    found = Scored(rule, refits, structure, weigh)
    if weigh is not None or not structure.plain:
        if criterion != "aic" and exchange and float(y @ y) > 0:
            exchange_groups(design, y, found, exchange, largest)
        return found.choice(where)
    around: dict[Support, Around] = {}
    if exchange and float(y @ y) > 0:
        most = MOST_TWINS if tie > 0 else 1
        if criterion != "aic":
            passed = yield from improve(design, y, found.best(exchange), rule, largest, most)
            around = {each.support: each for each in passed}
            found.add(move for each in passed for move in each.moves(largest))
        if tie > 0:
            (best,) = found.best(1)
            if best not in around:
                (found_around,) = yield Wanted(design, y, [best], most)
                around[found_around.support] = found_around
            if best in around:  # not if its features are dependent
                found.add(around[best].twins(rule, tie))
    return found.choice(where)


def _evidence(design: Design, y: Floats, support: Support, structure: Structure) -> float:
    return Evidence.of(design, y, support, structure).score


def _check_signs(structure: Structure) -> None:
    if structure.positive:
        raise ValueError(
            "criterion='evidence' does not support positive=True, as its prior has either sign: "
            "use criterion='ebic'"
        )


def criterion_for(asked: str, structure: Structure) -> str:
    """What "auto" stands for: EBIC of features one by one, or of one sign, else the evidence.

    Features of a group go together, and are worth fewer degrees of freedom than they are: least
    squares and EBIC charge for all of them.
    """
    if asked != "auto":
        return asked
    return "ebic" if structure.plain or structure.positive else "evidence"


def fit_of(
    design: Design,
    target: Floats | Response,
    support: Support,
    criterion: str,
    structure: Structure,
) -> Floats:
    """The fit behind a criterion: maximum likelihood, or the ridge regression of most evidence."""
    if criterion_for(criterion, structure) == "evidence" and not isinstance(target, Response):
        return Evidence.of(design, target, support, structure).coef
    return refitted(design, target, support, 0.0, structure.positive)
