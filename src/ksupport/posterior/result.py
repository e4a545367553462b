"""The posterior of which features matter: sampled models, and the probability of any statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .. import limits
from .._common.checks import check_count, check_interval
from .._common.extra import extra
from ..design import Floats, Ints
from .atoms import COPY
from .coefficients import Coefficients, Effects
from .credible_sets import FeatureSet, best_sets, credible_sets

DECIMALS = 9  # of probabilities that are compared: rounding does not decide


@dataclass(frozen=True, eq=False)
class Posterior:
    """A posterior distribution over sparse models: sampled models with their weights.

    Parameters
    ----------
    supports : list of tuples of int
        The features of each model.
    weights : array
        The weight of each model; they sum to 1.
    n_features : int
        The number of columns of X.
    max_chain_difference : float
        The largest difference between chains in the probability of a feature; large values mean
        that the sampler has not converged.
    inclusion : array of shape (n_features,)
        Posterior inclusion probability of each feature: a Rao-Blackwell estimate, more precise than
        the frequency among models.
    candidates : array of int
        The features among which models were sampled.
    correlations : array
        Correlation matrix of the candidates.
    coef, coef_sd : array of shape (n_features,) or (n_responses, n_features)
        Mean and standard deviation of coefficients, over models.
    n_left_out : float
        How many features that are not candidates are expected to matter.
    coefficients : Coefficients, optional
        Distribution of the coefficients in the models of largest weight; None if not computed.
    origin : tuple of (array, array), optional
        The point at which the predictions of all models agree: means of the columns of X, and the
        prediction there.
    background : float
        The probability that the response is associated with a component that most features share,
        and with no single feature.

    Examples
    --------
    >>> from ksupport import AutoIRKSN
    >>> from ksupport.datasets import make_correlated_data
    >>> truth = [3.0, -2.0, 2.0] + [0.0] * 97
    >>> X, y, w = make_correlated_data(60, 100, rho=0.5, w_true=truth, snr=5, random_state=0)
    >>> posterior = AutoIRKSN().fit(X, y).posterior_
    >>> posterior.all_of([0, 1, 2]) > 0.9
    True
    >>> posterior.prob(lambda support: len(support) <= 5) > 0.5
    True
    """

    supports: list[tuple[int, ...]]
    weights: Floats
    n_features: int
    max_chain_difference: float
    inclusion: Floats
    candidates: Ints
    correlations: Floats
    coef: Floats
    coef_sd: Floats
    n_left_out: float = 0.0
    coefficients: Coefficients | None = None
    origin: tuple[Floats, Floats] | None = None
    background: float = 0.0

    @property
    def empty(self) -> float:
        """The probability that no feature matters."""
        return float(sum(w for S, w in zip(self.supports, self.weights, strict=True) if not S))

    @property
    def noise(self) -> float:
        """The probability that the response is associated with nothing in X."""
        return self.empty - self.background

    def probability(self, features: Sequence[int] | Ints | None = None) -> Floats:
        """The probability that each feature matters.

        Parameters
        ----------
        features : sequence of int, optional
            Columns of X; None for all.
        """
        return self.inclusion if features is None else self.inclusion[self._checked(features)]

    @cached_property
    def _inside(self) -> tuple[NDArray[np.bool_], Ints]:
        """The inclusion matrix (features in any model x models), and the row of each feature.

        The last row is that of features that no model has.
        """
        sizes = [len(S) for S in self.supports]
        features = np.fromiter(chain.from_iterable(self.supports), np.intp, sum(sizes))
        used = np.unique(features)
        place = np.full(self.n_features, used.size)
        place[used] = np.arange(used.size)
        inside = np.zeros((used.size + 1, len(sizes)), bool)
        inside[place[features], np.repeat(np.arange(len(sizes)), sizes)] = True
        return inside, place

    def _columns(self, features: Sequence[int] | Ints) -> NDArray[np.bool_]:
        inside, place = self._inside
        return inside[place[self._checked(features)]].T

    def _checked(self, features: Sequence[int] | Ints) -> Ints:
        at = np.atleast_1d(np.asarray(features))
        at = at.astype(np.intp) if not at.size else at
        wrong = at.dtype.kind not in "iu" or at.ndim > 1
        if wrong or ((at < 0) | (at >= self.n_features)).any():
            raise ValueError(
                f"features must be integers from 0 to {self.n_features - 1}, got {features!r}"
            )
        return at

    def any_of(self, features: Sequence[int] | Ints) -> float:
        """The probability that one or more of these features matter."""
        return float(self.weights @ self._columns(features).any(axis=1))

    def all_of(self, features: Sequence[int] | Ints) -> float:
        """The probability that all of these features matter."""
        return float(self.weights @ self._columns(features).all(axis=1))

    def size(self) -> Floats:
        """The distribution of the number of features: entry s is the probability of s of them."""
        sizes = np.array([len(S) for S in self.supports], np.intp)
        return np.asarray(np.bincount(sizes, self.weights), np.float64)

    def prob(self, statement: Callable[[tuple[int, ...]], bool]) -> float:
        """The probability of any statement about the support.

        Parameters
        ----------
        statement : callable
            Takes the features of a model, a tuple of int, and returns whether the statement holds.
        """
        if not callable(statement):
            raise ValueError(
                f"statement must be a function of the features of a model, got {statement!r}"
            )
        true = [bool(statement(S)) for S in self.supports]
        return float(self.weights @ np.array(true))

    def sample(self, n: int, random_state: Any = 0) -> list[tuple[int, ...]]:
        """Draw supports.

        Parameters
        ----------
        n : int
            How many.
        random_state : int or numpy.random.Generator, default=0
            Seed of the draws.
        """
        check_count("n", n, low=0, high=limits.MOST_DRAWN)
        rng = np.random.default_rng(random_state)
        drawn = rng.choice(len(self.supports), n, p=self.weights / self.weights.sum())
        return [self.supports[at] for at in drawn]

    def sets(self, level: float = 0.95) -> list[FeatureSet]:
        """Credible sets: smallest sets of correlated features, each with one or more that matter.

        A set that contains one of several identical columns contains all of them.

        Parameters
        ----------
        level : float, default=0.95
            The probability that one or more features of a set matter, between 0 and 1.
        """
        check_interval("level", level, low=0, high=1, open_low=True, open_high=True)
        others = [j for copies in self.copies.values() for j in copies[1:]]
        kept = np.flatnonzero(~np.isin(self.candidates, others))
        features, inside = self.candidates[kept], self._columns(self.candidates[kept])
        for first, copies in self.copies.items():
            inside[:, features == first] = self._columns(copies).any(axis=1, keepdims=True)
        found = credible_sets(
            inside, self.weights, features, self.correlations[np.ix_(kept, kept)], level
        )
        return [replace(each, features=self._with_copies(each.features)) for each in found]

    def _with_copies(self, features: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(i for j in features for i in self.copies.get(j, (j,)))

    @cached_property
    def copies(self) -> dict[int, tuple[int, ...]]:
        """Features whose columns are equal up to scale and sign, by the first of them.

        No data can show which of them matters: a model contains at most one, and they share its
        probability.  Features of known groups are not listed.
        """
        same = np.triu(np.abs(self.correlations) >= COPY, k=1)
        found: dict[int, tuple[int, ...]] = {}
        for lead in np.flatnonzero(same.any(axis=1) & ~same.any(axis=0)).tolist():
            members = self.candidates[np.append(lead, np.flatnonzero(same[lead]))]
            alike = np.ptp(np.round(self.inclusion[members], DECIMALS)) == 0
            if alike and self._columns(members).sum(axis=1).max() <= 1:
                found[int(members[0])] = tuple(members.tolist())
        return found

    @cached_property
    def _as_one(self) -> Floats:
        """The probability of each feature; the first of copies has that of all of them."""
        p = self.inclusion.copy()
        for first, copies in self.copies.items():
            p[list(copies)] = 0.0
            p[first] = min(float(self.inclusion[list(copies)].sum()), 1.0)
        return p

    def expected_hits(self, features: Sequence[int] | Ints) -> float:
        """How many of these features, or identical columns in their place, are expected to matter.

        Parameters
        ----------
        features : sequence of int
            Columns of X; of identical columns the first (see ``copies``).
        """
        return float(self._as_one[self._checked(features)].sum())

    def select(self, fdr: float = 0.1) -> NDArray[np.bool_]:
        """The largest selection of features with at most a given Bayesian false discovery rate.

        The rate is the mean of 1 - p over the selected features; features that are equally probable
        are selected together or not at all.

        Parameters
        ----------
        fdr : float, default=0.1
            The false discovery rate, between 0 and 1.

        Returns
        -------
        ndarray of bool, shape (n_features,)
        """
        check_interval("fdr", fdr, low=0, high=1, open_low=True, open_high=True)
        p = np.round(self._as_one, DECIMALS)  # of copies the first is selected
        levels = np.unique(p[p > 0])[::-1]
        false = np.array([np.mean(1.0 - p[p >= level]) for level in levels])
        within = levels[false <= fdr + 10.0**-DECIMALS]  # of means that grow with each level
        return np.asarray(p >= within[-1]) if within.size else np.zeros(p.size, bool)

    def select_sets(self, fdr: float = 0.1) -> list[FeatureSet]:
        """Disjoint sets of features, as small as possible, with a given false discovery rate.

        A set is true if one or more of its features matter; the mean of 1 - probability over the
        sets is at most ``fdr``.  Candidate sets are single features, the nearest neighbours of a
        feature, and nodes of cluster trees (by correlation, and by features that replace each other
        in models).  Of all selections among them the one with the largest sum of probability over
        size is returned [1]_: a single feature counts one, a pair of features one half.

        Parameters
        ----------
        fdr : float, default=0.1
            The share of false sets, between 0 and 1.

        Returns
        -------
        list of FeatureSet
            The most probable first.

        References
        ----------
        .. [1] A. Spector, L. Janson, "Controlled discovery and localization of signals via Bayesian
           linear programming", Journal of the American Statistical Association, 2024.
        """
        check_interval("fdr", fdr, low=0, high=1, open_low=True, open_high=True)
        inside = self._columns(self.candidates)
        return best_sets(inside, self.weights, self.candidates, self.correlations, fdr)

    # -- coefficients ------------------------------------------------------------------------

    def effects(self, level: float = 0.95) -> Effects:
        """Mean, standard deviation and interval of each coefficient, over models.

        A coefficient is zero in models without its feature.  Its interval therefore excludes zero
        only if the feature matters almost surely.

        Parameters
        ----------
        level : float, default=0.95
            The probability of the interval.

        Returns
        -------
        Effects
        """
        check_interval("level", level, low=0, high=1, open_low=True, open_high=True)
        known = self._known_coefficients()
        tail, shape = (1.0 - level) / 2, self.coef.shape
        mean, sd = (each.reshape(shape) for each in known.moments)
        lower, upper = (known.quantiles(q).reshape(shape) for q in (tail, 1.0 - tail))
        return Effects(mean, sd, lower, upper, level, self.inclusion)

    def sample_coef(self, n: int, random_state: Any = 0) -> Floats:
        """Draw coefficients of all features, zero for those that are not in the drawn model.

        Parameters
        ----------
        n : int
            How many draws.
        random_state : int or numpy.random.Generator, default=0
            Seed of the draws.

        Returns
        -------
        ndarray of shape (n, n_features) or (n, n_responses, n_features)
        """
        check_count("n", n, low=0, high=limits.MOST_DRAWN)
        drawn = self._known_coefficients().sample(n, np.random.default_rng(random_state))
        return drawn.reshape(n, *self.coef.shape)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict by the average over models; the linear predictor with other losses than squares.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, n_features)
            The measurements, in the units of the fit.
        return_std : bool, default=False
            Whether to return the standard deviation as well: that of a new response, noise
            included, or with other losses than squares that of the linear predictor.

        Returns
        -------
        ndarray of shape (n,) or (n, n_responses), or two of them
        """
        known = self._known_coefficients()
        if self.origin is None:
            raise ValueError(
                "posterior_.predict does not support unpenalised columns: fit without unpenalized, "
                "or use the predict of the estimator"
            )
        X = X if issparse(X) else np.asarray(X)
        if len(X.shape) != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, got shape {X.shape}")
        (means, value), used = self.origin, known.used
        Z = X[:, used].toarray() if issparse(X) else X[:, used].astype(np.float64)
        mean, variance, noise = known.predictive_moments(Z - means[used], used)
        shape = (len(Z), *self.coef.shape[:-1])
        mean = (mean + value).reshape(shape)
        spread = variance + (noise if np.isfinite(known.freedom) else 0.0)
        return (mean, np.sqrt(spread).reshape(shape)) if return_std else mean

    def to_arviz(self, n: int = 1000, random_state: Any = 0) -> Any:
        """Draws of coefficients and of the number of features, for ArviZ.

        Parameters
        ----------
        n : int, default=1000
            How many draws.
        random_state : int or numpy.random.Generator, default=0
            Seed of the draws.

        Returns
        -------
        arviz.InferenceData, or xarray.DataTree from ArviZ 1.0 on
            Group ``posterior``: ``coef``, and ``size``.
        """
        with extra("arviz", "this needs"):
            import arviz
        coef = self.sample_coef(n, random_state)
        size = np.atleast_3d(np.moveaxis(coef != 0, -1, 1)).any(axis=2).sum(axis=1)
        group = {"coef": coef[None], "size": size[None]}  # one chain of independent draws
        if int(arviz.__version__.partition(".")[0]) >= 1:
            return arviz.from_dict({"posterior": group})
        return arviz.from_dict(posterior=group)

    def _known_coefficients(self) -> Coefficients:
        if self.coefficients is None:
            raise ValueError(
                "this posterior has no distribution of coefficients: there are more than two "
                "classes, or it was not made by fitting an estimator; use its probabilities instead"
            )
        return self.coefficients

    def in_units(self, by_feature: Floats, by_response: Floats) -> Posterior:
        """With coefficients multiplied by these numbers, those of X's own columns."""
        if self.coefficients is None:
            return self
        known = self.coefficients.rescaled(by_feature, by_response)
        mean, sd = (each.reshape(self.coef.shape) for each in known.moments)
        return replace(self, coefficients=known, coef=mean, coef_sd=sd)

    # -- the answer --------------------------------------------------------------------------

    @property
    def _expected_size(self) -> float:
        """How many features are expected to matter."""
        return float(self.inclusion.sum()) + self.n_left_out

    def select_f(self, beta: float = 1.0) -> tuple[NDArray[np.bool_], float]:
        """The features of the largest expected F-beta, and their expected F1.

        The expected F-beta of m features is about (1 + beta²) Σ p / (m + beta² e), where the sum is
        over these features and e is the expected number of features that matter.  Of equally good
        selections the smallest is returned.
        Copies (see ``copies``) count as one feature, and the first of them is selected.  If the
        empty model has a probability of at least one half, no feature is selected.
        """
        check_interval("beta", beta, low=0, high=limits.LARGEST_BETA, open_low=True)
        p = np.round(self._as_one, DECIMALS)
        ordered, total = np.sort(p[p > 0])[::-1], self._expected_size
        if not ordered.size or self.empty >= 0.5:
            return np.zeros(self.n_features, bool), 0.0
        sizes = np.arange(1, ordered.size + 1)
        expected = (1 + beta**2) * np.cumsum(ordered) / (sizes + beta**2 * total)
        chosen = p >= ordered[np.argmax(np.round(expected, DECIMALS))]
        return chosen, float(2 * p[chosen].sum() / (chosen.sum() + total))

    @classmethod
    def nothing(cls, n_features: int, n_responses: int = 1) -> Posterior:
        """The posterior if no feature can matter: the response, or every column, is constant."""
        none = np.zeros((n_responses, n_features) if n_responses > 1 else n_features)
        return cls(
            [()], np.ones(1), n_features, 0.0, np.zeros(n_features), np.zeros(0, np.intp),
            np.zeros((0, 0)), none, none,
            coefficients=Coefficients.nothing(n_features, n_responses),
        )  # fmt: skip

    def without_signal(self) -> Posterior:
        """The posterior reduced to the empty model, if the permutation test finds no signal."""
        nothing = np.zeros_like(self.inclusion)
        return replace(
            self, supports=[()], weights=np.ones(1), inclusion=nothing,
            coef=np.zeros_like(self.coef), coef_sd=np.zeros_like(self.coef_sd), n_left_out=0.0,
            coefficients=Coefficients.nothing(self.n_features, len(np.atleast_2d(self.coef))),
            background=0.0,
        )  # fmt: skip
