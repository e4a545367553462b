"""`AutoIRKSN` as a function of the problem: walk, sample, test, judge, fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._common.levels import Setting, for_criteria
from .._common.phases import phase
from ..algorithms.irksn import IRKSNMethod
from ..choosing.average import Average
from ..choosing.evidence import evidence_of
from ..choosing.folds import Fold, folds_of
from ..choosing.grids import by_loss
from ..choosing.selection import Selection
from ..choosing.supports import Support, visited_by
from ..design import Design, Floats, Ints, Problem
from ..losses import Response
from ..posterior.candidates import Task, candidates_of
from ..posterior.chains import Budget
from ..posterior.effective_rows import EffectiveRows, effective_rows, kish
from ..posterior.global_test import permutation_p_value
from ..posterior.judgement import Judgement, Kind, judged, words_of
from ..posterior.performance import Performance, performance_of
from ..posterior.result import Posterior
from ..posterior.sampling import posteriors
from ..walking import Path, Result, run
from ..walking.structure import Structure

ALPHA, STEPS, EVERY = 1e-2, 60, 2  # of the paths that nominate features (`benchmarks/supports.py`)
FEW = 20  # models that are averaged on folds
ON_FOLDS = Budget(chains=1, burn_in=300, moves=1200, rounds=1, evaluated=40)
LISTED = 1000  # supports in the table of a choice
MOST_ALTERNATIVES, NEAR = 50, 2.0  # supports that are listed: this much more -2 log probability


@dataclass(frozen=True, eq=False)
class Automatic:
    """What is asked of a problem.

    Parameters
    ----------
    problem : Problem
        The data, with the folds whose rows are held out.
    structure : Structure
        Of the models: their groups and signs.
    parameters : dict
        The same as parameters of a method.
    n_groups : int, optional
        Known groups to choose from; None: features come one by one.
    steps : int
        Of a path, at most.
    beta : float
        Of the expected F-beta that the answer makes largest.
    row_groups : array of int, optional
        Which rows belong together.
    seed : int
        Of chains and permutations.
    """

    problem: Problem
    structure: Structure
    parameters: Setting
    n_groups: int | None = None
    steps: int = STEPS
    beta: float = 1.0
    row_groups: Ints | None = None
    seed: int = 0
    n_jobs: int | None = None
    by_average: bool = True  # whether predictions are averages, and not those of the support

    def choose(self) -> Selection:
        """Nominate features, sample models, judge, and fit the answer."""
        problem = self.problem
        folds = folds_of(problem) if problem.splits else []
        tasks = self._tasks(folds)
        (posterior, rows), *on_folds = posteriors(tasks, self.n_jobs)
        with phase("testing for any signal", one_pass=True):
            p_value = permutation_p_value(tasks[0], rows) if posterior.noise < 0.5 else np.nan
        performance, share = self._performance(folds, [each for each, _ in on_folds])
        judgement = judged(posterior, p_value, rows, performance, self.beta)
        return self._build_selection(judgement, share)

    def p_value(self, permutations: int) -> float:
        """Return the p-value of the permutation test, without paths and chains."""
        problem = self.problem
        design, target = problem.design, problem.targets[0]
        task = self._task(0, design, target, [])
        if task.response is not None:
            rows = float(task.response.weights.sum())
            return permutation_p_value(task, EffectiveRows(task.share * rows, rows), permutations)
        (candidates,) = candidates_of([task])
        columns = np.array(design.columns(candidates.features), np.float64)
        found = effective_rows(design, task.Y, columns, task.share, task.row_groups)
        return permutation_p_value(task, found, permutations)

    # -- features that paths nominate ---------------------------------------------------------

    def _tasks(self, folds: Sequence[Fold]) -> list[Task]:
        """Return the tasks of all rows and of each fold; their paths share passes over X."""
        problem = self.problem
        pairs = [(problem.design, problem.targets[0]), *((each.design, each.y) for each in folds)]
        walked = self._visited_supports(pairs)
        tasks = [
            self._task(at, *pair, visited)
            for at, (pair, visited) in enumerate(zip(pairs, walked, strict=True))
        ]
        few = FEW if self.by_average else 0
        return [tasks[0], *(each.shorter(ON_FOLDS, few) for each in tasks[1:])]

    def _task(self, at: int, design: Design, target: Any, visited: list[Support]) -> Task:
        """Return the task of all rows (0), or of a fold."""
        return Task(
            design, target, visited, self._share(target), self.structure.positive,
            self.structure.labels, self.n_groups or 0, self._rows_together(at), self.seed,
        )  # fmt: skip

    def _share(self, target: Any) -> float:
        """Return the effective fraction of rows under relative weights; 1 for repetitions."""
        if not isinstance(target, Response):
            return self.problem.effective_share
        return 1.0 if self.problem.weights.meaning == "repetitions" else kish(target.weights)

    def _rows_together(self, at: int) -> Ints | None:
        if self.row_groups is None or self.problem.squares is not None:
            return None
        rows = self.problem.train if at == 0 else self.problem.splits[at - 1][0]
        return np.unique(self.row_groups[rows], return_inverse=True)[1]

    def _visited_supports(self, pairs: Sequence[tuple[Design, Floats]]) -> list[list[Support]]:
        if self.n_groups is not None:  # all groups are looked at, or those that go with y
            return [[] for _ in pairs]
        methods = [IRKSNMethod(**each) for each in self._settings]
        paths: list[Path] = [method.start(*pair) for pair in pairs for method in methods]
        results = run(paths, max_iter=self.steps, every=EVERY, n_jobs=self.n_jobs)
        count = len(methods)
        return [_supports(results[at : at + count]) for at in range(0, len(results), count)]

    @property
    def _settings(self) -> tuple[Setting, ...]:
        """Return the settings of the paths, one for each level of k."""
        design = self.problem.design
        same = {"alpha": ALPHA, **by_loss(self.problem.losses[0]), **self.parameters}
        levels = for_criteria(round(design.n_samples), self.n_groups or design.d)
        return tuple({"k": k, **same} for k in levels)

    # -- what comes of it ----------------------------------------------------------------------

    def _performance(
        self, folds: Sequence[Fold], found: Sequence[Posterior]
    ) -> tuple[Performance | None, float]:
        """Return the performance of the whole procedure on the held-out rows of the folds.

        Also return the share of ridge regression in the average, chosen on the same rows.
        """
        if not folds:
            return None, Average.share
        models = []
        for fold, posterior in zip(folds, found, strict=True):
            posterior = posterior if posterior.noise < 0.5 else posterior.without_signal()
            if self.by_average:
                models.append(self._average(fold.design, fold.y, posterior, on_fold=True))
                continue
            support = np.flatnonzero(posterior.select_f(self.beta)[0])
            w = self._fit_ridge(fold.design, fold.y, support)[..., support]
            models.append(Average.of_one(support, w))
        loss = self.problem.losses[0]
        return performance_of([fold.unseen for fold in folds], models, loss)

    def _fit_ridge(
        self, design: Design, target: Floats, support: Ints, given: bool = False
    ) -> Floats:
        """Fit ridge regression on the support, with the penalty of largest evidence.

        The support is one of many, or it is ``given``.
        """
        coef = evidence_of(
            design, target, tuple(support.tolist()), self.structure, self.problem.effective_share,
            given,
        ).coef  # fmt: skip
        return self.problem.reshape_coef(coef)

    def _average(
        self, design: Design, target: Floats, posterior: Posterior, on_fold: bool = False
    ) -> Average:
        """Return the average of the posterior's models and a ridge regression on their features."""
        used = np.flatnonzero(posterior.inclusion > 0)
        ridge = self._fit_ridge(design, target, used, given=True)[..., used]
        mean = posterior.coef[..., used] if used.size else ridge
        known, loss = posterior.coefficients, self.problem.losses[0]
        spread = np.zeros((0, used.size))
        wanted = loss.uses_variance and not (on_fold and loss.averages_eta)
        if wanted and known is not None and used.size and known.n_responses == 1:
            spread = known.covariance_root(used)
        return Average(used, mean, ridge, spread)

    def _build_selection(self, judgement: Judgement, share: float) -> Selection:
        problem, posterior = self.problem, judgement.posterior
        support = np.flatnonzero(judgement.support)
        coef = self._fit_ridge(problem.design, problem.targets[0], support)
        average = None
        if self.by_average:
            average = self._average(problem.design, problem.targets[0], posterior)
            average = average.counting(share)
        supports, weights = posterior.supports[:LISTED], posterior.weights[:LISTED]
        named = np.empty(len(supports), object)
        for at, S in enumerate(supports):  # all at once, equal sizes would make a matrix
            named[at] = S
        scores = -2.0 * np.log(np.maximum(weights, np.finfo(float).tiny))
        own, near = tuple(support.tolist()), scores[0] + NEAR
        others = [(S, float(score)) for S, score in zip(supports, scores, strict=True)]
        chosen = Selection(
            how="criterion",
            by="evidence",
            method="irksn",
            settings=self._settings,
            path=None,
            steps=(self.steps,),
            coef=coef,
            refit="ridge",
            shared=coef.ndim > 1,
            score=float(scores[0]),
            table={
                "support": named,
                "size": np.array([len(S) for S in supports]),
                "score": scores,
                "weight": weights,
            },
            alternatives=tuple(
                each for each in others if each[1] <= near and each[0] != own
            )[:MOST_ALTERNATIVES],
            judgement=judgement,
            probability=judgement.probability,
            average=average,
        )  # fmt: skip
        return replace(chosen, decision=words_of(judgement, self._kind(chosen)))

    def _kind(self, chosen: Selection) -> Kind:
        return Kind(
            size=chosen.size, by_squares=self.problem.by_squares, known=self.n_groups,
            groups=self.structure.picked(np.flatnonzero(chosen.support).tolist()),
            responses=self.problem.n_shared, positive=self.structure.positive,
            copied_rows=self.problem.n_copies,
        )  # fmt: skip


def _supports(results: Sequence[Result]) -> list[Support]:
    """Return the distinct supports that paths have visited."""
    return list(dict.fromkeys([S for each in visited_by(results) for S in each]))
