"""`AutoIRKSN`: a probability for every feature, with nothing to choose."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import limits
from .._common.levels import FIRST, Setting, for_criteria, for_groups, for_prediction, staged
from .._common.telling import tells
from ..algorithms.irksn import IRKSNMethod
from ..choosing.chosen import Chosen
from ..choosing.clusters import unions_of
from ..choosing.evidence import evidence_of
from ..choosing.folds import (
    Fold,
    HoldsOutFolds,
    folds_by,
    folds_of,
    in_a_row,
    walk_folds,
    walk_stages,
)
from ..choosing.grids import by_loss
from ..choosing.holding_out import Paths, Time
from ..choosing.judging import AllRows, Judgement, Said, judge, settled
from ..choosing.known_groups import explored_by_group
from ..choosing.policy import POLICY, Policy
from ..choosing.posterior import Posterior, Sought, explored
from ..choosing.strength import answers_on_folds, strength_on_folds
from ..choosing.supports import Support, response_of, visited_by
from ..choosing.together import evidence_together
from ..choosing.ways import chosen_by_judgement
from ..choosing.weighing import weighed
from ..choosing.words import NoSignalWarning, Told, words_of
from ..design import Design, Floats, Problem, Split, Weights
from ..losses import Loss, Response, Squared
from ..stopping import HeldOut
from ..walking import Path, Result, run
from .base import SelectingModel
from .skipping import SkipsFarRows

FEWEST_OF_A_SORT = 2  # rows: fewer of a class, or of events, cannot be on both sides of a fold


def _between(coarse: list[int], at: int, levels: list[int]) -> list[int]:
    """Some levels around one of the coarse ones, up to its neighbours."""
    low = coarse[at - 1] if at > 0 else 0
    high = coarse[at + 1] if at + 1 < len(coarse) else levels[-1] + 1
    between = [k for k in levels if low < k < high and k != coarse[at]]
    apart = np.linspace(0, len(between) - 1, min(POLICY.finer, len(between)))
    return [between[round(each)] for each in apart]


class AutoModel(HoldsOutFolds, SelectingModel):
    """Judge features by evidence and by held-out rows, for any loss.

    Where the loss is not of squares, few features are sought by what they explain of the loss's
    pull (`Response.pull`), as if that were the response; on held-out rows all is measured by the
    deviance, and coefficients are refits by the loss.
    """

    every = POLICY.every
    _units_count = False
    _for_squares = ("feature_groups", "shared_support")

    @tells
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Judge the features of (X, y), and fit the probable ones.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        y : array of shape (n,), or (n, n_responses) with ``shared_support=True``
            The response.
        sample_weight : float or array of shape (n,), optional
            Weights of the rows; see ``weights``.
        groups : array of shape (n,), optional
            Labels for splitters that keep groups together.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups)
        if not self.signal_:
            warnings.warn(self.decision_, NoSignalWarning, stacklevel=3)
        return self

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        self._loss = self._asked_loss()
        problem = self._problem(X, y, sample_weight, splits=self._splits(groups))
        self._keep(problem, problem.there(self._choose))

    def _choose(self, problem: Problem) -> Chosen:
        """Walk, explore, judge."""
        folds = folds_of(problem) if problem.splits else []
        paths, visited = self._walk(problem, folds)
        few, *on_folds = self._explore(problem, folds, paths, visited)
        times: list[Time] = []
        if paths is not None:
            means = [each.mean() for each in on_folds]
            if problem.by_squares:
                on_folds = []  # have columns, and have said what they know
            first = Time(folds, paths, means, few.dispersion if self._robust else None)
            times = self._held_out(problem, first)
        judgement = self._judged(problem, few, times)
        folded, strength = None, None
        if times:
            folded = times[0].paths.settings, times[0].paths.table
        if times and judgement.signal and not problem.by_squares:
            answers = answers_on_folds(judgement.few, on_folds, times[0].candidates)
            strength = strength_on_folds(folds, answers, bool(self.positive))
        structure = self._structure(1)
        chosen = chosen_by_judgement(
            problem, judgement, few, folded, self._steps, strength, structure
        )
        known = None if self._labels is None else self._sizes(problem)[1]
        told = Told(
            size=chosen.size, by_squares=problem.by_squares, known=known,
            groups=structure.picked(np.flatnonzero(chosen.support).tolist()),
            responses=problem.n_shared, positive=bool(self.positive),
        )  # fmt: skip
        return replace(chosen, decision=words_of(judgement, told))

    def _judged(self, problem: Problem, few: Posterior, times: list[Time]) -> Judgement:
        """What is believed; rows are held out more often until that no longer depends on folds."""
        policy, clear, y = self._policy(problem), bool(times) and times[0].clear, problem.targets[0]
        unions = unions_of(few) if policy is POLICY and not clear else None
        together = 0.0
        if isinstance(y, Response) and not self.positive:  # of either sign
            together = evidence_together(problem.design, y)
        said: list[Said] = []
        while True:
            said += [self._said(problem, each) for each in times[len(said) :]]
            rows = AllRows(few, unions, self._elected(problem, times, few), together)
            once = len(times) < 2
            if once or len(times) >= policy.most_times or settled(rows, said, policy):
                return judge(rows, said, policy)
            more = range(len(times), 2 * len(times))
            times = [*times, *self._again(problem, times[0], more)]

    def _why_empty(self) -> str:
        what = "no positive effect" if self.positive else "nothing"
        return (
            f"no feature was chosen, as {what} in these data could be told from noise (signal_ is "
            "False, decision_ says more); that is the answer, and more steps would not change it"
        )

    def _said(self, problem: Problem, time: Time) -> Said:
        """What rows say that were held out once; of a group, all that can matter alike."""
        said = Said.of(time.candidates, problem.design.d, self._policy(problem))
        if self._labels is None:
            return said
        shares = self._structure(1).largest_in_group(said.shares)
        return replace(said, shares=np.where(problem.design.column_norms > 0, shares, 0.0))

    def _policy(self, problem: Problem) -> Policy:
        if self._labels is not None:
            return POLICY.by_group
        return POLICY if problem.by_squares else POLICY.by_loss

    @property
    def _steps(self) -> int:
        return min(POLICY.steps, self.max_iter)

    def _settings(self, levels: list[int], problem: Problem) -> list[Setting]:
        """Paths of these levels, by the loss of the problem."""
        same = {"alpha": POLICY.alpha, **by_loss(problem.losses[0]), **self._asked_structure}
        return [{"k": k, **same} for k in levels]

    def _sizes(self, problem: Problem) -> tuple[int, int]:
        """How many samples there are, and of how many features, or groups, some are chosen."""
        count, _ = self._n_groups(problem.design.d)
        always = 0 if self._labels is None else self.unpenalized_.size  # a group each
        return round(problem.design.n_samples), count - always

    def _splits(self, groups: ArrayLike | None) -> Callable[[Floats, Weights], list[Split]]:
        split, sorts_of = super()._splits(groups), self._loss.sorts

        def enough(y: Floats, weights: Weights) -> list[Split]:
            sorts = sorts_of(y)
            _, counts = np.unique(sorts[weights.counted(np.arange(len(y)))], return_counts=True)
            few = round(weights.samples(len(y))) < POLICY.fewest or counts.min() < FEWEST_OF_A_SORT
            if few:
                return []
            numbers_alone = y.ndim == 1 or bool(self.shared_support)
            line = in_a_row(y) if numbers_alone else y
            return split(line, weights, sorts=sorts, balanced=numbers_alone)

        return enough

    @property
    def _robust(self) -> bool:
        """Whether errors on held-out rows are in units of y, and not squares."""
        return self._loss.in_units_of_y and not isinstance(self._loss, Squared)

    def _other_splits(self, problem: Problem, times: range) -> list[Split]:
        """The same rows held out again by other folds, where X is small and folds are shuffled."""
        small = problem.raw.n * problem.raw.d <= limits.REPEATED and problem.squares is None
        numbered = isinstance(self.cv, numbers.Integral) and self.random_state is not None
        if not (small and numbered and problem.by_squares):
            return []
        split, count = super()._splits(None), len(problem.splits)
        line = in_a_row(problem.Y if problem.shared else problem.Y[:, 0])
        splits = split(line, problem.weights, balanced=True, times=times.stop)
        return splits[times.start * count :]

    def _walk(self, problem: Problem, folds: list[Fold]) -> tuple[Paths | None, list[Result]]:
        """Few levels of k on folds, if there are any; beside the first of them, on all rows."""
        n, d = self._sizes(problem)
        # Unions of known groups are sought from none on.
        levels = for_criteria(n, d) if self._labels is None else []
        visiting = self._settings(levels, problem)
        if not folds:
            return None, self._on_all_rows(problem, visiting)
        visited: list[Result] = []

        def walk(settings: list[Setting]) -> list[list[Result]]:
            others = [] if visited else visiting
            walked, beside = self._on_folds(folds, settings, self._starts(problem, others))
            visited.extend(beside)
            return walked

        stages = staged(self._settings(for_prediction(n, d), problem), FIRST)
        return Paths(*walk_stages(walk, stages)), visited

    def _finer(self, problem: Problem, folds: list[Fold], coarse: Paths) -> Paths:
        """With levels around the best of these."""
        best, _ = coarse.table.best()
        levels = [setting["k"] for setting in coarse.settings]
        fine = self._settings(_between(levels, best, for_groups(*self._sizes(problem))), problem)
        if not fine:
            return coarse
        new, _ = self._on_folds(folds, fine)
        walked = [a + b for a, b in zip(coarse.walked, new, strict=True)]
        return Paths(coarse.settings + fine, walked)

    def _on_folds(
        self, folds: list[Fold], settings: list[Setting], beside: Sequence[Path] = ()
    ) -> tuple[list[list[Result]], list[Result]]:
        methods = [IRKSNMethod(**setting) for setting in settings]
        return walk_folds(
            folds, methods, beside, max_iter=self._steps, every=POLICY.every,
            stopping=HeldOut(patience=POLICY.patience), n_jobs=self.n_jobs,
        )  # fmt: skip

    def _starts(self, problem: Problem, settings: list[Setting]) -> list[Path]:
        design, y = problem.design, problem.targets[0]
        return [IRKSNMethod(**setting).start(design, y) for setting in settings]

    def _on_all_rows(self, problem: Problem, settings: list[Setting]) -> list[Result]:
        paths = self._starts(problem, settings)
        return run(paths, max_iter=self._steps, every=POLICY.every, n_jobs=self.n_jobs)

    def _explore(
        self, problem: Problem, folds: list[Fold], paths: Paths | None, visited: list[Result]
    ) -> list[Posterior]:
        """What the evidence says on all rows, then on each fold; they share passes over X."""
        design, y = problem.design, problem.targets[0]
        whole = self._sought(problem, design, y, visited)
        on_folds = [] if paths is None else self._sought_on(problem, folds, paths.walked)
        return self._weighed(problem, [whole, *on_folds], [y, *(fold.y for fold in folds)])

    def _sought(
        self, problem: Problem, design: Design, y: Any, results: list[Result], **far: int
    ) -> Sought:
        """Few features, from what paths have visited on."""
        return Sought(
            design, response_of(y), _supports(results), counted=problem.counted,
            alike=isinstance(y, Response), positive=bool(self.positive), **far,
        )  # fmt: skip

    def _sought_on(
        self, problem: Problem, folds: list[Fold], walked: list[list[Result]]
    ) -> list[Sought]:
        """The same on folds, not as far."""
        far = {"rounds": POLICY.rounds_on_folds, "weighed": POLICY.weighed_on_folds}
        pairs = zip(folds, walked, strict=True)
        return [self._sought(problem, fold.design, fold.y, each, **far) for fold, each in pairs]

    def _weighed(
        self, problem: Problem, sought: list[Sought], targets: list[Any]
    ) -> list[Posterior]:
        if isinstance(targets[0], Response):
            return weighed(sought, targets, self.n_jobs)
        if self._labels is not None:
            labels = np.array(self._labels)
            return explored_by_group(sought, labels, self._sizes(problem)[1], self.n_jobs)
        return explored(sought, self.n_jobs)

    def _held_out(self, problem: Problem, first: Time) -> list[Time]:
        """Rows held out: with more levels of k, and by other folds, unless few are clear."""
        if first.clear:
            return [first]
        first = replace(first, paths=self._finer(problem, first.folds, first.paths))
        return [first, *self._again(problem, first, range(1, self._policy(problem).times))]

    def _again(self, problem: Problem, first: Time, times: range) -> list[Time]:
        """Rows held out by other folds, which levels of k being known."""
        splits, count = self._other_splits(problem, times), len(first.folds)
        if not splits:
            return []
        settings = [first.paths.settings[at] for at in first.candidates.led]
        folds = folds_by(problem, splits)
        walked, _ = self._on_folds(folds, settings)
        sought = self._sought_on(problem, folds, walked)
        found = self._weighed(problem, sought, [fold.y for fold in folds])
        means = [each.mean() for each in found]
        parts = [slice(at, at + count) for at in range(0, len(folds), count)]
        return [Time(folds[part], Paths(settings, walked[part]), means[part]) for part in parts]

    def _elected(self, problem: Problem, times: list[Time], few: Posterior) -> float:
        """The most evidence on all rows of what folds elect there, beyond few features."""
        cells = sorted({(k, record) for each in times for k, record in each.leading})
        if not cells:
            return np.inf
        levels = sorted({k for k, _ in cells})
        walked = self._on_all_rows(problem, self._settings(levels, problem))
        visited = dict(zip(levels, visited_by(walked), strict=True))
        supports = {visited[k][min(record, len(visited[k]) - 1)] for k, record in cells}
        design, y = problem.design, problem.targets[0]
        if isinstance(y, Response):
            y = replace(y, dispersion=few.dispersion)
        many = POLICY.many * float(few.probability().sum())
        score = partial(
            evidence_of, design, y, structure=self._structure(1), counted=problem.counted
        )
        return min((score(S).score for S in sorted(supports) if len(S) > many), default=np.inf)

    def _keep(self, problem: Problem, chosen: Chosen) -> None:
        super()._keep(problem, chosen)
        judged = chosen.judgement
        assert judged is not None
        self.signal_ = judged.signal
        self.sets_ = list(judged.sets)
        self.expected_f1_ = judged.expected_f1
        self.performance_ = judged.performance
        self.few_ = judged.few
        self.decision_, self.refit_ = chosen.words, chosen.refit
        self.k_, self.alpha_ = chosen.irksn


class AutoIRKSN(SkipsFarRows, AutoModel):
    """Find the features that matter, with nothing to choose.

    Two questions are put to the data, and both answers count.  If *few* features matter, which?
    Supports that the paths visit are scored by their evidence, and improved by exchanging
    features; every support that is met on the way counts by its evidence, so that features which
    can stand in for each other share what one of them would get.  If whole *groups* of correlated
    features matter, which?  Unions of clusters are scored by their evidence in the same way; and
    the iterates of paths are judged on rows held out, under many weightings of these rows, where a
    feature counts by how often the best iterates have it.  How much better each explains the data,
    and predicts held-out rows, says which answer to believe more.  What comes out is a probability
    for each feature; the model has those of the largest expected F1.  Where nothing can be told
    from noise the model is empty.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds of rows that are held out.
    max_iter : int, default=60
        Steps of the paths.
    loss : {"squared", "huber", "poisson"} or a loss of `ksupport.losses`, default="squared"
        "poisson" for counts; "huber" for numbers some of which are far off: rows that are so by
        more than four robust standard deviations, of y or of what the model leaves of it, are left
        out (``outliers_``), and the others judged by squares.  ``Huber(delta)`` counts errors
        linearly beyond a threshold of one's own.
    fit_intercept, standardize, unpenalized
        As in `ksupport.IRKSN`.
    feature_groups : sequence, optional
        Features of which all matter or none (pathways, regions, the levels of a category), as in
        `ksupport.IRKSN`: groups are judged then, and those of a group have one probability.  For
        squares, outliers left out or not.
    positive : bool, default=False
        Whether effects can only be positive: then no coefficient is negative, and evidence is that
        of priors which know it.  Unpenalised columns may have either sign.
    shared_support : bool, default=False
        Whether the columns of a 2-D y share their support: then a feature has one probability, and
        a coefficient for each response.  Responses count alike, whatever their units, and their
        noise may be correlated.  For squares, outliers left out or not.
    weights : {"relative", "repetitions"}
        As in `PathIC`.
    n_jobs : int, optional
        Paths walked at once, in threads that share X.
    random_state : int, RandomState or None, default=0
        Shuffles the folds; the default makes results repeatable.
    verbose : bool, default=False
        Show progress on fits of more than two seconds.

    Attributes
    ----------
    coef_, intercept_, support_, n_passes_
        As in `ksupport.IRKSN`; ``coef_`` is the ridge regression on the support whose strength has
        the most evidence or, with other losses than squares, predicts best on folds.
    adjustment_, unpenalized_, levels_
        As in `ksupport.IRKSN`.
    probability_ : array of shape (d,)
        For each feature, the probability that it belongs to the model.
    signal_ : bool
        False: nothing here can be told from noise, and the model is empty.
    sets_ : list of FeatureSet
        Features that stand in for each other, with the ``probability`` that one of these
        ``features`` belongs to the model; most probable first.
    expected_f1_ : float
        Of the support, if the probabilities are right.
    performance_ : Performance
        What folds say of new rows: ``score`` (share of the variation explained or, with other
        losses than squares, of the deviance), its
        ``standard_error``, and the score of knowing nothing, ``baseline``.  None if there are too
        few rows to hold some out.
    few_ : float
        The probability that few features matter, rather than groups; of known groups, that those
        of most evidence matter, rather than what predicts held-out rows.
    refit_ : str
        What ``coef_`` is on the support: "ridge".
    decision_ : str
        What was decided and why, in words.
    outliers_ : array of int
        The rows that are far off, with ``loss="huber"``; else none.
    k_, alpha_, n_iter_
        Parameters and step of the path that predicts held-out rows best (None and the steps
        walked where few features are more probable).
    path_ : dict of arrays
        The table behind the choice, as in `IRKSNIC` or `IRKSNCV`.
    alternatives_ : list of (support, score)
        Other supports of almost as much evidence.

    Examples
    --------
    >>> from ksupport import AutoIRKSN
    >>> from ksupport.datasets import make_correlated_data
    >>> truth = [3.0, -2.0, 2.0] + [0.0] * 97
    >>> X, y, w = make_correlated_data(60, 100, rho=0.5, w_true=truth, snr=5, random_state=0)
    >>> model = AutoIRKSN().fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2])
    >>> bool(model.probability_[:3].min() > 0.9)
    True
    """

    def __init__(
        self,
        *,
        cv: Any = 5,
        max_iter: int = 60,
        loss: str | Loss = "squared",
        fit_intercept: bool = True,
        standardize: bool = True,
        unpenalized: Any = None,
        feature_groups: Any = None,
        positive: bool = False,
        shared_support: bool = False,
        weights: str = "relative",
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.cv = cv
        self.max_iter = max_iter
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.unpenalized = unpenalized
        self.feature_groups = feature_groups
        self.positive = positive
        self.shared_support = shared_support
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


def _supports(results: list[Result]) -> list[Support]:
    """All supports that paths have visited, once."""
    return list(dict.fromkeys(S for each in visited_by(results) for S in each))
