"""Coefficients over models: mixtures of normal or t distributions, and a mass at zero.

Given the features of a model, its coefficients are normal (of squares, whose noise is unknown, they
have a t distribution).  What is told of a coefficient is that of the mixture over models, those
without it included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr
from scipy.stats import norm

from .._common.extra import extra
from ..design import Floats, Ints
from .atoms import AtomSet
from .chains import Sample
from .likelihood import Likelihood
from .prior import PRECISIONS

AVERAGED = 200  # models, those of most weight
EXACT_FIT = 1e-12  # share of a response that no model explains
HALVINGS = 80  # of an interval in which a quantile lies: to rounding
UNSEEN = 1e-3  # share of the largest variance of coefficients below which others are left aside
WIDE = 60.0  # standard deviations in which all of a normal or t distribution lies, for this purpose


@dataclass(frozen=True, eq=False)
class ModelCoefficients:
    """Coefficients of one model: a normal or t distribution.

    Parameters
    ----------
    weight : float
        What the model counts.
    features : array of shape (s,)
        Of the model.
    mean : array of shape (s, n_responses)
        Of their coefficients.
    factor : array of shape (s, r)
        Its product with its transpose, times ``noise``, is the covariance, or squared scale.
    noise : array of shape (n_responses,)
        The variance of the noise; 1 where the loss knows it.
    """

    weight: float
    features: Ints
    mean: Floats
    factor: Floats
    noise: Floats


@dataclass(frozen=True, eq=False)
class Coefficients:
    """The mixture over models.

    Parameters
    ----------
    models : sequence of ModelCoefficients
        Those of most weight; their weights sum to 1.
    n_features, n_responses : int
        How many there are.
    freedom : float
        Degrees of freedom of the t distributions; infinite: they are normal.
    positive : bool
        Whether coefficients cannot be negative: each is truncated at zero by itself.
    """

    models: Sequence[ModelCoefficients]
    n_features: int
    n_responses: int
    freedom: float = np.inf
    positive: bool = False

    @classmethod
    def nothing(cls, n_features: int, n_responses: int = 1) -> Coefficients:
        """All are zero, and there is no noise."""
        empty = ModelCoefficients(
            1.0, np.zeros(0, np.intp), np.zeros((0, n_responses)), np.zeros((0, 0)),
            np.zeros(n_responses),
        )  # fmt: skip
        return cls([empty], n_features, n_responses)

    @property
    def variance_of_t(self) -> float:
        """The variance of a t distribution, in units of its squared scale."""
        return self.freedom / (self.freedom - 2.0) if 2.0 < self.freedom < np.inf else 1.0

    # -- one coefficient at a time ---------------------------------------------------------

    @cached_property
    def _flat(self) -> tuple[Ints, Floats, Floats, Floats]:
        """Feature, weight, location and scale of every coefficient of every model."""
        features = np.concatenate([each.features for each in self.models])
        sizes = [each.features.size for each in self.models]
        weights = np.repeat([each.weight for each in self.models], sizes)
        location = np.concatenate([each.mean for each in self.models]).T
        squares = [np.einsum("ij,ij->i", each.factor, each.factor) for each in self.models]
        lengths = np.sqrt(np.concatenate(squares))
        noise = np.sqrt(np.repeat([each.noise for each in self.models], sizes, axis=0)).T
        return features, weights, location, np.maximum(lengths * noise, np.finfo(float).tiny)

    def _moments(self, location: Floats, scale: Floats) -> tuple[Floats, Floats]:
        """Mean and second moment of each component."""
        if not self.positive:
            return location, location**2 + self.variance_of_t * scale**2
        z = location / scale
        hazard = np.exp(norm.logpdf(z) - norm.logcdf(z))  # of a normal variable above zero
        mean = location + scale * hazard
        return mean, location**2 + scale**2 + location * scale * hazard

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each coefficient: (n_responses, n_features) each."""
        features, weights, location, scale = self._flat
        first, second = np.zeros((2, self.n_responses, self.n_features))
        for at in range(self.n_responses):
            mean, square = self._moments(location[at], scale[at])
            first[at] = np.bincount(features, weights * mean, self.n_features)
            second[at] = np.bincount(features, weights * square, self.n_features)
        return first, np.sqrt(np.maximum(second - first**2, 0.0))

    def quantiles(self, q: float) -> Floats:
        """Of each coefficient: (n_responses, n_features)."""
        return np.array([self._quantiles(q, at) for at in range(self.n_responses)])

    def _quantiles(self, q: float, response: int) -> Floats:
        features, weights, location, scale = self._flat
        location, scale = location[response], scale[response]
        out = np.zeros(self.n_features)
        if not features.size:
            return out
        used, place = np.unique(features, return_inverse=True)
        zero = 1.0 - np.bincount(place, weights)  # the mass there

        def cdf(x: Floats) -> Floats:
            """Of the models that have the feature."""
            each = self._component_cdf(x[place], location, scale)
            return np.asarray(np.bincount(place, weights * each, used.size))

        below = cdf(np.zeros(used.size))
        negative, positive = q < below, q > below + zero  # else it is zero
        low, high = np.zeros(used.size), np.zeros(used.size)
        np.minimum.at(low, place, location - WIDE * scale)
        np.maximum.at(high, place, location + WIDE * scale)
        low, high = np.where(negative, low, 0.0), np.where(negative, 0.0, high)
        level = np.where(positive, q - zero, q)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            under = cdf(middle) < level
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        out[used] = np.where(negative | positive, (low + high) / 2, 0.0)
        return out

    def _component_cdf(self, x: Floats, location: Floats, scale: Floats) -> Floats:
        z = (x - location) / scale
        if not self.positive:
            return np.asarray(ndtr(z) if np.isinf(self.freedom) else stdtr(self.freedom, z))
        outside = ndtr(-location / scale)
        inside = np.maximum(1.0 - outside, np.finfo(float).tiny)
        return np.where(x > 0, np.maximum(ndtr(z) - outside, 0.0) / inside, 0.0)

    # -- all of a model --------------------------------------------------------------------

    def covariance_root(self, features: Ints) -> Floats:
        """Rows whose products add up to the covariance of these features, of one response."""
        own_features = self.used
        place = np.full(self.n_features, -1)
        place[own_features] = np.arange(own_features.size)
        C = np.zeros((own_features.size, own_features.size))
        mean, heavy = np.zeros(own_features.size), self.variance_of_t
        for model in self.models:
            at, own = place[model.features], model.mean[:, 0]
            spread = heavy * model.noise[0] * (model.factor @ model.factor.T)
            C[at[:, None], at] += model.weight * (own[:, None] * own + spread)
            mean[at] += model.weight * own
        sizes, axes = np.linalg.eigh(C - np.outer(mean, mean))
        kept = sizes > UNSEEN * np.maximum(sizes.max(initial=0.0), 0.0)
        root = np.zeros((np.count_nonzero(kept), self.n_features))
        root[:, own_features] = (axes[:, kept] * np.sqrt(sizes[kept])).T
        return root[:, features]

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Draws of all coefficients: (n, n_responses, n_features)."""
        weights = np.array([each.weight for each in self.models])
        out = np.zeros((n, self.n_responses, self.n_features))
        for draw, at in enumerate(rng.choice(weights.size, n, p=weights / weights.sum())):
            model = self.models[at]
            normal = rng.standard_normal((model.factor.shape[1], self.n_responses))
            wide = 1.0
            if np.isfinite(self.freedom):
                wide = float(np.sqrt(self.freedom / rng.chisquare(self.freedom)))
            own = model.mean + wide * np.sqrt(model.noise) * (model.factor @ normal)
            out[draw][:, model.features] = (np.maximum(own, 0.0) if self.positive else own).T
        return out

    def predictive_moments(self, Z: Floats, features: Ints) -> tuple[Floats, Floats, Floats]:
        """Posterior mean and variance of Z b over models, and the mean variance of the noise.

        ``Z`` has the columns of these features, which must include those of all models.  The first
        two have shape (rows, n_responses), the noise (n_responses,).
        """
        place = np.full(self.n_features, -1)
        place[features] = np.arange(features.size)
        shape = len(Z), self.n_responses
        first, second, noise = np.zeros(shape), np.zeros(shape), np.zeros(self.n_responses)
        for model in self.models:
            own = Z[:, place[model.features]]
            mean = own @ model.mean
            spread = self.variance_of_t * np.sum((own @ model.factor) ** 2, axis=1)
            first += model.weight * mean
            second += model.weight * (mean**2 + spread[:, None] * model.noise)
            noise += model.weight * self.variance_of_t * model.noise
        return first, np.maximum(second - first**2, 0.0), noise

    @property
    def used(self) -> Ints:
        """The features of all models."""
        return np.unique(self._flat[0])

    def rescaled(self, by_feature: Floats, by_response: Floats) -> Coefficients:
        """In other units: coefficients times these numbers."""
        columns, squares = by_feature[:, None], by_response**2
        turned = [(each, columns[each.features]) for each in self.models]
        models = [
            ModelCoefficients(
                each.weight, each.features, each.mean * own * by_response, each.factor * own,
                each.noise * squares,
            )
            for each, own in turned
        ]  # fmt: skip
        return replace(self, models=models)


@dataclass(frozen=True, eq=False)
class Effects:
    """Mean, standard deviation and interval of coefficients, as given by `Posterior.effects`.

    Attributes
    ----------
    mean, sd, lower, upper : ndarray of shape (d,) or (n_responses, d)
        Over models, those without a feature included, in which its coefficient is zero.
    level : float
        The probability that a coefficient lies between ``lower`` and ``upper``.
    probability : ndarray of shape (d,)
        That a feature matters.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import Effects
    >>> one = np.array([0.7])
    >>> effects = Effects(one, one / 7, one - 0.2, one + 0.2, 0.95, np.array([1.0]))
    >>> effects.ratios().upper.round(2)
    array([2.46])
    """

    mean: Floats
    sd: Floats
    lower: Floats
    upper: Floats
    level: float
    probability: Floats

    @property
    def excludes_zero(self) -> NDArray[np.bool_]:
        """Whether an interval lies on one side of zero."""
        return np.asarray((self.lower > 0) | (self.upper < 0))

    def ratios(self) -> Effects:
        """The same as ratios of odds (classes), hazards (survival times) or rates (counts).

        These are for one unit more of a feature: exponentials of coefficients, with the standard
        deviation to first order.
        """
        mean, lower, upper = map(np.exp, (self.mean, self.lower, self.upper))
        return replace(self, mean=mean, sd=mean * self.sd, lower=lower, upper=upper)

    def to_frame(self, names: Sequence[str] | None = None) -> Any:
        """A table of the features that any model has, the most probable first.

        Parameters
        ----------
        names : sequence of str, optional
            Of all features; by default x0, x1, and so on.

        Returns
        -------
        pandas.DataFrame
            Columns ``feature``, ``name``, ``probability``, ``mean``, ``sd``, ``lower`` and
            ``upper``; of several responses a row for each, whose number is in ``response``.
        """
        with extra("data", "a data frame needs"):
            import pandas as pd
        order = np.argsort(-np.round(self.probability, 9), kind="stable")
        order = order[self.probability[order] > 0]
        arrays = [np.atleast_2d(each) for each in (self.mean, self.sd, self.lower, self.upper)]
        rows = [
            (at, j, f"x{j}" if names is None else str(names[j]), self.probability[j],
             *(each[at, j] for each in arrays))
            for j in order.tolist() for at in range(len(arrays[0]))
        ]  # fmt: skip
        head = ["response", "feature", "name", "probability", "mean", "sd", "lower", "upper"]
        frame = pd.DataFrame(rows, columns=head)
        return frame.drop(columns="response") if self.mean.ndim == 1 else frame


def coefficients_by_squares(
    likelihood: Likelihood, atoms: AtomSet, drawn: Sample, weights: Floats, n_features: int,
    most: int = AVERAGED, positive: bool = False,
) -> Coefficients:  # fmt: skip
    """Of the sampled models of most weight, by the quadratic likelihood that chains had."""
    data, T = atoms.data, atoms.data.c.shape[1]
    floor = EXACT_FIT * data.total.diagonal()
    chosen, shares = drawn.leading(weights, most)
    lams = PRECISIONS[drawn.precisions[chosen]]
    columns = [atoms.columns_of(own[own >= 0]) for own in drawn.sets[chosen]]
    sizes = np.array([own.size for own in columns])
    used = np.unique(np.concatenate(columns))
    products = data.products.rows(used)[:, used]
    found: list[list[ModelCoefficients]] = [[] for _ in columns]
    for size in np.unique(sizes).tolist():  # models of one size together
        places = np.flatnonzero(sizes == size)
        own = np.array([columns[at] for at in places.tolist()], np.int64)
        within = np.searchsorted(used, own)
        A = products[within[:, :, None], within[:, None, :]]
        A[:, np.arange(size), np.arange(size)] += lams[places, None]
        inverse, c = np.linalg.inv(A), data.c[own]
        mean, noise = inverse @ c, np.ones((len(own), T))
        if not likelihood.known_noise:
            left = data.total.diagonal() - np.einsum("mij,mij->mj", c, mean)
            noise = np.maximum(left, floor) / data.nu
        each = zip(
            places.tolist(), own, shares[places].tolist(), mean, np.linalg.cholesky(inverse), noise,
            strict=True,
        )  # fmt: skip
        for at, *model in each:
            found[at] = _of_columns(likelihood, atoms, *model)
    freedom = np.inf if likelihood.known_noise else data.nu
    return Coefficients([each for own in found for each in own], n_features, T, freedom, positive)


def of_atoms(
    likelihood: Likelihood, atoms: AtomSet, columns: Ints, weight: float, mean: Floats,
    covariance: Floats, noise: Floats,
) -> list[ModelCoefficients]:  # fmt: skip
    """Coefficients of features, given those of the columns of atoms; without a covariance, modes.

    Of a feature that has copies each takes its turn, in a model of its own.
    """
    root = np.zeros((columns.size, 0))
    if covariance.size:
        root = np.asarray(np.linalg.cholesky(covariance))
    return _of_columns(likelihood, atoms, columns, weight, mean, root, noise)


def _of_columns(
    likelihood: Likelihood, atoms: AtomSet, columns: Ints, weight: float, mean: Floats,
    root: Floats, noise: Floats,
) -> list[ModelCoefficients]:  # fmt: skip
    """As `of_atoms`, by a root of the covariance."""
    alone = atoms.alone[columns]
    if alone.size == 0 or alone.min() >= 0:
        order = alone.argsort()
        used = alone[order]
        unit = 1.0 / likelihood.scale[used, None]
        features = likelihood.features[used]
        return [ModelCoefficients(weight, features, unit * mean[order], unit * root[order], noise)]
    loadings = atoms.by_column[columns]
    used = np.flatnonzero(loadings.any(axis=0))
    L = loadings[:, used].T / likelihood.scale[used, None]
    factor = L @ root
    copies = [atoms.copies.get(j, (j,)) for j in used.tolist()]
    turns = max([1, *map(len, copies)])
    return [
        ModelCoefficients(
            weight / turns,
            likelihood.features[np.array([own[turn % len(own)] for own in copies], np.intp)],
            L @ mean, factor, noise,
        )
        for turn in range(turns)
    ]  # fmt: skip
