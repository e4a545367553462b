"""`AutoIRKSN`: finds the regime, then k, alpha, the stopping time and the refit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common.levels import FIRST, Setting, for_groups, for_prediction, staged
from .._common.telling import tells
from ..algorithms.irksn import IRKSNMethod
from ..choosing.choice import Choice
from ..choosing.chosen import Chosen
from ..choosing.criteria import ZERO
from ..choosing.folds import Fold, HoldsOutFolds, chosen_by_ebic, folds_of, walk_folds, walk_stages
from ..choosing.policy import POLICY
from ..choosing.refits import ridge_by_gcv
from ..choosing.tables import clearly_worse, table_of_iterates
from ..choosing.ways import Search, chosen_by_folds, irksn_stages, iterate_at
from ..design import Floats, Problem, Split, Weights
from ..stopping import HeldOut
from ..walking import Result
from .base import SelectingModel


@dataclass(frozen=True)
class _OnFold:
    """What one fold says: its paths, and EBIC's choice."""

    results: list[Result]
    choice: Choice
    error: float  # of EBIC's choice


@dataclass(frozen=True)
class _Comparison:
    """EBIC's choice against the iterates, fold by fold."""

    path: int  # that of the best iterates
    criterion: Floats  # errors of EBIC's choices
    early: Floats  # of the best iterate among the first steps
    late: Floats  # of the best of all
    agreement: float  # of EBIC's choices, mean over pairs of folds

    @classmethod
    def of(cls, measured: list[_OnFold], least: float) -> _Comparison:
        table = table_of_iterates([m.results for m in measured])
        errors = np.maximum(table.errors, least)
        means = errors.mean(axis=0)
        late = np.unravel_index(np.argmin(means), means.shape)
        first = means[:, table.steps <= POLICY.early]
        early = np.unravel_index(np.argmin(first), first.shape)
        common = [_agreement(a.choice, b.choice) for a, b in combinations(measured, 2)]
        return cls(
            int(late[0]),
            np.maximum([m.error for m in measured], least),
            errors[:, early[0], early[1]],
            errors[:, late[0], late[1]],
            float(np.mean(common)) if common else 0.0,
        )

    def grouped(self, margin: float) -> bool:
        """Whether EBIC predicts clearly worse, or neither repeats itself nor predicts better."""
        criterion, early, late = np.log([self.criterion, self.early, self.late])
        agree = self.agreement >= POLICY.agree
        worse = clearly_worse(criterion, late, POLICY.clearly if agree else POLICY.doubted)
        return bool(worse or not (agree or clearly_worse(early, criterion, margin)))


def _agreement(a: Choice, b: Choice) -> float:
    """Share of features in common; one that could be exchanged for nothing is no one's choice."""
    common = set(a.certain) & set(b.certain)
    return len(common) / max(len(a.support), len(b.support), 1)


def _settings(levels: list[int]) -> list[Setting]:
    return [{"k": k, "alpha": POLICY.fold_alpha} for k in levels]


def _between(coarse: list[int], at: int, levels: list[int]) -> list[int]:
    """Levels around one of the coarse ones, up to its neighbours."""
    low = coarse[at - 1] if at > 0 else 0
    high = coarse[at + 1] if at + 1 < len(coarse) else levels[-1] + 1
    return [k for k in levels if low < k < high and k != coarse[at]]


class AutoIRKSN(HoldsOutFolds, SelectingModel):
    """Find the features that matter, with nothing to choose.

    Two kinds of truth need two answers, and the data say which one they hold.  A few *scattered*
    features: the support with the best extended BIC among all that the paths visit (`IRKSNIC`).
    Whole *groups* of correlated features: the support of the earliest iterate that does not
    predict clearly worse on folds than the best one, refitted by ridge regression, since criteria
    would keep only a few representatives, and later iterates thin the groups out.

    After a few steps a path has taken in whole groups, and predicts well if they hold the truth,
    but is far from telling apart single features.  So the two are compared on folds, each found
    from the training part alone.  The truth is taken to be grouped if EBIC's supports predict the
    rest clearly worse than the best iterates (by two standard errors; by one if EBIC does not
    choose the same features on most folds); or if it does not choose the same ones, and does not
    predict clearly better than the best early iterates.  Otherwise it is taken to be scattered.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds of the comparison.
    margin : float, default=1.0
        By how many standard errors EBIC's supports must predict better to be trusted.
    max_iter : int, default=60
        Steps of the paths among which EBIC chooses.
    fit_intercept, standardize, unpenalized
        As in `ksupport.IRKSN`.
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
        As in `ksupport.IRKSN`.
    adjustment_, unpenalized_, levels_
        As in `ksupport.IRKSN`.
    regime_ : {"scattered", "grouped"}
        Which kind of truth the data hold.
    decision_ : str
        What was decided and why, in words.
    k_, alpha_, n_iter_
        Parameters and step of the path behind the model (``k_`` is None if the support was only
        reached by exchanging features).
    refit_ : {"ols", "ridge"}
        What ``coef_`` is on the support: least squares, or ridge regression for groups.
    path_ : dict of arrays
        The table behind the choice, as in `IRKSNIC` or `IRKSNCV`.
    alternatives_ : list of (support, score)
        Near-tied supports (scattered regime).

    Examples
    --------
    >>> from ksupport import AutoIRKSN
    >>> from ksupport.datasets import make_correlated_data
    >>> truth = [3.0, -2.0, 2.0] + [0.0] * 97
    >>> X, y, w = make_correlated_data(60, 100, rho=0.5, w_true=truth, snr=5, random_state=0)
    >>> model = AutoIRKSN().fit(X, y)
    >>> model.regime_
    'scattered'
    >>> model.get_support(indices=True)
    array([0, 1, 2])
    """

    every = 2

    def __init__(
        self,
        *,
        cv: Any = 5,
        margin: float = 1.0,
        max_iter: int = 60,
        fit_intercept: bool = True,
        standardize: bool = True,
        unpenalized: Any = None,
        weights: str = "relative",
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.cv = cv
        self.margin = margin
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.unpenalized = unpenalized
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @tells
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Find the regime from folds, then the model from all of (X, y).

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        y : array of shape (n,)
            The response.
        sample_weight : float or array of shape (n,), optional
            Weights of the rows; see ``weights``.
        groups : array of shape (n,), optional
            Labels for splitters that keep groups together.

        Returns
        -------
        self
        """
        problem = self._problem(X, y, sample_weight, splits=self._splits(groups))
        n, d = round(problem.design.n_samples), problem.design.d
        if not problem.splits:
            why = f"With {n} samples none can be held out: taken to be scattered."
            return self._scattered(problem, why)
        folds = folds_of(problem)
        walk = partial(self._walk, folds)
        coarse, walked = walk_stages(walk, staged(_settings(for_prediction(n, d)), FIRST))
        measured = self._measure(folds, walked)
        y = problem.targets[0]
        scale = max(float(y @ y) / problem.design.n_samples, np.finfo(float).tiny)
        comparison = _Comparison.of(measured, ZERO * scale)
        compared = (
            f"On {len(folds)} folds the iterates leave {comparison.late.mean() / scale:.2f} of "
            "the variance unexplained, the supports that EBIC prefers "
            f"{comparison.criterion.mean() / scale:.2f}, with {comparison.agreement:.0%} of their "
            "features in common"
        )
        if not comparison.grouped(self.margin):
            return self._scattered(problem, f"{compared}: a few scattered features.")
        levels = [setting["k"] for setting in coarse]
        fine = _settings(_between(levels, comparison.path, for_groups(n, d)))
        if fine:
            walked = [a + b for a, b in zip(walked, walk(fine), strict=True)]
        return self._grouped(problem, walked, coarse + fine, compared)

    def _splits(self, groups: ArrayLike | None) -> Callable[[Floats, Weights], list[Split]]:
        split = super()._splits(groups)

        def enough(y: Floats, weights: Weights) -> list[Split]:
            few = round(weights.samples(len(y))) < POLICY.fewest
            return [] if few else split(y, weights)

        return enough

    def _walk(self, folds: list[Fold], settings: list[Setting]) -> list[list[Result]]:
        """Walk these settings on every fold."""
        methods = [IRKSNMethod(**setting) for setting in settings]
        steps = min(POLICY.steps, self.max_iter)
        return walk_folds(
            folds, methods, max_iter=steps, every=POLICY.every,
            stopping=HeldOut(patience=POLICY.patience), n_jobs=self.n_jobs,
        )  # fmt: skip

    def _measure(self, folds: list[Fold], walked: list[list[Result]]) -> list[_OnFold]:
        """Let EBIC choose on every fold."""
        choices = chosen_by_ebic(folds, walked, self.n_jobs)
        return [
            _OnFold(results, choice, fold.error_of(choice.support))
            for fold, results, choice in zip(folds, walked, choices, strict=True)
        ]

    def _search(self, n: int, d: int) -> Search:
        stages = irksn_stages("auto", POLICY.alpha, "adaptive", n, d)
        return self._searched("irksn", stages, every=2)

    def _scattered(self, problem: Problem, why: str) -> Self:
        """EBIC over least-squares refits, with exchange of features."""
        chosen = self._by_criterion(problem)
        self._keep(problem, replace(chosen, decision=f"{why} EBIC chose {chosen.size}."))
        return self

    def _grouped(
        self, problem: Problem, walked: list[list[Result]], settings: list[Setting], compared: str
    ) -> Self:
        """Ridge regression on the earliest support about as good as the best, by folds."""
        table = table_of_iterates(walked)
        path, record = table.earliest(POLICY.near)
        k, step = settings[path]["k"], int(table.steps[record])
        design, y = problem.design, problem.targets[0]
        iterate = iterate_at(IRKSNMethod(**settings[path]), design, y, step)
        support = tuple(np.flatnonzero(iterate).tolist())
        w = ridge_by_gcv(design, y, support, POLICY.ridges)
        chosen = chosen_by_folds("irksn", settings, table, (path, record), w, "ridge")
        decision = (
            f"{compared}: groups of correlated features act together. Cross-validation chose "
            f"k={k} and step {step}, {chosen.size} features."
        )
        self._keep(problem, replace(chosen, decision=decision))
        return self

    def _keep(self, problem: Problem, chosen: Chosen) -> None:
        super()._keep(problem, chosen)
        self.regime_ = "scattered" if chosen.how == "criterion" else "grouped"
        self.decision_, self.refit_ = chosen.words, chosen.refit
        self.k_, self.alpha_ = chosen.irksn
