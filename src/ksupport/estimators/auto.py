"""`AutoIRKSN`: a probability for every feature, with nothing to choose."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import KW_ONLY, field, replace
from functools import partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import limits
from .._common.errors import warn
from .._common.progress import shows_progress
from .._common.vectors import check_strength
from ..algorithms.irksn import StepRule
from ..choosing.folds import HoldsOutFolds, NoFoldsError, labels_of, stratification_key
from ..choosing.selection import Selection
from ..design import Floats, Ints, Problem, Split
from ..inference.automatic import EVERY, STEPS, Automatic
from ..posterior.judgement import NoSignalWarning
from ..posterior.result import Posterior
from .averaging import Averaging
from .checks import all_or_nothing, with_parameters
from .outliers import SkipsFarRows
from .selecting import SelectingModel

PREDICT_BY = ("average", "support")
FEWEST_ROWS = 10  # samples below which nothing is held out
FEWEST_OF_A_SORT = 2  # rows, or groups of them: else a class, or events, are on one side of a fold


@with_parameters
class AutoModel(HoldsOutFolds, SelectingModel):
    """Sample which features matter, for any loss (`inference.automatic`)."""

    _merges_copies = True
    _units_count = False
    _for_squares = ("feature_groups", "shared_support")
    _averaging = cast("Averaging | None", None)  # what predictions go by instead of ``coef_``
    _holds_out = True  # whether rows are held out, for `performance_`, which decides nothing

    _: KW_ONLY
    cv: Any = 5
    positive: bool = False
    beta: float = 1.0
    predict_by: str = "average"
    random_state: Any = 0
    max_iter: int = 60
    every: int | None = field(default=EVERY, init=False)

    @all_or_nothing
    @shows_progress
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Sample which features of (X, y) matter, and fit the probable ones.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        y : array of shape (n,), or (n, n_responses) with ``shared_support=True``
            The response; of survival as `AutoIRKSNSurvival` says.
        sample_weight : float or array of shape (n,), optional
            Weights of the rows; see ``weights``.
        groups : array of shape (n,), optional
            Which rows belong together (patients, families, sites): noise may be alike within a
            group, and folds keep groups together; splitters are given them.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups)
        if not self.signal_:
            warn(self.decision_, NoSignalWarning)
        return self

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        if check_strength(self.beta, "beta", positive=True) > limits.LARGEST_BETA:
            raise ValueError(
                f"beta must be at most {limits.LARGEST_BETA:g}, got {self.beta!r}: smaller values "
                "already name every feature of some probability"
            )
        if self.predict_by not in PREDICT_BY:
            raise ValueError(f"predict_by must be one of {PREDICT_BY}, got {self.predict_by!r}")
        self._loss = self._asked_loss()
        problem = self._problem(X, y, sample_weight, splits=self._splits(groups))
        row_groups = None if groups is None else labels_of(groups, len(problem.Y))
        self._keep(problem, problem.run_near_data(partial(self._choose, row_groups, self._seed())))

    def _p_value(self, X: Any, y: ArrayLike, groups: ArrayLike | None, permutations: int) -> float:
        """Of the permutation test, of more permutations than a fit has."""
        self._loss = self._asked_loss()
        problem = self._problem(X, y, None)
        row_groups = None if groups is None else labels_of(groups, len(problem.Y))
        return problem.run_near_data(partial(self._test, row_groups, self._seed(), permutations))

    def _seed(self) -> int:
        """Of chains and permutations."""
        if isinstance(self.random_state, numbers.Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _choose(self, row_groups: Ints | None, seed: int, problem: Problem) -> Selection:
        return self._automatic(row_groups, seed, problem).choose()

    def _test(
        self, row_groups: Ints | None, seed: int, permutations: int, problem: Problem
    ) -> float:
        return self._automatic(row_groups, seed, problem).p_value(permutations)

    def _automatic(self, row_groups: Ints | None, seed: int, problem: Problem) -> Automatic:
        count, _ = self._n_groups(problem.design.d)
        return Automatic(
            problem, self._structure(1), self._asked_structure,
            None if self._labels is None else count - self.unpenalized_.size,  # a group each
            min(STEPS, self.max_iter), float(self.beta), row_groups, seed, self.n_jobs,
            self.predict_by == "average",
        )  # fmt: skip

    def _why_empty(self) -> str:
        if self.signal_:
            return (
                "no feature was chosen, as the response goes with what most features have in "
                "common and none explains it better than the others (decision_ says more)"
            )
        what = "no positive effect" if self.positive else "nothing"
        return (
            f"no feature was chosen, as {what} in these data could be told from noise (signal_ is "
            "False, decision_ says more); that is the answer, and more steps would not change it"
        )

    def _splits(self, groups: ArrayLike | None) -> Callable[[Problem], list[Split]]:
        def enough(problem: Problem) -> list[Split]:
            if not self._holds_out:
                return []
            loss, rows = problem.losses[0], problem.train
            sorts, labels = loss.sorts(problem.response), rows
            if groups is not None:
                labels = labels_of(groups, len(problem.Y))[rows]
            needed = loss.needed_sorts(sorts[rows])
            apart = [len(np.unique(labels[sorts[rows] == each])) for each in needed]
            few = round(problem.weights.samples(len(problem.Y))) < FEWEST_ROWS
            if few or min(apart, default=len(rows)) < FEWEST_OF_A_SORT:
                return []
            try:
                splits = self._held_out(problem, groups, self._key(problem))
            except NoFoldsError:
                if not problem.n_copies:
                    raise
                return []  # every fold of this splitter holds out copies of its other rows
            if not isinstance(self.cv, numbers.Integral):
                return splits
            usable = [split for split in splits if np.isin(needed, sorts[split[0]]).all()]
            return usable if len(usable) > 1 else []

        return enough

    def _key(self, problem: Problem) -> Floats | None:
        """By which responses that are numbers are divided evenly."""
        return stratification_key(problem) if self._columns_of_y == 1 else None

    def _in_units_of_X(self, problem: Problem, posterior: Posterior) -> Posterior:
        """With coefficients of X's own columns, and the point at which all models agree.

        Beside unpenalised columns there is no such point.
        """
        view = problem.view
        scale = np.ones(view.d) if view.scale is None else view.scale
        posterior = posterior.in_units(1.0 / scale, problem.units[: problem.n_shared])
        if self.unpenalized_.size:
            return posterior
        means = np.zeros(view.d) if view.mean is None else np.asarray(view.mean, np.float64)
        value = np.atleast_1d(self.coef_.astype(np.float64) @ means + self.intercept_)
        return replace(posterior, origin=(means, value))

    def _eta(self, X: Any) -> Any:
        if self._averaging is None:
            return self._linear(X)
        check_is_fitted(self)
        return self._averaged(self._values(X, self._averaging.linear))

    def _averaged(self, values: Any) -> Any:
        """What predictions go by, given what all linear predictors of the average say."""
        assert self._averaging is not None
        eta = self._averaging.eta(self._loss, values)
        return eta[:, 0] if self.coef_.ndim == 1 else eta

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        average = chosen.average
        self._averaging = None if average is None else Averaging.of(problem, average)
        super()._keep(problem, chosen)
        judged = chosen.judgement
        assert judged is not None
        self.posterior_ = self._in_units_of_X(problem, judged.posterior)
        self.probability_ = judged.probability
        self.signal_, self.p_value_ = judged.signal, judged.p_value
        self.sets_ = list(judged.sets)
        self.expected_f1_ = judged.expected_f1
        self.performance_ = judged.performance
        self.effective_rows_ = judged.rows.count
        self.decision_, self.refit_ = chosen.words, chosen.refit


@with_parameters
class AutoIRKSN(SkipsFarRows, AutoModel):
    """Find the features that matter, with nothing to choose.

    One model is put to the data: a response is explained by some features, and by clusters of
    correlated features that act together.  How many, and which, is not known; models are sampled
    in proportion to their probability given the data (Gibbs sampling), among the features that
    paths of IRKSN nominate and those that correlate with the response.  Every answer is an event of
    that one posterior: the probability of a feature is that of the models which have it; a set has
    95 % probability if models with one of its features do; there is a signal if the empty model is
    less probable than not, and if permuting the rows of y seldom explains as much.  The model has
    the features of the largest expected F1 (see ``beta``).

    Parameters
    ----------
    loss : {"squared", "huber", "poisson"} or a loss of `ksupport.losses`, default="squared"
        "poisson" for counts; "huber" for numbers some of which are far off: rows that are so by
        more than four robust standard deviations of what the model leaves of y are left
        out (``outliers_``), and the others judged by squares.  ``Huber(delta)`` counts errors
        linearly beyond a threshold of one's own.
    feature_groups : sequence, optional
        Features of which all matter or none (pathways, regions, the levels of a category), as in
        `ksupport.IRKSN`: groups are judged then, and those of a group have one probability.  For
        squares, outliers left out or not.
    shared_support : bool, default=False
        Whether the columns of a 2-D y share their support: then a feature has one probability, and
        a coefficient for each response.  Responses count alike, whatever their units, and their
        noise may be correlated.  For squares, outliers left out or not.
    cv : int, splitter or iterable
        Folds of rows that are held out to see how well new rows are predicted.
    positive : bool, default=False
        Whether effects can only be positive: then no coefficient is negative, and evidence is that
        of priors which know it.  Unpenalised columns may have either sign.
    beta : float, default=1.0
        How much more it counts to miss a feature than to name one in vain, as in scikit-learn's
        ``fbeta_score``: the model has the features of the largest expected F-beta.  2 names more,
        to look at candidates again; 0.5 the surest alone.  Positive, at most 1e6.
    predict_by : {"average", "support"}
        What ``predict`` goes by.  "average": what sampled models and ridge regression on all
        features that any of them has expect of the response, in shares chosen on held-out rows; it
        mostly predicts better, and needs the columns of some hundred features.  "support": the
        model of ``coef_`` and ``intercept_`` alone.
    random_state : int, RandomState or None, default=0
        Of chains, permutations and folds; the default makes results repeatable.
    max_iter : int, default=60
        Steps of the paths that nominate features.
    fit_intercept, standardize, unpenalized
        As in `ksupport.IRKSN`.
    weights : {"relative", "repetitions"}
        As in `PathIC`.
    n_jobs : int, optional
        Paths walked at once, in threads that share X.
    verbose : bool, default=False
        Show progress on fits of more than two seconds.

    Attributes
    ----------
    coef_, intercept_, support_, n_passes_
        As in `ksupport.IRKSN`; ``coef_`` is the ridge regression on the support whose strength has
        the most evidence; the best without negative coefficients with ``positive=True``, and a row
        for each response with ``shared_support=True``.
    adjustment_, unpenalized_, levels_
        As in `ksupport.IRKSN`.
    posterior_ : Posterior
        The sampled models, and the probability of any statement about them.
    probability_ : array of shape (d,)
        For each feature, the probability that it matters.  Equal columns share that of one, and
        the first of them is named for all: ``to_frame()`` has the others beneath it, and so has
        ``posterior_.copies``.
    signal_ : bool
        False: nothing here can be told from noise, and the model is empty.  True with an empty
        model: the response goes with what most features have in common, and with none of its own.
    p_value_ : float
        How often features explain as much of the response with its rows permuted; it rests on no
        model.  Above .05, ``signal_`` is False; it is NaN where no test was needed, as the empty
        model is more probable than all others.
    sets_ : list of FeatureSet
        The fewest correlated features one or more of which matter with 95 % probability; most
        probable first.
    expected_f1_ : float
        Of the support, if the probabilities are right.
    performance_ : Performance
        The whole procedure on each fold, and how well it predicts the other rows: ``score`` (share
        of the variation explained or, with other losses than squares, of the deviance; of several
        responses the mean), its ``standard_error``, and that of predicting the mean, ``baseline``.
        None if there are too few rows to hold some out.
    effective_rows_ : float
        How many independent rows the data are worth, less those that means and unpenalised columns
        take.
    refit_ : str
        What ``coef_`` is on the support: "ridge".
    decision_ : str
        What was decided and why, in words.
    outliers_ : array of int
        The rows that are far off, with ``loss="huber"``; else none.
    n_iter_ : int
        Steps of the paths.
    path_ : dict of arrays
        The models of most probability: ``support``, ``size``, ``score`` (-2 log probability) and
        ``weight``.
    alternatives_ : list of (support, score)
        Other supports of almost as much probability.

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

    _: KW_ONLY
    step: StepRule | float = field(default="adaptive", init=False)

    @shows_progress
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the response, by the average over models or by the support (``predict_by``).

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        return_std : bool, default=False
            Whether to return as well how far off a new response is expected to be, the root of the
            mean square over all sampled models, noise included.  For squares, arrays and data
            frames, without unpenalised columns.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets), or two of them
            For a Dask array or data frame a Dask array, not computed yet.
        """
        mean = super().predict(X)
        if not return_std:
            return mean
        if self._loss.name != "squared":
            raise ValueError(
                f"return_std is for squares, got loss={self._loss.name!r}: posterior_.predict has "
                "mean and standard deviation of the linear predictor"
            )
        X = validate_data(self, self._numbers(X), accept_sparse=("csr", "csc"), reset=False)
        centre, spread = self.posterior_.predict(X, return_std=True)
        return mean, np.hypot(spread, mean - centre)
