"""`AutoIRKSN`: finds the regime, then k, alpha, the stopping time and the refit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .algorithms.irksn import IRKSNMethod
from .cv import FoldTable, iterate_at, path_table, table_of
from .design import Floats
from .folds import Fold, folds_of, on_each
from .ic import IRKSNIC
from .linear import Problem, SelectingModel
from .path import Result
from .selection import choose, least_squares, sizes_up_to, visited_by
from .stopping import HeldOut

ALPHA = 1e-2  # of paths whose supports are refitted; larger grids were not better
GROUPED_ALPHA = 1e-1  # of paths whose iterates are kept: as good there, in a quarter of the steps
EVERY = 2  # steps between records on folds, where the best iterates come early
FEWEST = 10  # samples below which nothing is held out
PATIENCE = 15  # records without a better error that end a path on a fold


@dataclass(frozen=True)
class _OnFold:
    """What one fold says: errors of the iterates, of their refits, and of EBIC's choice."""

    iterates: list[Floats]
    refits: list[Floats]
    score: float  # EBIC of its choice
    criterion: float  # error of its choice
    results: list[Result]

    def joined(self, other: _OnFold) -> _OnFold:
        """More paths on the same fold; EBIC keeps the better of the two choices."""
        better = min(self, other, key=lambda each: each.score)
        return _OnFold(
            self.iterates + other.iterates,
            self.refits + other.refits,
            better.score,
            better.criterion,
            self.results + other.results,
        )


@dataclass(frozen=True)
class _Comparison:
    """The best iterate against EBIC's choice, fold by fold."""

    levels: list[int]
    iterates: FoldTable
    refits: FoldTable
    sizes: Floats
    criterion: float  # mean error of EBIC's choices
    gain: float  # mean error that the iterates save
    spread: float  # its standard error

    @classmethod
    def of(cls, measured: list[_OnFold], levels: list[int]) -> _Comparison:
        iterates, sizes = table_of([(m.iterates, m.results) for m in measured])
        refits, _ = table_of([(m.refits, m.results) for m in measured])
        criterion = np.array([m.criterion for m in measured])
        path, record = iterates.best()
        gains = criterion - iterates.errors[:, path, record]
        spread = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
        return cls(
            levels, iterates, refits, sizes,
            float(criterion.mean()), float(gains.mean()), float(spread),
        )  # fmt: skip


class AutoIRKSN(SelectingModel):
    """Find the features that matter, with nothing to choose.

    Two kinds of truth need two answers, and the data say which one they hold.  A few *scattered*
    features: the support with the best extended BIC among all that the paths visit (`IRKSNIC`).
    Whole *groups* of correlated features: the iterate with the least cross-validated error
    (`IRKSNCV`), since least squares and criteria would keep only a few representatives.  On
    folds, each answer is found from the training part alone and predicts the rest; the grouped
    answer is taken if it predicts better by more than the uncertainty of the comparison.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds of the comparison.
    margin : float, default=1.0
        By how many standard errors the grouped answer must predict better.
    max_iter : int, default=1000
        Steps of the paths among which EBIC chooses; those on folds are a fifth as long.
    fit_intercept, standardize
        As in `ksupport.IRKSN`.
    n_jobs : int, optional
        Folds walked at once, in threads.
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
    refit_ : {"ols", None}
        Whether ``coef_`` is a least-squares refit or the iterate itself.
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

    every = 5

    def __init__(
        self,
        *,
        cv: Any = 5,
        margin: float = 1.0,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.cv = cv
        self.margin = margin
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        X : array, memmap, data frame, sparse matrix, LinearOperator or Dask array, shape (n, d)
            The measurements.
        y : array of shape (n,)
            The response.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        groups : array of shape (n,), optional
            Labels for splitters that keep groups together.

        Returns
        -------
        self
        """
        problem = self._problem(X, y, sample_weight)
        n, d = int(problem.design.n_samples), problem.design.d
        if n < FEWEST:
            why = f"With {n} samples none can be held out: taken to be scattered."
            return self._scattered(problem, why)
        levels = sizes_up_to(max(1, min(d // 2, 2 * n)))
        coarse = levels[1::3] or levels
        folds = folds_of(problem, self.cv, self.random_state, groups, None)
        measured = self._measure(folds, coarse)
        comparison = _Comparison.of(measured, coarse)
        if comparison.gain > -comparison.spread:  # not clearly scattered: look closer
            fine = [k for k in levels if k not in coarse]
            if fine:
                more = self._measure(folds, fine)
                measured = [a.joined(b) for a, b in zip(measured, more, strict=True)]
            comparison = _Comparison.of(measured, coarse + fine)
        scale = max(float(np.var(problem.Y)), np.finfo(float).tiny)
        compared = (
            f"On {len(folds)} folds the shrunken iterates leave "
            f"{comparison.iterates.mean.min() / scale:.2f} of the variance unexplained, the "
            f"supports that EBIC prefers {comparison.criterion / scale:.2f}"
        )
        if not comparison.gain > self.margin * comparison.spread:
            why = f"{compared}: no clear gain from shrinking, so a few scattered features."
            return self._scattered(problem, why)
        return self._grouped(problem, comparison, compared)

    def _measure(self, folds: list[Fold], levels: list[int]) -> list[_OnFold]:
        """Walk these sparsity levels on every fold."""
        methods = [IRKSNMethod(k=k, alpha=GROUPED_ALPHA) for k in levels]

        def one(fold: Fold) -> _OnFold:
            rule = HeldOut(patience=PATIENCE)
            results = fold.walk(methods, max(self.max_iter // 5, 1), EVERY, rule)
            visited, largest = visited_by(results), max(int(fold.design.n_samples) // 2, 1)
            refits = fold.refitted_errors(visited, "ols", largest, 0.0)
            choice = choose(fold.design, fold.y, visited, "ebic", largest, exchange=1)
            model = least_squares(fold.design, fold.y, choice.support)
            error = float(fold.errors_of(model[None])[0])
            errors = [np.asarray(result.history["validation"]) for result in results]
            return _OnFold(errors, refits, choice.score, error, results)

        return on_each(folds, one, self.n_jobs, type(self).__name__, bool(self.verbose))

    def _scattered(self, problem: Problem, why: str) -> Self:
        """EBIC over least-squares refits, with exchange of features."""
        ic = IRKSNIC(alpha=ALPHA, max_iter=self.max_iter, verbose=self.verbose)
        self._keep(problem, ic._choose(problem))
        self.regime_ = "scattered"
        self.refit_: str | None = "ols"
        self.k_, self.alpha_, self.n_iter_ = ic.k_, ic.alpha_, ic.n_iter_
        self.path_, self.alternatives_ = ic.path_, ic.alternatives_
        self.decision_ = f"{why} EBIC chose {int(self.support_.sum())}."
        return self

    def _grouped(self, problem: Problem, comparison: _Comparison, compared: str) -> Self:
        """The iterate, or the refit, with the least cross-validated error."""
        refit = bool(comparison.refits.mean.min() < comparison.iterates.mean.min())
        table = comparison.refits if refit else comparison.iterates
        path, record = table.best()
        k, step = comparison.levels[path], int(table.steps[record])
        design, y = problem.design, problem.targets[0]
        w = iterate_at(IRKSNMethod(k=k, alpha=GROUPED_ALPHA), design, y, step)
        if refit:
            w = least_squares(design, y, tuple(np.flatnonzero(w).tolist()))
        self._keep(problem, w)
        self.regime_ = "grouped"
        self.refit_ = "ols" if refit else None
        self.k_, self.alpha_, self.n_iter_ = k, GROUPED_ALPHA, step
        settings = [{"k": level, "alpha": GROUPED_ALPHA} for level in comparison.levels]
        self.path_, self.alternatives_ = path_table(settings, table, comparison.sizes), []
        what = "least squares on the support" if refit else "the iterate"
        self.decision_ = (
            f"{compared}: groups of correlated features act together. Cross-validation chose "
            f"k={k} and {what} of step {step}, {int(self.support_.sum())} features."
        )
        return self
