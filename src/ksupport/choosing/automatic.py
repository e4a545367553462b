"""The automatic choice: walk, explore, judge, fit; a function of the problem.

Where the loss is not of squares, few features are sought by what they explain of the loss's pull
(`Response.pull`), as if that were the response; on held-out rows all is measured by the deviance,
and coefficients are refits by the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..design import Design, Problem, Split
from ..losses import Response, Squared
from ..walking import Result
from ..walking.structure import Structure
from .chosen import Chosen
from .clusters import unions_of
from .evidence import evidence_of
from .folds import Fold, folds_by, folds_of
from .holding_out import Paths, Time
from .judging import AllRows, Judgement, Said, judge, settled
from .known_groups import explored_by_group
from .policy import POLICY, Policy
from .posterior import Posterior, Sought, explored
from .strength import answers_on_folds, strength_on_folds
from .supports import Support, response_of, visited_by
from .together import evidence_together
from .walks import Walks
from .ways import chosen_by_judgement
from .weighing import weighed
from .words import Told, words_of


@dataclass(frozen=True, eq=False)
class Automatic:
    """What is asked of a problem, and how its rows are held out.

    Parameters
    ----------
    walks : Walks
        The paths, and the problem.
    structure : Structure
        Of the models: their groups and signs.
    other_splits : callable
        Given a range of times, folds that hold out all rows once for each; none if there are none.
    beta : float
        Of the expected F-beta that the answer makes largest.
    """

    walks: Walks
    structure: Structure
    other_splits: Callable[[range], list[Split]]
    beta: float = 1.0

    @property
    def problem(self) -> Problem:
        return self.walks.problem

    @property
    def policy(self) -> Policy:
        return replace(self._policy, beta=self.beta)

    @property
    def _policy(self) -> Policy:
        if self.structure.labels is not None:
            return POLICY.by_group
        if not self.problem.by_squares:
            return POLICY.by_loss(self.problem.losses[0].of_classes)
        return POLICY.of_several if self.problem.n_shared > 1 else POLICY

    def choose(self) -> Chosen:
        """Walk, explore, judge."""
        problem, structure = self.problem, self.structure
        folds = folds_of(problem) if problem.splits else []
        paths, visited = self.walks.coarse(folds)
        few, *on_folds = self._explore(folds, paths, visited)
        times: list[Time] = []
        if paths is not None:
            means = [each.mean() for each in on_folds]
            if problem.by_squares:
                on_folds = []  # have columns, and have said what they know
            times = self._held_out(Time(folds, paths, means, self._dispersion(few)))
        judgement = self._judged(few, times)
        folded, strength = None, None
        if times:
            folded = times[0].paths.settings, times[0].paths.table
        if times and judgement.signal and not problem.by_squares:
            candidates = times[0].candidates
            answers = answers_on_folds(judgement.few, on_folds, candidates, self.policy)
            strength = strength_on_folds(folds, answers, structure.positive)
        chosen = chosen_by_judgement(
            problem, judgement, few, folded, self.walks.steps, strength, structure
        )
        return replace(chosen, decision=self._words(judgement, chosen))

    def _dispersion(self, few: Posterior) -> float | None:
        """Of errors on held-out rows that are in units of y, and not squares."""
        loss = self.problem.losses[0]
        return few.dispersion if loss.in_units_of_y and not isinstance(loss, Squared) else None

    def _words(self, judgement: Judgement, chosen: Chosen) -> str:
        told = Told(
            size=chosen.size, by_squares=self.problem.by_squares, known=self.walks.n_groups,
            groups=self.structure.picked(np.flatnonzero(chosen.support).tolist()),
            responses=self.problem.n_shared, positive=self.structure.positive,
        )  # fmt: skip
        return words_of(judgement, told)

    # -- few features ------------------------------------------------------------------------

    def _explore(
        self, folds: list[Fold], paths: Paths | None, visited: list[Result]
    ) -> list[Posterior]:
        """What the evidence says on all rows, then on each fold; they share passes over X."""
        design, y = self.problem.design, self.problem.targets[0]
        whole = self._sought(design, y, visited, self.policy.rounds, self.policy.weighed)
        on_folds = [] if paths is None else self._sought_on(folds, paths.walked)
        return self._weighed([whole, *on_folds], [y, *(fold.y for fold in folds)])

    def _sought(
        self, design: Design, y: Any, results: list[Result], rounds: int, weighed: int
    ) -> Sought:
        """Few features, from what paths have visited on; how far to go."""
        return Sought(
            design, response_of(y), _supports(results), rounds, weighed, self.problem.counted,
            alike=isinstance(y, Response), positive=self.structure.positive,
        )  # fmt: skip

    def _sought_on(self, folds: list[Fold], walked: list[list[Result]]) -> list[Sought]:
        """The same on folds, not as far."""
        far = self.policy.rounds_on_folds, self.policy.weighed_on_folds
        pairs = zip(folds, walked, strict=True)
        return [self._sought(fold.design, fold.y, each, *far) for fold, each in pairs]

    def _weighed(self, sought: list[Sought], targets: list[Any]) -> list[Posterior]:
        n_jobs = self.walks.n_jobs
        if isinstance(targets[0], Response):
            return weighed(sought, targets, self.policy, n_jobs)
        if self.structure.labels is not None:
            return explored_by_group(sought, self.structure.labels, self.walks.sizes[1], n_jobs)
        return explored(sought, n_jobs)

    # -- rows held out -----------------------------------------------------------------------

    def _held_out(self, first: Time) -> list[Time]:
        """Rows held out: with more levels of k, and by other folds, unless few are clear."""
        if first.clear:
            return [first]
        if self.policy.finer:
            first = replace(first, paths=self.walks.finer(first.folds, first.paths))
        return [first, *self._again(first, range(1, self.policy.times))]

    def _again(self, first: Time, times: range) -> list[Time]:
        """Rows held out by other folds, which levels of k being known."""
        splits, count = self.other_splits(times), len(first.folds)
        if not splits:
            return []
        settings = [first.paths.settings[at] for at in first.candidates.led]
        folds = folds_by(self.problem, splits)
        walked, _ = self.walks.on_folds(folds, settings)
        found = self._weighed(self._sought_on(folds, walked), [fold.y for fold in folds])
        means = [each.mean() for each in found]
        parts = [slice(at, at + count) for at in range(0, len(folds), count)]
        return [Time(folds[part], Paths(settings, walked[part]), means[part]) for part in parts]

    def _said(self, time: Time) -> Said:
        """What rows say that were held out once; of a group, all that can matter alike."""
        design = self.problem.design
        said = Said.of(time.candidates, design.d, self.policy)
        if self.structure.labels is None:
            return said
        shares = self.structure.largest_in_group(said.shares)
        return replace(said, shares=np.where(design.column_norms > 0, shares, 0.0))

    # -- both --------------------------------------------------------------------------------

    def _judged(self, few: Posterior, times: list[Time]) -> Judgement:
        """What is believed; rows are held out more often until that no longer depends on folds."""
        policy, clear, y = self.policy, bool(times) and times[0].clear, self.problem.targets[0]
        clustered = self.problem.by_squares and self.structure.labels is None and not clear
        unions = unions_of(few) if clustered else None
        together = 0.0
        if isinstance(y, Response) and not self.structure.positive:  # it is of either sign
            together = evidence_together(self.problem.design, y)
        said: list[Said] = []
        while True:
            said += [self._said(each) for each in times[len(said) :]]
            elected = self._elected(times, few) if policy.odds[1] else np.inf
            rows = AllRows(few, unions, elected, together)
            once = len(times) < 2
            if once or len(times) >= policy.most_times or settled(rows, said, policy):
                return judge(rows, said, policy)
            times = [*times, *self._again(times[0], range(len(times), 2 * len(times)))]

    def _elected(self, times: list[Time], few: Posterior) -> float:
        """The most evidence, by squares, on all rows of what folds elect, beyond few features."""
        cells = sorted({(k, record) for each in times for k, record in each.leading})
        if not cells:
            return np.inf
        levels = sorted({k for k, _ in cells})
        walked = self.walks.on_all_rows(self.walks.settings(levels))
        visited = dict(zip(levels, visited_by(walked), strict=True))
        supports = {visited[k][min(record, len(visited[k]) - 1)] for k, record in cells}
        design, y, counted = self.problem.design, self.problem.targets[0], self.problem.counted
        many = POLICY.many * float(few.probability().sum())
        score = partial(evidence_of, design, y, structure=self.structure, counted=counted)
        return min((score(S).score for S in sorted(supports) if len(S) > many), default=np.inf)


def _supports(results: list[Result]) -> list[Support]:
    """All supports that paths have visited, once."""
    return list(dict.fromkeys(S for each in visited_by(results) for S in each))
