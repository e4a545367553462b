"""The k-support prox against ModOpt's, and in units of one ``np.abs(q).sum()``."""

from __future__ import annotations

from . import prox
from .measure import Row, at_least, at_most, once

REPEATS = 21


def main() -> list[Row]:
    """The measurements of `prox`, already ratios of medians there, as rows."""
    rows = []
    for d in prox.SIZES:
        for k in prox.KS:
            for lam in prox.STRENGTHS:
                ratios = prox.measure(d, k, lam, REPEATS)
                at = f"d={d} k={k} lam={lam:g}"
                for what, key, target in (
                    ("cold, in abs-sums", "cold", at_most(prox.COLD_TARGET)),
                    ("warm, in abs-sums", "warm", at_most(prox.WARM_TARGET)),
                    ("cold, times faster than ModOpt", "modopt", at_least(prox.MODOPT_TARGET)),
                ):
                    rows.append(Row(f"{at}: {what}", once(ratios[key]), target=target, unit="x"))
    return rows
