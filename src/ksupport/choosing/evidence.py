"""Evidence of one support, of any size, and the ridge regression that it prefers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..design import Design, Floats
from ..losses import Refit, Response
from ..walking.structure import PLAIN, Structure
from .criteria import ZERO, log_choose
from .refits import bend_of
from .supports import Support, independent_rows

STRENGTHS = (1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # shares of ‖x‖²
BY_LOSS = STRENGTHS[5:]  # less, and Laplace's evidence knows no bounds where classes separate
MOST = 0.8  # share of the samples beyond which degrees of freedom explain anything


@dataclass(frozen=True)
class Evidence:
    """The marginal likelihood of a normal prior on a support, best over its strength.

    A support pays for its effective degrees of freedom, which are few where its features go
    together, and not for each feature.
    """

    score: float  # minus twice the log evidence, but for a constant
    coef: Floats  # of ridge regression of that strength, on all features
    strength: float

    @classmethod
    def of(
        cls, design: Design, y: Floats, support: Support, structure: Structure = PLAIN,
        counted: float = 1.0,
    ) -> Evidence:  # fmt: skip
        """Of least squares.

        Several responses, side by side in y, have noise of their own and one strength.  Where
        features come in groups, supports of as many groups are counted; ``counted`` is
        `Problem.counted`.
        """
        n, d = max(counted * independent_rows(design, y), 1.0), design.d
        Y = y.reshape(-1, design.n)
        totals = np.einsum("ij,ij->i", Y, Y)
        nothing = float(sum(_log(total, total, n) for total in totals.tolist()))
        w = np.zeros((len(Y), d))
        if not support or not totals.any():
            return cls(nothing, w.ravel(), 0.0)
        columns = design.columns(np.asarray(support, np.intp))
        # Eigenvectors of the smaller Gram matrix do for a decomposition of the columns.
        wide = len(columns) > columns.shape[1]
        squares, vectors = np.linalg.eigh(columns.T @ columns if wide else columns @ columns.T)
        squares = np.maximum(squares, 0.0)
        if not squares.any():
            return cls(nothing, w.ravel(), 0.0)
        along = vectors.T @ (Y.T if wide else columns @ Y.T)
        strengths = np.array(STRENGTHS)[:, None] * squares.sum() / len(columns)
        kept = squares / (squares + strengths)  # shares of y along each direction
        explained = (kept if wide else 1 / (squares + strengths)) @ along**2
        freedom = kept.sum(axis=1)
        left = np.maximum(totals - explained, 0.0).T
        scores = len(Y) * np.log1p(squares / strengths).sum(axis=1)
        for mine, total in zip(left, totals.tolist(), strict=True):
            scores += _log(mine, total, n)
        count = structure.count(d)
        size = freedom if structure.plain else structure.picked(support)
        scores += 2 * log_choose(count, np.minimum(size, count))
        scores[freedom > MOST * n] = np.inf
        at = int(np.argmin(scores)) if np.isfinite(scores).any() else len(STRENGTHS) - 1
        inside = vectors @ (along / (squares + strengths[at])[:, None])
        w[:, list(support)] = (columns @ inside if wide else inside).T
        return cls(float(scores[at]), w.ravel(), STRENGTHS[at])


@dataclass(frozen=True, eq=False)
class Laplace:
    """Evidence of a normal prior by a loss that is not of squares, to second order."""

    fit: Refit
    columns: Floats  # of the model, as rows
    left: float  # the deviance, and what the prior takes of coefficients

    @classmethod
    def of(
        cls, response: Response, columns: Floats, ridges: Sequence[float],
        models: Sequence[Support] | None = None,
    ) -> list[Laplace]:  # fmt: skip
        """Of priors of some strengths; each may have a model of its own, of some columns."""
        fits = response.refits(columns, ridges, models)
        own = (columns if models is None else columns[list(models[at])] for at in range(len(fits)))
        return [
            cls(fit, mine, fit.deviance + ridge * float(np.sum(fit.coef**2)))
            for fit, mine, ridge in zip(fits, own, ridges, strict=True)
        ]

    @property
    def coef(self) -> Floats:
        return self.fit.coef

    @property
    def volume(self) -> float:
        """Log of the share of the prior that the data leave, minus twice."""
        return self.fit.volume

    @property
    def freedom(self) -> float:
        """Effective degrees of freedom."""
        return self.fit.freedom

    @property
    def fitted(self) -> Floats:
        """What columns explain, with the roots of weights."""
        return np.ravel(self.fit.coef @ self.columns)

    def score_at(self, response: Response) -> float:
        """Minus twice the log evidence, but for a constant; errors as large as they are there."""
        return self.left / response.dispersion + self.volume


def evidence_of(
    design: Design, target: Floats | Response, support: Support, structure: Structure = PLAIN,
    counted: float = 1.0,
) -> Evidence:  # fmt: skip
    """Of a support, by the loss of its target; of groups, by squares alone."""
    if not isinstance(target, Response):
        return Evidence.of(design, target, support, structure, counted)
    n, w = float(target.weights.sum()), np.zeros((target.n_dual, design.d))
    columns = design.columns(np.asarray(support, np.intp))
    size = bend_of(target, columns)
    if size == 0:
        (nothing,) = Laplace.of(target, columns[:0], [1.0])
        return Evidence(nothing.score_at(target), w.ravel(), 0.0)
    found = Laplace.of(target, columns, [each * size for each in BY_LOSS])
    scores = np.array([each.score_at(target) for each in found])
    freedom = np.array([each.freedom for each in found])
    scores += 2 * log_choose(design.d, np.minimum(freedom, design.d))
    scores[freedom > MOST * n] = np.inf
    at = int(np.argmin(scores)) if np.isfinite(scores).any() else len(BY_LOSS) - 1
    w[:, list(support)] = found[at].coef
    return Evidence(float(scores[at]), w.ravel(), BY_LOSS[at])


def _log(left: Any, total: float, n: float) -> Any:
    return n * np.log(np.maximum(left, max(ZERO * total, np.finfo(float).tiny)) / n)
