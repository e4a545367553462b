"""Choose among visited models: criteria, least-squares refits, exchange of features.

The functions here know nothing of estimators.  A path visits supports; each distinct support is
refitted by least squares and scored; the best ones are improved by exchanging features with those
left out, as long as the criterion improves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..design import Design, Floats
from ..walking.structure import PLAIN, Structure
from .candidates import Candidates, Choice, exchange_groups
from .criteria import Criterion, noise_variance
from .exchange import Around, Asked, Asking, Wanted, improve, side_by_side
from .refits import refit_all
from .supports import Support

MOST_TWINS = 50  # alternatives one exchange away that are listed


def choose(*args: Any, **options: Any) -> Choice:
    """What `choosing` finds, alone."""
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
    where: dict[Support, tuple[int, int]] = {(): (0, 0)}
    for path, supports in enumerate(visited):
        for record, support in enumerate(supports):
            if len(support) <= largest:
                where.setdefault(support, (path, record))
    refits = refit_all(design, y, where, structure.positive)
    samples = design.freedom * structure.targets
    rule = Criterion(criterion, samples, structure.count(design.d), float(y @ y))
    if criterion == "cp":
        guide = replace(rule, name="ebic")
        rule = replace(rule, noise=noise_variance(refits.rss, refits.size, guide))
    found = Candidates(rule, refits, structure)
    if not structure.plain:
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
