"""The report of the selection benchmark: means, ranks, who is first, and where we lose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .selection_claims import calibration, expected, noise, real_truth, stability
from .selection_prediction import report as prediction
from .selection_rivals import ORACLE, OURS
from .selection_scores import Row, Scores, heading, line, snr_of, told
from .selection_sets import coverage

COLUMNS = ("f1", "precision", "recall", "tolerant_f1", "prediction_error", "size", "far")
GROUPED = ("blocks", "example2")
AUTO = "AutoIRKSN"


def table(rows: list[Row]) -> list[Row]:
    """Means over the draws of each setting and method, for a CSV file."""
    scores = Scores(rows)
    return [
        {
            "setting": s,
            "method": m,
            "draws": scores.draws(s, m),
            **{column: scores.mean(s, m, column) for column in (*COLUMNS, "seconds", "passes")},
        }
        for s in scores.settings
        for m in scores.methods
        if scores.draws(s, m)
    ]


def report(rows: list[Row], stable: list[Row], predicted: list[Row]) -> str:
    """All that was measured, in words and tables."""
    scores = Scores(rows)
    parts = (
        settings(scores.signal),
        means(scores.signal),
        kinds(scores.signal),
        *(standing(scores.signal, ours) for ours in OURS if ours in scores.signal.ranked),
        lost(scores.signal),
        gap(scores.signal),
        real_truth(scores),
        noise(scores),
        calibration(scores),
        coverage(scores),
        expected(scores),
        stability(stable),
        prediction(predicted),
    )
    return "\n".join(text for part in parts for text in part)


def settings(scores: Scores) -> Iterator[str]:
    yield heading("mean F1", scores.methods)
    for s in scores.settings:
        yield line(s, [scores.mean(s, m) for m in scores.methods])


def means(scores: Scores) -> Iterator[str]:
    """Over settings; seconds are the median fit's, of CPU."""
    yield heading("means over settings", scores.methods)
    for column in COLUMNS:
        yield line(f"mean {column}", [scores.overall(m, column) for m in scores.methods])
    every = {m: [row for row in scores.rows if row["method"] == m] for m in scores.methods}
    for column, of in (("seconds", np.median), ("passes", np.mean)):
        yield line(
            f"{of.__name__} {column}", [float(of([r[column] for r in every[m]])) for m in every]
        )
    yield line("problems", [len(every[m]) for m in every], 0)


def kinds(scores: Scores) -> Iterator[str]:
    """By kind, and by kind and snr."""
    yield heading("mean F1 by kind", scores.methods)
    for kind in dict.fromkeys(row["kind"] for row in scores.rows):
        part = scores.of(kind)
        yield line(kind, [part.overall(m) for m in scores.methods])
        levels = sorted({row["snr"] for row in part.rows if row["snr"] is not None})
        for snr in levels if len(levels) > 1 else ():
            mine = part.only(snr=snr)
            yield line(f"  {kind}, snr {snr:g}", [mine.overall(m) for m in scores.methods])


def standing(scores: Scores, ours: str) -> Iterator[str]:
    """How one of our classes stands among all others."""
    among, n = scores.ranked, len(scores.settings)
    if len(among) < 2:
        return
    if ours == AUTO:
        yield "mean rank in F1: " + told(scores.mean_ranks(among))
        for margin, target in ((0.0, ""), (0.02, " (target .8)")):
            shares = {m: len(scores.first_or_near(m, among, margin)) / n for m in among}
            what = f"within {margin:g} of first in F1, share of {n} settings{target}: "
            yield what + told(shares, descending=True)
        simulated = scores.where(lambda row: row["prediction_error"] is not None)
        ranks = simulated.mean_ranks(among, "prediction_error", -1)
        yield "mean rank in prediction error: " + told(ranks)
    for label, part in _parts(scores):
        lead, best = min((part.mean_lead(ours, m), m) for m in among if m != ours)
        mine, other = part.overall(ours), part.overall(best)
        yield f"{ours}, {label}: {mine:.3f}; best other {best} {other:.3f}, lead {lead:+.3f}"


def _parts(scores: Scores) -> Iterator[tuple[str, Scores]]:
    yield "all settings", scores
    for label, part in (
        ("real designs (target +.05)", scores.of("real")),
        ("blocks", scores.of("blocks")),
        ("snr 1 (target: no worse)", scores.where(lambda row: snr_of(row) == 1.0)),
        ("the paper's settings", scores.of("paper")),
    ):
        if part.rows:
            yield label, part


def lost(scores: Scores) -> Iterator[str]:
    """The settings in which AutoIRKSN is not near the first."""
    among = scores.ranked
    if AUTO not in among:
        return
    near = scores.first_or_near(AUTO, among)
    for s in scores.settings:
        if s not in near:
            lead, best = min((scores.lead(s, AUTO, m), m) for m in among if scores.draws(s, m))
            yield f"  lost: {s}: {scores.mean(s, AUTO):.3f}, {lead:+.3f} to {best}"


def gap(scores: Scores) -> Iterator[str]:
    """What an oracle that walks our paths with the truth at hand would gain on groups."""
    grouped = scores.of(*GROUPED)
    rivals = [m for m in grouped.ranked if m not in OURS]
    if not {AUTO, ORACLE} <= {*grouped.methods} or not rivals:
        return
    leads: Any = {m: -grouped.leads(AUTO, [m])[:, 0] for m in (*rivals, ORACLE)}
    best = np.nanmax([leads[m] for m in rivals], axis=0)  # by how much AutoIRKSN is behind
    closed = np.nansum(-best) / np.nansum(leads[ORACLE] - best)
    yield (
        f"grouped settings: {closed:.0%} of the gap between the best rival and the oracle is "
        "closed (target 50 %)"
    )
