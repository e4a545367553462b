"""Real truth, noise, calibration, stability: what models say, and whether it is so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .selection_metrics import BINS
from .selection_scores import Row, Scores, heading, line, of_kind, snr_of, told

ENOUGH = 50  # features in a bin before it is judged
CLEAR_SNR, CLEAR_N = 2.0, 60  # signal that must be found


def real_truth(scores: Scores) -> Iterator[str]:
    """HIV drug by drug, transcripts that were added, linked genotypes."""
    for rows, title in ((None, "all rows"), (150, "150 rows")):
        part = scores.only(setting=f"hiv rows={rows}")
        if part.rows:
            yield from _by_problem(part, f"HIV, {title}: F1 against known mutations")
    for kind, title in (("spike_in", "transcripts that were added"), ("genotypes", "genotypes")):
        part = scores.of(kind)
        if not part.rows:
            continue
        yield heading(f"{title}, means", part.methods)
        for column in ("f1", "tolerant_f1", "size", "far", "strong", "strong_in_sets"):
            if kind == "genotypes" or "strong" not in column:
                yield line(column, [part.overall(m, column) for m in part.methods])
    genotypes = scores.of("genotypes")
    if genotypes.rows:
        yield "genotypes: at most 3 far from a cause (|r| < .8), every strong cause in a set"


def _by_problem(part: Scores, title: str) -> Iterator[str]:
    """Every problem a setting of its own, and ranks over these."""
    single = Scores([row | {"setting": row["problem"]} for row in part.rows])
    yield heading(title, single.methods)
    for s in single.settings:
        yield line(s, [single.mean(s, m) for m in single.methods])
    yield line("mean", [single.overall(m) for m in single.methods])
    yield "mean rank over drugs (target: first): " + told(single.mean_ranks(single.ranked))


def noise(scores: Scores) -> Iterator[str]:
    """Data sets without signal in which anything is found, and with signal where nothing is."""
    part = scores.noise
    if not part.rows:
        return
    yield heading("noise: share of data sets with any feature", part.methods)
    for s in part.settings:
        yield line(s, [_share(_of(part, m, s)) for m in part.methods])
    yield line("all (target: at most .05)", [_share(_of(part, m)) for m in part.methods])
    yield line("data sets", [len(_of(part, m)) for m in part.methods], 0)
    yield "at most .08 in every kind of noise with a hundred data sets or more"
    clear = scores.signal.where(
        lambda row: (snr_of(row) or 0.0) >= CLEAR_SNR and row["n"] >= CLEAR_N
    )
    yield line(
        "signal found, snr >= 2 and n >= 60 (at least .95)",
        [_share(_of(clear, m)) for m in part.methods],
    )


def _of(scores: Scores, method: str, setting: str | None = None) -> list[Row]:
    return [
        row for row in scores.rows if row["method"] == method and setting in (None, row["setting"])
    ]


def _share(rows: Sequence[Row]) -> float:
    """With signal, as the model says; else with any feature."""
    seen = [bool(row.get("signal", True)) and row["size"] > 0 for row in rows]
    return float(np.mean(seen)) if seen else float("nan")


def calibration(scores: Scores) -> Iterator[str]:
    """Of the features with a probability near p, how many are true: overall, and by kind."""
    for part, title in ((scores.signal, "signal"), (scores.noise, "noise")):
        for method in part.methods:
            yield from _bins(_of(part, method), f"{method}, {title}")
    for kind in scores.signal.kinds:
        for method in scores.methods:
            rows = [row for row in _of(scores.signal, method) if of_kind(row, kind)]
            yield from _bins(rows, f"{method}, {kind}")


def _pooled(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count, claimed, true = (
        np.sum([row[key] for row in rows], axis=0)
        for key in ("bin_count", "bin_claimed", "bin_true")
    )
    return count, claimed, true


def _errors(count: np.ndarray, claimed: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    """The expected calibration error over all features, and the worst bin of at least 50."""
    off = np.abs(claimed - true)
    judged = off[count >= ENOUGH] / count[count >= ENOUGH]
    return float(off.sum() / count.sum()), float(judged.max(initial=0.0))


def _bins(rows: Sequence[Row], title: str) -> Iterator[str]:
    rows = [row for row in rows if "bin_count" in row]
    if not rows:
        return
    count, claimed, true = _pooled(rows)
    error, worst = _errors(count, claimed, true)
    yield f"calibration, {title}: ECE {error:.4f}, worst bin {worst:.3f} (target: at most .1)"
    yield heading("  probability", [f"{i / BINS:.1f}" for i in range(BINS)])
    yield line("  features", count.tolist(), 0)
    with np.errstate(invalid="ignore"):
        yield line("  claimed", (claimed / count).tolist())
        yield line("  true", (true / count).tolist())


def expected(scores: Scores) -> Iterator[str]:
    """Expected F1 against the reached one, and what the best cut of the probabilities reaches."""
    for method in scores.methods:
        for kind in (None, *scores.signal.kinds):
            rows = [r for r in _of(scores.signal, method) if kind is None or of_kind(r, kind)]
            parts = [_compared(rows, "expected_f1"), _compared(rows, "best_cut_f1")]
            if any(parts):
                yield f"{method}, {kind or 'all'}: " + "; ".join(filter(None, parts))


def _compared(rows: Sequence[Row], column: str) -> str:
    """The means of a column and of F1, over problems."""
    both = np.array([(row[column], row["f1"]) for row in rows if row.get(column) is not None])
    if not len(both):
        return ""
    claimed, reached = both.mean(axis=0)
    what = column.replace("_", " ").replace("f1", "F1")
    return f"{what} {claimed:.3f}, reached {reached:.3f} ({claimed - reached:+.3f})"


def stability(rows: Sequence[Row]) -> Iterator[str]:
    """Over ten seeds of the folds: overlap of the supports, and seeds that flip the signal."""
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == method]
        found = [row["jaccard"] for row in mine if row["kind"] not in ("noise", "permuted")]
        clear = [row["flips"] for row in mine if (snr_of(row) or 0.0) >= CLEAR_SNR]
        yield (
            f"stability, {method}: mean Jaccard over ten seeds of folds {np.mean(found):.3f} "
            f"(target .85), least {min(found):.3f}, on {len(found)} problems; signal flips on "
            f"{np.count_nonzero(clear)} of {len(clear)} problems with snr >= 2"
        )
        for row in mine:
            yield f"  {row['setting']}: {row['jaccard']:.2f}, flips {row['flips']}"
