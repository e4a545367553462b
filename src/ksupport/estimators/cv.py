"""Selection by cross-validation: `PathCV` for any method, `IRKSNCV` for IRKSN."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._common.levels import FIRST, Setting, for_prediction, levels_of, staged
from ..algorithms import Method, make_method
from ..algorithms.irksn import StepRule
from ..choosing.folds import (
    Fold,
    Refit,
    folds_of,
    on_each,
    select_by_ebic,
    walk_folds,
    walk_stages,
)
from ..choosing.grids import Grid, expand, settings_of, settings_within, without_structure
from ..choosing.refits import refitted
from ..choosing.selecting import Search, irksn_stages, iterate_at, select_by_folds
from ..choosing.selection import Selection
from ..choosing.supports import visited_by
from ..choosing.tables import FoldTable, clearly_worse, table_of, table_of_iterates
from ..design import Floats, Problem
from ..stopping import HeldOut
from ..walking import Result
from .base import LinearRegressor
from .checks import with_parameters
from .selecting import FoldsModel, RegressorByLoss

TRUSTED = 1.0  # standard errors by which EBIC's supports may predict worse, and still be taken


@dataclass(frozen=True)
class _Cell:
    """One path to one step, and what is made of its iterate."""

    refit: Refit
    table: FoldTable
    path: int
    record: int

    @property
    def step(self) -> int:
        return int(self.table.steps[self.record])

    @property
    def errors(self) -> Floats:
        """On the folds."""
        return self.table.errors[:, self.path, self.record]


@with_parameters
class ChosenByFolds(FoldsModel):
    """What the models share that folds choose, of paths of any method.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds, as everywhere in scikit-learn.  Rows of weight 0 take no part in them.
    scoring : str or scorer, optional
        As everywhere in scikit-learn, larger is better; None takes minus the mean squared error,
        in which sample weights count (they do not in others).
    refit : {None, "ols", "ridge", "auto"}
        What is measured, and returned: the iterate itself, or least squares or ridge regression
        on its support.  With "auto" the folds say: the iterate or least squares, whichever
        predicts better; or least squares on the support that EBIC prefers of all visited, as in
        `PathIC` (of groups, the ridge regression of most evidence), unless that predicts worse by
        more than a standard error.
    ridge : float
        Penalty of the ridge refit, a share of n (columns have unit variance).
    one_se : bool
        Take the sparsest model within one standard error of the best.
    patience : int
        A path ends after so many records without a better error on its fold.
    random_state : int, RandomState or None
        Shuffles the folds if ``cv`` is an int; None leaves them in order.

    Attributes
    ----------
    params_ : dict
        The chosen parameters.
    n_iter_ : int
        The chosen step.
    score_ : float
        Its mean score over the folds.
    refit_ : {None, "ols", "ridge"}
        What was made of the iterate.
    path_ : dict of arrays
        Mean and standard error of the loss for every setting and step; if EBIC's choice was
        taken, its table as in `PathIC`.
    alternatives_ : list of (support, score)
        Near-tied supports, if EBIC's choice was taken.
    """

    _: KW_ONLY
    cv: Any = 5
    scoring: Any = None
    refit: Refit | Literal["auto"] = "auto"
    ridge: float = 1.0
    one_se: bool = False
    patience: int = 10
    random_state: Any = None

    def _settings(self, n: int, d: int) -> tuple[str, list[Setting]]:
        """The method's name, and the parameters of its paths."""
        raise NotImplementedError

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        if self.refit not in (None, "ols", "ridge", "auto"):
            raise ValueError(f"refit must be None, 'ols', 'ridge' or 'auto', got {self.refit!r}")
        self._loss = self._asked_loss()
        problem = self._problem(X, y, sample_weight, self.method, self._splits(groups))
        by_rows = self.scoring is not None
        self._keep(
            problem, self._choose(problem) if by_rows else problem.run_near_data(self._choose)
        )

    def _choose(self, problem: Problem) -> Selection:
        """Walk all folds, and the chosen path on all rows."""
        design, structure = problem.design, self._structure(problem.n_shared)
        count = structure.count(design.d)
        name, settings = self._settings(round(design.n_samples), count)
        settings = settings_within(settings, count)
        folds = folds_of(problem, self.scoring, structure)

        def method(setting: Setting) -> Method:
            return make_method(name, **setting).fixed(design, problem.targets[0])

        def walk(stage: list[Setting]) -> list[list[Result]]:
            return self._walk(folds, [method(setting) for setting in stage])

        settings, walked = walk_stages(walk, self._stages(settings))
        refits: tuple[Refit, ...] = (None, "ols") if self.refit == "auto" else (self.refit,)
        cells = [self._best(folds, walked, refit) for refit in refits]
        cell = min(cells, key=lambda each: float(each.errors.mean()))
        if self.refit == "auto":
            errors = self._errors_of_ebic(folds, walked)
            if not clearly_worse(errors, cell.errors, TRUSTED):
                return replace(self._by_criterion(problem), fold_errors=errors)
        w = problem.reshape_coef(self._refit_cell(problem, method(settings[cell.path]), cell))
        at = cell.path, cell.record
        return select_by_folds(name, settings, cell.table, at, w, cell.refit, problem.shared)

    def _stages(self, settings: list[Setting]) -> list[list[Setting]]:
        """What is walked at first, and what only if the best path is among the last walked."""
        return [settings]

    def _walk(self, folds: list[Fold], methods: list[Method]) -> list[list[Result]]:
        """All paths on all folds."""
        return walk_folds(
            folds, methods, max_iter=self.max_iter,
            every=methods[0].every if self.every is None else self.every,
            stopping=HeldOut(patience=self.patience), n_jobs=self.n_jobs,
        )  # fmt: skip

    def _best(self, folds: list[Fold], walked: list[list[Result]], refit: Refit) -> _Cell:
        """The best path and step, if this is made of the iterates."""

        def errors(at: int) -> list[Floats]:
            visited = visited_by(walked[at])
            return folds[at].refitted_errors(visited, refit, folds[at].largest, self.ridge)

        if refit is None:
            table = table_of_iterates(walked)
        else:
            table = table_of(on_each(folds, errors, self.n_jobs), walked)
        return _Cell(refit, table, *(table.simplest() if self.one_se else table.best()))

    def _errors_of_ebic(self, folds: list[Fold], walked: list[list[Result]]) -> Floats:
        """What EBIC's choice on each fold leaves unexplained of the rest."""
        choices = select_by_ebic(folds, walked, self.n_jobs)
        pairs = zip(folds, choices, strict=True)
        return np.array([fold.error_of(choice.support) for fold, choice in pairs])

    def _search(self, n: int, d: int) -> Search:
        name, settings = self._settings(n, d)
        return self._run_search(name, [settings], every=self.every)

    def _refit_cell(self, problem: Problem, method: Method, cell: _Cell) -> Floats:
        """What is made of the cell's iterate on all data."""
        design, y = problem.design, problem.targets[0]
        w = iterate_at(method, design, y, cell.step)
        if cell.refit is None:
            return w
        ridge = self.ridge if cell.refit == "ridge" else 0.0
        support = tuple(np.flatnonzero(w.reshape(-1, design.d).any(axis=0)).tolist())
        return refitted(design, y, support, ridge, bool(self.positive))

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        super()._keep(problem, chosen)
        assert chosen.fold_errors is not None
        self.params_ = without_structure(chosen.params)
        self.score_ = -float(chosen.fold_errors.mean())
        self.refit_ = chosen.refit


class IRKSNChosenByFolds(ChosenByFolds):
    """Models of IRKSN's paths that folds choose, by any loss.

    Parameters
    ----------
    k : "auto", int or sequence of ints
        Sparsity levels to walk, none beyond ``n_features``; "auto" takes 2, 8 and 32, up to
        ``min(n_features / 2, 2 n_samples)``, and 128 if 32 predicts best.  Finer steps do not
        predict better.
    alpha : float or sequence of floats, default=1e-1
        Weights of the squared l2 norm to walk.  Larger than in `IRKSN`: the iterates that predict
        best are not the sparsest, and come in fewer steps.

    Attributes
    ----------
    k_, alpha_
        The chosen ones (None if EBIC's support was only reached by exchanging features).
    """

    method = "irksn"
    k: Any
    alpha: Any
    step: StepRule | float = "adaptive"

    def _settings(self, n: int, d: int) -> tuple[str, list[Setting]]:
        levels = levels_of(self.k, for_prediction(n, d))
        grid = {"k": levels, "alpha": self.alpha, "step": self.step}
        by_loss = self._settings_by_loss(expand(grid))
        return "irksn", [setting | self._asked_structure for setting in by_loss]

    def _stages(self, settings: list[Setting]) -> list[list[Setting]]:
        return staged(settings, FIRST) if isinstance(self.k, str) else [settings]

    def _search(self, n: int, d: int) -> Search:
        stages = irksn_stages(self.k, 1e-2, self.step, n, d, **self._asked_structure)
        by_loss = [self._settings_by_loss(stage) for stage in stages]
        return self._run_search("irksn", by_loss, every=2)

    @property
    def k_(self) -> int | None:
        return self.params_.get("k")

    @property
    def alpha_(self) -> float | None:
        return self.params_.get("alpha")


@with_parameters
class PathCV(LinearRegressor, ChosenByFolds):
    """Choose parameters and stopping time of a method by cross-validation.

    One walk for each fold and parameter setting gives the error at every stopping time.  The
    chosen setting is then walked on all data to the chosen step.  For *grouped* supports (whole
    blocks of correlated features) and for prediction.

    Parameters
    ----------
    method : str
        A name in `ksupport.METHODS`.
    grid : mapping, optional
        Values to try for each parameter of the method; None takes the method's own grid.

    Examples
    --------
    >>> from ksupport import PathCV
    >>> from ksupport.datasets import make_block_data
    >>> X, y, w = make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)
    >>> model = PathCV("irksn", {"k": [5, 10, 20], "alpha": 0.01}).fit(X, y)
    >>> model.params_["k"]
    10
    """

    method: str = "irksn"
    grid: Grid = None
    _: KW_ONLY
    refit: Refit | Literal["auto"] = None
    patience: int = 20
    max_iter: int = 1000
    every: int | None = None

    def _settings(self, n: int, d: int) -> tuple[str, list[dict[str, Any]]]:
        return self.method, settings_of(self.method, self.grid, n, d)


@with_parameters
class IRKSNCV(RegressorByLoss, IRKSNChosenByFolds):
    """IRKSN with k, alpha, the stopping time and the refit chosen by cross-validation.

    For prediction: the iterate, or refit, that predicts best in cross-validation.

    Parameters
    ----------
    loss : {"squared", "huber", "poisson"} or a loss of `ksupport.losses`
        As in `ksupport.IRKSN`.  With other losses than squares held-out rows are scored
        by their deviance, and refits are maximum likelihood fits.

    Examples
    --------
    >>> from ksupport import IRKSNCV
    >>> from ksupport.datasets import make_block_data
    >>> X, y, w = make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)
    >>> model = IRKSNCV(random_state=0).fit(X, y)
    >>> bool(model.support_[w != 0].all())
    True
    """

    k: Any = "auto"
    alpha: Any = 1e-1
