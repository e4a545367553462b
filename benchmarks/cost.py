"""CPU seconds of `AutoIRKSN` against abess with five folds, on plain and on ambiguous problems.

abess looks at sizes up to n / 2, as our classes do; beside that stand its default sizes, which end
at n / (log n log log n).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ksupport import AutoIRKSN

from .measure import Row, at_most, of_one_thread, take_turns
from .scale_selection import import_all
from .selection import quietly_fitted
from .selection_designs import DEVELOPMENT, Setting, label, problem, standardised
from .selection_real import design
from .selection_rivals import abess

PLAIN: tuple[tuple[Setting, float], ...] = (  # and the ratio aimed at
    ({"kind": "ar1", "n": 100, "d": 2000, "k": 10, "rho": 0.5, "snr": 3.0}, 1.0),
    ({"kind": "real", "name": "riboflavin", "k": 5, "sizes": "gaussian"}, 1.5),
)
AMBIGUOUS: tuple[Setting, ...] = (
    {"kind": "blocks", "n": 30, "block": 40, "rho": 0.9, "sizes": "equal"},
    {"kind": "blocks", "n": 30, "block": 40, "rho": 0.7, "sizes": "gaussian"},
    {"kind": "blocks", "n": 100, "block": 40, "rho": 0.9, "sizes": "equal"},
    {"kind": "blocks", "n": 100, "block": 10, "rho": 0.9, "sizes": "gaussian"},
    {"kind": "real", "name": "riboflavin", "k": 10, "sizes": "mixed", "snr": 2.0},
    {"kind": "real", "name": "leukemia", "k": 10, "sizes": "decaying", "snr": 1.0},
)
OWN = ("riboflavin", "scheetz2006")  # their own responses, ambiguous as well


def compared(what: str, X: Any, y: Any, most: float) -> list[Row]:
    """Fits in turn; of abess with sizes up to n / 2, and with its default ones."""
    sizes = range(len(X) // 2 + 1)
    fits = (AutoIRKSN, partial(abess, cv=5, support_size=sizes), partial(abess, cv=5))
    X, y = standardised(X), y - y.mean()
    ours, rival, default = take_turns(*(partial(quietly_fitted, make, X, y) for make in fits))
    return [
        Row(what, ours, rival, at_most(most)),
        Row("  its default sizes", ours, default),
    ]


def main() -> list[Row]:
    """All rows."""
    import_all()
    rows = []
    with of_one_thread():
        for setting, most in (*PLAIN, *((each, 1.5) for each in AMBIGUOUS)):
            X, y, _ = problem(seed=DEVELOPMENT, **setting)
            rows += compared(label(setting), X, y, most)
        for name in OWN:
            rows += compared(f"{name}, its own response", *design(name), 1.5)
    return rows
