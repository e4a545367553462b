"""Selection by information criteria: `PathIC` for any method, `IRKSNIC` for IRKSN."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

from numpy.typing import ArrayLike

from .._common.levels import Setting
from .._common.progress import shows_progress
from ..algorithms.irksn import StepRule
from ..choosing.grids import Grid, settings_of, without_structure
from ..choosing.selecting import Search, irksn_stages
from ..choosing.selection import Selection
from ..design import Problem
from .base import LinearRegressor
from .checks import all_or_nothing, with_parameters
from .selecting import RegressorByLoss, SelectingModel


@with_parameters
class ChosenByCriterion(SelectingModel):
    """What the models share that a criterion chooses, of paths of any method.

    Parameters
    ----------
    criterion : {"auto", "ebic", "evidence", "bic", "aic", "gic", "cp"}
        What to minimise; see `ksupport.choosing.criteria.Criterion`.  "evidence" is minus twice the
        logarithm of the marginal likelihood of a normal prior, with the number of supports of as
        many features; its model is a ridge regression.  "auto" takes EBIC, or the evidence where
        features come in groups or responses share a support, unless one sign is asked for.
    max_size : int, optional
        Largest support considered; None takes a third as many as there are different rows.
    exchange : int
        From how many of the best supports to start exchanging features; 0 for none.  AIC does
        without: it would go on adding features.
    tie : float
        Supports whose score is at most so much worse are listed in ``alternatives_``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The least-squares refit, or the ridge regression of most evidence; those of unpenalised
        columns too, at their places.
    params_ : dict
        Parameters of the path on which the chosen support was first met; empty if it was only
        reached by exchanging features.
    n_iter_ : int
        The step at which it was met, or the most steps walked.
    score_ : float
        Its criterion.
    path_ : dict of arrays
        The table of all supports: ``support``, ``size``, ``rss``, ``score``, the parameters and
        ``t`` where each was first met, best first.  ``pandas.DataFrame(model.path_)`` shows it.
    """

    _: KW_ONLY
    criterion: str = "auto"
    max_size: int | None = None
    exchange: int = 3
    tie: float = 2.0

    def _stages(self, n: int, d: int) -> tuple[str, list[list[Setting]]]:
        """The method's name, and the parameters of the paths of each stage of the search."""
        raise NotImplementedError

    @all_or_nothing
    @shows_progress
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Walk the paths on (X, y) and choose.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        y : array of shape (n,), or (n, n_responses) with ``shared_support=True``
            The response.
        sample_weight : float or array of shape (n,), optional
            Weights of the rows; see ``weights``.

        Returns
        -------
        self
        """
        self._loss = self._asked_loss()
        problem = self._problem(X, y, sample_weight, self.method)
        self._keep(problem, problem.run_near_data(self._by_criterion))
        return self

    def _search(self, n: int, d: int) -> Search:
        return self._run_search(
            *self._stages(n, d), criterion=self.criterion, max_size=self.max_size,
            exchange=self.exchange, tie=self.tie, every=self.every,
        )  # fmt: skip

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        super()._keep(problem, chosen)
        self.params_ = without_structure(chosen.params)
        self.score_ = chosen.score


class IRKSNChosenByCriterion(ChosenByCriterion):
    """Models of IRKSN's paths that a criterion chooses, by any loss.

    Parameters
    ----------
    k : "auto", int or sequence of ints
        Sparsity levels to walk, none beyond ``n_features``; "auto" takes 1, 4 and 16, as far as
        they are at most a quarter of the samples, and 64 if 16 features or more are chosen.
        Those between added nothing in trials.
    alpha : float or sequence of floats, default=1e-2
        Weights of the squared l2 norm to walk.

    Attributes
    ----------
    k_, alpha_
        Those of the path on which the support was first met (None if it was only reached by
        exchanging features).
    """

    method = "irksn"
    k: Any
    alpha: Any
    step: StepRule | float = "adaptive"

    def _stages(self, n: int, d: int) -> tuple[str, list[list[Setting]]]:
        stages = irksn_stages(self.k, self.alpha, self.step, n, d, **self._asked_structure)
        return "irksn", [self._settings_by_loss(stage) for stage in stages]

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        super()._keep(problem, chosen)
        self.k_, self.alpha_ = chosen.irksn


@with_parameters
class PathIC(LinearRegressor, ChosenByCriterion):
    """Choose the support on a method's paths that an information criterion prefers.

    Walks the paths of all parameters in a grid, gathers every distinct support visited, refits
    each by least squares and scores it; from the best few, features are exchanged with those
    left out as long as the score improves.  For *scattered* supports: few features, anywhere.

    Parameters
    ----------
    method : str
        A name in `ksupport.METHODS`.
    grid : mapping, optional
        Values to try for each parameter of the method; None takes the method's own grid.
    max_iter : int
        Steps of each path, at most; paths whose support and residual no longer change end early.

    Examples
    --------
    >>> from ksupport import PathIC
    >>> from ksupport.datasets import make_correlated_data
    >>> truth = [3.0, -2.0, 2.0] + [0.0] * 97
    >>> X, y, w = make_correlated_data(60, 100, rho=0.5, w_true=truth, snr=5, random_state=0)
    >>> model = PathIC("iht").fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2])
    """

    method: str = "irksn"
    grid: Grid = None
    _: KW_ONLY
    max_iter: int = 1000
    every: int | None = None

    def _stages(self, n: int, d: int) -> tuple[str, list[list[Setting]]]:
        """The method's name, and the parameters of the paths of each stage of the search."""
        return self.method, [settings_of(self.method, self.grid, n, d)]


@with_parameters
class IRKSNIC(RegressorByLoss, IRKSNChosenByCriterion):
    """IRKSN with k, alpha, the stopping time and the support chosen by a criterion.

    Parameters
    ----------
    loss : {"squared", "huber", "poisson"} or a loss of `ksupport.losses`
        As in `ksupport.IRKSN`.  With other losses than squares the criterion contains the
        deviance instead of n log(rss), "cp" is not available, and ``path_`` has ``deviance``
        instead of ``rss``.
    feature_groups : sequence, optional
        As in `ksupport.IRKSN`.  k counts groups, and so does the penalty of EBIC on the number
        of supports; groups are exchanged as a whole.

    Examples
    --------
    >>> from ksupport import IRKSNIC
    >>> from ksupport.datasets import make_correlated_data
    >>> truth = [3.0, -2.0, 2.0] + [0.0] * 97
    >>> X, y, w = make_correlated_data(60, 100, rho=0.5, w_true=truth, snr=5, random_state=0)
    >>> model = IRKSNIC().fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2])
    """

    k: Any = "auto"
    alpha: Any = 1e-2
    _: KW_ONLY
    max_iter: int = 60
    every: int | None = 2
