"""Rows held out: paths on folds, few features by evidence there, and what both predict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._common.levels import Setting
from ..design import Floats
from ..walking import Result
from .elections import Candidates
from .folds import Fold
from .policy import POLICY
from .tables import FoldTable, table_of_iterates

LEADING = 5  # elected iterates whose evidence on all rows is asked for


@dataclass(frozen=True)
class Paths:
    """Paths of the same settings, on folds."""

    settings: list[Setting]
    walked: list[list[Result]]  # by fold and setting

    @property
    def table(self) -> FoldTable:
        return table_of_iterates(self.walked)


@dataclass(frozen=True)
class Time:
    """All rows held out once: paths on folds, and few features by evidence there."""

    folds: list[Fold]
    paths: Paths
    few: list[Floats]  # models of few features, one on each fold
    dispersion: float | None = None  # of errors that are not squares, but in units of y

    @cached_property
    def candidates(self) -> Candidates:
        """Errors on the rows that folds hold out."""
        unseen = [fold.unseen for fold in self.folds]
        return Candidates.of(self.paths.walked, unseen, self.few, self.dispersion)

    @property
    def clear(self) -> bool:
        """Whether few features clearly predict best."""
        return self.candidates.ahead >= POLICY.clearly

    @property
    def leading(self) -> list[tuple[int, int]]:
        """Levels and records of the iterates that are elected most, and of the earliest."""
        candidates, elected = self.candidates, self.candidates.elected()
        most = np.argsort(-elected, kind="stable")[:LEADING]
        cells = {candidates.earliest(), *most[elected[most] > 0].tolist()}
        at = [candidates.cells[each] for each in sorted(cells)]
        return [(self.paths.settings[cell.path]["k"], cell.record) for cell in at]
