"""`AutoIRKSN`: a probability for every feature, with nothing to choose."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import limits
from .._common.telling import tells
from .._common.vectors import check_strength
from ..choosing.automatic import Automatic
from ..choosing.chosen import Chosen
from ..choosing.folds import HoldsOutFolds, in_a_row
from ..choosing.policy import POLICY
from ..choosing.walks import Walks
from ..choosing.words import NoSignalWarning
from ..design import Floats, Problem, Split, Weights
from ..losses import Loss
from ..stopping import HeldOut
from .base import SelectingModel
from .skipping import SkipsFarRows

FEWEST_OF_A_SORT = 2  # rows: fewer of a class, or of events, cannot be on both sides of a fold


class AutoModel(HoldsOutFolds, SelectingModel):
    """Judge features by evidence and by held-out rows, for any loss (`choosing.automatic`)."""

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
        check_strength(self.beta, "beta", positive=True)
        self._loss = self._asked_loss()
        problem = self._problem(X, y, sample_weight, splits=self._splits(groups))
        self._keep(problem, problem.there(self._choose))

    def _choose(self, problem: Problem) -> Chosen:
        count, _ = self._n_groups(problem.design.d)
        walks = Walks(
            problem, self._asked_structure,
            None if self._labels is None else count - self.unpenalized_.size,  # a group each
            min(POLICY.steps, self.max_iter), HeldOut(patience=POLICY.patience), self.n_jobs,
        )  # fmt: skip
        other_splits = partial(self._other_splits, problem)
        return Automatic(walks, self._structure(1), other_splits, float(self.beta)).choose()

    def _why_empty(self) -> str:
        what = "no positive effect" if self.positive else "nothing"
        return (
            f"no feature was chosen, as {what} in these data could be told from noise (signal_ is "
            "False, decision_ says more); that is the answer, and more steps would not change it"
        )

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
    for each feature; the model has those of the largest expected F1 (see ``beta``).  Where nothing
    can be told from noise the model is empty.

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
    beta : float, default=1.0
        How much more it counts to miss a feature than to name one in vain, as in scikit-learn's
        ``fbeta_score``: the model has the features of the largest expected F-beta.  2 names more,
        to predict or to look at candidates again; 0.5 the surest alone.
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
        the most evidence or, with other losses than squares, predicts best on folds; the best
        without negative coefficients with ``positive=True``, and a row for each response with
        ``shared_support=True``.
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
        losses than squares, of the deviance; of several responses the mean), its
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

    Where a feature too many is better than one that is missed:

    >>> int(AutoIRKSN(beta=4).fit(X, y).support_.sum()) >= 3
    True

    Where effects can only be positive:

    >>> AutoIRKSN(positive=True).fit(X, y).get_support(indices=True)
    array([0, 2])
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
        beta: float = 1.0,
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
        self.beta = beta
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
