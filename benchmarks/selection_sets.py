"""Do sets hold a true feature as often as they claim, and how much do they find?  By kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import binomtest

from .selection_metrics import LEVELS
from .selection_scores import Row, Scores, of_kind

HELD = 0.93  # of the sets that claim .95, at least
POWER, SIZE = 1.2, 1.5  # beside SuSiE: true features in a set at least, size at most
RIVALS = ("pysusie", "SuSiE sets", "SuSiE PIP")  # of these the first that was run


def coverage(scores: Scores) -> Iterator[str]:
    """Sets that claim .95: how many hold, what they find, how large they are; then the others."""
    for kind in scores.signal.kinds:
        rows = {m: _with_sets(scores.signal.rows, kind, m) for m in scores.methods}
        rows = {m: mine for m, mine in rows.items() if mine}
        rival = next((m for m in RIVALS if m in rows), None)
        for method, mine in rows.items():
            yield f"sets, {kind}, {method}: " + _credible(mine)
            yield from _others(mine)
            if rival not in (None, method):
                yield "  " + _beside(mine, rows[rival], rival)


def power(rows: Sequence[Row]) -> float:
    """The share of true features that are in a set that claims .95."""
    true = sum(row["true"] for row in rows)
    return sum(row["true_in_credible"] for row in rows) / true if true else float("nan")


def median_size(rows: Sequence[Row]) -> float:
    """Of sets that claim .95."""
    sizes = [size for row in rows for size in row["credible_sizes"]]
    return float(np.median(sizes)) if sizes else float("nan")


def share(hits: int, count: int) -> str:
    """A share with its exact binomial interval of 95 %."""
    if not count:
        return "none"
    low, high = binomtest(hits, count).proportion_ci()
    return f"{hits} of {count}, {hits / count:.3f} ({low:.2f} to {high:.2f})"


def _with_sets(rows: Sequence[Row], kind: str, method: str) -> list[Row]:
    return [r for r in rows if r["method"] == method and of_kind(r, kind) and "level_count" in r]


def _levels(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By what is claimed: sets, the sum of what they claim, those that hold a true feature."""
    count, claimed, true = (
        np.sum([row[f"level_{key}"] for row in rows], axis=0)
        for key in ("count", "claimed", "true")
    )
    return count, claimed, true


def _credible(rows: Sequence[Row]) -> str:
    count, _, true = _levels(rows)
    missed = count[-1] > 0 and true[-1] < HELD * count[-1]
    return (
        f".95 claimed, {share(int(true[-1]), int(count[-1]))}{' below .93' if missed else ''}, "
        f"power {power(rows):.3f}, median size {median_size(rows):g}"
    )


def _others(rows: Sequence[Row]) -> Iterator[str]:
    """Sets that claim less."""
    for count, claimed, true in zip(*_levels(rows), strict=True):
        if count and claimed < LEVELS[-1] * count:
            yield f"  {claimed / count:.2f} claimed: {share(int(true), int(count))}"


def _beside(rows: Sequence[Row], others: Sequence[Row], rival: str) -> str:
    """On the draws that both have."""
    both = {_draw(r) for r in rows} & {_draw(r) for r in others}
    mine, theirs = ([r for r in some if _draw(r) in both] for some in (rows, others))
    return (
        f"beside {rival}, {len(both)} draws: power {power(mine):.3f} and {power(theirs):.3f} "
        f"(target {POWER:g} times), median size {median_size(mine):g} and {median_size(theirs):g} "
        f"(at most {SIZE:g} times)"
    )


def _draw(row: Row) -> tuple[str, int]:
    return row["problem"], row["seed"]
