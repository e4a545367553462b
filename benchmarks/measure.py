"""Timing by turns, rows with targets, and the table they make."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Literal

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "modopt")
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
    """Seconds that one call takes."""
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
    if warm_up:
        for call in calls:
            call()
    rounds = [[elapsed(call) for call in calls]]
    while len(rounds) < repeats and perf_counter() - start < budget:
        rounds.append([elapsed(call) for call in calls])
    return [summary(times) for times in zip(*rounds, strict=True)]


@dataclass(frozen=True)
class Target:
    """What a ratio must be: at most, or at least, a number."""

    sense: Literal["<=", ">="]
    value: float

    def __str__(self) -> str:
        return f"{self.sense} {self.value:g}"

    def met(self, ratio: float) -> bool:
        return ratio <= self.value if self.sense == "<=" else ratio >= self.value


def at_most(value: float) -> Target:
    return Target("<=", value)


def at_least(value: float) -> Target:
    return Target(">=", value)


@dataclass(frozen=True)
class Row:
    """One line of a table.

    The ratio is ours/rival; rival/ours if ``speed_up`` is set or the target is a least one; and
    without a rival our value itself.
    """

    what: str
    ours: Timing
    rival: Timing | None = None
    target: Target | None = None
    unit: str = "s"
    speed_up: bool = False

    def _ratio(self, ours: float, rival: float | None) -> float:
        if rival is None:
            return ours
        inverse = self.speed_up or (self.target is not None and self.target.sense == ">=")
        return rival / ours if inverse else ours / rival

    @property
    def ratio(self) -> float:
        """Of the medians; this is what the target judges."""
        return self._ratio(self.ours.median, self.rival.median if self.rival else None)

    @property
    def ratio_of_minima(self) -> float:
        return self._ratio(self.ours.least, self.rival.least if self.rival else None)

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.target.met(self.ratio)

    @property
    def doubtful(self) -> bool:
        """Judged, but on times that varied too much to be believed."""
        parts = [self.ours] if self.rival is None else [self.ours, self.rival]
        if self.met is None or self.unit != "s":
            return False
        return Clock.busy or any(part.unsteady for part in parts)

    def cells(self) -> tuple[str, ...]:
        bare = self.rival is None and self.target is None
        return (
            self.what,
            _amount(self.ours, self.unit),
            _amount(self.rival, self.unit) if self.rival else "",
            "" if bare else f"{self.ratio:,.3g} ({self.ratio_of_minima:,.3g})",
            str(self.target or ""),
            {None: "", True: "yes", False: "NO"}[self.met] + "?" * self.doubtful,
        )

    def record(self) -> dict[str, Any]:
        """The row as plain values, for the results file."""
        return {
            "what": self.what,
            "unit": self.unit,
            "ours_median": self.ours.median,
            "ours_min": self.ours.least,
            "ours_repeats": self.ours.repeats,
            "rival_median": self.rival.median if self.rival else None,
            "rival_min": self.rival.least if self.rival else None,
            "rival_repeats": self.rival.repeats if self.rival else None,
            "ratio_of_medians": self.ratio,
            "ratio_of_minima": self.ratio_of_minima,
            "target": str(self.target) if self.target else None,
            "met": self.met,
            "doubtful": self.doubtful,
        }


def _amount(timing: Timing, unit: str) -> str:
    """The median, and in brackets the minimum where there were repeats."""
    if timing.repeats == 1:
        return _with_unit(timing.median, unit)
    return f"{_with_unit(timing.median, unit)} ({_with_unit(timing.least, unit)})"


def _with_unit(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:,.4g} {unit}".rstrip()
    for size, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(value) >= size:
            return f"{value / size:.3g} {name}"
    return f"{value * 1e9:.3g} ns"


def table(rows: Sequence[Row]) -> str:
    """Plain columns: what, ours, rival, ratio, target, met."""
    lines = [("what", "ours", "rival", "ratio", "target", "met"), *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def machine() -> dict[str, Any]:
    """Where the numbers come from."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "clock": "CPU, one BLAS thread" if Clock.shared else "wall",
        "load": load(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
    }


def load() -> float:
    """Processes that wanted to run over the last minute, on average; 0 where unknown."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else 0.0


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def save(part: str, rows: Sequence[Row]) -> Path:
    """Write the rows and the machine to benchmarks/results/<part>.json."""
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{part}.json"
    content = {"part": part, "machine": machine(), "rows": [row.record() for row in rows]}
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file
