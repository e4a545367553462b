"""`AutoIRKSN`: a probability for every feature, with nothing to choose."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import KW_ONLY, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import limits
from .._common.checks import check_choice
from .._common.errors import warn
from .._common.progress import shows_progress
from .._common.vectors import check_strength
from ..algorithms.irksn import StepRule
from ..choosing.folds import NoFoldsError, labels_of, stratification_key
from ..choosing.selection import Selection
from ..design import Floats, Ints, Problem, Split
from ..inference.automatic import EVERY, STEPS, Automatic
from ..posterior.judgement import NoSignalWarning
from ..posterior.result import Posterior
from .averaging import Averaging
from .checks import with_parameters
from .outliers import SkipsFarRows
from .selecting import FoldsModel

PREDICT_BY = ("average", "support")
FEWEST_ROWS = 10  # samples below which nothing is held out
FEWEST_OF_A_SORT = 2  # rows, or groups of them: else a class, or events, are on one side of a fold


@with_parameters
class AutoModel(FoldsModel):
    """Sample which features matter, for any loss (`inference.automatic`).

    Parameters
    ----------
    cv : int, splitter or iterable
        Cross-validation folds, which measure how well new rows are predicted; a number makes as
        many folds, stratified by classes or events.
    beta : float
        The weight of recall relative to precision, as in scikit-learn's ``fbeta_score``: the
        selected features are those of the largest expected F-beta score.  2 selects more features,
        0.5 only the most certain.  Positive, at most 1e6.
    predict_by : {"average", "support"}
        How ``predict`` predicts.  "average": by a weighted mean of the sampled models and of a
        ridge regression on all features that they contain, with weights chosen on held-out rows;
        probabilities of classes are averaged, not log odds, and of survival log risks.
        It mostly predicts better, and needs the columns of some hundred features.  "support": by
        ``coef_`` and ``intercept_`` alone.
    random_state : int, RandomState or None
        Seed of chains, permutations and folds; the default makes results reproducible.
    max_iter : int
        Number of iterations of the paths on which candidate features are found.

    Attributes
    ----------
    posterior_ : Posterior
        The sampled models, and the probability of any statement about them.
    probability_ : array of shape (d,)
        The posterior inclusion probability of each feature.  Identical columns share the
        probability of one feature, and the first of them is selected for all; ``to_frame()`` and
        ``posterior_.copies`` list the others.
    signal_ : bool
        Whether any effect can be distinguished from noise; if not, the model is empty.  If True
        and the model is empty, the response is associated with a component that most features
        share, and no feature explains it better than the others.
    p_value_ : float
        Of a permutation test: how often features explain as much of a response whose rows are
        permuted; it assumes no model.  Above 0.05, ``signal_`` is False.  NaN if the test was not
        needed, because the empty model has a posterior probability of at least one half.
    sets_ : list of FeatureSet
        The credible sets: smallest sets of correlated features of which one or more matter with
        95 % probability, the most probable first.
    expected_f1_ : float
        The expected F1 score of the support, if the probabilities are right.
    performance_ : Performance
        How well held-out rows are predicted, by cross-validation of the whole procedure:
        ``score`` (the share of the variance explained or, with other losses than squares, of the
        deviance; the mean over several responses), its ``standard_error``, and the ``baseline``, 0
        for a model without features.  None if there are too few rows, of a class, or events to
        hold some out.
    effective_rows_ : float
        The effective sample size, less the degrees of freedom of means and unpenalised columns.
    refit_ : str
        How ``coef_`` is fitted on the support: "ridge".
    decision_ : str
        What was decided and why, in words.
    n_iter_ : int
        Number of iterations of the paths.
    path_ : dict of arrays
        The most probable models: ``support``, ``size``, ``score`` (-2 log probability) and
        ``weight``.
    alternatives_ : list of (support, score)
        Other supports that are almost as probable.
    """

    _merges_copies = True
    _units_count = False
    _for_squares = ("feature_groups", "shared_support")
    _averaging = cast("Averaging | None", None)  # predicts instead of ``coef_``, if there is one
    _holds_out = True  # whether rows are held out, for `performance_`, which decides nothing

    _: KW_ONLY
    cv: Any = 5
    positive: bool = False
    beta: float = 1.0
    predict_by: str = "average"
    random_state: Any = 0
    max_iter: int = 60
    every: int | None = field(default=EVERY, init=False)

    def _warn_of_result(self) -> None:
        if not self.signal_:
            warn(self.decision_, NoSignalWarning)

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        if check_strength(self.beta, "beta", positive=True) > limits.LARGEST_BETA:
            raise ValueError(
                f"beta must be at most {limits.LARGEST_BETA:g}, got {self.beta!r}: smaller values "
                "already select every feature that any sampled model contains"
            )
        check_choice("predict_by", self.predict_by, PREDICT_BY)
        self._loss = self._asked_loss()
        problem = self._problem(X, y, sample_weight, splits=self._splits(groups))
        row_groups = None if groups is None else labels_of(groups, len(problem.Y))
        self._keep(problem, problem.run_near_data(partial(self._choose, row_groups, self._seed())))

    def _p_value(self, X: Any, y: ArrayLike, groups: ArrayLike | None, permutations: int) -> float:
        """The p-value of the permutation test, with more permutations than a fit makes."""
        self._loss = self._asked_loss()
        problem = self._problem(X, y, None)
        row_groups = None if groups is None else labels_of(groups, len(problem.Y))
        return problem.run_near_data(partial(self._test, row_groups, self._seed(), permutations))

    def _seed(self) -> int:
        """The seed of chains and permutations."""
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
                "no feature was selected, because the response is associated with a component that "
                "most features share and no feature explains it better than the others "
                "(decision_ says more)"
            )
        what = "no positive effect" if self.positive else "no effect"
        return (
            f"no feature was selected, because {what} can be distinguished from noise (signal_ is "
            "False, decision_ says more); more steps would not change this"
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
        """What folds are stratified by."""
        return stratification_key(problem) if self._columns_of_y == 1 else None

    def _in_units_of_X(self, problem: Problem, posterior: Posterior) -> Posterior:
        """The posterior with coefficients in the units of X, and with its origin.

        With unpenalised columns there is no point at which the predictions of all models agree.
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
        """The averaged linear predictor, given those of all models in the average."""
        assert self._averaging is not None
        eta = self._averaging.eta(self._loss, values)
        return eta[:, 0] if self.coef_.ndim == 1 else eta

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        average = chosen.average
        self._averaging = None if average is None else Averaging.from_average(problem, average)
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
    """Find the features that matter, with a probability for each and nothing to tune.

    The model explains the response by an unknown number of features, and of clusters of correlated
    features that act together.  Such models are drawn from their posterior distribution by Gibbs
    sampling, among candidate features: those on paths of IRKSN, and those that correlate with the
    response.  All results follow from this posterior: the probability of a feature is the share of
    models that contain it, and a credible set has 95 % probability if 95 % of the models contain
    one of its features or more.  There is a signal if the empty model has a probability below one
    half and a permutation test of the response rejects at 5 %.  The selected features are those of
    the largest expected F1 score (see ``beta``).

    Parameters
    ----------
    loss : {"squared", "huber", "poisson"} or a loss of `ksupport.losses`, default="squared"
        "poisson" is for counts.  "huber" is for outliers in y: rows whose residual exceeds four
        robust standard deviations are left out (``outliers_``), and the others are fitted by
        squares.  ``Huber(delta)`` counts errors beyond ``delta`` linearly.
    feature_groups : sequence, optional
        Groups of features of which all or none are selected (pathways, regions, the levels of a
        category), as in `ksupport.IRKSN`.  All features of a group have the same probability.  For
        ``loss="squared"`` or ``"huber"``.
    shared_support : bool, default=False
        Whether the columns of a 2-D y share their support: a feature then has one probability, and
        a coefficient for each response.  All responses have equal weight, whatever their units, and
        their noise may be correlated.  For ``loss="squared"`` or ``"huber"``.
    positive : bool, default=False
        Whether effects can only be positive: the prior then excludes negative coefficients.
        Unpenalised columns may have either sign.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        A ridge regression on the support with the penalty that maximises the marginal likelihood;
        without negative coefficients if ``positive=True``.
    outliers_ : array of int
        The rows left out as outliers, with ``loss="huber"``; else none.

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

    If missing a feature is worse than selecting a false one:

    >>> int(AutoIRKSN(beta=4).fit(X, y).support_.sum()) >= 3
    True

    If effects can only be positive:

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
                f"return_std=True requires loss='squared', got loss={self._loss.name!r}: "
                "posterior_.predict gives mean and standard deviation of the linear predictor"
            )
        X = validate_data(self, self._numbers(X), accept_sparse=("csr", "csc"), reset=False)
        centre, spread = self.posterior_.predict(X, return_std=True)
        return mean, np.hypot(spread, mean - centre)
