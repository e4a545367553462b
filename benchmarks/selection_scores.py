"""The rows of the selection benchmark by setting and method: means, ranks, lines of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .selection_designs import NOISE, REAL_TRUTH, SIMULATED
from .selection_rivals import FORMER, METHODS, ORACLE

Row = dict[str, Any]
IMPLIED_SNR = {"blocks": 3.0, "factor": 3.0, "example2": 5.0}  # where it is no part of a setting
LABEL, COLUMN = 52, 10  # characters
TOL = 1e-12


class Scores:
    """The scores of every method on every draw.

    Slow methods have fewer draws.  So that luck with these does not count, the mean of a method is
    that of the reference plus the mean difference on the draws that both have; for two methods
    with the same draws these are plain means.

    Parameters
    ----------
    rows : list of dict
        As `selection.compute` gives them.
    reference : str, optional
        The method with the most draws; by default AutoIRKSN, or what there is.
    """

    def __init__(self, rows: Sequence[Row], reference: str | None = None) -> None:
        self.rows = list(rows)
        present = {row["method"] for row in rows}
        self.methods = [m for m in (*METHODS, *FORMER) if m in present]
        order = [reference or "AutoIRKSN", *FORMER, *self.methods]
        self.reference = next((m for m in order if m in present), "")
        self.settings = list(dict.fromkeys(row["setting"] for row in rows))
        self._at: dict[tuple[str, str], dict[Any, Row]] = {}
        for row in rows:
            draws = self._at.setdefault((row["setting"], row["method"]), {})
            draws[row["problem"], row["seed"]] = row

    def of(self, *kinds: str) -> Scores:
        """The part that belongs to some kinds of settings."""
        return self.where(lambda row: row["kind"] in kinds)

    def only(self, **same: Any) -> Scores:
        """The part whose rows have these values."""
        return self.where(lambda row: all(row[key] == value for key, value in same.items()))

    def where(self, keep: Callable[[Row], bool]) -> Scores:
        return Scores([row for row in self.rows if keep(row)], self.reference)

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
        """Of one setting, with the reference's luck taken off; NaN if there is nothing."""
        mine = self._values(setting, method, column)
        theirs = self._values(setting, self.reference, column)
        common = mine.keys() & theirs.keys()
        if method == self.reference or not common:
            return _mean(list(mine.values()))
        gain = _mean([mine[draw] - theirs[draw] for draw in common])
        return _mean(list(theirs.values())) + gain

    def _values(self, setting: str, method: str, column: str) -> dict[Any, float]:
        rows = self._at.get((setting, method), {})
        return {draw: row[column] for draw, row in rows.items() if row.get(column) is not None}

    def overall(self, method: str, column: str = "f1") -> float:
        """The mean over the settings that the method has."""
        return _mean([m for s in self.settings if np.isfinite(m := self.mean(s, method, column))])

    def matrix(self, among: Sequence[str], column: str = "f1") -> Any:
        """Settings x methods."""
        return np.array([[self.mean(s, m, column) for m in among] for s in self.settings])

    def mean_ranks(self, among: Sequence[str], column: str = "f1", sign: int = 1) -> Row:
        """1 is first; equal scores share the better rank."""
        values = sign * self.matrix(among, column)
        ranks = 1.0 + (values[:, None, :] > values[:, :, None] + TOL).sum(axis=2)
        ranks[~np.isfinite(values)] = np.nan
        return dict(zip(among, np.nanmean(ranks, axis=0), strict=True))

    def first_or_near(self, method: str, among: Sequence[str], margin: float = 0.02) -> list[str]:
        """The settings in which the method is first or within a margin of first."""
        values = self.matrix(among)
        mine = values[:, list(among).index(method)]
        near = mine >= np.nanmax(values, axis=1) - margin - TOL
        return [s for s, good in zip(self.settings, near, strict=True) if good]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


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
