"""Sampled models by the loss itself, where chains had it to second order only.

The evidence of leading models is taken by Laplace's method at the model's own mode; the ratio to
what the chain believed is the weight of importance sampling, truncated as Ionides (2008) has it.
Models that were not evaluated have the mean ratio of those with as many atoms.  Coefficients of
an evaluated model are normal about its mode.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, softmax

from .._kernels import posterior as kernels
from ..choosing.evidence import Laplace
from ..design import Floats, Ints
from ..losses import Response
from .atoms import AtomSet
from .chains import Sample
from .coefficients import Coefficients, ModelCoefficients, of_atoms
from .likelihood import Likelihood, profiled_hessian
from .prior import PRECISIONS


@dataclass(frozen=True, eq=False)
class Expansion:
    """The log likelihood to second order at some coefficients, as that of candidate features.

    Parameters
    ----------
    features : array of int
        The candidates.
    columns : array of shape (m, n)
        Theirs, as rows.
    share : float
        Of the rows that count.
    """

    response: Response
    features: Ints
    columns: Floats
    share: float
    likelihood: Likelihood
    atoms: AtomSet

    @property
    def weight(self) -> float:
        """What a unit of the loss counts."""
        return self.share / self.response.dispersion

    @cached_property
    def order(self) -> list[int]:
        """Where the likelihood's features are among the candidates."""
        place = {int(f): i for i, f in enumerate(self.features)}
        return [place[int(f)] for f in self.likelihood.features]


@dataclass(frozen=True, eq=False)
class ByLoss:
    """Sampled models, the leading ones of them by the loss itself.

    Parameters
    ----------
    weights : array
        Of each draw; they sum to 1.
    log_mass : float
        Log posterior mass of the leading models, but for a constant: where it is larger, models
        have been drawn that explain more.
    order : array of int
        The leading draws.
    found : list of Laplace
        Their modes.
    """

    expansion: Expansion
    drawn: Sample
    weights: Floats
    log_mass: float
    order: Ints
    found: list[Laplace]

    @property
    def mean(self) -> Floats:
        """Coefficients of candidates, averaged over the modes of leading models."""
        expansion, own = self.expansion, self.weights[self.order]
        columns = np.zeros((expansion.response.n_dual, expansion.atoms.loadings.shape[1]))
        for weight, each, at in zip(own / own.sum(), self.found, self.order, strict=True):
            columns[:, self._columns(at)] += weight * each.coef.reshape(len(columns), -1)
        whole = np.zeros((len(columns), expansion.features.size))
        scale = expansion.likelihood.scale
        whole[:, expansion.order] = columns @ expansion.atoms.loadings.T / scale
        return whole.ravel()

    def coefficients(self, n_features: int, most: int, positive: bool) -> Coefficients:
        """Of the ``most`` leading models: normal about the mode of each.

        Of more than two classes these are modes, a response for each class.
        """
        expansion, response = self.expansion, self.expansion.response
        if not most:
            return Coefficients.nothing(n_features, response.n_dual)
        models: list[ModelCoefficients] = []
        leading = replace(self.drawn, sets=self.drawn.sets[self.order])
        for at, own in zip(*leading.leading(self.weights[self.order], most), strict=True):
            found, covariance = self.found[at], np.zeros((0, 0))
            if response.n_dual == 1:
                A = profiled_hessian(response, found.columns, found.fit.eta)
                ridge = PRECISIONS[self.drawn.precisions[self.order[at]]]
                covariance = np.linalg.inv(expansion.weight * A + ridge * np.eye(len(A)))
            models += of_atoms(
                expansion.likelihood, expansion.atoms, self._columns(self.order[at]), float(own),
                found.coef.reshape(response.n_dual, -1).T, covariance, np.ones(response.n_dual),
            )  # fmt: skip
        return Coefficients(models, n_features, response.n_dual, positive=positive)

    def _columns(self, draw: int) -> Ints:
        return self.expansion.atoms.columns_of(self.drawn.sets[draw][self.drawn.sets[draw] >= 0])


def by_loss(expansion: Expansion, drawn: Sample, positive: bool, most: int) -> ByLoss:
    """Evaluate the ``most`` leading models of a sample."""
    response, likelihood, atoms = expansion.response, expansion.likelihood, expansion.atoms
    order = np.argsort(-np.round(drawn.weights, 12), kind="stable")[:most]
    sets = drawn.sets[order]
    precisions = PRECISIONS[drawn.precisions[order]]
    models = [atoms.columns_of(each[each >= 0]) for each in sets]
    used = np.unique(np.concatenate([np.zeros(0, np.int64), *models]))
    loadings = atoms.loadings[:, used] / likelihood.scale[:, None]
    D, weight = loadings.T @ expansion.columns[expansion.order], expansion.weight
    within = [np.searchsorted(used, each).tolist() for each in models]
    found = Laplace.of(response, D, (precisions / weight).tolist(), within)
    exact = np.array([-0.5 * (weight * each.left + each.fit.volume) for each in found])
    if positive:
        exact += [
            _signs(each, weight, ridge) for each, ridge in zip(found, precisions, strict=True)
        ]
    spread = expansion.share * float(response.weights.sum()) * np.log(response.dispersion)
    log_mass = float(np.logaddexp.reduce(exact + drawn.log_prior[order])) - 0.5 * spread
    believed = kernels.log_evidences(
        atoms.data, atoms.atoms, np.ascontiguousarray(sets), precisions, positive,
        max(sets.shape[1], 1), drawn.widest, len(likelihood.S),
    )  # fmt: skip
    weights = _reweighted(drawn, order, believed, exact)
    return ByLoss(expansion, drawn, weights, log_mass, order, found)


def _reweighted(drawn: Sample, order: Ints, believed: Floats, exact: Floats) -> Floats:
    """Weights of importance sampling; ratios of models that were not evaluated by their size.

    Among themselves leading models count by what chains go by, not by how often they were drawn.
    """
    ratio = exact - believed
    all_sizes = (drawn.sets >= 0).sum(axis=1)
    sizes = all_sizes[order]
    log = np.empty(drawn.weights.size)
    for size in np.unique(all_sizes):
        near = np.abs(sizes - size) == np.abs(sizes - size).min()
        log[all_sizes == size] = np.average(ratio[near], weights=drawn.weights[order][near])
    log[order] = ratio
    w = np.exp(log - log.max())
    expected = drawn.weights.copy()
    expected[order] = expected[order].sum() * softmax(believed + drawn.log_prior[order])
    w = np.minimum(w, float(expected @ w) * np.sqrt(w.size))
    weights = expected * w
    return np.asarray(weights / weights.sum())


def _signs(found: Laplace, weight: float, ridge: float) -> float:
    """Log of 2^p times the probability that all coefficients are positive."""
    coef = np.ravel(found.coef)[:, None]
    if not coef.size:
        return 0.0
    A = found.columns
    spread = np.sqrt(np.linalg.inv(weight * (A @ A.T) + ridge * np.eye(len(A))).diagonal())
    return float(np.sum(np.log(2.0) + log_ndtr(coef / spread[:, None])))
