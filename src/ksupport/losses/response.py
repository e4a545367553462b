"""A loss on the rows of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._kernels.linalg import FLAT
from .._kernels.losses import Loss as RowLoss
from .._kernels.profile import ProfileLoss
from .newton import Columns, Refit, refits

if TYPE_CHECKING:
    from .base import Loss

Floats = NDArray[np.float64]

LEAST_CURVATURE = 0.05  # as a share of the loss's bound on it


@dataclass(frozen=True, eq=False)
class Response:
    """A loss on the rows of a problem, with what is always in the model.

    It speaks the language of a design: *fitted values* are X̃w, whose rows carry the roots of their
    weights, and are ``roots * eta`` but for what is not penalised.  The coefficients of that are
    *profiled out*: for each w they are those at which the loss is least.  So the path sees the
    loss ``min_c loss(X̃w/roots + Qᵀc)``, which is convex and smooth as the loss itself is, with the
    gradient of the loss at that c.  What the path walks on has the loss's emphasis on rows; all
    that is measured and reported does not.
    """

    loss: Loss  # fixed to the data
    y: Floats  # checked
    weights: Floats  # of the rows, positive
    unpenalized: Floats  # q x n: columns that are always in the model, ones for an intercept
    # By which deviances are divided to become minus twice a log likelihood: 1 unless the loss is in
    # units of y.  `dispersed` estimates it.
    dispersion: float = 1.0

    def __deepcopy__(self, memo: Any) -> Response:
        return self  # nothing in it changes

    @property
    def n(self) -> int:
        return len(self.y)

    @cached_property
    def n_dual(self) -> int:
        """Fitted values of a row; with several, those of a class stand side by side."""
        return self.loss.n_dual

    @property
    def size(self) -> int:
        """All fitted values."""
        return self.n * self.n_dual

    @cached_property
    def roots(self) -> Floats:
        """Square roots of the weights."""
        return np.sqrt(self.weights)

    @cached_property
    def compiled(self) -> RowLoss:
        """The loss on these rows, for compiled code."""
        return self.loss.compiled(self.y, self.weights)

    @cached_property
    def walk_weights(self) -> Floats:
        """Weights with the emphasis of a walk."""
        return np.asarray(self.weights * self.loss.emphasis(self.y))

    @cached_property
    def _walked(self) -> RowLoss:
        return self.loss.compiled(self.y, self.walk_weights)

    def profile(self) -> ProfileLoss:
        """What a walk follows: the loss, least over what is not penalised.

        One for each walk: it holds scratch space, which threads must not share.
        """
        return ProfileLoss(self._walked, self.unpenalized, self.roots)

    @cached_property
    def scales(self) -> tuple[float, float]:
        """The unit of eta, and the size of the terms whose differences values are."""
        if self.loss.in_units_of_y:
            return float(np.ptp(self.y)) or 1.0, 0.0
        return 1.0, float(self.weights @ (1.0 + np.abs(self.compiled.response)))

    def eta(self, fitted: Floats) -> Floats:
        """Fitted values without the roots of weights."""
        return fitted / (self.roots if self.n_dual == 1 else np.tile(self.roots, self.n_dual))

    def unweighted(self, columns: Floats) -> Floats:
        """Columns of the design, as rows, without the roots of weights."""
        return columns / self.roots

    def unpenalized_coef(self, fitted: Floats) -> Floats:
        """Optimal coefficients of unpenalised columns at fitted values: (..., n) gives (..., q)."""
        E = np.ascontiguousarray(self.eta(fitted)).reshape(-1, self.size)
        C = np.zeros((len(E), len(self.unpenalized) * self.n_dual))
        ProfileLoss(self.compiled, self.unpenalized, self.roots).solve_rows(E, C)
        return C.reshape(*np.shape(fitted)[:-1], -1)

    def covariances(self, fitted: Floats) -> Floats:
        """Of coefficients of unpenalised columns, at fitted values: the inverse Hessian.

        A matrix for each number of a row that can be chosen, of columns in units of their norms; a
        direction in which the loss is flat has a variance as large as can be told from rounding.
        """
        norms = np.sqrt(self.unpenalized**2 @ self.weights)[:, None]
        eta, free = self.whole(fitted), self.loss.n_free
        H = self.loss.reduced_hessian(self.unpenalized / norms, eta, self.y, self.weights)
        sizes, axes = np.linalg.eigh(H)
        sizes = np.maximum(sizes, max(FLAT * float(sizes.max()), np.finfo(float).tiny))
        C = ((axes / sizes) @ axes.T).reshape(free, len(norms), free, len(norms))
        return np.stack([C[each, :, each] for each in range(free)])

    @cached_property
    def null_coef(self) -> Floats:
        """Coefficients of unpenalised columns where no feature is in the model."""
        return self.unpenalized_coef(np.zeros(self.size))

    def whole(self, fitted: Floats) -> Floats:
        """eta with what is not penalised, as the loss takes it."""
        return self._with(self.eta(fitted), self.unpenalized_coef(fitted), self.unpenalized)

    def _with(self, eta: Floats, c: Floats, unpenalized: Floats) -> Floats:
        """eta and what is not penalised; of classes, as n x classes."""
        if self.n_dual == 1:
            return np.asarray(eta + c @ unpenalized)
        by_class = (*eta.shape[:-1], self.n_dual, -1)
        added = c.reshape(*c.shape[:-1], self.n_dual, len(unpenalized)) @ unpenalized
        return np.asarray((eta.reshape(by_class) + added).swapaxes(-1, -2))

    def gradient(self, fitted: Floats, c: Floats) -> tuple[Floats, Floats, bool]:
        """What a walk follows, in fitted values; eta; and whether the gradient is finite.

        c is replaced by the optimal one, in place.
        """
        g, eta = np.empty(self.size), np.empty(self.size)
        finite = self.profile().gradient(np.ascontiguousarray(fitted, np.float64), c, eta, g)
        return g, eta, bool(finite)

    @cached_property
    def negative_gradient(self) -> Floats:
        """Minus what a walk follows at no feature: what features explain to first order.

        Of squares that is the response less what is not penalised, of classes too, of survival
        times the martingale residuals.  Of more than two classes their contrasts, side by side.
        """
        return self.working_response(np.zeros(self.size))

    def working_response(self, fitted: Floats) -> Floats:
        """The response of squares that have the loss's gradient at a model, and one curvature."""
        g, eta, _ = self.gradient(fitted, np.zeros(len(self.unpenalized) * self.n_dual))
        if self.n_dual == 1:
            return self._mean_curvature(eta, self.walk_weights) * fitted - g
        by_class = self.n_dual, self.n
        root, inverse = self.loss.contrasts(eta.reshape(by_class).T, self.walk_weights)
        return np.ravel(root @ fitted.reshape(by_class) - inverse @ g.reshape(by_class))

    def curvature_at(self, fitted: Floats) -> float:
        """The mean second derivative at a model, in a walk's weights."""
        return self._mean_curvature(self.whole(fitted), self.walk_weights)

    @cached_property
    def curvature(self) -> float:
        """The mean second derivative at no feature."""
        return self._mean_curvature(self.whole(np.zeros(self.size)), self.weights)

    def _mean_curvature(self, eta: Floats, weights: Floats) -> float:
        """The mean second derivative; not next to none, as where all rows are far off."""
        mean = self.loss.curvature(eta, self.y, weights).sum() / self.weights.sum()
        return max(float(mean) / self.loss.n_free, LEAST_CURVATURE * (self.loss.smoothness or 0.0))

    def dispersed(self, fitted: Floats, freedom: float, n: float) -> Response:
        """With the dispersion that a model of so many degrees of freedom, of n, leaves.

        The mean square of slopes over the mean second derivative (Ronchetti 1985): the variance of
        errors where the loss is of squares; where it is not, rows that are far off have a bounded
        say in it.
        """
        eta, rows = self.whole(fitted), float(self.weights.sum())
        g = self.loss.gradient(eta, self.y)
        left = rows * max(1 - (len(self.unpenalized) + freedom) / n, 0.1)
        squares = float(self.weights @ g**2) / left
        curvature = self._mean_curvature(eta, self.weights)
        return replace(self, dispersion=max(squares / curvature, np.finfo(float).tiny))

    def deviance(self, fitted: Floats) -> Floats:
        """The weighted sum of deviances, for each row of fitted values."""
        each = self.loss.deviance(self.whole(fitted), self.y, self.weights)
        return np.asarray(each @ self.weights)

    def deviance_of_new(
        self, fitted: Floats, new: Floats, new_y: Floats, unpenalized: Floats
    ) -> Floats:
        """Deviances (R x m) of unseen rows, where R models have these fitted values.

        ``new`` are X̃w of the unseen rows, unweighted, ``unpenalized`` their columns.
        """
        c = self.unpenalized_coef(fitted)
        eta, new_eta = (
            self._with(self.eta(fitted), c, self.unpenalized),
            self._with(new, c, unpenalized),
        )
        return self.loss.deviance_of_new(self, eta, new_eta, new_y)

    def new_eta(self, fitted: Floats, new: Floats, unpenalized: Floats) -> Floats:
        """eta of unseen rows, as `deviance_of_new` has them."""
        return self._with(new, self.unpenalized_coef(fitted), unpenalized)

    def refits(
        self, columns: Floats, ridges: Sequence[float], models: Sequence[Columns] | None = None
    ) -> list[Refit]:
        """As `Loss.refit`, with several ridges, on columns of the design (as rows).

        Each ridge may have a model of its own, of some of the columns.
        """
        if models is None:
            return refits(self, self.unweighted(columns), ridges)
        used = sorted({at for model in models for at in model})
        place = dict(zip(used, range(len(used)), strict=True))
        within = [[place[at] for at in model] for model in models]
        return refits(self, self.unweighted(columns[used]), ridges, within)
