"""`AutoIRKSN`: finds the regime, then k, alpha, the stopping time and the refit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common.levels import for_groups
from .._common.telling import tells
from ..algorithms.irksn import IRKSNMethod
from ..choosing.choice import Choice
from ..choosing.chosen import Chosen
from ..choosing.criteria import ZERO
from ..choosing.folds import Fold, RoutesToFolds, folds_of, on_each, walk_folds
from ..choosing.policy import POLICY
from ..choosing.refits import ridge_by_gcv
from ..choosing.tables import clearly_worse, table_of_iterates
from ..choosing.ways import Search, chosen_by_folds, irksn_settings, iterate_at
from ..design import Floats, Problem
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


class AutoIRKSN(RoutesToFolds, SelectingModel):
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
    max_iter : int, default=150
        Steps of the paths among which EBIC chooses.
    fit_intercept, standardize
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
        max_iter: int = 150,
        fit_intercept: bool = True,
        standardize: bool = True,
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
        problem = self._problem(X, y, sample_weight)
        n, d = round(problem.design.n_samples), problem.design.d
        if n < POLICY.fewest:
            why = f"With {n} samples none can be held out: taken to be scattered."
            return self._scattered(problem, why)
        levels = for_groups(n, d)
        coarse = levels[1 :: POLICY.coarse] or levels
        folds = folds_of(problem, self.cv, self.random_state, groups, None)
        measured = self._measure(folds, coarse)
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
        at = levels.index(coarse[comparison.path])
        fine = [
            k
            for k in levels[max(at - POLICY.coarse + 1, 0) : at + POLICY.coarse]
            if k not in coarse
        ]
        walked = [m.results for m in measured]
        if fine:
            walked = [a + b for a, b in zip(walked, self._walk(folds, fine), strict=True)]
        return self._grouped(problem, walked, coarse + fine, compared)

    def _walk(self, folds: list[Fold], levels: list[int]) -> list[list[Result]]:
        """Walk these sparsity levels on every fold."""
        methods = [IRKSNMethod(k=k, alpha=POLICY.fold_alpha) for k in levels]
        steps = min(POLICY.steps, self.max_iter)
        return walk_folds(
            folds, methods, max_iter=steps, every=POLICY.every,
            stopping=HeldOut(patience=POLICY.patience), n_jobs=self.n_jobs,
        )  # fmt: skip

    def _measure(self, folds: list[Fold], levels: list[int]) -> list[_OnFold]:
        """Walk these sparsity levels on every fold, and let EBIC choose there."""
        walked = self._walk(folds, levels)

        def one(at: int) -> _OnFold:
            choice, error = folds[at].chosen_by_ebic(walked[at])
            return _OnFold(walked[at], choice, error)

        return on_each(folds, one, self.n_jobs)

    def _search(self, n: int, d: int) -> Search:
        settings = irksn_settings("auto", POLICY.alpha, "adaptive", n, d)
        return self._searched("irksn", settings, every=2)

    def _scattered(self, problem: Problem, why: str) -> Self:
        """EBIC over least-squares refits, with exchange of features."""
        chosen = self._by_criterion(problem)
        self._keep(problem, replace(chosen, decision=f"{why} EBIC chose {chosen.size}."))
        return self

    def _grouped(
        self, problem: Problem, walked: list[list[Result]], levels: list[int], compared: str
    ) -> Self:
        """Ridge regression on the earliest support about as good as the best, by folds."""
        table = table_of_iterates(walked)
        path, record = table.earliest(POLICY.near)
        k, step = levels[path], int(table.steps[record])
        design, y = problem.design, problem.targets[0]
        iterate = iterate_at(IRKSNMethod(k=k, alpha=POLICY.fold_alpha), design, y, step)
        support = tuple(np.flatnonzero(iterate).tolist())
        settings = [{"k": level, "alpha": POLICY.fold_alpha} for level in levels]
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
