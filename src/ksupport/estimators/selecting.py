"""What all models share that choose among many paths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common.levels import Setting
from .._common.progress import shows_progress
from ..algorithms import known_method
from ..algorithms.irksn import StepRule
from ..choosing.folds import HoldsOutFolds
from ..choosing.grids import by_loss
from ..choosing.selecting import Search, select_by_criterion
from ..choosing.selection import Selection
from ..design import Problem, Split
from ..losses import Loss, Squared, loss_of
from ..stopping import NoChange
from .base import LinearModel, LinearRegressor
from .checks import all_or_nothing, with_parameters


@with_parameters
class RegressorByLoss(LinearRegressor):
    """A linear model of numbers, by a loss that is a parameter.

    Parameters
    ----------
    step : {"adaptive", "spectral", "nuclear"} or float
        The step size of the dual path.  "adaptive" finds it by backtracking on the dual function:
        10 to 100 times fewer steps are needed, and no norm of X.
        "spectral" takes the constant step ``alpha/‖X‖²`` of Algorithm 1, "nuclear" the same with
        the nuclear norm, as the paper's code does, which makes steps smaller by the square of the
        ratio of the two; a number is taken as it is.  Losses other than "squared" take "adaptive".
    loss : {"squared", "huber", "poisson"} or a loss of `ksupport.losses`
        The loss of fitted values.  "huber" counts errors beyond 0.2 robust standard deviations of y
        linearly, which reduces the influence of outliers (``Huber(delta)`` has another threshold);
        "poisson" is the negative log-likelihood of counts with a log-linear mean, for one target.
    feature_groups : sequence, optional
        Groups of features that are selected together (pathways, regions, the levels of a category):
        a label for each feature, lists of their names or numbers, disjoint, or a mapping from such
        to labels; a feature in none is a group of its own.  The norm is then the k-support norm of
        the l2 norms of groups, and k counts groups.  Larger groups have larger norms by chance:
        scale columns by the root of the size of their group where that matters.
    positive : bool
        Whether coefficients must not be negative (those of unpenalised columns may be); refits keep
        signs.
    shared_support : bool
        Whether the columns of a 2-D y share one support; for ``loss="squared"``.  `IRKSN` fits each
        on its own without it, and gives columns of larger variance more weight with it.  Estimators
        that select models take 2-D y only with it, and errors of all columns have equal weight:
        scale them by their importance.
    """

    _: KW_ONLY
    step: StepRule | float = "adaptive"
    loss: str | Loss = "squared"
    feature_groups: Any = None
    positive: bool = False
    shared_support: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self._of_counts
        return tags

    @property
    def _of_counts(self) -> bool:
        return getattr(self.loss, "name", self.loss) == "poisson"

    def _asked_loss(self) -> Loss:
        return loss_of(self.loss, ("squared", "huber", "poisson"))


@with_parameters
class SelectingModel(LinearModel):
    """Base of the classes that choose among the models of many paths.

    Parameters
    ----------
    max_iter : int
        Steps of each path, at most.
    every : int or None
        Look at every so many steps; None: 5, and 1 where every step is a model of its own
        (lasso, enet, omp).
    weights : {"relative", "repetitions"}
        What ``sample_weight`` means.  Relative weights compare rows with each other: their scale
        changes nothing, and criteria count the rows that have weight.  Repetitions say how often
        each row was seen, as whole numbers: then it is as if X and y held it so many times.
    n_jobs : int, optional
        Paths walked at once, in threads that share X.

    Attributes
    ----------
    alternatives_ : list of (support, score)
        Near-tied supports: with correlated features several explain the data equally well.
    """

    _columns_of_y = 1
    _for_squares: ClassVar[tuple[str, ...]] = ("feature_groups", "positive", "shared_support")

    _: KW_ONLY
    max_iter: int = 100
    every: int | None = 1
    fit_intercept: bool = True
    standardize: bool = True
    unpenalized: Any = None
    weights: str = "relative"
    n_jobs: int | None = None
    verbose: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = bool(self.shared_support)
        return tags

    def _asked_loss(self) -> Loss:
        """The loss that the parameters stand for."""
        return type(self)._loss

    def _settings_by_loss(self, settings: list[Setting]) -> list[Setting]:
        """Parameters of paths, by the loss of the model."""
        return [setting | by_loss(self._loss) for setting in settings]

    def _why_empty(self) -> str:
        return "no feature was chosen, as a model without any was preferred to all others"

    def _problem(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        method: str = "irksn",
        splits: Callable[[Problem], list[Split]] = lambda problem: [],
    ) -> Problem:
        """The data, as paths of this method see them on all rows and on splits."""
        self._check_counts("max_iter", *(["every"] if self.every is not None else []))
        given = X
        several = self._columns_of_y > 1 or self.shared_support
        if not several:
            self._check_one(getattr(y, "shape", ()))
        X, y = self._validated(X, y, multi_output=several)
        weights, loss = self._weights_for(y, sample_weight), self._loss
        rows = weights.positive(np.arange(len(y)))
        if not isinstance(loss, Squared):
            self._check_plain(loss)
            loss.check_rows(loss.checked(y)[rows])
        return Problem(
            X, y.reshape(len(y), -1), weights, np.arange(len(y)), self.fit_intercept,
            self.standardize, known_method(method).compressible, splits,
            self._set_aside(given), loss, shared=self.shared_support and y.ndim > 1,
            alike=not self._units_count, merge_copies=self._merges_copies,
        )  # fmt: skip

    def _check_one(self, shape: tuple[int, ...]) -> None:
        """Refuse several responses where they could be one, with one support."""
        if len(shape) > 1 and shape[1] > 1 and "shared_support" in self.get_params(deep=False):
            raise ValueError(
                f"y should be a 1d array, got an array of shape {shape} instead: give "
                "shared_support=True if its columns share their features, or fit them one at a time"
            )

    def _check_plain(self, loss: Loss) -> None:
        for name in self._for_squares:
            if (asked := getattr(self, name)) is not None and asked is not False:
                given = f"{name}=True" if asked is True else name
                raise ValueError(
                    f"{given} requires loss='squared', got loss={loss.name!r}: use that loss, or "
                    "IRKSN or IRKSNClassifier with a given k"
                )

    def _search(self, n: int, d: int) -> Search:
        """How a criterion chooses, where the choice is left to one."""
        raise NotImplementedError

    def _run_search(self, method: str, stages: list[list[Setting]], **options: Any) -> Search:
        """A search by a criterion on paths of these stages, until they no longer change."""
        return Search(
            method, stages, max_iter=self.max_iter, stopping=NoChange(), n_jobs=self.n_jobs,
            **options,
        )  # fmt: skip

    def _by_criterion(self, problem: Problem) -> Selection:
        design = problem.design
        count, _ = self._n_groups(design.d)
        search = self._search(round(design.n_samples), count)
        structure = self._structure(problem.n_shared)
        return select_by_criterion(problem, replace(search, structure=structure))

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        super()._keep(problem, chosen)
        self.path_ = dict(chosen.table)
        self.alternatives_ = list(chosen.alternatives)


class FoldsModel(HoldsOutFolds, SelectingModel):
    """Base of the classes that hold out folds, to select models or to say how well they predict."""

    @all_or_nothing
    @shows_progress
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Select a model of (X, y), and fit it.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        y : array of shape (n,), or (n, n_responses) with ``shared_support=True``
            The response; of survival as `AutoIRKSNSurvival` says.
        sample_weight : float or array of shape (n,), optional
            Weights of the rows; see ``weights``.
        groups : array of shape (n,), optional
            Labels of rows that belong together (patients, families, sites).  A number of folds
            holds them out together; splitters are given them.  In `AutoIRKSN` and its like, noise
            may be correlated within a group.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups)
        self._warn_of_result()
        return self

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        raise NotImplementedError

    def _warn_of_result(self) -> None:
        """Warn of what a user may not expect of the model."""
