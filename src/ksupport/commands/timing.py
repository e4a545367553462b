"""Timing by turns, for ``ksupport bench``, and the plain NumPy prox that it compares with."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from joblib import cpu_count

from .._common.phases import phase
from ..design import Floats


def prox_by_sorting(q: Floats, lam: float, k: int) -> Floats:
    """prox of (lam/2)(‖·‖_k^sp)²: sort the kinks of Σ clip(s|q_i| - lam, 0, 1), interpolate."""
    a = np.abs(q)
    a = a[a > 0]
    if a.size <= k:
        return q / (1 + lam)
    kinks = np.concatenate([lam / a, (lam + 1) / a])
    order = np.argsort(kinks)
    kinks = kinks[order]
    slopes = np.cumsum(np.concatenate([a, -a])[order])[:-1]
    sums = np.concatenate([[0.0], np.cumsum(slopes * np.diff(kinks))])
    at = int(np.searchsorted(sums, k))
    s = kinks[at - 1] + (k - sums[at - 1]) / slopes[at - 1]
    theta = np.clip(s * np.abs(q) - lam, 0, 1)
    return theta * q / (theta + lam)


IDLE = 0.5  # load above which others use the machine
UNSTEADY = 1.5  # a median this far above the minimum says that the machine was busy


class Clock:
    """Wall time; on a machine shared with others, CPU time (with one BLAS thread)."""

    shared = False
    busy = False  # wall time on a machine that had work before we came

    @classmethod
    def now(cls) -> float:
        return process_time() if cls.shared else perf_counter()


@dataclass(frozen=True)
class Timing:
    """A quantity measured several times: its median, which is judged, and its minimum."""

    median: float
    least: float
    repeats: int

    def per(self, count: float) -> Timing:
        return Timing(self.median / count, self.least / count, self.repeats)

    @property
    def unsteady(self) -> bool:
        return self.median > UNSTEADY * self.least


def once(value: float) -> Timing:
    """Something that is not repeated: a count, a size."""
    return Timing(value, value, 1)


def summary(times: Sequence[float]) -> Timing:
    return Timing(statistics.median(times), min(times), len(times))


def elapsed(call: Callable[[], object]) -> float:
    start = Clock.now()
    call()
    return Clock.now() - start


def take_turns(
    *calls: Callable[[], object], repeats: int = 5, warm_up: bool = True, budget: float = 20.0
) -> list[Timing]:
    """Time the calls in turn, round by round, so that a busy machine slows them all.

    The first round is not counted if it is a warm-up; no round starts once ``budget`` seconds
    are spent, except the first that counts.
    """
    start = perf_counter()
    rounds: list[list[float]] = []
    with phase("timing", repeats + warm_up) as update:
        if warm_up:
            for call in calls:
                call()
        while not rounds or (len(rounds) < repeats and perf_counter() - start < budget):
            rounds.append([elapsed(call) for call in calls])
            update(len(rounds) + warm_up)
    return [summary(times) for times in zip(*rounds, strict=True)]


def with_unit(value: float, unit: str) -> str:
    """A number as people write it; seconds become ms, µs or ns where that reads better."""
    if unit != "s":
        return f"{value:,.4g} {unit}".rstrip()
    for size, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(value) >= size:
            return f"{value / size:.3g} {name}"
    return f"{value * 1e9:.3g} ns"


def cores() -> int:
    return int(cpu_count())


def load() -> float:
    """Processes that wanted to run over the last minute, on average; 0 where unknown."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else 0.0


def cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()
