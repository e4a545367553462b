"""Sampled models by the loss itself, where chains had it to second order only.

The evidence of leading models is taken by Laplace's method at the model's own mode; the ratio to
what the chain believed is the weight of importance sampling, truncated as Ionides (2008) has it.
Models that were not evaluated have the mean ratio of those with as many atoms.  Coefficients of
an evaluated model are normal about its mode.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import log_ndtr

from .._kernels import posterior as kernels
from ..choosing.evidence import Laplace
from ..design import Floats, Ints
from ..losses import Response
from .atoms import AtomSet
from .chains import Sample
from .coefficients import AVERAGED, Coefficients, ModelCoefficients, of_atoms
from .likelihood import Likelihood, profiled_hessian
from .prior import PRECISIONS

EVALUATED = 200  # models, those of most weight


def by_loss(
    response: Response, likelihood: Likelihood, atoms: AtomSet, drawn: Sample, columns: Floats,
    features: Ints, share: float, positive: bool, n_features: int, most: int = AVERAGED,
    evaluated: int = EVALUATED,
) -> tuple[Floats, Coefficients, float]:  # fmt: skip
    """The weight of each drawn model, which sum to 1, and coefficients of the leading ones.

    Of more than two classes these are modes, a response for each class; of no model at ``most``
    none is known.  Also the log posterior mass of the leading models, but for a constant: where it
    is larger, models have been drawn that explain more.
    """
    order = np.argsort(-np.round(drawn.weights, 12), kind="stable")[:evaluated]
    sets = drawn.sets[order]
    precisions = PRECISIONS[drawn.precisions[order]]
    models = [atoms.columns_of(each[each >= 0]) for each in sets]
    used = np.unique(np.concatenate([np.zeros(0, np.int64), *models]))
    place = {int(f): i for i, f in enumerate(features)}
    rows = [place[int(f)] for f in likelihood.features]
    D = (atoms.loadings[:, used] / likelihood.scale[:, None]).T @ columns[rows]
    weight = share / response.dispersion
    within = [np.searchsorted(used, each).tolist() for each in models]
    found = Laplace.of(response, D, (precisions / weight).tolist(), within)
    exact = np.array([-0.5 * (weight * each.left + each.fit.volume) for each in found])
    if positive:
        exact += [
            _signs(each, weight, ridge) for each, ridge in zip(found, precisions, strict=True)
        ]
    spread = share * float(response.weights.sum()) * np.log(response.dispersion)
    log_mass = float(np.logaddexp.reduce(exact + drawn.log_prior[order])) - 0.5 * spread
    believed = kernels.log_evidences(
        atoms.data, atoms.atoms, np.ascontiguousarray(sets), precisions, positive,
        max(sets.shape[1], 1), drawn.widest, len(likelihood.S),
    )  # fmt: skip
    ratio = exact - believed
    sizes = (sets >= 0).sum(axis=1)
    all_sizes = (drawn.sets >= 0).sum(axis=1)
    log = np.empty(drawn.weights.size)
    for size in np.unique(all_sizes):
        near = np.abs(sizes - size) == np.abs(sizes - size).min()
        log[all_sizes == size] = np.average(ratio[near], weights=drawn.weights[order][near])
    log[order] = ratio
    w = np.exp(log - log.max())
    w = np.minimum(w, float(drawn.weights @ w) * np.sqrt(drawn.weights.size))
    weights = np.asarray(drawn.weights * w)
    weights /= weights.sum()
    if not most:
        return weights, Coefficients.nothing(n_features, response.n_dual), log_mass
    leading = replace(drawn, sets=sets)
    averaged: list[ModelCoefficients] = []
    for at, own in zip(*leading.leading(weights[order], most), strict=True):
        covariance = np.zeros((0, 0))
        if response.n_dual == 1:
            A = weight * profiled_hessian(response, D[within[at]], found[at].fit.eta)
            covariance = np.linalg.inv(A + precisions[at] * np.eye(len(A)))
        averaged += of_atoms(
            likelihood, atoms, models[at], float(own),
            found[at].coef.reshape(response.n_dual, -1).T, covariance, np.ones(response.n_dual),
        )  # fmt: skip
    averaging = Coefficients(averaged, n_features, response.n_dual, positive=positive)
    return weights, averaging, log_mass


def _signs(found: Laplace, weight: float, ridge: float) -> float:
    """Log of 2^p times the probability that all coefficients are positive."""
    coef = np.ravel(found.coef)[:, None]
    if not coef.size:
        return 0.0
    A = found.columns
    spread = np.sqrt(np.linalg.inv(weight * (A @ A.T) + ridge * np.eye(len(A))).diagonal())
    return float(np.sum(np.log(2.0) + log_ndtr(coef / spread[:, None])))
