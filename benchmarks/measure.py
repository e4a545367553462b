"""Rows with targets, and the table they make; the timing is that of ``ksupport bench``."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from threadpoolctl import threadpool_limits

from ksupport.commands.timing import (
    IDLE,
    Clock,
    Timing,
    cores,
    cpu,
    elapsed,
    load,
    once,
    summary,
    take_turns,
    with_unit,
)

__all__ = [
    "IDLE", "Clock", "Row", "Target", "Timing", "at_least", "at_most", "elapsed", "load",
    "machine", "of_one_thread", "once", "save", "summary", "table", "take_turns",
]  # fmt: skip

RESULTS = Path(os.environ.get("KSUPPORT_RESULTS") or Path(__file__).parent / "results")
PACKAGES = ("numpy", "scipy", "scikit-learn", "modopt")


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


@contextmanager
def of_one_thread() -> Iterator[None]:
    """Within, times are the CPU's, of one BLAS thread, whatever those of the whole run are."""
    before, Clock.shared = Clock.shared, True
    try:
        with threadpool_limits(1):
            yield
    finally:
        Clock.shared = before


def _amount(timing: Timing, unit: str) -> str:
    """The median, and in brackets the minimum where there were repeats."""
    if timing.repeats == 1:
        return with_unit(timing.median, unit)
    return f"{with_unit(timing.median, unit)} ({with_unit(timing.least, unit)})"


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
        "cpu": cpu(),
        "cores": cores(),
        "clock": "CPU, one BLAS thread" if Clock.shared else "wall",
        "load": load(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def save(part: str, rows: Sequence[Row]) -> Path:
    """Write the rows and the machine to benchmarks/results/<part>.json."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{part}.json"
    content = {"part": part, "machine": machine(), "rows": [row.record() for row in rows]}
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file
