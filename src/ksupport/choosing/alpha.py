"""`alpha="auto"`: small enough for the recovery theorem at the model that it leads to.

Theorem 1 of the paper promises recovery of a sparse w for every alpha below a limit, the margin
of Assumption 2 over max |w|.  The limit depends on the w that is looked for.  So walk with an
alpha that is small enough for most designs, take the limit at the model found as if it were the
truth, and if alpha is not below it, walk again with half of the limit or a quarter of alpha,
whichever is smaller: that makes four more walks at most.  Smaller is not better: the bound on what
stopping early costs is proportional to 1/alpha, so alpha is only ever lowered for a reason, and
never below a floor at which paths take too many steps.  Where Assumption 2 fails at the model, no
alpha is known to help, and it stays as it is.
"""

from __future__ import annotations

import numpy as np

from ..design import Design, Floats
from ..theory._support import Support
from ..theory.irksn import irksn_at
from .refits import least_squares

START = 1e-2  # where it begins
FLOOR = 1e-4  # where it ends at the latest


def alpha_limit(design: Design, y: Floats, w: Floats, k: int) -> float:
    """The theorem's limit on alpha at an estimate; 0 if its assumptions fail there.

    The theorem is about vectors with k nonzero entries that have the least norm among the
    solutions on their support: so the estimate's k largest entries say which support, and least
    squares gives the vector.
    """
    support = np.sort(np.argsort(-np.abs(w), kind="stable")[: min(k, np.count_nonzero(w))])
    model = least_squares(design, y, tuple(support.tolist()))
    support = np.flatnonzero(model)
    if support.size == 0:
        return 0.0
    return irksn_at(design, Support.of(design, support), model, None, rounds=0).alpha_max


def tightened(alpha: float, limits: list[float]) -> float | None:
    """A smaller alpha, below the limits of all targets; None if alpha need not or cannot fall."""
    exceeded = [limit for limit in limits if 0 < limit <= alpha]
    if not exceeded or alpha <= FLOOR:
        return None
    return max(min(*exceeded, alpha / 2) / 2, FLOOR)
