"""The rows of the selection benchmark by setting and method: means, ranks, lines of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .selection_designs import NOISE, REAL_TRUTH, SIMULATED
from .selection_rivals import FORMER, METHODS, ORACLE

Row = dict[str, Any]
IMPLIED_SNR = {"blocks": 3.0, "factor": 3.0, "example2": 5.0}  # where it is no part of a setting
ON_REAL, GROUPED = ("real", "held_out"), ("grouped", "mixed")  # kinds, truths with groups
LABEL, COLUMN = 52, 13  # characters
TOL = 1e-12


class Scores:
    """The scores of every method on every draw.

    Slow methods have fewer draws.  So that luck with these does not count, any two methods are
    compared on the draws that both have.

    Parameters
    ----------
    rows : list of dict
        As `selection.compute` gives them.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)
        present = {row["method"] for row in rows}
        order = dict.fromkeys((*METHODS, *FORMER, *sorted(present)))
        self.methods = [m for m in order if m in present]
        self.settings = list(dict.fromkeys(row["setting"] for row in rows))
        self._at: dict[tuple[str, str], dict[Any, Row]] = {}
        for row in rows:
            draws = self._at.setdefault((row["setting"], row["method"]), {})
            draws[row["problem"], row["seed"]] = row

    @property
    def kinds(self) -> list[str]:
        """The kinds of problems that claims are judged by, each with what it consists of."""
        return list(dict.fromkeys(kind for row in self.rows for kind in kinds_of(row)))

    def of(self, *kinds: str) -> Scores:
        """The part that belongs to some kinds of settings."""
        return self.where(lambda row: row["kind"] in kinds)

    def only(self, **same: Any) -> Scores:
        """The part whose rows have these values."""
        return self.where(lambda row: all(row[key] == value for key, value in same.items()))

    def where(self, keep: Callable[[Row], bool]) -> Scores:
        return Scores([row for row in self.rows if keep(row)])

    @property
    def signal(self) -> Scores:
        """All settings in which something is true."""
        return self.of(*SIMULATED, *REAL_TRUTH)

    @property
    def noise(self) -> Scores:
        return self.of(*NOISE)

    @property
    def ranked(self) -> list[str]:
        """The methods that are ranked: those anyone can run, on (nearly) every setting."""
        met = [m for m in self.methods if m != ORACLE and m not in FORMER]
        share = {m: np.mean([(s, m) in self._at for s in self.settings]) for m in met}
        return [m for m in met if share[m] > 0.9]

    def draws(self, setting: str, method: str) -> int:
        return len(self._at.get((setting, method), ()))

    def mean(self, setting: str, method: str, column: str = "f1") -> float:
        """Over the draws of one setting that the method has; NaN if it has none."""
        return _mean(list(self._values(setting, method, column).values()))

    def overall(self, method: str, column: str = "f1") -> float:
        """The mean over the settings that the method has."""
        return _nanmean([self.mean(s, method, column) for s in self.settings])

    def lead(self, setting: str, method: str, other: str, column: str = "f1") -> float:
        """By how much a method scores more than another on the draws that both have."""
        mine, theirs = (self._values(setting, m, column) for m in (method, other))
        return _mean([mine[draw] - theirs[draw] for draw in mine.keys() & theirs.keys()])

    def leads(self, method: str, among: Sequence[str], column: str = "f1") -> Any:
        """Settings x methods; NaN where one of the two was not run."""
        return np.array([[self.lead(s, method, m, column) for m in among] for s in self.settings])

    def mean_lead(self, method: str, other: str) -> float:
        """Over settings."""
        return _nanmean(self.leads(method, [other])[:, 0])

    def mean_ranks(self, among: Sequence[str], column: str = "f1", sign: int = 1) -> Row:
        """1 is first, and each method that scores more makes it one more; over settings."""
        behind = {m: sign * self.leads(m, among, column) < -TOL for m in among}
        there = {m: [self.draws(s, m) > 0 for s in self.settings] for m in among}
        return {m: float(1 + behind[m][there[m]].sum(axis=1).mean()) for m in among}

    def first_or_near(self, method: str, among: Sequence[str], margin: float = 0.02) -> list[str]:
        """The settings in which no method scores more, or not by more than a margin."""
        behind = self.leads(method, among) < -margin - TOL
        return [
            s
            for s, lost in zip(self.settings, behind.any(axis=1), strict=True)
            if not lost and self.draws(s, method)
        ]

    def _values(self, setting: str, method: str, column: str) -> dict[Any, float]:
        rows = self._at.get((setting, method), {})
        return {draw: row[column] for draw, row in rows.items() if row.get(column) is not None}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def _nanmean(values: Any) -> float:
    return _mean([value for value in values if np.isfinite(value)])


def kinds_of(row: Row) -> tuple[str, ...]:
    """Kinds that claims are judged by: scattered and grouped truths apart, genotypes by rows."""
    if row["kind"] == "linked":
        return (row["setting"],)
    if row["kind"] in ON_REAL:
        grouped = any(f"sizes={sizes} " in row["setting"] for sizes in GROUPED)
        return row["kind"], f"{row['kind']}, {'grouped' if grouped else 'scattered'} truth"
    return (row["kind"],)


def of_kind(row: Row, kind: str) -> bool:
    return kind in kinds_of(row)


def snr_of(row: Row) -> float | None:
    return row["snr"] if row["snr"] is not None else IMPLIED_SNR.get(row["kind"])


def line(label: str, values: Sequence[float], digits: int = 3) -> str:
    """A line of a table; what is not there is left out."""
    cells = (f"{value:.{digits}f}" if np.isfinite(value) else "-" for value in values)
    return f"{label:{LABEL}s}" + "".join(f"{cell:>{COLUMN}s}" for cell in cells)


def heading(label: str, names: Sequence[str]) -> str:
    """Names over two lines where one is too narrow."""
    first, second = zip(*(_halves(name) for name in names), strict=True) if names else ((), ())
    lines = [("", first)] * any(first) + [(label, second)]
    return "\n".join(
        f"{text:{LABEL}s}" + "".join(f"{half:>{COLUMN}s}" for half in halves)
        for text, halves in lines
    )


def _halves(name: str) -> tuple[str, str]:
    if len(name) < COLUMN:
        return "", name
    first, _, second = name.rpartition(" ")
    return (first, second) if first else (name[: COLUMN - 1], name[COLUMN - 1 :])


def told(values: dict[str, float], digits: int = 2, *, descending: bool = False) -> str:
    """Values with their names, in order."""
    ordered = sorted(values.items(), key=lambda item: item[1], reverse=descending)
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in ordered)
