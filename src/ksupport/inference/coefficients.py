"""The distribution of coefficients in each of the leading models, given its features.

Coefficients are normal a priori with precision lam / sigma², as in `posterior.prior`, and lam is
the one of most probability given the model.  By squares the noise is unknown, and they have a t
distribution; by other losses Laplace's method at the model's own mode gives a normal one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..choosing.evidence import Laplace
from ..design import Floats, Ints
from ..losses import Response, Squared
from ..posterior.candidates import Task
from ..posterior.effective_rows import (
    EffectiveRows,
    design_effect,
    intraclass_correlation,
    whitened,
)
from ..posterior.likelihood import Likelihood, of_loss, of_squares
from ..posterior.moments import AVERAGED, Coefficients, ModelCoefficients
from ..posterior.prior import LOG_PRECISIONS, PRECISIONS
from ..posterior.result import Posterior


def with_coefficients(task: Task, posterior: Posterior, rows: EffectiveRows) -> Posterior:
    """A posterior with the distribution of coefficients; of more than two classes without.

    Coefficients are those of the design's columns.
    """
    if task.response is not None and task.response.n_dual > 1:
        return posterior
    supports = posterior.supports[:AVERAGED]
    weights = posterior.weights[:AVERAGED] / posterior.weights[:AVERAGED].sum()
    features = np.unique(np.array([j for S in supports for j in S], np.intp))
    columns = np.array(task.design.columns(features), np.float64, order="C")
    if task.response is None:
        models = _by_squares(task, features, columns, supports, weights, rows)
    else:
        start = posterior.coef[features]
        models = _by_loss(task, task.response, features, columns, supports, weights, start, rows)
    freedom = rows.count if task.response is None else np.inf
    known = Coefficients(
        models, posterior.n_features, len(np.atleast_2d(posterior.coef)), freedom, task.positive
    )
    mean, sd = (each.reshape(posterior.coef.shape) for each in known.moments)
    return replace(posterior, coefficients=known, coef=mean, coef_sd=sd)


def _places(likelihood: Likelihood, supports: Sequence[tuple[int, ...]]) -> list[Ints]:
    """The features of each model, by places in the likelihood; without constant columns."""
    at = {int(f): i for i, f in enumerate(likelihood.features)}
    return [np.array([at[j] for j in S if j in at], np.intp) for S in supports]


def _by_squares(
    task: Task, features: Ints, columns: Floats, supports: Sequence[tuple[int, ...]],
    weights: Floats, rows: EffectiveRows,
) -> list[ModelCoefficients]:  # fmt: skip
    Y = task.Y
    if task.row_groups is not None:
        correlation, _ = intraclass_correlation(Y, task.row_groups)
        columns, Y = (whitened(each, task.row_groups, correlation) for each in (columns, Y))
    known = of_squares(features, columns, Y, rows.count, task.design.n_samples)
    return [
        _ridge(known, places, float(weight))
        for places, weight in zip(_places(known, supports), weights, strict=True)
    ]


def _ridge(known: Likelihood, places: Ints, weight: float) -> ModelCoefficients:
    """Of one model by squares: ridge regression of the strength of most probability."""
    values, vectors = np.linalg.eigh(known.S[np.ix_(places, places)])
    values = np.maximum(values, 0.0)
    along = vectors.T @ known.c[places]
    T = along.shape[1]
    ratios = values / PRECISIONS[:, None] if places.size else np.zeros((PRECISIONS.size, 0))
    taken = np.einsum("lr,rt,ru->ltu", 1.0 / (values + PRECISIONS[:, None]), along, along)
    left = known.total - taken
    floor = 1e-12 * known.total.diagonal()
    left[:, range(T), range(T)] = np.maximum(left[:, range(T), range(T)], floor)
    scores = -0.5 * T * np.log1p(ratios).sum(axis=1) + LOG_PRECISIONS
    scores = scores - 0.5 * known.nu * np.linalg.slogdet(left)[1]
    at = int(np.argmax(scores))
    strong, scale = values + PRECISIONS[at], known.scale[places, None]
    return ModelCoefficients(
        weight, known.features[places], vectors @ (along / strong[:, None]) / scale,
        vectors / np.sqrt(strong) / scale, left[at].diagonal() / known.nu,
    )  # fmt: skip


def _by_loss(
    task: Task, response: Response, features: Ints, columns: Floats,
    supports: Sequence[tuple[int, ...]], weights: Floats, start: Floats, rows: EffectiveRows,
) -> list[ModelCoefficients]:  # fmt: skip
    """Of models by a loss: Laplace's method at the mode of each."""
    share = task.share
    if task.row_groups is not None:
        gradient = response.negative_gradient.reshape(-1, response.n)
        share /= max(design_effect(gradient, task.row_groups), 1.0)
    response = _dispersed(response, start @ columns, float(np.sum(start != 0)), rows.count)
    known = of_loss(features, columns, response, start, share)
    place = {int(f): i for i, f in enumerate(features)}
    D = columns[[place[int(f)] for f in known.features]] / known.scale[:, None]
    weight = share / response.dispersion
    places = _places(known, supports)
    models = [each.tolist() for each in places for _ in PRECISIONS]
    ridges = np.tile(PRECISIONS, len(places))
    found = Laplace.of(response, D, (ridges / weight).tolist(), models)
    scores = np.array([-0.5 * (weight * each.left + each.volume) for each in found])
    best = np.argmax(scores.reshape(len(places), -1) + LOG_PRECISIONS, axis=1)
    out = []
    for at, (own, precision) in enumerate(zip(places, best.tolist(), strict=True)):
        fit = found[at * PRECISIONS.size + precision]
        A = weight * _curvature(response, D[own], fit.fit.eta)
        values, vectors = np.linalg.eigh(A + PRECISIONS[precision] * np.eye(own.size))
        scale = known.scale[own, None]
        out.append(
            ModelCoefficients(
                float(weights[at]), known.features[own], np.ravel(fit.coef)[:, None] / scale,
                vectors / np.sqrt(values) / scale, np.ones(1),
            )
        )  # fmt: skip
    return out


def _curvature(response: Response, columns: Floats, eta: Floats) -> Floats:
    """Second derivatives in coefficients of columns, what is not penalised at its best."""
    q = len(response.unpenalized)
    A = np.vstack([response.unpenalized, response.unweighted(columns)])
    H = response.loss.reduced_hessian(A, eta, response.y, response.weights)
    S = H[q:, q:]
    return S - H[q:, :q] @ np.linalg.pinv(H[:q, :q], hermitian=True) @ H[:q, q:] if q else S


def _dispersed(response: Response, fitted: Floats, size: float, rows: float) -> Response:
    """With the dispersion that a model leaves, where the loss does not know it."""
    if response.loss.in_units_of_y and not isinstance(response.loss, Squared):
        return response.dispersed(fitted, size, rows)
    if response.loss.may_spread:
        spread = float(response.deviance(fitted)) / max(rows - size - 1.0, 1.0)
        return replace(response, dispersion=max(spread, 1.0))
    return response
