"""What an experiment is: a declared grid of cells, a pure function of a cell, a table, a plot."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sklearn.exceptions import ConvergenceWarning

# The methods of the paper, in the order of its tables and legends; others may be registered.
PAPER_METHODS = ("irksn", "ksn", "ircr", "irosr", "srdi", "iht", "omp", "lasso", "enet")

Protocol = Literal["paper", "fair"]
Row = dict[str, Any]  # a result or a line of a table; JSON holds it
Cell = dict[str, Any]  # the arguments of `compute`; JSON holds them too


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper."""

    name: str  # what the command line calls it, and the stem of its files
    title: str
    version: int  # raise it to compute stored cells again, after a change of `compute`
    cells: Callable[[Protocol, bool], list[Cell]]  # the grid of a protocol, perhaps a quick one
    compute: Callable[..., list[Row]]  # the rows of a cell; pure, at the top of its module
    plot: Callable[[list[Row], Path], None]  # draws <name>.png and .svg from the rows of all cells
    table: Callable[[list[Row]], list[Row]] = list  # from these rows to the lines of the CSV file
    # The published values, with the columns of `table`, and perhaps ``tolerance``: the largest
    # difference from ours at which the two agree.
    reference: Callable[[], list[Row]] | None = None
    repeats: int = 1  # runs behind each mean of the table, for standard errors
    part: str = ""  # the argument of `compute` that names the part that a cell belongs to
    missing: Callable[[Protocol, bool], dict[str, str]] | None = None  # see `left_out`
    protocols: tuple[Protocol, ...] = ("paper", "fair")  # the published code; what we believe

    def left_out(self, protocol: Protocol, quick: bool) -> dict[str, str]:
        """The parts that cannot run here, each with what it lacks and how to get it."""
        return self.missing(protocol, quick) if self.missing else {}

    def runnable(self, protocol: Protocol, quick: bool) -> list[Cell]:
        """The cells of all parts that can run here."""
        lacking = self.left_out(protocol, quick)
        cells = self.cells(protocol, quick)
        return [cell for cell in cells if cell.get(self.part) not in lacking]


def in_parts(laws: Iterable[str], count: int, size: int) -> list[Cell]:
    """Cells of so many problems of each law, at most ``size`` in one."""
    starts = range(0, count, size)
    return [{"law": law, "start": s, "stop": min(s + size, count)} for law in laws for s in starts]


@contextmanager
def quiet(*more: type[Warning]) -> Iterator[None]:
    """Without warnings of walks that do not converge: grids hold such parameters on purpose."""
    with warnings.catch_warnings():
        for kind in (ConvergenceWarning, *more):
            warnings.simplefilter("ignore", kind)
        yield
