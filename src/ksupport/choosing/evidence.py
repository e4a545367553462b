"""Evidence of one support, of any size, and the ridge regression that it prefers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..design import Design, Floats
from ..losses import Refit, Response
from ..walking.structure import PLAIN, Structure
from .criteria import ZERO, log_choose
from .refits import curvature_of, kept_of, solved
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
        effective_share: float = 1.0, given: bool = False,
    ) -> Evidence:  # fmt: skip
        """Of least squares.

        Several responses, side by side in y, have noise of any size (`log_left`) and one strength.
        Where features come in groups, supports of as many groups are counted, and none where the
        support is ``given``; ``effective_share`` is `Problem.effective_share`.  Where coefficients
        cannot be negative, their mode takes the place of their mean.
        """
        n, d = max(effective_share * independent_rows(design, y), 1.0), design.d
        Y = y.reshape(-1, design.n)
        totals, w = np.einsum("ij,ij->i", Y, Y), np.zeros((len(Y), d))
        nothing = float(log_left(Y @ Y.T, totals, n))
        if not support or not totals.any():
            return cls(nothing, w.ravel(), 0.0)
        ridges = _Ridges.on(design.columns(np.asarray(support, np.intp)), Y, structure.positive)
        if not ridges.squares.any():
            return cls(nothing, w.ravel(), 0.0)
        ratios = ridges.squares / ridges.strengths[:, None]
        freedom = (ratios / (1 + ratios)).sum(axis=1)
        scores = log_left(ridges.left(), totals, n) + len(Y) * np.log1p(ratios).sum(axis=1)
        if not given:
            count = structure.count(d)
            size = freedom if structure.one_by_one else structure.picked(support)
            scores += 2 * log_choose(count, np.minimum(size, count))
        scores[freedom > MOST * n] = np.inf
        at = int(np.argmin(scores)) if np.isfinite(scores).any() else len(STRENGTHS) - 1
        w[:, list(support)] = ridges.coef(at)
        return cls(float(scores[at]), w.ravel(), STRENGTHS[at])


@dataclass(frozen=True, eq=False)
class _Ridges:
    """Ridge regressions on columns, as rows, of all strengths."""

    columns: Floats
    Y: Floats
    positive: bool
    squares: Floats  # eigenvalues of the smaller Gram matrix, which do for a decomposition
    vectors: Floats
    strengths: Floats

    @classmethod
    def on(cls, columns: Floats, Y: Floats, positive: bool) -> _Ridges:
        wide = len(columns) > columns.shape[1]
        squares, vectors = np.linalg.eigh(columns.T @ columns if wide else columns @ columns.T)
        squares = np.maximum(squares, 0.0)
        strengths = np.array(STRENGTHS) * squares.sum() / len(columns)
        return cls(columns, Y, positive, squares, vectors, strengths)

    @property
    def wide(self) -> bool:
        return len(self.columns) > self.columns.shape[1]

    @cached_property
    def along(self) -> Floats:
        """Responses, or products with them, along each direction."""
        return self.vectors.T @ (self.Y.T if self.wide else self.columns @ self.Y.T)

    @cached_property
    def signed(self) -> list[Floats]:
        """The best coefficients that are not negative, of each strength."""
        gram, products = self.columns @ self.columns.T, self.columns @ self.Y.T
        ridges = [each * np.eye(len(gram)) for each in self.strengths.tolist()]
        return [solved(gram + ridge, products, True).T for ridge in ridges]

    def left(self) -> Floats:
        """What each strength leaves of YYᵀ, what the prior takes of coefficients included."""
        if self.positive:
            errors = [self.Y - w @ self.columns for w in self.signed]
            both = zip(errors, self.signed, self.strengths.tolist(), strict=True)
            return np.array([e @ e.T + strength * w @ w.T for e, w, strength in both])
        shares = (self.squares if self.wide else 1.0) / (self.squares + self.strengths[:, None])
        taken = np.einsum("kr,rt,ru->ktu", shares, self.along, self.along)
        return np.asarray(self.Y @ self.Y.T - taken)

    def coef(self, at: int) -> Floats:
        """Responses x columns, of one strength."""
        if self.positive:
            return self.signed[at]
        inside = self.vectors @ (self.along / (self.squares + self.strengths[at])[:, None])
        return np.asarray((self.columns @ inside if self.wide else inside).T)


@dataclass(frozen=True, eq=False)
class Laplace:
    """Evidence of a normal prior by a loss that is not of squares, to second order."""

    fit: Refit
    among: Floats  # columns, as rows
    model: Sequence[int] | None  # which of them are the model's; None: all
    left: float  # the deviance, and what the prior takes of coefficients

    @classmethod
    def of(
        cls, response: Response, columns: Floats, ridges: Sequence[float],
        models: Sequence[Sequence[int]] | None = None,
    ) -> list[Laplace]:  # fmt: skip
        """Of priors of some strengths; each may have a model of its own, of some columns."""
        fits = response.refits(columns, ridges, models)
        each = [None] * len(fits) if models is None else models
        return [
            cls(fit, columns, model, fit.deviance + ridge * float(np.sum(fit.coef**2)))
            for fit, model, ridge in zip(fits, each, ridges, strict=True)
        ]

    @property
    def columns(self) -> Floats:
        """Of the model, as rows."""
        return self.among if self.model is None else self.among[list(self.model)]

    @property
    def coef(self) -> Floats:
        return self.fit.coef

    def score_at(self, response: Response) -> float:
        """Minus twice the log evidence, but for a constant; errors as large as they are there.

        Where rows may vary more than the loss says, by as much as the model leaves of them
        (extended quasi-likelihood, Nelder and Pregibon 1987): counts mostly do.
        """
        left, n = self.left / response.dispersion, float(response.weights.sum())
        if response.loss.may_spread and left > n:
            left = n * (1.0 + np.log(left / n))
        return float(left + self.fit.volume)


def evidence_of(
    design: Design, target: Floats | Response, support: Support, structure: Structure = PLAIN,
    effective_share: float = 1.0, given: bool = False,
) -> Evidence:  # fmt: skip
    """Of a support, by the loss of its target; of groups, by squares alone.

    Supports of as many degrees of freedom are counted, or none where this one is ``given``.
    """
    if not isinstance(target, Response):
        return Evidence.of(design, target, support, structure, effective_share, given)
    n, w = float(target.weights.sum()), np.zeros((target.n_dual, design.d))
    S = np.asarray(support, np.intp)
    columns = design.columns(S)
    size = curvature_of(target, columns)
    if size == 0:
        (nothing,) = Laplace.of(target, columns[:0], [1.0])
        return Evidence(nothing.score_at(target), w.ravel(), 0.0)
    ridges = [each * size for each in BY_LOSS]
    kept = [kept_of(target, columns, ridge, structure.positive) for ridge in ridges]
    found = Laplace.of(target, columns, ridges, kept if structure.positive else None)
    scores = np.array([each.score_at(target) for each in found])
    freedom = np.array([each.fit.freedom for each in found])
    if not given:
        scores += 2 * log_choose(design.d, np.minimum(freedom, design.d))
    scores[freedom > MOST * n] = np.inf
    at = int(np.argmin(scores)) if np.isfinite(scores).any() else len(BY_LOSS) - 1
    w[:, S[kept[at]]] = found[at].coef
    return Evidence(float(scores[at]), w.ravel(), BY_LOSS[at])


def log_left(left: Any, totals: Floats, n: float) -> Any:
    """n log of the residuals (... x T x T) of T responses with these squares, over n.

    Noise may be correlated and of any size, so the determinant counts, whatever the units.  Few
    rows know correlations badly: T - 1 more are taken to say that responses are independent.
    """
    left, count = np.asarray(left), totals.size
    if count == 1:
        floor = max(ZERO * float(totals[0]), np.finfo(float).tiny)
        return n * np.log(np.maximum(left[..., 0, 0], floor) / n)
    at, constant = np.arange(count), totals == 0  # which have no noise, and nothing to explain
    noise = left.copy()
    believed = (count - 1) / n * totals + constant
    noise[..., at, at] = np.maximum(left[..., at, at], 0.0) + believed
    return (n + count - 1) * (np.linalg.slogdet(noise)[1] - count * np.log(n))
