"""Groups: which iterates predict held-out rows, and what features they have.

Every row that a fold holds out says how far each candidate is off.  Rows are given random
weights (the Bayesian bootstrap, Rubin 1981); each draw elects the candidate with the least
weighted error, and a feature's share is how often the elected have it, on all folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..design import Floats, Ints, Unseen
from ..walking import Result
from .policy import POLICY, Policy
from .supports import Support, visited_by

BLOCKS = 400  # of held-out rows in a fold, at most: neighbours among more rows are averaged


@dataclass(frozen=True)
class Performance:
    """What folds say of rows that the model has not seen, as in ``AutoIRKSN.performance_``.

    Whoever chooses by the folds sees their errors; so the errors on each fold are those of the
    candidate that the other folds prefer.

    Parameters
    ----------
    score : float
        Share of the variation that is explained: 1 is all, 0 what the mean explains.
    standard_error : float
        Of the score.
    baseline : float
        The score of knowing nothing.
    loss : float
        Mean error.
    baseline_loss : float
        That of knowing nothing.
    doubt : float
        Share of draws in which knowing nothing is as good.

    Examples
    --------
    >>> from ksupport import Performance
    >>> print(Performance(0.8, 0.05, 0.0, 1.0, 5.0, 0.0))
    0.80 ± 0.05 (knowing nothing: 0.00)
    """

    score: float
    standard_error: float
    baseline: float
    loss: float
    baseline_loss: float
    doubt: float

    @classmethod
    def mean(cls, times: Sequence[Performance]) -> Performance:
        """What is seen on the mean where rows are held out several times."""
        names = [each.name for each in fields(cls)]
        return cls(**{name: float(np.mean([getattr(t, name) for t in times])) for name in names})

    def __str__(self) -> str:
        score = round(self.score, 2) + 0.0  # no minus before zero
        return f"{score:.2f} ± {self.standard_error:.2f} (knowing nothing: {self.baseline:.2f})"


@dataclass(frozen=True)
class HeldOutRows:
    """Errors of candidates on the rows that one fold holds out, in blocks of rows."""

    losses: Floats  # candidates x blocks: mean errors
    mass: Floats  # of the blocks: how many samples each stands for

    @classmethod
    def of(cls, unseen: Unseen, models: Any) -> HeldOutRows:
        """Of models, as rows of coefficients."""
        losses, mass = unseen.row_errors(models)
        if mass.size > BLOCKS:
            at = np.linspace(0, mass.size, BLOCKS, endpoint=False).astype(np.intp)
            total = np.add.reduceat(mass, at)
            losses, mass = np.add.reduceat(losses * mass, at, axis=1) / total, total
        return cls(losses, mass)


@dataclass(frozen=True)
class Cell:
    """A path and one of its records."""

    path: int
    record: int


@dataclass(frozen=True, eq=False)
class Candidates:
    """All records of all paths on folds, and one model beside them (`Posterior.mean`)."""

    cells: list[Cell]
    supports: list[list[list[Support]]]  # by path and fold: of every record
    errors: Floats  # cells, then the model beside, then knowing nothing, x blocks
    mass: Floats  # of the blocks
    fold: Ints  # of the blocks
    dispersion: float | None = None  # of errors that are not squares, but in units of y

    @classmethod
    def of(
        cls,
        walked: Sequence[Sequence[Result]],
        unseen: Sequence[Unseen],
        beside: Sequence[Floats],
        dispersion: float | None = None,
    ) -> Candidates:
        """Of paths on folds, ``walked[fold][path]``, and the model beside them on each fold."""
        paths = [[_iterates(results[at]) for results in walked] for at in range(len(walked[0]))]
        lengths = [max(each.shape[0] for each in one) for one in paths]
        cells = [Cell(path, t) for path, length in enumerate(lengths) for t in range(length)]
        measured = []
        for at, rows in enumerate(unseen):
            models = sp.vstack(
                [_aligned(one[at], length) for one, length in zip(paths, lengths, strict=True)]
                + [sp.csr_array(np.stack([beside[at], np.zeros_like(beside[at])]))],
                format="csr",
            )
            measured.append(HeldOutRows.of(rows, models))
        fold = np.repeat(np.arange(len(unseen)), [each.mass.size for each in measured])
        errors = np.hstack([each.losses for each in measured])
        mass = np.concatenate([each.mass for each in measured])
        visited = [visited_by(results) for results in walked]
        supports = [[each[at] for each in visited] for at in range(len(paths))]
        return cls(cells, supports, errors, mass, fold, dispersion)

    @property
    def of_cells(self) -> Floats:
        return self.errors[: len(self.cells)]

    @cached_property
    def means(self) -> Floats:
        """Mean errors of all candidates."""
        return self.errors @ (self.mass / self.mass.sum())

    def weights(self, draws: int) -> Floats:
        """Random weights of the blocks, draws x blocks; those of a draw sum to 1."""
        # A block of many rows is less uncertain than one of few.
        gamma = np.random.default_rng(0).gamma(1.0, size=(draws, self.mass.size))
        weights = gamma * self.mass
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def elected(self, policy: Policy = POLICY) -> Floats:
        """For each cell, the share of draws that elect it."""
        best = np.argmin(self.of_cells @ self.weights(policy.draws).T, axis=0)
        return np.bincount(best, minlength=len(self.cells)) / policy.draws

    @property
    def led(self) -> list[int]:
        """The paths of those that are elected, and of the earliest near the best."""
        cells = [*np.flatnonzero(self.elected()).tolist(), self.earliest()]
        return sorted({self.cells[at].path for at in cells})

    def earliest(self, policy: Policy = POLICY) -> int:
        """The best cell of the earliest record that has one near the best of all."""
        means = self.means[: len(self.cells)]
        best = int(np.argmin(means))
        excess = self.of_cells - self.of_cells[best]
        excess = np.ldexp(excess, -np.frexp(np.abs(excess).max())[1])  # that can be squared
        share = self.mass / self.mass.sum()
        spread = np.sqrt(((excess - (excess @ share)[:, None]) ** 2) @ share**2)
        near = (excess @ share <= policy.near * spread) & self._filled
        near[best] = True
        records = np.array([cell.record for cell in self.cells])
        first = near & (records == records[near].min())
        return int(np.argmin(np.where(first, means, np.inf)))

    @cached_property
    def _filled(self) -> Any:
        """Whether a cell has a feature on some fold."""
        return np.array([any(map(len, self._features(cell))) for cell in self.cells])

    def _features(self, cell: Cell) -> list[Support]:
        """Of a record, on every fold; a path that ended stays where it was."""
        return [each[min(cell.record, len(each) - 1)] for each in self.supports[cell.path]]

    def on(self, fold: int) -> Candidates:
        """The same, with the iterates of one fold alone."""
        return replace(self, supports=[[one[fold]] for one in self.supports])

    def shares(self, elected: Floats, d: int) -> Floats:
        """For each feature, how often the elected have it, on all folds."""
        p = np.zeros(d)
        for at in np.flatnonzero(elected).tolist():
            folds = self._features(self.cells[at])
            for each in folds:
                p[list(each)] += elected[at] / len(folds)
        return p

    def performance(self, policy: Policy = POLICY) -> Performance:
        """Errors on each fold of what the other folds prefer."""
        ours, nothing = np.empty(self.mass.size), self.errors[-1]
        for fold in np.unique(self.fold).tolist():
            here = self.fold == fold
            others = self.errors[:-1, ~here] @ self.mass[~here]
            ours[here] = self.errors[int(np.argmin(others)), here]
        share = self.mass / self.mass.sum()
        loss, baseline = float(ours @ share), float(nothing @ share)
        drawn = self.weights(policy.draws)
        spread = np.std(1 - (drawn @ ours) / np.maximum(drawn @ nothing, np.finfo(float).tiny))
        doubt = float(np.mean(drawn @ ours >= drawn @ nothing))
        score = 1 - loss / baseline if baseline > 0 else 0.0
        return Performance(score, float(spread), 0.0, loss, baseline, doubt)

    @property
    def ahead(self) -> float:
        """n log of the best iterates' error, over that of the model beside them.

        Rows that are far off add to both errors; where they may, differences count.
        """
        few, cells = self.means[-2], self.means[: len(self.cells)].min()
        if self.dispersion is not None:
            return float(self.mass.sum() * (cells - few) / self.dispersion)
        tiny = np.finfo(float).tiny
        return float(self.mass.sum() * np.log(max(cells, tiny) / max(few, tiny)))


def _iterates(result: Result) -> sp.csr_array:
    assert result.iterates is not None  # all were kept
    return result.iterates


def _aligned(iterates: sp.csr_array, length: int) -> sp.csr_array:
    """So many records; a path that ended stays where it was."""
    more, (first, end) = length - iterates.shape[0], iterates.indptr[-2:]
    if more == 0:
        return iterates
    values, index = (
        np.append(a, np.tile(a[first:end], more)) for a in (iterates.data, iterates.indices)
    )
    indptr = np.append(iterates.indptr, end + (end - first) * np.arange(1, more + 1))
    return sp.csr_array((values, index, indptr), shape=(length, iterates.shape[1]))
