"""The report with which ``ksupport demo`` ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import datasets
from .choosing import Wish
from .fit import report_text
from .fitting import fit_data
from .outputs import write_text
from .provenance import command_line, versions
from .reading import Data

ROWS, FEATURES, ACTIVE, SEED = 100, 1000, 3, 0
PAIRS = 5  # of half-samples


def write_demo_report(path: Path) -> str:
    """Fit simulated groups of correlated features with nothing given, and report; a sentence."""
    X, y, w_true = datasets.make_block_data(
        ROWS, FEATURES, n_active_blocks=ACTIVE, snr=3.0, random_state=SEED
    )
    names = tuple(_name(j, bool(w_true[j])) for j in range(FEATURES))
    data = Data(path, names, X, y)
    fitted = fit_data(data, Wish(), PAIRS, lambda text: None)
    made: dict[str, Any] = {"command": command_line(), "seed": SEED, "versions": versions()}
    write_text(path, report_text(fitted, "y", made))
    found = int(fitted.model.support_[w_true != 0].sum())
    return (
        f"AutoIRKSN, with nothing given, chose {len(fitted.order)} of {FEATURES} features, {found} "
        f"of them among the {int((w_true != 0).sum())} that matter."
    )


def _name(j: int, matters: bool) -> str:
    return f"{'true' if matters else 'other'} {j}"
