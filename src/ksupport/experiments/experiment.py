"""What an experiment is: a declared grid of cells, a pure function of a cell, a table, a plot."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
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
    """One figure or table of the paper.

    Attributes
    ----------
    name : str
        What the command line calls it, and the stem of its files.
    title : str
        One line for people.
    version : int
        Raise it to compute stored cells again, after a change of `compute`.
    cells : callable
        ``cells(protocol, quick)``: the grid, one dictionary of arguments per cell.
    compute : callable
        ``compute(**cell)``: the rows of one cell; a pure function at the top of its module.
    plot : callable
        ``plot(rows, folder)`` draws ``folder/<name>.png`` and ``.svg`` from the rows of all cells.
    table : callable
        From the rows of all cells, in the order of the grid, to the lines of the CSV file; by
        default they are these lines.
    reference : callable, optional
        The published values, as lines with the columns of `table`, and, optionally, a column
        ``tolerance``: the largest difference from ours at which the two agree.
    repeats : int
        Runs behind each mean of the table, for standard errors.
    part : str
        The argument of `compute` that names the part of the experiment a cell belongs to.
    missing : callable, optional
        ``missing(protocol, quick)``: the parts that cannot run here, each with what it lacks and
        how to get it.
    protocols : tuple of str
        "paper" repeats the published code, "fair" is what we believe.
    """

    name: str
    title: str
    version: int
    cells: Callable[[Protocol, bool], list[Cell]]
    compute: Callable[..., list[Row]]
    plot: Callable[[list[Row], Path], None]
    table: Callable[[list[Row]], list[Row]] = list
    reference: Callable[[], list[Row]] | None = None
    repeats: int = 1
    part: str = ""
    missing: Callable[[Protocol, bool], dict[str, str]] | None = None
    protocols: tuple[Protocol, ...] = ("paper", "fair")

    def left_out(self, protocol: Protocol, quick: bool) -> dict[str, str]:
        """The parts that cannot run here, each with what it lacks and how to get it."""
        return self.missing(protocol, quick) if self.missing else {}

    def runnable(self, protocol: Protocol, quick: bool) -> list[Cell]:
        """The cells of all parts that can run here."""
        lacking = self.left_out(protocol, quick)
        cells = self.cells(protocol, quick)
        return [cell for cell in cells if cell.get(self.part) not in lacking]


@contextmanager
def quiet(*more: type[Warning]) -> Iterator[None]:
    """Without warnings of walks that do not converge: grids hold such parameters on purpose."""
    with warnings.catch_warnings():
        for kind in (ConvergenceWarning, *more):
            warnings.simplefilter("ignore", kind)
        yield
