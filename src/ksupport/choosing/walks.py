"""The paths of the automatic choice: on folds, with few levels of k and more, and on all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._common.levels import FIRST, Setting, for_criteria, for_groups, for_prediction, staged
from ..algorithms.irksn import IRKSNMethod
from ..design import Problem
from ..walking import Path, Result, Rule, run
from .folds import Fold, walk_folds, walk_stages
from .grids import by_loss
from .holding_out import Paths
from .policy import POLICY


@dataclass(frozen=True, eq=False)
class Walks:
    """Paths of IRKSN on a problem.

    Parameters
    ----------
    problem : Problem
        The data.
    structure : dict
        What models may look like, as parameters of a method.
    n_groups : int, optional
        Known groups to choose from; None: features come one by one.
    steps : int
        Of a path, at most.
    stopping : Rule
        By which those on folds end.
    n_jobs : int, optional
        Paths walked at once.
    """

    problem: Problem
    structure: Setting
    n_groups: int | None
    steps: int
    stopping: Rule
    n_jobs: int | None

    def settings(self, levels: list[int]) -> list[Setting]:
        """Paths of these levels, by the loss of the problem."""
        same = {"alpha": POLICY.alpha, **by_loss(self.problem.losses[0]), **self.structure}
        return [{"k": k, **same} for k in levels]

    @property
    def sizes(self) -> tuple[int, int]:
        """How many samples there are, and of how many features, or groups, some are chosen."""
        design = self.problem.design
        return round(design.n_samples), design.d if self.n_groups is None else self.n_groups

    def coarse(self, folds: list[Fold]) -> tuple[Paths | None, list[Result]]:
        """Few levels of k on folds, if there are any; beside the first of them, on all rows."""
        n, d = self.sizes
        # Unions of known groups are sought from none on.
        visiting = self.settings(for_criteria(n, d) if self.n_groups is None else [])
        if not folds:
            return None, self.on_all_rows(visiting)
        visited: list[Result] = []

        def walk(settings: list[Setting]) -> list[list[Result]]:
            others = [] if visited else visiting
            walked, beside = self.on_folds(folds, settings, self._starts(others))
            visited.extend(beside)
            return walked

        stages = staged(self.settings(for_prediction(n, d)), FIRST)
        return Paths(*walk_stages(walk, stages)), visited

    def finer(self, folds: list[Fold], coarse: Paths) -> Paths:
        """With levels around the best of these."""
        best, _ = coarse.table.best()
        levels = [setting["k"] for setting in coarse.settings]
        fine = self.settings(_between(levels, best, for_groups(*self.sizes)))
        if not fine:
            return coarse
        new, _ = self.on_folds(folds, fine)
        walked = [a + b for a, b in zip(coarse.walked, new, strict=True)]
        return Paths(coarse.settings + fine, walked)

    def on_folds(
        self, folds: list[Fold], settings: list[Setting], beside: Sequence[Path] = ()
    ) -> tuple[list[list[Result]], list[Result]]:
        """Paths of all settings on all folds, and what comes of those beside them."""
        methods = [IRKSNMethod(**setting) for setting in settings]
        return walk_folds(
            folds, methods, beside, max_iter=self.steps, every=POLICY.every,
            stopping=self.stopping, n_jobs=self.n_jobs,
        )  # fmt: skip

    def on_all_rows(self, settings: list[Setting]) -> list[Result]:
        """Paths of all settings on all rows."""
        paths = self._starts(settings)
        return run(paths, max_iter=self.steps, every=POLICY.every, n_jobs=self.n_jobs)

    def _starts(self, settings: list[Setting]) -> list[Path]:
        design, y = self.problem.design, self.problem.targets[0]
        return [IRKSNMethod(**setting).start(design, y) for setting in settings]


def _between(coarse: list[int], at: int, levels: list[int]) -> list[int]:
    """Some levels around one of the coarse ones, up to its neighbours."""
    low = coarse[at - 1] if at > 0 else 0
    high = coarse[at + 1] if at + 1 < len(coarse) else levels[-1] + 1
    between = [k for k in levels if low < k < high and k != coarse[at]]
    apart = np.linspace(0, len(between) - 1, min(POLICY.finer, len(between)))
    return [between[round(each)] for each in apart]
