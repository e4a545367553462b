"""The posterior of which features matter: sampled models, and the probability of any statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
    """Sampled models, each a set of features, and what each counts.

    Parameters
    ----------
    supports : list of tuples of int
        The features of each model.
    weights : array
        What each model counts; they sum to 1.
    n_features : int
        How many features there are.
    agreement : float
        The largest difference between chains in the probability of a feature: 0 if they agree.
    inclusion : array of shape (n_features,)
        Probability of each feature, averaged over what each draw was drawn from (Rao-Blackwell)
        and so more precise than the frequency among models.
    candidates : array of int
        The features among which models were sampled.
    correlations : array
        Of the candidates.
    coef, coef_sd : array of shape (n_features,) or (n_responses, n_features)
        Mean and standard deviation of coefficients, over models.
    n_left_out : float
        How many features that are no candidates are expected to matter all the same.
    coefficients : Coefficients, optional
        Their distribution in the models of most weight; None where it was not asked for.
    origin : tuple of (array, array), optional
        The point at which predictions do not depend on the model: means of the columns of X, and
        what is predicted there.
    background : float
        The probability that the response goes with what most features have in common, and with no
        feature of its own.

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
    agreement: float
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
        """The probability that nothing in the data goes with the response."""
        return self.empty - self.background

    def probability(self, features: Sequence[int] | Ints | None = None) -> Floats:
        """The probability that each feature matters.

        Parameters
        ----------
        features : sequence of int, optional
            Which; None for all.
        """
        return self.inclusion if features is None else self.inclusion[self._checked(features)]

    @cached_property
    def _inside(self) -> tuple[NDArray[np.bool_], Ints]:
        """Models x features that any model has: the inclusion matrix; and these features."""
        named = np.unique(np.array([j for S in self.supports for j in S], np.intp))
        place = np.full(self.n_features, -1)
        place[named] = np.arange(named.size)
        inside = np.zeros((len(self.supports), named.size), bool)
        for row, S in zip(inside, self.supports, strict=True):
            row[place[list(S)]] = True
        return inside, place

    def _columns(self, features: Sequence[int] | Ints) -> NDArray[np.bool_]:
        inside, place = self._inside
        at = place[self._checked(features)]
        found = np.zeros((len(inside), at.size), bool)
        found[:, at >= 0] = inside[:, at[at >= 0]]
        return found

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
            Given the features of a model, as a tuple of int, whether it is true of it.
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
            Of the draws.
        """
        check_count("n", n, low=0, high=limits.MOST_DRAWN)
        rng = np.random.default_rng(random_state)
        drawn = rng.choice(len(self.supports), n, p=self.weights / self.weights.sum())
        return [self.supports[at] for at in drawn]

    def sets(self, level: float = 0.95) -> list[FeatureSet]:
        """Credible sets: the fewest correlated features one of which matters with this probability.

        A set that has one of several copies has all of them.

        Parameters
        ----------
        level : float, default=0.95
            Between 0 and 1.
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
        """Features whose columns are equal but for units and signs, by the first of them.

        No data can tell which of them matters: a model has one of them at most, and they share its
        probability.  Features of known groups are judged as groups, and are nobody's copies.
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
        """How many of these features are expected to matter, or a copy in the place of each.

        Parameters
        ----------
        features : sequence of int
            Of copies, the first (see ``copies``).
        """
        return float(self._as_one[self._checked(features)].sum())

    def select(self, fdr: float = 0.1) -> NDArray[np.bool_]:
        """The most features of which at most a given share is expected to be named in vain.

        That is the mean of 1 - p over those named, the Bayesian false discovery rate; features that
        are equally probable come together or not at all.

        Parameters
        ----------
        fdr : float, default=0.1
            The share, between 0 and 1.

        Returns
        -------
        ndarray of bool, shape (n_features,)
        """
        check_interval("fdr", fdr, low=0, high=1, open_low=True, open_high=True)
        p = np.round(self._as_one, DECIMALS)  # of copies the first is named
        levels = np.unique(p[p > 0])[::-1]
        false = np.array([np.mean(1.0 - p[p >= level]) for level in levels])
        within = levels[false <= fdr + 10.0**-DECIMALS]  # of means that grow with each level
        return np.asarray(p >= within[-1]) if within.size else np.zeros(p.size, bool)

    def select_sets(self, fdr: float = 0.1) -> list[FeatureSet]:
        """Disjoint sets of features, single ones where these can be told apart, at a false rate.

        A set is true if one or more of its features matter; the mean of 1 - probability over the
        sets is at most ``fdr``.  Of all such choices among candidate sets (single features, those
        nearest to a leading one, nodes of trees of correlation and of features that stand in for
        each other in models) it is the one of the largest sum of probability over size [1]_: a
        single feature counts one, one of two features a half.

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

        A coefficient is zero in models without its feature, and its interval has that mass: it is
        on one side of zero only where the feature is nearly sure to matter.

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
        """Draw coefficients of all features, zero for those that a drawn model has not.

        Parameters
        ----------
        n : int
            How many draws.
        random_state : int or numpy.random.Generator, default=0
            Of the draws.

        Returns
        -------
        ndarray of shape (n, n_features) or (n, n_responses, n_features)
        """
        check_count("n", n, low=0, high=limits.MOST_DRAWN)
        drawn = self._known_coefficients().sample(n, np.random.default_rng(random_state))
        return drawn.reshape(n, *self.coef.shape)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict by the average over models: of losses other than squares, the linear predictor.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, n_features)
            The measurements, in the units of the fit.
        return_std : bool, default=False
            Whether to return the standard deviation as well: of a new response by squares, noise
            included; by other losses of the linear predictor.

        Returns
        -------
        ndarray of shape (n,) or (n, n_responses), or two of them
        """
        known = self._known_coefficients()
        if self.origin is None:
            raise ValueError(
                "the average over models is for models without unpenalised columns; leave "
                "unpenalized out, or predict by the coefficients of the estimator"
            )
        X = X if issparse(X) else np.asarray(X)
        if len(X.shape) != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, got shape {X.shape}")
        (means, value), used = self.origin, known.used
        Z = X[:, used].toarray() if issparse(X) else X[:, used].astype(np.float64)
        mean, variance, noise = known.along(Z - means[used], used)
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
            Of the draws.

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
                "this posterior has no distribution of coefficients: it is that of more than two "
                "classes, or was not made by the fit of an estimator"
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

        Of m features the former is about (1 + beta²) Σ p / (m + beta² e): the sum is over these,
        and e is the expected number of features.  Of equally good answers it is the shortest.
        Copies (see ``copies``) count as one feature, and the first of them is named.  If it is more
        probable than not that no feature matters, none is named.
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
        """That no feature matters: the response, or every column of X, is constant."""
        none = np.zeros((n_responses, n_features) if n_responses > 1 else n_features)
        return cls(
            [()], np.ones(1), n_features, 0.0, np.zeros(n_features), np.zeros(0, np.intp),
            np.zeros((0, 0)), none, none,
            coefficients=Coefficients.nothing(n_features, n_responses),
        )  # fmt: skip

    def without_signal(self) -> Posterior:
        """The posterior where a test that does not rest on the model finds nothing."""
        nothing = np.zeros_like(self.inclusion)
        return replace(
            self, supports=[()], weights=np.ones(1), inclusion=nothing,
            coef=np.zeros_like(self.coef), coef_sd=np.zeros_like(self.coef_sd), n_left_out=0.0,
            coefficients=Coefficients.nothing(self.n_features, len(np.atleast_2d(self.coef))),
            background=0.0,
        )  # fmt: skip
