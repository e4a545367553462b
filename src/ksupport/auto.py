"""`AutoIRKSN`: finds the regime, then k, alpha, the stopping time and the refit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from ._progress import Progress
from .algorithms.irksn import IRKSNMethod
from .cv import FoldTable, iterate_at, path_table, table_of
from .design import Floats
from .folds import Fold, folds_of
from .ic import IRKSNIC
from .linear import Problem, SelectingModel
from .path import Result
from .selection import choose, least_squares, sizes_up_to, visited_by
from .stopping import HeldOut

ALPHA = 1e-2  # larger grids were not better
FEWEST = 10  # samples below which nothing is held out
PATIENCE = 15  # records without a better error that end a path on a fold


@dataclass(frozen=True)
class _OnFold:
    """What one fold says: errors of the iterates, of their refits, and of EBIC's choice."""

    iterates: list[Floats]
    refits: list[Floats]
    criterion: float
    results: list[Result]


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
        Steps of the paths among which EBIC chooses; those on folds are a third as long.
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
        X : array, memmap, data frame, sparse matrix or LinearOperator, shape (n, d)
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
        methods = [IRKSNMethod(k=k, alpha=ALPHA) for k in levels]
        folds = folds_of(problem, self.cv, self.random_state, groups, None)
        measured = self._measure(folds, methods)
        iterates, sizes = table_of([(m.iterates, m.results) for m in measured])
        refits, _ = table_of([(m.refits, m.results) for m in measured])
        criterion = np.array([m.criterion for m in measured])
        path, record = iterates.best()
        gains = criterion - iterates.errors[:, path, record]
        spread = float(gains.std(ddof=1)) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
        scale = max(float(np.var(problem.Y)), np.finfo(float).tiny)
        compared = (
            f"On {len(folds)} folds the shrunken iterates leave {iterates.mean.min() / scale:.2f} "
            f"of the variance unexplained, the supports that EBIC prefers "
            f"{criterion.mean() / scale:.2f}"
        )
        if not gains.mean() > self.margin * spread:
            why = f"{compared}: no clear gain from shrinking, so a few scattered features."
            return self._scattered(problem, why)
        return self._grouped(problem, methods, iterates, refits, sizes, compared)

    def _measure(self, folds: list[Fold], methods: list[IRKSNMethod]) -> list[_OnFold]:
        progress = Progress(type(self).__name__, len(folds), bool(self.verbose))

        def one(fold: Fold) -> _OnFold:
            rule = HeldOut(patience=PATIENCE)
            results = fold.walk(methods, max(self.max_iter // 3, 1), self.every, rule)
            visited, largest = visited_by(results), max(int(fold.design.n_samples) // 2, 1)
            refits = fold.refitted_errors(visited, "ols", largest, 0.0)
            support = choose(fold.design, fold.y, visited, "ebic", largest, exchange=1).support
            model = least_squares(fold.design, fold.y, support)
            errors = [np.asarray(result.history["validation"]) for result in results]
            return _OnFold(errors, refits, float(fold.errors_of(model[None])[0]), results)

        measured = []
        jobs = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        for each in jobs(delayed(one)(fold) for fold in folds):
            measured.append(each)
            progress.update(len(measured))
        progress.close()
        return measured

    def _scattered(self, problem: Problem, why: str) -> Self:
        """EBIC over least-squares refits, with exchange of features."""
        ic = IRKSNIC(alpha=ALPHA, max_iter=self.max_iter)
        self._keep(problem, ic._choose(problem))
        self.regime_ = "scattered"
        self.refit_: str | None = "ols"
        self.k_, self.alpha_, self.n_iter_ = ic.k_, ic.alpha_, ic.n_iter_
        self.path_, self.alternatives_ = ic.path_, ic.alternatives_
        self.decision_ = f"{why} EBIC chose {int(self.support_.sum())}."
        return self

    def _grouped(
        self,
        problem: Problem,
        methods: list[IRKSNMethod],
        iterates: FoldTable,
        refits: FoldTable,
        sizes: Floats,
        compared: str,
    ) -> Self:
        """The iterate, or the refit, with the least cross-validated error."""
        refit = bool(refits.mean.min() < iterates.mean.min())
        table = refits if refit else iterates
        path, record = table.best()
        step = int(table.steps[record])
        design, y = problem.design, problem.targets[0]
        w = iterate_at(methods[path], design, y, step)
        if refit:
            w = least_squares(design, y, tuple(np.flatnonzero(w).tolist()))
        self._keep(problem, w)
        self.regime_ = "grouped"
        self.refit_ = "ols" if refit else None
        self.k_, self.alpha_, self.n_iter_ = methods[path].k, ALPHA, step
        settings = [{"k": method.k, "alpha": method.alpha} for method in methods]
        self.path_, self.alternatives_ = path_table(settings, table, sizes), []
        what = "least squares on the support" if refit else "the iterate"
        self.decision_ = (
            f"{compared}: groups of correlated features act together. Cross-validation chose "
            f"k={self.k_} and {what} of step {step}, {int(self.support_.sum())} features."
        )
        return self
