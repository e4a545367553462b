"""The table of the board: one line for each promise, kind of problem and method."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from scipy.stats import binomtest

Row = dict[str, Any]
SLACK = 0.03  # by which a rate of false features may be exceeded
HELD = 0.93  # of what claims .95, at least
COVERED = (0.92, 0.98)  # of intervals of the posterior
OFF = 0.1  # by which the share of true features may differ from the mean probability
ENOUGH = 20  # features in a bin of probability that is judged


def lines(rows: Sequence[Row]) -> list[Row]:
    """What became of each promise, in the order of the rows."""
    order: dict[Any, int] = {}
    for row in rows:
        for key in ("promise", "kind", "method"):
            order.setdefault((key, row[key]), len(order))

    def place(row: Row) -> tuple[Any, ...]:
        return (
            order["promise", row["promise"]], row["level"] or 0.0, order["kind", row["kind"]],
            order["method", row["method"]],
        )  # fmt: skip

    ordered = sorted(rows, key=place)
    return [_line(list(same)) for _, same in groupby(ordered, key=place)]


def renewed(
    before: Sequence[Row], now: Sequence[Row], kinds: Sequence[str], methods: Sequence[str]
) -> list[Row]:
    """Lines of an earlier table, those of what was measured now replaced; in order."""
    measured = {(line["kind"], line["method"]) for line in now}
    kept = [line for line in before if (line["kind"], line["method"]) not in measured]
    promises = list(dict.fromkeys(line["promise"] for line in (*before, *now)))

    def place(line: Row) -> tuple[float, ...]:
        return (
            promises.index(line["promise"]), float(line["level"] or 0.0),
            kinds.index(line["kind"]), methods.index(line["method"]),
        )  # fmt: skip

    return sorted([*kept, *now], key=place)


def _line(rows: list[Row]) -> Row:
    first = rows[0]
    promise, level, noise = first["promise"], first["level"], first["kind"].startswith("noise")
    count, kept = (sum(row[key] for row in rows) for key in ("count", "kept"))
    if noise and promise in ("features", "sets", "sets at a rate", "signal"):
        share, hits, of = _alarms(rows)
        promise = "alarms" if promise == "features" else f"alarms, {promise}"
        met = None if level is None else share <= _allowed(promise, level) + SLACK
    elif "rate" in promise or promise == "features":
        # A rate is a mean over draws of the share that is false, zero where nothing is named.
        share = float(
            np.mean([1 - row["kept"] / row["count"] if row["count"] else 0.0 for row in rows])
        )
        hits, of = count - kept, count
        met = None if level is None else share <= level + SLACK
    else:
        share, hits, of = kept / count if count else float("nan"), kept, count
        met = _met(promise, share, rows, count) if count else None
    low, high = binomtest(hits, of).proportion_ci() if of else (float("nan"),) * 2
    true = sum(row["of"] for row in rows)
    return {
        "promise": promise,
        "level": "" if level is None else f"{level:g}",
        "kind": first["kind"],
        "method": first["method"],
        "draws": len(rows),
        "hits": hits,
        "count": of,
        "share": _number(share),
        "low": _number(low),
        "high": _number(high),
        "power": _number(sum(row["found"] for row in rows) / true) if true else "",
        "claimed": _per_claim(rows, "claimed", count),
        "length": _per_claim(rows, "length", count),
        "seconds": f"{np.mean([row['seconds'] for row in rows]):.2f}",
        "met": {None: "", True: "yes", False: "no"}[met],
    }  # fmt: skip


def _per_claim(rows: list[Row], key: str, count: int) -> str:
    """The mean over what is claimed, where it was measured."""
    return _number(sum(row[key] for row in rows) / count) if key in rows[0] and count else ""


def _allowed(promise: str, level: float) -> float:
    """How often something may be named in noise."""
    return 1 - level if promise == "alarms, sets" else level


def _alarms(rows: list[Row]) -> tuple[float, int, int]:
    hits = sum(row["count"] > 0 for row in rows)
    return hits / len(rows), hits, len(rows)


def _met(promise: str, share: float, rows: list[Row], count: int) -> bool | None:
    if promise == "probability":
        claimed = sum(row["claimed"] for row in rows) / count
        return abs(share - claimed) <= OFF if count >= ENOUGH else None
    if promise == "intervals, posterior":
        return COVERED[0] <= share <= COVERED[1]
    return share >= HELD if promise != "signal" else None


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"
